"""Markdown of strangers as HTML: what is shown looks right, and nothing of theirs runs, loads, covers or leads astray."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tadoru.serve.docs_sites.markdown_html import ANCHOR_PREFIX, LINK_REL, MAX_CHARACTERS, render_markdown
from tests.serve.docs_sites.docs_harness import HARM
from tests.support.properties import examples

TAGS = frozenset(
    "a abbr b blockquote br caption cite code dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i ins kbd li "
    "mark ol p pre q s samp small strong sub summary sup table tbody td tfoot th thead tr u ul var".split()
)
ATTRIBUTES = frozenset("href rel class id tabindex role aria-label colspan rowspan start".split())
CLASSES = frozenset("picture callout note tip important warning caution callout-name scroll right center".split())


class ParsedHtml(HTMLParser):
    """Everything that a page is made of, and whether every element is closed where it was opened."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        if self.open:
            self.wrong.append(f"left open: {self.open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("br", "hr"):
            self.open.append(tag)
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            self._attribute(tag, name, value or "")

    def _attribute(self, tag: str, name: str, value: str) -> None:
        is_good = name in ATTRIBUTES
        match name:
            case "href":
                is_good = re.match(r"https?://|mailto:|/here/", value) is not None
            case "class":
                is_good = set(value.split()) <= CLASSES
            case "id":
                is_good = value.startswith(ANCHOR_PREFIX)
            case "rel":
                is_good = value == LINK_REL
        if not is_good:
            self.wrong.append(f"<{tag} {name}={value!r}>")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}-->")


def lead(href: str) -> str | None:
    """As the service does it: out to the web, to a mailbox, to a page of ours, or nowhere."""
    return href if re.match(r"https?://|mailto:", href, re.IGNORECASE) else "/here/1"


def shown(markdown: str) -> str:
    return render_markdown(markdown, lead).html


PIECES = [
    "<script>alert(1)</script>", "<script", "</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)", "<a href='",
    "'>", "[x](", "](data:text/html;base64,PHNjcmlwdD4=)", ")", "`", "```\n", "~~~", "<svg><style>", "</style>", "<!--", "-->",
    "<![CDATA[", "]]>", "<math><mtext></mtext><mglyph><style>", "<div onclick=alert(1) style='x'>", "</div>", "<table><tr><td>",
    "| a | b |\n", "|---|---|\n", "> [!NOTE]\n", "> ", "- **a**\n  b\n", "# ", "\n", "\n\n", " ", "&lt;script&gt;",
    "&#x6a;avascript:", "\\", "![a](b)", "<iframe srcdoc='<script>1</script>'>", "<form action=//x>",
    "<input autofocus onfocus=1>", "<template>", "<noscript>", "<xmp>", "<textarea>", "<base href=//x>",
    "<meta http-equiv=refresh>", "<h2 id=main onclick=1>", "\x00", "\u202e", "\ud7ff", "=\n", "<p/x ",
    "<details open ontoggle=alert(1)>", "[a]: javascript:x\n", "[a]", "<https://x.example>", "<javascript:x>",
    "<select><option>",
]  # fmt: skip


@example(markdown=HARM)
@example(markdown='<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">')
@example(markdown='<noscript><p title="</noscript><img src=x onerror=alert(1)>">')
@example(markdown="[x](javascript&colon;alert(1)) <a href=' javascript:alert(1)'>x</a> <a href='\x01javascript:x'>y</a>")
@example(markdown='<div role="region" aria-label="x" tabindex="5" class="skip scroll">')
@examples(250, deadline=None)
@given(markdown=st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=14).map("".join))
def test_nothing_comes_out_but_text_with_a_little_structure(markdown: str) -> None:
    assert ParsedHtml(shown(markdown)).wrong == []


@examples(60, deadline=None)
@given(text=st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=40))
def test_code_says_exactly_what_was_written(text: str) -> None:
    found = re.fullmatch(r'<pre tabindex="0"><code>(.*)\n</code></pre>\n', shown(f"~~~~~~~~\nx{text}\n~~~~~~~~\n"), re.DOTALL)
    assert found is not None
    parts: list[str] = []
    reader = HTMLParser()
    reader.handle_data = parts.append  # type: ignore[method-assign]
    reader.feed(found[1])
    reader.close()
    assert "".join(parts) == f"x{text}"


def test_a_title_is_left_out_for_the_page_says_it_and_headings_lead_somewhere() -> None:
    found = render_markdown("# Title\n\n## A `b` part\n\ntext\n\n## A b part\n", lead)
    assert "Title" not in found.html
    assert [(one.level, one.text, one.id) for one in found.headings] == [
        (2, "A b part", "at-A-b-part"),
        (2, "A b part", "at-A-b-part-2"),
    ]
    assert '<h2 id="at-A-b-part">A <code>b</code> part</h2>' in found.html


def test_the_fragments_of_the_site_are_kept_when_all_are_known() -> None:
    text = "# T\n\n## One\n\n## Two\n"
    assert [one.id for one in render_markdown(text, lead, anchors=["t", "first", None]).headings] == ["at-first", "at-Two"]
    assert [one.id for one in render_markdown(text, lead, anchors=["t", "first"]).headings] == ["at-One", "at-Two"]


def test_a_callout_says_what_it_is_in_the_language_of_the_page() -> None:
    text = "> [!WARNING]\n> Hot.\n\n> [!NOTE]\n>\n> Cold.\n\n> Said by somebody.\n"
    found = render_markdown(text, lead, words={"warning": "警告"}).html
    assert '<blockquote class="callout warning">\n<p class="callout-name">警告</p><p>Hot.</p>' in found
    assert '<blockquote class="callout note">\n<p class="callout-name">Note</p>' in found
    assert "<blockquote>\n<p>Said by somebody.</p>" in found
    assert "[!" not in found


def test_a_term_stands_above_what_it_means() -> None:
    assert "<li><strong>lid</strong><br>\nCloses it.</li>" in shown("- **lid**\n  Closes it.\n")
    assert "<br>" not in shown("- **lid** closes\n  it.\n")


def test_a_table_can_be_scrolled_by_keyboard_and_numbers_stand_right() -> None:
    found = shown("| a | b |\n|:--|--:|\n| 1<br>x | 2 |\n")
    assert found.startswith('<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>')
    assert '<td class="right">2</td>' in found
    assert "<td>1<br>x</td>" in found


def test_a_picture_is_a_link_and_inside_a_link_only_its_words() -> None:
    found = shown("![A grip](https://a.example/g.png) [![badge](https://a.example/b.png)](https://a.example/)")
    assert '<a href="https://a.example/g.png" class="picture"' in found
    assert ">Image: A grip</a>" in found
    assert ">badge</a>" in found
    assert "<img" not in found


def test_a_picture_of_html_is_its_words_so_that_a_link_around_it_has_a_name() -> None:
    out = "<a href='https://a.example/'>{}</a>".format
    assert ">Build &amp; test</a>" in shown(out("<img src=b.svg alt='Build &amp; test'>"))
    assert ">Image</a>" in shown(out("<IMG src=b.svg>"))
    assert "<a " not in shown(out("\n"))
    assert ParsedHtml(shown(out("<img alt='\"><script>alert(1)</script>'>"))).wrong == []


@pytest.mark.parametrize("deep", ["<div>" * 3_000, "<b>" * 3_000, "<table><tr><td>" * 1_000, "> " * 9_000, "- " * 9_000])
def test_what_is_nested_without_end_is_shown_as_text(deep: str) -> None:
    assert ParsedHtml(shown(deep)).wrong == []


def test_of_an_endless_page_the_beginning_is_shown_in_whole_blocks() -> None:
    found = render_markdown("# T\n\n" + f"```\n{'code ' * 4_000}\n```\n\n" * (MAX_CHARACTERS // 10_000), lead)
    assert found.is_cut
    assert len(found.html) < MAX_CHARACTERS
    assert ParsedHtml(found.html).wrong == []
    assert not render_markdown("# T\n\nshort\n", lead).is_cut


@pytest.mark.parametrize(
    "mark",
    ["![", "[", "- - - a\n", "- a\n", "1. a\n", "|a\n|-\n", "a\n\n", "# a\n", "**a**", "[[[[a]"],
)
def test_a_page_of_marks_is_cut_before_it_takes_seconds(mark: str) -> None:
    began = process_time()
    page = render_markdown(mark * (MAX_CHARACTERS // len(mark)), lambda href: href)
    assert process_time() - began < 4, "twice what it may take on a quiet machine"
    assert page.is_cut


def test_a_long_page_of_text_is_not_cut() -> None:
    text = "A paragraph with **bold** words, `code` and a [link](https://docs.example/) in it, as a manual has them.\n\n"
    page = render_markdown("# Title\n\n" + text * (MAX_CHARACTERS // len(text) - 1), lambda href: href)
    assert not page.is_cut
