"""A calendar's bytes as components with properties: charset, folding, parameters, texts, dates, durations, offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from quopri import decodestring
from typing import NamedTuple

from tadoru.errors import Message
from tadoru.parse.decode import decode, feed_text, sniff
from tadoru.parse.sources.raw_fields import ReadProblems

_NAME = re.compile(r"([A-Za-z0-9-]++)[ \t]*+")
_PARAMETER = re.compile(
    r';[ \t]*+([A-Za-z0-9-]*+)[ \t]*+(?:=[ \t]*+((?:"[^"]*+"|\((?:UTC|GMT)[+-][0-9]{2}:[0-9]{2}\)|[^";:]++)*+))?'
)
"""An offset in a name of Outlook that is not quoted has a colon of its own: TZID=(UTC+09:00) Osaka."""
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_STAMP = re.compile(
    r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})"
    r"(?:[T ]([0-9]{2}):?([0-9]{2})(?::?([0-9]{2}))?(?:\.[0-9]{1,9})?(Z|[+-][0-9]{2}:?[0-9]{2})?)?",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"([+-])?P(?:([0-9]{1,5})W)?(?:([0-9]{1,6})D)?(?:T(?:([0-9]{1,6})H)?(?:([0-9]{1,8})M)?(?:([0-9]{1,9})S)?)?", re.IGNORECASE
)
_OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2}):?([0-9]{2})?")
_PRINTABLE = re.compile(r"[^:]{0,200};\s*ENCODING=QUOTED-PRINTABLE\b", re.IGNORECASE)
_CARET = re.compile(r"\^[n^']")
_CARETS = {"^n": "\n", "^^": "^", "^'": '"'}
_YEARS = range(1583, 9000)
"""Outside of them dates cannot be moved by a zone or a duration with safety, and no event is there."""


@dataclass(slots=True)
class IcsProperty:
    """One content line."""

    name: str
    value: str
    parameters: dict[str, str] = field(default_factory=dict)
    """By name in upper case; quotes are taken off."""

    @property
    def text(self) -> str:
        """The value as a text."""
        return unescaped(self.value).strip()


@dataclass(frozen=True, slots=True)
class LocalStamp:
    """A date, or a local time."""

    wall: datetime
    """Naive; midnight of a date."""
    is_date: bool = False
    is_utc: bool = False
    tzid: str | None = None

    @property
    def day(self) -> date:
        """Without the time."""
        return self.wall.date()


class IcsDuration(NamedTuple):
    """A duration: days in local time, whatever the clocks do meanwhile, and then elapsed time."""

    days: int = 0
    passing: timedelta = timedelta(0)

    @property
    def total(self) -> timedelta:
        """All of it, taking a day for 24 hours."""
        return timedelta(days=self.days) + self.passing


def properties(component: IcsComponent, *names: str) -> Iterator[IcsProperty]:
    """The component's lines of these names, those of the first name first."""
    return (read_property(line) for name in names for line in component.lines.get(name, ()))


def first(component: IcsComponent, *names: str) -> IcsProperty | None:
    """The first such line that has a value."""
    for name in names:
        for line in component.lines.get(name, ()):
            found = read_property(line)
            if found.value and not found.value.isspace():
                return found
    return None


def read_property(line: str) -> IcsProperty:
    """A line of the form NAME;PARAMETER=VALUE:VALUE. What cannot be parsed of the parameters is passed over."""
    front, _, value = line.partition(":")
    if ";" not in front:
        return IcsProperty(front.strip().upper(), value)
    name = _NAME.match(line)
    assert name is not None
    at = name.end()
    parameters: dict[str, str] = {}
    while match := _PARAMETER.match(line, at):
        if match[1] and match[2] is not None:
            text = match[2].replace('"', "").strip()
            parameters[match[1].upper()] = _CARET.sub(lambda found: _CARETS[found[0]], text) if "^" in text else text
        at = match.end()
    _, _, value = line[at:].partition(":")
    if parameters.get("ENCODING", "").upper() == "QUOTED-PRINTABLE":
        value = feed_text(decodestring(value.encode()), f"text/plain; charset={parameters.get('CHARSET', 'utf-8')}")
    return IcsProperty(name[1].upper(), value, parameters)


def unescaped(value: str) -> str:
    """A text without its backslashes."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value) if "\\" in value else value


def values_of(text: str) -> list[str]:
    """The texts of a list: a comma after a backslash does not part them."""
    return [unescaped(part).strip() for part in re.findall(r"(?:\\.|[^,\\])+", text, re.DOTALL)]


def read_stamp(value: str, parameters: dict[str, str] | None = None) -> LocalStamp | None:
    """A DATE or DATE-TIME."""
    match = _STAMP.fullmatch(value.strip())
    if match is None or int(match[1]) not in _YEARS:
        return None
    parameters = parameters or {}
    tzid = parameters.get("TZID") or None
    try:
        day = datetime(int(match[1]), int(match[2]), int(match[3]))  # noqa: DTZ001 -- the clock on the wall
        if match[4] is None or parameters.get("VALUE", "").upper() == "DATE":
            return LocalStamp(day, is_date=True)
        hour, minute, second = int(match[4]), int(match[5]), min(int(match[6] or 0), 59)
        if (hour, minute, second) == (24, 0, 0):
            day, hour = day + timedelta(days=1), 0
        # Not in the standard, and written all the same: 20260805T190000+0900.
        offset = read_offset(match[7] or "") or timedelta(0)
        wall = day.replace(hour=hour, minute=minute, second=second) - offset
        return LocalStamp(wall, is_utc=bool(match[7]), tzid=tzid)
    except ValueError:
        return None


def read_duration(value: str) -> IcsDuration | None:
    """A DURATION."""
    match = _DURATION.fullmatch(value.strip())
    if match is None or not any(match.groups()[1:]):
        return None
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups()[1:])
    sign = -1 if match[1] == "-" else 1
    return IcsDuration(sign * (7 * weeks + days), sign * timedelta(hours=hours, minutes=minutes, seconds=seconds))


def read_offset(value: str) -> timedelta | None:
    """A UTC-OFFSET; nothing is further than a day from UTC."""
    match = _OFFSET.fullmatch(value.strip())
    if match is None or int(match[2]) > 23 or int(match[3]) > 59:
        return None
    found = timedelta(hours=int(match[2]), minutes=int(match[3]), seconds=int(match[4] or 0))
    return -found if match[1] == "-" else found


MAX_BYTES = 20 * 1024 * 1024
_NESTING = {
    "VCALENDAR": ("",),
    "VEVENT": ("", "VCALENDAR"),
    "VTIMEZONE": ("", "VCALENDAR"),
    "STANDARD": ("VTIMEZONE",),
    "DAYLIGHT": ("VTIMEZONE",),
}
"""The components that are read, and where they may stand."""
MAX_COMPONENTS = 120_000
"""Of one calendar: events, their changes, time zones and the parts of these."""
MAX_PROPERTIES = 500_000
"""Lines of all components of one calendar; an event has a dozen."""
_PROPERTY = re.compile(r"([A-Za-z0-9-]++)[ \t]*+[;:]")
_MARKS = "BbEe"
_SLICE = 1024 * 1024


@dataclass(slots=True)
class IcsComponent:
    """The content between a BEGIN and its END."""

    name: str
    position: str
    lines: dict[str, list[str]] = field(default_factory=dict)
    """By name in upper case, each in the order in which they stand."""
    children: list[IcsComponent] = field(default_factory=list)

    def of(self, name: str) -> Iterator[IcsComponent]:
        """Its direct children of one name."""
        return (child for child in self.children if child.name == name)


def read_components(body: bytes, content_type: str | None, problems: ReadProblems, most: int = MAX_COMPONENTS) -> IcsComponent:
    """All of a body, as children of a nameless root; at most `most` components."""
    if len(body) > MAX_BYTES:
        problems.cut(
            "end", Message("The calendar is larger than {limit} MB: the rest is not read.", limit=MAX_BYTES // 1024 // 1024)
        )
    builder = _Builder(problems)
    for line in unfolded(body[:MAX_BYTES], content_type):
        builder.take(line)
        if builder.components == most:
            problems.cut("end", Message("There are more than {limit} components; the rest is not read.", limit=f"{most:,}"))
            break
        if builder.properties == MAX_PROPERTIES:
            problems.cut(
                "end", Message("There are more than {limit} properties; the rest is not read.", limit=f"{MAX_PROPERTIES:,}")
            )
            break
    return builder.finish()


def unfolded(body: bytes, content_type: str | None) -> Iterator[str]:
    """The content lines of a calendar. Folding may cut a character in two, so it is undone before the text is decoded."""
    if sniff(body[:4096], content_type).name.startswith("utf-16"):
        body = decode(body, content_type).text.encode("utf-8")
        content_type = "text/calendar; charset=utf-8"
    # A lone CR between proper line ends is a stray sign in a text, or the first of CR CR LF.
    body = body.replace(b"\r", b"" if b"\n" in body else b"\n")
    # Files whose line ends were changed twice have empty lines, also where a line is folded.
    while b"\n\n" in body:
        body = body.replace(b"\n\n", b"\n")
    # Not by an expression: that holds an object for each fold, of which a line may have millions.
    body = body.replace(b"\n ", b"").replace(b"\n\t", b"")
    return _joined_lines(line for line in _split_lines(feed_text(body, content_type)) if line and not line.isspace())


def _joined_lines(lines: Iterator[str]) -> Iterator[str]:
    """The lines, those of vCalendar 1.0 that end in a sign of continuation put together with the next."""
    for line in lines:
        if line[-1] != "=" or not _PRINTABLE.match(line):
            yield line
            continue
        parts = [line[:-1]]
        for following in lines:
            parts.append(following.removesuffix("="))
            if following[-1] != "=":
                break
        yield "".join(parts)


def _split_lines(text: str) -> Iterator[str]:
    """The lines of a text, in slices: a list of millions of lines takes a hundred megabytes."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _SLICE)
        end = len(text) if end < 0 else end
        yield from text[start:end].split("\n")
        start = end + 1


class _Builder:
    """Puts lines into components. Only one of each kind can be open, so the stack has three places at most."""

    def __init__(self, problems: ReadProblems) -> None:
        self._problems = problems
        self._root = IcsComponent("", "start")
        self._open = [self._root]
        self._skipped: list[str] = []
        self._depth_lost = 0
        self._counts: dict[str, int] = {}
        self.components = 0
        """That were begun."""
        self.properties = 0

    def take(self, line: str) -> None:
        """The next content line."""
        if line[0] in _MARKS:
            if line[:6].upper() == "BEGIN:":
                self._begin(line[6:].strip().upper())
                return
            if line[:4].upper() == "END:":
                self._end(line[4:].strip().upper())
                return
        if self._skipped:
            return
        if match := _PROPERTY.match(line):
            self.properties += 1
            self._open[-1].lines.setdefault(match[1].upper(), []).append(line)
        elif len(self._open) > 1:
            self._problems.add(self._open[-1].position, Message("A line is not of the form NAME:VALUE and is skipped."), line)

    def finish(self) -> IcsComponent:
        """What has been read."""
        if len(self._open) > 1 or self._skipped:
            self._problems.add("end", Message("The calendar ends within {name}.", name=self._open[-1].name or "a component"))
        return self._root

    def _begin(self, name: str) -> None:
        if name in ("VCALENDAR", "VEVENT", "VTIMEZONE") and self._is_forgotten(name):
            self._problems.add(
                self._open[-1].position, Message("BEGIN:{name} before the END of the previous component.", name=name)
            )
            self._skipped.clear()
            while self._open[-1].name not in _NESTING[name]:
                self._open.pop()
        if self._skipped or self._open[-1].name not in _NESTING.get(name, ()):
            # How deep strangers nest does not matter: only their number is kept beyond this.
            if len(self._skipped) < 100:
                self._skipped.append(name)
            else:
                self._depth_lost += 1
            return
        self.components += 1
        self._counts[name] = self._counts.get(name, 0) + 1
        component = IcsComponent(name, f"{name} {self._counts[name]}")
        self._open[-1].children.append(component)
        self._open.append(component)

    def _is_forgotten(self, name: str) -> bool:
        """Whether this can only mean that an END is missing: an event in an event, or a calendar in a calendar."""
        return any(component.name == name for component in self._open) or (
            bool(self._skipped) and len(self._open) > 1 and name == "VCALENDAR"
        )

    def _end(self, name: str) -> None:
        if name == self._open[-1].name and name and not self._skipped:
            self._open.pop()
            return
        if self._skipped:
            if self._depth_lost:
                self._depth_lost -= 1
                return
            if name == self._skipped[-1]:
                self._skipped.pop()
                return
            if not any(component.name == name for component in self._open):
                return
            self._skipped.clear()
        if any(component.name == name for component in self._open[1:]):
            while self._open.pop().name != name:
                pass
        else:
            self._problems.add(self._open[-1].position, Message("END:{name} without its BEGIN.", name=name[:40]))
