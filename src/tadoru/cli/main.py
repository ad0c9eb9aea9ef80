"""`tadoru`: which command, and how its errors become one sentence and an exit code. Commands are imported when they are called."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Sequence

import click

from tadoru.errors import TadoruError, UsageError
from tadoru.version import VERSION

COMMANDS: dict[str, tuple[str, str]] = {
    "links": ("tadoru.cli.links:links", "Map a site's links; find the broken ones."),
    "explain": ("tadoru.cli.explain:explain", "Say why a URL would or would not be crawled."),
    "demo": ("tadoru.cli.demo:demo", "Try everything on a small bundled site."),
}


class LazyGroup(click.Group):
    """Knows its commands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            if near:
                hint = f"did you mean “tadoru {near[0]}”?"
            elif "." in name or "://" in name:
                hint = f"to map its links: tadoru links {name}"
            else:
                hint = "tadoru --help lists the commands."
            raise UsageError(f"There is no command “{name}”; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in COMMANDS.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            formatter.write_dl([
                ("tadoru links https://example.com", "the site as a tree"),
                ("tadoru links https://example.com --check --fail-on broken", "fail a build on broken links"),
                ("tadoru demo", "see it work, without network"),
            ])  # fmt: skip


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(VERSION, "-V", "--version", message="tadoru %(version)s")
@click.pass_context
def tadoru(ctx: click.Context) -> None:
    """Tadoru: one polite crawler, several jobs."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and end the process with its exit code."""
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """Run a command; the exit code."""
    try:
        result = tadoru.main(arguments, prog_name="tadoru", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.ClickException as error:
        return _say(_one_line(error.format_message()), 2)
    except TadoruError as error:
        return _say(str(error), error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _say("Interrupted.", 130)
    except BrokenPipeError:
        # Whoever read our output has had enough. Python would complain again while flushing at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _one_line(message: str) -> str:
    return " ".join(message.split())


def _say(sentence: str, code: int) -> int:
    sys.stderr.write(f"tadoru: {sentence}\n")
    return code
