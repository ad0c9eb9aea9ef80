"""What is taken out of the text of a page, and what must never be."""

from __future__ import annotations

import pytest

from tadoru.jobs.docs.content import find_main_content
from tadoru.jobs.docs.content.score import NameRating, rate_names
from tadoru.parse.html import HtmlDocument

TEXT = "A kettle boils one litre of water in three minutes, and it switches itself off when the water boils over the edge."


def text_of_main(inside: str) -> str:
    page = f"<title>T</title><main><h1>Boil</h1><p>{TEXT}</p>{inside}<p>{TEXT}</p></main>"
    main = find_main_content(HtmlDocument.parse(page.encode(), "text/html; charset=utf-8"), "https://a.test/")
    text = " ".join(main.root.text(separator=" ").split())
    assert text.startswith(f"Boil {TEXT}")
    assert text.endswith(TEXT)
    return text.removeprefix(f"Boil {TEXT}").removesuffix(TEXT).strip()


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param("<nav>x <a href=/a>y</a></nav>", id="nav"),
        pytest.param("<div role=navigation>x</div>", id="role navigation"),
        pytest.param("<ul class=breadcrumb><li>x</li></ul>", id="breadcrumb"),
        pytest.param("<div class='tableOfContents_bqdL'><a href='#a'>x</a></div>", id="table of contents, hashed name"),
        pytest.param(
            "<ul><li><a href='#a'>x</a><li><a href='#b'>y</a><li><a href='#c'>z</a></ul>", id="table of contents, unnamed"
        ),
        pytest.param("<h2>On this page</h2>", id="on this page"),
        pytest.param("<div><a href='https://g.test/e'>Edit this page on GitHub</a></div>", id="edit link"),
        pytest.param("<div class=x1><p>Was this page helpful?</p></div>", id="feedback by its words"),
        pytest.param("<div class=feedback-widget><p>Tell us</p><button>Yes</button></div>", id="feedback by its name"),
        pytest.param("<div class='cookie-banner'><p>We use cookies.</p></div>", id="cookie banner"),
        pytest.param("<button class=copy>Copy</button>", id="copy button"),
        pytest.param("<a class=headerlink href='#x'>¶</a>", id="permalink"),
        pytest.param("<a href='#x'>#</a>", id="permalink without a name"),
        pytest.param("<a href='#'>[Top]</a> <a href='#top'>↑</a>", id="up again"),
        pytest.param("<div class='pagination-nav'><a href=/b>Next page</a></div>", id="pagination"),
        pytest.param("<a href=/b><span>Next</span><span>Make tea</span></a>", id="next page, unnamed"),
        pytest.param("<div class=share-buttons><a href=/s>Post</a></div>", id="share"),
        pytest.param("<section id=comments><p>First!</p></section>", id="comments"),
        pytest.param("<div class=newsletter><p>Get mail</p></div>", id="newsletter"),
        pytest.param("<footer><p>Made by us</p></footer>", id="footer"),
        pytest.param("<form role=search>Find</form>", id="search"),
        pytest.param("<form><label>Find</label><input></form>", id="search form"),
        pytest.param("<div class=version-picker><a href=/1>1.0</a></div>", id="version picker"),
        pytest.param("<select><option>1.0</option></select>", id="select"),
        pytest.param("<p hidden>twice</p>", id="hidden"),
        pytest.param("<p style='display: none'>twice</p>", id="display none"),
        pytest.param(" <div class=x1 hidden>twice</div> ", id="hidden, with a class that no neighbour has"),
        pytest.param("<div aria-hidden=true>twice</div>", id="aria-hidden"),
        pytest.param("<div class='hidden note-copy'>twice</div>", id="hidden by class"),
        pytest.param("<span class=sr-only>Skip</span>", id="for screen readers"),
        pytest.param("<script>x()</script><style>p{}</style><noscript>x</noscript>", id="scripts"),
        pytest.param("<svg><text>x</text></svg>", id="drawing"),
        pytest.param("<p>Last updated on 3 May 2026</p>", id="last updated"),
        pytest.param(
            "<p><i>This page was last modified on <a href=/h>2026-01-20</a> UTC</i></p>", id="last modified, a sentence"
        ),
        pytest.param("<p>このページは役に立ちましたか？</p>", id="feedback in Japanese"),
        pytest.param("<div class=footer><hr><p>Copyright © 2020-2026 Kettle AB. All rights reserved.</p></div>", id="copyright"),
        pytest.param("<div class='tagline wide'>Small. Fast.<br>Hot.</div>", id="slogan"),
        pytest.param(
            "<a href='https://g.test/k/blob/main/lid.nim#L18'>Source</a> <a href='https://g.test/k/edit/main/lid.nim'>Edit</a>",
            id="lines of a repository",
        ),
        pytest.param("<p><a href=/a>Previous</a> <a href=/b>Next</a></p>", id="steps side by side"),
        pytest.param("<div class='mobileonly'><h3>Links</h3><ul><li><a href=/a>Tea</a></ul></div>", id="again for small screens"),
        pytest.param(
            "<p>Table of contents</p><ul><li><a href='#a'>x</a><li><a href='#b'>y</a><li><a href='#c'>z</a></ul>",
            id="table of contents below its name",
        ),
    ],
)
def test_furniture_goes(markup: str) -> None:
    assert text_of_main(markup) == ""


@pytest.mark.parametrize(
    "markup, text",
    [
        pytest.param("<div class='admonition note'><p>Hot!</p></div>", "Hot!", id="admonition"),
        pytest.param("<aside class='starlight-aside'><p>Hot!</p></aside>", "Hot!", id="aside with an admonition"),
        pytest.param("<aside><p>Hot!</p></aside>", "Hot!", id="aside with a paragraph"),
        pytest.param("<div role=tabpanel hidden><p>Gas</p></div>", "Gas", id="hidden tab panel"),
        pytest.param(
            "<div class='tab-pane'>Gas</div><div class='tab-pane' style='display:none'>Mains</div>", "Gas Mains", id="panes"
        ),
        pytest.param("<div class=p1>Gas</div>\n<div class='p1 hidden'>Mains</div>", "Gas Mains", id="panels by their likeness"),
        pytest.param("<div class=p1 hidden>Gas</div>\n<div class=p1>Mains</div>", "Gas Mains", id="panels, the first hidden"),
        pytest.param("<div role=tablist><button role=tab>Gas</button></div>", "Gas", id="label of a tab"),
        pytest.param("<h2><button aria-expanded=false>Why?</button></h2>", "Why?", id="heading that unfolds"),
        pytest.param("<h2><a class=header-anchor href='#why'>Why?</a></h2>", "Why?", id="heading that links to itself"),
        pytest.param(
            "<div class=section id=cookies><h2>Cookies</h2><p>Bake.</p></div>", "Cookies Bake.", id="section with a telling id"
        ),
        pytest.param("<section id=search><h2>Search</h2><p>Type.</p></section>", "Search Type.", id="section about search"),
        pytest.param("<pre class=hidden>kettle on</pre>", "kettle on", id="code with a class"),
        pytest.param(
            "<p>Edit this page when the kettle changes.</p>", "Edit this page when the kettle changes.", id="a sentence"
        ),
        pytest.param("<ul><li><a href='/a'>A</a><li><a href='/b'>B</a><li><a href='/c'>C</a></ul>", "A B C", id="list of pages"),
        pytest.param("<p>See <a href='#lid'>the lid</a>.</p>", "See the lid .", id="link within the page"),
        pytest.param("<p>See <a href='css#top'>top</a>.</p>", "See top .", id="link to what is called so"),
        pytest.param(
            "<div class=api_metadata><span>Added in: v2</span></div>", "Added in: v2", id="since when there is something"
        ),
        pytest.param("<p hidden=until-found>Found</p>", "Found", id="hidden until found"),
        pytest.param("<div class='hidden lg:block'>Wide</div>", "Wide", id="shown on wide screens"),
        pytest.param("<script type='math/tex'>x^2</script>", "x^2", id="formula in a script"),
        pytest.param("<blockquote><p>Boil!</p><footer>Cook</footer></blockquote>", "Boil! Cook", id="footer of a quote"),
        pytest.param("<details><summary>More</summary><p>Steam</p></details>", "More Steam", id="details"),
        pytest.param("<div class='grid-cols-sidebar-content-toc'>Steam</div>", "Steam", id="name that only contains a word"),
        pytest.param("<a id=old-name></a><p>Steam</p>", "Steam", id="anchor without text"),
        pytest.param(
            "<h2><a class=toc-backref href='#id1'>Boil</a><a class=headerlink href='#boil'>¶</a></h2>",
            "Boil",
            id="back to the contents",
        ),
        pytest.param(
            "<h2><a class=header-anchor href='#why'>Why?</a><a class=headerlink href='#why'>¶</a></h2>",
            "Why?",
            id="heading that links to itself, with a sign",
        ),
        pytest.param(
            "<h3 class=code-header>impl <a href=copy.html>Copy</a> for <a href=k.html>Kettle</a></h3>",
            "impl Copy for Kettle",
            id="a name in a signature",
        ),
        pytest.param(
            "<h4 class=code-header>fn <a href='i.html#next'>next</a>(&amp;self)</h4>",
            "fn next (&self)",
            id="a method called next",
        ),
        pytest.param(
            "<div class=member-signature><span class=t>void</span> <span class=n>copy</span>(Tea)</div>",
            "void copy (Tea)",
            id="a method called copy",
        ),
        pytest.param("<tt><span>=</span><span>copy</span></tt>", "= copy", id="an operator called copy"),
        pytest.param("<h3>copy</h3><p>Pours twice.</p>", "copy Pours twice.", id="a heading called copy"),
        pytest.param("<p>Read <a href=/n>next</a> how to fill it.</p>", "Read next how to fill it.", id="a link in a sentence"),
        pytest.param(
            "<p>One of <a href='#lid'>lid</a> and <a href='#link'>link</a> objects.</p>",
            "One of lid and link objects.",
            id="a thing called link",
        ),
        pytest.param(
            "<p>It is hot after one of these:</p><ul>"
            "<li><a href='#a'>boil()</a><li><a href='#b'>heat()</a><li><a href='#c'>tea()</a></ul>",
            "It is hot after one of these: boil() heat() tea()",
            id="a list that ends a sentence",
        ),
        pytest.param(
            "<p>It is hot after one of these:</p><table><tr><td><ul><li><a href='#a'>a()</a><li><a href='#b'>b()</a>"
            "<li><a href='#c'>c()</a></ul></td></tr></table>",
            "It is hot after one of these: a() b() c()",
            id="such a list in columns",
        ),
        pytest.param(
            "<p>It is what boil() is plus</p><ul><li><a href='#a'>a()</a><li><a href='#b'>b()</a><li><a href='#c'>c()</a></ul>",
            "It is what boil() is plus a() b() c()",
            id="such a list without a colon",
        ),
        pytest.param(
            "<div class=footer><p>See the chapter on lids.</p></div>",
            "See the chapter on lids.",
            id="a footer that says something",
        ),
    ],
)
def test_text_stays(markup: str, text: str) -> None:
    assert text_of_main(markup) == text


def test_a_heading_that_links_to_itself_becomes_plain_and_keeps_what_is_in_it() -> None:
    page = f"<main><h2 id=on><!--1--> <a class=heading-anchor href='#on'>The <code>on</code> switch</a></h2><p>{TEXT}</p></main>"
    heading = find_main_content(HtmlDocument.parse(page.encode()), "https://a.test/").root.css_first("h2")
    assert heading is not None
    assert heading.html == '<h2 id="on"><!--1--> The <code>on</code> switch</h2>'


def test_a_heading_keeps_a_link_to_another_page() -> None:
    page = f"<main><h2><a href='/tea#green'>Green tea</a></h2><p>{TEXT}</p></main>"
    assert find_main_content(HtmlDocument.parse(page.encode()), "https://a.test/").root.css_first("h2 a") is not None


def test_an_anchor_that_other_pages_link_to_stays() -> None:
    main = find_main_content(HtmlDocument.parse(f"<main><a id=old></a><p>{TEXT}</p></main>".encode()), "https://a.test/")
    assert main.root.css_first("a#old") is not None


@pytest.mark.parametrize("name", ["search", "cookie-banner", "toc", "nav", "feedback"])
def test_a_part_that_holds_most_of_the_text_stays_whatever_its_name(name: str) -> None:
    page = f"<main><h1>Boil</h1><div class={name}><p>{TEXT}</p><p>{TEXT}</p></div></main>"
    main = find_main_content(HtmlDocument.parse(page.encode()), "https://a.test/")
    assert main.root.text().count("litre") == 2


def test_of_two_pictures_the_one_for_dark_screens_goes_and_icons_too() -> None:
    page = f"""<main><p>{TEXT}</p><img alt="A kettle on a stove" src="a.dark.png"><img alt="A kettle on a stove" src="a.png">
    <img alt="Tea icon" src="i.png"><img alt="A cup of tea" src="c.png"><img alt="Dot" src=d.png width=16 height=16>
    <img alt="build passing" src="https://img.shields.io/b.svg"><img alt="[T logo]" src=l.png>
    <a href=/up><img alt="[Up]" src=u.png></a></main>"""
    main = find_main_content(HtmlDocument.parse(page.encode()), "https://a.test/")
    assert [image.attributes["src"] for image in main.root.css("img")] == ["a.png", "c.png"]


def test_the_picture_of_a_figure_stays_with_its_title() -> None:
    page = (
        f"<main><p>{TEXT}</p><div class=figure><div class=figure-contents><div class=mediaobject><img alt='A kettle on a stove' "
        f"src=k.png></div></div><p class=title>Figure 1. A kettle</p></div><p>{TEXT}</p></main>"
    )
    main = find_main_content(HtmlDocument.parse(page.encode()), "https://a.test/")

    assert [image.attributes["src"] for image in main.root.css("img")] == ["k.png"]


@pytest.mark.parametrize(
    "before, stays",
    [
        pytest.param("<p>It comes with one of the following lids:</p>", True, id="a sentence"),
        pytest.param("<p>Contents:</p>", False, id="the title of a table of contents"),
        pytest.param("<h3>Lids</h3>", True, id="a heading"),
        pytest.param("<h3>In this chapter</h3>", False, id="the heading of a table of contents"),
        pytest.param("<p>It comes with one of several lids.</p>", False, id="a sentence that is complete"),
    ],
)
def test_a_list_of_places_that_a_sentence_announces_is_part_of_it(before: str, stays: bool) -> None:
    listing = "<ul><li><a href='#a'>Iron</a></li><li><a href='#b'>Brass</a></li><li><a href='#c'>Tin</a></li></ul>"

    assert ("Iron Brass Tin" in text_of_main(f"{before}\n{listing}")) is stays


@pytest.mark.parametrize(
    "line, words",
    [
        pytest.param(
            "<dl><dt><a href=c>COPY</a> — moves data between tables</dt></dl>", "COPY — moves data between tables", id="term"
        ),
        pytest.param(
            "<p>Before you <a href=e>edit this page</a>, ask the cook.</p>", "Before you edit this page , ask the cook.", id="p"
        ),
        pytest.param("<p><a href=a>Previous</a> | <a href=b>Next</a></p>", "", id="a row of links"),
        pytest.param("<p><a href='#'>Copy</a></p>", "", id="a button"),
    ],
)
def test_a_link_in_a_sentence_is_a_word_of_it(line: str, words: str) -> None:
    assert text_of_main(line) == words


@pytest.mark.parametrize(
    "names, verdict",
    [
        ("toc", NameRating.STRONG),
        ("page-toc", NameRating.STRONG),
        ("tableOfContents_bqdL", NameRating.STRONG),
        ("pagination-nav__link", NameRating.STRONG),
        ("has-toc", NameRating.NEUTRAL),
        ("page-has-toc", NameRating.NEUTRAL),
        ("lg:grid-cols-[sidebar]", NameRating.NEUTRAL),
        ("admonition sidebar", NameRating.KEEP),
        ("sidebar", NameRating.WEAK),
        ("figure-contents", NameRating.KEEP),
        ("prose", NameRating.NEUTRAL),
        ("", NameRating.NEUTRAL),
        ("nav" * 1000, NameRating.NEUTRAL),
    ],
)
def test_names_are_judged(names: str, verdict: NameRating) -> None:
    assert rate_names(names) is verdict
