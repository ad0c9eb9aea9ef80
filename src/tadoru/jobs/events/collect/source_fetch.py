"""Getting a source: its documents, one after the other, read as they come, each kept as a snapshot.

A source of one document is asked only for what changed (its validators go back byte for byte). One of several is not: that its
first page is unchanged says nothing about the others. A page about one event (a detail) is asked for by its own validators and,
when it did not change, read again from its snapshot.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tadoru.clock import Clock, to_datetime
from tadoru.engine.polite_client import PoliteClient
from tadoru.jobs.events.collect.reader_process import ReaderProcess, ReaderTimeout
from tadoru.jobs.events.collect.readers import SourceDocument
from tadoru.jobs.events.collect.source_settings import SourceSettings
from tadoru.model.event import ParsedSource, ParseProblem, RawEvent, SourceType
from tadoru.model.web import Headers, Response
from tadoru.rules.retry import parse_retry_after
from tadoru.rules.url import canonical
from tadoru.store.calendar.records import CollectionState, EventSource
from tadoru.store.files import FileStore

EXTENSIONS = {
    SourceType.RSS: "xml",
    SourceType.ICS: "ics",
    SourceType.API: "json",
    SourceType.HTML: "html",
    SourceType.CSV: "csv",
}
FULL_READ_INTERVAL = timedelta(days=7)
"""A source is read whole at least so often: the dates of its series move on, whether it changes or not."""
TRIAL_LIFETIME = timedelta(hours=1)
"""For how long the first run uses the body that a test has fetched."""
ACCEPT = {
    SourceType.RSS: "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5",
    SourceType.ICS: "text/calendar, */*;q=0.5",
    SourceType.API: "application/json, */*;q=0.5",
    SourceType.HTML: "text/html, application/xhtml+xml, */*;q=0.5",
    SourceType.CSV: "text/csv, */*;q=0.5",
}
KeepSnapshot = Callable[["FetchedDocument"], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedDocument:
    """A document that was fetched."""

    url: str
    """Where it was in the end."""
    path: str
    """The key of its snapshot."""
    fetched_at: datetime
    etag: bytes | None
    last_modified: bytes | None


@dataclass(slots=True, kw_only=True)
class SourceContent:
    """What a source says now, or why it cannot be had."""

    events: list[RawEvent] = field(default_factory=list)
    problems: list[ParseProblem] = field(default_factory=list)
    documents: list[FetchedDocument] = field(default_factory=list)
    fetched: int = 0
    """Bodies that came over the network, or from a test a moment ago."""
    is_unchanged: bool = False
    is_gone: bool = False
    """The server says that there will be nothing any more (410)."""
    error: str = ""
    """Why nothing could be had."""
    missing: list[str] = field(default_factory=list)
    """What could not be had of the rest, a sentence each: the source was not read whole."""
    retry_after: float | None = None
    ttl: float | None = None
    kept: dict[str, Any] = field(default_factory=dict)
    """To be remembered for the next time, once everything is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchContext:
    """What it takes to get a source."""

    errand: PoliteClient
    files: FileStore
    clock: Clock
    zone: str
    """Where dates are meant that do not say it."""
    timeout: float
    """Seconds for reading one document by what a person typed."""
    secret: str = ""
    enriched_by: str = ""
    """What fills in its events; when that is new, the source is read whole."""


class SourceFetcher:
    """Gets one source, once."""

    def __init__(
        self,
        source: EventSource,
        settings: SourceSettings,
        state: CollectionState,
        means: FetchContext,
        keep: KeepSnapshot = lambda taken: None,
    ) -> None:
        self._source = source
        self._settings = settings
        self._state = state
        self._errand = means.errand
        self._files = means.files
        self._clock = means.clock
        self._zone = means.zone
        self._credentials = settings.credentials(source.url, means.secret)
        self._process = ReaderProcess(source.type, settings, means.timeout)
        self._bytes = 0
        self._is_too_slow = False
        self._enriched_by = means.enriched_by
        self._keep = keep
        self._known: Mapping[str, Any] = state.kept or {}
        self._is_as_before = self._known.get("as") == self.fingerprint
        self.found = SourceContent()
        self.first_facts: dict[str, Any] = {}
        """What its reader was told about the first document."""

    @property
    def fingerprint(self) -> str:
        """Changes when what was learnt about a source no longer holds."""
        words = json.dumps([self._source.type, self._source.url, self._source.settings, self._zone], sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()[:16]

    async def fetch(self) -> SourceContent:
        """Everything that the source says."""
        try:
            return await self._fetch()
        finally:
            await asyncio.to_thread(self._process.close)

    async def _fetch(self) -> SourceContent:
        found = self.found
        address = canonical(self._settings.reader.first(self._source.url, self._settings.own))
        details: dict[str, None] = {}
        seen: set[str] = set()
        page = 1
        while address is not None:
            seen.add(address)
            reading = await self._page(address, page)
            if reading is None:
                break
            details |= dict.fromkeys(filter(None, map(self._address, reading.details)))
            address = self._address(reading.next_url) if reading.next_url else None
            if address is None or not self._may_read_more():
                break
            if address in seen:
                found.missing.append(f"The next page after page {page} is one that was read already ({address}).")
                break
            if page == self._settings.limits.pages:
                self._reach_limit("pages", page)
                break
            page += 1
        if found.error or found.is_unchanged:
            return found
        kept_details = await self._details(details)
        found.kept = {
            "as": self.fingerprint,
            "documents": len(found.documents),
            "read_at": to_datetime(self._clock.now()).isoformat(),
            "details": kept_details,
            "enriched": self._enriched_by,
        }
        return found

    def _address(self, url: str) -> str | None:
        """The URL of a follow-up request; servers repeat a key that was sent in the query."""
        address = canonical(url)
        return self._credentials.without_secrets(address) if address is not None else None

    def _may_read_more(self) -> bool:
        """Whether this run is below its limits; when not, what is left out makes it partial."""
        limits = self._settings.limits
        if self._is_too_slow:
            return False
        if len(self.found.events) >= limits.events:
            self._reach_limit("events", limits.events)
        elif self._bytes >= limits.bytes:
            self._reach_limit("bytes", limits.bytes)
        else:
            return True
        return False

    def _reach_limit(self, name: str, value: int) -> None:
        sentence = f"Stopped at {value:,} {name}, the most that one run reads; set limits.{name} of this source to read more."
        if sentence not in self.found.missing:
            self.found.missing.append(sentence)

    async def _page(self, address: str, page: int) -> ParsedSource | None:
        """Read one page; None when it cannot be had, or need not be."""
        now = to_datetime(self._clock.now())
        tested = self._tested(now) if page == 1 else None
        if tested is not None:
            body = await asyncio.to_thread(self._files.get, tested["path"])
            if body is not None:
                taken = _document_from_json(tested)
                self.found.documents.append(taken)
                self.found.fetched += 1
                return await self._read(body, tested["content_type"], taken.url, tuple(map(tuple, tested["headers"])), page)
        answer = await self._ask(address, self._validators(now) if page == 1 else ())
        if isinstance(answer, str):
            self._lacks(answer, page)
            return None
        if answer.status == 304 and page == 1:
            self.found.is_unchanged = True
            return None
        taken = await self._snapshot(answer)
        self.found.documents.append(taken)
        if page == 1:
            self.first_facts = {"content_type": answer.header("content-type"), "headers": [list(pair) for pair in answer.headers]}
        return await self._read(answer.body, answer.header("content-type"), answer.url, answer.headers, page)

    def _lacks(self, why: str, page: int) -> None:
        if page == 1:
            self.found.error = why
        else:
            self.found.missing.append(f"Page {page} could not be had: {why}")

    def _tested(self, now: datetime) -> Mapping[str, Any] | None:
        tested: Mapping[str, Any] | None = self._known.get("tested")
        if not tested or tested["as"] != self.fingerprint or now - datetime.fromisoformat(tested["fetched_at"]) > TRIAL_LIFETIME:
            return None
        return tested

    def _validators(self, now: datetime) -> Headers:
        """Sent when the source was one document, read by the same settings, and not too long ago."""
        read_at = self._known.get("read_at")
        if not self._is_as_before or self._known.get("documents") != 1 or not read_at:
            return ()
        if now - datetime.fromisoformat(read_at) > FULL_READ_INTERVAL or self._known.get("enriched", "") != self._enriched_by:
            return ()
        return _conditions(self._state.etag, self._state.last_modified)

    async def _ask(self, address: str, conditions: Headers) -> Response | str:
        """The answer, when there is something in it; otherwise why not."""
        headers = (("Accept", ACCEPT[self._source.type]), *conditions)
        answer = await self._errand.fetch(address, headers=headers, credentials=self._credentials)
        if not isinstance(answer, Response):
            return self._credentials.redact(answer.message)
        if answer.status == 304 and conditions:
            return answer
        if answer.status != 200:
            self.found.is_gone = answer.status == 410 and not self.found.documents
            self.found.retry_after = parse_retry_after(answer.header("retry-after"), self._clock.now())
            return f"The server answered {answer.status}."
        self.found.fetched += 1
        return answer

    async def _snapshot(self, answer: Response) -> FetchedDocument:
        now = to_datetime(self._clock.now())
        digest = hashlib.sha256(answer.body).hexdigest()
        path = f"var/snapshots/{self._source.id}/{now:%Y-%m-%d}/{digest}.{EXTENSIONS[self._source.type]}"
        taken = FetchedDocument(
            url=answer.url,
            path=path,
            fetched_at=now,
            etag=_bytes(answer.header("etag")),
            last_modified=_bytes(answer.header("last-modified")),
        )
        await asyncio.to_thread(self._files.put, path, answer.body)
        await asyncio.to_thread(self._keep, taken)
        return taken

    async def _read(
        self, body: bytes, kind: str | None, url: str, headers: Headers, page: int, *, detail: bool = False
    ) -> ParsedSource | None:
        """What a body says; None when it cannot be read in time."""
        document = SourceDocument(
            body=body,
            content_type=kind,
            url=url,
            headers=headers,
            page=page,
            is_detail=detail,
            now=to_datetime(self._clock.now()),
            zone=self._zone,
        )
        # In a thread: a large body is seconds of work, and the others go on meanwhile.
        try:
            reading = await asyncio.to_thread(self._process.read, document)
        except ReaderTimeout as error:
            self._is_too_slow = True
            if detail:
                self.found.missing.append(str(error))
            else:
                self._lacks(str(error), page)
            return None
        where = f"page {page}, " if page > 1 else f"{url}, " if detail else ""
        self._bytes += len(body)
        room = self._settings.limits.events - len(self.found.events)
        if len(reading.events) > room:
            self._reach_limit("events", self._settings.limits.events)
        self.found.events += [replace(event, position=f"{where}{event.position}") for event in reading.events[:room]]
        self.found.problems += [replace(problem, position=f"{where}{problem.position}") for problem in reading.problems]
        if reading.ttl is not None:
            self.found.ttl = reading.ttl
        return reading

    async def _details(self, addresses: Mapping[str, None]) -> dict[str, Any]:
        """Read the pages about single events. What to remember of each."""
        known: Mapping[str, Any] = self._known.get("details") or {} if self._is_as_before else {}
        kept: dict[str, Any] = {}
        for address in addresses:
            if not self._may_read_more():
                break
            entry = await self._detail(address, known.get(address))
            if entry is not None:
                kept[address] = entry
        return kept

    async def _detail(self, address: str, known: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        before = _document_from_json(known) if known else None
        old = await asyncio.to_thread(self._files.get, before.path) if before else None
        answer = await self._ask(address, _conditions(before.etag, before.last_modified) if before and old is not None else ())
        if isinstance(answer, str):
            self.found.missing.append(f"{address} could not be had: {answer}")
            return known  # Its event was not read, and is not forgotten either: a source that was not read whole sweeps nothing.
        if answer.status == 304 and known and before and old is not None:
            await self._read(old, known["content_type"], before.url, (), 1, detail=True)
            return known
        taken = await self._snapshot(answer)
        await self._read(answer.body, answer.header("content-type"), answer.url, answer.headers, 1, detail=True)
        return document_to_json(taken) | {"content_type": answer.header("content-type")}


def _conditions(etag: bytes | None, last_modified: bytes | None) -> Headers:
    fields = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return tuple((name, value.decode("utf-8", "surrogateescape")) for name, value in fields if value)


def _bytes(value: str | None) -> bytes | None:
    """A header as it came over the wire."""
    return value.encode("utf-8", "surrogateescape") if value is not None else None


def document_to_json(taken: FetchedDocument) -> dict[str, Any]:
    """For JSON."""
    return {
        "url": taken.url,
        "path": taken.path,
        "fetched_at": taken.fetched_at.isoformat(),
        "etag": taken.etag.decode("latin-1") if taken.etag is not None else None,
        "last_modified": taken.last_modified.decode("latin-1") if taken.last_modified is not None else None,
    }


def _document_from_json(stored: Mapping[str, Any]) -> FetchedDocument:
    return FetchedDocument(
        url=stored["url"],
        path=stored["path"],
        fetched_at=datetime.fromisoformat(stored["fetched_at"]),
        etag=stored["etag"].encode("latin-1") if stored["etag"] is not None else None,
        last_modified=stored["last_modified"].encode("latin-1") if stored["last_modified"] is not None else None,
    )
