"""For each site check a site that has exactly that wrong, and where. Sites that only look so are in `site_silences`."""

from __future__ import annotations

from typing import NamedTuple

from tadoru.model.web import FailureKind
from tests.jobs.sample_sites import Link, Page, Resource, SampleSite, site, sitemap, words

MENU = ["/", "/a", "/b", "/c", "/d"]
SITE = "https://other.example"


class Case(NamedTuple):
    """A world, and the paths (or subjects) on which the check is found."""

    sample: SampleSite
    where: set[str]


def linking(*targets: str | Link, also: dict[str, Page] | None = None, **around: object) -> SampleSite:
    """The usual site; the page /a links to these as well."""
    return site({"/a": Page(links=[*MENU, *targets]), **(also or {})}, **around)


UNLINKED = Page(linked=False)
LANGUAGES = {"en": "/a", "de": "/b"}
FAST = {f"/{number}": Page(linked=number < 3) for number in range(24)}
TEXT = words("the same")
_ROBOTS = "/robots.txt"

TRIGGERS: dict[str, Case] = {
    "link-broken": Case(linking("/gone"), {"/a"}),
    "link-to-redirect": Case(linking("/old", also={"/old": Page(redirect="/b", linked=False)}), {"/a"}),
    "link-external-broken": Case(linking(f"{SITE}/x", external={f"{SITE}/x": Page(status=404)}), {"/a"}),
    "link-external-redirect": Case(linking(f"{SITE}/x", external={f"{SITE}/x": Page(redirect=f"{SITE}/y")}), {"/a"}),
    "page-orphan": Case(site({"/lost": UNLINKED}), {"/lost"}),
    "inlinks-nofollow-only": Case(
        linking(Link(to="/z", rel="nofollow"), also={"/z": UNLINKED, "/b": Page(links=[*MENU, Link(to="/z", rel="ugc")])}), {"/z"}
    ),
    "inlinks-nofollow-mixed": Case(linking(Link(to="/b", rel="noopener nofollow")), {"/b"}),
    "inlinks-nonindexable-only": Case(
        site({"/a": Page(links=[*MENU, "/z"], noindex=True), "/b": Page(links=[*MENU, "/z"], canonical="/c"), "/z": UNLINKED}),
        {"/z"},
    ),
    "inlinks-single": Case(linking("/z", also={"/z": UNLINKED}), {"/z"}),
    "page-deep": Case(
        site(
            {f"/{number}": Page(links=["/", f"/{number + 1}"] if number else ["/1"], linked=False) for number in range(7)}
            | {"/": Page(links=[*MENU, "/0"]), "/7": Page(linked=False)}
        ),
        {"/5", "/6", "/7"},
    ),
    "link-broken-fragment": Case(
        linking(Link(to="/b", fragment="nowhere"), Link(to="/b", fragment="here"), also={"/b": Page(anchors=["here"])}), {"/a"}
    ),
    "redirect-chain": Case(
        linking("/1", also={"/1": Page(redirect="/2", linked=False), "/2": Page(redirect="/b", linked=False)}), {"/1"}
    ),
    "redirect-loop": Case(
        linking("/1", also={"/1": Page(redirect="/2", linked=False), "/2": Page(redirect="/1", linked=False)}), {"/1", "/2"}
    ),
    "redirect-to-error": Case(linking("/old", also={"/old": Page(redirect="/gone", linked=False)}), {"/old"}),
    "redirects-to-home": Case(
        linking(
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
    "canonical-unlinked": Case(
        site({"/a": Page(canonical="/nowhere"), "/b": Page(canonical="/z"), "/z": UNLINKED}), {"/a", "/b"}
    ),
    "hreflang-missing-return": Case(site({"/a": Page(hreflang=LANGUAGES), "/b": Page(hreflang={"de": "/b"})}), {"/a"}),
    "hreflang-inconsistent-language": Case(
        site({"/a": Page(hreflang=LANGUAGES), "/b": Page(hreflang={"de-at": "/b", "en": "/a"})}), {"/a"}
    ),
    "hreflang-to-error": Case(site({"/a": Page(hreflang={"en": "/a", "de": "/gone"}), "/gone": Page(status=410)}), {"/a"}),
    "hreflang-to-redirect": Case(site({"/a": Page(hreflang={"en": "/a", "de": "/old"}), "/old": Page(redirect="/b")}), {"/a"}),
    "hreflang-to-noindex": Case(site({"/a": Page(hreflang=LANGUAGES), "/b": Page(noindex=True, hreflang=LANGUAGES)}), {"/a"}),
    "hreflang-to-non-canonical": Case(
        site({"/a": Page(hreflang=LANGUAGES), "/b": Page(canonical="/c", hreflang=LANGUAGES)}), {"/a"}
    ),
    "hreflang-unlinked": Case(
        site(
            {
                "/a": Page(hreflang={"en": "/a", "de": "/z"}),
                "/z": Page(hreflang={"en": "/a", "de": "/z"}, linked=False),
                "/b": Page(hreflang={"en": "/b", "de": "/nowhere"}),
            }
        ),
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
    "sitemap-problems": Case(site(sitemaps=[sitemap("/sitemap.xml", "URLs not a URL: 1, the first is “x”.")]), {"/sitemap.xml"}),
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
    "image-broken": Case(site({"/a": Page(resources=["/x.png"])}, resources={"/x.png": Resource(status=404)}), {"/x.png"}),
    "resource-broken": Case(
        site({"/a": Page(resources=["/x.js"])}, resources={"/x.js": Resource(kind="script", failure=FailureKind.NETWORK)}),
        {"/x.js"},
    ),
    "resource-redirected": Case(
        site({"/a": Page(resources=["/x.png"])}, resources={"/x.png": Resource(final="https://a.example/y.png")}), {"/x.png"}
    ),
    "image-too-large": Case(site({"/a": Page(resources=["/x.png"])}, resources={"/x.png": Resource(length=100_001)}), {"/x.png"}),
    "resource-content-type": Case(
        site(
            {"/a": Page(resources=["/x.js"]), "/b": Page(resources=["/x.png"])},
            resources={"/x.js": Resource(kind="script", type="text/html"), "/x.png": Resource(type="text/html; charset=utf-8")},
        ),
        {"/x.js", "/x.png"},
    ),
    "site-ttfb-slow": Case(site({path: Page(ttfb_ms=900.0) for path in FAST}), {"/"}),
    "response-slow-for-site": Case(site({**FAST, "/a": Page(ttfb_ms=1_200.0)}), {"/a"}),
    "page-large-for-site": Case(site({**FAST, "/a": Page(size=600_000)}), {"/a"}),
    "site-noindex": Case(site({path: Page(noindex=True) for path in MENU}), {"/"}),
    "site-canonicalised": Case(site({path: Page(canonical=f"{SITE}{path}") for path in MENU[:3]}), {"/"}),
    "robots-txt-missing": Case(site(robots=(404, None, "")), {_ROBOTS}),
    "robots-txt-unavailable": Case(site(robots=(503, None, "")), {_ROBOTS}),
    "robots-txt-blocks-all": Case(site(robots=(200, None, "User-agent: *\nDisallow: /\n")), {_ROBOTS}),
    "site-http-and-https": Case(site({"http://a.example/a": Page()}), {"/"}),
    "site-www-and-bare": Case(site({"https://www.a.example/a": Page()}), {"/"}),
    "site-mixed-protocols": Case(site({"http://a.example/old": Page(redirect="/a")}), {"/"}),
    "site-soft-404": Case(site({f"/x/{number}": Page(text=TEXT) for number in range(10)}), {"/"}),
}
