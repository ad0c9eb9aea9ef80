"""Parsers of option values from flags, variables and files. Each raises UsageError with what the value must be, as the end of a
sentence that begins with the name of the option. The options are in `options`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from tadoru.errors import UsageError

if TYPE_CHECKING:
    from tadoru.model.web import LinkKind

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Parser(Generic[T]):
    """Parses the values of an option, and knows how they are shown."""

    parse: Callable[[Any], T]
    kind: str
    """`whole`, `seconds`, `flag`, `one` (of `values`) or `text`."""
    metavar: str
    values: tuple[str, ...] = ()

    def __call__(self, value: Any) -> T:
        return self.parse(value)


def _parser(metavar: str, kind: str = "text") -> Callable[[Callable[[Any], T]], Parser[T]]:
    return lambda parse: Parser(parse, kind, metavar)


@_parser("TEXT")
def parse_text(value: Any) -> str:
    if not isinstance(value, str | int | float) or isinstance(value, bool) or value == "":
        raise UsageError("must be non-empty text")
    # Before it becomes a header, a file name or part of a sentence.
    if any(char < " " and char != "\t" for char in str(value)):
        raise UsageError("must not contain line breaks or other control characters")
    return str(value)


@_parser("", "flag")
def parse_flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).strip().lower() in ("1", "true", "yes", "on"):
        return True
    if str(value).strip().lower() in ("0", "false", "no", "off"):
        return False
    raise UsageError("must be true or false")


def whole_number(least: int, most: int = 10**9) -> Parser[int]:
    """The parser of whole numbers in a range."""

    @_parser("N", "whole")
    def parse(value: Any) -> int:
        try:
            number = int(str(value).strip())
        except ValueError:
            number = least - 1
        if isinstance(value, bool) or not least <= number <= most:
            raise UsageError("must be a whole number from {least} to {most}", least=least, most=f"{most:,}")
        return number

    return parse


MAX_DURATION = 366 * 24 * 3600.0
_UNITS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@_parser("TIME", "seconds")
def parse_duration(value: Any) -> float:
    """`1.5`, `500ms`, `2s`, `10m`, `1h`, `2d`."""
    match = re.fullmatch(r"\s*+(\d++(?:\.\d*+)?|\.\d++)\s*+(ms|s|m|h|d|)\s*+", str(value))
    if match is None or isinstance(value, bool):
        raise UsageError("must be a duration such as 1.5, 500ms or 2s")
    seconds = float(match[1]) * _UNITS[match[2]]
    if seconds > MAX_DURATION:
        raise UsageError("must be at most one year")
    return seconds


@_parser("TIME", "seconds")
def parse_positive_duration(value: Any) -> float:
    seconds = parse_duration(value)
    if seconds <= 0:
        raise UsageError("must be a duration greater than 0, such as 10 or 500ms")
    return seconds


@_parser("TIME", "seconds")
def parse_delay(value: Any) -> float:
    """A delay between requests. A number over 60 without a unit was probably meant as milliseconds."""
    return _confirmed(value, parse_duration(value), 60)


@_parser("TIME", "seconds")
def parse_timeout(value: Any) -> float:
    """A timeout. A number over 900 without a unit was probably meant as milliseconds."""
    return _confirmed(value, parse_positive_duration(value), 900)


def _confirmed(value: Any, seconds: float, most: float) -> float:
    """A duration that is usual for its option, or has a unit."""
    if seconds > most and re.fullmatch(r"\s*[\d.]+\s*", str(value)):
        raise UsageError(
            "is in seconds, and {value} is very long: write {value}ms for milliseconds, or {value}s to confirm", value=value
        )
    return seconds


_SIZES = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


@_parser("SIZE")
def parse_size(value: Any) -> int:
    """`10485760`, `10MB`, `512k`."""
    match = re.fullmatch(r"\s*+(\d{1,15}(?:\.\d*+)?)\s*+(?:([kmg]?)b?|([kmg])ib)\s*+", str(value).lower())
    number = int(float(match[1]) * _SIZES[match[2] or match[3] or ""]) if match else 0
    if number < 1 or isinstance(value, bool):
        raise UsageError("must be a size such as 10485760, 512k or 10MB")
    return number


@_parser("SIZE")
def parse_quota(value: Any) -> int:
    return 0 if str(value).strip() == "0" and not isinstance(value, bool) else parse_size(value)


@_parser("HOST:PORT")
def parse_host_and_port(value: Any) -> str:
    """`example.internal:8080`, `[::1]:80`, or `*`."""
    if re.fullmatch(r"\*|(?:[A-Za-z0-9.\-_]+|\[[0-9A-Fa-f:.]+\]):[1-9]\d{0,4}", str(value).strip()) is None:
        raise UsageError("must be a host and a port such as 10.0.0.5:80 or localhost:8080, or *")
    return str(value).strip()


def one_of(*options: str) -> Parser[str]:
    def parse(value: Any) -> str:
        if value not in options:
            raise UsageError("must be one of {choices}", choices=", ".join(options))
        return str(value)

    return Parser(parse, "one", "|".join(options), options)


@_parser("KINDS")
def parse_link_kinds(value: Any) -> str:
    """Kinds of references, separated by commas: `all`, those to check, or with a minus those not to check."""
    from tadoru.model.web import LinkKind  # Late: help needs no value of an option.

    names = [name.strip() for name in str(value).lower().split(",")]
    choices = [str(kind) for kind in LinkKind]
    if names != ["all"] and not {name.removeprefix("-") for name in names} <= set(choices):
        raise UsageError("must be all or a list of {choices}; a minus leaves one out", choices=", ".join(choices))
    return ",".join(names)


def link_kinds(text: str) -> frozenset[LinkKind]:
    """The kinds that a value of `parse_link_kinds` names."""
    from tadoru.model.web import LinkKind

    names = text.split(",")
    wanted = {name for name in names if not name.startswith("-")} - {"all"}
    unwanted = {name[1:] for name in names if name.startswith("-")}
    return frozenset(kind for kind in LinkKind if (not wanted or kind in wanted) and kind not in unwanted)


@_parser("BOTS")
def parse_search_bots(value: Any) -> str:
    """Names of crawlers, separated by commas, or `none`."""
    from tadoru.model.web import SEARCH_BOTS

    names = [name.strip() for name in str(value).lower().split(",")]
    if names != ["none"] and not set(names) <= set(SEARCH_BOTS):
        raise UsageError("must be none or a list of {choices}", choices=", ".join(SEARCH_BOTS))
    return ",".join(dict.fromkeys(names))


@_parser("N|auto")
def parse_process_count(value: Any) -> int | None:
    """A number of processes; None for `auto`."""
    return None if str(value).strip().lower() == "auto" else whole_number(1, 256)(value)


@_parser("REGEX")
def parse_regex(value: Any) -> str:
    """A regular expression."""
    if not isinstance(value, str) or not value:
        raise UsageError("must be a regular expression")
    try:
        re.compile(value)
    except re.error as error:
        raise UsageError("must be a regular expression ({error})", error=error) from None
    return value


@_parser("URL")
def parse_origin(value: Any) -> str:
    """An origin: a scheme and a host, without a path."""
    match = re.fullmatch(r"(https?://[A-Za-z0-9.\-\[\]:]+?)/?", str(value).strip(), re.IGNORECASE)
    if match is None:
        raise UsageError("must be a URL without a path, such as https://events.example")
    return match[1]


@_parser("FROM=TO")
def parse_remap(value: Any) -> str:
    """Two URLs: `https://example.com=http://127.0.0.1:8080`."""
    given = str(value).strip()
    if re.fullmatch(r"https?://[^\s=][^\s]*?=https?://[^\s]+", given, re.IGNORECASE) is None:
        raise UsageError("must be two URLs such as https://example.com=http://127.0.0.1:8080")
    return given


@_parser("HOST VALUE")
def parse_host_value(value: Any) -> str:
    """A host or an origin, and after a space what is sent there. The message does not repeat it, because it is a secret."""
    given = parse_text(value).strip()
    if len(given.split(maxsplit=1)) < 2:
        raise UsageError("must be a host and, after a space, the value for it, such as “api.example.com Accept: text/html”")
    return given


@_parser("ZONE")
def parse_time_zone(value: Any) -> str:
    """The name of a time zone."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(str(value)).key
    except (KeyError, ValueError, OSError):
        raise UsageError("must be a time zone such as Asia/Tokyo or UTC") from None


@_parser("ORIGIN")
def parse_frame_origin(value: Any) -> str:
    """The origin of a site that may embed pages, or `*` for any."""
    return "*" if str(value).strip() == "*" else parse_origin(value)


@_parser("NAME")
def parse_name(value: Any) -> str:
    """A short name on one line, for titles."""
    given = " ".join(parse_text(value).split())
    if not given or len(given) > 100 or not given.isprintable():
        raise UsageError("must be a name of at most 100 characters")
    return given


class Colour(NamedTuple):
    """A colour, with the contrast of WCAG 2."""

    red: int
    green: int
    blue: int

    @classmethod
    def parse(cls, text: str) -> Colour:
        """The colour of `#1c5d5a`."""
        return cls(*bytes.fromhex(text.removeprefix("#")))

    def __str__(self) -> str:
        return "#" + bytes(self).hex()

    def mixed(self, other: Colour, share: float) -> Colour:
        """The colour with a share of another."""
        return Colour(*(round(one + (two - one) * share) for one, two in zip(self, other, strict=True)))

    @property
    def soft(self) -> Colour:
        """A light background of the same hue."""
        return self.mixed(Colour(255, 255, 255), 0.88)

    @property
    def luminance(self) -> float:
        parts = (one / 255 for one in self)
        red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def contrast(self, other: Colour) -> float:
        """The contrast of a text of one colour on the other, from 1 to 21."""
        dark, light = sorted((self.luminance, other.luminance))
        return (light + 0.05) / (dark + 0.05)


MIN_CONTRAST = 4.5
"""Contrast of texts that everyone can read (WCAG 2, level AA)."""


@_parser("COLOUR")
def parse_accent(value: Any) -> str:
    """A colour such as #1c5d5a, dark enough for texts."""
    given = parse_text(value).strip().lower()
    if re.fullmatch(r"#[0-9a-f]{6}", given) is None:
        raise UsageError("must be a colour such as #1c5d5a")
    colour = Colour.parse(given)
    if (contrast := colour.contrast(colour.soft)) < MIN_CONTRAST:
        raise UsageError(
            "has a contrast of {contrast} on its light background; texts need {least}. Choose a darker colour",
            contrast=f"{contrast:.1f}", least=MIN_CONTRAST,
        )  # fmt: skip
    return given


LOGO_TYPES = {
    ".svg": "image/svg+xml", ".png": "image/png", ".webp": "image/webp", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
}  # fmt: skip
MAX_LOGO_BYTES = 200_000


@_parser("FILE|URL")
def parse_logo(value: Any) -> str:
    """An image file, or the https:// URL of one."""
    given = parse_text(value).strip()
    if re.fullmatch(r"https://[^\s<>\"'\\]+", given, re.IGNORECASE):
        return given
    file = Path(given)
    if file.suffix.lower() not in LOGO_TYPES:
        raise UsageError("must be an SVG, PNG, WebP or JPEG file, or an https:// URL")
    if not file.is_file() or file.stat().st_size > MAX_LOGO_BYTES:
        raise UsageError("must be a file of at most {limit} bytes", limit=f"{MAX_LOGO_BYTES:,}")
    return str(file.absolute())


@_parser("TEXT")
def parse_paragraph(value: Any) -> str:
    """A text of several lines."""
    given = parse_text(value).strip()
    if len(given) > 2_000 or not given.replace("\n", " ").isprintable():
        raise UsageError("must be a text of at most 2,000 characters")
    return given


@_parser("NAME")
def parse_label(value: Any) -> str:
    """A part of a folder's name, such as a version."""
    given = parse_text(value).strip()
    if re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._+-]{0,62}[A-Za-z0-9+])?", given) is None:
        raise UsageError("must be at most 64 letters, digits, dots, hyphens and underscores, such as 2.0")
    return given


@_parser("URL")
def parse_contact_url(value: Any) -> str:
    """The URL of a page, or a mailto: URL."""
    given = parse_text(value).strip()
    if re.fullmatch(r"https?://[^\s<>\"'\\]+|mailto:[^\s<>\"'\\@]+@[^\s<>\"'\\@]+", given, re.IGNORECASE) is None:
        raise UsageError("must be a URL such as https://town.example/imprint or mailto:office@town.example")
    return given
