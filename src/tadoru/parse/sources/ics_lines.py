"""A calendar's bytes as components with their lines: charset, line ends, folding, BEGIN and END. What lines mean: `ics_values`.

The cost is that of going over the text once. Components that hold no event are dropped while reading, so that neither their
number nor their nesting makes anything grow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tadoru.parse.decode import decode, sniff
from tadoru.parse.sources.feed_charset import text_of
from tadoru.parse.sources.problems import Problems

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
_PROPERTY = re.compile(r"([A-Za-z0-9-]++)[ \t]*+[;:]")


@dataclass(slots=True)
class Component:
    """What stands between a BEGIN and its END."""

    name: str
    position: str
    lines: dict[str, list[str]] = field(default_factory=dict)
    """By name in upper case, each in the order in which they stand."""
    children: list[Component] = field(default_factory=list)

    def of(self, name: str) -> Iterator[Component]:
        """Its direct children of one name."""
        return (child for child in self.children if child.name == name)


def read_components(body: bytes, content_type: str | None, problems: Problems) -> Component:
    """All of a body, as children of a nameless root."""
    if len(body) > MAX_BYTES:
        problems.add("end", f"The calendar is larger than {MAX_BYTES // 1024 // 1024} MB: the rest is not read.")
    builder = _Builder(problems)
    for line in unfolded(body[:MAX_BYTES], content_type):
        builder.take(line)
        if builder.count == MAX_COMPONENTS:
            problems.add("end", f"There are more than {MAX_COMPONENTS:,} components; the rest is not read.")
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
    return (line for line in text_of(body, content_type).split("\n") if line.strip())


class _Builder:
    """Puts lines into components. Only one of each kind can be open, so the stack has three places at most."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._root = Component("", "start")
        self._open = [self._root]
        self._skipped: list[str] = []
        self._depth_lost = 0
        self._counts: dict[str, int] = {}
        self.count = 0
        """Components that were begun."""

    def take(self, line: str) -> None:
        """The next content line."""
        mark = line[:6].upper()
        if mark == "BEGIN:":
            self._begin(line[6:].strip().upper())
        elif line[:4].upper() == "END:":
            self._end(line[4:].strip().upper())
        elif self._skipped:
            return
        elif match := _PROPERTY.match(line):
            self._open[-1].lines.setdefault(match[1].upper(), []).append(line)
        elif len(self._open) > 1:
            self._problems.add(self._open[-1].position, "A line is not of the form NAME:VALUE and is left out.", line)

    def finish(self) -> Component:
        """What has been read."""
        if len(self._open) > 1 or self._skipped:
            self._problems.add("end", f"The calendar ends within {self._open[-1].name or 'a component'}.")
        return self._root

    def _begin(self, name: str) -> None:
        if name in ("VCALENDAR", "VEVENT", "VTIMEZONE") and self._is_forgotten(name):
            self._problems.add(self._open[-1].position, f"BEGIN:{name} before the END of what came before it.")
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
        self.count += 1
        self._counts[name] = self._counts.get(name, 0) + 1
        component = Component(name, f"{name} {self._counts[name]}")
        self._open[-1].children.append(component)
        self._open.append(component)

    def _is_forgotten(self, name: str) -> bool:
        """Whether this can only mean that an END is missing: an event in an event, or a calendar in a calendar."""
        return any(component.name == name for component in self._open) or (
            bool(self._skipped) and len(self._open) > 1 and name == "VCALENDAR"
        )

    def _end(self, name: str) -> None:
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
            self._problems.add(self._open[-1].position, f"END:{name[:40]} without its BEGIN.")
