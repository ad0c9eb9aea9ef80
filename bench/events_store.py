"""What a new batch of events costs in a large events database, on SQLite and on PostgreSQL, with the product's own matcher.

`python -m bench.events_store [--sizes 10000 100000 1000000] [--backends sqlite postgresql]`. For each size a database is filled
by a path of its own (nothing is judged then), spread over five years and 200 cities whose titles and venues are those of the
corpus. Then 10,000 rows are applied as the job would: 4,000 new events and 4,000 near-duplicates of stored ones from a source
that is new, and 2,000 rows that are known. Each step is a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, Table

from bench.events_corpus import CORPUS, rows
from bench.events_variants import SAME, elsewhere
from tadoru.clock import SystemClock
from tadoru.jobs.events.dedupe import EventMatcher
from tadoru.model.event import EventDraft, RunStatus
from tadoru.store.calendar.drafts import draft_hash, draft_to_json, event_columns, occurrence_rows
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.schema import blocks, events, occurrences, sightings
from tadoru.store.calendar.store import CalendarStore, open_calendar

CITIES, DAYS, FIRST = 200, 5 * 365, date(2024, 1, 1)
NEW, NEAR, KNOWN = 4000, 4000, 2000
SEED = 7
_NAMESAKES = ("", "北", "南", "東", "西", "新", "上", "下", "中", "元", "奥")
_TABLES = (events, occurrences, sightings, blocks)


class City(NamedTuple):
    """A municipality of the corpus, or one that was made of it under another name."""

    name: str
    pool: list[EventDraft]


def cities() -> list[City]:
    """200 of them: those of the corpus that list enough, and their namesakes."""
    pools: dict[str, dict[str, EventDraft]] = {}
    for row in rows():
        pools.setdefault(row.file, {}).setdefault(row.draft.title, row.draft)
    found = [list(pool.values()) for _, pool in sorted(pools.items()) if len(pool) >= 12]
    made = [City(f"{name}{pool[0].city or f'市{place}'}", pool) for name in _NAMESAKES for place, pool in enumerate(found)]
    return made[:CITIES]


def drafts(size: int, seed: int = SEED) -> Iterator[tuple[int, EventDraft]]:
    """So many events and the number of the city of each, in the order of their days; more of them on weekends."""
    chance, every = random.Random(seed), cities()
    weights = [2.0 if (FIRST + timedelta(days=number)).weekday() > 4 else 0.6 for number in range(DAYS)]
    share, made = size / (len(every) * sum(weights)), 0
    for number, weight in enumerate(weights):
        day = FIRST + timedelta(days=number)
        for place, city in enumerate(every):
            wanted = share * weight
            count = int(wanted) + (chance.random() < wanted % 1)
            for base in chance.sample(city.pool, min(count, len(city.pool))):
                made += 1
                yield place, _on(base, day, city.name, f"{seed}-{made}")


def _on(base: EventDraft, day: date, city: str, uid: str) -> EventDraft:
    when = base.occurrence
    start = datetime.combine(day, when.starts_at.timetz())
    length = min(when.ends_at - when.starts_at, timedelta(days=3)) if when.ends_at else None
    moved = replace(when, starts_at=start, ends_at=start + length if length else None)
    return replace(base, occurrence=moved, city=city, uid=uid, url="")


class Loader:
    """Rows straight into the tables, in the very form in which the store writes them."""

    def __init__(self, store: CalendarStore, sql: Connection) -> None:
        self._store, self._sql = store, sql
        dialect = sql.dialect
        self._bind = {
            table: [(column.name, column.type.dialect_impl(dialect).bind_processor(dialect)) for column in table.columns]
            for table in _TABLES
        }

    def write(self, table: Table, found: list[dict[str, Any]]) -> None:
        names = [(name, bind) for name, bind in self._bind[table] if name in found[0]]
        values = [tuple(bind(row[name]) if bind else row[name] for name, bind in names) for row in found]
        listed = ", ".join(f'"{name}"' for name, _ in names)
        cursor: Any = self._sql.connection.cursor()
        if self._store.db.is_sqlite:
            cursor.executemany(f"INSERT INTO {table.name} ({listed}) VALUES ({', '.join('?' * len(names))})", values)
            return
        with cursor.copy(f"COPY {table.name} ({listed}) FROM STDIN") as copy:
            for row in values:
                copy.write_row(row)


def load(database: str, size: int) -> dict[str, float]:
    """Fill a database."""
    store, matcher = open_calendar(database, SystemClock()), EventMatcher()
    began, now = time.perf_counter(), store.db.now()
    for number in range(CITIES):
        store.sources.add({"name": f"city {number}", "type": "csv", "url": f"https://city{number}.example/"}, by="bench")
    same = {"created_at": now, "updated_at": now, "last_seen": now, "status": "active", "licence": "", "terms_url": ""}
    seen = {"raw": None, "first_seen": now, "last_seen": now}
    stream, done = drafts(size), 0
    while part := list(islice(stream, 5000)):
        with store.db.write() as sql:
            loader, made = Loader(store, sql), list(enumerate(part, start=done + 1))
            of = [(number, place + 1, draft, draft_to_json(draft)) for number, (place, draft) in made]
            own = [
                {"id": n, "uid": f"{n:032x}", "source_id": s, "dedupe_key": matcher.key(d), "source_url": ""} for n, s, d, _ in of
            ]
            loader.write(events, [event_columns(d, now) | same | mine for mine, (_, _, d, _) in zip(own, of, strict=True)])
            loader.write(occurrences, [one for n, _, d, _ in of for one in occurrence_rows(n, d)])
            said = [
                {"event_id": n, "source_id": s, "row_key": f"uid:{d.uid}", "draft": j, "draft_hash": draft_hash(j)}
                for n, s, d, j in of
            ]
            loader.write(sightings, [one | seen for one in said])
            loader.write(blocks, [{"block": b, "event_id": n} for n, _, d, _ in of for b in dict.fromkeys(matcher.blocks(d))])
        done += len(part)
    if not store.db.is_sqlite:
        from sqlalchemy import text

        with store.db.write() as sql:
            sql.execute(text("SELECT setval(pg_get_serial_sequence('events', 'id'), max(id)) FROM events"))
            sql.execute(text("ANALYZE"))
    store.close()
    return {"stored": done, "load_seconds": time.perf_counter() - began}


def batch(database: str, size: int, *, profile: bool = False) -> dict[str, float]:
    """Apply the 10,000 rows; what it cost."""
    chance = random.Random(SEED + 1)
    chosen = sorted(chance.sample(range(size * 9 // 10), min(NEAR, size // 2)))
    near, known = _near(size, chosen, chance), _known(size)
    fresh = [draft for _, draft in drafts(NEW, SEED + 2)]
    store, matcher = open_calendar(database, SystemClock()), EventMatcher()
    source = store.sources.add({"name": f"aggregator {time.time()}", "type": "api", "url": "https://all.example/"}, by="bench")
    given = [*near, *fresh]
    chance.shuffle(given)
    profiler = cProfile.Profile()
    before = resource.getrusage(resource.RUSAGE_SELF)
    if profile:
        profiler.enable()
    marks = [time.perf_counter()]
    applied = _apply(store, matcher, source.id, given)
    marks.append(time.perf_counter())
    unchanged = sum(_apply(store, matcher, place + 1, mine).unchanged for place, mine in known.items())
    marks.append(time.perf_counter())
    after = resource.getrusage(resource.RUSAGE_SELF)
    if profile:
        profiler.disable()
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(35)
    repeated = sum(map(len, known.values()))
    figures = {
        "rows": len(given) + repeated,
        "seconds": marks[2] - marks[0],
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "ms_per_new": (marks[1] - marks[0]) / len(given) * 1000,
        "ms_per_known": (marks[2] - marks[1]) / max(1, repeated) * 1000,
        "inserted": applied.inserted,
        "merged": applied.merged,
        "review": applied.review,
        "unchanged": unchanged,
        "megabytes": after.ru_maxrss / 1024,
    }
    figures |= _lists(store)
    store.close()
    return figures


def _near(size: int, chosen: list[int], chance: random.Random) -> list[EventDraft]:
    """Stored events as another source would write them."""
    wanted, found = set(chosen), []
    for number, (_, draft) in enumerate(drafts(size)):
        if number in wanted:
            twin = elsewhere(draft)
            made = chance.choice(list(SAME.values()))(twin, chance)
            found.append(made or twin)
    return found


def _known(size: int) -> dict[int, list[EventDraft]]:
    """Rows that are stored, word for word: of 40 sources."""
    found: dict[int, list[EventDraft]] = {place: [] for place in range(40)}
    for place, draft in drafts(size):
        if place < 40 and len(found[place]) < KNOWN // 40:
            found[place].append(draft)
    return found


def _apply(store: CalendarStore, matcher: EventMatcher, source_id: int, given: list[EventDraft]) -> Any:
    run = store.runs.start(source_id)
    applied = store.results.apply(run, given, (), matcher)
    store.runs.finish(run, RunStatus.SUCCESS, counts={"parsed": len(given)})
    return applied


def _lists(store: CalendarStore) -> dict[str, float]:
    """Milliseconds for a page of 20, the median of five."""
    since, city = date(2026, 6, 1), cities()[3].name
    asked: dict[str, EventFilter] = {
        "list_ms": EventFilter(since=since),
        "city_ms": EventFilter(since=since, city=city),
        "q_ms": EventFilter(since=since, q="読み聞かせ"),
        "rare_q_ms": EventFilter(since=since, q="この語はどこにもない"),
    }
    return {
        name: sorted(_timed(lambda chosen=chosen: store.events.list(chosen)) for _ in range(5))[2]
        for name, chosen in asked.items()
    }  # type: ignore[misc]


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _step(name: str, database: str, size: int, *extra: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.events_store", "--step", name, "--database", database, "--sizes", str(size), *extra]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def compared(backend: str, sizes: list[int], folder: Path, *extra: str) -> Iterator[dict[str, Any]]:
    """Each size in turn."""
    server: Any = None
    if backend == "postgresql":
        from tests.support.postgres import PostgresServer

        place = Path(tempfile.mkdtemp(prefix="tadoru-bench-"))
        server = PostgresServer(place, fsync="on", synchronous_commit="on", shared_buffers="256MB", max_wal_size="4GB")
    try:
        for size in sizes:
            database = server.new_database() if server else str(folder / f"events-{size}.db")
            loaded = _step("load", database, size)
            yield {"backend": backend, **loaded, **_step("batch", database, size, *extra)}
    finally:
        if server:
            server.stop()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--backends", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--folder", type=Path, help="keep the SQLite databases here")
    parser.add_argument("--step", choices=("load", "batch"), help=argparse.SUPPRESS)
    parser.add_argument("--database", help=argparse.SUPPRESS)
    parser.add_argument("--profile", action="store_true", help="print where the time of the batch goes")
    options = parser.parse_args()
    if not CORPUS.is_dir():
        print(f"There is no corpus in {CORPUS}: put it there to measure.", file=sys.stderr)
        return 2
    if options.step:
        size = options.sizes[0]
        work = load(options.database, size) if options.step == "load" else batch(options.database, size, profile=options.profile)
        print(json.dumps(work))
        return 0
    extra = ["--profile"] if options.profile else []
    with tempfile.TemporaryDirectory() as temporary:
        for backend in options.backends:
            for figures in compared(backend, options.sizes, options.folder or Path(temporary), *extra):
                print(
                    "  ".join(
                        f"{name} {value:,.2f}" if isinstance(value, float) else f"{name} {value}"
                        for name, value in figures.items()
                    )
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
