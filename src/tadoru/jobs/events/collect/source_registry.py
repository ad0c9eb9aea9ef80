"""Checks sources before they are saved, and imports them from files.

A file is YAML (a list of sources), OPML (feeds, as feed readers export them) or CSV (one source per line). The registry itself is
`store.calendar.sources`.
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
from tadoru.errors import ConfigError, Message, UsageError, quoted
from tadoru.jobs.events.collect.source_settings import parse_source_settings, settings_from_pairs
from tadoru.model.event import SourceType
from tadoru.rules.address import Exemptions, block_reason
from tadoru.rules.url import parse_typed_url
from tadoru.store.calendar.records import EventSource
from tadoru.store.calendar.store import CalendarStore


class DuplicateSource(UsageError):
    """A source with the same URL and settings exists."""


def check_source(values: Mapping[str, Any], before: EventSource | None = None) -> dict[str, Any]:
    """The fields of a source as they are saved. Raises UsageError or ConfigError."""
    given = dict(values)
    kind = given.get("type", before.type if before else "")
    if kind not in list(SourceType):
        raise UsageError("Unknown source type {type}. Use {types}.", type=quoted(kind), types=", ".join(SourceType))
    if "url" in given:
        given["url"] = parse_typed_url(given["url"])
    if given.get("timezone"):
        try:
            given["timezone"] = parse_time_zone(given["timezone"])
        except UsageError as error:
            raise UsageError("The time zone {problem}.", problem=error) from None
    secret = given.get("secret", before.secret if before else "")
    if secret and not secret.isidentifier():
        raise UsageError("The secret must be the name of an environment variable, such as TOWN_TOKEN, not the secret itself.")
    settings = given.get("settings", before.settings if before else {})
    try:
        parse_source_settings(SourceType(kind), settings, secret=secret)
    except ConfigError as error:
        raise UsageError(Message(error.message, **error.values)) from None
    return given


async def find_private_host(url: str) -> str:
    """`host:port` of a private URL that the user entered, which permits it for this source; empty otherwise."""
    from tadoru.fetch.guard import DnsCache, private_exemptions

    names = DnsCache(SystemClock())
    try:
        private = await private_exemptions([url], names)
    finally:
        await names.close()
    return next(iter(private.to_list()), "")


async def is_private_url(url: str) -> bool:
    """Whether a URL currently resolves to a private address. If it does not resolve, the address guard decides later."""
    from tadoru.fetch.guard import DnsCache, UnresolvedHost, is_literal

    names = DnsCache(SystemClock())
    try:
        for host, _ in Exemptions.for_urls([url]).named:
            addresses = [host] if is_literal(host) else await names.resolve(host)
            if any(block_reason(one) is not None for one in addresses):
                return True
    except UnresolvedHost:
        return False
    finally:
        await names.close()
    return False


async def _permitted_host(url: str, allowed: Exemptions | None) -> str:
    """The private host that a URL permits: only if a user of this machine entered it. Raises UsageError."""
    if allowed is None:
        return await find_private_host(url)
    if not all(allowed.covers(host, port) for host, port in Exemptions.for_urls([url]).named) and await is_private_url(url):
        raise UsageError(
            "This URL leads to a private address. Use a public URL, or start the service with --crawl-private HOST:PORT."
        )
    return ""


async def add_source(
    store: CalendarStore, values: Mapping[str, Any], by: str, *, allowed: Exemptions | None = None
) -> EventSource:
    """Save a new source. Remote users cannot permit private addresses: with `allowed`, only those are."""
    given = check_source(values)
    same = [one for one in store.sources.list() if one.url == given["url"] and one.type == given["type"]]
    if any(dict(one.settings) == given.get("settings", {}) for one in same):
        raise DuplicateSource(
            "{url} is already source {id} ({name}). Edit that one, or remove it first.",
            url=given["url"],
            id=same[0].id,
            name=same[0].name,
        )
    return store.sources.add(given | {"named_host": await _permitted_host(given["url"], allowed)}, by)


async def edit_source(
    store: CalendarStore, source_id: int, values: Mapping[str, Any], by: str, *, allowed: Exemptions | None = None
) -> EventSource:
    """Change a source; see `add_source`."""
    given = check_source(values, store.sources.get(source_id))
    if "url" in given:
        given["named_host"] = await _permitted_host(given["url"], allowed)
    return store.sources.edit(source_id, given, by)


SOURCE_FIELDS = (
    "name", "type", "url", "city", "frequency", "enabled", "notes", "timezone", "priority", "licence", "terms_url", "low_hours",
    "secret", "settings", "depends_on",
)  # fmt: skip
_NUMBERS = ("priority", "low_hours")


class ImportedSource(NamedTuple):
    """A source in an import file."""

    where: str
    values: dict[str, Any]
    depends_on: str
    """The name of the source it depends on."""


def parse_source_file(text: str, name: str) -> list[ImportedSource]:
    """The sources of a file, whose suffix says its format. Raises UsageError."""
    suffix = name.lower().rpartition(".")[2]
    readers = {"yml": _yaml, "yaml": _yaml, "json": _yaml, "opml": _opml, "xml": _opml, "csv": _csv}
    if suffix not in readers:
        raise UsageError("Cannot import {file}: its name must end in .yml, .opml or .csv.", file=name)
    try:
        entries = list(readers[suffix](text, name))
    except csv.Error as error:
        raise UsageError(
            "Cannot read {file} as CSV ({reason}). Save it again as CSV in UTF-8.", file=name, reason=error
        ) from None
    if not entries:
        raise UsageError("{file} contains no sources.", file=name)
    return entries


MAX_YAML_DEPTH = 50
"""Maximum number of lists and mappings inside each other in an imported file."""


def _yaml(text: str, name: str) -> Iterator[ImportedSource]:
    import yaml

    depth = 0
    try:
        # Before it is loaded, which takes a call for each level.
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_YAML_DEPTH:
                raise UsageError(
                    "Cannot read {file}: its lists and mappings are nested too deep. A source needs three levels.", file=name
                )
        data: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if mark is None:
            raise UsageError("{file} is not valid YAML.", file=name) from None
        raise UsageError("{file} is not valid YAML: see line {line}.", file=name, line=mark.line + 1) from None
    found = data.get("sources") if isinstance(data, Mapping) else data
    if not isinstance(found, list):
        raise UsageError("{file} must contain a list of sources, or a list under the key sources.", file=name)
    for number, item in enumerate(found, start=1):
        where = f"{name}, source {number}"
        if not isinstance(item, Mapping):
            raise UsageError("{position}: a source needs name, type and url.", position=where)
        yield _imported_source(where, {str(key).replace("-", "_"): value for key, value in item.items()})


def _opml(text: str, name: str) -> Iterator[ImportedSource]:
    if re.search(r"<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise UsageError("{file} declares entities, which OPML does not need. Remove the <!DOCTYPE …>.", file=name)
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - it declares no entities, see above
    except ElementTree.ParseError as error:
        raise UsageError("{file} is not valid OPML: {reason}.", file=name, reason=error) from None
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
        raise UsageError("{file} must have the columns name, type and url in its first line.", file=name)
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
        raise UsageError(
            "{position}: unknown field {field}. Choose from {fields}.",
            position=where,
            field=quoted(unknown[0]),
            fields=", ".join(SOURCE_FIELDS),
        )
    for key in ("name", "type", "url"):
        if not str(values.get(key) or "").strip():
            raise UsageError("{position}: {field} is missing.", position=where, field=key)
    for key in _NUMBERS:
        if key in values:
            try:
                values[key] = int(values[key])
            except (TypeError, ValueError):
                raise UsageError("{position}: {field} must be an integer.", position=where, field=key) from None
    if isinstance(values.get("enabled"), str):
        values["enabled"] = values["enabled"].lower() in ("1", "true", "yes", "on")
    settings = values.get("settings", {})
    if not isinstance(settings, Mapping):
        raise UsageError("{position}: settings must be a mapping.", position=where)
    text = {key: str(value) for key, value in values.items() if key not in ("settings", "enabled", "depends_on", *_NUMBERS)}
    depends_on = str(values.pop("depends_on", "") or "")
    return ImportedSource(where, values | text, depends_on)
