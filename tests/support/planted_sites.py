"""Every planted site by its name: the bakery, and the faults of whole sites, each in a small world of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.jobs.audit_pages import header
from tests.jobs.audit_triggers import TRIGGERS
from tests.support.exchange import Reply
from tests.support.generated_sites import sitemap
from tests.support.planted import PlantedPage, PlantedSite, links_to, moved, page, xml
from tests.support.planted_sets import bakery
from tests.support.planted_site import at, plant, telling
from tests.support.planted_words import words_for

PLAIN, WWW = "http://bakery.example", "https://www.bakery.example"
MILL, SHOP, CLOSED = "https://mill.example", "https://shop.example", "https://closed.example"
HOSTS = ("bakery.example", "www.bakery.example", "mill.example", "shop.example")
HOME, SITEMAP, ROBOTS = at("/"), at("/sitemap.xml"), at("/robots.txt")


def others(count: int = 3) -> list[PlantedPage]:
    """Some pages without a fault, among them those that every page links to."""
    return [
        plant("/bread/wheat", body=links_to(at("/shelf"))),
        plant("/keeping"),
        *(plant(f"/loaf-{n}") for n in range(count - 2)),
    ]


def text(status: int, body: str = "") -> Reply:
    return Reply(status, body.encode(), "text/plain")


def threshold(**chosen: float) -> tuple[str, ...]:
    return tuple(word for name, value in chosen.items() for word in ("--threshold", f"{name.replace('_', '-')}={value}"))


def without_encryption(mended: bool) -> PlantedSite:
    """Nothing is encrypted; and there is no robots.txt, and no sitemap."""
    if mended:
        return PlantedSite(plants=[*others(), plant("/form"), plant("/password")])
    form = {"form-on-http-page"}
    pages = {
        "/bread/wheat": ("url-http", set[str]()),
        "/keeping": ("url-http", set[str]()),
        "/form": ("form-on-http-page", form),
        "/password": ("password-on-http-page", {*form, "password-on-http-page"}),
    }
    plants = [
        PlantedPage(
            url=PLAIN + path, finds=frozenset(finds), reply=page(PLAIN + path, TRIGGERS[fault], body=links_to(f"{PLAIN}/shelf"))
        )
        for path, (fault, finds) in pages.items()
    ]
    about = {("robots-txt-missing", f"{PLAIN}/robots.txt"), ("sitemap-missing", f"{PLAIN}/sitemap.xml")}
    return PlantedSite(
        start=f"{PLAIN}/", plants=plants, on_site=frozenset({*form, "url-http"}), on_shelf=frozenset(form),
        about=frozenset(about),
        robots=text(404), sitemap=text(404),
    )  # fmt: skip


def hiding(mended: bool) -> PlantedSite:
    """No page may be shown; and the sitemap is where nobody is told of it."""
    if mended:
        return PlantedSite(plants=others())
    fault = header("X-Robots-Tag", "noindex")
    plants = [
        PlantedPage(
            url=one.url,
            finds=frozenset({"directive-noindex"}),
            listed=False,
            reply=page(one.url, fault, body=links_to(at("/shelf"))),
        )
        for one in others()
    ]
    return PlantedSite(
        plants=plants, hub=fault, on_site=frozenset({"directive-noindex", "site-noindex", "sitemap-url-noindex"}),
        on_shelf=frozenset({"directive-noindex"}), about=frozenset({("sitemap-not-in-robots", SITEMAP)}),
        robots=text(200, "User-agent: *\nDisallow:\n"), sitemap=xml(sitemap([HOME])),
    )  # fmt: skip


def doubled(mended: bool) -> PlantedSite:
    """A page with and without `www.`, with and without encryption; and a sitemap that is not there."""
    if mended:
        return PlantedSite(plants=[*others(), plant("/loaf")], options=("--scope", "domain"))
    double = [
        PlantedPage(url=f"{WWW}/loaf", finds=frozenset({"link-to-redirect"}), reply=page(f"{WWW}/loaf")),
        PlantedPage(
            url=f"{PLAIN}/loaf", finds=frozenset({"url-http", "link-to-redirect"}),
            reply=page(f"{PLAIN}/loaf", TRIGGERS["url-http"]),
        ),
        PlantedPage(url=f"{WWW}/robots.txt", reply=text(200), linked=False, listed=False),
        PlantedPage(url=f"{PLAIN}/robots.txt", reply=text(200), linked=False, listed=False),
        PlantedPage(url=f"{WWW}/bread/wheat", reply=moved(at("/bread/wheat")), linked=False, listed=False),
        PlantedPage(url=f"{WWW}/keeping", reply=moved(at("/keeping")), linked=False, listed=False),
        PlantedPage(url=f"{WWW}/", reply=moved(HOME), linked=False, listed=False),
    ]  # fmt: skip
    return PlantedSite(
        plants=[*others(), plant("/loaf"), *double], options=("--scope", "domain"),
        on_site=frozenset({"link-to-http", "site-http-and-https", "site-www-and-bare", "site-mixed-protocols"}),
        on_shelf=frozenset({"link-to-http"}),
        about=frozenset(
            {("sitemap-unreadable", at("/lost.xml")), *(("resource-redirected", PLAIN + part) for part in
             ("/favicon.ico", "/menu.js", "/rye.jpg", "/style.css"))}
        ),
        robots=f"Sitemap: {at('/lost.xml')}\n",
    )  # fmt: skip


def handed_over(mended: bool) -> PlantedSite:
    """Most pages name a page of another host as their canonical."""
    if mended:
        return PlantedSite(plants=others(count=4))
    plants = [
        PlantedPage(
            url=one.url,
            finds=frozenset({"canonical-to-other-host"}),
            listed=False,
            reply=page(one.url, TRIGGERS["canonical-to-other-host"], body=links_to(at("/shelf"))),
        )
        for one in others(count=4)
    ]
    return PlantedSite(plants=plants, on_site=frozenset({"site-canonicalised"}))


def never_missing(mended: bool) -> PlantedSite:
    """A site that answers every address with the same page; and its sitemap is too large, and wrong in places."""
    if mended:
        return PlantedSite(plants=others(count=12))
    story = words_for("whatever it was").story
    plants = [*others(), *(telling(f"/lost/{n}", "content-duplicate", story) for n in range(10))]
    urls = [HOME, at("/shelf"), *(one.url for one in plants)]
    broken = sitemap(urls).replace(b"</urlset>", b"<url><loc>mailto:baker@bakery.example</loc></url></urlset>")
    return PlantedSite(
        plants=plants, on_site=frozenset({"site-soft-404"}), sitemap=xml(broken),
        about=frozenset((check, SITEMAP) for check in ("sitemap-problems", "sitemap-too-many-urls", "sitemap-too-large")),
        options=threshold(sitemap_too_many_urls=10, sitemap_too_large=500),
    )  # fmt: skip


def shut(mended: bool) -> PlantedSite:
    """robots.txt cannot be had: nobody may ask for anything."""
    if mended:
        return PlantedSite(plants=others())
    return PlantedSite(
        plants=[replace(one, linked=False) for one in others()], robots=text(501), code=4,
        about=frozenset({("robots-txt-unavailable", ROBOTS), ("response-blocked-by-robots", HOME)}),
    )  # fmt: skip


def closed_to_search(mended: bool) -> PlantedSite:
    """We may come in, search engines may not."""
    blocked = "User-agent: Googlebot\nDisallow: /\n\n"
    about = frozenset() if mended else frozenset({("robots-txt-blocks-all", ROBOTS)})
    return PlantedSite(plants=others(), robots="" if mended else blocked, about=about)


def slow(mended: bool) -> PlantedSite:
    """A server that takes its time, for every page."""
    takes, patience = (0.0, 30.0) if mended else (0.4, 0.2)
    return PlantedSite(
        plants=[replace(one, takes=takes) for one in others(count=25)],
        on_site=frozenset() if mended else frozenset({"site-ttfb-slow"}),
        options=threshold(site_ttfb_slow=patience, ttfb_slow=30, response_slow_for_site=30),
    )  # fmt: skip


def crowded(mended: bool) -> PlantedSite:
    """Pages with more links than anybody follows."""
    targets = [plant(f"/loaf/{n}", linked=False) for n in range(20)]
    half = [one.url for one in targets]
    finds = () if mended else ("links-too-many",)
    parts = (half[:10], half[10:]) if mended else (half, half)
    pages = [plant(f"/many/{n}", *finds, body=links_to(*parts[n % 2])) for n in range(4)]
    return PlantedSite(plants=[*others(), *pages, *targets], options=threshold(links_too_many=18))


def looking_out(mended: bool) -> PlantedSite:
    """Links to other sites."""
    fine = PlantedPage(url=f"{MILL}/flour", reply=page(f"{MILL}/flour"), linked=False, listed=False)
    if mended:
        return PlantedSite(plants=[*others(), plant("/out", body=links_to(fine.url)), fine], options=("--check-external",))
    gone = PlantedPage(url=f"{SHOP}/gone", reply=Reply(404), linked=False, listed=False)
    old = PlantedPage(url=f"{SHOP}/old", reply=moved(fine.url), linked=False, listed=False)
    return PlantedSite(
        plants=[
            *others(), fine, gone, old,
            plant("/out", "link-external-broken", "link-external-redirect", body=links_to(fine.url, gone.url, old.url)),
            plant("/out/down", "link-external-broken", body=links_to(f"{CLOSED}/")),
        ],
        options=("--check-external",),
    )  # fmt: skip


WORLDS: dict[str, Callable[[bool], PlantedSite]] = {
    "the bakery": bakery,
    "a site without encryption": without_encryption,
    "a site that hides": hiding,
    "a site that is there four times": doubled,
    "a site that hands itself over": handed_over,
    "a site where nothing is missing": never_missing,
    "a site that is shut": shut,
    "a site closed to search engines": closed_to_search,
    "a slow site": slow,
    "a site with too many links": crowded,
    "a site that looks out": looking_out,
}
