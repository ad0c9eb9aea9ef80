"""Asking the index of searched texts, of each database's own kind.

SQLite has a full-text table over the column `search_text`, PostgreSQL an index of the words in it; both are kept by triggers or
by the database itself, in the transaction that writes the event (revision 0004). Both find candidates by whole words or the
beginning of one; SQLite knows their order too, on PostgreSQL the text is looked at again.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from sqlalchemy import CTE, ColumnElement, Connection, Select, and_, column, false, func, literal, literal_column, select, table
from sqlalchemy.dialects.postgresql import TSQUERY, TSVECTOR
from sqlalchemy.types import Text

from tadoru.store.events.schema import events, occurrences
from tadoru.store.events.search_words import Phrase, Query

FEW = 2000
"""Up to so many events that are found are put in order; among more of them the list is walked in its order instead."""
_SAMPLE, _COMMON = 200, 0.05
"""Events that are looked at to know what is common, and the share of them that makes it so."""


class Share(Enum):
    """How many of all events have what is asked for: each is found in another way."""

    FEW = "few"
    SOME = "some"
    COMMON = "common"


_index = table("events_search", column("rowid"))
_match: ColumnElement[Any] = literal_column("events_search")


def has_words(query: Query, *, is_sqlite: bool) -> ColumnElement[bool]:
    """The condition that an event has what is asked for."""
    if not query.wanted:
        return false()
    if is_sqlite:
        return events.c.id.in_(found(query))
    words = func.array_to_tsvector(func.string_to_array(func.btrim(events.c.search_text), literal_column("' '")), type_=TSVECTOR)
    asked = literal(" & ".join(_lexemes(phrase) for phrase in query.wanted), Text()).cast(TSQUERY)
    # One word is found by the index alone; to ask for it twice would let the planner think it twice as rare.
    said = [events.c.search_text.contains(phrase.line) for phrase in query.wanted if len(phrase.words) > 1]
    return and_(words.op("@@")(asked), *said, *(~events.c.search_text.contains(phrase.line) for phrase in query.unwanted))


def _lexemes(phrase: Phrase) -> str:
    """The words of a phrase in PostgreSQL's language. They are letters and digits only: nothing a person types is syntax."""
    last = len(phrase.words) - 1
    return " & ".join(f"'{word}'{':*' if at == last and phrase.is_open else ''}" for at, word in enumerate(phrase.words))


def found(query: Query) -> Select[Any]:
    """The numbers of the events that have it, on SQLite."""
    return select(_index.c.rowid).where(_match.op("MATCH")(expression(query)))


def expression(query: Query) -> str:
    """The query in SQLite's language, of quoted strings only."""
    wanted = " AND ".join(map(_quoted, query.wanted))
    return f"({wanted})" + "".join(f" NOT {_quoted(phrase)}" for phrase in query.unwanted)


def _quoted(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.words)}"{"*" if phrase.is_open else ""}'


def is_said(query: Query) -> ColumnElement[bool]:
    """The condition that the text of an event has it: the index is not asked."""
    text = events.c.search_text
    wanted = [func.instr(text, phrase.line) > 0 for phrase in query.wanted]
    return and_(*wanted, *(func.instr(text, phrase.line) == 0 for phrase in query.unwanted))


def share(sql: Connection, query: Query) -> Share:
    """How many events have it, on SQLite: few, some, or so many that reading texts along the list is the shortest way."""
    last: int = sql.execute(select(func.max(events.c.id))).scalar() or 0
    sample = {1 + number * last // _SAMPLE for number in range(_SAMPLE)}
    common = select(func.count()).where(events.c.id.in_(sample), is_said(query))
    if sql.execute(common).scalar_one() >= _SAMPLE * _COMMON:
        return Share.COMMON
    some = found(query).limit(FEW + 1).subquery()
    return Share.FEW if sql.execute(select(func.count()).select_from(some)).scalar_one() <= FEW else Share.SOME


def times_of_found(query: Query) -> CTE:
    """The times of all events that have it, on SQLite: looked up by their numbers, whatever the planner thinks of that."""
    rows = select(occurrences).where(occurrences.c.event_id.in_(found(query))).cte("found")
    return rows.prefix_with("MATERIALIZED", dialect="sqlite")


def time_is_of_found(query: Query) -> ColumnElement[bool]:
    """The condition on a time that its event has it, on SQLite; the plus keeps the walk in its order."""
    return literal_column("+occurrences.event_id", occurrences.c.event_id.type).in_(found(query))
