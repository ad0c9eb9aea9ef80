"""Sources from a file: YAML (a list of sources), OPML (feeds, as feed readers write them) or CSV (a source a line).

Pure: text in, fields of sources out, each with where it was found. What is wrong with them is said by whoever saves them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree

from tadoru.errors import UsageError, quoted
from tadoru.jobs.events.settings import from_pairs

FIELDS = (
    "name", "type", "url", "city", "frequency", "enabled", "notes", "timezone", "priority", "licence", "terms_url", "low_hours",
    "secret", "settings", "depends_on",
)  # fmt: skip
_NUMBERS = ("priority", "low_hours")


class Entry(NamedTuple):
    """A source as a file has it."""

    where: str
    values: dict[str, Any]
    depends_on: str
    """The name of the source that it waits for."""


def read_sources(text: str, name: str) -> list[Entry]:
    """The sources of a file; its name says how it is written. Raises UsageError."""
    suffix = name.lower().rpartition(".")[2]
    readers = {"yml": _yaml, "yaml": _yaml, "json": _yaml, "opml": _opml, "xml": _opml, "csv": _csv}
    if suffix not in readers:
        raise UsageError(f"{name} can not be imported: its name must end in .yml, .opml or .csv.")
    try:
        entries = list(readers[suffix](text, name))
    except csv.Error as error:
        raise UsageError(f"Cannot read {name} as CSV ({error}). Save it again as CSV in UTF-8.") from None
    if not entries:
        raise UsageError(f"There is no source in {name}.")
    return entries


def _yaml(text: str, name: str) -> Iterator[Entry]:
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
        yield _entry(where, {str(key).replace("-", "_"): value for key, value in item.items()})


def _opml(text: str, name: str) -> Iterator[Entry]:
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
            yield _entry(f"{name}, outline {number}", {"name": title, "type": kind, "url": url})


def _csv(text: str, name: str) -> Iterator[Entry]:
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
            values["settings"] = from_pairs(pairs)
        yield _entry(f"{name}, line {reader.line_num}", values)


def _entry(where: str, values: dict[str, Any]) -> Entry:
    unknown = [key for key in values if key not in FIELDS]
    if unknown:
        raise UsageError(f"{where}: a source has no field {quoted(unknown[0])}; it has {', '.join(FIELDS)}.")
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
    return Entry(where, values | text, depends_on)
