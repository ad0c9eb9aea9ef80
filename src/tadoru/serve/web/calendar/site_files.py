"""Files of the site as a whole: robots.txt, the sitemap, and the logo and colours of the operator."""

from __future__ import annotations

import hashlib
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, Response

from tadoru.config.options import ServeOptions
from tadoru.config.parsers import LOGO_TYPES, Colour
from tadoru.serve.api.event_queries import local_today
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import request_origin, service_of
from tadoru.serve.web.calendar.view_models import is_web_url, shift_month
from tadoru.store.calendar.listing import EventFilter

router = APIRouter(include_in_schema=False)
MAX_SITEMAP_EVENTS = 5_000
"""Upcoming events in the sitemap."""
LISTS = ("/?when=today", "/?when=weekend", "/?when=next-weekend", "/?free=true")
"""Lists of the quick filters."""
SITEMAP_MONTHS = 3
"""Months in the sitemap, from the current one on."""
_DARK_PANEL = Colour(0x1D, 0x21, 0x24)
_WHITE, _BLACK = Colour(255, 255, 255), Colour(0x0D, 0x15, 0x14)


@router.get("/robots.txt")
async def robots(request: Request) -> Response:
    """What search engines may crawl: the calendar, without its endless lists."""
    closed = ("/manage", "/embed", "/*near=", "/*sort=", "/*lang=")
    lines = [
        "User-agent: *",
        *(f"Disallow: {path}" for path in closed),
        "",
        f"Sitemap: {request_origin(request)}/sitemap.xml",
        "",
    ]
    return PlainTextResponse("\n".join(lines), headers={"Cache-Control": "public, max-age=3600"})


@router.get("/sitemap.xml")
def sitemap(request: Request) -> Response:
    """The pages of the calendar: lists, the next months, and upcoming events."""
    service, origin = service_of(request), request_origin(request)
    today = local_today(service)
    pages = ["/", "/subscribe", "/about"]
    for month in _next_months(today):
        last = shift_month(month, 1) - timedelta(days=1)
        if service.store.events.list(EventFilter(since=month, until=last, archived=None), limit=1).items:
            pages.append(f"/month/{month:%Y-%m}")
    records = list(service.store.events.iterate(EventFilter(since=today), limit=MAX_SITEMAP_EVENTS))
    last_day = _next_months(today)[-1]
    days = {time.local_date for one in records for time in one.times if today <= time.local_date < last_day}
    pages += [*LISTS, "/api/docs", *(f"/day/{day}" for day in sorted(days))]
    found = [f"<url><loc>{escape(origin + path)}</loc></url>" for path in pages]
    for one in records:
        event = one.event
        found.append(f"<url><loc>{escape(origin)}/events/{event.id}</loc><lastmod>{event.updated_at:%Y-%m-%d}</lastmod></url>")
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    text = head + "\n".join(found) + "\n</urlset>\n"
    return Response(text, media_type="application/xml", headers={"Cache-Control": "public, max-age=3600"})


def _next_months(today: date) -> list[date]:
    found = [today.replace(day=1)]
    while len(found) < SITEMAP_MONTHS:
        found.append(shift_month(found[-1], 1))
    return found


@router.get("/theme.css")
async def theme(request: Request) -> Response:
    """The operator's colours."""
    text = theme_css(service_of(request).options.accent)
    if not text:
        raise HttpProblem(404)
    return Response(text, media_type="text/css", headers={"Cache-Control": "public, max-age=31536000, immutable"})


@cache
def theme_css(accent: str | None) -> str:
    """The style sheet of an accent colour, for both schemes; "" without one. The dark scheme gets a lighter shade of it."""
    if not accent:
        return ""
    light = Colour.parse(accent)
    shades = (light.mixed(_WHITE, step / 20) for step in range(21))
    dark = next(one for one in shades if one.contrast(_dark_soft(light)) >= 7 and one.contrast(_BLACK) >= 7)
    return (
        f":root{{--accent:{light};--on-accent:{_WHITE};--accent-soft:{light.soft}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{--accent:{dark};--on-accent:{_BLACK};--accent-soft:{_dark_soft(light)}}}}}\n"
    )


def _dark_soft(colour: Colour) -> Colour:
    return colour.mixed(_DARK_PANEL, 0.8)


def theme_url(options: ServeOptions) -> str:
    """The URL of the operator's colours, which changes with them; "" without any."""
    text = theme_css(options.accent)
    return f"/theme.css?v={hashlib.sha256(text.encode()).hexdigest()[:12]}" if text else ""


def logo_url(options: ServeOptions) -> str:
    """The URL of the operator's logo; "" without one."""
    return "" if not options.logo else options.logo if is_web_url(options.logo) else "/logo"


@router.get("/logo")
def logo(request: Request) -> Response:
    """The operator's logo, if it is a file."""
    name = service_of(request).options.logo or ""
    if not name or is_web_url(name):
        raise HttpProblem(404)
    try:
        content = Path(name).read_bytes()
    except OSError:
        raise HttpProblem(404) from None
    kind = LOGO_TYPES[Path(name).suffix.lower()]
    return Response(content, media_type=kind, headers={"Cache-Control": "public, max-age=3600"})
