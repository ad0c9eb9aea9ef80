"""Baselines: earlier findings, so that only new ones count. A crawl (`FILE`, `FILE@RUN`) or a list of findings.

The list is the JSON of `tadoru report`, or an export of findings with one JSON object per line. It is streamed, and only a hash
of each finding is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from tadoru.errors import UsageError
from tadoru.jobs.audit.compare.run_handles import split_name
from tadoru.store.crawl.postgres.crawl_url import is_postgresql

_LIST = re.compile(r'"findings"\s*:\s*\[')
_GAP = re.compile(r"[\s,]*")
_CHUNK = 1 << 20


class BaselineFindings:
    """The findings of a list."""

    def __init__(self, name: str) -> None:
        """Read the list. Raises UsageError."""
        self._known = {_hash(*key) for key in _read_keys(name)}

    def __contains__(self, key: tuple[str, str, str]) -> bool:
        """Whether the list contains a finding (URL, check, subject)."""
        return _hash(*key) in self._known


def _hash(url: str, check_id: str, subject: str) -> int:
    """A finding as a number. In a list, anything other than a page has its URL as the subject as well."""
    return hash((url, check_id, "" if subject == url else subject))


def is_database(name: str) -> bool:
    """Whether a baseline is a crawl and not a list. Raises UsageError if it cannot be read."""
    if is_postgresql(name):
        return True
    path = Path(split_name(name)[0])
    try:
        with path.open("rb") as file:
            return file.read(6) == b"SQLite"
    except OSError as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: OSError) -> UsageError:
    return UsageError("Cannot read --baseline {name}: {reason}. Check the file name.", name=name, reason=error.strerror)


def _read_keys(name: str) -> Iterator[tuple[str, str, str]]:
    try:
        with Path(name).open(encoding="utf-8-sig") as file:
            for found in _read_objects(file):
                yield str(found["url"]), str(found.get("check") or found["check_id"]), str(found.get("subject") or "")
    except OSError as error:
        raise _unreadable(name, error) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(
            "--baseline {name} is neither a crawl nor a list of findings. Give a database or the output of "
            "`tadoru report --format json`.",
            name=name,
        ) from None


def _read_objects(file: TextIO) -> Iterator[dict[str, Any]]:
    """The objects of the list `findings`, or of a file with one object after the other."""
    decoder = json.JSONDecoder()
    text = file.read(_CHUNK).lstrip()
    begins = _LIST.search(text)
    at = begins.end() if begins is not None else int(text.startswith("["))
    ends_anywhere = at == 0
    while True:
        at = _end(_GAP.match(text, at))
        if text.startswith("]", at):
            return
        try:
            found, at = decoder.raw_decode(text, at)
        except ValueError:
            more = file.read(_CHUNK)
            if more:
                text, at = text[at:] + more, 0
                continue
            if at == len(text) and ends_anywhere:
                return
            raise
        yield found


def _end(found: re.Match[str] | None) -> int:
    assert found is not None  # It also matches the empty string.
    return found.end()
