"""Texts of events: cleaned for comparison, for display, and made safe as HTML."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from tadoru.parse.text_cleaning import TAGS, clean_title, clean_venue, display_text, one_line, plain_text, sanitise_html

TRICKS = (
    "< </ > <script> <img\tsrc=x\tonerror=alert(1)> <a\thref=' javascript: data:text/html, ' \" &lt; &#60; &amp;lt; \u200b "
    "\x00 \u202e <b> <p> <svg /onload=x <!-- --> style ]]> ã\x81"
).split(" ")
MARKUP = st.lists(st.sampled_from(TRICKS) | st.text(max_size=5), max_size=12).map("".join)


@pytest.mark.parametrize(
    "one, other",
    [
        ("Ｊａｚｚ　Ｌｉｖｅ　２０２６", "jazz live 2026"),
        ("さんさ踊り！", "さんさ踊り"),
        ("【中止】夏まつり", "夏まつり"),
        ("（一部中止）夏まつり", "夏まつり"),
        ("コンサ―ト", "コンサート"),
        ("コ〜ヒ〜", "コーヒー"),
        ("ツインズ～多胎児のつどい～", "ツインズ(多胎児のつどい)"),
        ("ﾌﾘｰﾏｰｹｯﾄ", "フリーマーケット"),
        ("第２回 おはなし会", "第2回おはなし会"),
        ("おはなし会(東雲図書館)", "おはなし会　〔東雲図書館〕"),
        ("㈱ハルの会", "(株)ハルの会"),
        ("STRASSE", "straße"),
    ],
)
def test_titles_that_differ_only_in_writing_are_the_same_to_compare(one: str, other: str) -> None:
    assert clean_title(one) == clean_title(other)


@pytest.mark.parametrize(
    "one, other",
    [
        ("おはなし会(東雲図書館)", "おはなし会(東陽図書館)"),
        ("おはなし会(0・1歳)", "おはなし会(2・3歳)"),
        ("第1回講座", "第2回講座"),
        ("講座1 1", "講座11"),
        ("ハハ", "ババ"),
        ("中止になった祭り", "祭り"),
        ("★★★", "☆☆☆"),
    ],
)
def test_titles_that_say_different_things_stay_different(one: str, other: str) -> None:
    assert clean_title(one) != clean_title(other)


@pytest.mark.parametrize(
    "one, other", [("市民会館 2F", "市民会館２階"), ("センターB1F", "センター地下1階"), ("ホール　Ａ", "ホールa")]
)
def test_a_floor_is_the_same_in_each_spelling(one: str, other: str) -> None:
    assert clean_venue(one) == clean_venue(other)


@given(st.text(max_size=60))
def test_what_was_cleaned_once_does_not_change_when_it_is_cleaned_again(text: str) -> None:
    title, venue = clean_title(text), clean_venue(text)
    assert (clean_title(title), clean_venue(venue)) == (title, venue)


@given(st.text(min_size=1, max_size=40))
def test_a_title_that_says_something_is_never_cleaned_away(text: str) -> None:
    shown = one_line(text)
    assert bool(clean_title(shown)) == bool(shown)
    assert clean_title(f"【中止】{shown}")


@given(st.text(max_size=80), st.integers(1, 20))
def test_a_text_for_display_keeps_its_limit_and_is_tidy(text: str, limit: int) -> None:
    shown = display_text(text, limit)
    assert len(shown) <= limit
    assert shown == shown.strip()
    assert not any(unicodedata.category(sign) in {"Cc", "Cs"} and sign not in "\n\t" for sign in shown)
    assert "\n" not in one_line(text)


@pytest.mark.parametrize(
    "text, shown",
    [
        ("  夏　まつり\t2026 ", "夏 まつり 2026"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\n\n\n\nb", "a\n\nb"),
        ("ab\u202ec\u200bd\x07", "abcd"),
        ("Tom &amp; Jerry", "Tom & Jerry"),
        ("CafÃ© LumiÃ¨re", "Café Lumière"),
        ("おはなし会".encode().decode("latin-1"), "おはなし会"),
        ("café – “naïve” Ångström", "café – “naïve” Ångström"),
        ("か\u3099く", "がく"),
        ("👨‍👩‍👧の会", "👨‍👩‍👧の会"),
        ("\x00", ""),
    ],
)
def test_a_text_is_shown_as_people_read_it(text: str, shown: str) -> None:
    assert display_text(text) == shown


@pytest.mark.parametrize(
    "text, shown",
    [
        ("夏<br>まつり", "夏 まつり"),
        ("<p>夏まつり</p>\n", "夏まつり"),
        ("<script>alert(1)</script>夏", "夏"),
        ("Perfume <Level3>", "Perfume <Level3>"),
        ("A<B対決", "A<B対決"),
        ("<第1回> 夏", "<第1回> 夏"),
        ("<\u200bb>夏</b>", "夏"),
    ],
)
def test_a_line_has_no_markup_and_keeps_names_in_angle_brackets(text: str, shown: str) -> None:
    assert one_line(text) == shown


@pytest.mark.parametrize(
    "text, safe",
    [
        ("plain & simple, 3 < 5", "plain & simple, 3 < 5"),
        ("<p>夏</p><script>alert(1)</script>", "<p>夏</p>"),
        ("<style>p{}</style>夏", "夏"),
        ("<p onclick='x()' style='y'>夏</p>", "<p>夏</p>"),
        ("<img src=x onerror=alert(1)>夏", "夏"),
        ("<div><b>夏</b></div>", "<b>夏</b>"),
        ("<a href='javascript:alert(1)'>夏</a>", '<a rel="noopener noreferrer nofollow ugc">夏</a>'),
        ("<a href='JaVa\tScript:alert(1)'>夏</a>", '<a rel="noopener noreferrer nofollow ugc">夏</a>'),
        ("<a href='data:text/html,x'>夏</a>", '<a rel="noopener noreferrer nofollow ugc">夏</a>'),
        ("<a href='/local'>夏</a>", '<a rel="noopener noreferrer nofollow ugc">夏</a>'),
        ("<a href='https://x.example/'>夏</a>", '<a href="https://x.example/" rel="noopener noreferrer nofollow ugc">夏</a>'),
        ("&lt;p&gt;夏&lt;/p&gt;", "<p>夏</p>"),
        ("&lt;script&gt;夏", "&lt;script&gt;夏"),
        ("&amp;lt;img src=x onerror=alert(1)&gt;夏", "&amp;lt;img src=x onerror=alert(1)&gt;夏"),
        ("夏&nbsp;の&amp;の<星>", "夏 の&の<星>"),
        ("<\u200bimg src=x onerror=alert(1)>", ""),
        ("&lt;\u200bb&gt;&lt;p&gt;夏", "<b><p>夏</p></b>"),
        ("<\x00script>alert(1)</script>夏", "夏"),
    ],
)
def test_html_is_left_with_what_a_description_needs(text: str, safe: str) -> None:
    assert sanitise_html(text) == safe


@given(MARKUP)
def test_nothing_that_runs_or_loads_comes_through(text: str) -> None:
    tree = LexborHTMLParser(f"<!doctype html><html><body><main>{sanitise_html(text)}</main></body></html>")
    main = tree.css_first("main")
    assert main is not None
    for node in main.css("*"):
        if node.tag == "main":
            continue
        assert node.tag in TAGS
        assert set(node.attributes) <= {"href", "rel", "colspan", "rowspan"}
        assert (node.attributes.get("href") or "https:").startswith(("http:", "https:", "mailto:"))


def test_the_words_of_html_keep_their_lines() -> None:
    assert plain_text("<p>一行目</p><ul><li>甲</li><li>乙</li></ul>終わり&amp;") == "一行目\n\n甲\n\n乙\n\n終わり&"
    assert plain_text("<table><tr><td>甲</td><td>乙</td></tr></table>") == "甲 乙"
