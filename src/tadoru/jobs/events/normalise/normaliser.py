"""Turns a raw event (`RawEvent`) into a draft (`EventDraft`), or puts it in quarantine with the reason (`QuarantinedEvent`).

Pure. An event needs a title and a start; every other field is kept if it is plausible, and dropped with a note otherwise. What
has no field goes to `extra`: `doors`, `year_from`, `notes`, `price_amount` (or `price_min`, `price_max`), `price_currency`,
`postponed` and `sold_out`, and for a notice about an event `notice`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from html import unescape
from itertools import islice
from zoneinfo import ZoneInfo

from tadoru.errors import Message
from tadoru.jobs.events.normalise.locations import city_from_address, normalise_city, parse_coordinates
from tadoru.model.event import EventDraft, Occurrence, QuarantinedEvent, RawEvent, ReviewReason
from tadoru.parse.dates import ParsedDate, UnreadableDate, YearSource, read_when, without_repeats
from tadoru.parse.dates.assemble import BEFORE_START
from tadoru.parse.dates.exact import read_exact
from tadoru.parse.dates.vocabulary import DayMonthOrder
from tadoru.parse.linear_regex import linear_regex
from tadoru.parse.sources.cancellation import (
    EventNotice,
    NoticeKind,
    find_notice,
    note_statement,
    says_cancelled,
    says_postponed,
    title_statement,
)
from tadoru.parse.sources.raw_fields import absolute, filled, raw_event
from tadoru.parse.text_cleaning import clean_title, clean_venue, display_text, one_line, sanitise_html
from tadoru.rules.url import UrlCleaner

_FREE = re.compile(r"無料|(?<!\d)0円|(?<![a-z])free(?! parking| wi-?fi)(?![a-z])|gratis|kostenlos|gratuit", re.IGNORECASE)
_FREE_FOR_SOME = re.compile(
    r"(?:歳|才|未満|以下|以上|未就[学園]児?|幼児|乳児|園児|児童|学生|高校生|中学生|小学生|小人|子ども|こども|子供|会員|[都道府県市区町村]民|障[がい害]{1,2}者?|"
    r"children|kids|members|under \d+)[^。、,\n]{0,12}(?:無料|free)",
    re.IGNORECASE,
)
_NUMBER = r"\d{1,3}(?:,\d{3}){1,3}|\d{1,8}"
_YEN = re.compile(
    rf"(?:[¥\\]\s?(?P<sign>{_NUMBER})|(?:(?P<man>\d{{1,3}}(?:\.\d)?)万)?(?:(?P<sen>\d)千)?(?P<plain>{_NUMBER})?\s?円)(?!引)"
)
_RANGE = re.compile(rf"(?P<low>{_NUMBER})\s?[~\-〜]\s?(?:{_NUMBER})\s?円")
_NAMED = re.compile(
    r"(?:前売り?券?|当日券?|大人|一般|会員|[小中高]学?生|小人|子ども)\s?[:は]?\s?(?P<amount>\d{1,3},\d{3}|\d{3,5})(?![\d,.]|\s?[円人名年月日時分組歳枚席])"
)
"""An amount without its unit, after the word for who pays it."""
_FOREIGN = re.compile(
    r"(?P<sign>[€$£])\s?(?P<amount>\d{1,6}(?:[.,]\d\d)?)|(?P<amount2>\d{1,6}(?:[.,]\d\d)?)\s?(?P<sign2>€|EUR|USD|GBP)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"{_NUMBER}")
_CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP"}


def parse_price(text: str, zone: str) -> dict[str, str]:
    """`price_amount` for one amount, `price_min` and `price_max` for several, with `price_currency`; nothing if there is none."""
    if not text:
        return {}
    text = unicodedata.normalize("NFKC", text)
    is_japanese = zone in {"Asia/Tokyo", "Japan"}
    amounts = _yen(text)
    currency = "JPY"
    if not amounts:
        amounts, currency = _foreign(text)
    if is_japanese and _BARE.fullmatch(text.strip()):
        amounts, currency = {_decimal(text.strip())}, "JPY"
    if is_japanese and currency in {"JPY", ""} and (named := {_decimal(found["amount"]) for found in _NAMED.finditer(text)}):
        amounts, currency = amounts | named, "JPY"
    if _FREE.search(text) and (amounts or not _FREE_FOR_SOME.search(text)):
        amounts = amounts | {Decimal(0)}
    if not amounts:
        return {}
    found = {"price_currency": currency} if any(amounts) and currency else {}
    low, high = min(amounts), max(amounts)
    return found | ({"price_amount": str(low)} if low == high else {"price_min": str(low), "price_max": str(high)})


def _yen(text: str) -> set[Decimal]:
    amounts = {_decimal(found["low"]) for found in _RANGE.finditer(text)}
    for found in _YEN.finditer(text):
        if found["sign"]:
            amounts.add(_decimal(found["sign"]))
        elif found["man"] or found["sen"] or found["plain"]:
            total = (
                _decimal(found["man"] or "0") * 10_000 + _decimal(found["sen"] or "0") * 1000 + _decimal(found["plain"] or "0")
            )
            amounts.add(total.quantize(Decimal(1)))
    return amounts


def _foreign(text: str) -> tuple[set[Decimal], str]:
    found = list(_FOREIGN.finditer(text))
    signs = {(match["sign"] or match["sign2"]).upper() for match in found}
    amounts = {_decimal((match["amount"] or match["amount2"]).replace(",", ".")) for match in found}
    return (amounts, _CURRENCIES.get(sign := signs.pop(), sign)) if len(signs) == 1 else (set(), "")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return Decimal(0)


LIMITS = {"title": 300, "venue": 200, "address": 300, "city": 100, "category": 100, "price": 200, "organizer": 200, "uid": 500}
LONGEST_DESCRIPTION = 20_000
LONGEST_NOTE = 1_000
LONGEST_DATE = 100
"""A longer note contains more than a date."""
LONGEST_URL = 2_000
MOST_EXTRAS = 60
_WEB = re.compile(r"\s*https?://", re.IGNORECASE)
_LINE_END = re.compile(r"<br\b[^<>]{0,100}>|</(?:p|div|li|tr|dd|dt|h[1-6])>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")
_REPLACED = frozenset({"start", "end", "start_time", "end_time", "when_note", "venue", "address", "price", "organizer", "title"})
"""Fields for which a pattern is more exact than what the reader found."""
_STATUS_NAMES = re.compile(r"状態|状況|ステータス|開催可否|status", re.IGNORECASE)
_NOTE_NAMES = re.compile(
    r"備考|お知らせ|注意|補足|サブタイトル|申込方法|remark|notice|\bnotes?\b|bemerkung|hinweis|remarque", re.IGNORECASE
)
_WITHOUT_TRACKING = UrlCleaner(strip_tracking=True)
_OLDEST_ITEM = timedelta(days=2 * 366)
"""An item that was published longer ago is a page that is kept up to date."""
_YEARS = range(1868, 2200)
"""Plausible years of an event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRules:
    """Defaults that a source provides for its events."""

    zone: str
    """IANA name, for events without a time zone."""
    now: datetime
    """Aware."""
    city: str = ""
    order: DayMonthOrder | None = None
    """The order of short dates such as 01/02/2026; by default the usual one of the zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRules:
    """What the settings of a source say about all of its items."""

    all_day: bool = False
    """Times are not those of the event (of the entry, of the office): each event takes whole days."""
    duration: int = 0
    """Minutes, for events without an end; 0 if they have none."""
    skip_undated: bool = False
    """Items without a date are no events, and nobody is asked about them."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Words in the title, the category or the description of items that are read, or not."""
    patterns: Mapping[str, str] = field(default_factory=dict)
    """Regular expressions that find fields in the text of an item: the first group, or the whole match."""

    def is_wanted(self, raw: RawEvent) -> bool:
        """Whether the item is read."""
        if not (self.include or self.exclude):
            return True
        text = _searchable("\n".join(filter(None, (raw.title, raw.category, item_text(raw)))))
        has_word = not self.include or any(_searchable(word) in text for word in self.include)
        return has_word and not any(_searchable(word) in text for word in self.exclude)

    def completed(self, raw: RawEvent) -> RawEvent:
        """The item with the fields that the patterns find in its text."""
        if not self.patterns:
            return raw
        text = item_text(raw)
        values = {}
        for name, pattern in self.patterns.items():
            found = linear_regex(pattern).search(text)
            values[name] = (found[-1] or "").strip() if found else ""
        found_fields = raw_event(raw.position, values, raw.url or "")
        rest = {name: None for name in values if values[name] and name in _REPLACED}
        return filled(replace(raw, **rest), found_fields) if any(values.values()) else raw  # type: ignore[arg-type]

    def timed(self, draft: EventDraft) -> EventDraft:
        """The draft with the hours that the settings ask for."""
        if not (self.all_day or self.duration):
            return draft
        return replace(draft, occurrence=self._timed(draft.occurrence), occurrences=tuple(map(self._timed, draft.occurrences)))

    def _timed(self, item: Occurrence) -> Occurrence:
        start = item.starts_at
        if self.all_day and item.has_time:
            last = (item.ends_at - timedelta(microseconds=1)).date() if item.ends_at and item.ends_at > start else start.date()
            end = datetime(last.year, last.month, last.day, tzinfo=start.tzinfo) + timedelta(days=1)
            return Occurrence(starts_at=start.replace(hour=0, minute=0, second=0, microsecond=0), ends_at=end, has_time=False)
        if self.duration and item.has_time and item.ends_at is None:
            return replace(item, ends_at=(start.astimezone(UTC) + timedelta(minutes=self.duration)).astimezone(start.tzinfo))
        return item


def item_text(raw: RawEvent) -> str:
    """The title, the note and the description of an item as lines of text."""
    description = _TAG.sub("", _LINE_END.sub("\n", (raw.description or "")[:LONGEST_DESCRIPTION]))
    lines = "\n".join(filter(None, (raw.title, raw.when_note, unescape(description))))
    return "\n".join(filter(None, (one_line(line) for line in lines.splitlines())))


def _searchable(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def normalise(raw: RawEvent, rules: SourceRules) -> EventDraft | QuarantinedEvent:
    """The draft of an event, or why there is none."""
    title = one_line(raw.title or "", LIMITS["title"])
    if not title:
        return QuarantinedEvent(raw=raw, reason=ReviewReason.MISSING_REQUIRED, why=Message("Title missing."))
    notice = find_notice(title)
    title = notice.subject if notice else title
    zone, notes = _zone(raw.timezone, rules.zone)
    when = _when(raw, rules, zone)
    if isinstance(when, QuarantinedEvent):
        return when
    point = parse_coordinates(raw.latitude, raw.longitude, zone.key)
    occurrence = _current(when.occurrences, rules.now)
    kinds = _statements(raw, title, when.occurrences) | ({notice.kind} if notice else set())
    texts = {name: one_line(getattr(raw, name) or "", limit) for name, limit in LIMITS.items() if name != "title"}
    texts["city"] = normalise_city(texts["city"]) or city_from_address(texts["address"]) or rules.city
    url, image = _web(raw.url), _web(raw.image)
    notes += [
        *when.notes,
        *([point.note] if point.note else []),
        *([] if url or not raw.url else ["The link is not a web URL."]),
    ]
    return EventDraft(
        title=title,
        title_clean=clean_title(title),
        occurrence=occurrence,
        occurrences=when.occurrences if len(when.occurrences) > 1 else (),
        timezone=zone.key,
        description=_description(raw.description),
        venue_clean=clean_venue(texts["venue"]),
        latitude=point.latitude,
        longitude=point.longitude,
        url=url,
        image=image,
        recurrence=one_line(raw.recurrence or when.recurrence, LONGEST_NOTE),
        when_note=display_text(raw.when_note or "", LONGEST_NOTE),
        is_cancelled=not kinds.isdisjoint({NoticeKind.CANCELLED, NoticeKind.POSTPONED}),
        position=raw.position,
        extra=_extra(raw.extra, _derived_fields(when, notes, texts["price"], zone.key) | _notice_fields(notice, kinds)),
        **texts,
    )


def _notice_fields(notice: EventNotice | None, kinds: set[NoticeKind]) -> dict[str, str]:
    stated = {kind.value: "yes" for kind in (NoticeKind.POSTPONED, NoticeKind.SOLD_OUT) if kind in kinds}
    return ({"notice": notice.kind.value} if notice else {}) | stated


def _zone(named: str | None, default: str) -> tuple[ZoneInfo, list[str]]:
    try:
        return ZoneInfo(named or default), []
    except (KeyError, ValueError, OSError):  # unknown, no name at all, or a folder of names
        return ZoneInfo(default), [f"Unknown time zone {one_line(named or '', 60)}; used {default}."]


def _when(raw: RawEvent, rules: SourceRules, zone: ZoneInfo) -> ParsedDate | QuarantinedEvent:
    if raw.occurrences:
        return _series(raw, zone)
    start = raw.start.strip() if isinstance(raw.start, str) else raw.start
    note = without_repeats(raw.when_note or "")
    if start:
        read = _read(raw, start, rules, zone, note)
        if isinstance(read, UnreadableDate):
            why = Message("Cannot read the start: {reason}", reason=read.reason.map_values(one_line))
            return QuarantinedEvent(raw=raw, reason=ReviewReason.PARSE_ERROR, why=why)
        return read
    if not note or len(note) > LONGEST_DATE:
        return QuarantinedEvent(raw=raw, reason=ReviewReason.MISSING_REQUIRED, why=Message("Start date missing."))
    read = _read(raw, note, rules, zone)
    if isinstance(read, ParsedDate) and read.year in {YearSource.WRITTEN, YearSource.WEEKDAY}:
        return replace(read, notes=(*read.notes, "Date taken from the note, because the source has none."))
    reason = read.reason.map_values(one_line) if isinstance(read, UnreadableDate) else Message("The note has no year.")
    why = Message("Start date missing, and none in the note: {reason}", reason=reason)
    return QuarantinedEvent(raw=raw, reason=ReviewReason.MISSING_REQUIRED, why=why)


def _read(raw: RawEvent, start: str | date, rules: SourceRules, zone: ZoneInfo, note: str = "") -> ParsedDate | UnreadableDate:
    return read_when(
        start,
        now=_written_at(raw, rules.now),
        zone=zone,
        end=raw.end,
        start_time=raw.start_time,
        end_time=raw.end_time,
        note=note,
        order=rules.order,
        title=raw.title or "",
    )


def _written_at(raw: RawEvent, now: datetime) -> datetime:
    """When the text of a date was written, by the date of its publication: a year that is not written is counted from there."""
    published = read_exact(raw.extra.get("published", ""))
    if published is None:
        return now
    moment = (
        published if isinstance(published, datetime) else datetime(published.year, published.month, published.day, tzinfo=UTC)
    )
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment if now - _OLDEST_ITEM <= moment <= now else now


def _series(raw: RawEvent, zone: ZoneInfo) -> ParsedDate | QuarantinedEvent:
    """The occurrences that a reader found, in the zone and in order."""
    possible = [item for item in raw.occurrences if item.starts_at.year in _YEARS]
    if not possible:
        why = Message("Cannot read the start: {reason}", reason=Message("None of its dates is in a plausible year."))
        return QuarantinedEvent(raw=raw, reason=ReviewReason.PARSE_ERROR, why=why)
    local = [_local(item, zone) for item in possible]
    notes = () if all(item.ends_at or not given.ends_at for item, given in zip(local, possible, strict=True)) else (BEFORE_START,)
    return ParsedDate(occurrences=tuple(sorted(local, key=lambda item: item.starts_at.astimezone(UTC))), notes=notes)


def _local(occurrence: Occurrence, zone: ZoneInfo) -> Occurrence:
    starts_at, ends_at = _moment(occurrence.starts_at, zone, occurrence.has_time), occurrence.ends_at
    if ends_at is not None:
        ends_at = _moment(ends_at, zone, occurrence.has_time) if ends_at.year in _YEARS else None
    if ends_at is not None and ends_at.astimezone(UTC) < starts_at.astimezone(UTC):
        ends_at = None
    return Occurrence(starts_at=starts_at, ends_at=ends_at, has_time=occurrence.has_time)


def _moment(moment: datetime, zone: ZoneInfo, has_time: bool) -> datetime:
    """A time in the zone. A naive one is local time, and a day is the same day everywhere."""
    if not has_time:
        return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0, tzinfo=zone)
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC).astimezone(zone)


def _current(occurrences: tuple[Occurrence, ...], now: datetime) -> Occurrence:
    """The first occurrence that is not over; the last if all are."""
    return next((item for item in occurrences if _over(item) > now), occurrences[-1])


def _over(occurrence: Occurrence) -> datetime:
    start = occurrence.starts_at
    return occurrence.ends_at or (start if occurrence.has_time else start + timedelta(days=1))


def _statements(raw: RawEvent, title: str, occurrences: tuple[Occurrence, ...]) -> set[NoticeKind]:
    """Whether it is cancelled, postponed or sold out: from the reader, from status columns, a mark in the title, or a note."""
    states = [value for name, value in raw.extra.items() if _is_status(name)]
    notes = [without_repeats(raw.when_note or ""), *(value for name, value in raw.extra.items() if _is_note(name))]
    notes.append(_TAG.sub("", _LINE_END.sub("\n", (raw.description or "")[:LONGEST_DESCRIPTION])))
    first, over = occurrences[0].starts_at, max(map(_over, occurrences))
    days = first.date(), max(first, over - timedelta(seconds=1)).date()
    kinds = {one.kind for one in (title_statement(title), *(note_statement(note, title, *days) for note in notes)) if one}
    if raw.is_cancelled or any(map(says_cancelled, states)):
        kinds.add(NoticeKind.CANCELLED)
    if any(map(says_postponed, states)):
        kinds.add(NoticeKind.POSTPONED)
    return kinds


@lru_cache(maxsize=1_024)
def _is_status(name: str) -> bool:
    return _STATUS_NAMES.search(name) is not None


@lru_cache(maxsize=1_024)
def _is_note(name: str) -> bool:
    return _NOTE_NAMES.search(name) is not None


def _web(address: str | None) -> str:
    """The URL without tracking parameters if it is a web URL; other links are not published."""
    if not address or len(address) > LONGEST_URL or not _WEB.match(address):
        return ""
    url, mark, fragment = (absolute(address, address) or "").partition("#")
    return f"{_WITHOUT_TRACKING.clean(url)}{mark}{fragment}"


def _description(text: str | None) -> str:
    """Truncated before it is sanitised, so that no tag stays open."""
    cleaned = sanitise_html((text or "")[:LONGEST_DESCRIPTION])
    return cleaned if len(text or "") <= LONGEST_DESCRIPTION else cleaned + "…"


def _extra(extra: Mapping[str, str], derived: dict[str, str]) -> dict[str, str]:
    """The extra fields of the source and ours; on a name clash the field of the source gets a prefix."""
    found = ((_extra_name(name), display_text(value, LONGEST_NOTE)) for name, value in islice(extra.items(), MOST_EXTRAS))
    return {f"source {name}" if name in derived else name: value for name, value in found if name and value} | derived


@lru_cache(maxsize=1_024)
def _extra_name(name: str) -> str:
    """Cached: the same few names come with every event of a source."""
    return one_line(name, 100)


def _derived_fields(when: ParsedDate, notes: list[str], price: str, zone: str) -> dict[str, str]:
    found = parse_price(price, zone)
    if when.doors is not None:
        found["doors"] = f"{when.doors:%H:%M}"
    if when.year is not YearSource.WRITTEN:
        found["year_from"] = when.year.value
    if notes:
        found["notes"] = " ".join(dict.fromkeys(notes))
    return found
