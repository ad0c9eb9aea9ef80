"""Fetches a source: requests its documents one after the other, saves each as a snapshot and parses it.

A source with one document is requested conditionally, with its validators byte for byte. One with several is not: an unchanged
first page says nothing about the others. A detail page (about one event) is requested with its own validators, also when the
list has not changed: then as many in a run as `DETAIL_BUDGET` allows, those first that were not asked for longest. What has not
changed is parsed again from its snapshot.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import takewhile
from typing import Any, NamedTuple

from tadoru.clock import Clock, to_datetime
from tadoru.engine.polite_client import MAX_RETRY_WAIT, PausedHost, PoliteClient
from tadoru.engine.request_flow import redirect_target
from tadoru.errors import Message
from tadoru.jobs.events.collect.reader_process import ReaderProcess, ReaderTimeout
from tadoru.jobs.events.collect.readers import SourceDocument
from tadoru.jobs.events.collect.source_settings import SourceSettings
from tadoru.model.event import ParsedSource, ParseProblem, RawEvent, SourceType
from tadoru.model.web import Headers, Response
from tadoru.parse.text_cleaning import one_line
from tadoru.rules.retry import parse_retry_after
from tadoru.rules.url import canonical, host_key
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
"""A source is read unconditionally at least this often, because the dates of its series move on even if it does not change."""
DETAIL_BUDGET = 100
"""Detail pages that a run asks for when the list has not changed."""
MAX_START_LENGTH = 60
"""Maximum length of a start that a message quotes."""
ACCEPT = {
    SourceType.RSS: "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5",
    SourceType.ICS: "text/calendar, */*;q=0.5",
    SourceType.API: "application/json, */*;q=0.5",
    SourceType.HTML: "text/html, application/xhtml+xml, */*;q=0.5",
    SourceType.CSV: "text/csv, */*;q=0.5",
}
_PERMANENT = {301, 308}
_GONE = {404, 410}
MAX_FAILED_TIME = 120.0
"""Seconds for detail pages that fail; when they have taken longer, a run leaves out the rest."""
KeepSnapshot = Callable[["FetchedDocument"], None]


class FetchFailure(NamedTuple):
    """Why a document could not be fetched."""

    why: str
    is_gone: bool = False
    """The server has no such document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedDocument:
    """A document that was fetched."""

    url: str
    """Its URL after redirects."""
    path: str
    """The path of its snapshot."""
    fetched_at: datetime
    etag: bytes | None
    last_modified: bytes | None


@dataclass(slots=True, kw_only=True)
class SourceContent:
    """The content of a source, or why it could not be fetched."""

    events: list[RawEvent] = field(default_factory=list)
    problems: list[ParseProblem] = field(default_factory=list)
    documents: list[FetchedDocument] = field(default_factory=list)
    fetched: int = 0
    """Bodies that were downloaded now or by a recent trial."""
    is_unchanged: bool = False
    is_gone: bool = False
    """The server returned status 410 Gone."""
    error: str = ""
    """Why nothing could be fetched."""
    snapshots: list[str] = field(default_factory=list)
    """The paths of all documents that were fetched, detail pages included."""
    missing: list[str] = field(default_factory=list)
    """What could not be fetched of the rest: the source was not read completely."""
    is_list_whole: bool = False
    """Nothing is missing, or only detail pages are, which the next run asks for although the list has not changed."""
    gone: list[str] = field(default_factory=list)
    """Pages about events that the server no longer has."""
    moved_to: str = ""
    """The new URL of a source that has moved permanently."""
    retry_after: float = 0.0
    ttl: float | None = None
    kept: dict[str, Any] = field(default_factory=dict)
    """Data for the next run, stored once everything else is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchContext:
    """What a fetch needs."""

    client: PoliteClient
    files: FileStore | None
    """Where snapshots are stored; None: nothing is stored."""
    clock: Clock
    zone: str
    """The time zone of dates without one."""
    timeout: float
    """Maximum seconds for parsing one document with user-defined expressions."""
    secret: str = ""
    enriched_by: str = ""
    """The enricher of its events; after a change the source is read unconditionally."""


class SourceFetcher:
    """Fetches one source once."""

    def __init__(
        self,
        source: EventSource,
        settings: SourceSettings,
        state: CollectionState,
        context: FetchContext,
        keep: KeepSnapshot = lambda document: None,
    ) -> None:
        self._source = source
        self._settings = settings
        self._state = state
        self._client = context.client
        self._files = context.files
        self._clock = context.clock
        self._zone = context.zone
        self._credentials = settings.credentials(source.url, context.secret)
        self._process = ReaderProcess(source.type, settings, context.timeout)
        self._bytes = 0
        self._starts: Counter[str | date | None] = Counter()
        self._is_too_slow = False
        self._enriched_by = context.enriched_by
        self._save = keep
        self._known: Mapping[str, Any] = state.kept or {}
        self._has_same_settings = self._known.get("as") == self.fingerprint
        self._first: dict[str, Any] = {}
        """The first document, to be parsed again when only its detail pages have changed."""
        self._is_list_unchanged = False
        self._has_changed_detail = False
        self._failed_time = 0.0
        self.found = SourceContent()

    @property
    def fingerprint(self) -> str:
        """Changes when stored data about a source no longer applies."""
        words = json.dumps([self._source.type, self._source.url, self._source.settings, self._zone], sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()[:16]

    async def fetch(self) -> SourceContent:
        """Fetch and parse everything."""
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
            parsed = await self._page(address, page)
            if parsed is None:
                break
            details |= dict.fromkeys(filter(None, map(self._follow_up_url, parsed.details)))
            address = self._follow_up_url(parsed.next_url) if parsed.next_url else None
            if address is None or not self._may_read_more():
                break
            if address in seen:
                found.missing.append(
                    Message("Page {page} links to a page that was already read ({url}).", page=page, url=address)
                )
                break
            if page == self._settings.limits.pages:
                self._reach_limit("pages", page)
                break
            page += 1
        if found.error or found.is_unchanged:
            return found
        found.is_list_whole = not found.missing
        kept_details = await self._details(details)
        read_at = self._known["read_at"] if self._is_list_unchanged else to_datetime(self._clock.now()).isoformat()
        found.kept = {
            "as": self.fingerprint,
            "documents": len(found.documents),
            "read_at": read_at,
            "first": self._first,
            "details": kept_details,
            "enriched": self._enriched_by,
        }
        is_whole = not found.missing and not found.gone
        found.is_unchanged = self._is_list_unchanged and not self._has_changed_detail and is_whole
        return found

    def _follow_up_url(self, url: str) -> str | None:
        """The URL of a follow-up request without secrets: servers repeat a key that was sent in the query."""
        address = canonical(url)
        return self._credentials.without_secrets(address) if address is not None else None

    def _may_read_more(self) -> bool:
        """Whether this run is below its limits; reaching one makes it partial."""
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

    def _within_limits(self, events: Iterable[RawEvent]) -> list[RawEvent]:
        """The events that this run may have; leaving one out makes it partial."""
        limits, kept = self._settings.limits, list[RawEvent]()
        for event in events:
            if len(self.found.events) + len(kept) == limits.events:
                self._reach_limit("events", limits.events)
                break
            start = event.start or event.when_note
            self._starts[start] += 1
            if self._starts[start] <= limits.same_start:
                kept.append(event)
            elif self._starts[start] == limits.same_start + 1:
                self._skip_same_start(start)
        return kept

    def _skip_same_start(self, start: str | date | None) -> None:
        message = Message(
            "More than {value} events have the same start ({start}). The others were skipped. Raise the setting "
            "limits.same_start of this source to read them.",
            value=f"{self._settings.limits.same_start:,}",
            start=one_line(str(start or "-"), MAX_START_LENGTH),
        )
        self.found.missing.append(message)

    def _reach_limit(self, name: str, value: int) -> None:
        message = Message(
            "Stopped at the limit of {value} {name} per run. Raise the setting limits.{name} of this source to read more.",
            value=f"{value:,}",
            name=name,
        )
        if message not in self.found.missing:
            self.found.missing.append(message)

    async def _page(self, address: str, page: int) -> ParsedSource | None:
        """Read one page; None if it could not be fetched or has not changed."""
        conditions = self._validators(to_datetime(self._clock.now())) if page == 1 else ()
        answer = await self._request(address, conditions)
        if isinstance(answer, Response) and answer.status == 304 and page == 1:
            if not self._known.get("details"):
                self.found.is_unchanged = True
                return None
            first = self._known.get("first") or {}
            if (body := await self._stored_body(first.get("path"))) is not None:
                return await self._unchanged_list(first, body)
            answer = await self._request(address, ())
        if isinstance(answer, FetchFailure):
            self._record_failure(answer.why, page)
            return None
        document = await self._snapshot(answer)
        self.found.documents.append(document)
        kind = answer.header("content-type")
        if page == 1:
            self._first = document_to_json(document) | {"content_type": kind}
        return await self._read(answer.body, kind, answer.url, answer.headers, page)

    async def _unchanged_list(self, first: Mapping[str, Any], body: bytes) -> ParsedSource | None:
        """Parse a list that has not changed once more, because its detail pages may have."""
        document = _document_from_json(first)
        self.found.documents.append(document)
        self._first = dict(first)
        self._is_list_unchanged = True
        return await self._read(body, first["content_type"], document.url, (), 1)

    async def _stored_body(self, path: str | None) -> bytes | None:
        return await asyncio.to_thread(self._files.get, path) if self._files is not None and path else None

    def _record_failure(self, why: str, page: int) -> None:
        if page == 1:
            self.found.error = why
        else:
            self.found.missing.append(Message("Cannot fetch page {page}: {reason}", page=page, reason=why))

    def _validators(self, now: datetime) -> Headers:
        """The validators, if the source was one document, read with the same settings and not too long ago."""
        read_at = self._known.get("read_at")
        if not self._has_same_settings or self._known.get("documents") != 1 or not read_at:
            return ()
        # In the future: the clock was set back since.
        is_recent = timedelta(0) <= now - datetime.fromisoformat(read_at) <= FULL_READ_INTERVAL
        if not is_recent or self._known.get("enriched", "") != self._enriched_by:
            return ()
        return _conditions(self._state.etag, self._state.last_modified)

    async def _request(self, address: str, conditions: Headers) -> Response | FetchFailure:
        """The response if it has content, otherwise why not."""
        headers = (("Accept", ACCEPT[self._source.type]), *conditions)
        hops: list[Response] = []
        answer = await self._client.fetch(address, headers=headers, credentials=self._credentials, on_redirect=hops.append)
        permanent = [*takewhile(lambda hop: hop.status in _PERMANENT, hops)]
        if permanent and not self.found.documents:
            self.found.moved_to = self._credentials.redact(redirect_target(permanent[-1]) or "")
        if not isinstance(answer, Response):
            if isinstance(answer, PausedHost):
                self._note_pause(answer.url, answer.retry_after)
            return FetchFailure(self._credentials.redact(answer.message))
        if answer.status == 304 and conditions:
            return answer
        if answer.status != 200:
            self.found.is_gone = answer.status == 410 and not self.found.documents and permanent == hops
            wait = parse_retry_after(answer.header("retry-after"), self._clock.now())
            self._note_pause(answer.url, wait or 0.0)
            if wait is None or wait <= MAX_RETRY_WAIT:
                why = Message("The server returned status {status}.", status=answer.status)
                return FetchFailure(why, answer.status in _GONE)
            until = to_datetime(self._clock.now() + wait)
            why = Message(
                "The server returned status {status} and asked for a pause until {time}.",
                status=answer.status,
                time=f"{until:%Y-%m-%d %H:%M} UTC",
            )
            return FetchFailure(why)
        self.found.fetched += 1
        return answer

    def _note_pause(self, url: str, seconds: float) -> None:
        """Remember for how long a host wants to be left alone, unless it only has pages about single events."""
        if not self.found.documents or host_key(url) == host_key(self._source.url):
            self.found.retry_after = max(self.found.retry_after, seconds)

    async def _snapshot(self, answer: Response) -> FetchedDocument:
        now = to_datetime(self._clock.now())
        digest = hashlib.sha256(answer.body).hexdigest()
        path = f"var/snapshots/{self._source.id}/{now:%Y-%m-%d}/{digest}.{EXTENSIONS[self._source.type]}"
        document = FetchedDocument(
            url=answer.url,
            path=path,
            fetched_at=now,
            etag=_bytes(answer.header("etag")),
            last_modified=_bytes(answer.header("last-modified")),
        )
        if self._files is not None:
            await asyncio.to_thread(self._files.put, path, answer.body)
            await asyncio.to_thread(self._save, document)
            self.found.snapshots.append(path)
        return document

    async def _read(
        self, body: bytes, kind: str | None, url: str, headers: Headers, page: int, *, detail: bool = False
    ) -> ParsedSource | None:
        """Parse a body; None if that takes too long."""
        document = SourceDocument(
            body=body,
            content_type=kind,
            url=url,
            headers=headers,
            page=page,
            is_detail=detail,
            now=to_datetime(self._clock.now()),
            zone=self._zone,
            max_events=self._settings.limits.events - len(self.found.events),
            max_same_start=self._settings.limits.same_start,
        )
        # In a thread: a large body takes seconds, and other sources continue meanwhile.
        try:
            parsed = await asyncio.to_thread(self._process.read, document)
        except ReaderTimeout as error:
            self._is_too_slow = True
            if detail:
                self.found.missing.append(Message(error.message, **error.values))
            else:
                self._record_failure(Message(error.message, **error.values), page)
            return None
        where = f"page {page}, " if page > 1 else f"{url}, " if detail else ""
        self._bytes += len(body)
        kept = self._within_limits(parsed.events)
        self.found.events += [replace(event, position=f"{where}{event.position}") for event in kept] if where else kept
        self.found.problems += [replace(problem, position=f"{where}{problem.position}") for problem in parsed.problems]
        if parsed.ttl is not None:
            self.found.ttl = parsed.ttl
        return parsed

    async def _details(self, addresses: Mapping[str, None]) -> dict[str, Any]:
        """Read the detail pages; returns the data to store for each."""
        known: Mapping[str, Any] = self._known.get("details") or {} if self._has_same_settings else {}
        kept: dict[str, Any] = {}
        due = self._due_details(addresses, known)
        for number, address in enumerate(addresses):
            if not self._may_read_more():
                break
            if self._failed_time > MAX_FAILED_TIME:
                message = Message(
                    "{count} more pages about events were not requested, because the server does not respond to others.",
                    count=len(addresses) - number,
                )
                self.found.missing.append(message)
                break
            entry = await self._detail(address, known.get(address), is_due=address in due)
            if entry is not None:
                kept[address] = entry
        return kept

    def _due_details(self, addresses: Mapping[str, None], known: Mapping[str, Any]) -> set[str]:
        """The detail pages to ask for: all, or within the budget those first that were not asked for longest."""
        if not self._is_list_unchanged:
            return set(addresses)
        now = to_datetime(self._clock.now()).isoformat()
        asked = {address: (known.get(address) or {}).get("asked_at", "") for address in addresses}
        # In the future: the clock was set back since.
        return set(sorted(asked, key=lambda address: asked[address] if asked[address] <= now else "")[:DETAIL_BUDGET])

    async def _detail(self, address: str, known: Mapping[str, Any] | None, *, is_due: bool) -> Mapping[str, Any] | None:
        before = _document_from_json(known) if known else None
        old = await self._stored_body(before.path) if before else None
        if known and before and old is not None and not is_due:
            await self._read(old, known["content_type"], before.url, (), 1, detail=True)
            return known
        began = self._clock.monotonic()
        answer = await self._request(
            address, _conditions(before.etag, before.last_modified) if before and old is not None else ()
        )
        if isinstance(answer, FetchFailure):
            self._failed_time += self._clock.monotonic() - began
            message = Message("Cannot fetch {url}: {reason}", url=address, reason=answer.why)
            if answer.is_gone:  # So is its event.
                self._has_changed_detail = self._has_changed_detail or known is not None
                self.found.gone.append(message)
                return None
            self.found.missing.append(message)
            # Its event was not read, but it is not missing either: only sources that were read completely have missing events.
            return known
        asked = {"asked_at": to_datetime(self._clock.now()).isoformat()}
        if answer.status == 304 and known and before and old is not None:
            await self._read(old, known["content_type"], before.url, (), 1, detail=True)
            return dict(known) | asked
        document = await self._snapshot(answer)
        self._has_changed_detail = self._has_changed_detail or old != answer.body
        await self._read(answer.body, answer.header("content-type"), answer.url, answer.headers, 1, detail=True)
        return document_to_json(document) | {"content_type": answer.header("content-type")} | asked


def _conditions(etag: bytes | None, last_modified: bytes | None) -> Headers:
    fields = (("If-None-Match", etag), ("If-Modified-Since", last_modified))
    return tuple((name, value.decode("utf-8", "surrogateescape")) for name, value in fields if value)


def _bytes(value: str | None) -> bytes | None:
    """A header as received."""
    return value.encode("utf-8", "surrogateescape") if value is not None else None


def document_to_json(document: FetchedDocument) -> dict[str, Any]:
    """A document as JSON."""
    return {
        "url": document.url,
        "path": document.path,
        "fetched_at": document.fetched_at.isoformat(),
        "etag": document.etag.decode("latin-1") if document.etag is not None else None,
        "last_modified": document.last_modified.decode("latin-1") if document.last_modified is not None else None,
    }


def _document_from_json(stored: Mapping[str, Any]) -> FetchedDocument:
    return FetchedDocument(
        url=stored["url"],
        path=stored["path"],
        fetched_at=datetime.fromisoformat(stored["fetched_at"]),
        etag=stored["etag"].encode("latin-1") if stored["etag"] is not None else None,
        last_modified=stored["last_modified"].encode("latin-1") if stored["last_modified"] is not None else None,
    )
