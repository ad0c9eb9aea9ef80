"""How every command says what it can do: usage, a sentence, examples, and the options that most people need, in groups and on one
screen; `--help-all` has every option. A group knows its commands by name and imports the one that is called."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tadoru.cli.inputs import FileName, takes_file_name
from tadoru.config.settings import Setting
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

OTHER_OPTIONS = "This command"
"""The group of what is about the command and not about its work; alone, it is called `Options`."""
_SHOW_ALL = "tadoru.help_all"

CommandTable = Mapping[str, tuple[str, str]]
"""The name of a command → where it is (`module:attribute`), and a line about it."""


class DocumentedCommand(click.Command):
    """What commands and groups of commands have alike: examples, and options in groups."""

    def __init__(
        self,
        *args: Any,
        groups: Sequence[Setting] = (),
        sections: Mapping[str, Sequence[str]] | None = None,
        most_used: Iterable[str] = (),
        examples: Sequence[tuple[str, str]] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._group_of = {setting.name: setting.group for setting in groups}
        self._group_of |= {name: heading for heading, names in (sections or {}).items() for name in names}
        self._most_used = frozenset(most_used)
        self.examples = tuple(examples)
        for parameter in self.params:
            if takes_file_name(parameter):
                parameter.type = FileName(parameter.metavar or "")
        self.params.append(
            click.Option(
                ["--help-all"], is_flag=True, expose_value=False, is_eager=True, callback=_print_full_help,
                hidden=not self._most_used, help="Show every option and exit.",
            )
        )  # fmt: skip

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            self._refuse_one_dash(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # Of some mistakes click does not say whose they are.
            raise

    def _refuse_one_dash(self, ctx: click.Context, args: list[str]) -> None:
        """`-depth 3` would be `-d epth`: a database of that name."""
        names = {name for one in self.get_params(ctx) for name in one.opts if name.startswith("--")}
        for word in takewhile(lambda word: word != "--", args):
            name = f"-{word.partition('=')[0]}"
            if not word.startswith("--") and name in names:
                raise UsageError(f"Write {name} with two dashes: {word} is read as several short options.")

    def command_rows(self, ctx: click.Context) -> Sequence[tuple[str, str]]:
        """The sub-commands, with a line about each."""
        return ()

    def option_groups(self, ctx: click.Context, *, everything: bool) -> dict[str, list[click.Option]]:
        """Heading → the options below it; without `everything`, only those that most people need."""
        rows: dict[str, list[click.Option]] = {heading: [] for heading in self._group_of.values()}
        rows[OTHER_OPTIONS] = []  # Last: what is about the work comes first.
        for parameter in self.get_params(ctx):
            if not isinstance(parameter, click.Option) or parameter.hidden:
                continue
            if everything or not self._most_used or parameter.is_eager or parameter.name in self._most_used:
                rows[self._group_of.get(parameter.name or "", OTHER_OPTIONS)].append(parameter)
        if list(filter(None, rows.values())) == [rows[OTHER_OPTIONS]]:
            return {"Options": rows[OTHER_OPTIONS]}
        return {heading: found for heading, found in rows.items() if found}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _write_section(formatter, "Examples", self.examples, col_max=60)
        _write_section(formatter, "Commands", self.command_rows(ctx))
        for heading, found in self.option_groups(ctx, everything=bool(ctx.meta.get(_SHOW_ALL))).items():
            _write_section(formatter, heading, [record for one in found if (record := one.get_help_record(ctx)) is not None])


class CommandGroup(DocumentedCommand, click.Group):
    """A group of commands; those of `places` are imported when they are called."""

    command_class = DocumentedCommand

    def __init__(self, *args: Any, places: CommandTable | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._places: CommandTable = places or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._places, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._places:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self._places[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.list_commands(ctx) and not args[0].startswith("-") and not ctx.resilient_parsing:
            self.refuse(ctx, args)
        return super().resolve_command(ctx, args)

    def refuse(self, ctx: click.Context, args: list[str]) -> NoReturn:
        """Say that there is no such command, and which was likely meant."""
        from tadoru.cli.usage_errors import no_such_command

        raise no_such_command(ctx.command_path, args[0], self.list_commands(ctx))

    def command_rows(self, ctx: click.Context) -> Sequence[tuple[str, str]]:
        return list(self._rows())

    def _rows(self) -> Iterator[tuple[str, str]]:
        yield from ((name, words) for name, (_, words) in self._places.items())
        yield from ((name, command.get_short_help_str(limit=90)) for name, command in self.commands.items())

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of commands without importing any of them: a shell does not like to wait."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=words) for name, words in self._rows() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)


def _print_full_help(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_SHOW_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


def _write_section(formatter: click.HelpFormatter, heading: str, rows: Sequence[tuple[str, str]], col_max: int = 30) -> None:
    if rows:
        with formatter.section(heading):
            formatter.write_dl(list(rows), col_max=col_max)
