"""What a search of events looks in, and what a query asks for."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tadoru.store.calendar.search_conditions import fts_expression
from tadoru.store.calendar.search_text import FIELD_SEPARATOR, fold_text, parse_query, search_line, split_words

TEXTS = st.text(st.sampled_from("花火大会ガがゔヴカ々ー第3回aAﾊﾟＡé éñß -_%'\"“*<b>、。\n¦😀"), max_size=24)
UNSPACED = st.text(st.sampled_from("花火大会カガのん々ー"), min_size=1, max_size=8)


@pytest.mark.parametrize(
    "text, line",
    [
        pytest.param("ＪＡＺＺの夕べ", " jazz の夕 夕べ べ ", id="width, case and pairs"),
        pytest.param("カラオケ ｶﾗｵｹ からおけ", " から らお おけ け から らお おけ け から らお おけ け ", id="kinds of kana"),
        pytest.param("Café Ångström", " cafe angstrom ", id="accents"),
        pytest.param("<p>花火</p><p>大会</p>", " 花火 火 大会 会 ", id="tags are no text"),
        pytest.param("第3回", " 第 3 回 ", id="digits between"),
        pytest.param("!?", "", id="signs only"),
    ],
)
def test_the_searched_text_of_a_field(text: str, line: str) -> None:
    assert search_line([text]) == line


def test_nothing_is_found_across_two_fields() -> None:
    line = search_line(["花火", "", "大会 jazz", "night"])
    assert line == f" 花火 火 {FIELD_SEPARATOR} 大会 会 jazz {FIELD_SEPARATOR} night "
    for asked in ("火大", '"jazz night"', '"花火 大会"', FIELD_SEPARATOR):
        asks = parse_query(asked)
        assert asks is None or not asks.wanted or not asks.is_found(line)


@pytest.mark.parametrize(
    "asked, text, is_found",
    [
        ("大会2024", "花火大会2024年", True),
        ("第3回", "平成第3回目", True),
        ("第3回", "第30回", False),
        ("fest", "Festival", True),
        ('"fest"', "Festival", False),
        ("fest!", "Festival", False),
        ("a", "an event", False),
        ("a", "a day", True),
        ("花", "花", True),
        ("花", "開花", True),
        ("花火 -大会", "花火の会", True),
        ("花火 -大会", "花火大会", False),
        ("-花火", "花火", True),
        ("じゃず", "ジャズ", True),
        ("!!", "!!", False),
    ],
)
def test_what_is_found(asked: str, text: str, is_found: bool) -> None:
    asks = parse_query(asked)
    assert asks is not None
    assert (bool(asks.wanted) and asks.is_found(search_line([text]))) == is_found


def test_nothing_asked_is_no_question() -> None:
    assert parse_query(" \n　") is None


@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_text(fold_text(text)) == fold_text(text)


@given(UNSPACED, UNSPACED, UNSPACED)
def test_every_part_of_a_run_without_spaces_is_found(before: str, part: str, after: str) -> None:
    asks = parse_query(part)
    assert asks is not None
    assume(asks.wanted)
    assert asks.is_found(search_line([before + part + after]))


@given(TEXTS)
def test_words_are_letters_and_digits_only_and_so_no_language_of_queries_knows_them(text: str) -> None:
    assert all(word.isalnum() for word in split_words(text))


@given(TEXTS, TEXTS)
def test_a_full_text_table_finds_what_is_to_be_found(asked: str, text: str) -> None:
    asks, line = parse_query(asked), search_line([text])
    assume(asks is not None and asks.wanted)
    assert asks is not None
    with closing(sqlite3.connect(":memory:")) as sql:
        sql.execute("CREATE VIRTUAL TABLE words USING fts5(line, tokenize='ascii')")
        sql.execute("INSERT INTO words VALUES (?)", (line,))
        found = sql.execute("SELECT count(*) FROM words WHERE words MATCH ?", (fts_expression(asks),)).fetchone()[0]
    assert bool(found) == asks.is_found(line)
