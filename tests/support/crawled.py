"""A small site crawled for real, twice, for tests of what is read of a crawl: everything a page can have, and hostile text."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.support.auditing import Audit
from tests.support.crawling import set_up
from tests.support.site import Site

FORMULA = '=HYPERLINK("http://thief.example","x")'
SCRIPT = "<script>alert(1)</script>"
OUTSIDE = "http://192.0.2.1/away"

RICH = """<html lang="en"><title>Rich page</title><link rel="alternate" hreflang="ja" href="/ja">
    <script type="application/ld+json">{"@type": "Event", "name": "Fest", "size": 1e999}</script>
    <h1>Rich</h1><h2>More &amp; more</h2><a href="/">Home</a> <a href="/gone#part">Gone again</a>
    <img src="/a.png" alt="A picture">"""
RICH_HEADERS = {"X-Hostile": SCRIPT, "Server": "garden"}


def build(site: Site) -> None:
    """The home page leads to a rich page, one with a formula for a title, one that moved, one
    that is gone, one that will break, one that robots.txt closes, and outside."""
    site.robots("User-agent: *\nDisallow: /closed\n")
    site.html(
        "/",
        f"""<html lang="en"><title>Home of the garden</title><meta name="description" content="All about the garden.">
        <h1>Garden</h1><a href="/rich">Rich {SCRIPT.replace("<", "&lt;")}</a> <a href="/formula" rel="nofollow">{FORMULA}</a>
        <a href="/old">Old</a> <a href="/gone">Gone</a> <a href="/frail">Frail</a>
        <a href="/closed">Closed</a> <a href="{OUTSIDE}">Away</a>""",
    )
    site.html("/rich", RICH, headers=RICH_HEADERS)
    title = (FORMULA + SCRIPT).replace("<", "&lt;")
    site.html("/formula", f'<title>{title}</title><h1>=1+1</h1><a href="/rich">Rich</a>')
    site.html("/frail", "<title>Frail page</title><h1>Frail</h1>")
    site.redirect("/old", "/older", 301)
    site.redirect("/older", "/rich", 301)


def crawl_twice(folder: Path) -> Path:
    """An audit, and a re-crawl in which a page broke and a title changed; its database."""
    folder.mkdir(parents=True, exist_ok=True)
    with Site() as site:
        build(site)
        asyncio.run(_audit(site, folder))
    return folder / "crawl.db"


async def _audit(site: Site, folder: Path) -> None:
    audit = Audit(site, folder)
    await audit.run("/")
    site.reply("/frail", status=410, body="It broke.")
    site.html("/rich", RICH.replace("Rich page", "Richer page"), headers=RICH_HEADERS)
    await audit.run(recrawl=True)


def crawl_links(folder: Path) -> Path:
    """A crawl of links; its database."""
    folder.mkdir(parents=True, exist_ok=True)
    with Site() as site:
        build(site)
        return Path(asyncio.run(_links(site, folder)))


async def _links(site: Site, folder: Path) -> str:
    crawl = await set_up(site, folder)
    await crawl.run()
    await crawl.result()
    return crawl.database
