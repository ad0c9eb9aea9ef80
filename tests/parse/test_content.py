"""The text that matters, its words and its hash."""

from __future__ import annotations

import tracemalloc
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.content import PARTS, ContentParts, PageContent, normalise_content
from tadoru.parse.html import HtmlDocument


def read_content(document: HtmlDocument) -> PageContent:
    """The text of a page that matters."""
    return ContentParts(document, document.find(",".join([*PARTS, "[role]"]))).content()


def text_of_page(markup: str) -> str:
    return read_content(HtmlDocument.parse(markup.encode(), "text/html; charset=utf-8")).normal.decode()


@pytest.mark.parametrize(
    "markup, expected",
    [
        pytest.param("<p>One two.</p><p>Three</p>", "one two three", id="blocks do not grow together"),
        pytest.param("<nav>Menu</nav><p>Text</p><aside>More</aside>", "text", id="menus and asides"),
        pytest.param("<header>Site</header><p>Text</p><footer>Imprint</footer>", "text", id="header and footer of the site"),
        pytest.param(
            "<article><header>Name</header>Text<footer>Author</footer></article>", "name text author", id="of an article"
        ),
        pytest.param("<p>Text<script>x()</script><style>p{}</style></p>", "text", id="scripts and styles"),
        pytest.param(
            "<p>Text<noscript>Turn it on</noscript><svg><title>Drawing</title></svg>", "text", id="noscript and drawings"
        ),
        pytest.param("Before<main>Main <nav>menu</nav>text</main>After", "main text", id="main only"),
        pytest.param('Before<div role="main">Text</div>', "text", id="main by role"),
        pytest.param('<div role="navigation">Menu</div>Text', "text", id="menu by role"),
        pytest.param("Before<main></main>", "before", id="an empty main is none"),
        pytest.param("<main>One</main><main>Two</main>", "one two", id="two mains are none"),
        pytest.param("<!-- no --><template>no</template>Yes", "yes", id="comments and templates"),
        pytest.param("", "", id="nothing"),
        pytest.param("<frameset><frame src=a></frameset>", "", id="no body"),
    ],
)
def test_what_is_read(markup: str, expected: str) -> None:
    assert text_of_page(markup) == expected


@pytest.mark.parametrize(
    "text, expected, words",
    [
        pytest.param("Hello, World!\n It's\tme", "hello world its me", 4, id="case, punctuation and apostrophes"),
        pytest.param("don’t — stop¶", "dont stop", 2, id="typographic signs"),
        pytest.param("a\xa0b", "a b", 2, id="no-break space"),
        pytest.param("日本語のページ", "日 本 語 の ペ ー ジ", 4, id="Japanese: two characters a word"),
        pytest.param("東京 Tokyo、大阪。", "東 京 tokyo 大 阪", 3, id="mixed"),
        pytest.param("한국어 문장", "한국어 문장", 2, id="Korean has spaces"),
        pytest.param("Größe Straße", "größe straße", 2, id="umlauts stay"),
        pytest.param("--- *** ...", "", 0, id="punctuation is no word"),
    ],
)
def test_words_are_normalised_and_counted(text: str, expected: str, words: int) -> None:
    content = normalise_content(text)
    assert content.normal.decode() == expected
    assert content.words == words


def test_the_hash_is_that_of_the_normalised_text() -> None:
    page = read_content(HtmlDocument.parse(b"<nav>Menu</nav><p>Hello,  World</p>"))
    assert page.hash == sha256(b"hello world").hexdigest()


def test_pages_that_differ_in_their_menu_only_have_one_hash() -> None:
    pages = [f"<nav>{menu}</nav><main>The same text</main>" for menu in ("One", "Two")]
    assert len({read_content(HtmlDocument.parse(page.encode())).hash for page in pages}) == 1


def test_a_page_without_text_has_no_hash_and_no_shingles() -> None:
    empty = read_content(HtmlDocument.parse(b"<p></p>"))
    assert empty.hash is None
    assert list(empty.shingles()) == []


def test_shingles_are_three_words_in_a_row_and_pass_over_short_ones() -> None:
    assert list(normalise_content("great rye bread is on a wooden board").shingles()) == list(
        normalise_content("great bread wooden board").shingles()
    )
    assert len(list(normalise_content("great bread wooden board").shingles())) == 2
    assert list(normalise_content("bread great wooden").shingles()) != list(normalise_content("great bread wooden").shingles())
    assert len(list(normalise_content("日本語").shingles())) == 1


@pytest.mark.parametrize("text, characters", [("Größe — “so”", 0), ("한국어", 0), ("東京 Tokyo、大阪。", 4)])
def test_characters_that_were_set_apart_are_counted(text: str, characters: int) -> None:
    assert normalise_content(text).characters == characters


def test_white_space_does_not_change_the_hash_of_a_text_with_a_few_japanese_words() -> None:
    assert normalise_content("bread パン and more bread").hash == normalise_content(f"bread パン and{' ' * 900}more bread").hash


def test_one_japanese_word_does_not_change_the_other_shingles() -> None:
    plain = set(normalise_content("great rye bread is on a wooden board").shingles())
    assert plain <= set(normalise_content("great rye bread is on a wooden board パン").shingles())


@given(st.text() | st.text(alphabet="a1 '.日本ーｱ（、　 —"))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_content(text)
    assert normalise_content(once.normal.decode("utf-8", "replace")).normal == once.normal


@given(st.text(alphabet="<>/ abmainvdrole=\"'", max_size=200))
def test_no_markup_makes_reading_fail(markup: str) -> None:
    read_content(HtmlDocument.parse(markup.encode()))


def test_a_text_of_many_runs_is_read_as_a_short_one_in_little_memory() -> None:
    tracemalloc.start()
    found = normalise_content("日—" * 600_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.normal == b" ".join([normalise_content("日—").normal] * 600_000)
    assert found.characters == 600_000
    assert peak < 60_000_000


def test_words_of_a_long_text_are_counted_in_little_memory() -> None:
    tracemalloc.start()
    found = normalise_content("one  two " * 200_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.words == 400_000
    assert found.normal == b" ".join([b"one two"] * 200_000)
    assert peak < 10_000_000
