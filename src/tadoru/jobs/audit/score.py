"""The health score of a site: one number from 0 to 100 out of everything that was found.

Each page of the site that answered counts 1; with an error on it 0, with a warning at worst 0.7, with a notice at worst 0.95.
What is only good to know takes nothing away. The mean of all pages, times 100, is the score. For each check that is about the
site and not about one of its pages, 5 points are taken away when it is an error, 2 when it is a warning and half a point when
it is a notice; never below 0. Redirects are no pages, and a page that did not answer shows in those that link to it.
"""

from __future__ import annotations

from tadoru.store.crawl.analysis import SeverityCounts, SiteHealth

PAGE_WEIGHTS = (0.0, 0.7, 0.95)
"""Of a page with an error, a warning, a notice."""
SITE_PENALTIES = (5.0, 2.0, 0.5)
"""For a check of the whole site."""


def compute_score(health: SiteHealth) -> float | None:
    """0 to 100, to one decimal; None when no page answered."""
    if not health.pages:
        return None
    unblemished = health.pages - sum(health.by_worst)
    points = unblemished + _weighted_sum(health.by_worst, PAGE_WEIGHTS)
    return round(max(0.0, 100 * points / health.pages - _weighted_sum(health.of_the_site, SITE_PENALTIES)), 1)


def _weighted_sum(counts: SeverityCounts, weights: tuple[float, float, float]) -> float:
    return sum(count * weight for count, weight in zip(counts, weights, strict=True))
