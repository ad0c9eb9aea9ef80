"""Writing what became of leased URLs, in PostgreSQL's own words where there are thousands of rows: arrays in, COPY for links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from tadoru.store.batch import Batch
from tadoru.store.learn import Known
from tadoru.store.postgres.connection import PgConnection
from tadoru.store.postgres.dialect import plain

if TYPE_CHECKING:
    from tadoru.store.postgres.database import PgDatabase

_FIND = """SELECT p.url, p.id, p.depth FROM unnest(%s::text[]) AS wanted(url)
    JOIN pages p ON md5(p.url)::uuid = md5(wanted.url)::uuid"""
_FIND_TEXTS = """SELECT t.text, t.id FROM unnest(%s::text[]) AS wanted(text)
    JOIN texts t ON md5(t.text)::uuid = md5(wanted.text)::uuid"""
_PAGES = """COPY pages (id, url, status, host_id, purpose, internal, skip_reason, depth, is_seed, hops, parent_id, added_at)
    FROM STDIN"""
_TEXTS = "COPY texts (id, text) FROM STDIN"
_LINKS = "COPY link_relations (source_id, position, target_id, kind, text_id, rel_id, fragment_id) FROM STDIN"
_COLUMNS = 7


class PgBatch(Batch):
    """The writes of one transaction."""

    def find(self, urls: Iterable[str]) -> Known:
        wanted = list(urls)
        rows = self._link.run(_FIND, [wanted]).fetchall() if wanted else []
        found: Known = {url: (number, depth) for url, number, depth in rows}
        self.db.known.add(found)
        return found

    @property
    def _link(self) -> PgConnection:
        return cast("PgDatabase", self.db).link

    def write_pages(self, rows: Sequence[tuple[object, ...]]) -> None:
        self._link.copy(_PAGES, [(*row[:5], bool(row[5]), *row[6:8], bool(row[8]), *row[9:]) for row in rows])

    def text_ids(self, texts: Iterable[str]) -> dict[str, int]:
        # What the database can not hold of a text is looked for as it would be kept.
        wanted = {text: str(plain(text)) for text in texts}
        kept = sorted(set(wanted.values()))
        found: dict[str, int] = dict(self._link.run(_FIND_TEXTS, [kept]).fetchall()) if kept else {}
        fresh = [text for text in kept if text not in found]
        if fresh:
            last: Any = self._link.run("SELECT max(id) FROM texts").fetchall()[0][0]
            rows = list(enumerate(fresh, last + 1))
            self._link.copy(_TEXTS, rows)
            found.update((text, number) for number, text in rows)
        numbers = {text: found[as_kept] for text, as_kept in wanted.items()}
        self.db.texts.add(numbers)
        return numbers

    def write_relations(self, rows: list[int | str]) -> None:
        at = range(0, len(rows), _COLUMNS)
        self._link.copy(_LINKS, (rows[start : start + _COLUMNS] for start in at))
