"""What is left out of a page by what it consists of, and what used to be lost with it."""

from __future__ import annotations

import pytest

from tadoru.jobs.docs.job import DocPage, read_doc_page
from tadoru.rules.url import UrlResolver

TEXT = "The kettle is filled with water, closed and put on the fire until it sings."


def read_page(body: str, title: str = "Tea") -> DocPage:
    page = f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
    return read_doc_page(page.encode(), "text/html; charset=utf-8", "https://docs.example/guide/tea.html", UrlResolver())


def content_of(content: str) -> str:
    text = read_page(f"<main><h1>Tea</h1>{content}</main>").markdown.text
    return text.removeprefix("# Tea\n").strip()


FURNITURE = {
    "a table of steps": (
        '<table width="100%"><tr><td><a href="a.html">&lt; Previous</a></td><td><a href="index.html">Up: Manual</a></td>'
        '<td><a href="b.html">Next &gt;</a></td></tr></table>'
    ),
    "a table of steps in brackets": (
        '<table><tr><td>[ <a href="a.html">&lt;&lt; Rests</a> ]</td><td>[<a href="i.html">Top</a>][<a href="x.html">Index</a>]'
        '</td><td>[ <a href="b.html">Chords &gt;&gt;</a> ]</td></tr></table>'
    ),
    "a row of steps": (
        '<div class="n"><span><a href="/">top</a> <a href="t.html">contents</a></span> <span>← prev <a href="u.html">up</a> '
        '<a href="b.html">next →</a></span></div>'
    ),
    "a row of steps in brackets": (
        '<div>&nbsp;<a href="0.html">[Top of Book]</a>&nbsp; <a href="1.html">[Previous Chapter]</a>&nbsp; '
        '<a href="3.html">[Next Chapter]</a></div>'
    ),
    "words before the links of a row": (
        '<div><b>Next:</b> <a href="b.html">Pots</a> <b>Up:</b> <a href="i.html">Tea</a> <b>Previous:</b> '
        '<a href="a.html">Cups</a></div>'
    ),
    "breadcrumbs that end with the title": '<div><a href="/">Home</a> › <a href="/guide">Guide</a> › <span>Tea</span></div>',
    "numbers of chapters": (
        '<div><span>Goto Chapter: </span><a href="0.html">Top</a> <a href="1.html">1</a> <a href="2.html">2</a> '
        '<a href="3.html">3</a></div>'
    ),
    "an arrow of signs": '<a class="p" href="a.html">&lt;-previous</a><a class="n" href="b.html">next-&gt;</a>',
    "a sign between links that were removed": (
        '<p class="navi"><a class="prevPage" href="a.html">Boiling</a> <span>◦</span> '
        '<a class="nextPage" href="b.html">Pouring</a></p>'
    ),
    "a menu of languages": (
        '<div class="toplang"><p><span>Available Languages: </span><a href="../de/t.html" hreflang="de">&nbsp;de&nbsp;</a> |\n'
        '<a href="../fr/t.html" hreflang="fr">&nbsp;fr&nbsp;</a></p></div>'
    ),
    "initials": '<div class="avatars"><div class="avatar">JD</div><div class="avatar">MK</div></div>',
    "other articles": '<h2>Related articles</h2><ul><li><a href="a.html">Pots</a></li><li><a href="b.html">Lids</a></li></ul>',
    "a call to action": '<div class="cta-box"><h3>Boil today</h3><a class="button" href="/signup">Sign up for free</a></div>',
    "a banner about the version": (
        '<div class="x1"><p>You are viewing documentation for an older version. <a href="/latest">View the latest</a>.</p></div>'
    ),
    "a warning about the version": (
        '<div class="admonition warning"><p>This is the documentation for an old version (2.1). The latest is 3.</p></div>'
    ),
    "a heading emptied of its section": '<h2>Feedback</h2><div class="feedback">Was this page helpful?</div>',
}


@pytest.mark.parametrize("furniture", FURNITURE.values(), ids=FURNITURE)
def test_furniture_is_not_content(furniture: str) -> None:
    assert content_of(f"<p>{TEXT}</p>{furniture}") == TEXT


CONTENT = {
    "a frame with a film": (
        '<iframe src="https://www.youtube.com/embed/abc" title="Boiling"></iframe>',
        "[Boiling](https://www.youtube.com/embed/abc)",
    ),
    "a film": ('<video controls><source src="/v.mp4"></video>', "<https://docs.example/v.mp4>"),
    "an image with sizes only": (
        '<p><img alt="A pot" srcset="/a.png 1x, /b.png 2x"></p>',
        "![A pot](https://docs.example/a.png)",
    ),
    "an image that a script loads": (
        '<p><img alt="Cup" src="data:image/gif;base64,R0"><noscript><img alt="Cup" src="/cup.png"></noscript></p>',
        "![Cup](https://docs.example/cup.png)",
    ),
    "an image for browsers without scripts": (
        '<p><noscript><img alt="Cup" src="/cup.png"></noscript></p>',
        "![Cup](https://docs.example/cup.png)",
    ),
    "a picture": (
        '<picture><source srcset="/tea.webp"><img alt="Tea" src=""></picture>',
        "![Tea](https://docs.example/tea.webp)",
    ),
    "code of Docutils": (
        '<p>The <span class="docutils literal"><span class="pre">--boil</span></span> option.</p>',
        "The `--boil` option.",
    ),
    "a sentence of two links": (
        '<p>Go <a href="up.html">up</a> or <a href="home.html">home</a>.</p>',
        "Go [up](https://docs.example/guide/up.html) or [home](https://docs.example/guide/home.html).",
    ),
    "a sentence about versions": ("<p>This is supported by older versions too.</p>", "This is supported by older versions too."),
    "a table of links": (
        '<table><tr><td><a href="a.html">Pots</a></td><td><a href="b.html">Lids</a></td></tr></table>',
        "| --- | --- |\n| [Pots](https://docs.example/guide/a.html) | [Lids](https://docs.example/guide/b.html) |",
    ),
    "inherited members whose links are tooltips": (
        '<div><a href="Pot.html#lid" class="tooltip"><span>lid : Lid</span>lid</a>, '
        '<a href="Pot.html#pour" class="tooltip"><span>pour(n)</span>pour</a></div>',
        "[lid](https://docs.example/guide/Pot.html#lid), [pour](https://docs.example/guide/Pot.html#pour)",
    ),
    "the details of a method": (
        '<div class="entry-detail" id="boil"><div class="signature">def <strong>boil</strong>(time : Int32) : Nil '
        '<a class="method-permalink" href="#boil">#</a></div><div class="doc"><p>Boils.</p></div><br>'
        '<div>[<a href="https://github.com/x/y/blob/1/a.cr#L1">View source</a>]</div></div>',
        "#### `def boil(time : Int32) : Nil`\n\nBoils.",
    ),
}


@pytest.mark.parametrize("content, expected", CONTENT.values(), ids=CONTENT)
def test_content_is_not_lost_as_furniture(content: str, expected: str) -> None:
    assert content_of(f"<p>{TEXT}</p>{content}").endswith(expected)


def test_a_line_below_the_title_is_content_whatever_its_name() -> None:
    assert content_of(f'<p class="tagline">Tea for all.</p><p>{TEXT}</p>') == f"Tea for all.\n\n{TEXT}"
    assert content_of(f'<p>{TEXT}</p><p class="tagline">Tea for all.</p>') == TEXT


def test_an_article_in_an_element_that_was_never_closed_is_read_all_the_same() -> None:
    article = "".join(f"<p>{number}. {TEXT}</p>" for number in range(40))
    page = read_page(f'<nav><a href="/">Home</a><div class="menu"><h1>Tea</h1>{article}')

    assert page.markdown.text.count(TEXT) == 40
    assert page.main.confidence < 0.5
    assert page.main.reason.startswith("the whole page")
