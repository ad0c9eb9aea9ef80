"""Marks in a text stand where the search finds words, whatever the text is made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.publish.list_pages import event_highlights
from tadoru.store.calendar.search_text import (
    MAX_EXCERPT,
    SearchHighlight,
    find_highlights,
    parse_query,
    search_line,
    split_highlight,
)

SIGNS = "花火大会のジャｼﾞｬズがＪＡＺＺjazzÉéeß 3第回-・_\"<>&'.…ー々ﾞ\u3099\u0301"
texts = st.text(alphabet=SIGNS, max_size=60)
anything = st.text(max_size=400)


def marked(text: str, asked: str) -> list[str]:
    return [piece for one in find_highlights({"text": text}, asked) for piece, is_marked in split_highlight(one) if is_marked]


def test_words_are_marked_as_they_are_written() -> None:
    assert marked("夏の花火大会", "花火") == ["花火"]
    assert marked("ＪＡＺＺの夕べ", "jazz") == ["ＪＡＺＺ"]
    assert marked("ﾊﾞｯﾊの夜", "バッハ") == ["ﾊﾞｯﾊ"]
    assert marked("Café, CAFE\u0301 and cafés", "cafe") == ["Café", "CAFE\u0301", "café"]
    assert marked("Café and cafés", '"cafe"') == ["Café"]
    assert marked("第3回 第30回", "第3回") == ["第3回"]
    assert marked("花火 -大会", "花火 -大会") == ["花火"]
    assert marked("nojazz", "jazz") == []


@given(texts, texts)
def test_what_is_found_is_marked_and_what_is_marked_is_found(text: str, asked: str) -> None:
    query = parse_query(asked)
    found = find_highlights({"text": text}, asked)
    if query is None or not query.wanted:
        assert found == ()
    elif all(one.line in search_line([text.replace("<", " ")]) for one in query.wanted):
        assert found
        for mark in marked(text, asked):
            assert search_line([mark])


@given(anything, anything)
def test_pieces_put_together_are_the_text_and_marks_do_not_overlap(text: str, asked: str) -> None:
    for match in find_highlights({"text": text}, asked):
        assert "".join(piece for piece, _ in split_highlight(match)) == match.text
        assert len(match.text) <= MAX_EXCERPT + 2
        assert match.text.strip("…") in text
        ends = [0, *(place for mark in match.marks for place in mark)]
        assert ends == sorted(ends)
        assert all(start < end <= len(match.text) for start, end in match.marks)


def test_a_long_text_is_shown_around_the_first_word() -> None:
    text = "はじめに。" * 100 + "夜は花火です。" + "おわり。" * 100
    (found,) = find_highlights({"description": text}, "花火")
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert [piece for piece, is_marked in split_highlight(found) if is_marked] == ["花火"]
    assert len(found.text) == MAX_EXCERPT + 2


def test_markup_of_a_description_is_not_told() -> None:
    event = dict.fromkeys(("title", "venue", "address", "city", "category", "organizer"), "")
    event["description"] = '<p>1 &lt; 2 <b onclick="x">魚</b>と<script>魚()</script></p>'
    (found,) = event_highlights(event, "魚")
    assert found == SearchHighlight("description", "1 < 2 魚と", ((6, 7),))
