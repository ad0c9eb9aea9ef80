"""For each site check a site that has exactly that wrong, and where; and sites that look like it and have not."""

from __future__ import annotations

from typing import NamedTuple

from tadoru.model.web import FailureKind
from tests.jobs.site_worlds import Link, Page, Resource, World, site, sitemap, words

MENU = ["/", "/a", "/b", "/c", "/d"]
SITE = "https://other.example"


class Case(NamedTuple):
    """A world, and the paths (or subjects) on which the check is found."""

    world: World
    where: set[str]


def _from(*targets: str | Link, also: dict[str, Page] | None = None, **around: object) -> World:
    """The usual site; the page /a links to these as well."""
    return site({"/a": Page(links=[*MENU, *targets]), **(also or {})}, **around)


def _edited(text: str, share: int) -> str:
    """The text with every so many-th word replaced."""
    return " ".join("other" + word if at % share == 0 else word for at, word in enumerate(text.split()))


_UNLINKED = Page(linked=False)
_LANGUAGES = {"en": "/a", "de": "/b"}
_FAST = {f"/{number}": Page(linked=number < 3) for number in range(24)}
TEXT = words("the same")
_ROBOTS = "/robots.txt"

TRIGGERS: dict[str, Case] = {
    "link-broken": Case(_from("/gone"), {"/a"}),
    "page-broken-linked": Case(_from("/silent", also={"/silent": Page(failure=FailureKind.REFUSED, linked=False)}), {"/silent"}),
    "link-to-redirect": Case(_from("/old", also={"/old": Page(redirect="/b", linked=False)}), {"/a"}),
    "link-external-broken": Case(_from(f"{SITE}/x", external={f"{SITE}/x": Page(status=404)}), {"/a"}),
    "link-external-redirect": Case(_from(f"{SITE}/x", external={f"{SITE}/x": Page(redirect=f"{SITE}/y")}), {"/a"}),
    "page-orphan": Case(site({"/lost": _UNLINKED}), {"/lost"}),
    "inlinks-nofollow-only": Case(
        _from(Link(to="/z", rel="nofollow"), also={"/z": _UNLINKED, "/b": Page(links=[*MENU, Link(to="/z", rel="ugc")])}), {"/z"}
    ),
    "inlinks-nofollow-mixed": Case(_from(Link(to="/b", rel="noopener nofollow")), {"/b"}),
    "inlinks-nonindexable-only": Case(
        site({"/a": Page(links=[*MENU, "/z"], noindex=True), "/b": Page(links=[*MENU, "/z"], canonical="/c"), "/z": _UNLINKED}),
        {"/z"},
    ),
    "inlinks-single": Case(_from("/z", also={"/z": _UNLINKED}), {"/z"}),
    "page-deep": Case(
        site({
            f"/{number}": Page(links=["/", f"/{number + 1}"] if number else ["/1"], linked=False) for number in range(7)
        } | {"/": Page(links=[*MENU, "/0"]), "/7": Page(linked=False)}),
        {"/5", "/6", "/7"},
    ),
    "link-broken-fragment": Case(
        _from(Link(to="/b", fragment="nowhere"), Link(to="/b", fragment="here"), also={"/b": Page(anchors=["here"])}), {"/a"}
    ),
    "redirect-chain": Case(
        _from("/1", also={"/1": Page(redirect="/2", linked=False), "/2": Page(redirect="/b", linked=False)}), {"/1"}
    ),
    "redirect-loop": Case(
        _from("/1", also={"/1": Page(redirect="/2", linked=False), "/2": Page(redirect="/1", linked=False)}), {"/1", "/2"}
    ),
    "redirect-to-error": Case(_from("/old", also={"/old": Page(redirect="/gone", linked=False)}), {"/old"}),
    "redirects-to-home": Case(
        _from(
            *[f"/shop/item-{number}" for number in range(10)],
            also={f"/shop/item-{number}": Page(redirect="/", linked=False) for number in range(10)},
        ),
        {"/"},
    ),
    "title-duplicate": Case(site({"/a": Page(title="Bread"), "/b": Page(title="Bread")}), {"/a", "/b"}),
    "description-duplicate": Case(site({"/a": Page(description="Bread"), "/b": Page(description="Bread")}), {"/a", "/b"}),
    "h1-duplicate": Case(site({"/a": Page(h1="Bread"), "/b": Page(h1="Bread")}), {"/a", "/b"}),
    "content-duplicate": Case(site({"/a": Page(text=TEXT), "/b": Page(text=TEXT)}), {"/a", "/b"}),
    "content-near-duplicate": Case(site({"/a": Page(text=TEXT), "/b": Page(text=f"{TEXT} and a few words more")}), {"/a", "/b"}),
    "url-duplicate-slash": Case(site({"/e": Page(text=TEXT), "/e/": Page(text=TEXT)}), {"/e", "/e/"}),
    "url-duplicate-case": Case(site({"/e": Page(text=TEXT), "/E": Page(text=TEXT)}), {"/e", "/E"}),
    "url-duplicate-parameters": Case(site({"/e": Page(text=TEXT), "/e?from=menu": Page(text=TEXT)}), {"/e", "/e?from=menu"}),
    "url-duplicate-index": Case(site({"/e/": Page(text=TEXT), "/e/index.html": Page(text=TEXT)}), {"/e/", "/e/index.html"}),
    "canonical-chain": Case(site({"/a": Page(canonical="/b"), "/b": Page(canonical="/c")}), {"/a"}),
    "canonical-loop": Case(site({"/a": Page(canonical="/b"), "/b": Page(canonical="/a")}), {"/a", "/b"}),
    "canonical-to-redirect": Case(site({"/a": Page(canonical="/old"), "/old": Page(redirect="/b")}), {"/a"}),
    "canonical-to-error": Case(site({"/a": Page(canonical="/gone"), "/gone": Page(status=404)}), {"/a"}),
    "canonical-to-nonindexable": Case(
        site({"/a": Page(canonical="/b"), "/b": Page(noindex=True), "/c": Page(canonical="/p"), "/p": Page(forbidden=True)}),
        {"/a", "/c"},
    ),
    "canonical-unlinked": Case(site({"/a": Page(canonical="/nowhere"), "/b": Page(canonical="/z"), "/z": _UNLINKED}), {"/a", "/b"}),
    "hreflang-missing-return": Case(site({"/a": Page(hreflang=_LANGUAGES), "/b": Page(hreflang={"de": "/b"})}), {"/a"}),
    "hreflang-inconsistent-language": Case(
        site({"/a": Page(hreflang=_LANGUAGES), "/b": Page(hreflang={"de-at": "/b", "en": "/a"})}), {"/a"}
    ),
    "hreflang-to-error": Case(site({"/a": Page(hreflang={"en": "/a", "de": "/gone"}), "/gone": Page(status=410)}), {"/a"}),
    "hreflang-to-redirect": Case(site({"/a": Page(hreflang={"en": "/a", "de": "/old"}), "/old": Page(redirect="/b")}), {"/a"}),
    "hreflang-to-noindex": Case(
        site({"/a": Page(hreflang=_LANGUAGES), "/b": Page(noindex=True, hreflang=_LANGUAGES)}), {"/a"}
    ),
    "hreflang-to-non-canonical": Case(
        site({"/a": Page(hreflang=_LANGUAGES), "/b": Page(canonical="/c", hreflang=_LANGUAGES)}), {"/a"}
    ),
    "hreflang-unlinked": Case(
        site({
            "/a": Page(hreflang={"en": "/a", "de": "/z"}), "/z": Page(hreflang={"en": "/a", "de": "/z"}, linked=False),
            "/b": Page(hreflang={"en": "/b", "de": "/nowhere"}),
        }),
        {"/a", "/b"},
    ),
    "pagination-to-error": Case(
        site({"/a": Page(next="/gone"), "/gone": Page(status=404), "/b": Page(prev="/old"), "/old": Page(redirect="/c")}),
        {"/a", "/b"},
    ),
    "pagination-loop": Case(
        site({"/a": Page(next="/b", prev="/b"), "/b": Page(next="/a", prev="/a"), "/c": Page(next="/a")}), {"/a", "/b"}
    ),
    "pagination-sequence-error": Case(site({"/a": Page(next="/b"), "/b": Page(prev="/c")}), {"/a"}),
    "pagination-unlinked": Case(
        site({"/a": Page(next="/z"), "/z": Page(prev="/a", linked=False), "/b": Page(prev="/nowhere")}), {"/a", "/b"}
    ),
    "pagination-nonindexable": Case(site({"/a": Page(next="/b"), "/b": Page(prev="/a", noindex=True)}), {"/b"}),
    "sitemap-missing": Case(
        site(sitemaps=[sitemap(status="absent", named_by="guess", status_code=404, urls=0)], entries={}), {"/sitemap.xml"}
    ),
    "sitemap-not-in-robots": Case(site(sitemaps=[sitemap(named_by="guess")]), {"/sitemap.xml"}),
    "sitemap-unreadable": Case(
        site(sitemaps=[sitemap(), sitemap("/more.xml", "answered with status 500", status="failed", status_code=500)]),
        {"/more.xml"},
    ),
    "sitemap-problems": Case(site(sitemaps=[sitemap("/sitemap.xml", "URLs not a URL: 1, the first is 'x'.")]), {"/sitemap.xml"}),
    "sitemap-too-many-urls": Case(
        site(sitemaps=[sitemap("/sitemap.xml", "More than 50000 URLs: the rest is not read.")]), {"/sitemap.xml"}
    ),
    "sitemap-too-large": Case(site(sitemaps=[sitemap(bytes=52_428_801)]), {"/sitemap.xml"}),
    "sitemap-lastmod-invalid": Case(
        site(entries={"/sitemap.xml": ["/", ("/a", "yesterday"), ("/b", "2023-01-02"), "/c", "/d"]}), {"/sitemap.xml"}
    ),
    "sitemap-lastmod-future": Case(
        site(entries={"/sitemap.xml": ["/", ("/a", "2031-01-01"), ("/b", "2023-11-15T09:00:00Z"), "/c", "/d"]}), {"/sitemap.xml"}
    ),
    "sitemap-other-host": Case(site(entries={"/sitemap.xml": [*MENU, f"{SITE}/x"]}), {"/sitemap.xml"}),
    "sitemap-url-broken": Case(site({"/e": Page(status=404)}, entries={"/sitemap.xml": [*MENU, "/e"]}), {"/e"}),
    "sitemap-url-redirected": Case(site({"/e": Page(redirect="/a")}, entries={"/sitemap.xml": [*MENU, "/e"]}), {"/e"}),
    "sitemap-url-noindex": Case(site({"/e": Page(noindex=True)}, entries={"/sitemap.xml": [*MENU, "/e"]}), {"/e"}),
    "sitemap-url-canonicalised": Case(site({"/e": Page(canonical="/a")}, entries={"/sitemap.xml": [*MENU, "/e"]}), {"/e"}),
    "sitemap-url-blocked": Case(site({"/e": Page(forbidden=True)}, entries={"/sitemap.xml": [*MENU, "/e"]}), {"/e"}),
    "sitemap-url-in-several": Case(
        site(sitemaps=[sitemap(), sitemap("/more.xml")], entries={"/sitemap.xml": MENU, "/more.xml": ["/a"]}), {"/a"}
    ),
    "sitemap-page-missing": Case(site(entries={"/sitemap.xml": ["/", "/a", "/b", "/c"]}), {"/d"}),
    "image-broken": Case(site({"/a": Page(resources=["/x.png"])}, resources={"/x.png": Resource(status=404)}), {"/a"}),
    "resource-broken": Case(
        site({"/a": Page(resources=["/x.js"])}, resources={"/x.js": Resource(kind="script", failure=FailureKind.NETWORK)}), {"/a"}
    ),
    "resource-redirected": Case(
        site({"/a": Page(resources=["/x.png"])}, resources={"/x.png": Resource(final="https://a.example/y.png")}), {"/a"}
    ),
    "image-too-large": Case(site({"/a": Page(resources=["/x.png"])}, resources={"/x.png": Resource(length=100_001)}), {"/a"}),
    "resource-content-type": Case(
        site(
            {"/a": Page(resources=["/x.js"]), "/b": Page(resources=["/x.png"])},
            resources={"/x.js": Resource(kind="script", type="text/html"), "/x.png": Resource(type="text/html; charset=utf-8")},
        ),
        {"/a", "/b"},
    ),
    "site-ttfb-slow": Case(site({path: Page(ttfb_ms=900.0) for path in _FAST}), {"/"}),
    "response-slow-for-site": Case(site({**_FAST, "/a": Page(ttfb_ms=1_200.0)}), {"/a"}),
    "page-large-for-site": Case(site({**_FAST, "/a": Page(size=600_000)}), {"/a"}),
    "site-noindex": Case(site({path: Page(noindex=True) for path in MENU}), {"/"}),
    "robots-txt-missing": Case(site(robots=(404, None, "")), {_ROBOTS}),
    "robots-txt-unavailable": Case(site(robots=(503, None, "")), {_ROBOTS}),
    "robots-txt-blocks-all": Case(site(robots=(200, None, "User-agent: *\nDisallow: /\n")), {_ROBOTS}),
    "site-http-and-https": Case(site({"http://a.example/a": Page()}), {"/"}),
    "site-www-and-bare": Case(site({"https://www.a.example/a": Page()}), {"/"}),
    "site-mixed-protocols": Case(site({"http://a.example/old": Page(redirect="/a")}), {"/"}),
    "site-soft-404": Case(site({f"/x/{number}": Page(text="We have nothing here.") for number in range(10)}), {"/"}),
}

SILENT: dict[str, tuple[str, World]] = {
    "a page that refuses us is not broken": ("link-broken", _from("/members", also={"/members": Page(status=403, linked=False)})),
    "a page that robots.txt forbids is not broken": ("link-broken", _from("/p", also={"/p": Page(forbidden=True)})),
    "a page that is too large to read is not broken": (
        "link-broken", _from("/big", also={"/big": Page(failure=FailureKind.TOO_LARGE, linked=False)}),
    ),
    "a page nobody asked for is not broken": ("link-broken", site(unfinished=True)),
    "a temporary redirect is meant to be linked to": (
        "link-to-redirect", _from("/out", also={"/out": Page(redirect="/b", status=302, linked=False)}),
    ),
    "an external site that refuses us is not broken": (
        "link-external-broken", _from(f"{SITE}/x", external={f"{SITE}/x": Page(status=429)}),
    ),
    "an external link that was not tried": ("link-external-broken", _from(f"{SITE}/x")),
    "an orphan may be linked from a page that waits": ("page-orphan", site({"/lost": _UNLINKED}, unfinished=True)),
    "an orphan may be linked from a page that was left out": ("page-orphan", site({"/lost": _UNLINKED}, skipped="/2020/01/01")),
    "an orphan that is not to be found is none": ("page-orphan", site({"/lost": Page(noindex=True, linked=False)})),
    "a page behind a redirect is no orphan": (
        "page-orphan", _from("/old", also={"/old": Page(redirect="/z", linked=False), "/z": _UNLINKED}),
    ),
    "one link that is followed is enough": (
        "inlinks-nofollow-only", _from(Link(to="/z", rel="nofollow"), "/z", also={"/z": _UNLINKED}),
    ),
    "another link may be on a page that waits": (
        "inlinks-single", _from("/z", also={"/z": _UNLINKED}, unfinished=True),
    ),
    "one indexable page is enough": (
        "inlinks-nonindexable-only", site({"/a": Page(links=[*MENU, "/z"], noindex=True), "/b": Page(links=[*MENU, "/z"]),
                                           "/z": _UNLINKED}),
    ),
    "places of a page that nobody noted": ("link-broken-fragment", _from(Link(to="/b", fragment="nowhere"))),
    "fragments for scripts, for text search and for the top": (
        "link-broken-fragment",
        _from(
            *[Link(to="/b", fragment=one) for one in ("!/route", "/route", ":~:text=x", "a=1", "top", "Top")],
            also={"/b": Page(anchors=["here"])},
        ),
    ),
    "an id with escapes is meant by its letters": (
        "link-broken-fragment", _from(Link(to="/b", fragment="é"), also={"/b": Page(anchors=["%C3%A9"])}),
    ),
    "one redirect is no chain": ("redirect-chain", _from("/old", also={"/old": Page(redirect="/b", linked=False)})),
    "a redirect to a page that refuses us": (
        "redirect-to-error", _from("/in", also={"/in": Page(redirect="/login"), "/login": Page(status=401)}),
    ),
    "a few redirects to the start": (
        "redirects-to-home", _from(*[f"/shop/item-{n}" for n in range(9)],
                                   also={f"/shop/item-{n}": Page(redirect="/", linked=False) for n in range(9)}),
    ),
    "other names of the start redirect to it": (
        "redirects-to-home",
        site({path: Page(redirect="/") for path in (
            "/index.html", "/index.php", "/home", "/en", "/de/", "/default.aspx", "/en/index.html", "/fr", "/ja", "/it", "/es",
        )}),
    ),
    "titles of pages that are not to be found": ("title-duplicate", site({"/a": Page(title="x"), "/b": Page(title="x", noindex=True)})),
    "titles of one page under two names": ("title-duplicate", site({"/a": Page(title="x"), "/b": Page(title="x", canonical="/a")})),
    "titles in two languages": ("title-duplicate", site({"/a": Page(title="x"), "/b": Page(title="x", language="ja")})),
    "titles of translations": (
        "title-duplicate", site({"/a": Page(title="x", hreflang=_LANGUAGES), "/b": Page(title="x", hreflang=_LANGUAGES)}),
    ),
    "titles of the pages of a series": (
        "title-duplicate", site({"/a": Page(title="x", next="/b"), "/b": Page(title="x", prev="/a")}),
    ),
    "two pages without a title": ("title-duplicate", site({"/a": Page(type="application/pdf"), "/b": Page(type="application/pdf")})),
    "copies that are translations": (
        "content-duplicate", site({"/a": Page(text=TEXT, hreflang=_LANGUAGES), "/b": Page(text=TEXT, hreflang=_LANGUAGES)}),
    ),
    "shells that a script will fill": ("content-duplicate", site({"/a": Page(text="Loading"), "/b": Page(text="Loading")})),
    "copies under another spelling are called so": (
        "content-duplicate", site({"/e": Page(text=TEXT), "/e/": Page(text=TEXT), "/E": Page(text=TEXT), "/e?x=1": Page(text=TEXT)}),
    ),
    "copies are not near": ("content-near-duplicate", site({"/a": Page(text=TEXT), "/b": Page(text=TEXT)})),
    "half a text in common is not near": (
        "content-near-duplicate", site({"/a": Page(text=TEXT), "/b": Page(text=_edited(TEXT, 6))}),
    ),
    "translations are not near": (
        "content-near-duplicate",
        site({"/a": Page(text=TEXT, hreflang=_LANGUAGES), "/b": Page(text=f"{TEXT} and more", hreflang=_LANGUAGES)}),
    ),
    "a canonical on another site": ("canonical-unlinked", site({"/a": Page(canonical=f"{SITE}/a")})),
    "a canonical that a page which waits may link to": (
        "canonical-unlinked", site({"/a": Page(canonical="/nowhere")}, unfinished=True),
    ),
    "a canonical that was not asked for is no error": ("canonical-to-error", site({"/a": Page(canonical="/nowhere")})),
    "translations that name each other": (
        "hreflang-missing-return", site({"/a": Page(hreflang=_LANGUAGES), "/b": Page(hreflang=_LANGUAGES)}),
    ),
    "a translation on another site": ("hreflang-missing-return", site({"/a": Page(hreflang={"en": "/a", "de": f"{SITE}/a"})})),
    "a choice of languages owes nobody a link": ("hreflang-missing-return", site({"/a": Page(hreflang={"en": "/a", "x-default": "/"})})),
    "a translation that is broken can not link back": (
        "hreflang-missing-return", site({"/a": Page(hreflang=_LANGUAGES), "/b": Page(status=404)}),
    ),
    "a translation that says nothing of itself": (
        "hreflang-inconsistent-language", site({"/a": Page(hreflang=_LANGUAGES), "/b": Page(hreflang={"en": "/a"})}),
    ),
    "a translation that a page which waits may link to": (
        "hreflang-unlinked", site({"/b": Page(hreflang={"en": "/b", "de": "/nowhere"})}, unfinished=True),
    ),
    "a series with an end": (
        "pagination-loop", site({"/a": Page(next="/b"), "/b": Page(prev="/a", next="/c"), "/c": Page(prev="/b")}),
    ),
    "a series in order": (
        "pagination-sequence-error", site({"/a": Page(next="/b"), "/b": Page(prev="/a", next="/c"), "/c": Page(prev="/b")}),
    ),
    "sitemaps nobody looked for": ("sitemap-missing", site(sitemaps=[], entries={})),
    "an error page where a sitemap was guessed": (
        "sitemap-unreadable",
        site(sitemaps=[sitemap("/sitemap.xml", "Not a sitemap: the root element is <html>.", named_by="guess", urls=0)], entries={}),
    ),
    "a sitemap of 50,000 URLs": ("sitemap-too-many-urls", site(sitemaps=[sitemap(urls=50_000)])),
    "a date of today in a time zone ahead": (
        "sitemap-lastmod-future", site(entries={"/sitemap.xml": [*MENU[1:], ("/", "2023-11-15T12:00:00+09:00")]}),
    ),
    "the dates of a feed": (
        "sitemap-lastmod-invalid",
        site(sitemaps=[sitemap(kind="feed")], entries={"/sitemap.xml": [*MENU[1:], ("/", "Tue, 14 Nov 2023 10:00:00 GMT")]}),
    ),
    "a page that a sitemap which could not be read may name": (
        "sitemap-page-missing",
        site(sitemaps=[sitemap(), sitemap("/more.xml", "answered with status 500", status="failed")],
             entries={"/sitemap.xml": ["/", "/a"]}),
    ),
    "a page with parameters need be in no sitemap": (
        "sitemap-page-missing", site({"/d?sort=up": Page()}, entries={"/sitemap.xml": MENU}),
    ),
    "an image that refuses us": (
        "image-broken", site({"/a": Page(resources=["/x.png"])}, resources={"/x.png": Resource(status=403)}),
    ),
    "a script sent as what it is": (
        "resource-content-type",
        site({"/a": Page(resources=["/x.js"])}, resources={"/x.js": Resource(kind="script", type="application/x-javascript")}),
    ),
    "a small site is not measured against itself": ("response-slow-for-site", site({"/a": Page(ttfb_ms=5_000.0)})),
    "one page in twenty is slow": ("site-ttfb-slow", site({**_FAST, "/a": Page(ttfb_ms=5_000.0)})),
    "half of the pages are noindex": ("site-noindex", site({"/a": Page(noindex=True), "/b": Page(noindex=True)})),
    "robots.txt that nobody asked for": ("robots-txt-missing", site(robots=None)),
    "robots.txt that shuts out others": (
        "robots-txt-blocks-all", site(robots=(200, None, "User-agent: BadBot\nDisallow: /\n\nUser-agent: *\nAllow: /\n")),
    ),
    "robots.txt that lets search engines in": (
        "robots-txt-blocks-all", site(robots=(200, None, "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n")),
    ),
    "http redirects to https": ("site-http-and-https", site({"http://a.example/a": Page(redirect="/a")})),
    "www redirects to the bare name": ("site-www-and-bare", site({"https://www.a.example/a": Page(redirect="/a")})),
    "copies, but the site knows 404": (
        "site-soft-404", site({**{f"/x/{n}": Page(text="Nothing.") for n in range(10)}, "/gone": Page(status=404)}),
    ),
    "copies that differ by their parameters": (
        "site-soft-404", site({f"/x?page={n}": Page(text="Nothing.") for n in range(12)}),
    ),
}  # fmt: skip
