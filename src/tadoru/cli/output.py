"""What every command writes: messages in the chosen language, `--format`, JSON on stdout, times and durations as text.

`_` and `ngettext` translate. English needs no catalogue, so nothing of `tadoru.i18n` is imported for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any

import click

from tadoru.errors import Message, TadoruError

if TYPE_CHECKING:
    from datetime import datetime

LANGUAGES = ("en", "ja")
_ENGLISH = "en"


class _State:
    """The state of the process that commands share."""

    language = _ENGLISH


_state = _State()


def set_language(lang: str) -> None:
    """Choose the language of all output from now on."""
    _state.language = lang


def current_language() -> str:
    """The language of the output."""
    return _state.language


def locale_language() -> str:
    """The language of the environment's locale."""
    name = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "C")
    if name.partition(".")[0].partition("_")[0] in ("C", "POSIX", _ENGLISH):
        return _ENGLISH
    from tadoru.i18n.translation import environment_language

    return environment_language()


def _(message: str, /, **values: object) -> str:
    """A message in the chosen language, with its values."""
    if _state.language == _ENGLISH:
        return message.format_map(values) if values else message
    from tadoru.i18n.translation import translator

    return translator(_state.language).gettext(message, **values)


def N_(message: str) -> str:  # noqa: N802 (the name that gettext's tools know)
    """Mark a message where it is defined; it is translated where it is shown."""
    return message


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """The form of a message that fits a count, which is `{count}` in it."""
    values = {"count": f"{count:,}", **values}
    if _state.language == _ENGLISH:
        return (one if count == 1 else many).format_map(values)
    from tadoru.i18n.translation import translator

    return translator(_state.language).ngettext(one, many, count, **values)


def translate_text(text: str) -> str:
    """A text in the chosen language if it is a `Message`; any other text as it is."""
    return _(text.template, **text.values) if isinstance(text, Message) else text


def translate_error(error: TadoruError) -> str:
    """The message of an error in the chosen language."""
    return _(error.message, **error.values) if _state.language != _ENGLISH else str(error)


class FormatChoice(click.Choice[str]):
    """The output formats of a command. `text` and `table` are synonyms: both mean the readable format."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        other = {"text": "table", "table": "text"}.get(value)
        return super().convert(other if value not in self.choices and other in self.choices else value, param, ctx)


def format_option(*formats: str, or_json: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--format`, whose first value is the default; also `--json`, where older versions had only that."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if or_json:
            function = click.option("--json", "form", flag_value="json", hidden=True)(function)
        text = f"Output format. [{formats[0]}]"
        return click.option("-f", "--format", "form", type=FormatChoice(formats), default=formats[0], help=text)(function)

    return decorate


def all_of(*options: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a command with several options, which its help lists in this order."""
    return lambda function: reduce(lambda decorated, option: option(decorated), reversed(options), function)


def write_json(value: Any) -> None:
    """One JSON value on stdout."""
    import json  # Late: help and completion do not need it.

    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def format_time(at: datetime | None, zone_name: str) -> str:
    """A time in the time zone of the installation, to the minute."""
    from tadoru.store.calendar.drafts import zone_or_utc

    return f"{at.astimezone(zone_or_utc(zone_name)):%Y-%m-%d %H:%M}" if at else ""


def format_duration(seconds: float) -> str:
    """A duration, rounded: `45 s`, `10 min`, `5 h`, `3 d`."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (seconds >= size and unit != "d"):
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
