"""Writes outcomes with arrays and COPY, for thousands of rows in few round trips.

Everything that a transaction needs is looked up at once (`expect`, `take_over`), most of it before its turn (`look_ahead`),
and new pages are collected and written together.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tadoru.store.crawl.crawl_limits import LimitChecker
from tadoru.store.crawl.database import Database
from tadoru.store.crawl.interface import TOO_DEEP, CompletedOutcome, LinkTarget, Outcome
from tadoru.store.crawl.page_writer import COMPLETE, Known, PageWriter
from tadoru.store.crawl.postgres import dialect
from tadoru.store.crawl.postgres.connection import PgConnection, Values
from tadoru.store.crawl.postgres.dialect import plain

if TYPE_CHECKING:
    from tadoru.store.crawl.postgres.database import PgDatabase

# As JSON: the driver takes longer to make an array of a thousand URLs than the database takes to find them.
_FIND = """SELECT p.url, p.id, p.depth FROM json_array_elements_text(%s::json) AS wanted(url)
    JOIN pages p ON md5(p.url)::uuid = md5(wanted.url)::uuid"""
_FIND_TEXTS = """SELECT t.text, t.id FROM json_array_elements_text(%s::json) AS wanted(text)
    JOIN texts t ON md5(t.text)::uuid = md5(wanted.text)::uuid"""
_LAST_PAGE = "SELECT coalesce(max(id), 0) FROM pages"
_LAST_TEXT = "SELECT max(id) FROM texts"
_STILL_ME = "SELECT id FROM workers WHERE id = %s FOR KEY SHARE"
_PAGES = """COPY pages (id, url, status, host_id, purpose, internal, skip_reason, depth, is_seed, hops, parent_id, added_at)
    FROM STDIN"""
_TEXTS = "COPY texts (id, text) FROM STDIN"
_LINKS = "COPY link_relations (source_id, position, target_id, kind, text_id, rel_id, fragment_id) FROM STDIN"
_DEPTHS = "SELECT id, depth FROM pages WHERE id = ANY(%s)"
_WANTED = f"""SELECT id, status, host_id FROM pages WHERE id = ANY(%s)
    AND internal AND (status = 'discovered' OR skip_reason = '{TOO_DEEP}') ORDER BY id FOR UPDATE"""
_WANT = "UPDATE pages SET status = 'queued', skip_reason = NULL WHERE id = ANY(%s)"
_HOSTS = """WITH moved AS MATERIALIZED (SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])
        AS m(id, waiting, given_back, answers)),
    locked AS MATERIALIZED (SELECT h.id FROM hosts h WHERE h.id = ANY (ARRAY(SELECT id FROM moved)) ORDER BY h.id FOR UPDATE)
    UPDATE hosts h SET queued = h.queued + m.waiting, leased = greatest(0, h.leased - m.given_back), asked = h.asked + m.answers
    FROM moved m JOIN locked l ON l.id = m.id WHERE h.id = m.id"""
_COLUMNS = 7


class TargetLookup(NamedTuple):
    """What was looked up before a transaction."""

    absent: frozenset[str]
    """URLs that nobody knew."""
    last: int
    """The number of the last page then: as long as it is the last, nobody knows them."""


def look_ahead(db: PgDatabase, outcomes: Sequence[Outcome]) -> TargetLookup:
    """Have at hand what is known of everything that some pages lead to: it stays true, but for what comes closer."""
    answers = [outcome for outcome in outcomes if isinstance(outcome, CompletedOutcome)]
    targets = {target.url: target for target in _targets(answers)}
    texts = {
        str(plain(text)) for answer in answers for link in answer.links for text in (link.text, link.rel, link.fragment) if text
    }
    db.know_hosts(target.host for target in targets.values())
    urls = [url for url in targets if url not in db.known]
    unknown = sorted(text for text in texts if text not in db.texts)
    if not urls and not unknown:
        return TargetLookup(frozenset(), -1)
    # The number first: what is added after it is looked for again.
    [[last]], rows, numbers = db.link.together((_LAST_PAGE, ()), (_FIND, [_list(urls)]), (_FIND_TEXTS, [_list(unknown)]))
    found: Known = {url: (number, depth) for url, number, depth in rows}
    db.known.add(found)
    db.texts.add(dict(numbers))
    return TargetLookup(frozenset(url for url in urls if url not in found), last)


_list = json.JSONEncoder(ensure_ascii=False).encode


def _targets(answers: Iterable[CompletedOutcome]) -> Iterable[LinkTarget]:
    for answer in answers:
        yield from (link[0] for link in answer.links)
        if answer.redirect is not None:
            yield answer.redirect


class PgPageWriter(PageWriter):
    """The writes of one transaction."""

    def __init__(self, db: Database, worker: int, max_depth: int | None) -> None:
        super().__init__(db, worker, max_depth)
        self._new: list[tuple[object, ...]] = []
        """Rows of pages that are not written yet."""
        self._absent: set[str] = set()
        """URLs that nobody knows: looked for in this transaction."""
        self._last = -1
        """The number of the last page, when it is known."""
        self._answered: deque[list[Any] | None] = deque()
        """Of the answers that were written ahead, what is known of their pages."""
        self._taken_over: dict[int, list[Any]] = {}

    @property
    def _link(self) -> PgConnection:
        return cast("PgDatabase", self.db).link

    def take_over(self, outcomes: Sequence[Outcome], ahead: TargetLookup) -> None:
        """Write all answers in one journey, and look up what is still not known of what they lead to. Call first."""
        answers = [outcome for outcome in outcomes if isinstance(outcome, CompletedOutcome)]
        complete = dialect.translated(COMPLETE)
        statements: list[tuple[str, Values]] = [(_STILL_ME, [self.worker]), (_LAST_PAGE, ())]
        statements += [(complete, dialect.values(self.answer(answer), COMPLETE)) for answer in answers]
        _, [[self._last]], *written = self._link.together(*statements)
        if self._last == ahead.last:
            self._absent.update(ahead.absent)
        self.expect(_targets(answers))
        for answer, rows in zip(answers, written, strict=True):
            row = list(rows[0]) if rows else None
            self._answered.append(row)
            if row is not None:
                self._taken_over[answer.lease.page_id] = row

    def written(self, outcome: CompletedOutcome) -> Any:
        return self._answered.popleft() if self._answered else super().written(outcome)

    def expect(self, targets: Iterable[LinkTarget]) -> None:
        wanted = {target.url: target for target in targets}
        self.db.know_hosts(target.host for target in wanted.values())
        missing = [url for url in wanted if url not in self.db.known and url not in self._absent]
        self._found(missing, self._link.run(_FIND, [_list(missing)]).fetchall() if missing else [])

    def _found(self, wanted: Iterable[str], rows: Sequence[tuple[str, int, int]]) -> Known:
        found: Known = {url: (number, depth) for url, number, depth in rows}
        self._absent.update(url for url in wanted if url not in found)
        self.db.known.add(found)
        return found

    def find(self, urls: Iterable[str]) -> Known:
        wanted = [url for url in urls if url not in self._absent]
        if not wanted:
            return {}
        self._flush_pages()
        return self._found(wanted, self._link.run(_FIND, [_list(wanted)]).fetchall())

    def last_page(self) -> int:
        if self._last < 0:
            self._last = super().last_page()
        return self._last

    def write_pages(self, rows: Sequence[tuple[object, ...]]) -> None:
        self._new += rows
        self._last += len(rows)
        self._absent.difference_update(cast(str, row[1]) for row in rows)

    def _flush_pages(self) -> None:
        rows, self._new = self._new, []
        if rows:
            self._link.copy(_PAGES, [(*row[:5], bool(row[5]), *row[6:8], bool(row[8]), *row[9:]) for row in rows])

    def _lower(self, page: int, depth: int, parent: int | None) -> None:
        self._flush_pages()
        super()._lower(page, depth, parent)
        if self._answered:  # One of those that were written ahead may have come closer.
            for number, nearer in self._link.run(_DEPTHS, [list(self._taken_over)]).fetchall():
                self._taken_over[number][0] = nearer

    def _promote(self, page: int, target: LinkTarget, hops: int) -> None:
        self._flush_pages()
        super()._promote(page, target, hops)

    def _closes_loop(self, page: int, step: int | None) -> bool:
        self._flush_pages()
        return super()._closes_loop(page, step)

    def want(self, pages: Iterable[int]) -> None:
        self._flush_pages()
        rows = self._link.run(_WANTED, [list(pages)]).fetchall()
        if rows:
            self._link.run(_WANT, [[row[0] for row in rows]])
        for _, status, host_id in rows:
            self.changes.queue_again(status, host_id)

    def flush(self) -> None:
        """What is left: pages, link rows, how many URLs wait at each host, counters. Hosts are locked in everybody's order."""
        self._flush_pages()
        self._flush_relations()
        self._details.flush()
        changes = self.changes
        hosts = {*self.waiting, *changes.given_back}
        rows = [(one, self.waiting[one], changes.given_back[one], changes.answers[one]) for one in sorted(hosts)]
        if moved := [row for row in rows if any(row[1:])]:
            self._link.run(_HOSTS, [list(column) for column in zip(*moved, strict=True)])
        self.db.count(self.sql, self.tally)
        LimitChecker(self.db, self.sql).hold(hosts, changes.named)

    def text_ids(self, texts: Iterable[str]) -> dict[str, int]:
        # What the database cannot hold of a text is looked for as it would be kept.
        wanted = {text: str(plain(text)) for text in texts}
        kept = sorted(set(wanted.values()))
        if not kept:
            return {}
        known, [[last]] = self._link.together((_FIND_TEXTS, [_list(kept)]), (_LAST_TEXT, ()))
        found: dict[str, int] = dict(known)
        if fresh := [text for text in kept if text not in found]:
            rows = list(enumerate(fresh, last + 1))
            self._link.copy(_TEXTS, rows)
            found.update((text, number) for number, text in rows)
        numbers = {text: found[as_kept] for text, as_kept in wanted.items()}
        self.db.texts.add(numbers)
        return numbers

    def write_relations(self, rows: list[int | str]) -> None:
        at = range(0, len(rows), _COLUMNS)
        if rows:
            self._link.copy(_LINKS, (rows[start : start + _COLUMNS] for start in at))
