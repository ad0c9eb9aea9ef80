"""Sites that look as if they had something wrong which a site check is for, and have not."""

from __future__ import annotations

from tadoru.model.web import FailureKind
from tests.jobs.sample_sites import Link, Page, Resource, SampleSite, site, sitemap
from tests.jobs.site_triggers import FAST, LANGUAGES, MENU, SITE, TEXT, UNLINKED, linking


def _edited(text: str, share: int) -> str:
    """The text with every so many-th word replaced."""
    return " ".join("other" + word if at % share == 0 else word for at, word in enumerate(text.split()))


SILENT: dict[str, tuple[str, SampleSite]] = {
    "a page that refuses us is not broken": (
        "link-broken",
        linking("/members", also={"/members": Page(status=403, linked=False)}),
    ),
    "a page that robots.txt forbids is not broken": ("link-broken", linking("/p", also={"/p": Page(forbidden=True)})),
    "a page that is too large to read is not broken": (
        "link-broken",
        linking("/big", also={"/big": Page(failure=FailureKind.TOO_LARGE, linked=False)}),
    ),
    "a page nobody asked for is not broken": ("link-broken", site(unfinished=True)),
    "a temporary redirect is meant to be linked to": (
        "link-to-redirect",
        linking("/out", also={"/out": Page(redirect="/b", status=302, linked=False)}),
    ),
    "an external site that refuses us is not broken": (
        "link-external-broken",
        linking(f"{SITE}/x", external={f"{SITE}/x": Page(status=429)}),
    ),
    "an external link that was not tried": ("link-external-broken", linking(f"{SITE}/x")),
    "an orphan may be linked from a page that waits": ("page-orphan", site({"/lost": UNLINKED}, unfinished=True)),
    "an orphan may be linked from a page that was left out": ("page-orphan", site({"/lost": UNLINKED}, skipped="/2020/01/01")),
    "an orphan that is not to be found is none": ("page-orphan", site({"/lost": Page(noindex=True, linked=False)})),
    "a page behind a redirect is no orphan": (
        "page-orphan",
        linking("/old", also={"/old": Page(redirect="/z", linked=False), "/z": UNLINKED}),
    ),
    "one link that is followed is enough": (
        "inlinks-nofollow-only",
        linking(Link(to="/z", rel="nofollow"), "/z", also={"/z": UNLINKED}),
    ),
    "another link may be on a page that waits": (
        "inlinks-single",
        linking("/z", also={"/z": UNLINKED}, unfinished=True),
    ),
    "one indexable page is enough": (
        "inlinks-nonindexable-only",
        site({"/a": Page(links=[*MENU, "/z"], noindex=True), "/b": Page(links=[*MENU, "/z"]), "/z": UNLINKED}),
    ),
    "one indexable page is enough, whether or not it vouches for its links": (
        "inlinks-nonindexable-only",
        site(
            {
                "/a": Page(links=[*MENU, "/z"], noindex=True),
                "/b": Page(links=[*MENU, "/z"], nofollow=True),
                "/z": UNLINKED,
            }
        ),
    ),
    "places of a page that nobody noted": ("link-broken-fragment", linking(Link(to="/b", fragment="nowhere"))),
    "fragments for scripts, for text search and for the top": (
        "link-broken-fragment",
        linking(
            *[Link(to="/b", fragment=one) for one in ("!/route", "/route", ":~:text=x", "a=1", "top", "Top")],
            also={"/b": Page(anchors=["here"])},
        ),
    ),
    "an id with escapes is meant by its letters": (
        "link-broken-fragment",
        linking(Link(to="/b", fragment="é"), also={"/b": Page(anchors=["%C3%A9"])}),
    ),
    "one redirect is no chain": ("redirect-chain", linking("/old", also={"/old": Page(redirect="/b", linked=False)})),
    "a redirect to a page that refuses us": (
        "redirect-to-error",
        linking("/in", also={"/in": Page(redirect="/login"), "/login": Page(status=401)}),
    ),
    "a few redirects to the start": (
        "redirects-to-home",
        linking(
            *[f"/shop/item-{n}" for n in range(9)], also={f"/shop/item-{n}": Page(redirect="/", linked=False) for n in range(9)}
        ),
    ),
    "other names of the start redirect to it": (
        "redirects-to-home",
        site(
            {
                path: Page(redirect="/")
                for path in (
                    "/index.html",
                    "/index.php",
                    "/home",
                    "/en",
                    "/de/",
                    "/default.aspx",
                    "/en/index.html",
                    "/fr",
                    "/ja",
                    "/it",
                    "/es",
                )
            }
        ),
    ),
    "titles of pages that are not to be found": (
        "title-duplicate",
        site({"/a": Page(title="x"), "/b": Page(title="x", noindex=True)}),
    ),
    "titles of one page under two names": (
        "title-duplicate",
        site({"/a": Page(title="x"), "/b": Page(title="x", canonical="/a")}),
    ),
    "titles in two languages": ("title-duplicate", site({"/a": Page(title="x"), "/b": Page(title="x", language="ja")})),
    "titles of translations": (
        "title-duplicate",
        site({"/a": Page(title="x", hreflang=LANGUAGES), "/b": Page(title="x", hreflang=LANGUAGES)}),
    ),
    "titles of the pages of a series": (
        "title-duplicate",
        site(
            {
                "/a": Page(title="x", next="/a/page/2"),
                "/a/page/2": Page(title="x", prev="/a", next="/a/page/3"),
                "/a/page/3": Page(title="x", prev="/a/page/2"),
            }
        ),
    ),
    "titles of the pages of a series by parameter": (
        "title-duplicate",
        site({"/a": Page(title="x", next="/a?page=2"), "/a?page=2": Page(title="x", prev="/a")}),
    ),
    "a later page of a list that no sitemap names": (
        "sitemap-page-missing",
        site({"/a": Page(next="/a/2"), "/a/2": Page(prev="/a")}, entries={"/sitemap.xml": MENU}),
    ),
    "two pages without a title": (
        "title-duplicate",
        site({"/a": Page(type="application/pdf"), "/b": Page(type="application/pdf")}),
    ),
    "copies that are translations": (
        "content-duplicate",
        site({"/a": Page(text=TEXT, hreflang=LANGUAGES), "/b": Page(text=TEXT, hreflang=LANGUAGES)}),
    ),
    "shells that a script will fill": ("content-duplicate", site({"/a": Page(text="Loading"), "/b": Page(text="Loading")})),
    "copies under another spelling are called so": (
        "content-duplicate",
        site({"/e": Page(text=TEXT), "/e/": Page(text=TEXT), "/E": Page(text=TEXT), "/e?x=1": Page(text=TEXT)}),
    ),
    "copies are not near": ("content-near-duplicate", site({"/a": Page(text=TEXT), "/b": Page(text=TEXT)})),
    "half a text in common is not near": (
        "content-near-duplicate",
        site({"/a": Page(text=TEXT), "/b": Page(text=_edited(TEXT, 6))}),
    ),
    "translations are not near": (
        "content-near-duplicate",
        site({"/a": Page(text=TEXT, hreflang=LANGUAGES), "/b": Page(text=f"{TEXT} and more", hreflang=LANGUAGES)}),
    ),
    "a canonical on another site": ("canonical-unlinked", site({"/a": Page(canonical=f"{SITE}/a")})),
    "a canonical that a page which waits may link to": (
        "canonical-unlinked",
        site({"/a": Page(canonical="/nowhere")}, unfinished=True),
    ),
    "a canonical that was not asked for is no error": ("canonical-to-error", site({"/a": Page(canonical="/nowhere")})),
    "translations that name each other": (
        "hreflang-missing-return",
        site({"/a": Page(hreflang=LANGUAGES), "/b": Page(hreflang=LANGUAGES)}),
    ),
    "a translation on another site": ("hreflang-missing-return", site({"/a": Page(hreflang={"en": "/a", "de": f"{SITE}/a"})})),
    "a choice of languages owes nobody a link": (
        "hreflang-missing-return",
        site({"/a": Page(hreflang={"en": "/a", "x-default": "/"})}),
    ),
    "a translation that is broken cannot link back": (
        "hreflang-missing-return",
        site({"/a": Page(hreflang=LANGUAGES), "/b": Page(status=404)}),
    ),
    "a translation that is not to be found need not link back": (
        "hreflang-missing-return",
        site({"/a": Page(hreflang=LANGUAGES), "/b": Page(noindex=True, hreflang=LANGUAGES)}),
    ),
    "a translation that says nothing of itself": (
        "hreflang-inconsistent-language",
        site({"/a": Page(hreflang=LANGUAGES), "/b": Page(hreflang={"en": "/a"})}),
    ),
    "a translation that a page which waits may link to": (
        "hreflang-unlinked",
        site({"/b": Page(hreflang={"en": "/b", "de": "/nowhere"})}, unfinished=True),
    ),
    "a series with an end": (
        "pagination-loop",
        site({"/a": Page(next="/b"), "/b": Page(prev="/a", next="/c"), "/c": Page(prev="/b")}),
    ),
    "a series in order": (
        "pagination-sequence-error",
        site({"/a": Page(next="/b"), "/b": Page(prev="/a", next="/c"), "/c": Page(prev="/b")}),
    ),
    "sitemaps nobody looked for": ("sitemap-missing", site(sitemaps=[], entries={})),
    "an error page where a sitemap was guessed": (
        "sitemap-unreadable",
        site(
            sitemaps=[sitemap("/sitemap.xml", "Not a sitemap: the root element is <html>.", named_by="guess", urls=0)], entries={}
        ),
    ),
    "a sitemap of 50,000 URLs": ("sitemap-too-many-urls", site(sitemaps=[sitemap(urls=50_000)])),
    "a date of today in a time zone ahead": (
        "sitemap-lastmod-future",
        site(entries={"/sitemap.xml": [*MENU[1:], ("/", "2023-11-15T12:00:00+09:00")]}),
    ),
    "the dates of a feed": (
        "sitemap-lastmod-invalid",
        site(sitemaps=[sitemap(kind="feed")], entries={"/sitemap.xml": [*MENU[1:], ("/", "Tue, 14 Nov 2023 10:00:00 GMT")]}),
    ),
    "a page that a sitemap which could not be read may name": (
        "sitemap-page-missing",
        site(
            sitemaps=[sitemap(), sitemap("/more.xml", "answered with status 500", status="failed")],
            entries={"/sitemap.xml": ["/", "/a"]},
        ),
    ),
    "a page with parameters need be in no sitemap": (
        "sitemap-page-missing",
        site({"/d?sort=up": Page()}, entries={"/sitemap.xml": MENU}),
    ),
    "an image that refuses us": (
        "image-broken",
        site({"/a": Page(resources=["/x.png"])}, resources={"/x.png": Resource(status=403)}),
    ),
    "a script sent as what it is": (
        "resource-content-type",
        site({"/a": Page(resources=["/x.js"])}, resources={"/x.js": Resource(kind="script", type="application/x-javascript")}),
    ),
    "a small site is not measured against itself": ("response-slow-for-site", site({"/a": Page(ttfb_ms=5_000.0)})),
    "one page in twenty is slow": ("site-ttfb-slow", site({**FAST, "/a": Page(ttfb_ms=5_000.0)})),
    "half of the pages are noindex": ("site-noindex", site({"/a": Page(noindex=True), "/b": Page(noindex=True)})),
    "robots.txt that nobody asked for": ("robots-txt-missing", site(robots=None)),
    "robots.txt that shuts out others": (
        "robots-txt-blocks-all",
        site(robots=(200, None, "User-agent: BadBot\nDisallow: /\n\nUser-agent: *\nAllow: /\n")),
    ),
    "robots.txt that lets search engines in": (
        "robots-txt-blocks-all",
        site(robots=(200, None, "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n")),
    ),
    "http redirects to https": ("site-http-and-https", site({"http://a.example/a": Page(redirect="/a")})),
    "www redirects to the bare name": ("site-www-and-bare", site({"https://www.a.example/a": Page(redirect="/a")})),
    "copies, but the site knows 404": (
        "site-soft-404",
        site({**{f"/x/{n}": Page(text=TEXT) for n in range(10)}, "/gone": Page(status=404)}),
    ),
    "copies that differ by their parameters": (
        "site-soft-404",
        site({f"/x?page={n}": Page(text=TEXT) for n in range(12)}),
    ),
    "shells that a script will fill are no answer": (
        "site-soft-404",
        site({f"/x/{number}": Page(text="Loading") for number in range(12)}),
    ),
    "a page in a sitemap and in a feed": (
        "sitemap-url-in-several",
        site(sitemaps=[sitemap(), sitemap("/feed", kind="feed")], entries={"/sitemap.xml": MENU, "/feed": ["/a"]}),
    ),
    "a feed is not meant to name every page": (
        "sitemap-page-missing",
        site(sitemaps=[sitemap("/feed", kind="feed")], entries={"/feed": ["/a"]}),
    ),
    "a sitemap that two others name": (
        "sitemap-problems",
        site(
            sitemaps=[
                sitemap("/sitemap.xml", "https://a.example/more.xml is named more than once, or by itself; it is read once.")
            ]
        ),
    ),
    "a limit of ours is no problem of theirs": (
        "sitemap-problems",
        site(sitemaps=[sitemap("/sitemap.xml", "More than 500 sitemaps: the rest is not read.")]),
    ),
    "a page that a sitemap beyond our limit may name": (
        "sitemap-page-missing",
        site(
            sitemaps=[sitemap("/sitemap.xml", "More URLs than are read: the rest of the sitemaps is left out.")],
            entries={"/sitemap.xml": ["/", "/a"]},
        ),
    ),
    "an address that our own guard refuses": (
        "link-external-broken",
        linking(f"{SITE}/x", external={f"{SITE}/x": Page(failure=FailureKind.BLOCKED_ADDRESS)}),
    ),
    "statements of a page that is not to be found": (
        "hreflang-to-error",
        site({"/a": Page(noindex=True, hreflang={"en": "/a", "de": "/gone"}), "/gone": Page(status=404)}),
    ),
    "a canonical that a redirect leads to": (
        "canonical-unlinked",
        linking("/old", also={"/old": Page(redirect="/z", linked=False), "/z": UNLINKED, "/b": Page(canonical="/z")}),
    ),
    "the start needs no links": ("inlinks-single", site({path: Page(links=MENU[1:]) for path in ("/", "/b", "/c", "/d")})),
    "a page behind an orphan": (
        "inlinks-single",
        site({"/lost": Page(linked=False, links=["/behind"]), "/behind": UNLINKED}),
    ),
    "a circle of canonicals is no chain": (
        "canonical-chain",
        site({"/a": Page(canonical="/b"), "/b": Page(canonical="/a")}),
    ),
    "a site of one page may be hidden": ("site-noindex", SampleSite(pages={"/": Page(noindex=True)})),
    "robots.txt that shuts the start only": ("robots-txt-blocks-all", site(robots=(200, None, "User-agent: *\nDisallow: /$\n"))),
    "a large error page in place of an image": (
        "image-too-large",
        site({"/a": Page(resources=["/x.png"])}, resources={"/x.png": Resource(status=404, length=500_000)}),
    ),
    "a file that follows names nothing": (
        "pagination-sequence-error",
        site({"/a": Page(next="/b"), "/b": Page(type="application/pdf")}),
    ),
    "a near duplicate that is not to be found": (
        "content-near-duplicate",
        site({"/a": Page(text=TEXT), "/b": Page(text=f"{TEXT} and a few words more", noindex=True)}),
    ),
}
