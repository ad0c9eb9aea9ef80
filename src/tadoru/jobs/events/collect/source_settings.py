"""The settings of a source: shared ones, and those of its reader. They are checked when they are saved.

`auth` (`type` bearer, basic, header or query, and what that needs), `headers`, `limits`, `reader` (a plugin), `date_order` and
what holds for all items (`all_day`, `duration`, `skip_undated`, `include`, `exclude`, `patterns`) are shared; the rest is passed
to the reader. A secret is never a setting: the source names the environment variable that holds it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tadoru.errors import ConfigError, UsageError, quoted
from tadoru.fetch.credentials import Credentials, check_header
from tadoru.jobs.events.collect.readers import SourceReader, reader_for
from tadoru.jobs.events.normalise.normaliser import ItemRules
from tadoru.model.event import SourceType
from tadoru.model.web import Headers
from tadoru.parse.dates.vocabulary import DayMonthOrder
from tadoru.parse.sources.raw_fields import by_field
from tadoru.parse.sources.source_settings import SettingsReader, check_pattern
from tadoru.rules.url import canonical, origin

AUTH_TYPES = ("bearer", "basic", "header", "query")
DATE_ORDERS = tuple(DayMonthOrder)
MAX_PAGES = 10_000
"""Maximum number of list pages in one run, whatever the settings say."""
_ITEM_RULES = ("all_day", "duration", "skip_undated", "include", "exclude", "patterns")
_SHARED = ("auth", "headers", "limits", "reader", "date_order", *_ITEM_RULES)
_FORBIDDEN = frozenset({"authorization", "cookie"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAuth:
    """How a source authenticates; the secret comes from an environment variable."""

    type: str = ""
    name: str = ""
    """The user name (basic), header name or query parameter."""

    def credentials(self, origins: tuple[str, ...], secret: str) -> Credentials:
        """The secret, bound to the origins of the source."""
        found = Credentials()
        match self.type:
            case "bearer":
                return found.with_bearer(origins, secret)
            case "basic":
                return found.with_basic(origins, self.name, secret)
            case "header":
                return found.with_api_key(origins, self.name, secret)
            case "query":
                return found.with_parameter(origins, self.name, secret)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Limits of one run; a run that reaches one keeps what it has read and is partial."""

    pages: int = 50
    """List pages; detail pages are not counted."""
    bytes: int = 64 * 1024 * 1024
    """Response bodies after decompression, as saved in snapshots."""
    events: int = 10_000
    """Real calendars stay below it; each event takes about a millisecond to normalise, compare and store."""
    same_start: int = 500
    """Each of them is compared with others of its day. In 33 calendars of Japanese municipalities with up to 340 events, at most
    14 (8 %) have the same start, so that tables of 5,000 events stay below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """The checked settings of a source."""

    reader: SourceReader
    own: Any
    """The settings of the reader, parsed by it."""
    auth: SourceAuth = SourceAuth()
    headers: Headers = ()
    limits: RunLimits = RunLimits()
    order: DayMonthOrder | None = None
    items: ItemRules = ItemRules()
    has_typed_expressions: bool = False
    """Whether a user entered selectors or expressions for a built-in reader, which may take any time."""

    def credentials(self, url: str, secret: str) -> Credentials:
        """The secret and the custom headers, which are sent to the origin of the source and to no other."""
        address = canonical(url)
        origins = (origin(address),) if address is not None else ()
        return self.auth.credentials(origins, secret).with_headers(origins, self.headers)


def parse_source_settings(kind: SourceType, mapping: Mapping[str, Any], *, secret: str = "") -> SourceSettings:
    """Check and parse the settings of a source. Raises ConfigError."""
    own = dict(mapping)
    shared = SettingsReader({name: own.pop(name) for name in _SHARED if name in own})
    auth = _auth(shared.mapping("auth"))
    if auth.type and not secret:
        raise ConfigError("The setting auth needs a secret. Name its environment variable with --secret.")
    plugin = shared.text("reader")
    order = shared.choice("date_order", DATE_ORDERS, "")
    reader = reader_for(kind, plugin)
    return SourceSettings(
        reader=reader,
        own=reader.prepare(own),
        auth=auth,
        headers=_headers(shared.table("headers")),
        # Readers of APIs and web pages stop at their own setting most_pages.
        limits=_limits(shared.mapping("limits"), stops_by_itself=not plugin and kind in (SourceType.API, SourceType.HTML)),
        order=DayMonthOrder(order) if order else None,
        items=_item_rules(shared),
        has_typed_expressions=not plugin and (kind is SourceType.API or (kind is SourceType.HTML and bool(own))),
    )


def _item_rules(given: SettingsReader) -> ItemRules:
    patterns = {name: str(value) for name, value in by_field(given, "patterns").items()}
    for name, pattern in patterns.items():
        check_pattern(pattern, f"patterns.{name}")
    return ItemRules(
        all_day=given.flag("all_day", default=False),
        duration=given.number("duration", 0, least=0, most=7 * 24 * 60),
        skip_undated=given.flag("skip_undated", default=False),
        include=given.words("include"),
        exclude=given.words("exclude"),
        patterns=patterns,
    )


def _headers(table: Mapping[str, str]) -> Headers:
    for name, value in table.items():
        if name.lower() in _FORBIDDEN:
            raise ConfigError(
                "The setting headers.{name} cannot be sent. Authenticate with the setting auth and --secret.", name=name
            )
        _check_header(f"headers.{name}", name, value)
    return tuple(table.items())


def _check_header(key: str, name: str, value: str = "") -> None:
    try:
        check_header(name, value)
    except UsageError as error:
        raise ConfigError("Invalid setting {key}. {problem}", key=key, problem=error) from None


def _limits(mapping: Mapping[str, Any], *, stops_by_itself: bool) -> RunLimits:
    given, default = SettingsReader(mapping, "limits."), RunLimits()
    found = RunLimits(
        pages=given.number("pages", MAX_PAGES if stops_by_itself else default.pages, least=1, most=MAX_PAGES),
        bytes=given.number("bytes", default.bytes, least=1, most=999_999_999),
        events=given.number("events", default.events, least=1, most=1_000_000),
        same_start=given.number("same_start", default.same_start, least=1, most=1_000_000),
    )
    given.done()
    return found


def _auth(mapping: Mapping[str, Any]) -> SourceAuth:
    if not mapping:
        return SourceAuth()
    given = SettingsReader(mapping, "auth.")
    kind = given.choice("type", AUTH_TYPES, "")
    if not kind:
        raise ConfigError("The setting auth.type is missing. Use {types}.", types=", ".join(AUTH_TYPES))
    name = ""
    if kind in ("basic", "header", "query"):
        key = {"basic": "username", "header": "header", "query": "parameter"}[kind]
        name = given.text(key)
        if not name:
            raise ConfigError("The setting auth.{key} is missing; {type} needs it.", key=key, type=kind)
        if kind == "header":
            _check_header("auth.header", name)
    given.done()
    return SourceAuth(type=kind, name=name)


def settings_from_pairs(pairs: Iterable[str], settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Apply `key=value` pairs to settings: dots in a key lead into mappings, an empty value removes a key."""
    result: dict[str, Any] = json.loads(json.dumps(dict(settings or {})))
    for pair in pairs:
        key, equals, text = pair.partition("=")
        names = key.strip().split(".")
        if not equals or not all(names):
            raise UsageError("Invalid setting {setting}. Write it as key=value, such as items=events.", setting=quoted(pair))
        place = result
        for name in names[:-1]:
            inner = place.setdefault(name, {})
            if not isinstance(inner, dict):
                raise UsageError("Cannot set {key}: {name} already has a value.", key=key, name=name)
            place = inner
        if text == "":
            place.pop(names[-1], None)
        else:
            place[names[-1]] = _value(text)
    return result


def _value(text: str) -> Any:
    """JSON objects and lists are parsed. Everything else stays text; readers convert numbers themselves."""
    if re.match(r"\{|\[\s*\"", text):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
