"""Descriptions of APIs met on the way: what a body is, told from what it says, not from what it is called."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from tadoru.jobs.docs.bundle.model import StoredSpec
from tadoru.jobs.docs.bundle.output_folder import spec_file_name

_YAML_KEY = re.compile(r"^(?:[\"']?)([A-Za-z$][\w$-]*)[\"']?[ \t]*:(?:[ \t]+[\"']?([^\s\"'#]+))?", re.M)
_VERSION = re.compile(r"\d+(?:\.\d+)*")
_SDL_ENDING = re.compile(r"\.(?:graphqls?|gql)$", re.I)
_SDL_NOISE = re.compile(r'"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*+(?P<end>"?)|#[^\n]*')
_SDL_WORDS = frozenset("type interface enum input scalar union directive schema extend".split())
_SDL_ROOT = re.compile(r"\b(?:type\s+(?:Query|Mutation|Subscription)\b|schema\s*[@{])")
_ALIAS = re.compile(r"\btype\s+\w+\s*=")  # another language has types too
_SCHEMA_WORDS = frozenset("properties $defs definitions items allOf anyOf oneOf type enum $ref".split())


@dataclass(frozen=True, slots=True)
class ApiSpec:
    """A specification with the name of its kind and of its file."""

    url: str
    kind: str
    """`openapi`, `asyncapi`, `jsonSchema` or `graphql`."""
    file: str
    body: bytes


def detect_spec(body: bytes, url: str = "", content_type: str = "") -> tuple[str, str] | None:
    """What specification a body is and the ending its file gets, or nothing."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    start = text.lstrip()[:1]
    if start == "{":
        kind = _json_kind(text)
        return (kind, "json") if kind else None
    if start in ("<", "[", ""):
        return None
    if kind := _yaml_kind(text):
        return kind, "yaml"
    is_named = bool(_SDL_ENDING.search(urlsplit(url).path)) or "graphql" in content_type
    return ("graphql", "graphql") if _is_sdl(text, is_named) else None


def _json_kind(text: str) -> str | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if kind := _spec_kind({key: str(value[key]) for key in ("openapi", "swagger", "asyncapi") if key in value}, value.keys()):
        return kind
    data = value.get("data", value)
    if isinstance(data, dict) and isinstance(data.get("__schema"), dict):
        return "graphql"
    dialect = value.get("$schema")
    if isinstance(dialect, str) and "json-schema.org/" in dialect and _SCHEMA_WORDS & value.keys():
        return "jsonSchema"
    return None


def _yaml_kind(text: str) -> str | None:
    """Only the keys at the margin are looked at, which no string or block of a YAML document can fake but at the margin."""
    keys = {found[1]: found[2] or "" for found in _YAML_KEY.finditer(text)}
    if kind := _spec_kind(keys, keys.keys()):
        return kind
    is_schema = "json-schema.org/" in keys.get("$schema", "") and _SCHEMA_WORDS & keys.keys()
    return "jsonSchema" if is_schema else None


def _spec_kind(versions: Mapping[str, str], keys: Collection[str]) -> str | None:
    for key, kind in (("openapi", "openapi"), ("swagger", "openapi"), ("asyncapi", "asyncapi")):
        if _VERSION.fullmatch(versions.get(key, "")) and "info" in keys:
            return kind
    return None


def _is_sdl(text: str, is_named: bool) -> bool:
    """Whether every definition is one of GraphQL's; a text that is not called GraphQL must also define a root type."""
    bare = _SDL_NOISE.sub(lambda found: found[0] if found["end"] == "" else " ", text)  # a string without an end is none
    if ";" in bare or _ALIAS.search(bare) or not (is_named or _SDL_ROOT.search(bare)):
        return False
    depth, words = 0, []
    for found in re.finditer(r"[{}()]|[^\s{}()]+", bare):
        sign = found[0]
        if sign in "{(":
            depth += 1
        elif sign in "})":
            depth -= 1
        elif not depth:
            words.append(sign)
    return depth == 0 and bool(words) and words[0] in _SDL_WORDS and len(words) > 1


def name_specs(found: Iterable[StoredSpec], earlier: Mapping[str, str]) -> Iterator[ApiSpec]:
    """The specifications among what was found, in the order given, each with the file it had before or a free name."""
    taken = set(earlier.values())
    for each in found:
        if kind := detect_spec(each.body, each.url, each.content_type):
            file = earlier.get(each.url, "")
            if not file.endswith(f".{kind[1]}"):
                file = spec_file_name(each.url, kind[1], taken)
                taken.add(file)
            yield ApiSpec(each.url, kind[0], file, each.body)
