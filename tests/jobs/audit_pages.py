"""Pages for the checks of an audit: one with nothing wrong, and for each check one with exactly that wrong."""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.jobs.audit.catalogue import CheckCatalogue
from tadoru.jobs.audit.context import Limits, PageContext
from tadoru.model.finding import Finding
from tadoru.model.web import Answer, Failure, FailureKind, Headers, Response, Timings
from tadoru.parse.html import HtmlDocument
from tadoru.parse.page import PageView, read_page
from tadoru.rules.url import UrlResolver

URL = "https://bakery.example/bread/rye"
PROSE = (
    "Our rye bread is made from flour that the mill in the next village grinds for us every week. The dough rests for a whole "
    "night, because rye needs time, and goes into the stone oven at four in the morning. What comes out has a dark crust, keeps "
    "for a week and tastes best on the second day. We bake it on Tuesdays, Thursdays and Saturdays; on other days you will find "
    "wheat bread, rolls and whatever the season offers. If you would like a whole loaf of three kilograms, call us a day before "
    "and we will set one aside. Slices freeze well. Children like the heel with butter, and so do we, which is why there is "
    "never one left at the end of the day when the shop closes at six."
)
HEALTHY = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Rye bread from a stone oven | Village bakery</title>
<meta name="description" content="Dark rye bread with a long rest and a stone oven crust, baked thrice a week in the village.">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="canonical" href="{URL}">
<link rel="alternate" hreflang="en" href="{URL}">
<link rel="alternate" hreflang="de" href="https://bakery.example/de/brot/roggen">
<link rel="alternate" hreflang="x-default" href="{URL}">
<link rel="next" href="/bread/wheat">
<link rel="icon" href="/favicon.ico">
<link rel="stylesheet" href="/style.css">
<script src="/menu.js" defer></script>
<script type="application/ld+json">
{{"@context": "https://schema.org", "@type": "Product", "name": "Rye bread",
 "offers": {{"@type": "Offer", "price": "4.80", "priceCurrency": "EUR"}}}}
</script>
</head>
<body>
<header><nav><h3>Menu</h3><a href="/">Village bakery</a> <a href="/bread/wheat">Wheat bread</a></nav></header>
<main>
<h1>Rye bread</h1>
<img src="/rye.jpg" alt="A dark loaf of rye bread" width="640" height="480">
<p id="story">{PROSE}</p>
<h2>How to keep it</h2>
<p>In a box of wood or clay. <a href="#story">Back to the story</a> or on to <a href="/keeping">keeping bread</a>.</p>
<form action="/order" method="post"><label>Loaves <input name="loaves"></label><button>Order</button></form>
</main>
<footer><p>Bakery, 3 Mill Lane</p></footer>
</body>
</html>
"""
HEADERS: Headers = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("Content-Encoding", "gzip"),
    ("Cache-Control", "max-age=300"),
    ("Strict-Transport-Security", "max-age=31536000"),
    ("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "strict-origin-when-cross-origin"),
    ("Server", "nginx"),
    ("Set-Cookie", "session=1; Secure; HttpOnly; SameSite=Lax"),
)


@dataclass(frozen=True)
class Change:
    """What to change about the healthy page, and its answer."""

    find: str = ""
    put: str = ""
    headers: tuple[tuple[str, str | None], ...] = ()
    """Header fields to set; None takes one away."""
    url: str = URL
    status: int = 200
    ttfb: float = 0.1
    failure: FailureKind | None = None
    robots_rule: str | None = None
    more: tuple[tuple[str, str], ...] = ()
    """Further things to find and replace."""

    def html(self) -> str:
        html = HEALTHY
        for find, put in ((self.find, self.put), *self.more):
            assert find in html, f"{find!r} is not on the page"
            html = html.replace(find, put, 1) if find else html
        return html.replace(URL, self.url)


def response_to(change: Change) -> Response:
    names = {name.lower() for name, _ in change.headers}
    kept = tuple(pair for pair in HEADERS if pair[0].lower() not in names)
    added = tuple((name, value) for name, value in change.headers if value is not None)
    return Response(
        url=change.url,
        status=change.status,
        headers=(*kept, *added),
        body=change.html().encode(),
        timings=Timings(ttfb=change.ttfb),
    )


def view_of(response: Response) -> PageView:
    return read_page(HtmlDocument.parse(response.body, response.header("content-type")), response, UrlResolver())


def findings(change: Change, limits: dict[str, float] | None = None) -> list[Finding]:
    """All that is found after a change to the healthy page."""
    catalogue = CheckCatalogue(enabled=("url-underscores", "url-uppercase"))
    answer: Answer | None = response_to(change)
    page = view_of(answer) if isinstance(answer, Response) and not answer.is_redirect else None
    if change.failure is not None:
        answer, page = Failure(url=change.url, kind=change.failure, message="it did not work"), None
    if change.robots_rule is not None:
        answer, page = None, None
    context = PageContext(
        url=change.url,
        limits=Limits(catalogue.checks.values(), limits),
        answer=answer,
        page=page,
        robots_rule=change.robots_rule,
    )
    return list(catalogue.run(context))


def head(markup: str) -> Change:
    """Something more in the head."""
    return Change("</head>", f"{markup}</head>")


def body(markup: str) -> Change:
    """Something more in the main part of the body."""
    return Change("</main>", f"{markup}</main>")


def header(name: str, value: str | None) -> Change:
    return Change(headers=((name, value),))


def to_body(tag: str) -> Change:
    """An element of the head, moved into the body."""
    return Change(tag, "", more=(("</main>", f"{tag}</main>"),))
