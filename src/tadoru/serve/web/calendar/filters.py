"""The filter form of the calendar: parsed from a URL, and written back into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from tadoru.i18n.formatter import Formatter
from tadoru.jobs.events.publish.list_pages import find_city
from tadoru.store.calendar.listing import EventFilter

MAX_FILTER_LENGTH = 200
"""Characters of a field."""
SORTS = ("starts", "-starts", "relevance")
"""The orders of a list, named as in the API; the last one is for searches."""
YEARS = range(1900, 2200)
"""Years whose dates every database can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarFilter:
    """The values of the filter form."""

    city: str = ""
    category: str = ""
    q: str = ""
    since: str = ""
    until: str = ""
    sort: str = ""
    """One of SORTS; empty for the first."""

    @property
    def is_any(self) -> bool:
        """Whether anything is filtered."""
        return bool(self.values)

    @property
    def values(self) -> tuple[str, ...]:
        """The values that are set."""
        return tuple(filter(None, (self.city, self.category, self.q, self.since, self.until)))

    def query(self, *, days: bool = True, **more: str) -> str:
        """The query string of a URL with these values. The order is included only if it is passed as `sort`."""
        given = {"city": self.city, "category": self.category, "q": self.q}
        if days:
            given |= {"from": self.since, "to": self.until}
        parameters = {name: value for name, value in (given | more).items() if value}
        return f"?{urlencode(parameters)}" if parameters else ""


def parse_filter(query: Mapping[str, str], cities: tuple[str, ...] = ()) -> CalendarFilter:
    """The form of a query string. A city may be named without its 市."""
    fields = {"city": "city", "category": "category", "q": "q", "since": "from", "until": "to"}
    given = {name: query.get(key, "").replace("\0", "").strip()[:MAX_FILTER_LENGTH] for name, key in fields.items()}
    given["city"] = find_city(given["city"], cities) or given["city"]
    sorts = SORTS[1:] if given["q"] else SORTS[1:2]
    return CalendarFilter(**given, sort=query["sort"] if query.get("sort") in sorts else "")


def to_event_filter(chosen: CalendarFilter, formatter: Formatter, *, today: date) -> tuple[EventFilter, str]:
    """The filter of the store, and a text if a date is invalid."""
    _, problem = formatter.gettext, ""
    days: dict[str, date | None] = {}
    for name, text in (("since", chosen.since), ("until", chosen.until)):
        days[name] = parse_day(text) if text else None
        if text and days[name] is None:
            problem = problem or _("“{given}” is not a date. Use the format 2026-08-01.", given=text)
    since, until = days["since"], days["until"]
    if since is not None and until is not None and since > until:
        problem = _("The start date is after the end date. Swap the two dates.")
    if since is None and (until is None or until >= today):
        since = today
    found = EventFilter(city=chosen.city or None, category=chosen.category or None, q=chosen.q or None, since=since, until=until)
    return found, problem


def parse_day(text: str) -> date | None:
    """A day in ISO format, in one of YEARS."""
    try:
        found = date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None
    return found if found is not None and found.year in YEARS else None
