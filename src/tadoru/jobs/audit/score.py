"""The health score of a site, from 0 to 100.

Each page of the site that responded counts 1; it counts 0 if its most severe finding is an error, 0.7 if it is a warning and 0.95
if it is a notice. Informational findings do not count. The score is the mean of all pages, times 100. Each check of the site as a
whole subtracts 5 points if it is an error, 2 if it is a warning and 0.5 if it is a notice. The score is never below 0. Redirects
do not count as pages. A page that did not respond counts through the pages that link to it.
"""

from __future__ import annotations

from tadoru.store.crawl.analysis import SeverityCounts, SiteHealth

PAGE_WEIGHTS = (0.0, 0.7, 0.95)
"""Of a page whose most severe finding is an error, a warning, a notice."""
SITE_PENALTIES = (5.0, 2.0, 0.5)
"""For a check of the whole site that is an error, a warning, a notice."""


def compute_score(health: SiteHealth) -> float | None:
    """The score with one decimal; None if no page responded."""
    if not health.pages:
        return None
    without_findings = health.pages - sum(health.by_worst)
    points = without_findings + _weighted_sum(health.by_worst, PAGE_WEIGHTS)
    return round(max(0.0, 100 * points / health.pages - _weighted_sum(health.of_the_site, SITE_PENALTIES)), 1)


def _weighted_sum(counts: SeverityCounts, weights: tuple[float, float, float]) -> float:
    return sum(count * weight for count, weight in zip(counts, weights, strict=True))
