"""Metrics of a crawl as counters in the store, for any number of processes.

Response times are counted in classes, each 1.5 times as wide as the one before, so that a percentile is read from forty
numbers and is at most a quarter off.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field, fields

from tadoru.store.crawl.connection import SqlConnection
from tadoru.store.crawl.records import CrawlCounts, PageFacts

_BOUNDS = tuple(round(1.5**step, 1) for step in range(40))
"""Milliseconds: 1 to over two hours."""
_STATUS, _ERROR, _RESPONSE = "status:", "error:", "ms:"
COUNTED = tuple(field.name for field in fields(CrawlCounts))
COUNTED_IN_SQL = ", ".join(f"'{name}'" for name in COUNTED)
_COUNTERS = "SELECT name, CAST(sum(value) AS BIGINT) FROM counters {} GROUP BY name"
ALL_COUNTERS = _COUNTERS.format("")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlMetrics:
    """The metrics of a crawl at one moment."""

    counts: CrawlCounts
    statuses: Mapping[int, int] = field(default_factory=dict)
    """Answers by status code."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Attempts that failed, by kind: one that is tried again counts each time."""
    responses: Mapping[int, int] = field(default_factory=dict)
    bytes: int = 0
    workers: int = 0

    def percentile(self, share: float) -> float | None:
        """The response time in milliseconds that so large a share of answers kept; None before the first."""
        total = sum(self.responses.values())
        wanted, seen = share * total, 0
        for number in sorted(self.responses):
            seen += self.responses[number]
            if seen >= wanted:
                return _BOUNDS[number]
        return None


def status_counter(code: int) -> str:
    return f"{_STATUS}{code}"


def error_counter(kind: str) -> str:
    return f"{_ERROR}{kind}"


def response_counter(ms: float) -> str:
    return f"{_RESPONSE}{min(bisect_left(_BOUNDS, ms), len(_BOUNDS) - 1)}"


def measure(tally: MutableMapping[str, int], facts: PageFacts) -> None:
    """Count an answer."""
    tally[status_counter(facts.status_code)] += 1
    tally["bytes"] += facts.response_size_bytes or 0
    if facts.ttfb_ms is not None:
        tally[response_counter(facts.ttfb_ms + (facts.download_time_ms or 0.0))] += 1


def read_counters(sql: SqlConnection, *names: str) -> dict[str, int]:
    """The values of these counters, or of all. A counter may have several rows."""
    where = f"WHERE name IN ({', '.join('?' * len(names))})" if names else ""
    return dict(sql.execute(_COUNTERS.format(where), names).fetchall())


def read(counters: Mapping[str, int], workers: int) -> CrawlMetrics:
    """From the store's counters."""

    def numbered(prefix: str) -> dict[int, int]:
        return {int(name.removeprefix(prefix)): value for name, value in counters.items() if name.startswith(prefix)}

    errors = {name.removeprefix(_ERROR): value for name, value in counters.items() if name.startswith(_ERROR)}
    return CrawlMetrics(
        counts=CrawlCounts(**{name: counters[name] for name in COUNTED if name in counters}),
        statuses=numbered(_STATUS),
        errors=errors,
        responses=numbered(_RESPONSE),
        bytes=counters.get("bytes", 0),
        workers=workers,
    )
