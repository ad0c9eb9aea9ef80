r"""Suppression files: what is known and accepted, one entry a line, each with its reason after ` # `.

    # a line that starts with a hash is a comment
    https://example.com/gone        # a whole URL
    https://example.com/old/*       # an asterisk stands for anything
    /^https://intranet\./           # a regular expression between slashes, searched for in the URL

This is what all jobs share. What else an entry may say is the job's own: `links.suppress`, `audit.suppress`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from tadoru.errors import UsageError

T = TypeVar("T")


class SuppressionLine(NamedTuple):
    """One entry as it stands in the file."""

    number: int
    text: str
    body: str
    reason: str


def read_suppression_file(name: str) -> str:
    """The text of a suppression file. Raises UsageError."""
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"The suppression file {name} can not be read (not UTF-8 text): save it as UTF-8.") from None
    except OSError as error:
        raise UsageError(f"The suppression file {name} can not be read ({error.strerror}): check its name.") from None


def parse_suppressions(text: str, name: str, parse: Callable[[SuppressionLine], T]) -> tuple[T, ...]:
    """Every entry as `parse` reads it. What that raises becomes a UsageError with the line's number."""
    entries = []
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = raw.strip()
        if line and not line.startswith("#"):
            body, _, reason = line.partition(" # ")
            try:
                entries.append(parse(SuppressionLine(number, line, body.strip(), reason.strip())))
            except (ValueError, re.error) as problem:
                raise UsageError(f"{name}, line {number}: {problem}.") from None
    return tuple(entries)


def url_pattern(text: str) -> re.Pattern[str]:
    """What is searched for in a URL. Raises ValueError or re.error. A host without its slash is the same URL."""
    if text.startswith("/"):
        if len(text) < 3 or not text.endswith("/"):
            raise ValueError(f"“{text}” is a regular expression without its closing slash")
        return re.compile(text[1:-1])
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*://\S+", text):
        raise ValueError(f"“{text}” is neither a URL nor a /regular expression/")
    return re.compile(r"\A" + ".*".join(map(re.escape, text.split("*"))) + r"/?\Z", re.DOTALL)
