"""`tadoru`: which command, and how errors become one sentence and an exit code. Commands are imported when they are called."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise
from types import FrameType
from typing import Any, NoReturn, TextIO

import click

from tadoru.cli.help import CommandGroup, DocumentedCommand
from tadoru.errors import TadoruError, UsageError
from tadoru.signals import stop_signals
from tadoru.version import VERSION

COMMANDS: dict[str, tuple[str, str]] = {
    "links": ("tadoru.cli.links:links", "Map a site's links; find the broken ones."),
    "audit": ("tadoru.cli.audit:audit", "Find every problem of a site, kept in a database."),
    "docs": ("tadoru.cli.docs:docs", "A documentation site as Markdown, for people and language models."),
    "events": ("tadoru.cli.events:events", "One calendar from many sources."),
    "serve": ("tadoru.cli.serve:serve", "Publish the calendar: pages, feeds, REST."),
    "worker": ("tadoru.cli.cluster:worker", "Crawl and collect for a cluster of machines, on PostgreSQL."),
    "cluster": ("tadoru.cli.cluster:cluster", "See the workers, crawls and queue of a cluster."),
    "mcp": ("tadoru.cli.docs.sites:mcp", "Answer an agent's questions from crawled documentation."),
    "report": ("tadoru.cli.report:report", "Tell what an audit found, as text, json, html, junit, sarif or markdown."),
    "compare": ("tadoru.cli.compare:compare", "Say what changed between two crawls."),
    "export": ("tadoru.cli.export:export", "Write a crawl as csv, jsonl, parquet, xlsx, sitemap, warc or dot."),
    "copy": ("tadoru.cli.copy:copy", "Copy a crawl or a calendar to another database, a file or PostgreSQL."),
    "explain": ("tadoru.cli.explain:explain", "Say why a URL would or would not be crawled."),
    "plugins": ("tadoru.cli.installation:plugins", "List the plugins that are installed."),
    "completion": ("tadoru.cli.installation:completion", "Let your shell complete commands, options and files."),
    "doctor": ("tadoru.cli.installation:doctor", "Check this installation, and say how to mend it."),
    "demo": ("tadoru.cli.demo:demo", "Try everything on a small bundled site."),
}


class RootGroup(CommandGroup):
    """All commands."""

    def refuse(self, ctx: click.Context, args: list[str]) -> NoReturn:
        from tadoru.cli.usage_errors import nested_command, no_such_command, url_without_command

        name = args[0]
        if name == "help":
            raise UsageError(f"Ask the command itself: `{' '.join(['tadoru', *args[1:], '--help'])}`.")
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
            # Whoever read our output has had enough. Caught here, because click would call it a failure.
            _discard_output(sys.stdout)
            return 0
        return result


@click.group(
    cls=RootGroup, places=COMMANDS, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=(
        ("tadoru demo", "see it work, without network"),
        ("tadoru links https://example.com", "the site as a tree"),
        ("tadoru links https://example.com --check --fail-on broken", "fail a build on broken links"),
        ("tadoru audit https://example.com", "what is wrong with it"),
        ("tadoru docs https://docs.example.com", "a documentation site as Markdown"),
    ),
)  # fmt: skip
@click.version_option(VERSION, "-V", "--version", message="tadoru %(version)s")
def tadoru() -> None:
    """Tadoru: one polite crawler, several jobs. Each command has a --help of its own."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end the process with its exit code."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Results are UTF-8 whatever the locale says, and no text of a page can stop them.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    for number in stop_signals():
        signal.signal(number, _raise_keyboard_interrupt)
    try:
        code = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:  # One more, while the first was being answered.
        code = 130
    for number in stop_signals():
        signal.signal(number, signal.SIG_IGN)  # It is over: what comes now does not change how it ended.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard_output(stream)  # Told already; Python would complain again while flushing what can not be written.
    sys.exit(code)


def _open_closed_streams() -> None:
    """A closed standard stream gives its number to the next file or socket that is opened, and the event loop dies of that.

    What is written to a stdout that was closed fails, as it should; stderr says nothing.
    """
    for number, name, flags in ((0, "stdin", os.O_RDONLY), (1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            os.dup2(opened, number)
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115 - for as long as we live


def run(arguments: list[str]) -> int:
    """Run a command; the exit code."""
    try:
        result = tadoru.main(arguments, prog_name="tadoru", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:  # A group without a command: what there is.
        sys.stdout.write(error.ctx.get_help() + "\n")
        return 0
    except click.ClickException as error:
        from tadoru.cli.usage_errors import format_usage_error

        return _report_error(arguments, format_usage_error(error), 2)
    except TadoruError as error:
        return _report_error(arguments, str(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _report_error(arguments, "Interrupted.", 130)
    except ModuleNotFoundError as error:
        from tadoru.cli.usage_errors import missing_package

        return _report_error(arguments, *missing_package(error))
    except OSError as error:
        return _report_error(arguments, f"Failed: {error.strerror or error}.", 1)
    except Exception as error:
        if "-vv" in arguments:
            traceback.print_exc()
        what = f"{type(error).__name__}: {error}"
        return _report_error(arguments, f"This is a fault of Tadoru, please report it with the output of -vv: {what}", 1)


def _raise_keyboard_interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM and SIGHUP behave as Ctrl-C also where no crawl is running."""
    raise KeyboardInterrupt


def _discard_output(stream: TextIO) -> None:
    """What is still to be written to a standard stream goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _report_error(arguments: Sequence[str], message: str, code: int) -> int:
    """One sentence on stderr, in the form that the person chose for log lines."""
    from tadoru.clock import SystemClock
    from tadoru.log import Log, printable  # Late: who only completes a word or reads the help has no use for it.

    sentence = printable(" ".join(message.split()))
    log = Log(sys.stderr, SystemClock(), form="json")
    if "--log-format=json" in arguments or ("--log-format", "json") in pairwise(arguments):
        log.write("error", sentence, exit_code=code)
    else:
        log.line(f"tadoru: {sentence}")
    return code
