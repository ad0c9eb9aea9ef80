"""The events that are found, the best first.

How well an event fits is told by where the words stand in its searched text, whose first part is the title: a title that says
just what was asked for, then words in the title, then words elsewhere; and each of these whole before a part of a longer word. A
run without spaces that ends with the word counts as whole: 夏の花火 is 花火, 花火大会 is 大会. Both databases work out the same
number, and events that fit equally well are in the order of time. So a list by relevance has an order that is known in advance,
and a cursor like any other; but all that was found is weighed for each page.
"""

from __future__ import annotations

import base64
import binascii
import json
from datetime import datetime
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, literal, select, tuple_
from sqlalchemy.types import Text

from tadoru.errors import UsageError
from tadoru.store.events.listing import EventFilter, Listing, cursor_of, place_of
from tadoru.store.events.schema import events, occurrences
from tadoru.store.events.search_words import BETWEEN, Phrase, Query, query_of
from tadoru.store.events.values import Page

_TITLE_WHOLE, _TITLE_PART, _WHOLE, _PART = 0, 2, 4, 6
"""How far away a word is, by where it stands."""


def events_by_relevance(store: Listing, chosen: EventFilter, *, limit: int = 20, cursor: str | None = None) -> Page:
    """A page of what has the words, the best first; each event at the first of its times that fits."""
    asked = query_of(chosen.q or "")
    if asked is None:
        raise UsageError("A list by relevance needs words to look for: give q, or another sort.")
    after = _place(cursor) if cursor else None
    queries = [_ranked(store, query, asked, after, limit + 1) for query in store.time_queries(chosen, None, None)]
    with store.read() as sql:
        found = [row for query in queries for row in sql.execute(query)] if asked.wanted else []
        found.sort(key=lambda row: (row.distance, row.starts_at, row.event_id))
        rows = found[:limit]
        items = store.listed(sql, [(row.event_id, row.number) for row in rows])
    last = rows[-1] if len(found) > limit else None
    return Page(items=items, next_cursor=_cursor(last.distance, last.starts_at, last.event_id) if last else None)


def _ranked(store: Listing, query: Select[Any], asked: Query, after: tuple[int, datetime, int] | None, limit: int) -> Select[Any]:
    """A list of times in the order of how well their events fit, behind a place when there is one."""
    far = distance(asked, is_sqlite=store.is_sqlite).label("distance")
    found = query.order_by(None).add_columns(far).subquery()
    order = (found.c.distance, found.c.starts_at, found.c.event_id)
    wanted = select(found)
    if after is not None:
        place = (literal(after[0]), literal(after[1], type_=occurrences.c.starts_at.type), literal(after[2]))
        wanted = wanted.where(tuple_(*order) > tuple_(*place))
    return wanted.order_by(*order).limit(limit)


def distance(asked: Query, *, is_sqlite: bool) -> ColumnElement[int]:
    """How far an event is from what was asked for: 0 when its title says just that."""
    text = events.c.search_text
    position = func.instr if is_sqlite else func.strpos

    def at(line: str) -> ColumnElement[int]:
        found: ColumnElement[int] = position(text, literal(line, Text()))
        return found

    end_of_title = position(text.concat(literal(BETWEEN, Text())), literal(BETWEEN, Text()))

    def far(phrase: Phrase) -> ColumnElement[int]:
        whole, anyhow = at(whole_line(phrase)), at(phrase.line)
        return case(
            (whole.between(1, end_of_title), _TITLE_WHOLE), (anyhow.between(1, end_of_title), _TITLE_PART),
            (whole > 0, _WHOLE), else_=_PART,
        )  # fmt: skip

    said = " ".join(whole_line(phrase).strip() for phrase in asked.wanted)
    is_title = func.substr(text.concat(literal(BETWEEN, Text())), 1, len(said) + 3) == literal(f" {said} {BETWEEN}", Text())
    just_this: ColumnElement[int] = case((is_title, 0), else_=1)
    return reduce(add, map(far, asked.wanted), just_this)


def whole_line(phrase: Phrase) -> str:
    """What is found where the words are whole: of a run without spaces, where it ends with them."""
    last = phrase.words[-1]
    # Pairs of a run, of which a query leaves the last character out (`search_words`).
    ends = f" {last[1]}" if not phrase.is_open and phrase.is_run else ""
    return f" {' '.join(phrase.words)}{ends} "


def _cursor(far: int, at: datetime, event_id: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([far, cursor_of(at, event_id)]).encode()).decode().rstrip("=")


def _place(cursor: str) -> tuple[int, datetime, int]:
    try:
        far, rest = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if not isinstance(far, int) or isinstance(far, bool) or abs(far) >= 2**31 or not isinstance(rest, str):
            raise ValueError(cursor)
    except (ValueError, TypeError, RecursionError, binascii.Error) as error:
        raise UsageError("This place in the list is unknown: begin again without `cursor`.") from error
    return (far, *place_of(rest))
