"""What a search of events costs, on SQLite and on PostgreSQL: pages of 20 for words of one to six characters, common and rare.

`python -m bench.events_search [--sizes 100000 1000000] [--backends sqlite postgresql]`. The databases are those of
`bench.events_store`. Times are milliseconds of processor time of the asking process on SQLite, and of the clock on PostgreSQL,
which works in processes of its own; the median of five. `--database FILE` asks a database that is there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from sqlalchemy import text

from bench.events_store import load
from tadoru.clock import SystemClock
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.store import CalendarStore, open_calendar

WORDS = ("の", "会", "教室", "ヨガ", "囲碁", "図書館", "能楽堂", "おはなし会", "子育て支援セ", "マイナンバー", "ないない")
TODAY = date(2026, 11, 15)
LAST_DAYS = date(2028, 12, 20)


def measure(store: CalendarStore) -> list[str]:
    """A row of a table for each word."""
    clock: Callable[[], float] = time.process_time if store.db.is_sqlite else time.perf_counter
    cities = store.events.cities()
    city = cities[len(cities) // 2]
    rows = ["| word | events | all | from today | last days | in a city |", "|---|--:|--:|--:|--:|--:|"]
    for word in WORDS:
        asked: list[dict[str, Any]] = [{}, {"since": TODAY}, {"since": LAST_DAYS}, {"since": TODAY, "city": city}]
        times = [_median(clock, store, EventFilter(q=word, **given)) for given in asked]
        count = store.events.count(EventFilter(q=word))
        rows.append(f"| {word} | {count:,} | " + " | ".join(f"{one:.1f}" for one in times) + " |")
    return rows


def _median(clock: Callable[[], float], store: CalendarStore, chosen: EventFilter) -> float:
    found = []
    for _ in range(5):
        began = clock()
        store.events.list(chosen, limit=20)
        found.append((clock() - began) * 1000)
    return sorted(found)[2]


def size_of_index(store: CalendarStore) -> float:
    """Megabytes."""
    query = (
        "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'events_search%'"
        if store.db.is_sqlite
        else "SELECT pg_relation_size('events_search_words')"
    )
    with store.db.read() as sql:
        return float(sql.execute(text(query)).scalar_one()) / 1e6


def report(database: str) -> None:
    """Ask one database."""
    store = open_calendar(database, SystemClock())
    for row in measure(store):
        sys.stdout.write(f"{row}\n")
    sys.stdout.write(f"\nThe index has {size_of_index(store):,.0f} MB.\n\n")
    sys.stdout.flush()
    store.close()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--backends", nargs="+", default=["sqlite"], choices=["sqlite", "postgresql"])
    parser.add_argument("--database")
    given = parser.parse_args()
    if given.database:
        report(given.database)
        return 0
    for backend in given.backends:
        with tempfile.TemporaryDirectory() as folder:
            server: Any = None
            if backend == "postgresql":
                from tests.support.postgres import PostgresServer

                server = PostgresServer(
                    Path(tempfile.mkdtemp(prefix="tadoru-bench-")), shared_buffers="256MB", max_wal_size="4GB"
                )
            try:
                for size in given.sizes:
                    database = server.new_database() if server else str(Path(folder) / f"{size}.db")
                    load(database, size)
                    sys.stdout.write(f"{backend}, {size:,} events\n\n")
                    report(database)
            finally:
                if server:
                    server.stop()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
