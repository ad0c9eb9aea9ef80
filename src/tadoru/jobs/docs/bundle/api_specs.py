"""Detects API descriptions (OpenAPI, AsyncAPI, JSON Schema, GraphQL) by their content, not by their names."""

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
_ALIAS = re.compile(r"\btype\s+\w+\s*=")  # A type alias of another language.
_SCHEMA_WORDS = frozenset("properties $defs definitions items allOf anyOf oneOf type enum $ref".split())
_KNOWN_KEYS = _SCHEMA_WORDS | {"openapi", "swagger", "asyncapi", "info", "data", "__schema", "$schema"}
_OTHER: dict[str, object] = {}
"""Every object without a known key, so that it takes no memory."""


@dataclass(frozen=True, slots=True)
class ApiSpec:
    """An API description with its kind and file."""

    url: str
    kind: str
    """`openapi`, `asyncapi`, `jsonSchema` or `graphql`."""
    file: str
    body: bytes


def detect_spec(body: bytes, url: str = "", content_type: str = "") -> tuple[str, str] | None:
    """The kind of API description that a body is, and the extension of its file; None if it is none."""
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
        value = json.loads(text, object_hook=_known_keys)
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


def _known_keys(value: dict[str, object]) -> dict[str, object]:
    """What of an object says which kind of description it belongs to: a description may have a million others."""
    return {key: value[key] for key in _KNOWN_KEYS & value.keys()} or _OTHER


def _yaml_kind(text: str) -> str | None:
    """The kind by the unindented keys of a YAML document; strings and blocks inside it are indented."""
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
    """Whether every definition is one of GraphQL; a text that is not named as GraphQL must also define a root type."""
    bare = _SDL_NOISE.sub(lambda found: found[0] if found["end"] == "" else " ", text)  # An unterminated string is not a string.
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
    """The API descriptions among the stored ones, in order, each with its previous file or a new name."""
    taken = set(earlier.values())
    for each in found:
        if kind := detect_spec(each.body, each.url, each.content_type):
            file = earlier.get(each.url, "")
            if not file.endswith(f".{kind[1]}"):
                file = spec_file_name(each.url, kind[1], taken)
                taken.add(file)
            yield ApiSpec(each.url, kind[0], file, each.body)
