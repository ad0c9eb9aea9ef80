"""The changes of a page between two crawls, from its two states."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from tadoru.jobs.audit.context import INDEXABLE
from tadoru.store.crawl.run_pages import PageState, Rewrite

SLOW_MS = 300.0
"""A response time has changed if it doubled or halved, and by at least this much."""
LARGE_BYTES = 10_000
FEW_LINKS = 5

ChangedValue = str | int | float | None


class ChangeKind(StrEnum):
    """The kind of a change, in the order that matters to a reader."""

    BROKEN = "broken"
    REMOVED = "removed"
    DEINDEXED = "deindexed"
    """It was indexable, and is not any more."""
    REDIRECTED = "redirected"
    """It redirects now, or to another URL."""
    STATUS = "status"
    FIXED = "fixed"
    ADDED = "added"
    INDEXED = "indexed"
    INDEXABILITY = "indexability"
    """It is not indexable for another reason."""
    TITLE = "title"
    DESCRIPTION = "description"
    H1 = "h1"
    CANONICAL = "canonical"
    ROBOTS = "robots"
    CONTENT = "content"
    DEPTH = "depth"
    INLINKS = "inlinks"
    SLOWER = "slower"
    FASTER = "faster"
    LARGER = "larger"
    SMALLER = "smaller"
    NEW_FINDING = "new-finding"
    FIXED_FINDING = "fixed-finding"


REGRESSIONS = frozenset({ChangeKind.BROKEN, ChangeKind.REMOVED, ChangeKind.DEINDEXED})
"""Regressions, together with new errors."""
FINDING_CHANGES = frozenset({ChangeKind.NEW_FINDING, ChangeKind.FIXED_FINDING})


class PageChange(NamedTuple):
    """One change of one URL."""

    kind: ChangeKind
    url: str
    before: ChangedValue = None
    after: ChangedValue = None
    check_id: str = ""
    """The check of a finding."""


def describe_response(state: PageState) -> str:
    """The response to a page: a status code, `no answer` or `not requested`."""
    if state.status == "skipped":
        return "not requested"
    return str(state.status_code) if state.status_code is not None else "no answer"


def is_working(state: PageState) -> bool:
    """Whether a visitor gets the page or a redirect."""
    return state.status_code is not None and state.status_code < 400


def page_changes(before: PageState, after: PageState, rewrite: Rewrite | None) -> Iterator[PageChange]:
    """All changes of a page that both crawls have."""
    was, now = describe_response(before), describe_response(after)
    yield from _response_changes(before, after, was, now, rewrite)
    read = (before.status_code or 0) // 100 == 2 == (after.status_code or 0) // 100
    if read or "not requested" in (was, now):
        yield from _indexability_changes(before, after)
    if read:
        yield from _text_changes(before, after, rewrite)
        yield from _figure_changes(before, after)


def _response_changes(before: PageState, after: PageState, was: str, now: str, rewrite: Rewrite | None) -> Iterator[PageChange]:
    was_requested = "not requested" not in (was, now)
    if was_requested and is_working(before) and not is_working(after):
        yield PageChange(ChangeKind.BROKEN, after.url, was, now)
    elif was_requested and is_working(after) and not is_working(before):
        yield PageChange(ChangeKind.FIXED, after.url, was, now)
    elif after.redirect_url is not None and _mapped(before.redirect_url, rewrite) != _mapped(after.redirect_url, rewrite):
        yield PageChange(ChangeKind.REDIRECTED, after.url, before.redirect_url or was, after.redirect_url)
    elif was != now:
        yield PageChange(ChangeKind.STATUS, after.url, was, now)


def _indexability_changes(before: PageState, after: PageState) -> Iterator[PageChange]:
    was, now = before.indexability, after.indexability
    if was is None or now is None or was == now:
        return
    kind = ChangeKind.DEINDEXED if was == INDEXABLE else ChangeKind.INDEXED if now == INDEXABLE else ChangeKind.INDEXABILITY
    yield PageChange(kind, after.url, was, now)


def _text_changes(before: PageState, after: PageState, rewrite: Rewrite | None) -> Iterator[PageChange]:
    for kind, was, now in (
        (ChangeKind.TITLE, before.title, after.title),
        (ChangeKind.DESCRIPTION, before.description, after.description),
        (ChangeKind.H1, before.h1, after.h1),
        (ChangeKind.ROBOTS, before.robots, after.robots),
    ):
        if (was or "") != (now or ""):
            yield PageChange(kind, after.url, was, now)
    if _mapped(before.canonical, rewrite) != _mapped(after.canonical, rewrite):
        yield PageChange(ChangeKind.CANONICAL, after.url, before.canonical, after.canonical)
    if before.content_hash and after.content_hash and before.content_hash != after.content_hash:
        yield PageChange(ChangeKind.CONTENT, after.url, before.word_count, after.word_count)


def _figure_changes(before: PageState, after: PageState) -> Iterator[PageChange]:
    if before.depth != after.depth:
        yield PageChange(ChangeKind.DEPTH, after.url, before.depth, after.depth)
    if _differ(before.response_ms, after.response_ms, SLOW_MS):
        slower = (after.response_ms or 0) > (before.response_ms or 0)
        yield PageChange(
            ChangeKind.SLOWER if slower else ChangeKind.FASTER, after.url, _round(before.response_ms), _round(after.response_ms)
        )
    if _differ(before.size, after.size, LARGE_BYTES):
        larger = (after.size or 0) > (before.size or 0)
        yield PageChange(ChangeKind.LARGER if larger else ChangeKind.SMALLER, after.url, before.size, after.size)
    if before.inlinks is not None and after.inlinks is not None:
        lost_or_gained = bool(before.inlinks) != bool(after.inlinks)
        if lost_or_gained or _differ(before.inlinks, after.inlinks, FEW_LINKS):
            yield PageChange(ChangeKind.INLINKS, after.url, before.inlinks, after.inlinks)


def _differ(was: float | None, now: float | None, minimum: float) -> bool:
    """Whether two numbers differ by a factor of two and by at least `minimum`."""
    if was is None or now is None:
        return False
    low, high = sorted((was, now))
    return high >= 2 * low and high - low >= minimum


def _round(ms: float | None) -> float | None:
    return None if ms is None else round(ms)


def _mapped(url: str | None, rewrite: Rewrite | None) -> str | None:
    return rewrite(url) if url is not None and rewrite is not None else url
