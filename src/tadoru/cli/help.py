"""The help of every command: usage, a sentence, examples, and the most used options in groups on one screen; `--help-all` lists
all options. Texts are translated when they are shown. A group knows its commands by name and imports the one that is called."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tadoru.cli.inputs import FileName, takes_file_name
from tadoru.cli.output import _, current_language
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tadoru.config.settings import Setting

OTHER_OPTIONS = "General"
"""The group of options that are not about the job of the command; alone, it is called `Options`."""
_HEADINGS = ("Usage: ", "Examples", "Commands", "Options", "required")
_SHOW_ALL = "tadoru.help_all"

CommandTable = Mapping[str, tuple[str, str]]
"""The name of a command → where it is (`module:attribute`), and its short help."""


class DocumentedOption(click.Option):
    """An option whose default is shown in brackets after its help text, and is no part of it."""

    def __init__(self, *args: Any, default_text: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.default_text = default_text


class HelpContext(click.Context):
    """A context that formats help for the chosen language."""

    def make_formatter(self) -> click.HelpFormatter:
        if current_language() == "en":
            return super().make_formatter()
        return WideHelpFormatter(width=self.terminal_width, max_width=self.max_content_width)


class DocumentedCommand(click.Command):
    """A command with examples, and with options in groups."""

    context_class = HelpContext

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
                hidden=not self._most_used, help="Show all options and exit.",
            )
        )  # fmt: skip

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:
            self._reject_single_dash(ctx, args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click leaves it out of some errors.
            raise

    def _reject_single_dash(self, ctx: click.Context, args: list[str]) -> None:
        """`-depth 3` would be read as `-d epth`: a database of that name."""
        names = {name for one in self.get_params(ctx) for name in one.opts if name.startswith("--")}
        for word in takewhile(lambda word: word != "--", args):
            name = f"-{word.partition('=')[0]}"
            if not word.startswith("--") and name in names:
                raise UsageError("Write {name} with two dashes: {word} is read as several short options.", name=name, word=word)

    def command_rows(self, ctx: click.Context) -> Sequence[tuple[str, str]]:
        """The subcommands with their short help."""
        return ()

    def option_groups(self, ctx: click.Context, *, everything: bool) -> dict[str, list[click.Option]]:
        """Heading → its options; without `everything`, only the most used ones."""
        # All jobs share an option about output, and it comes before those of the job itself.
        headings = sorted(dict.fromkeys(self._group_of.values()), key=lambda heading: heading == "Output")
        rows: dict[str, list[click.Option]] = {heading: [] for heading in headings}
        rows[OTHER_OPTIONS] = []  # Last: the options of the job come first.
        for parameter in self.get_params(ctx):
            if not isinstance(parameter, click.Option) or parameter.hidden:
                continue
            if everything or not self._most_used or parameter.is_eager or parameter.name in self._most_used:
                rows[self._group_of.get(parameter.name or "", OTHER_OPTIONS)].append(parameter)
        if list(filter(None, rows.values())) == [rows[OTHER_OPTIONS]]:
            return {"Options": rows[OTHER_OPTIONS]}
        return {heading: options for heading, options in rows.items() if options}

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix=_("Usage: "))

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text("\n\n".join(map(_, _paragraphs(self.help or ""))))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        examples = [(command, _(remark)) for command, remark in self.examples]
        _write_section(formatter, _("Examples"), examples, col_max=60)
        _write_section(formatter, _("Commands"), [(name, _(text)) for name, text in self.command_rows(ctx)])
        for heading, options in self.option_groups(ctx, everything=bool(ctx.meta.get(_SHOW_ALL))).items():
            _write_section(formatter, _(heading), [_help_row(one, ctx) for one in options])

    def messages(self, ctx: click.Context) -> Iterator[str]:
        """The texts of the help that are translated when it is shown."""
        yield from _paragraphs(self.help or "")
        yield from (remark for _command, remark in self.examples)
        yield from (text for _name, text in self.command_rows(ctx))
        for heading, options in self.option_groups(ctx, everything=True).items():
            yield heading
            yield from (option.help for option in options if option.help)


class CommandGroup(DocumentedCommand, click.Group):
    """A group of commands; those of `lazy_commands` are imported when they are called."""

    command_class = DocumentedCommand

    def __init__(self, *args: Any, lazy_commands: CommandTable | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy_commands: CommandTable = lazy_commands or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self._lazy_commands, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._lazy_commands:
            return super().get_command(ctx, cmd_name)
        module, _colon, attribute = self._lazy_commands[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.list_commands(ctx) and not args[0].startswith("-") and not ctx.resilient_parsing:
            self.reject_command(ctx, args)
        return super().resolve_command(ctx, args)

    def reject_command(self, ctx: click.Context, args: list[str]) -> NoReturn:
        """Raise UsageError for an unknown command, with the closest known one."""
        from tadoru.cli.usage_errors import no_such_command

        raise no_such_command(ctx.command_path, args[0], self.list_commands(ctx))

    def command_rows(self, ctx: click.Context) -> Sequence[tuple[str, str]]:
        return list(self._rows())

    def _rows(self) -> Iterator[tuple[str, str]]:
        yield from ((name, text) for name, (_place, text) in self._lazy_commands.items())
        yield from ((name, command.get_short_help_str(limit=90)) for name, command in self.commands.items())

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of commands, without importing any of them: completion must not be slow."""
        from click.shell_completion import CompletionItem

        found = [CompletionItem(name, help=_(text)) for name, text in self._rows() if name.startswith(incomplete)]
        return found + click.Command.shell_complete(self, ctx, incomplete)


class WideHelpFormatter(click.HelpFormatter):
    """Help in a language whose characters are two columns wide and have no spaces between words."""

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        for number, paragraph in enumerate(text.split("\n\n")):
            self.write("\n" if number else "")
            for line in wrap_columns(paragraph, max(self.width - self.current_indent, 11)):
                self.write(f"{indent}{line}\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        from tadoru.jobs.reporting.formatting import display_width

        rows, indent = list(rows), " " * self.current_indent
        first = min(max(display_width(name) for name, _text in rows), col_max) + col_spacing
        for name, text in rows:
            width = display_width(name)
            fits = width <= first - col_spacing
            self.write(f"{indent}{name}{' ' * (first - width) if fits else ''}")
            lines = wrap_columns(text, max(self.width - first - self.current_indent - 2, 10))
            if not fits:
                self.write(f"\n{indent}{' ' * first}")
            self.write(f"\n{indent}{' ' * first}".join(lines) + "\n")


_WRAP_UNIT = re.compile(r"[!-~“”…]+ *|.[、。，．）」』】・：；！？ー…]*")
"""What stays on one line: a word of ASCII letters, or a character with the punctuation that must not begin a line."""


def wrap_columns(text: str, width: int) -> list[str]:
    """The lines of a text, each at most so many columns wide."""
    from tadoru.jobs.reporting.formatting import display_width

    lines, used = [""], 0
    for unit in _WRAP_UNIT.findall(text):
        needed = display_width(unit.rstrip())
        if used + needed > width and lines[-1]:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
            used = 0
        lines[-1] += unit
        used += display_width(unit)
    lines[-1] = lines[-1].rstrip()
    return lines


def help_messages(ctx: click.Context) -> Iterator[str]:
    """All texts of the help of a command and of the commands below it."""
    yield from _HEADINGS
    for command in _subcommands(ctx):
        if isinstance(command.command, DocumentedCommand):
            yield from command.command.messages(command)


def _subcommands(ctx: click.Context) -> Iterator[click.Context]:
    yield ctx
    command = ctx.command
    children = getattr(command, "subcommands", {})
    if isinstance(command, click.Group):
        children = {name: command.get_command(ctx, name) for name in command.list_commands(ctx)}
    for name, child in children.items():
        yield from _subcommands(child.make_context(name, [], parent=ctx, resilient_parsing=True))


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a docstring, each on one line."""
    return [" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n") if paragraph.strip()]


def _help_row(option: click.Option, ctx: click.Context) -> tuple[str, str]:
    """An option as the help lists it: its names, and its text with the default."""
    names, text = option.get_help_record(ctx) or ("", "")
    translated = _(option.help) if option.help else ""
    default = getattr(option, "default_text", "")
    shown = f"{translated} [{default}]" if default else translated
    return names, text.replace(option.help or "", shown, 1).replace("[required]", f"[{_('required')}]")


def _print_full_help(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta[_SHOW_ALL] = True
        click.echo(ctx.get_help())
        ctx.exit()


def _write_section(formatter: click.HelpFormatter, heading: str, rows: Sequence[tuple[str, str]], col_max: int = 30) -> None:
    if rows:
        with formatter.section(heading):
            formatter.write_dl(list(rows), col_max=col_max)
