"""Pages that a re-crawl does not find any more and that nothing links to or lists: they are no longer part of the site.

A page that was deleted together with every link to it would be reported as broken for ever, and a pipeline would never pass
again. At the end of a re-crawl such a page gets the purpose `gone`; its row stays for earlier runs. The next re-crawl requests
it once more.
"""

from __future__ import annotations

from tadoru.store.crawl.connection import CrawlConnection, SqlConnection
from tadoru.store.crawl.queue_changes import QueueChanges

# Whoever names it counts, in a link, a redirect, a sitemap or the head of a page, as long as it is not broken itself.
_NAMED = """SELECT n.canonical_url FROM pages n WHERE n.canonical_url IS NOT NULL AND n.status_code < 400
    UNION SELECT d.canonical_http FROM page_details d JOIN pages n ON n.id = d.page_id
        WHERE d.canonical_http IS NOT NULL AND n.status_code < 400
    UNION SELECT d.next_url FROM page_details d JOIN pages n ON n.id = d.page_id
        WHERE d.next_url IS NOT NULL AND n.status_code < 400
    UNION SELECT d.prev_url FROM page_details d JOIN pages n ON n.id = d.page_id
        WHERE d.prev_url IS NOT NULL AND n.status_code < 400
    UNION SELECT a.url FROM page_hreflang a JOIN pages n ON n.id = a.page_id WHERE n.status_code < 400"""
_DEAD = f"""SELECT p.id FROM pages p
    WHERE p.internal AND p.purpose = 'page' AND NOT p.is_seed AND p.redirect_id IS NULL
        AND (p.status = 'error' OR (p.status = 'completed' AND p.status_code >= 400))
        AND NOT EXISTS (SELECT 1 FROM link_relations r JOIN pages s ON s.id = r.source_id
            WHERE r.target_id = p.id AND s.id <> p.id AND s.status <> 'error' AND coalesce(s.status_code, 0) < 400)
        AND NOT EXISTS (SELECT 1 FROM pages b WHERE b.redirect_id = p.id)
        AND p.id NOT IN (SELECT e.page_id FROM sitemap_entries e)
        AND p.url NOT IN ({_NAMED})"""
_GONE = "SELECT id, status, host_id FROM pages WHERE purpose = 'gone'"
_RECALL = "UPDATE pages SET purpose = 'page', status = 'queued', not_before = 0, retry_count = 0 WHERE id = ?"


class StalePages:
    """Marks pages that are gone."""

    def __init__(self, db: CrawlConnection) -> None:
        self._db = db

    async def retire(self) -> int:
        """Put away what did not answer and is named nowhere; how many. Only after a re-crawl: a first crawl has no such pages."""
        return await self._db.write(self._retire)

    def _retire(self, sql: SqlConnection) -> int:
        if sql.execute("SELECT 1 FROM runs WHERE id > 1 LIMIT 1").fetchone() is None:
            return 0
        dead = [page for (page,) in sql.execute(_DEAD).fetchall()]
        sql.executemany("UPDATE pages SET purpose = 'gone' WHERE id = ?", [(page,) for page in dead])
        QueueChanges(self._db, sql).forget(dead)
        return len(dead)

    async def recall(self) -> int:
        """Ask again for what is gone, because more of the site is about to be read and may lead there; how many."""
        return await self._db.write(self._recall)

    def _recall(self, sql: SqlConnection) -> int:
        changes = QueueChanges(self._db, sql)
        gone = sql.execute(f"{_GONE} {self._db.dialect.locked_rows}").fetchall()
        sql.executemany(_RECALL, [(page,) for page, _, _ in gone])
        for _, status, host in gone:
            changes.queue_again(status, host)
        changes.tally["counted"] -= len(gone)
        changes.flush()
        return len(gone)
