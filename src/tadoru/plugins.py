"""Plugins: third-party checks and readers of event sources, found by entry points.

An entry point of the group `tadoru.checks` names a set of page checks (`jobs.audit.context.PageChecks`: anything with `checks`
and `run`), or a function without parameters that returns one. Plugins are imported when an audit starts. One that cannot be
loaded stops the command. One that fails on a page does not: the page is stored with the finding `plugin-failed`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol

from tadoru.errors import ConfigError, Message, quoted
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
    """A set of page checks of a plugin."""

    @property
    def checks(self) -> tuple[Check, ...]: ...

    @property
    def run(self) -> Callable[[Any], Iterable[Finding]]: ...


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point and its package."""

    name: str
    package: str
    version: str
    entry: EntryPoint = field(repr=False, compare=False)

    @property
    def label(self) -> str:
        return f"{self.name} of {self.package} {self.version}".rstrip()

    def load(self) -> PluginCheckSet:
        """Import the plugin. Raises ConfigError."""
        try:
            made = self.entry.load()
            loaded: PluginCheckSet = made() if callable(made) and not hasattr(made, "checks") else made
            problem = _find_problem(loaded)
        except (Exception, SystemExit) as error:
            problem = describe_exception(error)
        if problem:
            raise ConfigError(
                "Cannot load the plugin {plugin}: {problem}. Update it, uninstall it, or use --no-plugins.",
                plugin=self.label,
                problem=problem,
            )
        return loaded


@dataclass(frozen=True, slots=True)
class PluginChecks:
    """The checks of all plugins as one set that never raises."""

    loaded: tuple[tuple[Plugin, PluginCheckSet], ...]

    def __reduce__(self) -> tuple[Callable[[bool], PluginChecks], tuple[bool]]:
        # Another process loads the plugins itself: their objects cannot always be pickled.
        return _reload_checks, (bool(self.loaded),)

    @property
    def checks(self) -> tuple[Check, ...]:
        return (*(check for _, plugin in self.loaded for check in plugin.checks), PLUGIN_FAILED) if self.loaded else ()

    def run(self, context: Any) -> Iterator[Finding]:
        """The findings of all plugins on a page, and a finding for those that failed on it."""
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
    """The installed plugins of a group, sorted by package and name. Nothing is imported."""
    found = [
        Plugin(entry.name, entry.dist.name if entry.dist else "?", entry.dist.version if entry.dist else "", entry)
        for entry in entry_points(group=group)
    ]
    return sorted(found, key=lambda plugin: (plugin.package.lower(), plugin.name))


def load_checks(*, enabled: bool = True) -> PluginChecks:
    """The checks of all installed plugins; none if not `enabled`. Raises ConfigError."""
    return PluginChecks(tuple((plugin, plugin.load()) for plugin in list_plugins()) if enabled else ())


def load_reader(name: str) -> Any:
    """The reader of event sources that a plugin provides under a name. Raises ConfigError."""
    known = {plugin.name: plugin for plugin in list_plugins(READERS_GROUP)}
    if name not in known:
        if not known:
            raise ConfigError("Reader plugin {name} not found. No reader plugins are installed.", name=quoted(name))
        raise ConfigError("Reader plugin {name} not found. Installed: {names}.", name=quoted(name), names=", ".join(known))
    plugin = known[name]
    try:
        made = plugin.entry.load()
        reader = made() if isinstance(made, type) else made
        lacking = [method for method in ("prepare", "read", "first") if not callable(getattr(reader, method, None))]
        problem: str = Message("it has no method {method}", method=lacking[0]) if lacking else ""
    except (Exception, SystemExit) as error:
        problem = describe_exception(error)
    if problem:
        raise ConfigError(
            "Cannot load the plugin {plugin}: {problem}. Update it, or remove the setting `reader`.",
            plugin=plugin.label,
            problem=problem,
        )
    return reader


def _reload_checks(enabled: bool) -> PluginChecks:
    return load_checks(enabled=enabled)


def describe_exception(error: BaseException) -> str:
    """The type and message of an exception on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:MAX_DETAIL] if text else type(error).__name__


def _find_problem(offered: Any) -> str | None:
    """What is wrong with a set of checks; None if it is valid."""
    if not callable(getattr(offered, "run", None)) or not isinstance(getattr(offered, "checks", None), tuple):
        return Message("it is not a set of checks with a tuple `checks` and a function `run`")
    for check in offered.checks:
        if not isinstance(check, Check):
            return Message("{value} is not a check; create it with tadoru.model.finding.define", value=repr(check))
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", check.id):
            return Message("the id {id} may only contain lowercase letters, digits and single hyphens", id=quoted(check.id))
        if check.severity not in set(Severity):
            return Message("{id} has the invalid severity {severity}", id=check.id, severity=quoted(check.severity))
        texts = (check.title, check.why, check.fix, *(check.japanese or ()))
        if not all(isinstance(text, str) and text for text in texts):
            return Message("{id} has no title, reason or fix", id=check.id)
    return None


def _validated(finding: Any, known: Iterable[str]) -> Finding:
    """The finding, if it can be stored. Raises ValueError or TypeError."""
    if not isinstance(finding, Finding):
        raise TypeError(f"{type(finding).__name__} is not a finding; use check.on(url)")
    if finding.check_id not in known:
        raise ValueError(f"{quoted(finding.check_id)} is not a check of this plugin")
    # Serialised as the store does it: a value that cannot be stored must not stop the crawl.
    json.dumps([finding.detail, dict(finding.data)], ensure_ascii=False, allow_nan=False).encode()
    if not isinstance(finding.detail, str):
        raise TypeError("the detail of a finding must be a string")
    return finding
