"""The summary is a beginning of the description that ends where a sentence, a clause or a word does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.enrich.enricher import MAX_SUMMARY, extract_summary
from tadoru.parse.text_cleaning import is_html, plain_text

FILLING = "この続きには、申し込みの方法や持ち物などについての長い説明があり、カードに全部を載せることはできず、" * 3 + "終わる。"
"""One sentence that does not fit."""


@pytest.mark.parametrize(
    "description, expected",
    [
        ("", ""),
        ("短い説明です。もう一つ。", ""),
        ("親子で楽しむおはなし会です。" + FILLING, "親子で楽しむおはなし会です。"),
        ("絵本を読みます。手遊びもします！" + FILLING, "絵本を読みます。手遊びもします！"),
        ("「本当に？」と聞く会。" + FILLING, "「本当に？」と聞く会。"),
        ("<p>Songs for <b>all</b>.</p><p>Bring a friend &amp; tea.</p>" + "x" * 120, "Songs for all. Bring a friend & tea."),
        ("Dr. Smith of St. Mary talks at 7.30 p.m. about no. 5. Then tea. " + "Word after word " * 20,
         "Dr. Smith of St. Mary talks at 7.30 p.m. about no. 5. Then tea."),
        ("Come at 10:30 to example.org! Free. " + "Word after word " * 20, "Come at 10:30 to example.org! Free."),
        ("x" * 300, ""),
        ("https://example.org/" + "x" * 300, ""),
    ],
)  # fmt: skip
def test_the_first_sentences_are_taken(description: str, expected: str) -> None:
    assert extract_summary(description) == expected


def test_a_long_sentence_ends_at_a_comma() -> None:
    sentence = "地域の皆さんと一緒に川をきれいにする活動で、" * 4 + "終わりに豚汁をいただきます" * 5 + "。"
    assert extract_summary(sentence) == ("地域の皆さんと一緒に川をきれいにする活動で、" * 4).rstrip("、") + "…"


def test_a_long_sentence_without_a_pause_ends_between_two_words() -> None:
    assert extract_summary("gathering " * 30).removesuffix("…").split() == ["gathering"] * 12
    japanese = extract_summary("図書館で本を読み公園で遊ぶ" * 20)
    assert japanese.endswith("…")
    assert japanese.removesuffix("…")[-1] in "でをみぶ"


def test_a_comma_in_a_number_is_no_pause() -> None:
    text = "the festival in the old town with more than one hundred bands playing " + "all night long and 12,000 " * 10
    assert not extract_summary(text).removesuffix("…").endswith("12")


def test_a_title_that_comes_again_is_left_out() -> None:
    text = "夏の花火大会\n3千発の花火が上がります。" + FILLING
    assert extract_summary(text, "夏の花火大会") == "3千発の花火が上がります。"


def test_what_is_left_after_the_title_may_be_short_enough() -> None:
    assert extract_summary("長い題名" * 30 + "\n短い説明。", "長い題名" * 30) == ""


@given(st.text(max_size=600), st.text(max_size=20))
def test_a_summary_is_short_plain_and_made_of_the_description(description: str, title: str) -> None:
    summary = extract_summary(description, title)
    assert len(summary) <= MAX_SUMMARY
    assert "\n" not in summary
    bare = "".join(plain_text(description).split())
    assert "".join(summary.removesuffix("…").split()) in bare
    assert summary == extract_summary(description, title)


@given(
    st.lists(
        st.sampled_from(
            ["word", "カタカナ", "ひらがな", "漢字", "👩‍👩‍👧", "e\u0301a", ". ", "、", " ", "\n", "<b>x</b>", "&lt;i&gt;"]
        ),
        max_size=120,
    )
)
def test_no_cluster_is_cut(parts: list[str]) -> None:
    description = "".join(parts)
    kept = extract_summary(description).removesuffix("…")
    flat = " ".join(plain_text(description).split())
    assert not kept or flat[len(kept) :][:1] not in ("\u200d", "\u0301", "\ufe0f") or flat.find(kept) != 0
    assert not is_html(kept) or is_html(flat)


@given(st.text(alphabet="abcdefgh ", min_size=130, max_size=400))
def test_no_western_word_is_cut(text: str) -> None:
    kept = extract_summary(text).removesuffix("…")
    assert set(kept.split()) <= set(text.split())
