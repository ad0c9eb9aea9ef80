"""Many small sites behind one proxy, each a host of its own, with links between them."""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.support.exchange import ReceivedRequest
from tests.support.generated_sites import sitemap
from tests.support.planted_server import ProxiedSite
from tests.support.planted_words import words_for


def host(number: int) -> str:
    return f"hamlet-{number}.example"


def host_of(seen: ReceivedRequest) -> str:
    return urlsplit(seen.path).netloc


def build(town: ProxiedSite, hosts: int, pages: int, *, more: int = 0) -> list[str]:
    """So many hosts with so many pages each, and so many more on the first; the starts. Each start leads to all pages of its host
    and to the next one; a page leads to the one after it; one that only the sitemap knows, and one that is gone, are everywhere.
    """
    starts = []
    for number in range(hosts):
        base = f"http://{host(number)}"
        paths = [f"/{at}" for at in range(1, pages + (more if number == 0 else 0))]
        _page(town, f"{base}/", [*paths, "/gone", f"http://{host((number + 1) % hosts)}/1"])
        for at, path in enumerate(paths):
            _page(town, base + path, ["/", paths[(at + 1) % len(paths)]], image=True)
        _page(town, f"{base}/quiet", ["/"])
        town.reply(f"{base}/robots.txt", body=f"Sitemap: {base}/sitemap.xml\n", content_type="text/plain")
        town.reply(f"{base}/sitemap.xml", body=sitemap([f"{base}/quiet"]), content_type="application/xml")
        town.reply(f"{base}/i.png", body=b"x", content_type="image/png")
        starts.append(f"{base}/")
    return starts


def _page(town: ProxiedSite, url: str, links: list[str], *, image: bool = False) -> None:
    words = words_for(url)
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    picture = '<img src="/i.png" alt="x" width="1" height="1">' if image else ""
    html = f'<!doctype html><html lang="en"><title>{words.title}</title><h1>{words.h1}</h1><p>{words.story}</p>{picture}{anchors}'
    town.reply(url, body=html)
