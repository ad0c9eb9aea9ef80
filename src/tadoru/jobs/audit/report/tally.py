"""Counting the findings of a crawl in one pass: how many there are of each check, and which pages to show.

Shown are those that lie least deep, then by URL, whatever the order in which they were found. What is suppressed is counted
apart.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from tadoru.jobs.audit.suppress import Entry, Suppressions, covering
from tadoru.model.finding import Severity
from tadoru.store.found import Place, StoredCheck


@dataclass(slots=True)
class CheckTally:
    """What there is of one check."""

    entries: tuple[Entry, ...] = ()
    """The suppressions that speak of it."""
    count: int = 0
    suppressed: dict[Entry, int] = field(default_factory=dict)
    first: list[tuple[int, str, Place]] = field(default_factory=list)
    """Depth, URL and place of those to show, in that order."""

    def add(self, place: Place, most: int) -> bool:
        """Count a finding; whether it is one to be told."""
        if self.entries and (entry := covering(self.entries, place.url)) is not None:
            self.suppressed[entry] = self.suppressed.get(entry, 0) + 1
            return False
        self.count += 1
        first = self.first
        if most and (len(first) < most or (place.depth, place.url) < first[-1][:2]):
            insort(first, (place.depth, place.url, place))
            del first[most:]
        return True


@dataclass(frozen=True, slots=True)
class Tally:
    """The findings of a crawl, counted."""

    checks: Mapping[int, CheckTally]
    pages: Mapping[Severity, int]
    """Pages on which there is a finding of that severity."""
    unused: tuple[Entry, ...]
    """Suppressions that took nothing away."""


def tally(catalogue: Sequence[StoredCheck], places: Iterable[Place], suppressions: Suppressions, most: int = 0) -> Tally:
    """Counts, keeping the first `most` places of each check. Places of one page must come together."""
    checks = {each.number: CheckTally(suppressions.about(each.check.id)) for each in catalogue}
    severities = {each.number: each.check.severity for each in catalogue}
    pages = dict.fromkeys(Severity, 0)
    for page, together in groupby(places, key=lambda place: place.page_id):
        told = {severities[place.check_number] for place in together if checks[place.check_number].add(place, most)}
        if page:
            for severity in told:
                pages[severity] += 1
    used = (entry for each in checks.values() for entry in each.suppressed)
    return Tally(checks, pages, suppressions.unused(used))
