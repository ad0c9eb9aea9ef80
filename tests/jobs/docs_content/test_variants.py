"""Which addresses are other versions, other languages, doubles and indexes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.content.variants import (
    DocsEdition,
    VariantKind,
    detect_edition,
    is_same_language,
    language_of,
    variant_of,
    version_of,
)

SITE = "https://docs.test"


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/print.html", VariantKind.PRINT),
        ("/book/print.html", VariantKind.PRINT),
        ("/_print/docs/", VariantKind.PRINT),
        ("/singlehtml/index.html", VariantKind.PRINT),
        ("/page?printable=yes", VariantKind.PRINT),
        ("/genindex.html", VariantKind.INDEX),
        ("/genindex-A.html", VariantKind.INDEX),
        ("/py-modindex.html", VariantKind.INDEX),
        ("/bookindex.html", VariantKind.INDEX),
        ("/manual/ix01.html", VariantKind.INDEX),
        ("/kettle/api-index-2-4.html", VariantKind.INDEX),
        ("/manual/Concept-Index.html", VariantKind.INDEX),
        ("/manual/Lid-Properties-Index.html", VariantKind.INDEX),
        ("/html/classKettle_1_1Lid-members.html", VariantKind.INDEX),
        ("/search.html", VariantKind.INDEX),
        ("/en/stable/search/", VariantKind.INDEX),
        ("/docs/tags", VariantKind.INDEX),
        ("/index-all.html", VariantKind.INDEX),
        ("/org/kettle/class-use/Kettle.html", VariantKind.INDEX),
        ("/api/index/index-k.html", VariantKind.INDEX),
        ("/wiki/Special:Search", VariantKind.INDEX),
        ("/_modules/kettle.html", VariantKind.SOURCE),
        ("/_sources/boil.rst.txt", VariantKind.SOURCE),
        ("/src/kettle/lib.rs.html", VariantKind.SOURCE),
        ("/kettle_8h_source.html", VariantKind.SOURCE),
        ("/1.0/boil.html", VariantKind.VERSION),
        ("/docs/2.x/boil", VariantKind.VERSION),
        ("/next/boil", VariantKind.VERSION),
        ("/ja/boil", VariantKind.LANGUAGE),
        ("/docs/zh-cn/boil", VariantKind.LANGUAGE),
    ],
)
def test_what_is_not_wanted_is_left_out_with_a_reason(path: str, kind: VariantKind) -> None:
    variant = variant_of(SITE + path, DocsEdition(language="en"))
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
    assert variant_of(SITE + path, DocsEdition(language="en")) is None


@pytest.mark.parametrize(
    "start, links, wanted",
    [
        pytest.param("/3.12/", ["/3.12/a", "/3.11/"], DocsEdition("3.12"), id="the start names it"),
        pytest.param("/ja/", [], DocsEdition(None, "ja"), id="the start names the language"),
        pytest.param("/", ["/a", "/b", "/1.0/"], DocsEdition(), id="the current one is without a number"),
        pytest.param("/", ["/en/stable/a", "/en/stable/b", "/en/1.0/a"], DocsEdition("stable"), id="there is a stable one"),
        pytest.param("/", ["/v2/a", "/v2/b", "/v1/a"], DocsEdition("v2"), id="most links"),
        pytest.param("/", ["/1.9/a", "/1.10/a"], DocsEdition("1.10"), id="the highest of equals"),
        pytest.param("/", [], DocsEdition(), id="nothing to tell"),
    ],
)
def test_what_a_crawl_is_about_is_read_from_its_start(start: str, links: list[str], wanted: DocsEdition) -> None:
    assert detect_edition(SITE + start, [SITE + link for link in links]) == wanted


def test_the_version_that_was_asked_for_is_wanted_and_the_others_are_not() -> None:
    wanted = detect_edition(f"{SITE}/docs/1.2/", [])
    assert variant_of(f"{SITE}/docs/1.2/boil", wanted) is None
    assert variant_of(f"{SITE}/docs/boil", wanted) is None
    other = variant_of(f"{SITE}/docs/1.3/boil", wanted)
    assert other is not None
    assert other.reason == "version 1.3; this crawl is about version 1.2"


def test_a_page_of_everything_beside_the_start_is_left_out_and_one_elsewhere_is_not() -> None:
    start = f"{SITE}/api/index.html"
    everything = variant_of(f"{SITE}/api/all.html", DocsEdition(), start)
    assert everything is not None
    assert everything.kind is VariantKind.PRINT
    assert variant_of(f"{SITE}/api/guide/all.html", DocsEdition(), start) is None


def test_the_start_is_wanted_whatever_its_name() -> None:
    start = f"{SITE}/api/print.html"
    assert variant_of(start, DocsEdition(), start) is None


@pytest.mark.parametrize(
    "one, other, same",
    [("en", "en-US", True), ("en-GB", "en-US", False), ("pt_BR", "pt-br", True), ("zh", "zh-Hans", True), ("ja", "ko", False)],
)
def test_languages_are_compared_with_their_regions(one: str, other: str, same: bool) -> None:
    assert is_same_language(one, other) is same
    assert is_same_language(other, one) is same


@given(st.lists(st.text("abz019.-_/:%?=v", max_size=12), max_size=8))
def test_any_address_is_judged(segments: list[str]) -> None:
    url = f"{SITE}/{'/'.join(segments)}"
    version, language = version_of(url), language_of(url)
    assert version is None or version in url
    assert language is None or language in url
    if variant_of(url, DocsEdition(version, language)) is not None:
        assert variant_of(url, DocsEdition(version, language)) == variant_of(url, DocsEdition(version))
