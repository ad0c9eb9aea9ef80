"""Which addresses are other versions, other languages, doubles and indexes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.content.variants import Kind, Wanted, language_of, same_language, variant_of, version_of, wanted_from

SITE = "https://docs.test"


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/print.html", Kind.PRINT),
        ("/book/print.html", Kind.PRINT),
        ("/_print/docs/", Kind.PRINT),
        ("/singlehtml/index.html", Kind.PRINT),
        ("/page?printable=yes", Kind.PRINT),
        ("/genindex.html", Kind.INDEX),
        ("/genindex-A.html", Kind.INDEX),
        ("/py-modindex.html", Kind.INDEX),
        ("/bookindex.html", Kind.INDEX),
        ("/manual/ix01.html", Kind.INDEX),
        ("/kettle/api-index-2-4.html", Kind.INDEX),
        ("/manual/Concept-Index.html", Kind.INDEX),
        ("/manual/Lid-Properties-Index.html", Kind.INDEX),
        ("/html/classKettle_1_1Lid-members.html", Kind.INDEX),
        ("/search.html", Kind.INDEX),
        ("/en/stable/search/", Kind.INDEX),
        ("/docs/tags", Kind.INDEX),
        ("/index-all.html", Kind.INDEX),
        ("/org/kettle/class-use/Kettle.html", Kind.INDEX),
        ("/api/index/index-k.html", Kind.INDEX),
        ("/wiki/Special:Search", Kind.INDEX),
        ("/_modules/kettle.html", Kind.SOURCE),
        ("/_sources/boil.rst.txt", Kind.SOURCE),
        ("/src/kettle/lib.rs.html", Kind.SOURCE),
        ("/kettle_8h_source.html", Kind.SOURCE),
        ("/1.0/boil.html", Kind.VERSION),
        ("/docs/2.x/boil", Kind.VERSION),
        ("/next/boil", Kind.VERSION),
        ("/ja/boil", Kind.LANGUAGE),
        ("/docs/zh-cn/boil", Kind.LANGUAGE),
    ],
)
def test_what_is_not_wanted_is_left_out_with_a_reason(path: str, kind: Kind) -> None:
    variant = variant_of(SITE + path, Wanted(language="en"))
    assert variant is not None
    assert variant.kind is kind
    assert variant.reason


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/guide/boil.html",
        "/guide/search.html",
        "/guide/search/",
        "/guide/functions.html",
        "/guide/printing.html",
        "/en/guide/",
        "/en-us/guide/",
        "/guide/it/",
        "/library/2to3.html",
        "/release/notes-1.0.html",
        "/a/b/c/d/v2/users",
        "/index.html",
        "/sources/water",
    ],
)
def test_pages_of_the_documentation_are_wanted(path: str) -> None:
    assert variant_of(SITE + path, Wanted(language="en")) is None


@pytest.mark.parametrize(
    "start, links, wanted",
    [
        pytest.param("/3.12/", ["/3.12/a", "/3.11/"], Wanted("3.12"), id="the start names it"),
        pytest.param("/ja/", [], Wanted(None, "ja"), id="the start names the language"),
        pytest.param("/", ["/a", "/b", "/1.0/"], Wanted(), id="the current one is without a number"),
        pytest.param("/", ["/en/stable/a", "/en/stable/b", "/en/1.0/a"], Wanted("stable"), id="there is a stable one"),
        pytest.param("/", ["/v2/a", "/v2/b", "/v1/a"], Wanted("v2"), id="most links"),
        pytest.param("/", ["/1.9/a", "/1.10/a"], Wanted("1.10"), id="the highest of equals"),
        pytest.param("/", [], Wanted(), id="nothing to tell"),
    ],
)
def test_what_a_crawl_is_about_is_read_from_its_start(start: str, links: list[str], wanted: Wanted) -> None:
    assert wanted_from(SITE + start, [SITE + link for link in links]) == wanted


def test_the_version_that_was_asked_for_is_wanted_and_the_others_are_not() -> None:
    wanted = wanted_from(f"{SITE}/docs/1.2/", [])
    assert variant_of(f"{SITE}/docs/1.2/boil", wanted) is None
    assert variant_of(f"{SITE}/docs/boil", wanted) is None
    other = variant_of(f"{SITE}/docs/1.3/boil", wanted)
    assert other is not None
    assert other.reason == "version 1.3; this crawl is about version 1.2"


def test_a_page_of_everything_beside_the_start_is_left_out_and_one_elsewhere_is_not() -> None:
    start = f"{SITE}/api/index.html"
    everything = variant_of(f"{SITE}/api/all.html", Wanted(), start)
    assert everything is not None
    assert everything.kind is Kind.PRINT
    assert variant_of(f"{SITE}/api/guide/all.html", Wanted(), start) is None


def test_the_start_is_wanted_whatever_its_name() -> None:
    start = f"{SITE}/api/print.html"
    assert variant_of(start, Wanted(), start) is None


@pytest.mark.parametrize(
    "one, other, same",
    [("en", "en-US", True), ("en-GB", "en-US", False), ("pt_BR", "pt-br", True), ("zh", "zh-Hans", True), ("ja", "ko", False)],
)
def test_languages_are_compared_with_their_regions(one: str, other: str, same: bool) -> None:
    assert same_language(one, other) is same
    assert same_language(other, one) is same


@given(st.lists(st.text("abz019.-_/:%?=v", max_size=12), max_size=8))
def test_any_address_is_judged(segments: list[str]) -> None:
    url = f"{SITE}/{'/'.join(segments)}"
    version, language = version_of(url), language_of(url)
    assert version is None or version in url
    assert language is None or language in url
    if variant_of(url, Wanted(version, language)) is not None:
        assert variant_of(url, Wanted(version, language)) == variant_of(url, Wanted(version))
