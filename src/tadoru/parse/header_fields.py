"""Response header fields about the page: `Link`, `X-Robots-Tag`, `Set-Cookie`, `Refresh`.

They are parsed as leniently as browsers and search engines do; the audit decides what they mean. Robots directives in `<meta>`
have the same syntax and are parsed here too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tadoru.model.web import EVERY_BOT
from tadoru.parse.page_limits import MAX_STATEMENTS
from tadoru.rules.url import canonical

_LINK = re.compile(r"<([^<>]*+)>((?:\s*+;\s*+[^\s=;,<>]++\s*+(?:=\s*+(?:\"[^\"]*+\"|[^\s;,\"<>]*+))?+)*+)")
_PARAMETER = re.compile(r";\s*+([^\s=;,]++)\s*+(?:=\s*+(?:\"([^\"]*+)\"|([^\s;,\"]*+)))?")
_AGENT = re.compile(r"\s*+([a-z][a-z0-9_-]*+)\s*+:\s*+(.*)", re.IGNORECASE | re.DOTALL)
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


class HeaderLink(NamedTuple):
    """One entry of a `Link` field."""

    url: str
    rel: tuple[str, ...]
    hreflang: str


class RobotsDirective(NamedTuple):
    """One robots directive: crawler, name, and value if it has one."""

    agent: str
    """In lower case; `robots` is everyone."""
    name: str
    value: str


class ResponseCookie(NamedTuple):
    """The attributes of a `Set-Cookie` field, without the value, which may be secret."""

    name: str
    secure: bool
    http_only: bool
    same_site: str
    """In lower case; empty when it is not said."""
    is_removal: bool


def links(values: Iterable[str], page_url: str) -> tuple[HeaderLink, ...]:
    """The entries of `Link` fields whose target is http or https."""
    found: list[HeaderLink] = []
    for target, rest in (match for value in values for match in _LINK.findall(value)):
        parameters: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(rest):
            parameters.setdefault(name.lower(), quoted or bare)
        if len(found) < MAX_STATEMENTS and (url := canonical(target.strip(), page_url)) is not None:
            found.append(
                HeaderLink(url, tuple(parameters.get("rel", "").lower().split()), parameters.get("hreflang", "").lower())
            )
    return tuple(found)


def robots_tags(values: Iterable[str]) -> tuple[RobotsDirective, ...]:
    """The directives of `X-Robots-Tag` fields; one may begin with the name of the crawler it is for."""
    found: list[RobotsDirective] = []
    for value in values:
        match = _AGENT.match(value)
        if match and match[1].lower() not in _WITH_VALUE:
            found.extend(directives(match[1].lower(), match[2]))
        else:
            found.extend(directives(EVERY_BOT, value))
    return tuple(found)


def directives(agent: str, content: str) -> list[RobotsDirective]:
    """The directives in the content of a robots `<meta>` or tag. A date may hold a comma: what is no name continues it."""
    found: list[RobotsDirective] = []
    for part in content.lower().split(","):
        name, _, value = part.partition(":")
        name = name.strip()
        if found and found[-1].name == "unavailable_after" and not name.isalpha():
            found[-1] = found[-1]._replace(value=f"{found[-1].value},{part}".strip())
        elif name:
            found.append(RobotsDirective(agent, name, value.strip()))
    return found


def cookies(values: Iterable[str]) -> tuple[ResponseCookie, ...]:
    """The cookies that `Set-Cookie` fields set."""
    found: list[ResponseCookie] = []
    for field in values:
        first, *rest = field.split(";")
        attributes = {name.strip().lower(): value.strip().lower() for name, _, value in (part.partition("=") for part in rest)}
        name = first.partition("=")[0].strip()
        if name:
            is_removal = attributes.get("max-age", "1").lstrip("-") == "0" or attributes.get("max-age", "").startswith("-")
            found.append(
                ResponseCookie(name, "secure" in attributes, "httponly" in attributes, attributes.get("samesite", ""), is_removal)
            )
    return tuple(found)
