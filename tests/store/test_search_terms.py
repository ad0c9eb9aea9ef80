"""Words to search by: pairs for scripts without spaces, parts of compound names, and queries that are never syntax."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.store.search_terms import SearchTerms, asked, indexed


@pytest.mark.parametrize(
    "text, expected",
    [
        ("plain words", "plain words"),
        ("設定する。", " 設定 定す する る 。"),
        ("ＡＰＩの設定", "API の設 設定 定 "),
        ("readFileSync now", "readFileSync read File Sync now"),
        ("HTTPServer x", "HTTPServer x"),
        ("parseHTTPResponse", "parseHTTPResponse parse HTTP Response"),
    ],
)
def test_a_text_in_the_index(text: str, expected: str) -> None:
    assert indexed(text) == expected


@pytest.mark.parametrize(
    "query, expected",
    [
        pytest.param("rate limit", SearchTerms(("rate", "limit"), (), ("rate", "limit"), ("maximum", "ratelimit")), id="words"),
        pytest.param('"rate limit" x', SearchTerms(("rate limit", "x"), (), ("rate limit", "x")), id="a phrase"),
        pytest.param("a -without", SearchTerms(("a",), ("without",), ("a",)), id="an exclusion"),
        pytest.param("c -o --depth", SearchTerms(("c", "-o", "--depth"), (), ("c", "-o", "--depth")), id="options"),
        pytest.param("-without", SearchTerms(("without",), (), ("without",)), id="nothing but an exclusion"),
        pytest.param("APIの設定", SearchTerms(("API", "の設 設定"), (), ("APIの設定",)), id="two scripts in one word"),
        pytest.param("表", SearchTerms(("表",), (), ("表",)), id="one character"),
        pytest.param("-> ??", SearchTerms((), (), ("->", "??")), id="signs only"),
        pytest.param("  ", SearchTerms((), (), ()), id="nothing"),
    ],
)  # fmt: skip
def test_what_a_query_asks_for(query: str, expected: SearchTerms) -> None:
    assert asked(query) == expected


@pytest.mark.parametrize(
    "query, related",
    [
        pytest.param("folders?", ("directory",), id="a word for the same, whatever its ending"),
        pytest.param("check out", ("validate", "verify", "checkout"), id="two words that are also written as one"),
        pytest.param('"folders"', (), id="none for what is in quotes"),
        pytest.param("folder -directory", (), id="none that is excluded"),
        pytest.param("what is it", (), id="none of stop words"),
    ],
)
def test_words_related_to_a_query(query: str, related: tuple[str, ...]) -> None:
    assert asked(query).related == related


@given(st.text(), st.booleans())
def test_a_broad_query_is_made_of_quoted_strings(query: str, is_common: bool) -> None:
    asks = asked(query)
    bare = asks.broad_expression(asks.wanted if is_common else ()).replace('""', "")
    outside = "".join(bare.split('"')[::2])
    assert set(outside.replace("NEAR(", "").replace(", 4)", "").replace("(", "").replace(")", "").split()) <= {"AND", "OR", "NOT"}


@given(st.text())
def test_every_query_is_made_of_quoted_strings(query: str) -> None:
    asks = asked(query)
    bare = asks.expression(every=True).replace('""', "")
    outside = "".join(bare.split('"')[::2])
    assert set(outside.split()) <= {"(", ")", "AND", "NOT", "()"}
