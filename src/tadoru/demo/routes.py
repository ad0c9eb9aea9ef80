"""Maps request targets of the demo site to responses; the server is in `server.py`.

Intentional errors, for the jobs to find:

    /town/map-1998.html, /docs/rate-limits.html   linked but missing
    /town/statistics         responds with 500
    /old/                    a chain of two redirects to /town/
    /mobile/                 a redirect loop
    /calendar?month=…        a previous and a next month for every month, without end
    /private/                linked, and disallowed by robots.txt
    /drafts/budget.html      linked, and noindex
    /festival-archive.html   only in the sitemap
    /town/history.html       has no title; /news/bus.html and /news/bus-winter.html share one
    /town/mayor.html         has no description
    /town/moving.html, /news/bus-winter.html, /docs/changelog.html   link to fragments that do not exist
    /access.html             has an image without alt, and links to a private address
    /archive/                is in Shift_JIS
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass, replace
from datetime import date, timedelta
from urllib.parse import parse_qs, unquote

from tadoru.demo.pages import DemoResponse, PageRenderer, read_files

REDIRECTS = {
    "/old/": (301, "/old/index.html"),
    "/old/index.html": (301, "/town/"),
    "/mobile/": (302, "/mobile/top"),
    "/mobile/top": (302, "/mobile/"),
}
FAILING = frozenset({"/town/statistics"})
EVENTS = (
    (5, "star-festival", "星まつり"),
    (9, "library-talk", "図書館講演会"),
    (12, "mochi", "もちつき大会"),
    (20, "concert", "天文台コンサート"),
    (26, "ski", "親子スキー教室"),
)
"""Days after the Monday, with the page and the title of each event."""
_MONTH = re.compile(r"(\d{4})-(\d{2})")


@dataclass(frozen=True, slots=True)
class DemoSite:
    """The whole site."""

    renderer: PageRenderer
    responses: dict[str, DemoResponse]

    @classmethod
    def build(cls, base: str, monday: date) -> DemoSite:
        """The site at a base URL, with dates relative to a Monday."""
        texts = read_files()
        layouts = {
            name[len("_layout/") : -len(".html")]: data.decode() for name, data in texts.items() if name.startswith("_layout/")
        }
        renderer = PageRenderer(layouts, base, monday)
        responses = {f"/{name}": renderer.file(name, data) for name, data in texts.items() if not name.startswith("_")}
        responses |= {path.removesuffix("index.html"): page for path, page in responses.items() if path.endswith("/index.html")}
        return cls(renderer, responses)

    def respond(self, target: str) -> DemoResponse:
        """The response to a request target such as `/calendar?month=2027-01`."""
        head, _, tail = target.partition("?")
        path, query = unquote(head), parse_qs(tail)
        if path in REDIRECTS:
            status, location = REDIRECTS[path]
            return DemoResponse(status=status, location=location)
        if path in FAILING:
            return self._error_page(500)
        if path == "/calendar":
            return self._calendar(query.get("month", [self.renderer.monday.isoformat()[:7]])[0])
        if path == "/api/events":
            path = f"/api/events-{query.get('page', ['1'])[0]}.json"
        if f"{path}/" in self.responses:
            return DemoResponse(status=301, location=f"{path}/")
        return self.responses.get(path) or self._error_page(404)

    def _error_page(self, status: int) -> DemoResponse:
        return replace(self.responses[f"/errors/{status}.html"], status=status)

    def _calendar(self, month: str) -> DemoResponse:
        match = _MONTH.fullmatch(month)
        if match is None or not 1 <= int(match[2]) <= 12 or int(match[1]) < 1:
            return self._error_page(404)
        year, number = int(match[1]), int(match[2])
        on = {self.renderer.monday + timedelta(days=offset): (slug, title) for offset, slug, title in EVENTS}
        weeks = "\n".join(
            f"<tr>{''.join(_cell(year, number, day, on) for day in week)}</tr>" for week in calendar.monthcalendar(year, number)
        )
        fields = {"year": str(year), "number": str(number), "weeks": weeks} | _neighbours(year, number)
        text = self.renderer.layouts["calendar"]
        for name, value in fields.items():
            text = text.replace(f"[[{name}]]", value)
        return self.renderer.page(text)


def _neighbours(year: int, month: int) -> dict[str, str]:
    """The previous and the next month; the calendar wraps around."""
    count = (year - 1) * 12 + month - 1
    months = {name: (count + step) % (9999 * 12) for name, step in (("before", -1), ("after", 1))}
    return {name: f"{value // 12 + 1:04}-{value % 12 + 1:02}" for name, value in months.items()}


def _cell(year: int, month: int, day: int, on: dict[date, tuple[str, str]]) -> str:
    if not day:
        return "<td></td>"
    event = on.get(date(year, month, day))
    entry = f'<a href="/events/{event[0]}.html">{event[1]}</a>' if event else ""
    return f"<td><span>{day}</span>{entry}</td>"
