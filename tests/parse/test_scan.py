"""The scanner against the tree: on the pages it takes, both say the same; what it cannot know for sure it leaves to the tree."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.links.job import scan_tree
from tadoru.model.web import LinkKind
from tadoru.parse.html import HtmlDocument
from tadoru.parse.links import extract_targets
from tadoru.parse.scan import LinkScanner, ScannedLinks
from tadoru.rules.url import UrlResolver

PAGE = "https://example.com/docs/guide/page.html?x=1"


def scanned(markup: str) -> ScannedLinks | None:
    return LinkScanner(UrlResolver()).scan(markup.encode(), PAGE)


def tree(markup: str) -> ScannedLinks:
    document = HtmlDocument.parse(markup.encode(), "text/html; charset=utf-8")
    found = extract_targets(document, PAGE, UrlResolver())
    return ScannedLinks(found.links, document.title(), found.malformed)


ALL = frozenset(LinkKind)


def scanned_all(markup: str) -> ScannedLinks | None:
    found = LinkScanner(UrlResolver()).scan(markup.encode(), PAGE, elements=True)
    return None if found is None else with_order(found)


def tree_all(markup: str) -> ScannedLinks:
    document = HtmlDocument.parse(markup.encode(), "text/html; charset=utf-8")
    return with_order(scan_tree(document, PAGE, UrlResolver(), ALL))


def with_order(found: ScannedLinks) -> ScannedLinks:
    """Wrong references, with fragments or without, in another order than that of the tree: each stands for itself."""
    malformed = [link._replace(position=0, href=link.href.partition("#")[0]) for link in found.malformed]
    return found._replace(malformed=sorted(malformed))


PLAIN = {
    "mistyped schemes": '<a href="htp://a.example/">A</a><a href="http//b.example">B</a><a href="https:/c.example#x">C</a>',
    "no URL": '<a href="http://[::1">A</a><a href="//[x/">B</a><a href="mailto:x@y.example">C</a><a href="http://[::1">A</a>',
    "empty references": '<a href="">A</a><a href="#">B</a><a href=\'\'>C</a><a name="d">D</a><a href="x">E</a>',
    "an empty reference in another spelling": "<a href>A</a><a href=' '>B</a>",
    "an empty reference without text": '<a href=""></a><a href=""><img src="x" alt="An image"></a>',
    "an ordinary link": '<a href="a.html">A</a>',
    "attributes before and after": '<a class="x y" id=q data-n="1" href="a.html" title="t">A</a>',
    "single quotes": "<a href='a.html'>A</a>",
    "no quotes": "<a href=a.html>A</a>",
    "spaces around the sign": '<a href = "a.html">A</a>',
    "no href": '<a name="top">A</a><a>B</a><a href="a.html">C</a>',
    "href within a value": '<a title="see href=no.html" href="a.html">A</a>',
    "a name that begins with href": '<a hreflang="de" href="a.html">A</a>',
    "the first of two": '<a href="a.html" href="b.html">A</a>',
    "new lines in the tag": '<a\n  class="x"\n  href="a.html"\n>A</a>',
    "rel": '<a rel="NoFollow  ugc" href="a.html">A</a>',
    "markup in the text": '<a href="a.html"><b>bold</b> and <i>not</i></a>',
    "an image with alt": '<a href="a.html"><img src="i.png" alt="An  image"></a>',
    "entities in text": '<a href="a.html">Fish &amp; Chips &eacute; &copy 1</a>',
    "entities in the reference": '<a href="?a=1&amp;b=2">A</a><a href="?a=1&copy=2">B</a><a href="a&#64;b.html">C</a>',
    "an escaped hash": '<a href="a.html&#35;x">A</a><a href="a.html">B</a>',
    "jumps": '<a href="#x">A</a><a href="">B</a><a href="a.html#x">C</a><a href="a.html#y">D</a>',
    "spaces before a fragment": '<a href="a.html #x">A</a><a href="a.html ">B</a><a href="b.html #y" rel="next">C</a>',
    "not for crawlers": '<a href="mailto:a@b.c">A</a><a href="javascript:x()">B</a><a href="a.html">C</a>',
    "a comment": '<!-- <a href="no.html">no</a> --><a href="a.html">A</a>',
    "a comment within a link": '<a href="a.html">one<!-- two -->three</a>',
    "a script": '<script>document.write(\'<a href="no.html">no</a>\')</script><a href="a.html">A</a>',
    "a style and a text area": '<style>a > b {}</style><textarea>&lt;a</textarea><a href="a.html">A</a>',
    "an svg": '<svg><title>Icon</title><path d="M0 0"/></svg><a href="a.html">A</a>',
    "noscript": '<noscript><a href="a.html">A</a></noscript>',
    "an area": '<map><area href="a.html" alt="North"></map>',
    "a title": "<title>Fish &amp;\n Chips</title><a href='a.html'>A</a>",
    "doctype and instruction": '<!doctype html><?xml version="1.0"?><a href="a.html">A</a>',
    "non-ASCII": '<a href="日本.html">日本　語</a>',
    "the same link twice": '<a href="a.html">A</a><a href="a.html">B</a><a href="./a.html">C</a>',
    "a query of the page": '<a href="?page=2">next</a>',
    "the first of two in capitals": '<a HREF="a.html" href="b.html">A</a>',
    "rel in capitals": '<a href="a.html" REL="Next">A</a>',
    "rel before": '<a rel="next" href="a.html">A</a>',
    "a quote in a value without quotes": '<a class=k"href="no.html">A</a><a href="a.html">B</a>',
    "signs in values": '<p title="a=b"><a href="a.html?q=1" title="b=c">A</a>',
    "no space between attributes": '<a class="k"href="a.html">A</a>',
    "an abbreviation in the text": '<a href="a.html"><abbr>WWW</abbr> page</a>',
    "a sign in the text": '<a href="a.html">4 < 5 > 3</a>',
    "a link without end": '<a href="a.html">A<a href="b.html">B',
    "an area in a link": '<a href="a.html">A<area href="b.html" alt="B"></a>',
    "code in the text": "<p>x = \"1\", y = '2', it's</p><a href='a.html'>A</a>",
    "names that begin like special ones": '<basefont><metadata><title-bar><a href="a.html">A</a></title-bar>',
    "a section of characters in a script": '<script>//<![CDATA[\n"<a href=no.html>"//]]></script><a href="a.html">A</a>',
    "a harmless meta": '<meta http-equiv="X-UA-Compatible" content="IE=edge"><a href="a.html">A</a>',
    "a script in a drawing": '<svg><script>a()</script></svg><script>"<b>"</script><a href="a.html">A</a>',
    "a text of entities and markup": f'<a href="a.html">{"&amp;<b>b</b> " * 300}</a>',
}


@pytest.mark.parametrize("markup", PLAIN.values(), ids=PLAIN.keys())
def test_a_plain_page_scans_to_what_its_tree_says(markup: str) -> None:
    page = f"<html><head><title>T</title></head><body>{markup}</body></html>" if "<title" not in markup else markup
    assert scanned(page) == tree(page)


ELEMENTS = {
    "images": '<img src="a.png" alt="A  b"><img srcset="b.png 1x, c.png 2x"><input type=image src=d.png>',
    "scripts and styles": '<script src=a.js></script><link rel="stylesheet" href=b.css><style>p{background:url(c.png)}</style>',
    "media": "<video src=a.mp4 poster=b.jpg><source src=c.mp4><track src=d.vtt></video><audio src=e.mp3></audio><embed src=f>",
    "frames and forms": '<iframe src="a.html"></iframe><form action="b" method=POST></form><form></form>',
    "metadata": '<meta property="og:image" content="a.png"><meta name=twitter:image content=b.png><meta name=x content=c.png>',
    "relations": '<link rel="Canonical" href="/x"><link rel="alternate" hreflang=de href="/de"><link href="/no">',
    "styles in attributes": "<p style='background: url(\"a.png\")'><i style=\"content:url(b.png)\"><b style='color:red'>",
    "wrong references": '<img src="htp://a/"><a href="http//b">B</a><script src="http://[::1"></script>',
    "entities": '<img src="a?b=1&amp;c=2" alt="x &amp; y"><a href="a.html&#35;f&amp;g">A</a><a href="b#c&amp;d">B</a>',
    "fragments": '<a href="a#b%20c">A</a><a href="a#d "> A</a><a title="#1" href="a">B</a><a id="#1" href="a#e">C</a>',
    "links to the page itself": '<a href="page.html?x=1">A</a><a href="#x">B</a><a href="page.html?x=1#y">D</a>',
    "links with the same target": '<a href="a">A</a><a href="a">B</a><a href="a#c">A</a><a href="a" rel=nofollow>A</a>',
}


@pytest.mark.parametrize("markup", [*PLAIN.values(), *ELEMENTS.values()], ids=[*PLAIN, *ELEMENTS])
def test_every_reference_of_a_plain_page_is_scanned_as_its_tree_says(markup: str) -> None:
    page = f"<html><head><title>T</title></head><body>{markup}</body></html>" if "<title" not in markup else markup
    found = scanned_all(page)
    assert found is not None
    assert found == tree_all(page)


NOT_PLAIN = {
    "markup in an attribute": "<div data-x=\"<a href='no.html'>\"></div>",
    "text and markup in an attribute": '<div title="a > b <a href=no.html>">x</div>',
    "a base": '<base href="/other/"><a href="a.html">A</a>',
    "a template": '<template><a href="no.html">no</a></template>',
    "a refresh": '<meta http-equiv="refresh" content="0; url=/b">',
    "tags in capitals": '<A HREF="a.html">A</A>',
    "a comment without end": '<!-- <a href="no.html">',
    "an odd comment": '<!--> <a href="a.html">A</a> -->',
    "a script without end": "<script><a href=no.html>",
    "a script in a comment in a script": "<script><!--<script></script>--></script>",
    "a frameset": "<frameset><frame src=x></frameset>",
    "a NUL": "<a href=a.html>\0</a>",
    "a vertical tab": '<a\vhref="no.html">A</a>',
    "CDATA": "<svg><![CDATA[<a href=no.html>]]></svg>",
    "a tag in a tag": '<p <a href="no.html">no</a>',
    "a tag in an end tag": '</p <a href="no.html">no</a>',
    "a tag in what is no end tag": '</ <a href="no.html">no</a>',
    "a tag after a slash": '<p/<a href="no.html">no</a>',
    "a tag as a value": '<p class=<a href="no.html">no</a>',
    "a stray quote": '<p "<a href="no.html">">',
    "a quote that a value without quotes hides": '<p x=y="a b="c> <a href=no.html>">',
    "values that end in other tags": '<p title="a> b <a href=no.html">c</a>',
    "single quotes that end in other tags": "<p title='a> b <a href=no.html'>c</a>",
    "a comment in a tag": '<p <!-- > <a href="a.html">A</a> -->',
    "a script in a tag": '<p <script><a href="a.html">A</a></script>',
    "a comment behind a sign": '<<!-- -->a href="no.html">no</a>',
    "a script behind a sign": '<<script></script>a href="no.html">no</a>',
    "a refresh in disguise": '<meta http-equiv="&#114;efresh" content="0; url=/b">',
    "a refresh in capitals": '<meta content="0; url=/b" HTTP-EQUIV=REFRESH>',
    "markup in a meta": '<meta content="a > <a href=no.html>">',
    "a script in a drawing that is markup there": '<svg><script><a href="a.html">A</a></script></svg>',
    "markup in an end tag": '<script></script x="> <a href=no.html>">',
    "a script in a formula": '<math><script><a href="a.html">A</a></script></math>',
}


@pytest.mark.parametrize("markup", NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_what_takes_a_parser_is_left_to_the_parser(markup: str) -> None:
    assert scanned(markup) is None


def test_an_anchor_remembered_from_another_page_of_the_folder_means_the_same_there() -> None:
    scanner = LinkScanner(UrlResolver())
    body = b'<a href="a.html">A</a><a href="?q=1">B</a><a href="/root.html">C</a><a href="https:?q=2">D</a>'
    for name in ("one.html", "two.html"):
        result = scanner.scan(body, f"https://example.com/docs/{name}")
        assert result is not None
        assert [link.url for link in result.links] == [
            "https://example.com/docs/a.html",
            f"https://example.com/docs/{name}?q=1",
            "https://example.com/root.html",
            f"https://example.com/docs/{name}?q=2",
        ]
    elsewhere = scanner.scan(body, "https://example.com/other/one.html")
    assert elsewhere is not None
    assert elsewhere.links[0].url == "https://example.com/other/a.html"


NAMES = st.sampled_from(
    ["a.html", "b/", "../c", "/d?x=1&amp;y=2", "#e", "", "f.html#g", "https://other.example/h", "mailto:i@j", "?k"]
)
TEXTS = st.sampled_from(
    ["one", "two &amp; three", " ", "4 &lt; 5", "<b>six</b>", "<img src=x alt=seven>", "x = &quot;y&quot;", 'z="']
)
MORE = st.sampled_from(["", " class='k'", ' rel="next"', " id=1"])
ANCHORS = st.builds(
    lambda name, text, quote, more: f"<a{more} href={quote}{name}{quote}>{text}</a>",
    NAMES,
    TEXTS,
    st.sampled_from(["'", '"']),
    MORE,
)
ODDITIES = [
    "text",
    "a < b",
    "a > b",
    "<br>",
    "<hr/>",
    '<div title="q">',
    "<div title='q=r'>",
    "</div>",
    "<title>T</title>",
    "</p>",
]
PIECES = st.one_of(
    ANCHORS,
    ANCHORS.map(lambda anchor: f"<p>{anchor}</p>"),
    ANCHORS.map(lambda anchor: f"<!-- {anchor} -->"),
    ANCHORS.map(lambda anchor: f"<script>x('{anchor}')</script>"),
    ANCHORS.map(lambda anchor: f"<div><ul><li>{anchor}<li>{anchor}</ul></div>"),
    st.sampled_from([*ODDITIES, "<svg><title>S</title></svg>"]),
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_whatever_the_scanner_takes_it_reads_as_the_tree_does(markup: str) -> None:
    found = scanned(f"<title>First</title>{markup}")
    if found is not None:
        assert found == tree(f"<title>First</title>{markup}")


@given(st.lists(st.one_of(PIECES, st.sampled_from([*ELEMENTS.values()])), max_size=12).map("".join))
def test_whatever_the_scanner_takes_it_reads_every_reference_as_the_tree_does(markup: str) -> None:
    found = scanned_all(f"<title>First</title>{markup}")
    if found is not None:
        assert found == tree_all(f"<title>First</title>{markup}")


SCRAPS = [
    *"<>/=\"' aAhref!-?b&;#x\n\v",
    "<a ",
    "href",
    "</a>",
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "<p",
    "title",
    "</",
    '="',
    "='",
]
WHOLE = [
    '<a href="u">',
    "<a href=v>",
    "<a class='k' href='w'>",
    '<p title="',
    '">',
    "<svg>",
    "</svg>",
    "<style>",
    "</style>",
    "<?",
    "<!",
]
ODD_MARKUP = st.lists(st.sampled_from([*SCRAPS, *WHOLE]), max_size=30).map("".join)


@given(ODD_MARKUP)
def test_from_no_bytes_does_the_scanner_read_other_pages_than_the_tree(markup: str) -> None:
    found = scanned(markup)
    if found is not None:
        assert [link.url for link in found.links] == [link.url for link in tree(markup).links]


@pytest.mark.parametrize(
    "piece", ["<svg><title>x</title>", "<script>1<2</script>", "<a href='x'>", "<!---->", "='\"", "<p title='=\"'>"]
)
def test_the_time_for_a_page_grows_with_its_length_only(piece: str) -> None:
    """A hundred thousand pieces take a second at most; if each cost a look at all before it, they would take minutes."""
    began = process_time()
    scanned(f"<svg>{piece * 100_000}")
    assert process_time() - began < 10
