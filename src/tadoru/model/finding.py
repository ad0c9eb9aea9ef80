"""What an audit looks for and what it finds: the values that checks, the database and the reports share.

A `Check` is an entry of the catalogue: a stable id, how grave it is, and its words in English and Japanese. A `Finding` says that
a check applies to a URL; its detail is evidence (a value of the page), never a sentence, so that it needs no translation.
The checks themselves are in `jobs.audit.checks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

MAX_DETAIL = 300
"""Characters kept of a finding's detail."""
MAX_EXAMPLES = 5

Value = str | int | float | tuple[str, ...]


class Severity(StrEnum):
    """How grave a finding is."""

    ERROR = "error"
    """Broken for visitors or for search engines."""
    WARNING = "warning"
    """Likely to cost visits, trust or safety."""
    NOTICE = "notice"
    """Worth improving."""
    INFO = "info"
    """May well be intended: good to know."""


class Text(NamedTuple):
    """One text in both languages."""

    en: str
    ja: str


class Threshold(NamedTuple):
    """A number that can be configured; its name is the id of its check."""

    default: float
    unit: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing an audit looks for."""

    id: str
    """Kebab-case, and for ever: databases, suppressions and gates name it."""
    group: str
    severity: Severity
    title: Text
    why: Text
    fix: Text
    threshold: Threshold | None = None

    def on(self, url: str, detail: str = "", **data: Value) -> Finding:
        """The finding that this check applies to a URL."""
        return Finding(self.id, url, detail[:MAX_DETAIL], data)

    def among(self, url: str, examples: Iterable[str], **data: Value) -> Finding:
        """The finding that this check applies to several places of one page: the first is the detail, and all are counted."""
        found = list(examples)
        shown = tuple(example[:MAX_DETAIL] for example in dict.fromkeys(found))[:MAX_EXAMPLES]
        return Finding(self.id, url, shown[0], {"count": len(found), "examples": shown, **data})


@dataclass(frozen=True, slots=True)
class Finding:
    """A check applies to a URL; at most one for each check and URL."""

    check_id: str
    url: str
    detail: str = ""
    """Evidence: the value that was found, as the page has it."""
    data: Mapping[str, Value] = field(default_factory=dict)
    """More evidence by name, such as a length and the limit it is measured against."""


def define(
    id: str,  # noqa: A002 - it is the name of the field
    severity: Severity,
    *,
    en: tuple[str, str, str],
    ja: tuple[str, str, str],
    group: str,
    threshold: Threshold | None = None,
) -> Check:
    """A check from its words in each language: what it is, why it matters, how to mend it."""
    title, why, fix = (Text(*pair) for pair in zip(en, ja, strict=True))
    return Check(id, group, severity, title, why, fix, threshold)
