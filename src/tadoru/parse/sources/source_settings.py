"""The settings of a source: a mapping from a file or from `--set key=value`, read key by key.

Every invalid value and every unknown key raises a `ConfigError` that names the key and what is allowed. Each reader defines
its own keys.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from zoneinfo import ZoneInfo

from tadoru.errors import ConfigError, quoted
from tadoru.parse.linear_regex import linear_regex

_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


class SettingsReader:
    """A mapping of settings; take the known keys, then call `done`."""

    def __init__(self, mapping: Mapping[str, object], path: str = "") -> None:
        self._rest = dict(mapping)
        self._known: list[str] = []
        self._path = path

    def take(self, key: str) -> object:
        """The value of a key, None when it is not there; the key is known from now on."""
        self._known.append(key)
        return self._rest.pop(key, None)

    def text(self, key: str, default: str = "") -> str:
        value = self.take(key)
        if value is None:
            return default
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return str(value)
        raise self.error(key, value, "a text")

    def choice(self, key: str, allowed: Collection[str], default: str) -> str:
        value = self.take(key)
        if value is None:
            return default
        if isinstance(value, str) and value in allowed:
            return value
        raise self.error(key, value, f"one of {', '.join(allowed)}")

    def number(self, key: str, default: int, *, least: int, most: int) -> int:
        value = self.take(key)
        if value is None:
            return default
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value.strip()):
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise self.error(key, value, f"a whole number from {least} to {most}")

    def flag(self, key: str, *, default: bool) -> bool:
        value = self.take(key)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        if str(value).lower() in _YES | _NO:
            return str(value).lower() in _YES
        raise self.error(key, value, "true or false")

    def zone(self, key: str) -> str | None:
        """The IANA name of a time zone."""
        value = self.take(key)
        if value is None or value == "":
            return None
        try:
            return ZoneInfo(str(value)).key
        except (KeyError, ValueError, OSError):  # no such zone, no such name, the folder of several
            raise self.error(key, value, "the name of a time zone, such as Asia/Tokyo") from None

    def mapping(self, key: str) -> Mapping[str, object]:
        value = self.take(key)
        if value is None:
            return {}
        if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
            return value
        raise self.error(key, value, "a mapping of names to values")

    def table(self, key: str) -> dict[str, str]:
        """A mapping of names to texts."""
        inner = SettingsReader(self.mapping(key), f"{self._path}{key}.")
        return {name: inner.text(name) for name in list(inner._rest)}

    def words(self, key: str) -> tuple[str, ...]:
        """A list of words, or a text of words with commas."""
        value = self.take(key)
        if value is None:
            return ()
        values = value.split(",") if isinstance(value, str) else value
        if not isinstance(values, Sequence) or not all(isinstance(one, str) for one in values):
            raise self.error(key, value, "words with commas, or a list of them")
        return tuple(one.strip() for one in values if one.strip())

    def lists(self, key: str) -> dict[str, tuple[str, ...]]:
        """A mapping of names to a text or a list of texts each."""
        found: dict[str, tuple[str, ...]] = {}
        for name, value in self.mapping(key).items():
            values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
            if not all(isinstance(one, str | int) and not isinstance(one, bool) for one in values):
                raise self.error(f"{key}.{name}", value, "a text or a list of texts")
            found[name] = tuple(str(one) for one in values)
        return found

    def error(self, key: str, value: object, wanted: str) -> ConfigError:
        return ConfigError(
            "The setting {setting} is {value}; it must be {expected}.",
            setting=self._path + key,
            value=quoted(str(value)[:100]),
            expected=wanted,
        )

    def done(self) -> None:
        """Nothing more is known. Raises ConfigError when something is left."""
        for key in self._rest:
            raise ConfigError(
                "The setting {setting} is not known; there are {settings}.",
                setting=self._path + key,
                settings=", ".join(self._known),
            )


def check_pattern(pattern: str, where: str) -> None:
    """Raises ConfigError unless it is a regular expression with one group or none."""
    try:
        groups = linear_regex(pattern).groups
    except ValueError as error:
        raise ConfigError(
            "The setting {setting}.pattern is {value}, which is no regular expression that can be used ({reason}).",
            setting=where,
            value=quoted(pattern[:100]),
            reason=error,
        ) from None
    if groups > 1:
        raise ConfigError(
            "The setting {setting}.pattern has {count} groups; it must have one, or none (use (?:…) for others).",
            setting=where,
            count=groups,
        )
