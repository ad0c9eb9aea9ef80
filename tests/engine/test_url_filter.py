"""The gate by itself: each URL that turns up gets one of the fates, and the same one each time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.engine.url_filter import UrlFilter
from tadoru.rules.scope import Scope
from tadoru.rules.traps import TrapPattern
from tadoru.rules.url import canonical
from tadoru.store.crawl.records import LinkTarget, PageStatus, UrlPurpose

START = "http://example.com/"


def gate(*, check: bool = False, follow: bool = True, cap: int = 500, exclude: tuple[str, ...] = ()) -> UrlFilter:
    return UrlFilter(Scope(sites=(START,), exclude=exclude), check_external=check, follow=follow, trap_cap=cap)


@pytest.mark.parametrize(
    "url, status",
    [
        ("http://example.com/a", PageStatus.QUEUED),
        ("https://example.com/a", PageStatus.QUEUED),
        ("http://example.com:8080/a", PageStatus.DISCOVERED),
        ("http://www.example.com/a", PageStatus.DISCOVERED),
        ("http://example.com/no/a", PageStatus.SKIPPED),
        ("http://example.com/x/x/x/x/x", PageStatus.SKIPPED),
    ],
)
def test_a_found_url_gets_its_fate(url: str, status: PageStatus) -> None:
    decided = gate(exclude=("/no/",)).target(url)
    assert (decided.url, decided.status) == (url, status)
    assert bool(decided.reason) is (status is not PageStatus.QUEUED)


def test_an_external_url_is_queued_for_a_look_when_links_are_checked() -> None:
    decided = gate(check=True).target("http://other.example/a")
    assert (decided.status, decided.purpose, decided.internal) == (PageStatus.QUEUED, UrlPurpose.CHECK, False)


def test_a_start_is_taken_even_from_outside_but_not_against_a_pattern() -> None:
    assert gate().start_target("http://other.example/a").status is PageStatus.QUEUED
    assert gate(exclude=("example",)).start_target(START).status is PageStatus.SKIPPED


def test_in_list_mode_nothing_that_is_found_is_requested() -> None:
    assert gate(follow=False).target("http://example.com/a").status is PageStatus.DISCOVERED
    assert gate(follow=False).start_target(START).status is PageStatus.QUEUED


def test_a_url_of_an_endless_class_carries_the_class_and_its_cap() -> None:
    assert gate(cap=30).target("http://example.com/cal/2024/05").trap == TrapPattern(
        "http://example.com/cal/{date}", "calendar", 30
    )
    assert gate(cap=0).target("http://example.com/cal/2024/05").trap is None


def test_decisions_made_before_the_site_moved_are_forgotten() -> None:
    moving = gate()
    assert moving.target("http://www.example.com/a").status is PageStatus.DISCOVERED
    moving.change_scope(Scope(sites=("http://www.example.com/",)))
    assert moving.target("http://www.example.com/a").status is PageStatus.QUEUED
    assert moving.target("http://example.com/a").status is PageStatus.DISCOVERED


SEGMENTS = st.lists(st.text("abc-2024/?=&;.", max_size=6), max_size=6)
URLS = st.builds(lambda host, parts: f"http://{host}/{'/'.join(parts)}", st.sampled_from(["example.com", "x.example"]), SEGMENTS)


@given(URLS, st.booleans(), st.booleans())
def test_every_url_is_decided_the_same_way_twice_and_only_our_own_pages_are_followed(url: str, check: bool, follow: bool) -> None:
    found = canonical(url)
    if found is None:
        return
    decided = gate(check=check, follow=follow)
    first: LinkTarget = decided.target(found)
    assert decided.target(found) == first == gate(check=check, follow=follow).target(found)
    assert first.internal is ("//example.com/" in found)
    if first.status is PageStatus.QUEUED:
        assert first.purpose is (UrlPurpose.PAGE if first.internal else UrlPurpose.CHECK)
        assert follow if first.internal else check
