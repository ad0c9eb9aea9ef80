"""What somebody wants to see: the fields of the filter form, read from an address and written back into one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from tadoru.jobs.events.publish.list_pages import find_city
from tadoru.serve.web.words import Say
from tadoru.store.calendar.listing import EventFilter

MAX_FILTER_LENGTH = 200
"""Characters of a field; nobody means more."""
SORTS = ("starts", "-starts", "relevance")
"""The orders of a list, named as the interface names them; the last is for lists that are searched."""
YEARS = range(1900, 2200)
"""Further away there are no events, and no dates that every database can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarFilter:
    """The filter form, as it was filled in."""

    city: str = ""
    category: str = ""
    q: str = ""
    since: str = ""
    until: str = ""
    sort: str = ""
    """One of SORTS; the first of them when nothing is said."""

    @property
    def is_any(self) -> bool:
        return bool(self.words)

    @property
    def words(self) -> tuple[str, ...]:
        """What was chosen, for people."""
        return tuple(filter(None, (self.city, self.category, self.q, self.since, self.until)))

    def query(self, *, days: bool = True, **more: str) -> str:
        """It as the end of an address, with a question mark when there is anything to say. Its order is said only as `sort`:
        feeds and months have one of their own."""
        given = {"city": self.city, "category": self.category, "q": self.q}
        if days:
            given |= {"from": self.since, "to": self.until}
        asked = {name: value for name, value in (given | more).items() if value}
        return f"?{urlencode(asked)}" if asked else ""


def parse_filter(asked: Mapping[str, str], cities: tuple[str, ...] = ()) -> CalendarFilter:
    """The form out of an address. A city may be named without its 市."""
    fields = {"city": "city", "category": "category", "q": "q", "since": "from", "until": "to"}
    given = {name: asked.get(key, "").replace("\0", "").strip()[:MAX_FILTER_LENGTH] for name, key in fields.items()}
    given["city"] = find_city(given["city"], cities) or given["city"]
    sorts = SORTS[1:] if given["q"] else SORTS[1:2]
    return CalendarFilter(**given, sort=asked["sort"] if asked.get("sort") in sorts else "")


def to_event_filter(chosen: CalendarFilter, say: Say, *, today: date) -> tuple[EventFilter, str]:
    """What to ask the database for, and a sentence when a day can not be read."""
    problem = ""
    days: dict[str, date | None] = {}
    for name, text in (("since", chosen.since), ("until", chosen.until)):
        days[name] = parse_day(text) if text else None
        if text and days[name] is None:
            problem = problem or say("filter.bad_day", given=text)
    since, until = days["since"], days["until"]
    if since is not None and until is not None and since > until:
        problem = say("filter.turned")
    if since is None and (until is None or until >= today):
        since = today
    found = EventFilter(city=chosen.city or None, category=chosen.category or None, q=chosen.q or None, since=since, until=until)
    return found, problem


def parse_day(text: str) -> date | None:
    """A day as forms and addresses write it, of a year that a calendar is about."""
    try:
        found = date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None
    return found if found is not None and found.year in YEARS else None
