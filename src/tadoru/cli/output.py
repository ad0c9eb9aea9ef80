"""What commands that tell something share: `--format`, JSON on stdout, and how times are written for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from typing import Any

import click


class FormatChoice(click.Choice[str]):
    """The forms of a command. What a person reads is a table or lines of text, and either word will do."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        other = {"text": "table", "table": "text"}.get(value)
        return super().convert(other if value not in self.choices and other in self.choices else value, param, ctx)


def format_option(*forms: str, or_json: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--format`, the first being what a person reads; `--json` too, where it was once the only way to say it."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if or_json:
            function = click.option("--json", "form", flag_value="json", hidden=True)(function)
        words = f"The form. [{forms[0]}]"
        return click.option("-f", "--format", "form", type=FormatChoice(forms), default=forms[0], help=words)(function)

    return decorate


def write_json(value: Any) -> None:
    """One JSON value on stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def format_time(at: datetime | None, of: str) -> str:
    """A time of ours, for people: in the installation's zone."""
    from tadoru.store.calendar.drafts import zone_or_utc

    return f"{at.astimezone(zone_or_utc(of)):%Y-%m-%d %H:%M}" if at else ""


def format_duration(seconds: float) -> str:
    """A length of time, roughly."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (seconds >= size and unit != "d"):
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
