"""How long a URL and a base may be: what is over the limit is not built, and counted."""

from __future__ import annotations

import pytest

from tadoru.errors import UsageError
from tadoru.rules.url import LONGEST_BASE, LONGEST_URL, MAX_CACHED_LENGTH, UrlResolver, canonical, canonical_base, parse_typed_url

PAGE = "https://site.example/docs/page"
ROOT = "https://site.example/"


def of_length(length: int, start: str = ROOT) -> str:
    return start + "a" * (length - len(start))


def test_the_longest_url_is_one_and_a_longer_one_is_none() -> None:
    assert canonical(of_length(LONGEST_URL)) == of_length(LONGEST_URL)
    assert canonical(of_length(LONGEST_URL + 1)) is None


@pytest.mark.parametrize(
    "reference",
    [
        pytest.param("b" * LONGEST_URL, id="longer with its base"),
        pytest.param("é" * (LONGEST_URL // 3), id="longer when it is escaped"),
        pytest.param("?" + "b" * 2 * LONGEST_URL, id="longer by itself"),
        pytest.param("/x#" + "b" * LONGEST_URL, id="longer by its fragment"),
    ],
)
def test_a_reference_that_becomes_too_long_is_refused_and_counted(reference: str) -> None:
    resolver = UrlResolver()
    assert resolver.resolve(reference, PAGE) is None
    assert resolver.too_long == 1
    assert canonical(reference.partition("#")[0], PAGE) is None or "#" in reference
    assert resolver.resolve("next", PAGE) == ("https://site.example/docs/next", "")
    assert resolver.too_long == 1


def test_neither_an_image_within_the_page_nor_what_is_no_url_counts_as_too_long() -> None:
    resolver = UrlResolver()
    assert resolver.resolve("data:image/png;base64," + "A" * 20_000, PAGE) is None
    assert resolver.resolve("mailto:somebody@site.example", PAGE) is None
    assert resolver.too_long == 0


def test_a_base_has_its_own_limit() -> None:
    assert canonical_base("/other/", PAGE) == "https://site.example/other/"
    assert canonical_base(of_length(LONGEST_BASE), PAGE) == of_length(LONGEST_BASE)
    assert canonical_base(of_length(LONGEST_BASE + 1), PAGE) is None
    assert canonical_base("b" * LONGEST_BASE, PAGE) is None
    assert canonical_base("mailto:x", PAGE) is None


def test_bases_that_each_lengthen_the_one_before_stay_below_the_limit() -> None:
    base = ROOT
    for _ in range(100):
        base = canonical_base("b" * 500 + "/", base) or base
    assert len(base) <= LONGEST_BASE


def test_long_urls_are_resolved_and_not_remembered() -> None:
    resolver = UrlResolver()
    long = "/" + "b" * MAX_CACHED_LENGTH + "?x"
    assert resolver.resolve(long, PAGE) == resolver.resolve(long, PAGE) == (f"https://site.example{long}", "")
    tables = len(resolver)
    base = of_length(LONGEST_BASE - 1) + "/"
    for number in range(1_000):
        assert resolver.resolve(f"n?{number}", base) == (f"{base}n?{number}", "")
    assert len(resolver) <= tables + 2


def test_a_start_url_that_is_too_long_is_named_so() -> None:
    with pytest.raises(UsageError, match=r"has 8,001 characters. The maximum is 8,000\."):
        parse_typed_url(of_length(LONGEST_URL + 1))
