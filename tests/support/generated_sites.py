"""Sites made by a rule instead of written: trees, dense graphs, and the traps that never end.

Every page follows from its URL alone, so two runs see the same site, and a page costs nothing until it is asked for.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from tests.support.exchange import Exchange, Handler, Reply

FILLER = "<p>" + "The trail goes on through the quiet wood. " * 8 + "</p>"


def document(title: str, links: Iterable[str], body: str = "") -> bytes:
    """A small HTML page; each link's text is its target."""
    anchors = "\n".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    text = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>\n<body><h1>{title}</h1>'
    return f"{text}\n{body}\n<ul>\n{anchors}\n</ul></body></html>\n".encode()


def _numbers(rest: str, count: int) -> list[int] | None:
    match = re.fullmatch("/".join([r"(\d+)"] * count), rest.partition("?")[0])
    return [int(number) for number in match.groups()] if match else None


async def tree(exchange: Exchange, rest: str) -> None:
    """`/tree/<pages>/<fan-out>/<page>`: page i leads to its children i*k+1 … i*k+k and to its parent."""
    numbers = _numbers(rest, 3)
    if numbers is None or numbers[2] >= numbers[0] or not numbers[1]:
        return await exchange.send(Reply(status=404))
    pages, fan_out, page = numbers
    near = list(range(page * fan_out + 1, min(page * fan_out + fan_out + 1, pages)))
    if page:
        near.append((page - 1) // fan_out)
    links = [f"/tree/{pages}/{fan_out}/{other}" for other in near]
    return await exchange.send(Reply(body=document(f"Page {page} of {pages}", links, FILLER)))


async def dense(exchange: Exchange, rest: str) -> None:
    """`/dense/<pages>/<links>/<page>`: every page leads to so many others, all over the site."""
    numbers = _numbers(rest, 3)
    if numbers is None or numbers[2] >= numbers[0]:
        return await exchange.send(Reply(status=404))
    pages, links, page = numbers
    targets = [f"/dense/{pages}/{links}/{(page * 7 + step * step + 1) % pages}" for step in range(links)]
    return await exchange.send(Reply(body=document(f"Page {page} of {pages}", targets, FILLER)))


async def calendar(exchange: Exchange, rest: str) -> None:
    """`/calendar/<year>/<month>`: there is always a month before and a month after."""
    numbers = _numbers(rest, 2) or [2024, 1]
    month = numbers[0] * 12 + numbers[1] - 1
    links = [f"/calendar/{other // 12}/{other % 12 + 1}" for other in (month - 1, month + 1)]
    await exchange.send(Reply(body=document(f"Calendar {numbers[0]}-{numbers[1]:02}", links)))


async def session(exchange: Exchange, rest: str) -> None:
    """`/session/<page>?sid=…`: ten pages, and a session id in every link that no other page has used."""
    page = int(re.sub(r"\D", "", rest.partition("?")[0]) or 0) % 10
    links = [f"/session/{other}?sid={hashlib.sha256(f'{rest} {other}'.encode()).hexdigest()[:20]}" for other in range(10)]
    await exchange.send(Reply(body=document(f"Shop page {page}", links)))


async def grow(exchange: Exchange, rest: str) -> None:
    """`/grow/…`: relative links that make every path longer than the one before."""
    await exchange.send(Reply(body=document("Growing", ["more/", "again/"])))


async def links(exchange: Exchange, rest: str) -> None:
    """`/links/<n>`: one page with so many links, to `/leaf/<i>`."""
    numbers = _numbers(rest, 1) or [1000]
    await exchange.send(Reply(body=document(f"{numbers[0]} links", (f"/leaf/{number}" for number in range(numbers[0])))))


async def leaf(exchange: Exchange, rest: str) -> None:
    """`/leaf/<i>`: a page without links."""
    await exchange.send(Reply(body=document(f"Leaf {rest}", ())))


async def nested(exchange: Exchange, rest: str) -> None:
    """`/nested/<n>`: so many elements inside each other, and a link at the bottom."""
    depth = (_numbers(rest, 1) or [10_000])[0]
    body = "<div>" * depth + '<a href="/leaf/0">bottom</a>' + "</div>" * depth
    await exchange.send(Reply(body=document("Deep", (), body)))


async def sitemaps(exchange: Exchange, rest: str) -> None:
    """`/sitemaps/loop-a.xml` and `loop-b.xml` name each other and themselves; `pages.xml` names three pages."""
    name = rest.partition("?")[0]
    if name in ("loop-a.xml", "loop-b.xml"):
        entries = (f"/sitemaps/{other}.xml" for other in ("loop-a", "loop-b", "pages"))
        text = sitemap((exchange.base + entry for entry in entries), index=True)
    elif name == "pages.xml":
        text = sitemap(f"{exchange.base}/leaf/{number}" for number in range(3))
    else:
        return await exchange.send(Reply(status=404))
    return await exchange.send(Reply(body=text, content_type="application/xml"))


def sitemap(urls: Iterable[str], *, index: bool = False) -> bytes:
    """A sitemap, or an index of sitemaps."""
    root, entry = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    entries = "\n".join(f"<{entry}><loc>{url.replace('&', '&amp;')}</loc></{entry}>" for url in urls)
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} xmlns="{namespace}">\n{entries}\n</{root}>\n'.encode()


WORLDS: dict[str, Handler] = {
    f"/{world.__name__}/": world for world in (tree, dense, calendar, session, grow, links, leaf, nested, sitemaps)
}
