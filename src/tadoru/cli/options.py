"""Options of commands: click options made from the settings table, and the values that were given, resolved with all sources."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from tadoru.cli.help import DocumentedOption
from tadoru.cli.inputs import complete_value
from tadoru.cli.output import _, current_language, translate_text
from tadoru.config import resolve
from tadoru.config.options import JOB_SETTINGS, AuditOptions, EventsOptions, ServeOptions
from tadoru.config.resolve import Options, ResolvedConfig
from tadoru.config.settings import Setting
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


STORED = "stored crawl"
"""The source of options that an earlier run used."""


class SettingType(click.ParamType[Any]):
    """The click type of a setting, around its parser."""

    def __init__(self, setting: Setting) -> None:
        self.name = setting.metavar or "value"
        self._setting = setting

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return complete_value(self.name, incomplete)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._setting.parse(value)
        except UsageError as error:
            raise UsageError("{option} {problem}.", option=self._setting.flags[0], problem=error) from None


def job_options(job: str, only: Iterable[str] | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a command with the options of a job. None has a default in click: what was not given is not in the result."""
    wanted = [setting for setting in JOB_SETTINGS[job] if only is None or setting.name in set(only)]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for setting in reversed(wanted):
            function = _option(setting)(function)
        return function

    return decorate


_RUN_OPTIONS = (
    click.option("--dry-run", is_flag=True, help="Print what would be done, without doing it."),
    click.option("--config", "config_file", metavar="FILE", help="Configuration file."),
    click.option("--show-config", is_flag=True, help="Print the resolved configuration, secrets hidden."),
    click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="Format of log lines."),
    click.option("-v", "--verbose", count=True, help="More output (-v: pages, -vv: everything)."),
    click.option("-q", "--quiet", is_flag=True, help="No progress and no summary."),
)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a crawling command with the options that are about the run, not about the job."""
    for option in reversed(_RUN_OPTIONS):
        function = option(function)
    return function


def print_config(job: str, options: Options, settled: ResolvedConfig) -> int:
    """Print the result of `--show-config`."""
    listing = {
        "file": str(settled.file) if settled.file else None,
        job: resolve.describe_options(options, settled, job),
    }
    json.dump(listing, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
    return 0


def _option(setting: Setting) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    names = [name for name in setting.flags if name.startswith("-") and not name.startswith("--")]
    first, *aliases = [name for name in setting.flags if name.startswith("--")]
    default = setting.default
    if not setting.is_flag and default not in (None, (), "") and not setting.secret and setting.name != "user_agent":
        default_text = f"{default:g}" if isinstance(default, float) else str(default)
    else:
        default_text = ""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        common: dict[str, Any] = {"default": None, "expose_value": True, "cls": DocumentedOption}
        if setting.negated:
            common.update(is_flag=True)
            return click.option(*names, f"{first}/{setting.negated}", setting.name, help=setting.help, **common)(function)
        if setting.is_flag:
            common.update(is_flag=True, flag_value=True)
        else:
            common.update(type=SettingType(setting), metavar=setting.metavar, multiple=setting.many)
        for alias in aliases:
            function = click.option(alias, f"{setting.name}__{alias.strip('-').replace('-', '_')}", hidden=True, **common)(
                function
            )
        return click.option(*names, first, setting.name, help=setting.help, default_text=default_text, **common)(function)

    return decorate


def given_flags(job: str, values: dict[str, Any]) -> dict[str, Any]:
    """The values that were on the command line; aliases are merged into their setting."""
    found: dict[str, Any] = {}
    known = {setting.name: setting for setting in JOB_SETTINGS[job]}
    source = click.get_current_context().get_parameter_source
    for key, value in values.items():
        name = key.partition("__")[0]
        # By its source, not its value: `--processes auto` is None and still overrides a file.
        if name in known and source(key) is ParameterSource.COMMANDLINE:
            found[name] = found.get(name, ()) + value if known[name].many else value
    return found


def config_path(config_file: str | None) -> Path | None:
    """The file of `--config`, if it is given."""
    path = Path(config_file) if config_file else None
    if path is not None and not path.is_file():
        raise UsageError("Configuration file {file} not found. Check --config.", file=path)
    return path


def resolve_options(
    job: str,
    kind: type[Options],
    values: dict[str, Any],
    config_file: str | None,
    crawl: Callable[[Options], str | None] = lambda options: None,
) -> tuple[Options, ResolvedConfig]:
    """The options of this run from every source; warnings go to stderr. Reports use the language of the output by default.

    `crawl` names the database of the crawl that the options are about: an earlier run of it is the weakest source.
    """
    settled = resolve.resolve_config(job, given_flags(job, values), os.environ, config_path(config_file), Path.cwd())
    for warning in settled.warnings:
        sys.stderr.write(f"tadoru: {translate_text(warning)}\n")
    options = kind(**settled.values)
    if database := crawl(options):
        settled = resolve.add_stored_options(settled, job, _read_stored_options(job, database), STORED)
        options = kind(**settled.values)
    if isinstance(options, AuditOptions | ServeOptions) and "lang" not in settled.sources:
        options = replace(options, lang=current_language())
    return options, settled


def _read_stored_options(job: str, database: str) -> dict[str, Any]:
    if "://" not in database and not Path(database).is_file():
        return {}
    from tadoru.jobs.crawl_setup import read_stored_options

    return read_stored_options(job, database)


def describe_stored_options(job: str, settled: ResolvedConfig) -> str:
    """Which options of an earlier run are used again; empty when there are none."""
    flags = resolve.stored_flags(settled, job, STORED)
    if not flags:
        return ""
    return _("Options of the stored crawl: {options}. Options that you give replace them.", options=", ".join(flags))


def events_options(database: str, config_file: str | None) -> EventsOptions:
    """The options for collecting events into a database, from the same file and variables as those of the command."""
    settled = resolve.resolve_config("events", {}, os.environ, Path(config_file) if config_file else None, Path.cwd())
    return replace(EventsOptions(**settled.values), database=database)
