"""The values that checks, the crawl database and the reports share: `Check`, `Finding`, `Severity`.

A check has a stable id, a severity, and a title, reason and fix in English, which is translated where it is shown
(`i18n.translation.Translator.check`). A finding records that a check applies to a URL. Its detail is evidence, such as a value
of the page, and is never translated. The checks themselves are in `jobs.audit.checks` and `jobs.audit.site_checks`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple

MAX_DETAIL = 300
"""Characters kept of a finding's detail."""
MAX_EXAMPLES = 5

Value = str | int | float | tuple[str, ...]


SeverityName = Literal["error", "warning", "notice", "info"]


class Severity(StrEnum):
    """The severity of a finding, the highest first."""

    _value_: SeverityName
    ERROR = "error"
    """Broken for visitors or for search engines."""
    WARNING = "warning"
    """Likely to cost visits, trust or security."""
    NOTICE = "notice"
    """Worth improving."""
    INFO = "info"
    """May be intended."""


class CheckText(NamedTuple):
    """The texts of a check in one language."""

    title: str
    why: str
    fix: str


class Threshold(NamedTuple):
    """A number that can be configured; its name is the id of its check."""

    default: float
    unit: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that an audit looks for."""

    id: str
    """In kebab case. It never changes: databases, suppressions and gates refer to it."""
    group: str
    severity: Severity
    title: str
    """What is wrong, as a short noun phrase."""
    why: str
    """Why it matters."""
    fix: str
    """What to do about it."""
    threshold: Threshold | None = None
    japanese: CheckText | None = None
    """The Japanese text that a plugin or a database brings along. None: it is in the message catalogue."""
    is_site_wide: bool = False
    """Whether it usually applies to the whole site: then there is one finding with the share of pages, not one on each page."""
    is_off: bool = False
    """Whether it runs only if it is enabled."""
    merged_into: tuple[str, ...] = ()
    """The checks that report its findings since. Its id keeps working in gates, filters, suppressions and thresholds."""

    def on(self, url: str, detail: str = "", **data: Value) -> Finding:
        """The finding that this check applies to a URL."""
        return Finding(self.id, url, detail[:MAX_DETAIL], data)

    def among(self, url: str, examples: Iterable[str], **data: Value) -> Finding:
        """The finding that this check applies to several parts of a page: the first one is the detail, and all are counted."""
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


def define(  # noqa: PLR0913 - the fields of a check
    id: str,  # noqa: A002 - it is the name of the field
    severity: Severity,
    *,
    title: str = "",
    why: str = "",
    fix: str = "",
    group: str,
    threshold: Threshold | None = None,
    en: tuple[str, str, str] | None = None,
    ja: tuple[str, str, str] | None = None,
    is_site_wide: bool = False,
    is_off: bool = False,
    merged_into: tuple[str, ...] = (),
) -> Check:
    """A check. `ja` is a plugin's own translation of title, why and fix; `en` is the older way to give these three."""
    if en is not None:
        title, why, fix = en
    japanese = CheckText(*ja) if ja is not None else None
    return Check(id, group, severity, title, why, fix, threshold, japanese, is_site_wide, is_off, merged_into)
