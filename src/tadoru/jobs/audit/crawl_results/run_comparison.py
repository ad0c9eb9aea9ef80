"""Compares two crawls, or two runs of one, and keeps the first changes of each kind.

Both are read once in the order of their URLs, which takes some seconds for a large site and little memory. The result is cached
until either database changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from tadoru.errors import UsageError
from tadoru.i18n.translation import translator
from tadoru.jobs.audit.compare import comparison
from tadoru.jobs.audit.compare.comparison import REGRESSIONS, ChangeKind, PageChange, is_working, page_changes
from tadoru.jobs.audit.compare.report_formats import check_title
from tadoru.jobs.audit.compare.run_handles import RunHandle
from tadoru.jobs.audit.crawl_results.queries import LARGE_CACHE_SIZE, cached_while_unchanged
from tadoru.model.finding import Severity, SeverityName
from tadoru.store.crawl.browse import PublishedRecord
from tadoru.store.crawl.runs import StoredRun
from tadoru.store.crawl.sqlite.store import ReadOnlyCrawl, at_once

MAX_SHOWN = 100
_COMPARISON_LOCK = Lock()
"""A request for a comparison that is running waits for it and finds it in the cache."""


class NothingToCompare(UsageError):
    """There is no earlier run, or both runs are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun(PublishedRecord, published="ComparedSide"):
    """One of the two runs of a comparison."""

    run: int
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    partial: bool
    """It is incomplete: pages that only the other run has are not counted as added or removed."""
    score: float | None
    pages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPage(PublishedRecord, published="ComparedPage"):
    """A change of a URL; `check` is the check of a finding."""

    kind: str
    url: str
    before: str | int | float | None
    after: str | int | float | None
    check: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedCheck(PublishedRecord, published="ComparedCheck"):
    """The changes of the findings of one check, with the first examples."""

    check: str
    group: str
    severity: SeverityName
    title: str
    before: int
    after: int
    new: int
    fixed: int
    gone: int
    """Findings of pages that were removed or do not respond any more."""
    examples: tuple[ChangedPage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonResult(PublishedRecord, published="CrawlComparison"):
    """The result of a comparison."""

    before: ComparedRun
    after: ComparedRun
    compared: int
    """Pages that both have."""
    unseen: int
    """Pages that only one run has, because the other was stopped."""
    totals: Mapping[str, int]
    """The number of changes of each kind that occurs, most important first."""
    regressions: int
    """Pages that broke, disappeared or are no longer indexable, and new errors."""
    changes: Mapping[str, tuple[ChangedPage, ...]]
    """The first changes of pages, by kind."""
    checks: tuple[ChangedCheck, ...]


class EarlierRun(NamedTuple):
    """A run to compare with: its database, and its number there; None for the last run."""

    path: str
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageDifferences:
    """What changed on one page since an earlier run."""

    changes: tuple[PageChange, ...]
    new: frozenset[tuple[str, str]]
    """Findings that the page did not have: check and subject."""
    fixed: tuple[tuple[str, str], ...]
    """Check and title of findings that it no longer has."""


def earlier_run(path: Path | str) -> EarlierRun | None:
    """The previous run in the same database; None if it was not kept."""
    crawl = ReadOnlyCrawl(path)
    with closing(crawl.sql):
        kept = [run.number for run in at_once(crawl.runs.all()) if run.kept]
    return EarlierRun(str(path), kept[-2]) if len(kept) > 1 else None


def find_new(earlier: EarlierRun, check: str, places: Sequence[tuple[str, str]]) -> list[bool]:
    """Whether each finding of a check, given by URL and subject, is new since an earlier run. What an incomplete run has not seen
    is not new."""
    crawl = ReadOnlyCrawl(earlier.path)
    with closing(crawl.sql), crawl.snapshot():
        run, pages = _open_run(crawl, earlier.number), crawl.run_pages
        return [
            not at_once(pages.has_finding(run.number, check, url, subject))
            and not (run.run.partial and url and at_once(pages.page_state(run.number, url)) is None)
            for url, subject in places
        ]


def compare_page(earlier: EarlierRun, path: Path | str, url: str, *, lang: str = "en") -> PageDifferences | None:
    """What changed on a page since an earlier run; None if that one does not have it."""
    first, second = ReadOnlyCrawl(earlier.path), ReadOnlyCrawl(path)
    with closing(first.sql), closing(second.sql), first.snapshot(), second.snapshot():
        run = _open_run(first, earlier.number)
        was, now = at_once(first.run_pages.page_state(run.number, url)), at_once(second.run_pages.page_state(None, url))
        if was is None or now is None:
            return None
        words = at_once(first.run_pages.check_words())
        then = comparison.findings_reader(words)(was.findings)
        today = comparison.findings_reader(at_once(second.run_pages.check_words()))(now.findings)
        titles = {one.id: check_title(one, translator(lang)) for one in words.values()}
        fixed = tuple((check, titles[check]) for check, _ in sorted(then - today)) if is_working(now) else ()
        return PageDifferences(changes=tuple(page_changes(was, now, None)), new=today - then, fixed=fixed)


def compare_crawls(before: Path | str, after: Path | str, *, lang: str = "en", shown: int = 20) -> ComparisonResult:
    """Compares the last runs of two crawls. Raises NothingToCompare."""
    if Path(before).resolve() == Path(after).resolve():
        raise NothingToCompare("Both are the same crawl. Choose another one, or compare with the previous run.")
    return _compare(before, after, (None, None), lang, shown)


def compare_with_previous(path: Path | str, *, lang: str = "en", shown: int = 20) -> ComparisonResult:
    """Compares the last run of a crawl with the previous one. Raises NothingToCompare."""
    crawl = ReadOnlyCrawl(path)
    with closing(crawl.sql):
        kept = [run.number for run in at_once(crawl.runs.all()) if run.kept]
    if len(kept) < 2:
        raise NothingToCompare("This crawl has no earlier run to compare with. Run it again first.")
    return _compare(path, path, (kept[-2], kept[-1]), lang, shown)


def _compare(
    before: Path | str, after: Path | str, runs: tuple[int | None, int | None], lang: str, shown: int
) -> ComparisonResult:  # fmt: skip
    with _COMPARISON_LOCK:
        return _cached_comparison(before, after, runs=runs, lang=lang, shown=min(shown, MAX_SHOWN))


@cached_while_unchanged(LARGE_CACHE_SIZE)
def _cached_comparison(
    before: Path | str, after: Path | str, *, runs: tuple[int | None, int | None], lang: str, shown: int
) -> ComparisonResult:  # fmt: skip
    """The comparison of two runs by their numbers; None for the last run."""
    first, second = ReadOnlyCrawl(before), ReadOnlyCrawl(after)
    with closing(first.sql), closing(second.sql), first.snapshot(), second.snapshot():
        sides = _open_run(first, runs[0]), _open_run(second, runs[1])
        return _result(at_once(comparison.compare_runs(*sides, shown=shown)), lang)


def _open_run(crawl: ReadOnlyCrawl, number: int | None) -> RunHandle:
    runs = at_once(crawl.runs.all())
    if not runs:
        raise NothingToCompare("One of the crawls has no results yet. Try again later.")
    run = runs[-1] if number is None else next(one for one in runs if one.number == number)
    return RunHandle(crawl.path, crawl, run, run.number == runs[-1].number)


def _result(found: comparison.CrawlComparison, lang: str) -> ComparisonResult:
    return ComparisonResult(
        before=_compared_run(found.before.run, found.pages_before),
        after=_compared_run(found.after.run, found.pages_after),
        compared=found.compared,
        unseen=found.unseen,
        totals={kind.value: found.counts[kind] for kind in ChangeKind if found.counts[kind]},
        regressions=sum(found.counts[kind] for kind in REGRESSIONS) + found.new_findings(Severity.ERROR),
        changes={
            kind.value: tuple(_changed(one) for one in found.examples[kind]) for kind in ChangeKind if kind in found.examples
        },
        checks=tuple(_changed_check(one, lang) for one in found.changed_checks()),
    )


def _compared_run(run: StoredRun, pages: int) -> ComparedRun:
    return ComparedRun(
        run=run.number, started_at=run.started_at, ended_at=run.ended_at, outcome=run.outcome, partial=run.partial,
        score=run.score, pages=pages,
    )  # fmt: skip


def _changed(change: PageChange) -> ChangedPage:
    return ChangedPage(
        kind=change.kind.value, url=change.url, before=change.before, after=change.after, check=change.check_id or None
    )


def _changed_check(one: comparison.CheckChange, lang: str) -> ChangedCheck:
    check = one.check
    return ChangedCheck(
        check=check.id, group=check.group, severity=Severity(check.severity).value, title=check_title(check, translator(lang)),
        before=one.before, after=one.after, new=one.new, fixed=one.fixed, gone=one.gone,
        examples=tuple(_changed(change) for change in one.examples),
    )  # fmt: skip
