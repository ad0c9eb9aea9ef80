"""The health score of a site, from 0 to 100.

The score is 100 times a factor for each check with findings, 1 - weight · √share. The weight is 0.15 for an error, 0.05 for a
warning, 0.015 for a notice, and 0 for information. The share is that of the HTML pages of the site (status 2xx) to which the
check applies. What has one cause counts once: a missing script counts as one page however many pages use it, as does a URL that
is broken or redirects however many pages link to it, and a finding about the whole site counts as all pages. Pages that search
engines may not show (noindex, a canonical on another host) lower the score once they are more than half of all, down to a tenth
if they are all; so does a robots.txt that blocks the site.

`docs/explanation/score.md` describes the model and the sites by which it is calibrated.
"""

from __future__ import annotations

from math import prod, sqrt

from tadoru.model.finding import Severity
from tadoru.store.crawl.analysis import FindingCount, SiteHealth
from tadoru.store.crawl.runs import StoredRun

SCORE_VERSION = 2
"""Stored with each score: scores of different versions cannot be compared. Version 1 was the mean over pages."""
WEIGHTS = {Severity.ERROR: 0.15, Severity.WARNING: 0.05, Severity.NOTICE: 0.015, Severity.INFO: 0.0}
HIDDEN_FACTOR = 0.1
"""The factor for a site that search engines may not show at all."""

_COUNTED_BY_CAUSE = frozenset({"link-broken", "page-broken-linked"})
"""Effects of URLs that are counted themselves: as an error, a redirect loop or a redirect to an error."""
_BLOCKING = frozenset({"robots-txt-blocks-all"})


def compute_score(health: SiteHealth) -> float | None:
    """The score with one decimal; None if no HTML page responded."""
    if not health.documents:
        return None
    factors = (_factor(count, health) for count in health.findings)
    return round(100 * prod(factors, start=_visibility(health)), 1)


def points_lost(health: SiteHealth) -> list[tuple[str, float]]:
    """The checks that lower the score, with the points that each would take from 100 on its own, most first."""
    lost = [(count.check_id, 100 * (1 - _factor(count, health))) for count in health.findings]
    if (visibility := _visibility(health)) < 1:
        lost.append(("hidden from search engines", 100 * (1 - visibility)))
    return sorted(((check, points) for check, points in lost if points > 0), key=lambda pair: (-pair[1], pair[0]))


def score_change(before: StoredRun, after: StoredRun) -> float | None:
    """How many points the score has risen; None if one is missing or they are scores of different versions."""
    if before.score is None or after.score is None or before.score_version != after.score_version:
        return None
    return after.score - before.score


def _factor(count: FindingCount, health: SiteHealth) -> float:
    return 1 - WEIGHTS[count.severity] * sqrt(_share(count, health))


def _share(count: FindingCount, health: SiteHealth) -> float:
    if count.check_id in _COUNTED_BY_CAUSE:
        return 0.0
    if count.percent is not None:
        return count.percent / 100
    if count.is_site:
        return 1.0
    causes = health.causes.get(count.check_id)
    return min(1.0, (count.pages + count.others if causes is None else causes) / health.documents)


def _visibility(health: SiteHealth) -> float:
    """1 if search engines may show at least half of the pages, less otherwise."""
    is_blocked = any(count.check_id in _BLOCKING for count in health.findings)
    hidden = 1.0 if is_blocked else max(0.0, 2 * health.hidden / health.documents - 1)
    return 1 - (1 - HIDDEN_FACTOR) * hidden
