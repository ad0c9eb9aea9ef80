"""Which address of the town is answered how. Values in, an answer out: the server around it is in `site.py`.

Wrong on purpose, for the jobs to find:

    /town/map-1998.html, /docs/rate-limits.html   linked and missing
    /town/statistics         answers 500
    /old/                    a chain of two redirects to /town/
    /mobile/                 a redirect loop
    /calendar?month=…        a month before and after every month, without end
    /private/                linked, and disallowed by robots.txt
    /drafts/budget.html      linked, and noindex
    /festival-archive.html   only the sitemap knows it
    /town/history.html       has no title; /news/bus.html and /news/bus-winter.html share one
    /town/mayor.html         has no description
    /town/moving.html, /news/bus-winter.html, /docs/changelog.html   lead to fragments that are not there
    /access.html             has a picture without alt, and leads to an address of the town hall's own network
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
"""Days after the Monday, and the page of each event."""
_MONTH = re.compile(r"(\d{4})-(\d{2})")


@dataclass(frozen=True, slots=True)
class DemoSite:
    """The whole site, ready to answer."""

    writer: PageRenderer
    answers: dict[str, DemoResponse]

    @classmethod
    def build(cls, base: str, monday: date) -> DemoSite:
        """The town at an address, its days counted from a Monday."""
        texts = read_files()
        layouts = {
            name[len("_layout/") : -len(".html")]: data.decode() for name, data in texts.items() if name.startswith("_layout/")
        }
        writer = PageRenderer(layouts, base, monday)
        answers = {f"/{name}": writer.file(name, data) for name, data in texts.items() if not name.startswith("_")}
        answers |= {path.removesuffix("index.html"): page for path, page in answers.items() if path.endswith("/index.html")}
        return cls(writer, answers)

    def answer(self, target: str) -> DemoResponse:
        """The answer to a request target such as `/calendar?month=2027-01`."""
        head, _, tail = target.partition("?")
        path, query = unquote(head), parse_qs(tail)
        if path in REDIRECTS:
            status, location = REDIRECTS[path]
            return DemoResponse(status=status, location=location)
        if path in FAILING:
            return self._sorry(500)
        if path == "/calendar":
            return self._calendar(query.get("month", [self.writer.monday.isoformat()[:7]])[0])
        if path == "/api/events":
            path = f"/api/events-{query.get('page', ['1'])[0]}.json"
        if f"{path}/" in self.answers:
            return DemoResponse(status=301, location=f"{path}/")
        return self.answers.get(path) or self._sorry(404)

    def _sorry(self, status: int) -> DemoResponse:
        return replace(self.answers[f"/errors/{status}.html"], status=status)

    def _calendar(self, month: str) -> DemoResponse:
        match = _MONTH.fullmatch(month)
        if match is None or not 1 <= int(match[2]) <= 12 or int(match[1]) < 1:
            return self._sorry(404)
        year, number = int(match[1]), int(match[2])
        on = {self.writer.monday + timedelta(days=offset): (slug, title) for offset, slug, title in EVENTS}
        weeks = "\n".join(
            f"<tr>{''.join(_cell(year, number, day, on) for day in week)}</tr>" for week in calendar.monthcalendar(year, number)
        )
        facts = {"year": str(year), "number": str(number), "weeks": weeks} | _neighbours(year, number)
        text = self.writer.layouts["calendar"]
        for name, value in facts.items():
            text = text.replace(f"[[{name}]]", value)
        return self.writer.page(text)


def _neighbours(year: int, month: int) -> dict[str, str]:
    """The months before and after; the calendar wraps at its ends, as it has none."""
    count = (year - 1) * 12 + month - 1
    months = {name: (count + step) % (9999 * 12) for name, step in (("before", -1), ("after", 1))}
    return {name: f"{value // 12 + 1:04}-{value % 12 + 1:02}" for name, value in months.items()}


def _cell(year: int, month: int, day: int, on: dict[date, tuple[str, str]]) -> str:
    if not day:
        return "<td></td>"
    event = on.get(date(year, month, day))
    entry = f'<a href="/events/{event[0]}.html">{event[1]}</a>' if event else ""
    return f"<td><span>{day}</span>{entry}</td>"
