"""What the export formats share: conversion of cells, and the error for a missing optional library."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from tadoru.errors import UsageError
from tadoru.extras import not_installed


def parse_time(text: str) -> datetime | None:
    """A time of the database, which is in UTC; None for invalid text."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def iso_time(text: str) -> str:
    """A time of the database in ISO 8601, marked as UTC."""
    return f"{text.replace(' ', 'T', 1)}Z"


def parse_json(text: str) -> Any:
    """The value of a JSON text; the text itself if it is invalid."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def join_values(values: Sequence[Any]) -> str:
    """Several values in one cell."""
    return " | ".join(map(str, values))


@contextmanager
def optional_library(form: str) -> Iterator[None]:
    """Wraps the import of a library of the extra with the name of the format. Raises UsageError if it is not installed."""
    try:
        yield
    except ImportError:
        raise UsageError(not_installed(f"--format {form}", form)) from None
