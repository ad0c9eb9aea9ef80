r"""The suppression file of an audit: findings that are known and accepted.

    title-too-long      https://example.com/blog/*      # the blog's titles are written elsewhere
    image-*             /\.example\.com/archive//       # the archive is no longer edited
    security-csp-missing *                              # ticket 12

An entry consists of a check (`*` matches any characters), a URL as in `jobs.suppressions` or `*` for all URLs, and a required
reason. Unused entries are reported, so that the file stays up to date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tadoru.errors import Message, quoted
from tadoru.jobs.audit.site_checks import MERGED_CHECKS
from tadoru.jobs.suppressions import SuppressionLine, parse_suppressions, read_suppression_file, url_pattern

_ANY_URL = re.compile("")


@dataclass(frozen=True, slots=True)
class FindingSuppression:
    """One entry of the file."""

    line: int
    text: str
    checks: str
    urls: re.Pattern[str]
    reason: str


@dataclass(frozen=True, slots=True)
class FindingSuppressions:
    """The entries of a file."""

    entries: tuple[FindingSuppression, ...] = ()
    name: str = "the suppression file"

    @classmethod
    def parse(cls, text: str, name: str = "the suppression file") -> FindingSuppressions:
        """Parses the text of the file. Raises UsageError with the line number."""
        return cls(parse_suppressions(text, name, _parse_entry), name)

    @classmethod
    def read(cls, name: str | None) -> FindingSuppressions:
        """Reads a file; without a name there are no entries. Raises UsageError."""
        return cls.parse(read_suppression_file(name), name) if name is not None else cls()

    def about(self, check_id: str) -> tuple[FindingSuppression, ...]:
        """The entries for a check, or for one that is merged into it, selected once for all its findings."""
        names = [check_id, *(merged for merged, into in MERGED_CHECKS.items() if check_id in into)]
        return tuple(entry for entry in self.entries if any(fnmatchcase(name, entry.checks) for name in names))

    def unused(self, used: Iterable[FindingSuppression]) -> tuple[FindingSuppression, ...]:
        """The entries that suppressed nothing."""
        lines = {entry.line for entry in used}
        return tuple(entry for entry in self.entries if entry.line not in lines)


def find_suppression(entries: Iterable[FindingSuppression], url: str) -> FindingSuppression | None:
    """The first entry that suppresses a finding on this URL."""
    return next((entry for entry in entries if entry.urls.search(url)), None)


def _parse_entry(line: SuppressionLine) -> FindingSuppression:
    checks, _, urls = line.body.partition(" ")
    if not re.fullmatch(r"[a-z0-9*-]+", checks):
        raise ValueError(
            Message("{name} is not a check id; write the id, a URL or *, and “ # ” with the reason", name=quoted(checks))
        )
    if not urls.strip():
        raise ValueError(Message("no URL after {check}; write a URL, a /regular expression/, or * for every URL", check=checks))
    if not line.reason:
        raise ValueError(Message("the reason is missing; write it after “ # ”"))
    pattern = _ANY_URL if urls.strip() == "*" else url_pattern(urls.strip())
    return FindingSuppression(line.number, line.text, checks, pattern, line.reason)
