"""The figures of a crawl for somebody who looks at it, also while it runs: each is counted in one pass over one table."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import Any, NamedTuple

from tadoru.store.database import Database, translated

# Counted here and not by GROUP BY, for which SQLite sorts all rows first.
_ROWS = """SELECT p.internal, p.status, p.status_code, p.depth, p.ttfb_ms + coalesce(p.download_time_ms, 0) FROM pages p
    WHERE p.purpose = 'page' OR NOT p.internal"""
_AT_ONCE = 10_000


class Standing(NamedTuple):
    """So many URLs stand so, at such a depth."""

    internal: bool
    status: str
    status_code: int | None
    depth: int
    urls: int


class BrowseTotals(Database):
    """Counting."""

    def standing(self) -> tuple[list[Standing], list[tuple[int, int]]]:
        """How many URLs stand where, those of the site and the others; and how many answers of the site took so many
        milliseconds, rounded up, the fastest first."""
        standing: Counter[tuple[Any, ...]] = Counter()
        times: Counter[int] = Counter()
        with translated(self.path):
            for internal, status, code, depth, ms in self.sql.execute(_ROWS):
                standing[internal, status, code, depth] += 1
                if ms is not None and internal and status == "completed":
                    times[ceil(ms)] += 1
        rows = [Standing(bool(key[0]), key[1], key[2], key[3], urls) for key, urls in standing.items()]
        return rows, sorted(times.items())

    def finding_counts(self) -> tuple[dict[int, int], dict[str, int]]:
        """How many findings there are of each check, by its number; and on how many pages there is one of each severity."""
        counts: Counter[int] = Counter()
        masks: Counter[int] = Counter()
        with translated(self.path):
            checks = self.sql.execute("SELECT number, severity FROM checks").fetchall()
            severities = list(dict.fromkeys(severity for _, severity in checks))
            bits = {number: 1 << severities.index(severity) for number, severity in checks}
            rows = self.sql.execute("SELECT page_id, check_number FROM page_findings ORDER BY page_id")
            page = mask = 0  # Findings lie by page, so that those of one page are met together.
            while part := rows.fetchmany(_AT_ONCE):
                counts.update(number for _, number in part)
                for number, check in part:
                    if number != page:
                        masks[mask] += 1 if page else 0
                        page, mask = number, 0
                    mask |= bits.get(check, 0)
            masks[mask] += 1 if page else 0
        pages = {name: sum(found for mask, found in masks.items() if mask >> at & 1) for at, name in enumerate(severities)}
        return counts, pages
