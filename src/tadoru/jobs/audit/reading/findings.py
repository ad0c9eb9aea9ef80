"""What an audit found: the checks with their words and counts, and the pages that one of them applies to."""

from __future__ import annotations

from pathlib import Path

from tadoru.i18n.translation import translator
from tadoru.jobs.audit.reading.unchanged import kept_while_unchanged
from tadoru.jobs.audit.reading.values import Affected, CheckSummary
from tadoru.model.finding import Severity
from tadoru.store.found import StoredCheck
from tadoru.store.read_only import looking_at

_SEVERITIES = tuple(Severity)


def findings(
    path: Path | str, *, severity: str | None = None, check: str | None = None, lang: str = "en", every: bool = False
) -> list[CheckSummary]:
    """The checks that apply somewhere, the gravest and most frequent first. `every`: also those that found nothing."""
    found = [
        (each, count)
        for each, count in counted_checks(path)
        if severity in (None, each.check.severity) and check in (None, each.check.id)
    ]
    found.sort(key=lambda one: (_SEVERITIES.index(one[0].check.severity), -one[1], one[0].number))
    return [summary(each, lang, count) for each, count in found if count or every]


@kept_while_unchanged
def counted_checks(path: Path | str) -> tuple[tuple[StoredCheck, int], ...]:
    """The catalogue that the crawl is judged by, and how many findings there are of each check."""
    with looking_at(path) as crawl:
        catalogue = crawl.stored_checks()
        counts, _ = crawl.finding_counts()
    return tuple((each, counts.get(each.number, 0)) for each in catalogue)


def affected(
    path: Path | str, check: str, *, limit: int = 50, cursor: str | None = None
) -> tuple[list[Affected], str | None] | None:
    """What a check applies to, and where the list goes on; None when the crawl knows no such check."""
    with looking_at(path) as crawl:
        number = next((each.number for each in crawl.stored_checks() if each.check.id == check), None)
        if number is None:
            return None
        rows, more = crawl.affected(number, limit=limit, cursor=cursor)
    return [Affected(**row._asdict() | {"page_id": row.page_id or None}) for row in rows], more


def summary(stored: StoredCheck, lang: str, count: int) -> CheckSummary:
    """A check in one language."""
    check, limit = stored.check, stored.check.threshold
    text = translator(lang).check(check)
    return CheckSummary(
        id=check.id, group=check.group, severity=check.severity.value, title=text.title, why=text.why,
        fix=text.fix, threshold=limit.default if limit else None, unit=limit.unit if limit else "", count=count,
    )  # fmt: skip
