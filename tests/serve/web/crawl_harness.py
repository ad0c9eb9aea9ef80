"""A small shop with everything wrong that a shop can have, written by somebody who tries to get markup into our pages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

from tadoru.clock import SystemClock
from tadoru.serve.crawl_runner import control
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl
from tests.serve.web.web_harness import BY, EVIL, WebHarness, serving
from tests.support.site import Site

PATIENCE = 60.0
ATTACK = escape(EVIL)
"""As a page writes it so that its text is markup."""


def fill(site: Site) -> None:
    """The shop as it is at first."""
    head = f'<meta name="description" content="{ATTACK}"><meta name="generator" content="{ATTACK}">'
    data = '<script type="application/ld+json">{"@type": "Product", "name": "</b><img src=x>"}</script>'
    links = ["/shoes", "/hats", "/gone", "/old", "/slow?q=%22%3E%3Cscript%3E1%3C/script%3E", "https://other.example/"]
    anchors = "".join(f'<a href="{link}">{ATTACK} {number}</a> ' for number, link in enumerate(links))
    home = f'<html lang="en"><head><title>Shop {ATTACK}</title>{head}</head><body><h1>Shop {ATTACK}</h1>{anchors}{data}</body>'
    site.html("/", home + "</html>", headers={"X-Powered-By": "<script>document.title=2</script>", "Server": "<b>shop</b>"})
    site.page("/shoes", title="Shoes", links=["/", "/hats", "/shoes/red", "/shoes/blue", "/gone"])
    site.page("/hats", title="Hats", links=["/", "/shoes"])
    site.page("/shoes/red", title="Red \u202eshoes", links=["/", "javascript:document.title=1"])
    site.page("/shoes/blue", title="Red shoes", links=["/", "/error"])
    site.page("/slow?q=%22%3E%3Cscript%3E1%3C/script%3E", title="", links=["/"])
    site.redirect("/old", "/hats", status=301)
    site.reply("/error", status=500, body="oops")


def worsen(site: Site) -> None:
    """The shop on the next day: a page is gone, another is new."""
    site.reply("/shoes/red", status=404)
    site.page("/hats", title="Hats and caps", links=["/", "/caps"])
    site.page("/caps", title="Caps", links=["/"])


@contextmanager
def opened_shop(folder: Path, *, lang: str = "en") -> Iterator[WebHarness]:
    """A service that may crawl the shop."""
    with Site() as site:
        fill(site)
        private = (site.url("/").removeprefix("http://").rstrip("/"),)
        with serving(folder, site, lang, SystemClock(), crawl_private=private) as web_harness:
            yield web_harness


def until(web_harness: WebHarness, crawl_id: int, is_so: Callable[[ServedCrawl], bool]) -> ServedCrawl:
    """Wait for a crawl to be so."""
    clock, found = SystemClock(), web_harness.store.crawls.get(crawl_id)
    end = clock.monotonic() + PATIENCE
    while not is_so(found):
        assert clock.monotonic() < end, f"crawl {crawl_id} is {found.state.value}: {found.error}"
        threading.Event().wait(0.05)
        found = web_harness.store.crawls.get(crawl_id)
    return found


def finished(web_harness: WebHarness, crawl_id: int) -> ServedCrawl:
    """Wait for a crawl to end well."""
    found = until(web_harness, crawl_id, lambda one: not one.is_busy)
    assert found.state is CrawlState.FINISHED, found.error
    return found


def crawled(web_harness: WebHarness, job: str = "audit", name: str = "Shop", **options: object) -> ServedCrawl:
    """A crawl of the shop that has ended."""
    start = [web_harness.site.url("/")]
    crawl = control.add(web_harness.service, BY, name=name, job=job, starts=start, options={"delay": "0.1", **options})
    return finished(web_harness, crawl.id)


def catalogue_crawl(shop: WebHarness) -> ServedCrawl:
    """A shop with many links to one missing page and a redirect loop, crawled before and after it got worse."""
    site, names = shop.site, range(12)
    for name in names:
        site.page(f"/shop/item-{name}", title=f"Item {name} of the shop", links=["/catalogue", "/nowhere"])
    site.page("/catalogue", title="The catalogue", links=["/loop", *(f"/shop/item-{name}" for name in names)])
    site.redirect("/loop", "/pool")
    site.redirect("/pool", "/loop")
    quick = {"delay": 0.0, "resources": 0}
    crawl = shop.store.crawls.add("Catalogue", "audit", [site.url("/catalogue")], quick, BY)
    finished(shop, crawl.id)
    site.reply("/shop/item-3", status=404)
    control.run(shop.service, BY, crawl.id)
    return finished(shop, crawl.id)
