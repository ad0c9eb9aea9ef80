"""Reads tables of events (CSV): the layouts of Japanese municipalities, and any other by its column names.

Cells are texts. One that starts with `=`, `+`, `-` or `@` is nothing special here; a spreadsheet would take it for a formula,
so exports must escape it.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, Self

from tadoru.errors import ConfigError, Message, quoted
from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.decode import CODECS, DecodedText, charset_name, decode, header_charset, sniff
from tadoru.parse.gc_pause import paused_gc
from tadoru.parse.sources.municipalities import by_code, municipalities
from tadoru.parse.sources.raw_fields import EXTRA, ReadProblems, Value, by_field, constants, joined, raw_event
from tadoru.parse.sources.source_settings import SettingsReader

NAMES: dict[str, str] = {
    # role: names, the best first
    "uid": "ID イベントID uid",
    "title": (
        "イベント名 名称 イベント名称 イベントタイトル 行事名 行事名称 催し名 催し物名 展示会名 講座名 事業名 タイトル 件名 "
        "title name summary event event_name event_title subject"
    ),
    "description": "説明 イベント説明 イベント内容 内容 概要 イベント概要 詳細 description details body",
    "start": (
        "開始日 開始日時 開始年月日 開催開始日 開催日 開催日時 イベント開始日 開催年月日 会期(開始) 実施日 期日 日付 日時 "
        "開催期間 start start_date starts_at start_at date_start dtstart begin start_datetime date"
    ),
    "end": (
        "終了日 終了日時 終了年月日 開催終了日 イベント終了日 会期(終了) end end_date ends_at end_at date_end dtend end_datetime"
    ),
    "start_time": "開始時刻 開始時間 開催時間 開催開始時間 開演時間 開演 時間 start_time time",
    "end_time": "終了時刻 終了時間 開催終了時間 end_time",
    "when_note": "日時備考 開始日時特記事項 開催日時特記事項 日時特記事項 開催日時備考 開催パターン",
    "venue": (
        "場所名称 会場 会場名 会場名称 開催場所 開催場所名 場所 施設名 集合場所 venue venue_name location location_name place"
    ),
    "building": "建物名等 建物名等(方書) 方書 建物名",
    "address": "住所 所在地_連結表記 所在地 会場住所 開催場所住所 会場所在地 address",
    "prefecture": "住所都道府県 所在地_都道府県 都道府県名 都道府県",
    "city": "住所市区町村 所在地_市区町村 市区町村名 市区町村 city",
    "town": "住所町名 所在地_町字 町字 町名",
    "block": "住所丁目以下 所在地_番地以下 住所番地以下 番地以下",
    "government": "地方公共団体名",
    "code": (
        "所在地_全国地方公共団体コード 全国地方公共団体コード 都道府県コード又は市区町村コード "
        "都道府県コードまたは市区町村コード 市区町村コード 地方公共団体コード 自治体コード"
    ),
    "latitude": "緯度 latitude lat",
    "longitude": "経度 longitude lng lon",
    "category": "イベント種類 カテゴリー カテゴリ イベントカテゴリ イベント分類 分類 種別 ジャンル category",
    "price": "料金(基本) 料金 参加費 参加料 費用 入場料 price fee cost",
    "price_details": "料金(詳細)",
    "organizer": "主催団体 主催者 主催 主催者名 主催団体名 organizer organiser",
    "url": "URL イベントURL 詳細URL 掲載URL リンク ホームページ link website event_url",
    "image": "画像URL 画像 イベント画像 サムネイル image image_url",
    "cancelled": "状態 開催状況 開催状態 status",
    "updated": "更新日 更新日時 最終更新日 最終更新日時 updated updated_at last_modified",
}


def letters(name: str) -> str:
    """A column's name as it is compared."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name)).casefold()


ROLES: dict[str, tuple[str, int]] = {
    letters(name): (role, rank) for role, names in NAMES.items() for rank, name in reversed(list(enumerate(names.split())))
}
"""Compared name to role, and how good a name it is for that role (0 is best)."""


def is_japanese(name: str) -> bool:
    """Whether a name has letters of Japanese."""
    return re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", name) is not None


MUNICIPAL_ZONE = "Asia/Tokyo"
_PLAIN = frozenset(
    "uid title description start end start_time end_time when_note recurrence timezone latitude longitude category organizer "
    "url image updated".split()
)
_PLACE = frozenset("venue building address city prefecture town block code government".split())
MOST_CELLS = 500_000
"""Of one table. A row costs something even when it has few: it counts three more than its own."""
_MOST_BESIDE = 1_000
"""Cells of a row that have no name."""
_MOST_SAMPLED = 100
"""Cells of a row that are shown with what is wrong with it."""
MOST_PROBLEMS = 1_000
_DIGIT = re.compile(r"\d")
_YEN = re.compile(r"[0-9０-９,，]+")


@dataclass(frozen=True, slots=True)
class TableSettings:
    """How a table is read; the municipal layouts need no settings."""

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Field to the names (or numbers) of its columns, the best first."""
    constants: Mapping[str, str] = field(default_factory=dict)
    delimiter: str = ""
    encoding: str = ""
    header: int | None = None
    """The row of the names of the columns; 0: there is none, and columns are numbers."""
    timezone: str | None = None

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, object]) -> Self:
        """The settings a person wrote. Raises ConfigError."""
        given = SettingsReader(mapping)
        columns = SettingsReader({"columns": by_field(given, "columns")}).lists("columns")
        label = given.text("encoding")
        encoding = charset_name(label) if label else ""
        if encoding is None:
            raise ConfigError(
                "The setting encoding is {value}, which is no charset; try utf-8, shift_jis or euc-jp.", value=quoted(label)
            )
        delimiter = given.choice("delimiter", (*DELIMITERS, *DELIMITERS.values()), "")
        header = given.number("header", -1, least=0, most=1_000)
        same = constants(given)
        zone = given.zone("timezone")
        given.done()
        if header == 0 and "title" not in columns:
            raise ConfigError("The setting columns.title is missing; without a header it must be the number of a column.")
        return cls(columns, same, DELIMITERS.get(delimiter, delimiter), encoding, None if header < 0 else header, zone)


NO_SETTINGS = TableSettings()


@paused_gc()
def read_csv(
    body: bytes,
    content_type: str | None,
    url: str,
    settings: TableSettings = NO_SETTINGS,
    *,
    max_events: int = MOST_CELLS,
    max_same_start: int = MOST_CELLS,
) -> ParsedSource:
    """Every row of a table as a raw event, or as a problem when it is none; rows without any text are not counted. Nothing is
    read after one event more than `max_events`, which shows that there are more, and so with `max_same_start` for the events of
    one start."""
    own = {letters(name) for names in settings.columns.values() for name in names}
    decoded = text_of_table(body, content_type, settings.encoding, lambda cell: is_known_name(cell) or letters(cell) in own)
    problems = ReadProblems(MOST_PROBLEMS)
    if decoded.replaced:
        problems.add("table", Message("Some bytes are not {encoding} and were replaced.", encoding=decoded.encoding))
    delimiters = (settings.delimiter,) if settings.delimiter else tuple(DELIMITERS.values())
    header = find_header(decoded.text, delimiters, settings.header, lambda cell: is_known_name(cell) or letters(cell) in own)
    layout = TableLayout(header, settings, max_same_start) if header else None
    if header is None or layout is None or not layout.has("title"):
        reason = Message("No row names a column that is the title of an event; name it with the setting columns.title.")
        if not decoded.text.strip():
            reason = Message("The table is empty.")
        problems.add("table", reason, decoded.text[:300])
        return ParsedSource(problems=problems.all())
    events: list[RawEvent] = []
    left = MOST_CELLS
    for row in rows_of(decoded.text, header.delimiter):
        if row.is_end:
            problems.cut(f"row {row.number}", row.trouble)
        elif row.number > header.row and (row.trouble or any(cell.strip() for cell in row.cells)):
            left -= max(len(row.cells), len(header.names)) + 3
            if left < 0:
                reason = Message(
                    "The table has more than {limit} cells: the rows from here on were not read.", limit=f"{MOST_CELLS:,}"
                )
                problems.cut(f"row {row.number}", reason)
                break
            if event := layout.read(row, url, problems):
                events.append(event)
            if len(events) + layout.skipped > max_events:
                break
    return ParsedSource(events=tuple(events), problems=problems.all())


class TableLayout:
    """The meaning of the columns of one table."""

    def __init__(self, header: TableHeader, settings: TableSettings, max_same_start: int) -> None:
        self.names = _distinct(header.names)
        self._compared = [letters(name) for name in header.names]
        self._constants = settings.constants
        self._by_role = _roles(header.names, settings.columns)
        self._plain = [name for name in self._by_role if name in _PLAIN or name.startswith(EXTRA)]
        self._has_place = not _PLACE.isdisjoint(self._by_role)
        titles = [header.names[index] for index in self._by_role.get("title", ())]
        japanese = sum(is_japanese(header.names[index]) for indexes in self._by_role.values() for index in indexes)
        is_municipal = japanese >= 3 and any(map(is_japanese, titles))
        self._zone = settings.timezone or (MUNICIPAL_ZONE if is_municipal else "")
        self._starts: Counter[str] = Counter()
        self._max_same_start = max_same_start
        self.skipped = 0
        """Rows that start when too many others do."""

    def has(self, role: str) -> bool:
        return bool(self._by_role.get(role))

    def read(self, row: TableRow, url: str, problems: ReadProblems) -> RawEvent | None:
        """The event of a row, if it is one."""
        position = f"row {row.number}"
        cells = [cell.strip() for cell in row.cells[: len(self.names) + _MOST_BESIDE]]
        while len(cells) > len(self.names) and not cells[-1]:
            cells.pop()
        trouble, is_readable = row.trouble, not row.trouble
        if not trouble and self._is_header(cells):
            trouble, is_readable = Message("The row repeats the column names."), False
        elif not trouble and len(cells) != len(self.names):
            trouble = Message(
                "The row has {cells} cells and the table {columns} columns.", cells=len(cells), columns=len(self.names)
            )
            is_readable = self._is_in_place(cells)
        if trouble:
            problems.add(position, trouble, ", ".join(cells[:_MOST_SAMPLED]))
        return self._event(position, cells, url) if is_readable and not self._is_one_too_many(cells) else None

    def _is_one_too_many(self, cells: list[str]) -> bool:
        """Whether more rows than are used, and one more, have had the same start."""
        start = self._start(cells)
        self._starts[start] += 1
        is_skipped = bool(start) and self._starts[start] > self._max_same_start + 1
        self.skipped += is_skipped
        return is_skipped

    def _is_header(self, cells: list[str]) -> bool:
        """Whether the names of the columns stand here once more. The titles are looked at first: nearly always they say no."""
        titles = (index for index in self._by_role["title"] if index < len(cells))
        if any(letters(cells[index]) != self._compared[index] for index in titles):
            return False
        return [letters(cell) for cell in cells] == self._compared

    def _is_in_place(self, cells: list[str]) -> bool:
        """Whether a row of the wrong length still has its title and, where a date is due, something with digits."""
        number = len(cells)
        if not any(index < number and cells[index] for index in self._by_role["title"]):
            return False
        start = self._start(cells)
        return not start or _DIGIT.search(start) is not None

    def _start(self, cells: list[str]) -> str:
        number = len(cells)
        return next((cells[index] for index in self._by_role.get("start", ()) if index < number and cells[index]), "")

    def _event(self, position: str, cells: list[str], url: str) -> RawEvent:
        cells = cells + [""] * (len(self.names) - len(cells))
        taken = _Taken(cells, self._by_role)
        values: dict[str, Value] = {name: taken.first(name) for name in self._plain}
        # What is wrong with a status is worth reading: it stays among the rest as well.
        values["cancelled"] = next(taken.all("cancelled"), "")
        if self.has("price") or self.has("price_details"):
            values["price"] = joined((_price(taken.first("price")), _price(taken.first("price_details"))), " ")
        if self._has_place:
            values |= self._place(taken)
        for name, value in self._constants.items():
            values[name] = values.get(name) or value
        values["timezone"] = values.get("timezone") or self._zone
        extra = {self._name(index): cell for index, cell in enumerate(cells) if cell and index not in taken.used}
        return raw_event(position, values, url, extra)

    def _name(self, index: int) -> str:
        return self.names[index] if index < len(self.names) else f"column {index + 1}"

    def _place(self, taken: _Taken) -> dict[str, Value]:
        """Venue, address and city. The building is the venue when nothing else is, and part of the address otherwise."""
        venue, building = taken.first("venue"), taken.first("building")
        whole, city = taken.first("address"), taken.first("city")
        parts = [] if whole else [taken.first("prefecture"), city, taken.first("town"), taken.first("block")]
        if not city:
            city = next((found for code in taken.all("code") if (found := _city_of(code))), "")
            city = city or _without_prefecture(taken.first("government"))
        address = joined((whole or "".join(parts), building if venue else ""), " ")
        return {"venue": venue or building, "address": address, "city": city}


class _Taken:
    """The cells of a row by role, and which of them were used."""

    def __init__(self, cells: list[str], by_role: Mapping[str, tuple[int, ...]]) -> None:
        self._cells = cells
        self._by_role = by_role
        self.used: set[int] = set()

    def all(self, role: str) -> Iterator[str]:
        return (self._cells[index] for index in self._by_role.get(role, ()) if self._cells[index])

    def first(self, role: str) -> str:
        """The cell of the best column that is not empty."""
        for index in self._by_role.get(role, ()):
            if self._cells[index]:
                self.used.add(index)
                return self._cells[index]
        return ""


def _roles(names: list[str], own: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[int, ...]]:
    """Role to its columns, the best first: those the person named, else those that are known."""
    ranked: dict[str, list[tuple[int, int]]] = {}
    compared = [letters(name) for name in names]
    for index, name in enumerate(compared):
        role, rank = ROLES.get(name, ("", 0))
        if role and role not in own:
            ranked.setdefault(role, []).append((rank, index))
    found = {role: tuple(index for _, index in sorted(columns)) for role, columns in ranked.items()}
    for role, wanted in own.items():
        indexes = [index for name in wanted for index in _columns(name, compared)]
        found[role] = tuple(dict.fromkeys(indexes))
    return found


def _columns(name: str, compared: list[str]) -> list[int]:
    found = [index for index, other in enumerate(compared) if other == letters(name)]
    is_number = name.isascii() and name.isdigit() and len(name) < 7 and 1 <= int(name) <= len(compared)
    return found or ([int(name) - 1] if is_number else [])


def _distinct(names: list[str]) -> list[str]:
    """The names of columns, numbered where one comes twice."""
    seen: dict[str, int] = {}
    found = []
    for name in (given or f"column {number}" for number, given in enumerate(names, 1)):
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def _price(text: str) -> str:
    """A bare number in these columns is yen."""
    if not _YEN.fullmatch(text):
        return text
    return "無料" if not text.strip("0０") else f"{text}円"


def _city_of(code: str) -> str:
    place = by_code(code)
    return place.city if place else ""


@lru_cache(maxsize=4_096)
def _without_prefecture(name: str) -> str:
    """`星町` of `高原県星町`; nothing of a prefecture itself."""
    prefectures = dict.fromkeys(place.prefecture for place in municipalities().values())
    return next((name.removeprefix(one).strip() for one in prefectures if name.startswith(one)), name)


DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";"}
FIRST_ROWS = 30
"""The header is looked for in so many."""
MOST_LINES = 200
"""Of one row: a quote that is never closed would take in the rest of the table."""
MOST_LINES_IN_ALL = 300_000
"""Of one table, the empty ones too."""
MOST_FAILURES = 500
"""Of one table: after each the reading goes on at the next line, so lines that are read again and again must have an end."""
_SAMPLE = 32 * 1024
_CHARSETS = ("utf-8", "shift_jis", "euc-jp", "utf-16le", "utf-16be", "iso-2022-jp")
_CELLS = re.compile(r"[,;\t\r\n]")

IsKnown = Callable[[str], bool]
"""Whether a cell is the name of a column that means something."""


class TableRow(NamedTuple):
    """One row of a table."""

    number: int
    """Counted as a spreadsheet counts: the first of the file is 1."""
    cells: list[str]
    trouble: str = ""
    """Why its cells cannot be trusted; a sentence."""
    is_end: bool = False
    """Whether the rest of the table is not read, for this reason."""


def text_of_table(body: bytes, content_type: str | None, encoding: str, is_known: IsKnown) -> DecodedText:
    """The text of a table. Names of columns tell the charset better than anything a server says about a file."""
    if encoding:
        text = body.decode(CODECS[encoding], "replace").removeprefix("\ufeff")
        return DecodedText(text, encoding, "setting", "\ufffd" in text)
    if sniff(body).source == "bom":
        return decode(body)
    declared = header_charset(content_type or "")
    best: tuple[int, bool] = (0, False)
    chosen = ""
    for name in dict.fromkeys([*([declared] if declared else []), *_CHARSETS]):
        decoder = codecs.getincrementaldecoder(CODECS[name])("replace")
        sample = decoder.decode(body[:_SAMPLE])
        names = {cell.strip(' "') for cell in _CELLS.split(sample)}
        score = (sum(map(is_known, names)), "\ufffd" not in sample)
        if score[0] and score > best:
            best, chosen = score, name
    if not chosen:
        return decode(body, content_type)
    text = body.decode(CODECS[chosen], "replace")
    return DecodedText(text, chosen, "detected", "\ufffd" in text)


def rows_of(text: str, delimiter: str) -> Iterator[TableRow]:
    """The rows of a table, the empty ones too."""
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter != "\t")
    number = failures = 0
    while lines.start_row():
        number += 1
        cells, trouble = _cells(reader, lines)
        if trouble:
            failures += 1
            lines.back_to_second_line()
        if failures > MOST_FAILURES:
            reason = Message(
                "More than {limit} rows cannot be read, so the rest of the table was not tried.", limit=MOST_FAILURES
            )
            yield TableRow(number, [], reason, is_end=True)
            return
        yield TableRow(number, cells, trouble)
    if lines.are_cut:
        yield TableRow(
            number + 1,
            [],
            Message("Only the first {limit} lines of the table were read.", limit=f"{MOST_LINES_IN_ALL:,}"),
            is_end=True,
        )


def _cells(reader: Iterator[list[str]], lines: _Lines) -> tuple[list[str], str]:
    """The cells of the next row, and why they cannot be trusted."""
    try:
        cells = next(reader, [])
    except csv.Error:
        return [], Message("The row cannot be read: a cell has more than {limit} characters.", limit=csv.field_size_limit())
    return cells, Message("A quote is opened and not closed.") if lines.is_overrun else ""


class _Lines:
    """The lines of a text, one row at a time; the CSV reader is stopped when a row has too many."""

    def __init__(self, text: str) -> None:
        lines = io.StringIO(text, newline=None)
        self._lines = list(islice(lines, MOST_LINES_IN_ALL))
        self.are_cut = bool(lines.read(1))
        self._at = self._first = 0
        self.is_overrun = False

    def start_row(self) -> bool:
        """Whether there is one more row."""
        self._first, self.is_overrun = self._at, False
        return self._at < len(self._lines)

    def back_to_second_line(self) -> None:
        self._at = self._first + 1

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self._at >= len(self._lines) or self._at - self._first >= MOST_LINES:
            # Asked for one more line in the middle of a row: its quotes are open.
            self.is_overrun = True
            raise StopIteration
        self._at += 1
        return self._lines[self._at - 1]


class TableHeader(NamedTuple):
    """The row with the column names."""

    delimiter: str
    row: int
    """0: there is none."""
    names: list[str]


def find_header(text: str, delimiters: tuple[str, ...], row: int | None, is_known: IsKnown) -> TableHeader | None:
    """The row with the most names that are known, among the first ones; None when no row has two of them."""
    best, found = 0, None
    start = text[: 4 * _SAMPLE]
    for delimiter in delimiters:
        for candidate in islice(rows_of(start, delimiter), FIRST_ROWS if row is None else row or 1):
            names = _trimmed(candidate.cells)
            if row == 0:
                names = [str(number) for number in range(1, len(names) + 1)]
            elif row is not None and candidate.number != row:
                continue
            score = len({letters(name) for name in names if is_known(name)}) if row != 0 else len(names)
            if score > best:
                best, found = score, TableHeader(delimiter, 0 if row == 0 else candidate.number, names)
    return found if best >= 2 or (row is not None and best) else None


def _trimmed(cells: list[str]) -> list[str]:
    """The names in a header, without the empty ones at its end."""
    names = [cell.strip() for cell in cells]
    while names and not names[-1]:
        names.pop()
    return names


def is_known_name(cell: str) -> bool:
    return len(cell) < 60 and letters(cell) in ROLES
