"""What is called a change, and what is not: two states of one page."""

from __future__ import annotations

import re

import pytest

from tadoru.jobs.audit.compare.comparison import ChangeKind, page_changes
from tadoru.store.crawl.run_pages import PageState

URL = "https://a.example/page"
PAGE = PageState(
    key=URL, url=URL, status="completed", status_code=200, title="Title", description="Words", h1="Heading", canonical=URL,
    robots="index", indexability="indexable", content_hash="abc", word_count=100, depth=2, response_ms=100.0, size=20_000,
    inlinks=10,
)  # fmt: skip
ERROR = PageState(key=URL, url=URL, status="error", indexability="no response", depth=2)
BLOCKED = PageState(key=URL, url=URL, status="skipped", indexability="blocked by robots.txt", depth=2)


def redirect(to: str) -> PageState:
    return PageState(
        key=URL, url=URL, status="completed", status_code=301, redirect_url=to, indexability="redirected", depth=2, size=0
    )


def code(number: int) -> PageState:
    return PAGE._replace(status_code=number, indexability="client error" if number < 500 else "server error")


CHANGES = [
    pytest.param(PAGE, PAGE, [], id="nothing"),
    pytest.param(PAGE, code(404), [(ChangeKind.BROKEN, "200", "404")], id="it is gone"),
    pytest.param(PAGE, code(503), [(ChangeKind.BROKEN, "200", "503")], id="the server fails"),
    pytest.param(PAGE, ERROR, [(ChangeKind.BROKEN, "200", "no answer")], id="no answer any more"),
    pytest.param(redirect("x"), code(404), [(ChangeKind.BROKEN, "301", "404")], id="a redirect that is gone"),
    pytest.param(code(404), PAGE, [(ChangeKind.FIXED, "404", "200")], id="it is back"),
    pytest.param(ERROR, PAGE, [(ChangeKind.FIXED, "no answer", "200")], id="it answers again"),
    pytest.param(ERROR, redirect("x"), [(ChangeKind.FIXED, "no answer", "301")], id="mended by a redirect"),
    pytest.param(code(404), code(410), [(ChangeKind.STATUS, "404", "410")], id="broken in another way"),
    pytest.param(code(404), ERROR, [(ChangeKind.STATUS, "404", "no answer")], id="broken, and now silent"),
    pytest.param(ERROR, ERROR, [], id="silent as ever"),
    pytest.param(PAGE, redirect("x"), [(ChangeKind.REDIRECTED, "200", "x")], id="newly redirected"),
    pytest.param(redirect("x"), redirect("y"), [(ChangeKind.REDIRECTED, "x", "y")], id="redirected elsewhere"),
    pytest.param(redirect("x"), redirect("x"), [], id="redirected as before"),
    pytest.param(redirect("x"), PAGE, [(ChangeKind.STATUS, "301", "200")], id="no redirect any more"),
    pytest.param(
        PAGE, BLOCKED,
        [(ChangeKind.STATUS, "200", "not requested"), (ChangeKind.DEINDEXED, "indexable", "blocked by robots.txt")],
        id="robots.txt forbids it now",
    ),
    pytest.param(
        BLOCKED, PAGE, [(ChangeKind.STATUS, "not requested", "200"), (ChangeKind.INDEXED, "blocked by robots.txt", "indexable")],
        id="robots.txt allows it now",
    ),
    pytest.param(BLOCKED, code(404), [
        (ChangeKind.STATUS, "not requested", "404"), (ChangeKind.INDEXABILITY, "blocked by robots.txt", "client error"),
    ], id="allowed, and not there"),
    pytest.param(PAGE, PAGE._replace(indexability="noindex"), [(ChangeKind.DEINDEXED, "indexable", "noindex")], id="noindex"),
    pytest.param(PAGE._replace(indexability="noindex"), PAGE, [(ChangeKind.INDEXED, "noindex", "indexable")], id="no noindex"),
    pytest.param(
        PAGE._replace(indexability="noindex"), PAGE._replace(indexability="canonicalised"),
        [(ChangeKind.INDEXABILITY, "noindex", "canonicalised")], id="another reason",
    ),
    pytest.param(PAGE._replace(indexability=None), PAGE, [], id="a crawl that judged nothing"),
    pytest.param(PAGE, PAGE._replace(title="Other"), [(ChangeKind.TITLE, "Title", "Other")], id="title"),
    pytest.param(PAGE, PAGE._replace(title=None), [(ChangeKind.TITLE, "Title", None)], id="title lost"),
    pytest.param(PAGE._replace(title=None), PAGE._replace(title=""), [], id="an empty title is no title"),
    pytest.param(PAGE, PAGE._replace(description=None), [(ChangeKind.DESCRIPTION, "Words", None)], id="description"),
    pytest.param(PAGE, PAGE._replace(h1="Other"), [(ChangeKind.H1, "Heading", "Other")], id="h1"),
    pytest.param(PAGE, PAGE._replace(robots="noindex"), [(ChangeKind.ROBOTS, "index", "noindex")], id="robots"),
    pytest.param(PAGE, PAGE._replace(canonical=None), [(ChangeKind.CANONICAL, URL, None)], id="canonical"),
    pytest.param(PAGE, PAGE._replace(content_hash="x", word_count=9), [(ChangeKind.CONTENT, 100, 9)], id="content"),
    pytest.param(PAGE, PAGE._replace(content_hash=None), [], id="content that was not read"),
    pytest.param(PAGE, PAGE._replace(depth=4), [(ChangeKind.DEPTH, 2, 4)], id="deeper"),
    pytest.param(PAGE, PAGE._replace(depth=None), [(ChangeKind.DEPTH, 2, None)], id="not linked any more"),
    pytest.param(PAGE, PAGE._replace(response_ms=401.6), [(ChangeKind.SLOWER, 100, 402)], id="slower"),
    pytest.param(PAGE, PAGE._replace(response_ms=399.0), [], id="slower by less than matters"),
    pytest.param(PAGE._replace(response_ms=1000.0), PAGE._replace(response_ms=1990.0), [], id="not twice as slow"),
    pytest.param(PAGE._replace(response_ms=900.0), PAGE, [(ChangeKind.FASTER, 900, 100)], id="faster"),
    pytest.param(PAGE._replace(response_ms=None), PAGE._replace(response_ms=9000.0), [], id="not measured"),
    pytest.param(PAGE, PAGE._replace(size=40_000), [(ChangeKind.LARGER, 20_000, 40_000)], id="larger"),
    pytest.param(PAGE, PAGE._replace(size=10_000), [(ChangeKind.SMALLER, 20_000, 10_000)], id="smaller"),
    pytest.param(PAGE._replace(size=2000), PAGE._replace(size=11_000), [], id="larger by little"),
    pytest.param(PAGE, PAGE._replace(inlinks=20), [(ChangeKind.INLINKS, 10, 20)], id="twice the links"),
    pytest.param(PAGE, PAGE._replace(inlinks=19), [], id="some more links"),
    pytest.param(PAGE._replace(inlinks=2), PAGE._replace(inlinks=4), [], id="two links more"),
    pytest.param(PAGE._replace(inlinks=1), PAGE._replace(inlinks=0), [(ChangeKind.INLINKS, 1, 0)], id="the only link lost"),
    pytest.param(PAGE._replace(inlinks=None), PAGE, [], id="links that were not counted"),
    pytest.param(
        code(404)._replace(title="Not found"), code(404)._replace(title="Gone", depth=9, size=1), [], id="texts of error pages"
    ),
]  # fmt: skip


@pytest.mark.parametrize("before, after, expected", CHANGES)
def test_a_change_is_told_with_what_was_and_what_is(
    before: PageState, after: PageState, expected: list[tuple[ChangeKind, object, object]]
) -> None:
    found = list(page_changes(before, after, None))
    assert [(change.kind, change.before, change.after) for change in found] == expected
    assert {change.url for change in found} <= {URL}


def test_the_same_place_under_another_name_is_no_change() -> None:
    def rewrite(url: str) -> str:
        return re.sub(r"^https://staging\.", "https://www.", url)

    live = PAGE._replace(canonical="https://www.example/a")
    staging = live._replace(url="https://staging.example/page", canonical="https://staging.example/a")
    assert list(page_changes(live, staging, rewrite)) == []
    assert [change.kind for change in page_changes(live, staging, None)] == [ChangeKind.CANONICAL]
    moved = redirect("https://staging.example/b")
    assert list(page_changes(redirect("https://www.example/b"), moved, rewrite)) == []
    [told] = page_changes(redirect("https://www.example/c"), moved, rewrite)
    assert (told.before, told.after) == ("https://www.example/c", "https://staging.example/b"), "told as it is written"
