"""What the rooms below say, on pages in Japanese."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tadoru
from tadoru.serve.pages.words_sentences import JAPANESE, told
from tests.support.serving import Desk

SOURCES = "\n".join(
    file.read_text("utf-8")
    for file in Path(tadoru.__file__).parent.rglob("*.py")
    if file.name != "words_sentences.py" and "pages" not in file.parts
)


@pytest.mark.parametrize("english", JAPANESE)
def test_every_sentence_of_the_table_is_one_that_somebody_says(english: str) -> None:
    pieces = (re.escape(piece) for piece in english.split("{}"))
    assert re.search(r"\{[^{}]+\}".join(pieces), SOURCES), english
    assert JAPANESE[english].count("{}") == english.count("{}")


@given(st.text(), st.sampled_from(["en", "ja"]))
def test_what_is_not_in_the_table_stays_as_it_is(sentence: str, lang: str) -> None:
    assert told(sentence, lang) == sentence


@given(st.text(min_size=1, alphabet=st.characters(codec="utf-8")))
def test_what_changes_in_a_sentence_is_kept_as_it_is(name: str) -> None:
    assert name in told(f"There is a user {name} already: choose another name.", "ja")


def test_a_page_in_japanese_says_it_in_japanese(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "events.db", lang="ja")
    text = desk.anybody.get("/?cursor=nothing&lang=ja", headers={"accept": "text/html"}).text
    assert "一覧の続きが見つかりません。" in text
    assert "This place in the list" not in text
    desk.close()
