"""The whole tree of commands, and command lines that are parsed by the real commands without being run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import click

from tadoru.cli.docs import SUBCOMMANDS
from tadoru.cli.main import tadoru


def root() -> click.Context:
    """The context of `tadoru` itself, on a terminal of 100 columns."""
    return tadoru.make_context("tadoru", [], resilient_parsing=True, terminal_width=100)


def every_command(ctx: click.Context | None = None) -> Iterator[click.Context]:
    """A context for each command, the groups included."""
    ctx = ctx or root()
    yield ctx
    command = ctx.command
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            assert found is not None
            yield from every_command(found.make_context(name, [], parent=ctx, resilient_parsing=True))
    elif command.name == "docs":
        for name, other in SUBCOMMANDS.items():
            yield other.make_context(name, [], parent=ctx, resilient_parsing=True)


def parsed(line: str) -> click.Command:
    """The command that a line of a shell calls; its options and arguments have been read by it. Raises what it would raise."""
    words = _first_command(shlex.split(line))
    assert words[0] == "tadoru", line
    ctx = tadoru.make_context("tadoru", words[1:])
    while isinstance(ctx.command, click.Group) and (rest := [*ctx._protected_args, *ctx.args]):
        name, command, arguments = ctx.command.resolve_command(ctx, rest)
        assert name is not None
        assert command is not None
        ctx = command.make_context(name, arguments, parent=ctx)
    return ctx.command


def _first_command(words: Sequence[str]) -> list[str]:
    """Of a pipe the first command, without where its output goes; of `eval "$(…)"` what is in it."""
    if words[0] == "eval":
        return shlex.split(words[1].removeprefix("$(").removesuffix(")"))
    end = next((place for place, word in enumerate(words) if word in ("|", ">")), len(words))
    return list(words[:end])
