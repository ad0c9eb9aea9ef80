"""The fields of a raw event that readers fill by name, how texts become one, and the problems of a reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tadoru.errors import ConfigError, Message
from tadoru.model.event import ParseProblem, RawEvent
from tadoru.parse.sources.cancellation import says_cancelled
from tadoru.parse.sources.source_settings import SettingsReader
from tadoru.rules.url import LONGEST_URL, canonical

MAX_PROBLEMS = 100
_SAMPLE = 300


def read_problem(position: str, reason: str, sample: str = "") -> ParseProblem:
    """One problem; of the text in question as much as a person would look at."""
    return ParseProblem(position=position, reason=storable(reason), sample=storable(sample[:_SAMPLE]))


class ReadProblems:
    """A bounded list of problems."""

    def __init__(self, most: int = MAX_PROBLEMS) -> None:
        self._found: list[ParseProblem] = []
        self._most = most
        self._more = 0

    def add(self, position: str, reason: str, sample: str = "") -> None:
        """One more."""
        if len(self._found) < self._most:
            self._found.append(read_problem(position, reason, sample))
        else:
            self._more += 1

    def cut(self, position: str, reason: str) -> None:
        """Why the rest of the document is not read: kept however many others there are."""
        self._most += 1
        self._found.append(read_problem(position, reason))

    def all(self) -> tuple[ParseProblem, ...]:
        """What was found, and how many more there are."""
        if not self._more:
            return tuple(self._found)
        return (*self._found, ParseProblem(position="end", reason=Message("And {count} more problems.", count=self._more)))


FIELDS = (
    "uid title description start end start_time end_time when_note timezone recurrence venue address city latitude longitude "
    "category price organizer url image cancelled updated"
).split()
EXTRA = "extra."
"""What is kept besides is named `extra.NAME`."""
_NAMES = tuple(field.name for field in fields(RawEvent) if field.name not in ("position", "extra", "is_cancelled"))

_NOT_KEPT = re.compile(r"[\u0000\ud800-\udfff]")

Value = str | datetime | date


EPOCHS = {"seconds": 1, "milliseconds": 1_000, "local_seconds": 1, "local_milliseconds": 1_000}
"""Parts of a second. Local ones count the time of the clock on the wall as if it were UTC."""


def epoch_time(found: object, unit: str) -> datetime | None:
    """A number of seconds since 1970 as a time; None for what is no number (some interfaces give a date now and then)."""
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        return None
    try:
        seconds = float(found) / EPOCHS[unit]
    except ValueError:
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
        return moment.replace(tzinfo=None) if unit.startswith("local_") else moment
    except (OverflowError, ValueError):
        raise ValueError(f"{str(found)[:40]} {unit} since 1970 is no time that can be; look at the setting epoch.") from None


def check_field(name: str, where: str) -> str:
    """The name of a field. Raises ConfigError for one that no event has."""
    if name in FIELDS or (name.startswith(EXTRA) and len(name) > len(EXTRA)):
        return name
    raise ConfigError(
        "The setting {setting}.{name} names no field of an event; there are {fields} and extra.NAME.",
        setting=where,
        name=name,
        fields=", ".join(FIELDS),
    )


def by_field(given: SettingsReader, key: str) -> dict[str, object]:
    """A setting that is a mapping of fields: `extra.room`, or `room` within `extra`, as `--set` has it. Raises ConfigError."""
    found: dict[str, object] = {}
    for name, value in given.mapping(key).items():
        if name == EXTRA[:-1] and isinstance(value, Mapping):
            found |= {f"{EXTRA}{inner}": one for inner, one in value.items()}
        else:
            found[check_field(name, key)] = value
    return found


def constants(given: SettingsReader) -> dict[str, str]:
    """The setting `constants`: what every event of a source says. Raises ConfigError."""
    return SettingsReader({"constants": by_field(given, "constants")}).table("constants")


def raw_event(position: str, values: Mapping[str, Value], base: str, extra: Mapping[str, str] | None = None) -> RawEvent:
    """An event of the values of its fields; addresses are made absolute with `base`, empty texts are none."""
    found: dict[str, Any] = {}
    others = {storable(name): storable(value) for name, value in (extra or {}).items()}
    for name, written in values.items():
        value = storable(written).strip() if isinstance(written, str) and written else written
        if value == "":
            continue
        if name.startswith(EXTRA):
            others.setdefault(name.removeprefix(EXTRA), str(value))
        elif name == "cancelled":
            found["is_cancelled"] = says_cancelled(str(value))
        elif name in ("url", "image"):
            address = absolute(str(value), base)
            found[name] = address
            if address is None:
                others.setdefault(name, str(value)[:LONGEST_URL])
        elif name in ("start", "end"):
            found[name] = value
        else:
            found[name] = str(value)
    return RawEvent(position=position, extra=others, **found)


def storable(text: str) -> str:
    """A text without what no database keeps: the NUL character, and halves of characters, which JSON can write."""
    return text if text.isprintable() else _NOT_KEPT.sub("", text)


def absolute(text: str, base: str) -> str | None:
    """A URL in full, its fragment kept: on a page of many events it tells which one. None when it is not http(s), or too long."""
    text = text.strip()
    address, _, fragment = text.partition("#")
    url = canonical(address, base) if len(text) <= LONGEST_URL else None
    return f"{url}#{fragment}" if url and fragment else url


def joined(parts: Iterable[str | None], by: str) -> str:
    """The parts that say something, each once, in order."""
    return by.join(dict.fromkeys(part.strip() for part in parts if part and part.strip()))


def filled(event: RawEvent, other: RawEvent) -> RawEvent:
    """An event with what it does not say taken from another description of it."""
    own = {name: value for name in _NAMES if (value := getattr(event, name)) not in (None, ())}
    more = {name: value for name in _NAMES if name not in own and (value := getattr(other, name)) not in (None, ())}
    is_cancelled = event.is_cancelled or other.is_cancelled
    return replace(event, **more, is_cancelled=is_cancelled, extra={**other.extra, **event.extra})
