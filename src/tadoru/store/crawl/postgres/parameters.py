"""The style of parameters: SQL of the store has `?` and `:name`, the driver's is `%s` and `%(name)s`. Nothing else changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

Values = Sequence[object] | Mapping[str, object]
_PARAMETER = re.compile(r"'(?:[^']|'')*'|\?|(?<!:):([a-z]\w*)|%")


@lru_cache(2_000)
def with_driver_parameters(statement: str) -> str:
    """The same statement, with the driver's parameters."""
    return _PARAMETER.sub(_replaced, statement)


def _replaced(found: re.Match[str]) -> str:
    if found[1]:
        return f"%({found[1]})s"
    return "%s" if found[0] == "?" else found[0].replace("%", "%%")


def plain_values(given: Values) -> Values:
    """Values that PostgreSQL can store."""
    if isinstance(given, Mapping):
        return {name: plain(value) for name, value in given.items()}
    return [plain(value) for value in given]


def plain(value: object) -> object:
    """What a text of PostgreSQL cannot hold is replaced: NUL, and halves of surrogate pairs."""
    if not isinstance(value, str):
        return value
    if "\x00" in value:
        value = value.replace("\x00", "\ufffd")
    try:
        value.encode()
    except UnicodeEncodeError:
        value = value.encode("utf-8", "replace").decode()
    return str(value)
