"""Real municipal tables, read and normalised: every row becomes an event or says why not.

The tables are not ours and lie beside the repository where they are to be had; without them the test is skipped.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from tadoru.jobs.events.normalise.normaliser import SourceRules, normalise
from tadoru.model.event import EventDraft, QuarantinedEvent, ReviewReason
from tadoru.parse.sources.table import TableSettings, read_csv
from tests.support.corpora import corpus, needs_corpus

TABLES = corpus("event-japan")
RULES = SourceRules(zone="Asia/Tokyo", now=datetime(2022, 1, 20, tzinfo=UTC))


@needs_corpus("event-japan")
def test_every_row_of_the_municipal_tables_is_an_event_or_has_a_reason() -> None:
    counts: Counter[str] = Counter()
    for path in sorted(TABLES.glob("*.csv")):
        reading = read_csv(path.read_bytes(), "text/csv", f"https://city.example/{path.name}", TableSettings())
        counts["rows"] += len(reading.events) + len(reading.problems)
        for found in (normalise(raw, RULES) for raw in reading.events):
            counts[type(found).__name__] += 1
            if isinstance(found, QuarantinedEvent):
                assert found.reason is ReviewReason.MISSING_REQUIRED, found
            else:
                _check(found)
    assert counts["rows"] == counts["EventDraft"] + counts["QuarantinedEvent"]
    assert counts["QuarantinedEvent"] <= 41


def _check(found: EventDraft) -> None:
    """What holds of all these tables: years, the zone, prose that is no markup, a city unless only the prefecture is named."""
    assert 2017 <= found.local_date.year <= 2023
    assert found.timezone == "Asia/Tokyo"
    assert "<script" not in found.description
    assert found.city or found.address.endswith("県")
