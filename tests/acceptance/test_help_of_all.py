"""The help of every command: it fits a screen, has examples that the command understands, and its options are in groups."""

from __future__ import annotations

import click
import pytest

from tadoru.cli.help import DocumentedCommand
from tests.acceptance.commands import every_command, parsed

SCREEN = 45
FEW = 8
"""So many options need no headings to be found."""
CONTEXTS = {ctx.command_path: ctx for ctx in every_command()}


@pytest.mark.parametrize("path", CONTEXTS)
def test_the_help_of_every_command_fits_a_screen(path: str) -> None:
    ctx = CONTEXTS[path]
    lines = ctx.get_help().splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 100
    assert len(ctx.command.get_short_help_str(limit=90)) < 90


@pytest.mark.parametrize("path", CONTEXTS)
def test_every_command_has_examples_that_it_understands(path: str) -> None:
    command = CONTEXTS[path].command
    assert isinstance(command, DocumentedCommand)
    called = [parsed(line) for line, _ in command.examples]
    own = {command, *(command.commands.values() if isinstance(command, click.Group) else ())}
    assert path == "tadoru" or any(one in own for one in called) or _is_below(command, called)
    assert all(words and not words.endswith(".") for _, words in command.examples)


def _is_below(command: click.Command, called: list[click.Command]) -> bool:
    """Whether an example of a group calls one of the commands that it imports when they are called."""
    below = [ctx.command for ctx in CONTEXTS.values() if ctx.parent is not None and ctx.parent.command is command]
    return any(one in below for one in called)


@pytest.mark.parametrize("path", CONTEXTS)
def test_every_option_stands_in_one_group_and_has_words(path: str) -> None:
    ctx = CONTEXTS[path]
    command = ctx.command
    assert isinstance(command, DocumentedCommand)
    groups = command.option_groups(ctx, everything=True)
    listed = [one for found in groups.values() for one in found]
    visible = [one for one in command.get_params(ctx) if isinstance(one, click.Option) and not one.hidden]
    assert sorted(map(id, listed)) == sorted(map(id, visible))
    assert all(one.help for one in listed)
    assert len(groups) > 1 or len(listed) <= FEW, "many options need headings"
    assert all("[default" not in (one.get_help_record(ctx) or ("", ""))[1] for one in listed), "a default is shown as [this]"


@pytest.mark.parametrize("path", [path for path, ctx in CONTEXTS.items() if "--help-all" in ctx.get_help()])
def test_where_help_leaves_something_out_it_says_how_to_see_it(path: str) -> None:
    ctx = CONTEXTS[path]
    command = ctx.command
    assert isinstance(command, DocumentedCommand)
    short, whole = (command.option_groups(ctx, everything=everything) for everything in (False, True))
    assert sum(map(len, short.values())) < sum(map(len, whole.values()))


def test_there_is_nothing_to_see_by_help_all_where_help_leaves_nothing_out() -> None:
    for path, ctx in CONTEXTS.items():
        if "--help-all" not in ctx.get_help():
            assert isinstance(ctx.command, DocumentedCommand)
            groups = [ctx.command.option_groups(ctx, everything=everything) for everything in (False, True)]
            assert groups[0] == groups[1], path
