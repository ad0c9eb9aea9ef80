"""What is known only when a crawl has ended: depths, link counts and scores, near duplicates, findings of site checks, health.

Run after every crawl, also after one that was stopped; running it again replaces what it said before.

The checks are in `site_checks`, the arrays they look at in `store.site`, what is kept in `store.analysis`.
"""

from __future__ import annotations

from collections.abc import Callable

from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.score import score
from tadoru.jobs.audit.site_checks import GROUPS
from tadoru.jobs.audit.site_checks.duplicates import NEAR
from tadoru.store.sqlite import SqliteStore


async def analyse(store: SqliteStore, limits: Limits, *, notify: Callable[[str], None] = lambda step: None) -> float | None:
    """Analyse the crawl and keep the result; the health score, None when no page answered.

    `limits` holds the thresholds of the site checks. `notify` is told each step when it is done. Call it before `settle`, which
    chooses parents by depth.
    """
    view = store.site_view(likeness=limits[NEAR] / 100)
    wanted = store.begin_site_findings()
    for group in GROUPS:
        findings = (finding for finding in group.run(view, limits) if finding.check_id in wanted)
        store.put_site_findings(findings)
        notify(group.name)
        await store.clock.sleep(0)
    await store.keep_analysis(view)
    notify("written")
    result = score(await store.health())
    await store.keep_score(result)
    notify("scored")
    return result
