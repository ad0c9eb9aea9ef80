r"""The suppression file of an audit: findings that are known and accepted.

    title-too-long      https://example.com/blog/*      # the blog's titles are written elsewhere
    image-*             /\.example\.com/archive//       # the archive is not edited any more
    security-csp-missing *                              # ticket 12

An entry is a check (an asterisk stands for anything), a URL as in `jobs.suppressions` or `*` for all of them, and a reason, which
it must have. Entries that matched nothing are told, so that the file does not rot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tadoru.jobs.suppressions import SuppressionLine, parse_suppressions, read_suppression_file, url_pattern

_ANY_URL = re.compile("")


@dataclass(frozen=True, slots=True)
class FindingSuppression:
    """One line of the file."""

    line: int
    text: str
    checks: str
    urls: re.Pattern[str]
    reason: str


@dataclass(frozen=True, slots=True)
class FindingSuppressions:
    """A whole file."""

    entries: tuple[FindingSuppression, ...] = ()
    name: str = "the suppression file"

    @classmethod
    def parse(cls, text: str, name: str = "the suppression file") -> FindingSuppressions:
        """Reads the file's text. Raises UsageError with the line's number."""
        return cls(parse_suppressions(text, name, _parse_entry), name)

    @classmethod
    def read(cls, name: str | None) -> FindingSuppressions:
        """The file of that name; none, when there is no name. Raises UsageError."""
        return cls.parse(read_suppression_file(name), name) if name is not None else cls()

    def about(self, check_id: str) -> tuple[FindingSuppression, ...]:
        """The entries that speak of a check: of a million findings of a check most need no look at the others."""
        return tuple(entry for entry in self.entries if fnmatchcase(check_id, entry.checks))

    def unused(self, used: Iterable[FindingSuppression]) -> tuple[FindingSuppression, ...]:
        """The entries that are not among those that covered something."""
        lines = {entry.line for entry in used}
        return tuple(entry for entry in self.entries if entry.line not in lines)


def find_suppression(entries: Iterable[FindingSuppression], url: str) -> FindingSuppression | None:
    """The first entry that takes a finding on this URL away."""
    return next((entry for entry in entries if entry.urls.search(url)), None)


def _parse_entry(line: SuppressionLine) -> FindingSuppression:
    checks, _, urls = line.body.partition(" ")
    if not re.fullmatch(r"[a-z0-9*-]+", checks):
        raise ValueError(f"“{checks}” is no check: write its id, then a URL or *, and “ # ” with the reason")
    if not urls.strip():
        raise ValueError(f"after {checks} comes a URL, a /regular expression/, or * for every URL")
    if not line.reason:
        raise ValueError("the reason is missing: write it after “ # ”")
    pattern = _ANY_URL if urls.strip() == "*" else url_pattern(urls.strip())
    return FindingSuppression(line.number, line.text, checks, pattern, line.reason)
