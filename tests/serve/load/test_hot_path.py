"""The list that is asked for most: as quick as it is meant to be, and guarded like any other."""

from __future__ import annotations

import platform
from datetime import date
from pathlib import Path

import pytest

from tadoru.serve.server import limit_malloc_arenas
from tadoru.store.calendar.listing import EventFilter
from tests.serve.api.conftest import fill
from tests.support.serving import ServiceHarness


def test_what_is_under_way_is_looked_up_by_its_last_day_and_not_in_all_that_a_city_ever_had(tmp_path: Path) -> None:
    harness = ServiceHarness(tmp_path / "events.db")
    chosen = EventFilter(city="盛岡市", since=date(2050, 8, 3), until=date(2050, 8, 31))
    plans = []
    for after in (None, (harness.store.db.now(), 1)):
        for query in harness.store.events.time_queries(chosen, after, 21):
            text = str(query.compile(harness.store.db.engine, compile_kwargs={"literal_binds": True}))
            with harness.store.db.read() as sql:
                plans.append(" ".join(row[3] for row in sql.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}")))
    harness.close()
    assert [("occurrences_by_city" in plan, "occurrences_under_way" in plan) for plan in plans] == [
        (True, False),
        (False, True),
    ] * 2


def test_the_list_is_guarded_like_any_other_route(tmp_path: Path) -> None:
    harness = ServiceHarness(tmp_path / "events.db")
    fill(harness)
    assert harness.anybody.get("/api/v1/events?from=2050-01-01").status_code == 200
    assert harness.anybody.get("/api/v1/events?status=hidden").status_code == 403
    assert [one["status"] for one in harness.viewer.get("/api/v1/events?status=hidden").json()["items"]] == ["hidden"]
    assert harness.anybody.get("/api/v1/events", headers={"authorization": "Bearer tdr_wrong"}).status_code == 401
    assert harness.anybody.get("/api/v1/events?from=never").json()["errors"][0]["where"] == ["query", "from"]
    harness.close()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_the_allocator_is_asked_for_few_stores() -> None:
    assert limit_malloc_arenas()
