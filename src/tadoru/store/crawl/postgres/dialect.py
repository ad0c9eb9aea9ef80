"""Translates the store's SQL into PostgreSQL's dialect. Pure: text in, text out, each statement once.

Statements are written for SQLite in portable SQL where possible. The rest is regular: parameters, upserts, planner hints, and
a few functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

KEYS: Mapping[str, tuple[str, ...]] = {
    "crawl_meta": ("key",),
    "robots": ("origin",),
    "page_anchors": ("page_id",),
    "page_details": ("page_id",),
    "page_hreflang": ("page_id", "position"),
    "page_items": ("page_id", "position"),
    "resource_uses": ("page_id", "position"),
    "bodies": ("page_id",),
    "page_findings": ("page_id", "check_number", "(md5(subject)::uuid)"),
    "page_history": ("run_id", "page_id"),
    "finding_history": ("run_id", "page_id", "check_number", "(md5(subject)::uuid)"),
    "link_relations": ("source_id", "position"),
    "specifications": ("page_id",),
    "document_changes": ("run_id", "(md5(url)::uuid)"),
    "offered_documents": ("(md5(url)::uuid)",),
}
"""What a row replaces another by, of the tables whose rows are replaced."""

_HINTS = re.compile(r"\s(?:INDEXED BY \w+|NOT INDEXED)\b|\sWITHOUT ROWID\b|\sLIMIT -1\b")
_CROSSED = re.compile(r"CROSS JOIN (?=[\w.]+(?: \w+)? ON\b)")
_SCHEMA = re.compile(r"\bsqlite_schema WHERE name = ('\w+')")
_TEMP = re.compile(r"\btemp\.(?=\w)")
_UNLIKE = re.compile(r"\bIS NOT (?!NULL\b|DISTINCT\b|TRUE\b|FALSE\b)", re.IGNORECASE)
_GLOB = re.compile(r"(?<![\w.])([\w.]++) GLOB ('[^']*'|\?)")
_REPLACE = re.compile(r"INSERT OR REPLACE INTO ([\w.]+)", re.IGNORECASE)
_IGNORE = re.compile(r"INSERT OR IGNORE INTO", re.IGNORECASE)
_LIKE = re.compile(r"\bLIKE\b")
_ARRAY = re.compile(r"\bjson_group_array\(")
_FIELDS = re.compile(r"\bjson_each\((\w+\.extracted)\)")
_LIST = re.compile(r"\bjson_each\(")
_ITEM = re.compile(r"\bjson_extract\(([\w.]+), '\$\[(\d+)\]'\)")
_FIELD = re.compile(r"\bjson_extract\(([\w.]+), '\$\.(\w+)'\)")
_LONG = re.compile(r"\b((?:\w+\.)?(?:url|text)) = (\?\d*)")
"""Texts of any length are unique, and found, by their hash."""
_ON_LONG = re.compile(r"ON CONFLICT\((url|text)\)")
_VALUE = re.compile(r"'(?:[^']|'')*'|\?(\d*)|(?<!:):([a-z]\w*)|%")
_EXTREME = re.compile(r"\b(max|min)\(", re.IGNORECASE)


@lru_cache(2_000)
def translated(statement: str) -> str:
    """The same for PostgreSQL, with the driver's names of values."""
    text = _HINTS.sub("", statement)
    text = _CROSSED.sub("JOIN ", text)
    text = _SCHEMA.sub(r"pg_class WHERE oid = to_regclass(\1)", text)
    text = _TEMP.sub("pg_temp.", text)
    text = _UNLIKE.sub("IS DISTINCT FROM ", text)
    text = _GLOB.sub(r"glob_matches(\1, \2)", text)
    text = _LIKE.sub("ILIKE", text)
    text = _ARRAY.sub("json_agg(", text)
    text = _LIST.sub("json_list(", _FIELDS.sub(r"json_fields(\1)", text))
    text = _FIELD.sub(r"(\1::json ->> '\2')", _ITEM.sub(r"json_item(\1, \2)", text))
    text = _ON_LONG.sub(r"ON CONFLICT ((md5(\1)::uuid))", text)
    text = _LONG.sub(r"md5(\1)::uuid = md5(\2)::uuid", text)
    text = _extremes(text)
    text = _conflicts(text)
    return _VALUE.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    if found[2]:
        return f"%({found[2]})s"
    if found[0].startswith("?"):
        return f"%(p{found[1]})s" if found[1] else "%s"
    return found[0].replace("%", "%%")


def values(given: Sequence[object] | Mapping[str, object], statement: str) -> Sequence[object] | Mapping[str, object]:
    """The values of a statement, as the translated one names them."""
    if isinstance(given, Mapping):
        return {name: plain(value) for name, value in given.items()}
    if "?1" in statement:
        return {f"p{number}": plain(value) for number, value in enumerate(given, start=1)}
    return [plain(value) for value in given]


def plain(value: object) -> object:
    """What a text of PostgreSQL cannot hold is replaced: NUL, and halves of surrogate pairs."""
    if not isinstance(value, str):
        return value
    if "\x00" in value:
        value = value.replace("\x00", "\ufffd")
    try:
        value.encode()
    except UnicodeEncodeError:
        value = value.encode("utf-8", "replace").decode()
    return str(value)


def _extremes(text: str) -> str:
    """`max(a, b)` of two values is another function than that of a column."""
    at = 0
    while found := _EXTREME.search(text, at):
        at = found.end()
        if _has_comma(text, at):
            name = "GREATEST" if found[1].lower() == "max" else "LEAST"
            text = f"{text[: found.start()]}{name}({text[at:]}"
            at = found.start() + len(name) + 1
    return text


def _has_comma(text: str, at: int) -> bool:
    """Whether the call whose arguments begin here has more than one."""
    depth = 0
    for char in text[at:]:
        if char == "(":
            depth += 1
        elif char == ")":
            if not depth:
                return False
            depth -= 1
        elif char == "," and not depth:
            return True
    return False


def _conflicts(text: str) -> str:
    if _IGNORE.search(text):
        return _before_returning(_IGNORE.sub("INSERT INTO", text), "ON CONFLICT DO NOTHING")
    if found := _REPLACE.search(text):
        table = found[1]
        key = KEYS[table]
        columns = [one for one in COLUMNS[table] if one not in key]
        update = ", ".join(f"{one} = EXCLUDED.{one}" for one in columns)
        clause = f"ON CONFLICT ({', '.join(key)}) DO UPDATE SET {update}" if columns else "ON CONFLICT DO NOTHING"
        return _before_returning(_REPLACE.sub(rf"INSERT INTO {table}", text), clause)
    return text


def _before_returning(text: str, clause: str) -> str:
    head, word, tail = text.partition("RETURNING")
    return f"{head.rstrip()} {clause} {word}{tail}".rstrip()


def _columns() -> dict[str, tuple[str, ...]]:
    from importlib import resources

    found: dict[str, tuple[str, ...]] = {}
    script = resources.files("tadoru.store.crawl").joinpath("sql", "postgresql.sql").read_text(encoding="utf-8")
    for text in script.split("CREATE TABLE ")[1:]:
        table, _, body = text.partition(" (\n")
        rows = (line.strip() for line in body.partition("\n)")[0].splitlines())
        found[table] = tuple(line.split()[0] for line in rows if re.match(r"[a-z_0-9]+ [A-Z]", line))
    del found["depth_changes"], found["crawl_format"]
    found["counters"] = ("name", "value")
    return found


COLUMNS: Mapping[str, tuple[str, ...]] = _columns()
"""The columns of each table that both databases have."""
