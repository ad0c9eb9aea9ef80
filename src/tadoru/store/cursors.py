"""Cursors of lists: the sort keys of the last row shown, so that no list is paged by counting.

A cursor comes from outside, and its values go to the database: whatever could not have been created here is refused.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from tadoru.errors import UsageError

Key = str | int | float | datetime
LONGEST = 8_000
"""Characters of a cursor: a URL may be its key."""


class UnknownCursor(UsageError):
    """A cursor that does not belong to the list."""


def encode_cursor(order: str, keys: Sequence[Key]) -> str:
    """The place after a row with these keys, in a list of that order; empty for a list that has only one."""
    values = [*_named(order), *[key.isoformat() if isinstance(key, datetime) else key for key in keys]]
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, order: str, kinds: Sequence[type]) -> tuple[Any, ...]:
    """The keys that a cursor holds. Raises UnknownCursor when it is of another order, or of none."""
    names = _named(order)
    try:
        if len(cursor) > LONGEST:
            raise ValueError
        found = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
        if not isinstance(found, list) or found[: len(names)] != names or len(found) != len(names) + len(kinds):
            raise ValueError
        return tuple(_checked(value, kind) for value, kind in zip(found[len(names) :], kinds, strict=True))
    except (ValueError, OverflowError, RecursionError, binascii.Error):
        raise UnknownCursor("Invalid cursor. Start again without `cursor`.") from None


def _named(order: str) -> list[str]:
    return [order] if order else []


def _checked(value: object, kind: type) -> Key:
    if kind is str and isinstance(value, str):
        value.encode()  # Half a character cannot be bound; a UnicodeEncodeError is a ValueError.
        return value
    if kind is int and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return value
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    if kind is datetime and isinstance(value, str) and (moment := datetime.fromisoformat(value)).tzinfo is not None:
        return moment.astimezone(UTC)
    raise ValueError
