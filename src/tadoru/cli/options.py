"""From the settings table to click: flags, what a shell may complete after them, and the values that were really given."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tadoru.cli.inputs import complete_value
from tadoru.config import resolve
from tadoru.config.resolve import Options, ResolvedConfig
from tadoru.config.settings import JOB_SETTINGS, Setting
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class SettingType(click.ParamType[Any]):
    """A click type around a setting's own parser."""

    def __init__(self, setting: Setting) -> None:
        self.name = setting.metavar or "value"
        self._setting = setting

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return complete_value(self.name, incomplete)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._setting.parse(value)
        except UsageError as error:
            raise UsageError(f"{self._setting.flags[0]} {error}.") from None


def job_options(
    job: str, shown_defaults: object, only: Iterable[str] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a command with the options of a job. None of them has a click default: what was not given stays out."""
    wanted = [setting for setting in JOB_SETTINGS[job] if only is None or setting.name in set(only)]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for setting in reversed(wanted):
            function = _option(setting, shown_defaults)(function)
        return function

    return decorate


_RUN_OPTIONS = (
    click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing."),
    click.option("--config", "config_file", metavar="FILE", help="Read this configuration."),
    click.option("--show-config", is_flag=True, help="Print the effective configuration, secrets hidden."),
    click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="How to write log lines."),
    click.option("-v", "--verbose", count=True, help="Say more (-v pages, -vv everything)."),
    click.option("-q", "--quiet", is_flag=True, help="No progress, no summary of what went on."),
)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a crawling command with what is about the run and not about the job."""
    for option in reversed(_RUN_OPTIONS):
        function = option(function)
    return function


def print_config(job: str, options: Options, settled: ResolvedConfig) -> int:
    """What `--show-config` prints."""
    listing = {
        "file": str(settled.file) if settled.file else None,
        job: resolve.describe_options(type(options), options, settled, job),
    }
    json.dump(listing, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0


def _option(setting: Setting, shown_defaults: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    names = [name for name in setting.flags if name.startswith("-") and not name.startswith("--")]
    first, *aliases = [name for name in setting.flags if name.startswith("--")]
    hidden = aliases
    words = setting.help
    default = getattr(shown_defaults, setting.name)
    if not setting.is_flag and default not in (None, (), "") and not setting.secret and setting.name != "user_agent":
        words += f" [{default:g}]" if isinstance(default, float) else f" [{default}]"

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        common: dict[str, Any] = {"default": None, "expose_value": True}
        if setting.negated:
            common.update(is_flag=True)
            return click.option(*names, f"{first}/{setting.negated}", setting.name, help=words, **common)(function)
        if setting.is_flag:
            common.update(is_flag=True, flag_value=True)
        else:
            common.update(type=SettingType(setting), metavar=setting.metavar, multiple=setting.many)
        for alias in hidden:
            function = click.option(alias, f"{setting.name}__{alias.strip('-').replace('-', '_')}", hidden=True, **common)(
                function
            )
        return click.option(*names, first, setting.name, help=words, **common)(function)

    return decorate


def given_flags(job: str, values: dict[str, Any]) -> dict[str, Any]:
    """Only what was really on the command line; aliases folded into their setting."""
    found: dict[str, Any] = {}
    known = {setting.name: setting for setting in JOB_SETTINGS[job]}
    source = click.get_current_context().get_parameter_source
    for key, value in values.items():
        name = key.partition("__")[0]
        # Not by its value: `--processes auto` is None, and still wins over a file.
        if name in known and source(key) is ParameterSource.COMMANDLINE:
            found[name] = found.get(name, ()) + value if known[name].many else value
    return found


def resolve_options(
    job: str, kind: type[Options], values: dict[str, Any], config_file: str | None
) -> tuple[Options, ResolvedConfig]:
    """The options of this run from every source, with warnings said on stderr."""
    path = Path(config_file) if config_file else None
    if path is not None and not path.is_file():
        raise UsageError(f"There is no configuration file {path}: check --config.")
    settled = resolve.resolve_config(job, given_flags(job, values), os.environ, path, Path.cwd())
    for warning in settled.warnings:
        sys.stderr.write(f"tadoru: {warning}\n")
    return resolve.build_options(kind, settled), settled
