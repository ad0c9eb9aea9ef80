"""The register of sources from a person's side: what is checked before a source is saved, and how its address is permitted.

What is saved is in `store.calendar.sources`; the files that sources are imported from are read in `imports`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree

from tadoru.clock import SystemClock
from tadoru.config.parsers import parse_time_zone
from tadoru.errors import ConfigError, UsageError, quoted
from tadoru.jobs.events.collect.source_settings import parse_source_settings, settings_from_pairs
from tadoru.model.event import SourceType
from tadoru.rules.address import Exemptions, block_reason
from tadoru.rules.url import parse_typed_url
from tadoru.store.calendar.records import EventSource
from tadoru.store.calendar.store import CalendarStore


class DuplicateSource(UsageError):
    """A source that reads the same address in the same way is in the register."""


def check_source(values: Mapping[str, Any], before: EventSource | None = None) -> dict[str, Any]:
    """The fields of a source as they are saved. Raises UsageError or ConfigError, in a sentence."""
    given = dict(values)
    kind = given.get("type", before.type if before else "")
    if kind not in list(SourceType):
        raise UsageError(f"A source cannot be of the type {quoted(kind)}: use {', '.join(SourceType)}.")
    if "url" in given:
        given["url"] = parse_typed_url(given["url"])
    if given.get("timezone"):
        try:
            given["timezone"] = parse_time_zone(given["timezone"])
        except UsageError as error:
            raise UsageError(f"The time zone {error}.") from None
    secret = given.get("secret", before.secret if before else "")
    if secret and not secret.isidentifier():
        raise UsageError("The secret is the name of a variable, such as TOWN_TOKEN, and never the secret itself.")
    settings = given.get("settings", before.settings if before else {})
    try:
        parse_source_settings(SourceType(kind), settings, secret=secret)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    return given


async def find_private_host(url: str) -> str:
    """`host:port` of an address that a person typed and that is private, which permits it for this source; empty otherwise."""
    from tadoru.fetch.guard import DnsCache, private_exemptions

    names = DnsCache(SystemClock())
    try:
        private = await private_exemptions([url], names)
    finally:
        await names.close()
    return next(iter(private.to_list()), "")


async def is_private_url(url: str) -> bool:
    """Does an address lead into a private network, as far as can be told now? What does not resolve is left to the guard."""
    from tadoru.fetch.guard import DnsCache, UnresolvedHost, is_literal

    names = DnsCache(SystemClock())
    try:
        for host, _ in Exemptions.for_urls([url]).named:
            addresses = [host] if is_literal(host) else await names.ask(host)
            if any(block_reason(one) is not None for one in addresses):
                return True
    except UnresolvedHost:
        return False
    finally:
        await names.close()
    return False


async def _permitted_host(url: str, allowed: Exemptions | None) -> str:
    """What a URL permits: something only when a person at the machine typed it. Raises UsageError."""
    if allowed is None:
        return await find_private_host(url)
    if not all(allowed.covers(host, port) for host, port in Exemptions.for_urls([url]).named) and await is_private_url(url):
        raise UsageError(
            "This URL leads to a private address: give a public one, or start the service with --crawl-private HOST:PORT."
        )
    return ""


async def add_source(
    store: CalendarStore, values: Mapping[str, Any], by: str, *, allowed: Exemptions | None = None
) -> EventSource:
    """Save a new source. Who is not at the machine permits no private address: with `allowed`, only what that covers is one."""
    given = check_source(values)
    same = [one for one in store.sources() if one.url == given["url"] and one.type == given["type"]]
    if any(dict(one.settings) == given.get("settings", {}) for one in same):
        raise DuplicateSource(
            f"{given['url']} is source {same[0].id} ({same[0].name}) already: edit that one, or remove it first."
        )
    return store.add_source(given | {"named_host": await _permitted_host(given["url"], allowed)}, by)


async def edit_source(
    store: CalendarStore, source_id: int, values: Mapping[str, Any], by: str, *, allowed: Exemptions | None = None
) -> EventSource:
    """Change a source; see `add_source`."""
    given = check_source(values, store.source(source_id))
    if "url" in given:
        given["named_host"] = await _permitted_host(given["url"], allowed)
    return store.edit_source(source_id, given, by)


SOURCE_FIELDS = (
    "name", "type", "url", "city", "frequency", "enabled", "notes", "timezone", "priority", "licence", "terms_url", "low_hours",
    "secret", "settings", "depends_on",
)  # fmt: skip
_NUMBERS = ("priority", "low_hours")


class ImportedSource(NamedTuple):
    """A source as a file has it."""

    where: str
    values: dict[str, Any]
    depends_on: str
    """The name of the source that it waits for."""


def parse_source_file(text: str, name: str) -> list[ImportedSource]:
    """The sources of a file; its name says how it is written. Raises UsageError."""
    suffix = name.lower().rpartition(".")[2]
    readers = {"yml": _yaml, "yaml": _yaml, "json": _yaml, "opml": _opml, "xml": _opml, "csv": _csv}
    if suffix not in readers:
        raise UsageError(f"{name} cannot be imported: its name must end in .yml, .opml or .csv.")
    try:
        entries = list(readers[suffix](text, name))
    except csv.Error as error:
        raise UsageError(f"Cannot read {name} as CSV ({error}). Save it again as CSV in UTF-8.") from None
    if not entries:
        raise UsageError(f"There is no source in {name}.")
    return entries


def _yaml(text: str, name: str) -> Iterator[ImportedSource]:
    import yaml

    try:
        data: Any = yaml.safe_load(text)
    except RecursionError:
        raise UsageError(
            f"Cannot read {name}: its lists and mappings are nested too deep. A source needs three levels."
        ) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise UsageError(f"{name} is not valid YAML{where}.") from None
    found = data.get("sources") if isinstance(data, Mapping) else data
    if not isinstance(found, list):
        raise UsageError(f"{name} must hold a list of sources, or a list under the key sources.")
    for number, item in enumerate(found, start=1):
        where = f"{name}, source {number}"
        if not isinstance(item, Mapping):
            raise UsageError(f"{where}: this is no source; it needs name, type and url.")
        yield _imported_source(where, {str(key).replace("-", "_"): value for key, value in item.items()})


def _opml(text: str, name: str) -> Iterator[ImportedSource]:
    if re.search(r"<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise UsageError(f"{name} declares its own entities, which no list of feeds needs: remove the <!DOCTYPE …>.")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - it declares no entities, see above
    except ElementTree.ParseError as error:
        raise UsageError(f"{name} is not valid OPML: {error}.") from None
    for number, outline in enumerate(root.iter("outline"), start=1):
        url = outline.get("xmlUrl")
        if url:
            kind = "ics" if re.search(r"\.ics(\?|$)", url) else "rss"
            title = outline.get("title") or outline.get("text") or url
            yield _imported_source(f"{name}, outline {number}", {"name": title, "type": kind, "url": url})


def _csv(text: str, name: str) -> Iterator[ImportedSource]:
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    columns = [(column or "").strip().lower() for column in reader.fieldnames or ()]
    if not {"name", "type", "url"} <= set(columns):
        raise UsageError(f"{name} must have the columns name, type and url in its first line.")
    for row in reader:
        cells = zip(columns, (row.get(column) for column in reader.fieldnames or ()), strict=True)
        values: dict[str, Any] = {column: str(cell).strip() for column, cell in cells if cell and str(cell).strip()}
        pairs = [
            f"{column.removeprefix('settings.')}={value}" for column, value in values.items() if column.startswith("settings.")
        ]
        values = {column: value for column, value in values.items() if not column.startswith("settings.")}
        if pairs:
            values["settings"] = settings_from_pairs(pairs)
        yield _imported_source(f"{name}, line {reader.line_num}", values)


def _imported_source(where: str, values: dict[str, Any]) -> ImportedSource:
    unknown = [key for key in values if key not in SOURCE_FIELDS]
    if unknown:
        raise UsageError(f"{where}: a source has no field {quoted(unknown[0])}; it has {', '.join(SOURCE_FIELDS)}.")
    for key in ("name", "type", "url"):
        if not str(values.get(key) or "").strip():
            raise UsageError(f"{where}: the source has no {key}.")
    for key in _NUMBERS:
        if key in values:
            try:
                values[key] = int(values[key])
            except (TypeError, ValueError):
                raise UsageError(f"{where}: {key} must be a whole number.") from None
    if isinstance(values.get("enabled"), str):
        values["enabled"] = values["enabled"].lower() in ("1", "true", "yes", "on")
    settings = values.get("settings", {})
    if not isinstance(settings, Mapping):
        raise UsageError(f"{where}: settings must hold keys and values.")
    text = {key: str(value) for key, value in values.items() if key not in ("settings", "enabled", "depends_on", *_NUMBERS)}
    depends_on = str(values.pop("depends_on", "") or "")
    return ImportedSource(where, values | text, depends_on)
