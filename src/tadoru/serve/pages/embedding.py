"""The calendar for a frame on somebody else's page: a list or a month, without our own bars around it.

Which sites may show it says the option `embed`; without it no browser shows it in a frame. Its links open in the whole window,
and nothing in it can be changed.
"""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.serve.access.headers import framed_by
from tadoru.serve.pages.choosing import Chosen, day_of, filter_of, read
from tadoru.serve.pages.public import MOST, today_of
from tadoru.serve.pages.rendering import render, telling_of
from tadoru.serve.pages.showing import fill, grouped, next_month, weeks_of
from tadoru.serve.service import service_of
from tadoru.store.events.listing import EventFilter
from tadoru.store.events.walking import walk

router = APIRouter(include_in_schema=False)
SHOWN, MOST_SHOWN = 10, 50
"""Events of a list, unless `limit` says so, and at most."""


@router.get("/embed")
def embed(request: Request) -> Response:
    """A list, or with `view=month` a month; chosen by the fields of the filter form."""
    service = service_of(request)
    chosen = read(request.query_params, service.store.cities())
    response = _month(request, chosen) if request.query_params.get("view") == "month" else _list(request, chosen)
    framed_by(response.headers, service.options.embed)
    return response


def _list(request: Request, chosen: Chosen) -> Response:
    service, telling = service_of(request), telling_of(request)
    wanted, problem = filter_of(chosen, telling.say, today=today_of(service))
    asked = request.query_params.get("limit", "")
    limit = min(max(int(asked), 1), MOST_SHOWN) if asked.isascii() and asked.isdigit() and len(asked) < 4 else SHOWN
    page = None if problem else service.store.events(wanted, limit=limit)
    return render(
        request, "embed.html", status=400 if problem else 200, problem=problem, weeks=None, under_way=(), is_cut=False,
        heading=telling.say("list.chosen" if chosen.is_any else "list.title"), today=today_of(service),
        groups=grouped(page.items, wanted.since, telling) if page else [], whole_url=f"/{chosen.query()}",
        is_more=page is not None and page.next_cursor is not None,
    )  # fmt: skip


def _month(request: Request, chosen: Chosen) -> Response:
    service, telling = service_of(request), telling_of(request)
    first = day_of(f"{request.query_params.get('month', '')}-01") or today_of(service).replace(day=1)
    last = next_month(first, 1) - timedelta(days=1)
    wanted = EventFilter(
        city=chosen.city or None, category=chosen.category or None, q=chosen.q or None, since=first, until=last, archived=None
    )
    found = list(walk(service.store, wanted, limit=MOST))
    weeks = weeks_of(first.year, first.month)
    under_way = fill(weeks, found, telling)
    query = chosen.query(days=False)

    def beside(months: int) -> str:
        other = day_of(f"{next_month(first, months):%Y-%m}-01") or first
        return f"/embed{chosen.query(days=False, view='month', month=f'{other:%Y-%m}')}"

    return render(
        request, "embed.html", heading=telling.month(first), weeks=weeks, weekdays=telling.weekdays(), under_way=under_way,
        today=today_of(service), query=query, shown=3, before_url=beside(-1), after_url=beside(1), groups=[], is_more=False,
        whole_url=f"/month/{first:%Y-%m}{query}", is_cut=len(found) >= MOST, most=MOST,
    )  # fmt: skip
