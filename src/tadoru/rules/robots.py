"""robots.txt by RFC 9309: what a response means, and what its rules say about a URL.

`read` maps status or failure and body to `Robots`, which decides about one URL at a time and names the line that decided.
Requesting and caching the file is done by the engine.

Rules are matched here and not by a library because the line that disallows a URL has to come from the same search. There is one
deviation from the RFC: misspelt directives and a missing colon are accepted.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tadoru.model.web import FailureKind

PRODUCT_TOKEN = "Tadoru"  # noqa: S105 - a name for robots.txt, no secret
MAX_BYTES = 500 * 1024
"""The part of a file that is parsed."""
MAX_AGE = 24 * 3600.0
MAX_REDIRECTS = 5
MAX_CRAWL_DELAY = 60.0

_REDIRECT_FAILURES = frozenset({FailureKind.BAD_REDIRECT, FailureKind.TOO_MANY_REDIRECTS, FailureKind.REDIRECT_LOOP})
"""Redirects without a target: by the RFC "unavailable", not "unreachable"."""

_DIRECTIVES = {
    **dict.fromkeys((b"user-agent", b"useragent", b"user agent"), "agent"),
    **dict.fromkeys((b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"), "disallow"),
    b"allow": "allow",
    **dict.fromkeys((b"crawl-delay", b"crawldelay", b"crawl delay"), "delay"),
    **dict.fromkeys((b"sitemap", b"site-map"), "sitemap"),
}
_LONGEST_DELAY = 1e9
_LONGEST_TEXT = 200
_AUTHORITY = re.compile(r"^[^/?]*")
_TOKEN = re.compile(rb"[A-Za-z_-]*")
_COMPATIBLE = re.compile(r"mozilla/[\d.]+ \(compatible; ([a-z_-]+)", re.IGNORECASE)
"""A crawler that calls itself a browser and names itself in a comment, as Googlebot does."""
_SECONDS = re.compile(rb"[0-9]+(\.[0-9]*)?|\.[0-9]+")
_LINE_END = re.compile(rb"\r\n|\r|\n")
# In a rule `*` is a wildcard; in a URL it is an octet like `$`, which a rule can only write as %2A and %24.
_ODD_IN_RULE = re.compile(r"%[0-9A-Fa-f]{2}|[^!-~]|[%$]")
_ODD_IN_URL = re.compile(r"%[0-9A-Fa-f]{2}|[^!-~]|[%$*]")


class RobotsDecision(NamedTuple):
    """Whether a URL may be requested, the reason, and the rule that decided (empty when none did)."""

    allowed: bool
    reason: str
    line: str


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """One Allow or Disallow rule; its path is normalized and split at wildcards."""

    allow: bool
    parts: tuple[str, ...]
    anchored: bool
    weight: int
    """Octets of the path including wildcards: the longest match decides."""
    number: int
    text: str

    def matches(self, target: str) -> bool:
        first, last = self.parts[0], self.parts[-1]
        if not target.startswith(first):
            return False
        if len(self.parts) == 1:
            return not self.anchored or target == first
        at = len(first)
        for part in self.parts[1:-1]:
            found = target.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        if self.anchored:
            return len(target) - len(last) >= at and target.endswith(last)
        return target.find(last, at) >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Robots:
    """The rules of one robots.txt for one product token."""

    blanket: RobotsDecision | None = None
    """The decision for all URLs, when the status and not the body decides."""
    unreachable: bool = False
    """The rules could not be read (server error, 429 or no response), so everything is disallowed for now."""
    rules: tuple[RobotsRule, ...] = ()
    """The rules for the token in the order of precedence: longest first, Allow before Disallow."""
    forbidden_starts: tuple[str, ...] = ()
    """The prefixes of all Disallow rules up to the first wildcard: most URLs start with none of them."""
    crawl_delay: float | None = None
    """The Crawl-delay of the group, in seconds."""
    sitemaps: tuple[str, ...] = ()
    """As written, in order, without repeats; of all groups."""

    @property
    def paced_delay(self) -> float | None:
        """The Crawl-delay that is applied."""
        return None if self.crawl_delay is None else min(self.crawl_delay, MAX_CRAWL_DELAY)

    def allows(self, url: str) -> RobotsDecision:
        """The decision about an absolute URL of the origin of this robots.txt."""
        target = _target(url)
        if target == "/robots.txt":
            return RobotsDecision(True, "robots.txt itself is always allowed", "")
        if self.blanket is not None:
            return self.blanket
        if target.startswith(self.forbidden_starts):
            for rule in self.rules:
                if rule.matches(target):
                    return RobotsDecision(rule.allow, f"robots.txt line {rule.number}: {rule.text}", rule.text)
        return _NO_RULE


_NO_RULE = RobotsDecision(True, "no rule in robots.txt disallows it", "")


def read(*, status: int | None, failure: FailureKind | None, body: bytes, token: str = PRODUCT_TOKEN) -> Robots:
    """What the response for /robots.txt, after redirects, means for `token`."""
    if failure in _REDIRECT_FAILURES:
        return _blanket(True, "robots.txt has an invalid redirect")
    if failure is not None or status is None:
        return _blanket(False, f"robots.txt could not be read ({failure or 'no response'})")
    if 200 <= status < 300:
        return _parse(body, token)
    # 429 means an overloaded server, not one without a robots.txt.
    if 300 <= status < 500 and status != 429:
        return _blanket(True, f"robots.txt returned status {status}")
    return _blanket(False, f"robots.txt returned status {status}")


def _blanket(allowed: bool, cause: str) -> Robots:
    meaning = "allowed" if allowed else "disallowed"
    decision = RobotsDecision(allowed, f"{cause}, which means everything is {meaning}", "")
    return Robots(blanket=decision, unreachable=not allowed)


@dataclass(slots=True)
class _Group:
    """The rules for one agent, ours or `*`, of all groups."""

    named: bool = False
    open: bool = False
    """Whether the current lines belong to it."""
    rules: list[RobotsRule] = field(default_factory=list)
    delay: float | None = None


def _parse(body: bytes, token: str) -> Robots:
    own, default = _Group(), _Group()
    wanted = _product_token(token.encode())
    sitemaps: list[str] = []
    naming = False  # Only rules end a list of agent lines: sitemaps, delays and blank lines do not.
    for number, directive, value in _directives(body):
        if directive == "sitemap":
            sitemaps.append(_printable(value))
        elif directive == "agent":
            if not naming:
                own.open = default.open = False
            naming = True
            if value.split()[:1] == [b"*"]:
                default.named = default.open = True
            elif wanted and _product_token(value) == wanted:
                own.named = own.open = True
        elif directive == "delay":
            for group in (own, default):
                if group.open and _SECONDS.fullmatch(value):
                    group.delay = max(group.delay or 0.0, min(float(value), _LONGEST_DELAY))
        else:
            naming = False
            for group in (own, default):
                if group.open and value:
                    group.rules.append(_rule(directive == "allow", value, number))
    group = own if own.named else default
    rules = sorted(group.rules, key=lambda rule: (-rule.weight, not rule.allow))
    return Robots(
        rules=tuple(rules),
        forbidden_starts=tuple(dict.fromkeys(rule.parts[0] for rule in rules if not rule.allow)),
        crawl_delay=group.delay,
        sitemaps=tuple(dict.fromkeys(filter(None, sitemaps))),
    )


def _directives(body: bytes) -> Iterator[tuple[int, str, bytes]]:
    """The lines with a known directive: number, directive, value."""
    whole = len(body) <= MAX_BYTES
    body = body[:MAX_BYTES]
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        body = body.decode("utf-16", "replace").encode()
    lines = _LINE_END.split(body.removeprefix(codecs.BOM_UTF8))
    if not whole:
        lines.pop()  # A truncated line would be another rule.
    for number, line in enumerate(lines, 1):
        text = line.partition(b"#")[0].strip()
        name, _, value = text.partition(b":")
        directive = _DIRECTIVES.get(name.strip().lower())
        words = text.split()
        if directive is None and len(words) == 2:
            directive, value = _DIRECTIVES.get(words[0].lower()), words[1]
        if directive:
            yield number, directive, value.strip()


def product_token(user_agent: str) -> str:
    """The name by which a user agent is addressed in robots.txt: `MyBot` of `MyBot/1.0 (+https://example.com/)`."""
    if compatible := _COMPATIBLE.match(user_agent):
        return compatible[1]
    return _leading_token(user_agent.encode("utf-8", "replace")).decode()


def _leading_token(value: bytes) -> bytes:
    found = _TOKEN.match(value)
    return found[0] if found else b""


def _product_token(value: bytes) -> bytes:
    """`tadoru` for `Tadoru/1.0`; empty when there is none."""
    return _leading_token(value).lower()


def _rule(allow: bool, value: bytes, number: int) -> RobotsRule:
    path = value.decode("latin-1")  # One character per octet, in any encoding.
    anchored = path.endswith("$")
    normal = _normal(path.removesuffix("$"), _ODD_IN_RULE)
    text = f"{'Allow' if allow else 'Disallow'}: {_printable(value)[:_LONGEST_TEXT]}"
    return RobotsRule(allow, tuple(normal.split("*")), anchored, len(normal) + anchored, number, text)


def _printable(value: bytes) -> str:
    """The value as printable text for reports and terminals."""
    return "".join(char if char.isprintable() else "\ufffd" for char in value.decode("utf-8", "replace"))


def _target(url: str) -> str:
    """The normalized path and query of a URL."""
    rest = url.partition("#")[0].partition("://")[2]
    path = _AUTHORITY.sub("", rest, count=1)
    path = path if path.startswith("/") else f"/{path}"
    return _normal(path.encode("utf-8", "surrogatepass").decode("latin-1"), _ODD_IN_URL)


def _normal(text: str, odd: re.Pattern[str]) -> str:
    """The normal form of percent-encoding: visible ASCII plain, other octets as %XX.

    Characters that would change their meaning stay encoded; `/` and `?` have no special meaning in a query.
    """
    if not odd.search(text):
        return text
    path, mark, query = text.partition("?")
    return odd.sub(_spell_in_path, path) + mark + odd.sub(_spell_in_query, query)


def _spell_in_path(found: re.Match[str]) -> str:
    return _spell(found[0], "%*$#/?")


def _spell_in_query(found: re.Match[str]) -> str:
    return _spell(found[0], "%*$#")


def _spell(piece: str, kept: str) -> str:
    code = int(piece[1:], 16) if len(piece) == 3 else ord(piece)
    char = chr(code)
    return char if "!" <= char <= "~" and char not in kept else f"%{code:02X}"
