"""Checks of third parties: how they are found, loaded and kept from doing harm.

A package declares an entry point of the group `tadoru.checks` that names a set of page checks (`jobs.audit.context.PageChecks`:
anything with `checks` and `run`), or a function without parameters that returns one. Nothing of it is imported before an audit
begins. A set that can not be loaded stops the command; one that fails on a page does not: the page is kept, and says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from tadoru.errors import ConfigError, quoted
from tadoru.i18n.translation import N_
from tadoru.model.finding import MAX_DETAIL, Check, Finding, Severity, define

CHECKS_GROUP = "tadoru.checks"
READERS_GROUP = "tadoru.readers"

PLUGIN_FAILED = define(
    "plugin-failed",
    Severity.INFO,
    title=N_("Plugin failed on this page"),
    why=N_("The plugin did not check this page, so its findings are incomplete."),
    fix=N_("Update the plugin, or report the error message to its authors."),
    group="plugins",
)


class PluginCheckSet(Protocol):
    """What a plugin offers: a set of page checks."""

    @property
    def checks(self) -> tuple[Check, ...]: ...

    @property
    def run(self) -> Callable[[Any], Iterable[Finding]]: ...


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point, and the package that it comes from."""

    name: str
    package: str
    version: str
    entry: EntryPoint = field(repr=False, compare=False)

    @property
    def label(self) -> str:
        return f"{self.name} of {self.package} {self.version}".rstrip()

    def load(self) -> PluginCheckSet:
        """Import it. Raises ConfigError."""
        try:
            made = self.entry.load()
            loaded: PluginCheckSet = made() if callable(made) and not hasattr(made, "checks") else made
            problem = _find_problem(loaded)
        except (Exception, SystemExit) as error:
            problem = describe_exception(error)
        if problem:
            raise ConfigError(
                f"The plugin {self.label} can not be used ({problem}): update it, remove it, or go on with --no-plugins."
            )
        return loaded


@dataclass(frozen=True, slots=True)
class PluginChecks:
    """The checks of every plugin, as one set that never raises."""

    loaded: tuple[tuple[Plugin, PluginCheckSet], ...]

    def __reduce__(self) -> tuple[Callable[[bool], PluginChecks], tuple[bool]]:
        # Another process loads its own: what a plugin is made of can not always be sent there.
        return _reload_checks, (bool(self.loaded),)

    @property
    def checks(self) -> tuple[Check, ...]:
        return (*(check for _, plugin in self.loaded for check in plugin.checks), PLUGIN_FAILED) if self.loaded else ()

    def run(self, context: Any) -> Iterator[Finding]:
        """What they find on a page, and which of them failed on it."""
        failures: list[str] = []
        for plugin, offered in self.loaded:
            known = {check.id for check in offered.checks}
            try:
                yield from [_validated(finding, known) for finding in offered.run(context)]
            except (Exception, SystemExit) as error:
                failures.append(f"{plugin.package}: {describe_exception(error)}")
        if failures:
            yield PLUGIN_FAILED.among(context.url, failures)


def list_plugins(group: str = CHECKS_GROUP) -> list[Plugin]:
    """Every plugin of a kind that is installed, by package and name. Imports none of them."""
    found = [
        Plugin(entry.name, entry.dist.name if entry.dist else "?", entry.dist.version if entry.dist else "", entry)
        for entry in entry_points(group=group)
    ]
    return sorted(found, key=lambda plugin: (plugin.package.lower(), plugin.name))


def load_checks(*, enabled: bool = True) -> PluginChecks:
    """The checks of every plugin that is installed; none with `--no-plugins`. Raises ConfigError."""
    return PluginChecks(tuple((plugin, plugin.load()) for plugin in list_plugins()) if enabled else ())


def load_reader(name: str) -> Any:
    """The reader of event sources that a plugin offers under a name. Raises ConfigError."""
    known = {plugin.name: plugin for plugin in list_plugins(READERS_GROUP)}
    if name not in known:
        there = f"there are {', '.join(known)}" if known else "none is installed"
        raise ConfigError(f"There is no plugin that reads sources and is called {quoted(name)}; {there}.")
    plugin = known[name]
    try:
        made = plugin.entry.load()
        reader = made() if isinstance(made, type) else made
        lacking = [method for method in ("prepare", "read", "first") if not callable(getattr(reader, method, None))]
        problem = f"it has no method {lacking[0]}" if lacking else ""
    except (Exception, SystemExit) as error:
        problem = describe_exception(error)
    if problem:
        raise ConfigError(f"The plugin {plugin.label} can not be used ({problem}): update it, or remove the setting reader.")
    return reader


def _reload_checks(enabled: bool) -> PluginChecks:
    return load_checks(enabled=enabled)


def describe_exception(error: BaseException) -> str:
    """What a traceback ends with, on one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"[:MAX_DETAIL] if words else type(error).__name__


def _find_problem(offered: Any) -> str | None:
    """What is wrong with a set of checks; None when it can be used."""
    if not callable(getattr(offered, "run", None)) or not isinstance(getattr(offered, "checks", None), tuple):
        return "it offers no set of checks: something with a tuple `checks` and a function `run`"
    for check in offered.checks:
        if not isinstance(check, Check):
            return f"{check!r} is no check: make it with tadoru.model.finding.define"
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", check.id):
            return f"the id {quoted(check.id)} is not made of small letters, digits and single hyphens"
        if check.severity not in set(Severity):
            return f"{check.id} has the severity {quoted(check.severity)}"
        texts = (check.title, check.why, check.fix, *(check.japanese or ()))
        if not all(isinstance(text, str) and text for text in texts):
            return f"{check.id} lacks a title, a reason or a fix"
    return None


def _validated(finding: Any, known: Iterable[str]) -> Finding:
    """The finding, if it can be stored. Raises ValueError or TypeError."""
    if not isinstance(finding, Finding):
        raise TypeError(f"{type(finding).__name__} is no finding: use check.on(url)")
    if finding.check_id not in known:
        raise ValueError(f"{quoted(finding.check_id)} is not among its checks")
    # As the store will write it: what it can not write must not stop a crawl.
    json.dumps([finding.detail, dict(finding.data)], ensure_ascii=False, allow_nan=False).encode()
    if not isinstance(finding.detail, str):
        raise TypeError("the detail of a finding is a text")
    return finding
