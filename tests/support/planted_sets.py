"""More between the pages of the bakery: translations, series, what pages are made of, and what the sitemaps name of them."""

from __future__ import annotations

from dataclasses import replace

from tadoru.jobs.audit.catalogue import CheckCatalogue
from tests.jobs.audit_pages import Change
from tests.jobs.audit_triggers import TRIGGERS
from tests.support.exchange import Reply
from tests.support.planted import PlantedPage, PlantedSite, links_to, moved, page, xml
from tests.support.planted_bakery import SLOW, german_of, page_plants, url_of
from tests.support.planted_site import (
    at,
    canonical_plants,
    duplicate_plants,
    good_plants,
    hidden,
    link_plants,
    missing,
    plant,
    redirect,
    redirect_plants,
)

HREFLANG = [check_id for check_id in TRIGGERS if check_id.startswith("hreflang")]
SECOND = at("/second.xml")


def in_language(url: str, language: str, others: dict[str, str], *finds: str) -> PlantedPage:
    """A page in a language, which names itself and others."""
    alternates = {language: url, **others}
    head = "".join(f'<link rel="alternate" hreflang="{code}" href="{other}">' for code, other in alternates.items())
    change = Change('<html lang="en">', f'<html lang="{language}">')
    return PlantedPage(url=url, finds=frozenset(finds), reply=page(url, change, head=head))


def english_and(url: str, language: str, *finds: str, english: str) -> PlantedPage:
    return in_language(url, language, {"en": english, "x-default": english}, *finds)


def germans() -> list[PlantedPage]:
    """The translations of the pages with a fault in their hreflang."""
    found = {"hreflang-not-canonical": ("hreflang-to-non-canonical",)}
    return [english_and(german_of(one), "de", *found.get(one, ()), english=url_of(one)) for one in HREFLANG]


def language_plants() -> list[PlantedPage]:
    """Translations, and such as do not agree."""
    loaf = at("/en/loaf")
    named = {"de": "/de/silent", "it": "/gone", "nl": "/moved/once", "fr": "/links/hidden", "es": "/es/nobody-links-here"}
    alternates = {language: at(path) for language, path in named.items()}
    return [
        *germans(),
        english_and(at("/uk"), "en-GB", english=url_of("hreflang-invalid-code")),
        english_and(at("/de/brot"), "de", english=url_of("hreflang-multiple")),
        english_and(at("/fr/pain/seigle"), "fr", english=url_of("hreflang-relative")),
        in_language(
            loaf, "en", {**alternates, "x-default": loaf}, "hreflang-missing-return", "hreflang-to-error", "hreflang-to-redirect",
            "hreflang-to-noindex", "hreflang-unlinked",
        ),
        plant("/de/silent"),
    ]  # fmt: skip


def step(path: str, *finds: str, after: str = "", before: str = "", hide: bool = False, silent: bool = False) -> PlantedPage:
    """A page of a series. It links to its neighbours, unless it is silent."""
    near = {"next": after, "prev": before}
    head = "".join(f'<link rel="{rel}" href="{at(other)}">' for rel, other in near.items() if other)
    body = "" if silent else links_to(*(at(other) for other in near.values() if other))
    return hidden(path, *finds, head=head, body=body) if hide else plant(path, *finds, head=head, body=body)


def good_series() -> list[PlantedPage]:
    return [
        step("/series/1", after="/series/2"),
        step("/series/2", after="/series/3", before="/series/1"),
        step("/series/3", before="/series/2"),
    ]


def series_plants() -> list[PlantedPage]:
    """Series that break off, go in a circle, or disagree."""
    return [
        step("/series/broken", "pagination-to-error", "pagination-not-in-anchor", after="/gone", silent=True),
        step("/series/round", "pagination-loop", after="/series/and-round", before="/series/and-round"),
        step("/series/and-round", "pagination-loop", after="/series/round", before="/series/round"),
        step("/series/first", "pagination-sequence-error", after="/series/second"),
        step("/series/second"),
        step("/series/hidden", "pagination-nonindexable", after="/series/after-hidden", hide=True),
        step("/series/after-hidden", before="/series/hidden"),
    ]


def made_of(path: str, markup: str, *finds: str) -> PlantedPage:
    return plant(f"/made-of/{path}", *finds, body=markup)


def part(path: str, reply: Reply, *finds: str) -> PlantedPage:
    """Something that pages are made of, not as it should be."""
    return PlantedPage(url=at(path), finds=frozenset(finds), reply=reply, listed=False, linked=False)


def image(name: str) -> str:
    return f'<img src="{name}" alt="A loaf" width="1" height="1">'


def part_plants() -> list[PlantedPage]:
    return [
        made_of("missing-image", image("/missing.jpg")),
        made_of("large-image", image("/large.jpg")),
        made_of("moved-image", image("/moved.jpg")),
        made_of("missing-script", '<script src="/missing.js" defer></script>'),
        made_of("strange-style", '<iframe src="/frame" title="A frame"></iframe><script src="/page.js" defer></script>'),
        part("/missing.jpg", Reply(404), "image-broken"),
        part("/large.jpg", Reply(body=b"x" * 100_001, content_type="image/jpeg"), "image-too-large"),
        part("/moved.jpg", moved(at("/rye.jpg")), "resource-redirected"),
        part("/missing.js", Reply(410), "resource-broken"),
        part("/page.js", Reply(body=b"<h1>No script</h1>"), "resource-content-type"),
        part("/frame", Reply(body=b"<h1>A frame</h1>")),
    ]  # fmt: skip


def sitemap_plants() -> list[PlantedPage]:
    """What a sitemap should not name, and what it should."""
    second = "".join(f"<url><loc>{url}</loc><lastmod>{date}</lastmod></url>" for url, date in (
        (at("/bread"), "2024-02-29"), (at("/listed/there"), "last spring"), (at("/listed/later"), "2099-12-31"),
        ("https://mill.example/flour", "2024-02-29"),
    ))  # fmt: skip
    urlset = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{second}</urlset>'
    return [
        hidden("/listed/noindex", "sitemap-url-noindex", listed=True),
        plant("/listed/canonicalised", "canonicalised", "sitemap-url-canonicalised", canonical="/bread"),
        missing("/listed/gone", "sitemap-url-broken", listed=True),
        redirect("/listed/moved", "/bread", "sitemap-url-redirected", listed=True),
        PlantedPage(
            url=at("/private/listed"), finds=frozenset({"response-blocked-by-robots", "sitemap-url-blocked"}), linked=False
        ),
        plant("/unlisted", "sitemap-page-missing", listed=False),
        plant("/listed/there", listed=False),
        plant("/listed/later", listed=False),
        part("/second.xml", xml(urlset.encode())),
    ]


SPEED = ("ttfb-slow", "response-slow-for-site", "site-ttfb-slow")
DROPPED = frozenset(map(at, ("/twin/", "/folder/index.html", "/Case", "/query?colour=dark")))
"""Addresses that a mended site does not have."""


def bakery(mended: bool = False) -> PlantedSite:
    """The whole site. Mended, the same pages are there, and every one of them is as it should be."""
    between = [
        *good_plants(), *link_plants(), *redirect_plants(), *canonical_plants(), *duplicate_plants(), *language_plants(),
        *series_plants(), *part_plants(), *sitemap_plants(),
    ]  # fmt: skip
    patience = SLOW - 0.5 if not mended else 30.0
    enabled = (word for check in CheckCatalogue().checks.values() if check.is_off for word in ("--enable", check.id))
    options = (
        "--fragments",
        *enabled,
        "--enable",
        "inlinks-single",
        *(word for name in SPEED for word in ("--threshold", f"{name}={patience}")),
    )
    if mended:
        whole = [replace(made, finds=frozenset()) for made in (*good_plants(), *good_series(), *germans())]
        return PlantedSite(plants=[*page_plants(mended=True), *whole, *_mended(between, whole)], options=options)
    return PlantedSite(
        plants=[*page_plants(mended=False), *good_series(), *between],
        options=options,
        robots=f"User-agent: *\nDisallow: /private/\n\nSitemap: {SECOND}\n",
        on_site=frozenset({"site-mixed-protocols", "redirects-to-home", "inlinks-nofollow-mixed"}),
        about=frozenset((check, SECOND) for check in ("sitemap-lastmod-invalid", "sitemap-lastmod-future", "sitemap-other-host")),
    )


def _mended(plants: list[PlantedPage], whole: list[PlantedPage]) -> list[PlantedPage]:
    """Every page that was planted, with nothing wrong; what is no page is left out."""
    left_out = DROPPED | {made.url for made in whole}
    return [PlantedPage(url=made.url, reply=page(made.url)) for made in plants if made.reply.headers and made.url not in left_out]
