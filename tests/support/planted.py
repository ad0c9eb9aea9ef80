"""Planted sites: pages with known faults, what must be found on each, and the same sites without any.

A `PlantedSite` is one site as `tadoru audit` meets it: its pages (`PlantedPage`), its robots.txt and sitemap, the options of the
command. What must be found is written at each page; `PlantedSite.expected` is all of it, nothing more and nothing less. Every
good page is linked from the start and from `/shelf`, so that none is found to be lonely by accident.

The pages are those of `tests.jobs.audit_pages`, each with words of its own.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from tests.jobs.audit_pages import HEADERS, PROSE, URL, Change
from tests.jobs.audit_triggers import ALTERNATES, DESCRIPTION, H1, HOST, NEXT, TITLE
from tests.support.exchange import Exchange, Reply
from tests.support.generated_sites import sitemap
from tests.support.planted_server import ProxiedSite
from tests.support.planted_words import words_for

HEALTHY_PAGE = Change()
GERMAN = f"{HOST}/de/brot/roggen"
PARTS = {
    ".jpg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".svg": "image/svg+xml", ".ico": "image/x-icon",
    ".css": "text/css", ".js": "text/javascript",
}  # fmt: skip
"""What pages are made of is there, whatever its name."""


@dataclass(frozen=True, kw_only=True)
class PlantedPage:
    """One URL, what it answers, and what must be found on it."""

    url: str
    finds: frozenset[str] = frozenset()
    reply: Reply = Reply()
    listed: bool = True
    """Whether the sitemap names it."""
    linked: bool = True
    """Whether the start and the shelf link to it."""
    misbehaves: str = ""
    """A behaviour of `hostile`, instead of the reply."""
    takes: float = 0.0
    """Seconds until it answers."""


@dataclass(kw_only=True)
class PlantedSite:
    """One site, and the command that is set on it."""

    start: str = f"{HOST}/"
    plants: list[PlantedPage] = field(default_factory=list)
    about: frozenset[tuple[str, str]] = frozenset()
    """What must be found about what is no page: check and subject."""
    on_site: frozenset[str] = frozenset()
    """What must be found on the start, as the page that stands for the site."""
    on_shelf: frozenset[str] = frozenset()
    hub: Change = HEALTHY_PAGE
    """What is different about both."""
    robots: Reply | str = ""
    """robots.txt, before the line that names the sitemap; a reply is sent as it is."""
    sitemap: Reply | None = None
    """In place of the one that names every listed page."""
    options: tuple[str, ...] = ()
    code: int = 0
    """The exit code."""

    @property
    def origin(self) -> str:
        return self.start.rstrip("/")

    @property
    def hubs(self) -> list[str]:
        return [self.start, f"{self.origin}/shelf"]

    @property
    def expected(self) -> set[tuple[str, str]]:
        """Every finding there must be: check and URL."""
        pages = {(check, plant.url) for plant in self.plants for check in plant.finds}
        hubs = zip(self.hubs, (self.on_site, self.on_shelf), strict=True)
        return pages | {(check, hub) for hub, found in hubs for check in found} | self.about

    def serve(self, town: ProxiedSite) -> None:
        """Put it up."""
        for origin in {self.origin, *("/".join(plant.url.split("/", 3)[:3]) for plant in self.plants)}:
            town.handle(f"{origin}/*", parts)
        if self.origin.startswith("https:"):
            town.handle(f"{self.origin.replace('https:', 'http:')}/*", to_https)
        for hub in self.hubs:
            answer(town, hub, self._hub(hub))
        for plant in self.plants:
            if plant.misbehaves:
                town.misbehave(plant.url, *plant.misbehaves.split(" "))
            else:
                answer(town, plant.url, plant.reply, plant.takes)
        listed = [*self.hubs, *(plant.url for plant in self.plants if plant.listed)]
        answer(town, f"{self.origin}/sitemap.xml", self.sitemap or xml(sitemap(listed)))
        robots = self.robots
        if isinstance(robots, str):
            robots = Reply(body=f"{robots}Sitemap: {self.origin}/sitemap.xml\n".encode(), content_type="text/plain")
        answer(town, f"{self.origin}/robots.txt", robots)

    def _hub(self, url: str) -> Reply:
        links = [other for other in self.hubs if other != url] + [plant.url for plant in self.plants if plant.linked]
        return page(url, self.hub, body=links_to(*links))


def links_to(*urls: str, rel: str = "") -> str:
    """A list of links, each called by the heading of its page."""
    items = (f'<li><a href="{url}"{rel and f" rel={rel}"}>{words_for(url).h1}</a></li>' for url in urls)
    return f"<ul>{''.join(items)}</ul>"


def page(
    url: str,
    change: Change = HEALTHY_PAGE,
    *,
    head: str = "",
    body: str = "",
    german: str = "",
    series: bool = False,
    name: str = "",
) -> Reply:
    """The healthy page after a change, with words of its own and more in its head or body.

    It links to no neighbours unless they are kept, and to no translation unless there is a German one. Pages of one `name` say
    the same.
    """
    change = replace(change, url=url)
    html = change.html()
    html = html.replace(GERMAN, german) if german else html.replace(ALTERNATES.replace(URL, url), "")
    if not series:
        html = html.replace(f"{NEXT}\n", "")
    html = html.replace("</head>", f"{head}</head>", 1).replace("</main>", f"{body}</main>", 1)
    words = words_for(name or url)
    own = ((TITLE, words.title), (DESCRIPTION, words.description), (H1, f"<h1>{words.h1}</h1>"), (PROSE, words.story))
    for common, mine in own:
        html = html.replace(common, mine)
    changed = {field.lower(): value for field, value in change.headers}
    fields = [(field, value) for field, value in HEADERS if field.lower() not in changed]
    fields += [(field, value) for field, value in change.headers if value is not None]
    content_type = next((value for field, value in fields if field.lower() == "content-type"), "")
    rest = tuple(pair for pair in fields if pair[0].lower() not in ("content-type", "content-encoding"))
    packed = any(field.lower() == "content-encoding" for field, _ in fields)
    return Reply(change.status, html.encode(), content_type, rest, compress=packed)


def moved(target: str, status: int = 301) -> Reply:
    """A redirect, as a well-kept site sends it."""
    return page(HOST, Change(status=status, headers=(("Location", target),)))


def xml(body: bytes) -> Reply:
    return Reply(body=body, content_type="application/xml")


def answer(town: ProxiedSite, url: str, reply: Reply, takes: float = 0.0) -> None:
    """Answer a URL so, and no other."""

    async def handler(exchange: Exchange, _: str) -> None:
        if takes:
            await asyncio.sleep(takes)
        await exchange.send(reply)

    town.handle(url, handler)


async def parts(exchange: Exchange, rest: str) -> None:
    """Images, scripts and styles of any name; nothing else."""
    suffix = f".{rest.rpartition('.')[2]}"
    found = Reply(body=b"x", content_type=PARTS[suffix]) if suffix in PARTS else Reply(404, b"<h1>Not here</h1>")
    await exchange.send(found)


async def to_https(exchange: Exchange, rest: str) -> None:
    await exchange.send(moved(exchange.seen.path.replace("http://", "https://", 1)))
