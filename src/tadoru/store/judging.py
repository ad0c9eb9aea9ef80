"""The catalogue a crawl is judged by, kept with it; what a page was last answered with; what a watcher wants to know."""

from __future__ import annotations

from collections.abc import Iterable

from tadoru.i18n.translation import translator
from tadoru.model.finding import Check
from tadoru.store import metrics
from tadoru.store.base import Counts, Validators
from tadoru.store.database import Database, translated
from tadoru.store.metrics import Metrics

_CHECK = """INSERT INTO checks(id, scope, check_group, severity, title, why, fix, title_ja, why_ja, fix_ja, threshold, unit)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(id) DO UPDATE SET scope = excluded.scope, check_group = excluded.check_group, severity = excluded.severity,
        title = excluded.title, why = excluded.why, fix = excluded.fix, title_ja = excluded.title_ja, why_ja = excluded.why_ja,
        fix_ja = excluded.fix_ja, threshold = excluded.threshold, unit = excluded.unit"""


class Judging(Database):
    """What checks need of the store."""

    async def install_checks(self, checks: Iterable[Check], scope: str, thresholds: dict[str, float] | None = None) -> None:
        """Make checks known, with their words as they are now and the thresholds that hold. Their numbers stay."""
        chosen = thresholds or {}
        rows = [
            (
                check.id, scope, check.group, str(check.severity), check.title, check.why, check.fix,
                *translator("ja").check(check),
                chosen.get(check.id, check.threshold.default) if check.threshold else None,
                check.threshold.unit if check.threshold else None,
            )
            for check in checks
        ]  # fmt: skip
        async with self.write() as sql:
            sql.executemany(_CHECK, rows)

    async def validators(self, page_id: int) -> Validators:
        with translated(self.path):
            # Of a page that was sent: a redirect that answers 304 would have lost where it leads.
            row = self.sql.execute(
                """SELECT d.etag, d.last_modified_field FROM page_details d JOIN pages p ON p.id = d.page_id
                WHERE d.page_id = ? AND p.status_code < 300""",
                (page_id,),
            ).fetchone()
        return Validators(*row) if row else Validators(None, None)

    def unrendered(self, most: int) -> tuple[list[str], str]:
        """Pages that were read without the browser they needed, the first few of them, and why there was none."""
        with translated(self.path):
            rows = self.sql.execute(
                """SELECT p.url, json_extract(d.rendering, '$.failed') FROM page_details d JOIN pages p ON p.id = d.page_id
                WHERE d.rendering IS NOT NULL AND json_extract(d.rendering, '$.browser_missing') ORDER BY p.url LIMIT ?""",
                (most,),
            ).fetchall()
        return [url for url, _ in rows], rows[0][1] if rows else ""

    async def metrics(self) -> Metrics:
        with translated(self.path):
            counters = dict(self.sql.execute("SELECT name, value FROM counters").fetchall())
            (workers,) = self.sql.execute("SELECT count(*) FROM workers").fetchone()
        counts = Counts(**{name: value for name, value in counters.items() if name in Counts.__dataclass_fields__})
        return metrics.read(counts, counters, workers)
