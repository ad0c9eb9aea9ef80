"""`tadoru`: dispatches to a command, which is imported when it is called, and turns errors into a message and an exit code."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import click

from tadoru.cli.help import CommandGroup, DocumentedCommand
from tadoru.cli.output import LANGUAGES, _, locale_language, set_language, translate_error
from tadoru.errors import TadoruError, UsageError
from tadoru.signals import stop_signals
from tadoru.version import VERSION

if TYPE_CHECKING:
    from tadoru.clock import Clock

COMMANDS: dict[str, tuple[str, str]] = {
    "links": ("tadoru.cli.links:links", "Map the links of a site and find broken ones."),
    "audit": ("tadoru.cli.audit:audit", "Crawl a site into a database and report its problems."),
    "docs": ("tadoru.cli.docs:docs", "Download a documentation site as Markdown."),
    "events": ("tadoru.cli.events:events", "Collect events from many sources into one calendar."),
    "serve": ("tadoru.cli.serve:serve", "Run the web service: calendar pages, feeds and API."),
    "worker": ("tadoru.cli.cluster:worker", "Run a worker of a cluster (PostgreSQL)."),
    "cluster": ("tadoru.cli.cluster:cluster", "Show and manage the crawls of a cluster."),
    "mcp": ("tadoru.cli.docs:mcp", "Serve downloaded documentation to agents (MCP)."),
    "report": ("tadoru.cli.report:report", "Print an audit report as text, json, html, junit, sarif or markdown."),
    "compare": ("tadoru.cli.report:compare", "Compare two crawls."),
    "export": ("tadoru.cli.export:export", "Export a crawl as csv, jsonl, parquet, xlsx, sitemap, warc or dot."),
    "copy": ("tadoru.cli.export:copy", "Copy a crawl or a calendar to another database."),
    "explain": ("tadoru.cli.dry_run:explain", "Show whether a URL would be crawled, and why."),
    "plugins": ("tadoru.cli.installation:plugins", "List installed plugins."),
    "completion": ("tadoru.cli.installation:completion", "Print a shell completion script."),
    "doctor": ("tadoru.cli.installation:doctor", "Check the installation and suggest fixes."),
    "demo": ("tadoru.cli.demo:demo", "Run every job on a small bundled site."),
}


class RootGroup(CommandGroup):
    """All commands."""

    def reject_command(self, ctx: click.Context, args: list[str]) -> NoReturn:
        from tadoru.cli.usage_errors import nested_command, no_such_command, url_without_command

        name = args[0]
        if name == "help":
            raise UsageError("To show help, run `{command}`.", command=" ".join(["tadoru", *args[1:], "--help"]))
        if "." in name or "://" in name or name.partition(":")[0] == "localhost":
            raise url_without_command(name)
        groups = {group: self.get_command(ctx, group) for group in ("events", "serve", "cluster", "docs")}
        below = [
            group
            for group, command in groups.items()
            if isinstance(command, DocumentedCommand) and name in dict(command.command_rows(ctx))
        ]
        raise nested_command(name, below) if below else no_such_command(ctx.command_path, name, COMMANDS)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader of the pipe has closed it. Caught here, because click would report a failure.
            _discard_output(sys.stdout)
            return 0
        return result


@click.group(
    cls=RootGroup, lazy_commands=COMMANDS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=(
        ("tadoru demo", "try it without network access"),
        ("tadoru links https://example.com", "tree of links"),
        ("tadoru links https://example.com --check --fail-on broken", "fail a build on broken links"),
        ("tadoru audit https://example.com", "the problems of a site"),
        ("tadoru docs https://docs.example.com", "a documentation site as Markdown"),
    ),
)  # fmt: skip
@click.version_option(VERSION, "-V", "--version", message="tadoru %(version)s")
@click.option(
    "--lang", type=click.Choice(LANGUAGES), help="Language of help, messages and reports. [from the locale]",
)  # fmt: skip
def tadoru(lang: str | None) -> None:
    """A polite crawler: link maps, site audits, documentation as Markdown, event calendars. Run `tadoru COMMAND --help`."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end the process with its exit code."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Output is UTF-8 in every locale, and no text of a page can make it fail.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    for number in stop_signals():
        signal.signal(number, _raise_keyboard_interrupt)
    try:
        code = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # A second one, while the first was being handled.
        code = 130
    for number in stop_signals():
        signal.signal(number, signal.SIG_IGN)  # The exit code is final.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard_output(stream)  # Already reported; Python would fail again when it flushes at exit.
    sys.exit(code)


def _open_closed_streams() -> None:
    """Reopen closed standard streams: otherwise the next file or socket gets the number of one, which breaks the event loop.

    Writing to a stdout that was closed still fails; writing to stderr is ignored.
    """
    for number, name, flags in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            os.dup2(opened, number)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115 - open until exit


def run(arguments: list[str], lang: str | None = None, clock: Clock | None = None) -> int:
    """Run a command and return its exit code. Its language is that of `--lang`, of the caller, or of the locale; `clock` is the
    clock of the events commands."""
    set_language(_requested_language(arguments) or lang or locale_language())
    try:
        result = tadoru.main(arguments, prog_name="tadoru", standalone_mode=False, obj=clock)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:  # A group without a command: list its commands.
        sys.stdout.write(error.ctx.get_help() + "\n")
        return 0
    except click.ClickException as error:
        from tadoru.cli.usage_errors import format_usage_error

        return _report_error(arguments, format_usage_error(error), 2)
    except TadoruError as error:
        return _report_error(arguments, translate_error(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _report_error(arguments, _("Interrupted."), 130)
    except ModuleNotFoundError as error:
        from tadoru.cli.usage_errors import missing_package

        return _report_error(arguments, *missing_package(error))
    except OSError as error:
        return _report_error(arguments, _("Failed: {reason}.", reason=error.strerror or error), 1)
    except Exception as error:
        if "-vv" in arguments:
            import traceback

            traceback.print_exc()
        what = f"{type(error).__name__}: {error}"
        return _report_error(arguments, _("Bug in Tadoru. Report it with the output of -vv: {error}", error=what), 1)


def _requested_language(arguments: Sequence[str]) -> str | None:
    """The value of `--lang` before the command. Read here, because help and usage errors need it before click has parsed it."""
    for place, word in enumerate(arguments):
        name, has_value, value = word.partition("=")
        if not word.startswith("-"):
            return None
        if name == "--lang":
            value = value if has_value else next(iter(arguments[place + 1 : place + 2]), "")
            return value if value in LANGUAGES else None
    return None


def _raise_keyboard_interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM and SIGHUP act like Ctrl-C where no crawl is running."""
    raise KeyboardInterrupt


def _discard_output(stream: TextIO) -> None:
    """Discard what is still to be written to a standard stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _report_error(arguments: Sequence[str], message: str, code: int) -> int:
    """One line on stderr, in the format of `--log-format`."""
    from tadoru.clock import SystemClock
    from tadoru.log import Log, printable  # Late: completion and help do not need it.

    sentence = printable(" ".join(message.split()))
    log = Log(sys.stderr, SystemClock(), form="json")
    if "--log-format=json" in arguments or ("--log-format", "json") in pairwise(arguments):
        log.write("error", sentence, exit_code=code)
    else:
        log.line(f"tadoru: {sentence}")
    return code
