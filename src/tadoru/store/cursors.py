"""Cursors of lists: the sort keys of the last row shown, so that no list is paged by counting.

A cursor comes from outside, and its values go to the database: whatever could not have been created here is refused.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Sequence

from tadoru.errors import UsageError

Key = str | int | float
LONGEST = 8_000
"""Characters of a cursor: a URL may be its key."""


class UnknownCursor(UsageError):
    """A cursor that does not belong to the list."""


def encode_cursor(order: str, keys: Sequence[Key]) -> str:
    """The place after a row with these keys, in a list of that order."""
    return base64.urlsafe_b64encode(json.dumps([order, *keys]).encode()).decode().rstrip("=")


def decode_cursor(cursor: str, order: str, kinds: Sequence[type]) -> tuple[Key, ...]:
    """The keys that a cursor holds. Raises UnknownPlace when it is of another order, or of none."""
    try:
        if len(cursor) > LONGEST:
            raise ValueError
        found = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
        if not isinstance(found, list) or not found or found[0] != order or len(found) != len(kinds) + 1:
            raise ValueError
        return tuple(_checked(value, kind) for value, kind in zip(found[1:], kinds, strict=True))
    except (ValueError, RecursionError, binascii.Error):
        raise UnknownCursor("Invalid cursor. Start again without `cursor`.") from None


def _checked(value: object, kind: type) -> Key:
    if kind is str and isinstance(value, str):
        value.encode()  # Half a character cannot be bound; a UnicodeEncodeError is a ValueError.
        return value
    if kind is int and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return value
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise ValueError
