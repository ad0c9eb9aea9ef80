"""What stands in a line: emphasis, code, links, images, and text that stays text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tadoru.jobs.docs.markdown import ConvertOptions, MarkdownHeading
from tests.jobs.docs_markdown.pages import converted, markdown, read_back

LINES: dict[str, tuple[str, str]] = {
    "emphasis": ("<p><em>a</em> <strong>b</strong> <i>c</i> <b>d</b></p>", "*a* **b** *c* **d**"),
    "white space moves out of emphasis": ("<p>a<b> b </b>c</p>", "a **b** c"),
    "emphasis in emphasis": ("<p><em><strong>a</strong></em> <b>x <b>y</b></b></p>", "***a*** **x y**"),
    "neighbours of one kind": ("<p><b>a</b><b>b</b></p>", "**ab**"),
    "emphasis at a word": ("<p>a<b>b:</b>c</p>", "a**b**:c"),
    "emphasis in Japanese": ("<p>これは<b>「重要」</b>です。</p>", "これは「**重要**」です。"),
    "bold code at a word": ("<p><b><code>a</code></b>s</p>", "`a`s"),
    "empty emphasis": ("<p>a<b></b> <i class='icon'></i>b</p>", "a b"),
    "deleted": ("<p><del>a</del> <s>b</s></p>", "~~a~~ ~~b~~"),
    "raised and lowered": ("<p>H<sub>2</sub>O x<sup>2</sup></p>", "H<sub>2</sub>O x<sup>2</sup>"),
    "keys": ("<p><kbd>Ctrl</kbd>+<kbd>C</kbd></p>", "`Ctrl`+`C`"),
    "inserted, marked, abbreviated": ('<p><ins>a</ins> <mark>b</mark> <abbr title="x">c</abbr></p>', "a b c"),
    "quoted": ("<p><q>a</q></p>", "“a”"),
    "ruby": ("<p><ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby></p>", "漢字(かんじ)"),
    "code": ("<p><code>a_b*c</code></p>", "`a_b*c`"),
    "code with a backtick": ("<p><code>a`b</code></p>", "``a`b``"),
    "code that begins with a backtick": ("<p><code>`a</code></p>", "`` `a ``"),
    "code with a pipe": ("<p><code>a|b</code></p>", "`a|b`"),
    "code over lines": ("<p><code>a\n  b</code></p>", "`a b`"),
    "code beside code": ("<p><code>a</code><code>b</code></p>", "`ab`"),
    "empty code": ("<p>a <code> </code>b</p>", "a b"),
    "code that is a link": ('<p><a href="x"><code>f()</code></a></p>', "[`f()`](https://docs.example/guide/x)"),
    "a link in code": ('<p><code><a href="x">f()</a></code></p>', "[`f()`](https://docs.example/guide/x)"),
    "spans of a highlighter": (
        '<p><code class="docutils literal"><span class="pre">pip</span> <span class="pre">install</span></code></p>',
        "`pip install`",
    ),
    "line break": ("<p>a<br>b</p>", "a  \nb"),
    "white space": ("<p>  a \n\t b&nbsp;c  </p>", "a b c"),
    "lines of Japanese join without a space": (
        "<p>日本語の\n  文章です\nand English\nhere</p>",
        "日本語の文章です and English here",
    ),
    "text beside blocks": ("<div>a<p>b</p>c</div>", "a\n\nb\n\nc"),
    "spans between words": ("<p>a<span> </span>b<span>c</span></p>", "a bc"),
    "words that only the style keeps apart": ('<p><span class="name">id</span><span class="type">string</span></p>', "id string"),
    "paragraphs in emphasis, as in tag soup": ("<b><i><p>a</p><p>b</p></i></b>", "a\n\nb"),
    "words in spans that only the style keeps apart": (
        '<p><span class="name"><span>amount</span></span><span class="type">integer</span></p>',
        "amount integer",
    ),
    "parts of a word": ('<p><span class="a">dis</span>able <span>x</span><span>y</span></p>', "disable xy"),
    "comments": ("<p>a<!-- x -->b</p><!-- y -->", "ab"),
    "scripts and styles": (
        "<p>a<script>x()</script><style>p{}</style></p><script>y()</script><template><p>z</p></template><noscript>w</noscript>",
        "a",
    ),
    "forms": ("<form><label>Search</label><input value='x'><button>Go</button></form><p>a</p>", "a"),
    "a form around everything": ("<form><p>a</p><input></form>", "a"),
    "hidden": ("<p>a</p><p hidden>b</p><div style='display: none'>c</div><span class='sr-only'>d</span>", "a"),
    "quote in a quote": ("<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>", "> a\n>\n> > b"),
    "rule": ("<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"),
    "address": ("<address>a<br>b</address>", "a  \nb"),
    "unknown elements": ("<my-box><p>a</p></my-box><p><my-word>b</my-word></p>", "a\n\nb"),
    "relative link": ('<p><a href="../other.html#part">a b</a></p>', "[a b](https://docs.example/other.html#part)"),
    "link within the page": ('<p><a href="#part">a</a></p>', "[a](https://docs.example/guide/page.html#part)"),
    "link with parentheses": ('<p><a href="/a_(b)">a</a></p>', "[a](https://docs.example/a_%28b%29)"),
    "link with brackets in it": ('<p><a href="/x">a [b] ]</a></p>', "[a \\[b\\] \\]](https://docs.example/x)"),
    "link that is its address": ('<p><a href="https://a.example/">https://a.example/</a></p>', "<https://a.example/>"),
    "mail": ('<p><a href="mailto:a@b.example">a</a></p>', "[a](mailto:a@b.example)"),
    "script link is text": ('<p><a href="javascript:void(0)">a</a> <a href=" JavaScript:x">b</a></p>', "a b"),
    "empty link": ('<p>a <a href="/x"></a><a href="/y"> </a>b</p>', "a b"),
    "link without address": ('<p><a name="x">a</a></p>', "a"),
    "white space moves out of a link": ('<p>a<a href="/x"> b </a>c</p>', "a [b](https://docs.example/x) c"),
    "exclamation before a link": ('<p>a!<a href="/x">b</a></p>', "a\\![b](https://docs.example/x)"),
    "a card": ('<a href="/x"><h3>Start</h3><p>Read on</p></a>', "### [Start](https://docs.example/x)\n\nRead on"),
    "image": ('<p><img src="../i.png" alt="A [map]"></p>', "![A \\[map\\]](https://docs.example/i.png)"),
    "image that comes late": (
        '<p><img src="data:image/gif;base64,R0" data-src="/i.png" alt="a"></p>',
        "![a](https://docs.example/i.png)",
    ),
    "image without description": ('<p>a<img src="/i.png"><img src="/j.png" alt=""></p>', "a"),
    "image in a link": (
        '<p><a href="/x"><img src="/i.png" alt="a"></a></p>',
        "[![a](https://docs.example/i.png)](https://docs.example/x)",
    ),
    "picture": ('<picture><source srcset="/b.webp"><img src="/i.png" alt="a"></picture>', "![a](https://docs.example/i.png)"),
    "figure": (
        '<figure><img src="/i.png" alt="a"><figcaption>What it is</figcaption></figure>',
        "![a](https://docs.example/i.png)\n\n**What it is**",
    ),
    "drawing": ("<p>a <svg><title>t</title><text>x</text></svg>b</p>", "a b"),
    "video": ('<video controls><source src="/v.mp4">no video</video>', "<https://docs.example/v.mp4>"),
    "frame": ('<iframe src="https://v.example/1" title="A talk"></iframe>', "[A talk](https://v.example/1)"),
    "permalinks": ('<p>a<a class="headerlink" href="#a">¶</a> b <a href="#b">§</a></p>', "a b"),
    "icons by name": ('<p><i class="material-icons">home</i> a</p>', "a"),
    "zero width and control characters": ("<p>a\u200bb\u00adc\x07d\u202ee</p>", "abcde"),
}


@pytest.mark.parametrize("body, expected", LINES.values(), ids=LINES)
def test_a_line_is_written_as_a_reader_sees_it(body: str, expected: str) -> None:
    assert markdown(body) == expected


ESCAPES: dict[str, tuple[str, str]] = {
    "stars": ("*args and **kwargs", "\\*args and \\*\\*kwargs"),
    "a star between spaces is itself": ("2 * 3 * 4", "2 * 3 * 4"),
    "underscores": ("_private and __init__", "\\_private and \\_\\_init\\_\\_"),
    "underscores within words are themselves": ("snake_case_name", "snake_case_name"),
    "tags": ("List&lt;String&gt; and a < b", "List\\<String> and a < b"),
    "entities": ("&amp;amp; and AT&amp;T", "\\&amp; and AT&T"),
    "backticks": ("a `b`", "a \\`b\\`"),
    "backslash": ("C:\\Users and \\*", "C:\\Users and \\\\\\*"),
    "link": ("a[i](x)", "a[i\\](x)"),
    "brackets alone": ("a[i] = [1, 2]", "a[i] = [1, 2]"),
    "footnote": ("[^1]", "\\[^1]"),
    "definition of a link": ("[a]: b", "[a\\]: b"),
    "heading": ("# a", "\\# a"),
    "number sign without a space": ("#a", "#a"),
    "bullet": ("- a", "\\- a"),
    "plus": ("+ a", "\\+ a"),
    "dash in text": ("a - b", "a - b"),
    "number": ("1. a", "1\\. a"),
    "number in text": ("in 1. a", "in 1. a"),
    "year at the start": ("2024. The", "2024\\. The"),
    "quote": ("&gt; a", "\\> a"),
    "rule": ("---", "\\---"),
    "underline": ("a<br>===", "a  \n\\==="),
    "tildes": ("~~a~~ ~b", "\\~\\~a\\~\\~ ~b"),
    "fence of tildes": ("~~~", "\\~\\~\\~"),
    "a row under a row": ("a | b<br>--- | ---", "a | b  \n\\--- | ---"),
    "a mark of a callout": ("[!NOTE]", "\\[!NOTE]"),
    "dollar": ("$HOME and $5", "$HOME and $5"),
}


@pytest.mark.parametrize("text, expected", ESCAPES.values(), ids=ESCAPES)
def test_signs_are_escaped_where_markdown_would_read_them(text: str, expected: str) -> None:
    assert markdown(f"<p>{text}</p>") == expected


SIGNS = st.text(st.sampled_from("ab1 *_`[]()<>#+-.!&;\\~|=:\n\"'あ。"), min_size=1, max_size=40)


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


@given(SIGNS)
@example("a*b*c")
@example("1) a")
@example("* * *")
@example("[a]:b")
def test_text_is_read_back_as_it_was(text: str) -> None:
    assert read_back(markdown(f"<p>{_html(text)}</p>")) == " ".join(text.split())


@given(SIGNS, SIGNS, SIGNS)
@example("a]", "(b)", "c")
@example("a", "_b", "_c_")
@example("a", "b*", "c")
@example("a!", "b", "c")
@example("1", "\\ ", "1")
def test_text_around_a_link_and_emphasis_is_read_back_as_it_was(before: str, inner: str, after: str) -> None:
    body = (
        f"<p>{_html(before)}<a href='/x'>{_html(inner)}</a> <b>{_html(inner)}</b>{_html(after)} "
        f"<code>x</code> {_html(before)}</p>"
    )
    expected = f"{before}{inner} {inner}{after} x {before}"

    assert "".join(read_back(markdown(body)).split()) == "".join(expected.split())


@given(SIGNS, SIGNS)
def test_cells_of_a_table_are_read_back_as_they_were(left: str, right: str) -> None:
    written = markdown(
        f"<table><tr><th>a</th><th>b</th></tr><tr><td>{_html(left)}</td><td><code>{_html(right)}</code></td></tr></table>"
    )

    assert written.split("\n")[2].replace("\\|", "").count("|") == 3
    assert "".join(read_back(written).split()) == "".join(f"ab{left}{right}".split())


HEADINGS: dict[str, tuple[str, str, MarkdownHeading]] = {
    "own id": ('<h2 id="a">T</h2>', "## T", MarkdownHeading(2, "T", "a")),
    "Sphinx": (
        '<section id="a"><h1>T<a class="headerlink" href="#a" title="Link">¶</a></h1></section>',
        "# T",
        MarkdownHeading(1, "T", "a"),
    ),
    "VitePress": (
        '<h2 id="a" tabindex="-1">T <a class="header-anchor" href="#a" aria-label="Permalink to T">\u200b</a></h2>',
        "## T",
        MarkdownHeading(2, "T", "a"),
    ),
    "Docusaurus": (
        '<h2 class="anchor" id="a">T<a href="#a" class="hash-link" aria-label="Direct link to T">#</a></h2>',
        "## T",
        MarkdownHeading(2, "T", "a"),
    ),
    "mdBook": ('<h2 id="a"><a class="header" href="#a">T</a></h2>', "## T", MarkdownHeading(2, "T", "a")),
    "GitHub": (
        '<h2>T<a id="user-content-a" class="anchor" aria-hidden="true" href="#a">'
        '<span class="octicon octicon-link"></span></a></h2>',
        "## T",
        MarkdownHeading(2, "T", "user-content-a"),
    ),
    "name": ('<h2><a name="a"></a>T</h2>', "## T", MarkdownHeading(2, "T", "a")),
    "a permalink around the words": (
        '<h2><a class="anchor" href="#a">Title</a></h2>',
        "## Title",
        MarkdownHeading(2, "Title", "a"),
    ),
    "code": ("<h3><code>f(x)</code> <em>new</em></h3>", "### `f(x)` *new*", MarkdownHeading(3, "f(x) new", None)),
    "a link that leads away": ('<h2><a href="/x">T</a></h2>', "## [T](https://docs.example/x)", MarkdownHeading(2, "T", None)),
    "rustdoc": (
        '<h1 class="fqn"><span>Enum <a href="i">std</a>::<a href="#">Option</a></span>'
        '<button id="copy-path"><img src="c.svg" alt="Copy item path"></button></h1>',
        "# Enum std::Option",
        MarkdownHeading(1, "Enum std::Option", None),
    ),
    "line break": ("<h2>a<br>b</h2>", "## a b", MarkdownHeading(2, "a b", None)),
    "number sign at the end": ("<h2>a #</h2>", "## a \\#", MarkdownHeading(2, "a #", None)),
    "C#": ("<h2>C#</h2>", "## C#", MarkdownHeading(2, "C#", None)),
    "button in it": ("<h3><button>T</button></h3>", "### T", MarkdownHeading(3, "T", None)),
    "by role": ('<div role="heading" aria-level="3">T</div>', "### T", MarkdownHeading(3, "T", None)),
    "Doxygen": ('<div class="headertitle"><div class="title">T</div></div>', "# T", MarkdownHeading(1, "T", None)),
}


@pytest.mark.parametrize("body, expected, heading", HEADINGS.values(), ids=HEADINGS)
def test_a_heading_keeps_its_level_words_and_anchor_without_its_permalink(
    body: str, expected: str, heading: MarkdownHeading
) -> None:
    page = converted(body)

    assert page.text == expected + "\n"
    assert page.headings == (heading,)


def test_an_empty_heading_is_not_written() -> None:
    assert converted('<h2 id="x"><a class="headerlink" href="#x">¶</a></h2>').headings == ()


def test_the_title_is_written_when_the_page_has_no_first_heading() -> None:
    assert markdown("<h2>a</h2>", ConvertOptions(title="The *page*")) == "# The \\*page\\*\n\n## a"
    assert markdown("<h1>a</h1>", ConvertOptions(title="The page")) == "# a"


def test_links_are_told_once_each_without_fragments() -> None:
    page = converted('<p><a href="/x#1">a</a> <a href="/x#2">b</a> <a href="/y">c</a> <a href="mailto:x@y.example">d</a></p>')

    assert page.links == ("https://docs.example/x", "https://docs.example/y")


def test_links_can_be_rewritten() -> None:
    options = ConvertOptions(rewrite=lambda url: "page-2.md" if url.endswith("/x") else None)

    assert markdown('<p><a href="/x">a</a> <a href="/y">b</a></p>', options) == "[a](page-2.md) [b](https://docs.example/y)"


def test_images_without_description_are_kept_when_asked_for() -> None:
    page = converted('<p><img src="/i.png"></p>', ConvertOptions(decorative_images=True))

    assert (page.text, page.images) == ("![](https://docs.example/i.png)\n", 1)


def test_the_root_itself_may_have_a_form() -> None:
    assert markdown("") == ""
