"""The public calendar pages: list, search, month, day, event, subscription, about, and the calendar in a frame;
and their filter form, parsed from a URL and written back into one.

`list_page` and `event_page` also answer `/events` and `/events/{id}` for browsers: see `serve.api`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup, escape

from tadoru.errors import UsageError
from tadoru.i18n.translation import N_, Formatter
from tadoru.jobs.events.publish.list_pages import find_city
from tadoru.jobs.events.reviews import shorten
from tadoru.model.event import EventStatus
from tadoru.parse.text_cleaning import is_html, plain_text, sanitise_html
from tadoru.serve.api.event_queries import local_today, parse_circle
from tadoru.serve.auth.http_security import allow_framing
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import Service, request_origin, service_of
from tadoru.serve.web.calendar.view_models import (
    EventGroup,
    calendar_weeks,
    event_json_ld,
    fill_weeks,
    format_event_time,
    format_last_day,
    format_place,
    group_by_day,
    group_by_relevance,
    is_web_url,
    next_time,
    shift_month,
    split_by_day,
)
from tadoru.serve.web.rendering import caller_of, formatter_of, remember_language, render, static_files
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.records import CalendarEvent, EventPage, EventRecord, EventSource, ListedEvent
from tadoru.store.calendar.search_conditions import GeoCircle

router = APIRouter(include_in_schema=False)
LIST_SIZE = 30
MAX_EVENTS = 1500
"""Events that a month or a day shows at most."""
MAX_DATES = 60
"""Other dates that the page of an event shows at most."""
EMBED_SIZE, MAX_EMBED_SIZE = 10, 50
"""Events of an embedded list by default, and at most."""
SUMMARY_LENGTH = 155
"""Characters that search results show of a description."""
_SORT_LABELS = {"starts": N_("Earliest first"), "-starts": N_("Latest first"), "relevance": N_("Best match first")}
_NEXT_LABELS = {"starts": N_("Later events"), "-starts": N_("Earlier events"), "relevance": N_("More results")}


@router.get("/")
def home(request: Request) -> Response:
    """Upcoming events."""
    return list_page(request)


def list_page(request: Request) -> Response:
    """The list of events, filtered by its form."""
    return _list(request, "/", is_search=False)


@router.get("/search")
def search(request: Request) -> Response:
    """Events that contain the search words."""
    return _list(request, "/search", is_search=True)


def _list(request: Request, action: str, *, is_search: bool) -> Response:
    service, formatter = service_of(request), formatter_of(request)
    _ = formatter.gettext
    cities, categories = _choices(service)
    chosen, today = parse_filter(request.query_params, cities), local_today(service)
    wanted, problem = to_event_filter(chosen, formatter, today=today)
    cursor = request.query_params.get("cursor", "")[:200]
    items: tuple[ListedEvent, ...] = ()
    next_cursor = None
    if not problem and (chosen.q or not is_search):
        try:
            page = _in_order(service, wanted, chosen.sort, cursor or None)
            items, next_cursor = page.items, page.next_cursor
        except UsageError as error:
            problem = formatter.translator.error(error)
    title = list_title(chosen, formatter)
    if is_search:
        title = _("Search results for “{q}”", q=chosen.q) if chosen.q else _("Search")
    return render(
        request, "calendar/list.html", status=400 if problem else 200, place="/" if not is_search else "", problem=problem,
        heading=title, action=action, filters=chosen, cities=cities, categories=categories, is_search=is_search, today=today,
        groups=_groups(items, chosen, wanted.since if not cursor or chosen.sort else None, formatter),
        next_url=action + chosen.query(sort=chosen.sort, cursor=next_cursor) if next_cursor else "",
        first_url=action + chosen.query(sort=chosen.sort) if cursor else "", feed_query=replace(chosen, when="").query(),
        sorts=[(one if one != SORTS[0] else "", _(_SORT_LABELS[one])) for one in (SORTS if chosen.q else SORTS[:2])],
        next_label=_(_NEXT_LABELS[chosen.sort or SORTS[0]]), intro=service.options.intro,
        quick=quick_filters(chosen, formatter), near_url=action + replace(chosen, near="").query(sort=chosen.sort),
        description=_(
            "{title}, with times, places, prices and sources, collected from many calendars in one place: {site}.",
            title=title, site=service.options.site_name,
        ),
        canonical=_canonical(request, "/" + chosen.query()) if chosen.is_topic and not is_search and not cursor else "",
        robots="" if chosen.is_topic and not is_search and not cursor else "noindex, follow",
    )  # fmt: skip


def _canonical(request: Request, path: str) -> str:
    return request_origin(request) + path


def _in_order(service: Service, wanted: EventFilter, sort: str, cursor: str | None) -> EventPage:
    if sort == "relevance":
        return service.store.events.list_by_relevance(wanted, limit=LIST_SIZE, cursor=cursor)
    return service.store.events.list(wanted, limit=LIST_SIZE, cursor=cursor, backwards=sort == "-starts")


def _groups(items: tuple[ListedEvent, ...], chosen: CalendarFilter, since: date | None, formatter: Formatter) -> list[EventGroup]:
    if chosen.sort == "relevance":
        return group_by_relevance(items, chosen.q, formatter)
    return group_by_day(items, since, formatter, q=chosen.q, backwards=chosen.sort == "-starts")


def _choices(service: Service) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return service.store.events.cities(), service.store.events.categories()


@router.get("/month")
def this_month(request: Request) -> Response:
    """Redirect to the current month."""
    return _redirect(request, f"/month/{local_today(service_of(request)):%Y-%m}")


@router.get("/month/{month}")
def month_page(request: Request, month: str) -> Response:
    """A month as a table."""
    first = parse_day(f"{month}-01")
    if first is None:
        raise HttpProblem(404)
    service, formatter = service_of(request), formatter_of(request)
    weeks = calendar_weeks(first.year, first.month)
    last = shift_month(first, 1) - timedelta(days=1)
    chosen, choices, found = _period(request, first, last)
    ongoing = fill_weeks(weeks, found, formatter)
    query = chosen.query(days=False)
    return render(
        request, "calendar/month.html", place="/month", heading=formatter.month(first), weeks=weeks,
        weekdays=formatter.weekdays(), ongoing=ongoing, today=local_today(service), filters=chosen, cities=choices[0],
        categories=choices[1], query=query, action=request.url.path, shown=3, agenda=8,
        **_beside_dates(request, chosen, formatter),
        before_url=_month_url(shift_month(first, -1), query) if _day_before(service, chosen, first) else "",
        after_url=_month_url(shift_month(first, 1), query) if _day_after(service, chosen, last) else "",
        now_url=_month_url(local_today(service).replace(day=1), query),
        is_cut=len(found) >= MAX_EVENTS, most=MAX_EVENTS,
        description=formatter.gettext(
            "All events in {month}, day by day, with times, places, prices and sources, collected in one calendar: {site}.",
            month=formatter.month(first), site=service.options.site_name,
        ),
        canonical=_canonical(request, request.url.path), robots="" if found and not chosen.is_any else "noindex, follow",
    )  # fmt: skip


def _month_url(first: date, query: str) -> str:
    return f"/month/{first:%Y-%m}{query}" if first.year in YEARS else f"/month{query}"


@router.get("/day")
def this_day(request: Request) -> Response:
    """Redirect to the current day."""
    return _redirect(request, f"/day/{local_today(service_of(request)).isoformat()}")


@router.get("/day/{day}")
def day_page(request: Request, day: str) -> Response:
    """A day."""
    wanted = parse_day(day)
    if wanted is None:
        raise HttpProblem(404)
    formatter = formatter_of(request)
    chosen, choices, found = _period(request, wanted, wanted)
    starting, ongoing = split_by_day(found, wanted, formatter)
    query = chosen.query(days=False)
    before, after = (beside(service_of(request), chosen, wanted) for beside in (_day_before, _day_after))
    return render(
        request, "calendar/day.html", place="/day" if wanted == local_today(service_of(request)) else "",
        heading=formatter.day(wanted), starting=starting, ongoing=ongoing, filters=chosen, cities=choices[0],
        categories=choices[1], action=request.url.path, before_url=f"/day/{before}{query}" if before else "",
        **_beside_dates(request, chosen, formatter),
        after_url=f"/day/{after}{query}" if after else "", month_url=_month_url(wanted, query),
        is_cut=len(found) >= MAX_EVENTS, most=MAX_EVENTS,
        description=formatter.gettext(
            "Events on {day}, with times, places, prices and sources, collected from many calendars: {site}.",
            day=formatter.day(wanted),
            site=service_of(request).options.site_name,
        ),
        canonical=_canonical(request, request.url.path), robots="" if found and not chosen.is_any else "noindex, follow",
    )  # fmt: skip


def _period(
    request: Request, first: date, last: date
) -> tuple[CalendarFilter, tuple[tuple[str, ...], tuple[str, ...]], list[EventRecord]]:
    """The filter of a request without its dates, the choices of its form, and the events from one day to another."""
    service = service_of(request)
    choices = _choices(service)
    given = parse_filter(request.query_params, choices[0])
    near = given.near if _circle(given.near) is not None else ""
    chosen = CalendarFilter(city=given.city, category=given.category, q=given.q, free=given.free, near=near)
    return chosen, choices, _events_between(service, chosen, first, last)


def _beside_dates(request: Request, chosen: CalendarFilter, formatter: Formatter) -> dict[str, Any]:
    """The quick filters of a page that has its own dates."""
    quick = [one for one in quick_filters(chosen, formatter) if one.name != "when"]
    return {"quick": quick, "near_url": request.url.path + replace(chosen, near="").query(days=False)}


def _period_filter(chosen: CalendarFilter) -> EventFilter:
    return EventFilter(
        city=chosen.city or None, category=chosen.category or None, q=chosen.q or None, free=bool(chosen.free),
        near=_circle(chosen.near), archived=None,
    )  # fmt: skip


def _events_between(service: Service, chosen: CalendarFilter, first: date, last: date) -> list[EventRecord]:
    wanted = replace(_period_filter(chosen), since=first, until=last)
    return list(service.store.events.iterate(wanted, limit=MAX_EVENTS))


def _day_after(service: Service, chosen: CalendarFilter, day: date) -> date | None:
    """The next day with events, so that neither people nor crawlers walk through empty days without end."""
    wanted = replace(_period_filter(chosen), since=day + timedelta(days=1))
    found = service.store.events.list(wanted, limit=1).items
    return max(day + timedelta(days=1), found[0].time.local_date) if found and found[0].time else None


def _day_before(service: Service, chosen: CalendarFilter, day: date) -> date | None:
    """The last day before with events."""
    wanted = replace(_period_filter(chosen), until=day - timedelta(days=1))
    found = service.store.events.list(wanted, limit=1, backwards=True).items
    return min(day - timedelta(days=1), found[0].time.last_date) if found and found[0].time else None


def _redirect(request: Request, path: str) -> Response:
    response = RedirectResponse(path + (f"?{request.url.query}" if request.url.query else ""), 307)
    remember_language(request, response)
    return response


def event_page(request: Request, event_id: int) -> Response:
    """One event. Events that are not published are shown to signed-in users only."""
    service, formatter = service_of(request), formatter_of(request)
    found = service.store.events.record(event_id) if 0 < event_id < 2**62 else None
    if found is not None and found.event.merged_into is not None:
        return RedirectResponse(f"/events/{found.event.merged_into}", 303)
    may_see = found is not None and (found.event.status is EventStatus.ACTIVE or caller_of(request).role >= Role.VIEWER)
    if found is None or not may_see:
        raise HttpProblem(404)
    event, time = found.event, next_time(found.times, local_today(service))
    others = [format_event_time(one, event.timezone, formatter) for one in found.times if one is not time]
    here = service.options.timezone
    canonical = f"{request_origin(request)}/events/{event.id}"
    description = render_description(event.description)
    return render(
        request, "calendar/event.html", event=event, when=format_event_time(time, event.timezone, formatter), more_times=others,
        most_times=MAX_DATES, until=format_last_day(event, time, formatter) if time else "",
        zone_note=event.timezone if event.timezone and event.timezone != here and time is not None and time.has_time else "",
        map_url=map_url(event), page_url=event.url if is_web_url(event.url) else "",
        is_html=isinstance(description, Markup), canonical=canonical, sources=_attribution(service, event),
        description_text=description, description=event_summary(event, format_event_time(time, event.timezone, formatter)),
        robots="" if event.status is EventStatus.ACTIVE else "noindex", image=event.image if is_web_url(event.image) else "",
        is_public=event.status is EventStatus.ACTIVE, json_ld=event_json_ld(found, time, canonical),
        list_url=lambda **query: "/?" + urlencode(query),
    )  # fmt: skip


def event_summary(event: CalendarEvent, when: str) -> str:
    """When and where an event is, and the beginning of its description, for search results and previews."""
    text = plain_text(event.description)
    facts = (event.title, when, format_place(event), event.price, text, event.organizer)
    return shorten(" · ".join(filter(None, facts)), SUMMARY_LENGTH)


def render_description(text: str) -> Markup | str:
    """A description, sanitised again whatever the database contains: markup, or a text that the template escapes."""
    cleaned = sanitise_html(text)
    return Markup(cleaned) if is_html(cleaned) else cleaned  # noqa: S704 - it is sanitised here


def map_url(event: CalendarEvent) -> str:
    """The URL of a map, by position or by address."""
    base = "https://www.openstreetmap.org/"
    if event.lat is not None and event.lon is not None:
        return f"{base}?mlat={event.lat:.6f}&mlon={event.lon:.6f}#map=17/{event.lat:.6f}/{event.lon:.6f}"
    query = event.address or " ".join(filter(None, (event.venue, event.city)))
    return f"{base}search?query={quote(query)}" if query else ""


def _attribution(service: Service, event: CalendarEvent) -> list[dict[str, str]]:
    """The sources of an event: name, URL, licence, terms of use."""
    known = {one.id: one for one in service.store.sources.list()}
    said = service.store.events.provenance(event.id).sightings
    ids = list(dict.fromkeys([event.source_id, *(one.source_id for one in said if one.gone_at is None)]))
    found = []
    for number in ids:
        source = known.get(number) if number is not None else None
        is_main = number == event.source_id
        url = event.source_url if is_main else (source.url if source else "")
        found.append({
            "name": source.name if source else "", "url": url if is_web_url(url) else "",
            "licence": (event.licence if is_main else "") or (source.licence if source else ""),
            "terms_url": _terms(event.terms_url if is_main else "", source),
        })  # fmt: skip
    return [one for one in found if one["name"] or one["url"]] or found[:1]


def _terms(own: str, source: EventSource | None) -> str:
    url = own or (source.terms_url if source else "")
    return url if is_web_url(url) else ""


@router.get("/subscribe")
def subscribe(request: Request) -> Response:
    """The URLs of feeds with the chosen filters."""
    service = service_of(request)
    cities, categories = _choices(service)
    chosen = parse_filter(request.query_params, cities)
    base, query = request_origin(request), chosen.query()
    feed = f"{base}/events.ics{query}"
    webcal = "webcal://" + feed.partition("://")[2]
    ics_hint = N_(
        "Google Calendar: Other calendars > From URL. Outlook: Add calendar > Subscribe from web. iPhone: use the button."
    )
    rss, csv = f"/events.rss{query}", f"/events.csv{query}"
    addresses = [
        (N_("Calendar (ICS)"), feed, webcal, N_("Add to calendar app"), ics_hint),
        (N_("RSS feed"), f"{base}{rss}", rss, N_("Open RSS feed"), N_("For feed readers and chat apps.")),
        (N_("Table (CSV)"), f"{base}{csv}", csv, N_("Download CSV"), N_("For spreadsheets.")),
    ]
    return render(
        request,
        "calendar/subscribe.html",
        place="/subscribe",
        filters=chosen,
        cities=cities,
        categories=categories,
        addresses=addresses,
        frame=f'<iframe src="{base}/embed{query}" width="100%" height="600" title="{escape(service.options.site_name)}"></iframe>'
        if service.options.embed
        else "",
        description=formatter_of(request).gettext(
            "Follow the events of {site} in your calendar app, feed reader or spreadsheet, by city, category or search words.",
            site=service.options.site_name,
        ),
        canonical=_canonical(request, "/subscribe"),
    )


@router.get("/about")
def about(request: Request) -> Response:
    """The sources of the calendar and their licences."""
    sources = [
        {"name": one.name, "url": one.url if is_web_url(one.url) else "", "city": one.city, "licence": one.licence,
         "terms_url": _terms(one.terms_url, None)}
        for one in service_of(request).store.sources.list(enabled=True)
    ]  # fmt: skip
    description = formatter_of(request).gettext(
        "Where the events of {site} come from: all sources with their licences and terms, and how the calendar is made.",
        site=service_of(request).options.site_name,
    )  # fmt: skip
    return render(
        request, "calendar/about.html", place="/about", sources=sources, own_text=service_of(request).options.about,
        description=description,
        canonical=_canonical(request, "/about"),
    )  # fmt: skip


@router.get("/static/{name}")
async def static_file(request: Request, name: str) -> Response:
    """A static file."""
    found = static_files().get(name)
    if found is None:
        raise HttpProblem(404)
    content, kind, version = found
    tag = f'"{version}"'
    keep = "public, max-age=31536000, immutable" if request.query_params.get("v") == version else "no-cache"
    headers = {"Cache-Control": keep, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


@router.get("/embed")
def embed(request: Request) -> Response:
    """The calendar in a frame of another site: a list, or with `view=month` a month, filtered like the list."""
    service = service_of(request)
    chosen = parse_filter(request.query_params, service.store.events.cities())
    response = _embed_month(request, chosen) if request.query_params.get("view") == "month" else _embed_list(request, chosen)
    allow_framing(response.headers, service.options.embed)
    return response


def _embed_list(request: Request, chosen: CalendarFilter) -> Response:
    service, formatter = service_of(request), formatter_of(request)
    wanted, problem = to_event_filter(chosen, formatter, today=local_today(service))
    size = request.query_params.get("limit", "")
    limit = min(max(int(size), 1), MAX_EMBED_SIZE) if size.isascii() and size.isdigit() and len(size) < 4 else EMBED_SIZE
    _ = formatter.gettext
    page = None if problem else service.store.events.list(wanted, limit=limit)
    return render(
        request, "calendar/embed.html", status=400 if problem else 200, problem=problem, weeks=None, ongoing=(), is_cut=False,
        heading=list_title(chosen, formatter), today=local_today(service),
        groups=group_by_day(page.items, wanted.since, formatter) if page else [], whole_url=f"/{chosen.query()}",
        is_more=page is not None and page.next_cursor is not None,
    )  # fmt: skip


def _embed_month(request: Request, chosen: CalendarFilter) -> Response:
    service, formatter = service_of(request), formatter_of(request)
    first = parse_day(f"{request.query_params.get('month', '')}-01") or local_today(service).replace(day=1)
    found = _events_between(service, chosen, first, shift_month(first, 1) - timedelta(days=1))
    weeks = calendar_weeks(first.year, first.month)
    ongoing = fill_weeks(weeks, found, formatter)
    query = chosen.query(days=False)

    def beside(months: int) -> str:
        other = parse_day(f"{shift_month(first, months):%Y-%m}-01") or first
        return f"/embed{chosen.query(days=False, view='month', month=f'{other:%Y-%m}')}"

    return render(
        request, "calendar/embed.html", heading=formatter.month(first), weeks=weeks, weekdays=formatter.weekdays(),
        ongoing=ongoing, today=local_today(service), query=query, shown=3, before_url=beside(-1), after_url=beside(1),
        groups=[], is_more=False, whole_url=f"/month/{first:%Y-%m}{query}", is_cut=len(found) >= MAX_EVENTS, most=MAX_EVENTS,
    )  # fmt: skip


MAX_FILTER_LENGTH = 200
"""Characters of a field."""
SORTS = ("starts", "-starts", "relevance")
"""The orders of a list, named as in the API; the last one is for searches."""
WHENS = ("today", "weekend", "next-weekend")
"""The periods of the quick filters."""
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
    when: str = ""
    """One of WHENS, if no dates are given."""
    near: str = ""
    """Latitude, longitude and kilometres."""
    free: str = ""
    """`true` for events that cost nothing."""
    sort: str = ""
    """One of SORTS; empty for the first."""

    @property
    def is_any(self) -> bool:
        """Whether anything is filtered."""
        return bool(self.values)

    @property
    def values(self) -> tuple[str, ...]:
        """The values that are set."""
        return tuple(filter(None, (self.city, self.category, self.q, self.since, self.until, self.when, self.near, self.free)))

    @property
    def is_topic(self) -> bool:
        """Whether this is a list that search engines should know: all events, or those of one city, category or weekend."""
        return not self.sort and len(self.values) == bool(self.city or self.category or self.when or self.free)

    def query(self, *, days: bool = True, **more: str) -> str:
        """The query string of a URL with these values. The order is included only if it is passed as `sort`."""
        given = {"city": self.city, "category": self.category, "q": self.q, "near": self.near, "free": self.free}
        if days:
            given |= {"from": self.since, "to": self.until, "when": self.when}
        parameters = {name: value for name, value in (given | more).items() if value}
        return f"?{urlencode(parameters)}" if parameters else ""


def parse_filter(query: Mapping[str, str], cities: tuple[str, ...] = ()) -> CalendarFilter:
    """The form of a query string. A city may be named without its 市."""
    fields = {"city": "city", "category": "category", "q": "q", "since": "from", "until": "to", "near": "near"}
    given = {name: query.get(key, "").replace("\0", "").strip()[:MAX_FILTER_LENGTH] for name, key in fields.items()}
    given["city"] = find_city(given["city"], cities) or given["city"]
    sorts = SORTS[1:] if given["q"] else SORTS[1:2]
    # `was` is the quick filter of the page: dates replace it, and a quick filter that is pressed replaces dates.
    has_days = given["since"] or given["until"]
    when = query.get("when", "" if has_days else query.get("was", ""))
    given["when"] = when if when in WHENS else ""
    if given["when"]:
        given |= {"since": "", "until": ""}
    given["free"] = "true" if query.get("free") == "true" else ""
    return CalendarFilter(**given, sort=query["sort"] if query.get("sort") in sorts else "")


def to_event_filter(chosen: CalendarFilter, formatter: Formatter, *, today: date) -> tuple[EventFilter, str]:
    """The filter of the store, and a text if a date is invalid."""
    _, problem = formatter.gettext, ""
    days: dict[str, date | None] = {}
    for name, text in (("since", chosen.since), ("until", chosen.until)):
        days[name] = parse_day(text) if text else None
        if text and days[name] is None:
            problem = problem or _("“{given}” is not a date. Use the format 2026-08-01.", given=text)
    since, until = period_of(chosen.when, today) or (days["since"], days["until"])
    if since is not None and until is not None and since > until:
        problem = _("The start date is after the end date. Swap the two dates.")
    if since is None and (until is None or until >= today):
        since = today
    near = _circle(chosen.near)
    if chosen.near and near is None:
        problem = problem or _(
            "“{given}” is not a place. Use latitude, longitude and kilometres: 39.70,141.15,10.", given=chosen.near
        )
    found = EventFilter(
        city=chosen.city or None, category=chosen.category or None, q=chosen.q or None, since=since, until=until, near=near,
        free=bool(chosen.free),
    )  # fmt: skip
    return found, problem


def _circle(text: str) -> GeoCircle | None:
    try:
        return parse_circle(text) if text else None
    except ValueError:
        return None


def period_of(when: str, today: date) -> tuple[date, date] | None:
    """The days of a quick filter; None if it is none. On Sunday, this weekend is the day that is left of it."""
    monday = today - timedelta(days=today.weekday())
    if when == "today":
        return today, today
    if when == "weekend":
        return max(today, monday + timedelta(days=5)), monday + timedelta(days=6)
    return (monday + timedelta(days=12), monday + timedelta(days=13)) if when == "next-weekend" else None


@dataclass(frozen=True, slots=True)
class QuickFilter:
    """A filter that is one click away; a second click removes it."""

    name: str
    value: str
    label: str
    is_current: bool


def quick_filters(chosen: CalendarFilter, formatter: Formatter) -> list[QuickFilter]:
    """Today, this weekend, next weekend and free events."""
    _ = formatter.gettext
    labels = {"today": _("Today"), "weekend": _("This weekend"), "next-weekend": _("Next weekend")}
    found = [QuickFilter("when", when, label, chosen.when == when) for when, label in labels.items()]
    return [*found, QuickFilter("free", "true", _("Free"), bool(chosen.free))]


def list_title(chosen: CalendarFilter, formatter: Formatter) -> str:
    """The heading of a list of events."""
    _ = formatter.gettext
    if not chosen.is_any:
        return _("Upcoming events")
    if not chosen.is_topic:
        return _("Filtered events")
    if chosen.city:
        return _("Events in {city}", city=chosen.city)
    if chosen.category:
        return _("Events: {category}", category=chosen.category)
    titles = {"today": _("Events today"), "weekend": _("Events this weekend"), "next-weekend": _("Events next weekend")}
    return titles.get(chosen.when) or _("Free events")


def parse_day(text: str) -> date | None:
    """A day in ISO format, in one of YEARS."""
    try:
        found = date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None
    return found if found is not None and found.year in YEARS else None
