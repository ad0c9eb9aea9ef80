"""A site made by a rule, with something of everything an audit keeps; and all that is in a database, to be compared."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.support.exchange import Exchange, Reply
from tests.support.planted_words import words_for
from tests.support.site import Site

FAN_OUT = 4
SPEED = ("ttfb-slow", "response-slow-for-site", "site-ttfb-slow")

# What differs between two crawls of one site: numbers, times, how often something was tried, and findings about speed.
TABLES = {
    "pages": """p.url, p.status, p.status_code, p.title, p.meta_description, p.meta_robots, p.canonical_url, p.content_hash,
        p.response_size_bytes, p.content_type, p.content_length, p.last_modified, p.content_encoding, p.depth, p.purpose,
        p.internal, p.is_seed, p.hops, p.skip_reason, p.last_error_type, p.last_error_message, p.crawls, q.url, t.url
        FROM pages p LEFT JOIN pages q ON q.id = p.parent_id LEFT JOIN pages t ON t.id = p.redirect_id""",
    "links": "source_url, target_url, anchor_text, link_type, rel_attribute, kind, position FROM links",
    "details": "p.url, d.* FROM page_details d JOIN pages p ON p.id = d.page_id",
    "findings": "url, check_id, severity, subject, detail, data FROM findings WHERE check_id NOT IN {speed}",
    "hreflang": "* FROM hreflang",
    "items": "* FROM structured_data",
    "resources": """url, host, kind, internal, status, status_code, content_type, content_length, final_url, skip_reason,
        last_error_type FROM resources""",
    "uses": "url, resource_url, position FROM page_resources",
    "sitemaps": "url, level, named_by, status, kind, status_code, bytes, urls, problems FROM sitemaps",
    "entries": "sitemap_url, url, lastmod FROM sitemap_urls",
    "scores": """p.url, s.inlinks, s.unique_inlinks, s.outlinks, s.external_outlinks, round(s.link_score, 6), s.cluster_id IS NULL
        FROM page_scores s JOIN pages p ON p.id = s.page_id""",
    "anchors": "p.url, a.anchors FROM page_anchors a JOIN pages p ON p.id = a.page_id",
    "bodies": "p.url, b.body FROM bodies b JOIN pages p ON p.id = b.page_id",
    "checks": "id, scope, severity, threshold FROM checks",
    "hosts": "name, queued FROM hosts",
    "counters": """name, value FROM counters
        WHERE value AND (name GLOB 'status:*' OR name NOT GLOB '*:*')""",
    "workers": "id FROM workers",
    "runs": "id, kind, outcome FROM runs",
    "past pages": """h.run_id, p.url, h.status, h.status_code, h.title, h.content_hash, h.indexability, h.depth, h.inlinks, t.url
        FROM page_history h JOIN pages p ON p.id = h.page_id LEFT JOIN pages t ON t.id = h.redirect_id""",
    "past findings": """h.run_id, p.url, c.id, h.subject, h.detail FROM finding_history h
        JOIN checks c ON c.number = h.check_number LEFT JOIN pages p ON p.id = h.page_id WHERE c.id NOT IN {speed}""",
}


def everything(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All that is in a database, but for what differs between two crawls of one site."""
    found = {}
    with closing(sqlite3.connect(database)) as sql:
        assert sql.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for name, what in TABLES.items():
            cursor = sql.execute(f"SELECT {what.format(speed=SPEED)}")
            left_out = [at for at, column in enumerate(cursor.description) if column[0] == "page_id"]
            rows = [tuple(value for at, value in enumerate(row) if at not in left_out) for row in cursor]
            found[name] = sorted(rows, key=repr)
    return found


def crowd(site: Site, pages: int, edition: int = 1) -> None:
    """Pages in a tree with links across; some move, are missing, hidden or forbidden; some only the sitemap knows.

    Whoever has a page as it is gets no second copy; every fifth page is another one in another edition.
    """

    async def page(exchange: Exchange, rest: str) -> None:
        reply = _reply(int(rest) if rest.isdigit() else pages, pages, site.base, edition)
        known = exchange.seen.headers.get("if-none-match")
        if known is not None and ("ETag", known) in reply.headers:
            reply = Reply(304, content_type="", headers=reply.headers)
        await exchange.send(reply)

    site.handle("/p/*", page)
    site.redirect("/", "/p/0", 301)
    site.robots(f"User-agent: *\nDisallow: /p/13\n\nSitemap: {site.url('/index.xml')}\n")
    site.sitemap("/index.xml", ["/one.xml", "/two.xml"], index=True)
    site.sitemap("/one.xml", [f"/p/{number}" for number in range(0, pages, 2)])
    site.sitemap("/two.xml", [*(f"/p/{number}" for number in range(0, pages, 7)), *(f"/p/{pages + n}" for n in range(20))])
    for number in range(0, 40):
        site.reply(f"/{number}.png", body=b"x" * number, content_type="image/png", status=404 if number % 9 == 4 else 200)
    site.redirect("/7.png", "/8.png")


def _reply(number: int, pages: int, base: str, edition: int) -> Reply:
    edition = edition if number % 5 == 0 else 1
    if number % 29 == 4 + edition:
        return Reply(301, headers=(("Location", f"/p/{number + 1}"),))
    if number >= pages + 20 or number % 31 == 8 + edition:
        return Reply(404, b"<title>Not here</title>")
    near = [*range(number * FAN_OUT + 1, number * FAN_OUT + 1 + FAN_OUT), (number - 1) // FAN_OUT, number * 7 % pages]
    words = words_for(str(number % 50 + edition))  # Some say what others say.
    known = [other for other in near if 0 <= other < pages]
    links = "".join(f'<a href="/p/{other}" rel="{"nofollow" * (other % 11 == 3)}">Page {other}</a>' for other in known)
    head = f'<link rel="canonical" href="{base}/p/{number - number % 17 % 2}">'
    head += f'<link rel="alternate" hreflang="de" href="/p/{number // 2}">'
    hidden = '<meta name="robots" content="noindex">' * (number % 19 == 7)
    data = (
        f'<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Thing", "name": "{number}"}}</script>'
    )
    html = (
        f'<!doctype html><html lang="en"><head><title>{words.title}</title>{head}{hidden}{data}</head><body>'
        f'<h1 id="top">{words.h1}</h1><p>{words.story}</p><img src="/{number % 40}.png" alt="x" width="1" height="1">{links}'
        f'<a href="https://elsewhere.example/{number % 5}">Elsewhere</a></body></html>'
    )
    return Reply(body=html.encode(), headers=(("ETag", f'"{number}.{edition}"'),))
