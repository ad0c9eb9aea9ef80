from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.links.broken import LinkGates
from tadoru.jobs.links.result import BrokenKind, BrokenLink, CrawlResult
from tests.jobs.links_sites import HOME, crawl, failure, page


def with_links(**counts: int) -> CrawlResult:
    kinds: tuple[BrokenKind, ...] = ("broken", "blocked", "fragment")
    links = [BrokenLink(f"{HOME}{kind}{number}", 404, "", kind) for kind in kinds for number in range(counts.get(kind, 0))]
    return crawl(page(HOME)).with_bad_links(links)


@pytest.mark.parametrize(
    "text, counts, sentences",
    [
        ("broken", {}, []),
        ("broken", {"broken": 1}, ["1 broken link, none allowed."]),
        ("broken", {"blocked": 3, "fragment": 2}, []),
        ("broken>5", {"broken": 5}, []),
        ("broken>5", {"broken": 6}, ["6 broken links, at most 5 allowed."]),
        ("broken>=5", {"broken": 5}, ["5 broken links, at most 4 allowed."]),
        ("broken > 0", {"broken": 1}, ["1 broken link, none allowed."]),
        ("blocked", {"blocked": 2}, ["2 blocked links, none allowed."]),
        ("fragment", {"fragment": 1}, ["1 link to a missing fragment, none allowed."]),
        ("any>2", {"broken": 1, "blocked": 1, "fragment": 1}, ["3 links that do not work, at most 2 allowed."]),
        ("broken, blocked", {"broken": 1, "blocked": 1}, ["1 broken link, none allowed.", "1 blocked link, none allowed."]),
        ("broken,blocked", {"blocked": 1}, ["1 blocked link, none allowed."]),
    ],
)
def test_a_gate_counts_its_own_kind(text: str, counts: dict[str, int], sentences: list[str]) -> None:
    assert LinkGates.parse(text).exceeded(with_links(**counts)) == sentences


def test_errors_counts_failed_urls_and_redirects_counts_redirects() -> None:
    result = crawl(page(HOME), page(HOME + "a", 1, HOME, 301, redirect_to=HOME), failed=(failure(HOME + "b"),))
    assert LinkGates.parse("errors").exceeded(result) == ["1 failed URL, none allowed."]
    assert LinkGates.parse("redirects").exceeded(result) == ["1 redirect, none allowed."]
    assert LinkGates.parse("any,broken,redirects>1,errors>1").exceeded(result) == []


@pytest.mark.parametrize(
    "text", ["", "brokn", "broken,", "broken>", "broken>x", "broken<5", "broken>-1", "broken 5", "BROKEN", "broken>5>6"]
)
def test_an_unknown_gate_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(UsageError, match="broken, blocked, fragment, redirects, errors, any"):
        LinkGates.parse(text)


def test_a_gate_that_would_always_fail_is_refused() -> None:
    with pytest.raises(UsageError, match="broken>0"):
        LinkGates.parse("broken>=0")


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_gate_is_exceeded_above_its_limit_only(count: int, limit: int) -> None:
    assert bool(LinkGates.parse(f"broken>{limit}").exceeded(with_links(broken=count))) == (count > limit)
