"""The settings of a source: what every type has, and what is its reader's own. They are checked when they are saved.

`auth` (`type` bearer, basic, header or query, and what that needs), `headers`, `reader` (a plugin) and `date_order` are every
source's; the rest is handed to the reader. A secret is never a setting: the source names the variable that holds it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tadoru.errors import ConfigError, UsageError, quoted
from tadoru.jobs.events.readers import Reader, reader_for
from tadoru.model.event import SourceType
from tadoru.model.web import Headers
from tadoru.parse.dates.names import Order
from tadoru.parse.sources.given import Given
from tadoru.parse.sources.paging import with_parameter, without_parameter

AUTH = ("bearer", "basic", "header", "query")
ORDERS = tuple(Order)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FORBIDDEN = frozenset({"host", "content-length", "transfer-encoding", "connection", "authorization", "cookie"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """How a source is signed in to; the secret comes from a variable."""

    type: str = ""
    name: str = ""
    """The user of basic, the header, or the parameter of the query."""

    def headers(self, secret: str) -> Headers:
        match self.type:
            case "bearer":
                return (("Authorization", f"Bearer {secret}"),)
            case "basic":
                pair = base64.b64encode(f"{self.name}:{secret}".encode()).decode()
                return (("Authorization", f"Basic {pair}"),)
            case "header":
                return ((self.name, secret),)
        return ()

    def address(self, url: str, secret: str) -> str:
        """The URL to request: with the secret, when that is how it is sent."""
        return with_parameter(url, self.name, secret) if self.type == "query" else url

    def stripped(self, url: str) -> str:
        """Without the secret: servers repeat it in the address of the next page."""
        return without_parameter(url, self.name) if self.type == "query" else url


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """The settings of a source, checked."""

    reader: Reader
    own: Any
    """What the reader made of its own."""
    auth: Auth = Auth()
    headers: Headers = ()
    order: Order | None = None


def read_settings(kind: SourceType, mapping: Mapping[str, Any], *, secret: str = "") -> SourceSettings:
    """Raises ConfigError, in a sentence, when something can not be used."""
    own = dict(mapping)
    shared = Given({name: own.pop(name) for name in ("auth", "headers", "reader", "date_order") if name in own})
    auth = _auth(shared.mapping("auth"))
    if auth.type and not secret:
        raise ConfigError("The setting auth needs a secret: name the variable that holds it with --secret.")
    headers = tuple(shared.table("headers").items())
    for name, value in headers:
        if not _TOKEN.fullmatch(name) or name.lower() in _FORBIDDEN or not value.isprintable():
            raise ConfigError(f"The setting headers.{name} can not be sent; sign in with the setting auth and --secret.")
    order = shared.choice("date_order", ORDERS, "")
    reader = reader_for(kind, shared.text("reader"))
    return SourceSettings(
        reader=reader, own=reader.prepare(own), auth=auth, headers=headers, order=Order(order) if order else None
    )


def _auth(mapping: Mapping[str, Any]) -> Auth:
    if not mapping:
        return Auth()
    given = Given(mapping, "auth.")
    kind = given.choice("type", AUTH, "")
    if not kind:
        raise ConfigError(f"The setting auth.type is missing; it must be one of {', '.join(AUTH)}.")
    name = ""
    if kind in ("basic", "header", "query"):
        key = {"basic": "username", "header": "header", "query": "parameter"}[kind]
        name = given.text(key)
        if not name or (kind == "header" and not _TOKEN.fullmatch(name)):
            raise ConfigError(f"The setting auth.{key} is missing or can not be sent; {kind} needs it.")
    given.done()
    return Auth(type=kind, name=name)


def from_pairs(pairs: Iterable[str], settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Settings with `key=value` pairs put in: dots in a key lead into mappings, an empty value takes a key away."""
    result: dict[str, Any] = json.loads(json.dumps(dict(settings or {})))
    for pair in pairs:
        key, equals, text = pair.partition("=")
        names = key.strip().split(".")
        if not equals or not all(names):
            raise UsageError(f"The setting {quoted(pair)} can not be read: write it as key=value, such as --set items=events.")
        place = result
        for name in names[:-1]:
            inner = place.setdefault(name, {})
            if not isinstance(inner, dict):
                raise UsageError(f"The setting {key} can not be set: {name} holds a value already.")
            place = inner
        if text == "":
            place.pop(names[-1], None)
        else:
            place[names[-1]] = _value(text)
    return result


def _value(text: str) -> Any:
    """Objects and lists in JSON are what they say. Everything else is text: readers see numbers in it where they want them."""
    if re.match(r"\{|\[\s*\"", text):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text
