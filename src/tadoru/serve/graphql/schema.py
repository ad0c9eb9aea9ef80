"""What one may begin with: the calendar, and for those who look after it sources, runs, questions; `crawls` has the rest.

Each field asks what the route of REST asks that it names in `rights`.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, get_args

import strawberry

from tadoru.jobs.events.publish.documents import document
from tadoru.jobs.events.publish.records import review_json, run_json
from tadoru.model.event import ReviewReason
from tadoru.serve.graphql.asking import Document, one_of, whole
from tadoru.serve.graphql.crawls import CRAWLS
from tadoru.serve.graphql.limits import A_PAGE, LARGEST_PAGE
from tadoru.serve.graphql.rights import Asked, field
from tadoru.serve.graphql.types import list_of, object_of, page, page_of
from tadoru.serve.rest import models, models_admin, reading
from tadoru.serve.rest.asked import Exactly
from tadoru.serve.rest.events import shown
from tadoru.serve.rest.lists import read_page
from tadoru.serve.rest.register import found_source


# ---- What leads from one thing to another -----------------------------------------------------------------------------------
def _source_of(info: Asked, root: strawberry.Parent[Any]) -> Any:
    """The source that it is from."""
    return info.context.sources.take(root["source_id"])


def _events_of(info: Asked, root: strawberry.Parent[Any]) -> Any:
    """The events that it is about: who may read a question may read them, whatever their state."""
    found = [info.context.events.take(number) for number in root["candidate_ids"]]
    return _with_sources(info, [one for one in found if one is not None])


def _matches_of(root: strawberry.Parent[Any]) -> Any:
    """Of a list that is searched; one event by itself has none."""
    return root.get("matches", [])


Source = object_of(models_admin.Source)
Match = object_of(models.Match)
MATCHES = strawberry.field(resolver=_matches_of, graphql_type=list_of(Match), description="Where the words of q stand in it.")
Event = object_of(models.Event, {"source": field(_source_of, Source, "Event.source"), "matches": MATCHES})
Run = object_of(models_admin.Run, {"source": field(_source_of, Source, "Run.source")})
Review = object_of(models.Review, {"events": field(_events_of, list_of(Event), "Review.events")})
Status = object_of(models_admin.Status)
EventPage, SourcePage, RunPage, ReviewPage = (page_of(one) for one in (Event, Source, Run, Review))


def _with_sources(info: Asked, items: list[Document]) -> list[Document]:
    info.context.sources.want(one["source_id"] for one in items)
    return items


# ---- Events -----------------------------------------------------------------------------------------------------------------
def events(  # noqa: PLR0913, PLR0917 - the filters of a list, each an argument
    info: Asked,
    city: str | None = None,
    since: Annotated[date | None, strawberry.argument(name="from")] = None,
    until: Annotated[date | None, strawberry.argument(name="to")] = None,
    category: str | None = None,
    q: str | None = None,
    near: str | None = None,
    source: strawberry.ID | None = None,
    updated_since: str | None = None,
    status: str | None = None,
    every: Annotated[bool, strawberry.argument(name="all")] = False,
    sort: str = "starts",
    first: int = A_PAGE,
    after: str | None = None,
) -> Any:
    """Events in the order of time (starts), of change (updated) or the best first (relevance, with q), with a minus the other way
    around: each once, at the first of its times that fits."""
    given = {
        "city": city, "from": since, "to": until, "category": category, "q": q, "near": near, "source": source, "sort": sort,
        "updated_since": updated_since, "status": status, "all": every, "limit": first, "cursor": after,
    }  # fmt: skip
    asked = Exactly.model_validate({name: value for name, value in given.items() if value is not None})
    found = read_page(asked, info.context.caller, info.context.service)
    return page(_with_sources(info, found.items), found.next_cursor)


def event(info: Asked, id: strawberry.ID) -> Any:  # noqa: A002 - what people write
    """One event with all of its times, also one that is archived; of one that was merged, the event it is a part of."""
    return document(shown(whole(id, "id"), info.context.caller, info.context.service))


def cities(info: Asked) -> list[str]:
    """Every city that something takes place in."""
    return list(info.context.service.store.cities())


def categories(info: Asked) -> list[str]:
    """Every category that an event of the calendar has."""
    return list(info.context.service.store.categories())


# ---- For those who look after the calendar ----------------------------------------------------------------------------------
def sources(info: Asked, enabled: bool | None = None, first: int = A_PAGE, after: str | None = None) -> Any:
    """The sources by their number."""
    limit, cursor = whole(first, "first", most=LARGEST_PAGE), whole(after or 0, "after", least=0)
    found = reading.sources_part(info.context.service, info.context.caller, enabled=enabled, limit=limit, cursor=cursor)
    return page(found.items, found.next_cursor)


def source(info: Asked, id: strawberry.ID) -> Any:  # noqa: A002
    """One source."""
    found = found_source(info.context.service, whole(id, "id"))
    return info.context.sources.take(found.id)


def runs(info: Asked, source: strawberry.ID | None = None, first: int = A_PAGE, after: str | None = None) -> Any:
    """The log of collecting, the newest run first."""
    source_id, cursor = (None if given is None else whole(given, name) for given, name in ((source, "source"), (after, "after")))
    limit = whole(first, "first", most=LARGEST_PAGE)
    found = reading.runs_part(info.context.service, source_id=source_id, limit=limit, cursor=cursor)
    return page(_with_sources(info, found.items), found.next_cursor)


def run(info: Asked, id: strawberry.ID) -> Any:  # noqa: A002
    """One collection of one source."""
    return run_json(reading.one_run(info.context.service, whole(id, "id")))


def reviews(
    info: Asked, state: str = "open", reason: str | None = None, first: int = A_PAGE, after: str | None = None
) -> Any:  # fmt: skip
    """Questions for a person, the oldest first."""
    asked = None if reason is None else ReviewReason(one_of(reason, "reason", tuple(ReviewReason)))
    which = one_of(state, "state", get_args(reading.ReviewState))
    limit, cursor = whole(first, "first", most=LARGEST_PAGE), whole(after or 0, "after", least=0)
    found = reading.reviews_part(info.context.service, state=which, reason=asked, limit=limit, cursor=cursor)
    info.context.events.want(number for one in found.items for number in one["candidate_ids"])
    return page(_with_sources(info, found.items), found.next_cursor)


def review(info: Asked, id: strawberry.ID) -> Any:  # noqa: A002
    """One question."""
    found = review_json(reading.one_review(info.context.service, whole(id, "id")))
    info.context.events.want(found["candidate_ids"])
    return found


def status(info: Asked, days: int = 30) -> Any:
    """How the sources do: what they hold, how often they fail, how much others say too, how late they are."""
    return reading.status_document(info.context.service, whole(days, "days", most=90))


EVENTS = {
    "events": field(events, EventPage, "events"), "event": field(event, Event, "event"),
    "cities": field(cities, list_of(str), "cities"), "categories": field(categories, list_of(str), "categories"),
    "sources": field(sources, SourcePage, "sources"), "source": field(source, Source, "source"),
    "runs": field(runs, RunPage, "runs"), "run": field(run, Run, "run"), "reviews": field(reviews, ReviewPage, "reviews"),
    "review": field(review, Review, "review"), "status": field(status, Status, "status"),
}  # fmt: skip
Query = strawberry.type(type("Query", (), EVENTS | CRAWLS), description="What can be read. Changes are made over REST.")
