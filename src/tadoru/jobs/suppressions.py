r"""Suppression files: known and accepted problems, one entry per line, each with its reason after ` # `.

    # a line that starts with a hash is a comment
    https://example.com/gone        # a whole URL
    https://example.com/old/*       # an asterisk stands for anything
    /^https://intranet\./           # a regular expression between slashes, searched for in the URL

This is what all jobs share. Further parts of an entry are defined by the job: `links.suppressions`, `audit.suppressions`. A file
of patterns (`--exclude-file`) has the same lines, each with a regular expression instead of a URL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from tadoru.errors import UsageError, reading_errors

T = TypeVar("T")


class SuppressionLine(NamedTuple):
    """One line of a suppression file."""

    number: int
    text: str
    body: str
    reason: str


def read_suppression_file(name: str) -> str:
    """The text of a suppression file. Raises UsageError."""
    with reading_errors(name):
        return Path(name).read_text(encoding="utf-8")


def read_patterns(name: str) -> tuple[str, ...]:
    """The regular expressions of a file. Raises UsageError."""
    return parse_suppressions(read_suppression_file(name), name, lambda line: re.compile(line.body).pattern)


def parse_suppressions(text: str, name: str, parse: Callable[[SuppressionLine], T]) -> tuple[T, ...]:
    """All entries as `parse` reads them. Its errors are raised as a UsageError with the line number."""
    entries = []
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = raw.strip()
        if line and not line.startswith("#"):
            body, _, reason = line.partition(" # ")
            try:
                entries.append(parse(SuppressionLine(number, line, body.strip(), reason.strip())))
            except (ValueError, re.error) as problem:
                raise UsageError("{file}, line {number}: {problem}.", file=name, number=number, problem=problem) from None
    return tuple(entries)


def url_pattern(text: str) -> re.Pattern[str]:
    """The pattern of an entry for URLs. Raises ValueError or re.error. A host without its slash is the same URL."""
    if text.startswith("/"):
        if len(text) < 3 or not text.endswith("/"):
            raise ValueError(f"“{text}” is a regular expression without its closing slash")
        return re.compile(text[1:-1])
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*://\S+", text):
        raise ValueError(f"“{text}” is neither a URL nor a /regular expression/")
    return re.compile(r"\A" + ".*".join(map(re.escape, text.split("*"))) + r"/?\Z", re.DOTALL)
