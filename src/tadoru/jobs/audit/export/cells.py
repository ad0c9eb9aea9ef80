"""Cells as the forms need them: the database keeps times and nested values as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any


def moment(text: str) -> datetime | None:
    """A time of the database, which is UTC; None for what is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def iso(text: str) -> str:
    """`2024-01-31 12:00:00.000` so that nobody takes it for a local time."""
    return f"{text.replace(' ', 'T', 1)}Z"


def nested(text: str) -> Any:
    """The value of a JSON text; the text itself when it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def joined(values: Sequence[Any]) -> str:
    """Several values in one cell."""
    return " | ".join(map(str, values))
