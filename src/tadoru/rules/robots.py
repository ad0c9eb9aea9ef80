"""robots.txt as RFC 9309 has it: what an answer means, and what the rules in it say about a URL.

`read` is the whole table: status or failure × body → `Robots`, which answers for one URL at a time and names the line that
decided. Fetching and caching the file, and what to do with a refusal, is the engine's.

The matching is done here and not by a library because the line that forbids a URL has to come from the same search that
forbids it. It departs from the letter in one point: misspelt directives and a missing colon are understood.
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
"""Only so much of a file is parsed."""
MAX_AGE = 24 * 3600.0
MAX_REDIRECTS = 5
MAX_CRAWL_DELAY = 60.0

_REDIRECT_FAILURES = frozenset({FailureKind.BAD_REDIRECT, FailureKind.TOO_MANY_REDIRECTS, FailureKind.REDIRECT_LOOP})
"""A 3xx that led nowhere: the RFC counts it as "unavailable", not as "unreachable"."""

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
_SECONDS = re.compile(rb"[0-9]+(\.[0-9]*)?|\.[0-9]+")
_LINE_END = re.compile(rb"\r\n|\r|\n")
# In a rule `*` is a wildcard; in a URL it is an octet like `$`, which a rule can only write as %2A and %24.
_ODD_IN_RULE = re.compile(r"%[0-9A-Fa-f]{2}|[^!-~]|[%$]")
_ODD_IN_URL = re.compile(r"%[0-9A-Fa-f]{2}|[^!-~]|[%$*]")


class RobotsDecision(NamedTuple):
    """Whether a URL may be requested, in words, and the rule that decided (empty when none did)."""

    allowed: bool
    reason: str
    line: str


@dataclass(frozen=True, slots=True)
class RobotsRule:
    """One Allow or Disallow, its path in normal form and cut at the wildcards."""

    allow: bool
    parts: tuple[str, ...]
    anchored: bool
    weight: int
    """Octets of the path as compared, wildcards included: the longest match decides."""
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
    """What one robots.txt means for one product token."""

    blanket: RobotsDecision | None = None
    """The verdict on every URL, when the status and not the body decides."""
    unreachable: bool = False
    """The rules could not be learnt (server error, 429 or no answer), so everything is disallowed for now."""
    rules: tuple[RobotsRule, ...] = ()
    """Those that apply to us, in deciding order: longest first, Allow before Disallow."""
    forbidden_starts: tuple[str, ...] = ()
    """How every Disallow begins, up to its first wildcard: most URLs start with none of them and are done."""
    crawl_delay: float | None = None
    """Seconds, as written for our group."""
    sitemaps: tuple[str, ...] = ()
    """As written, in order, each once; whatever group they stand in."""

    @property
    def paced_delay(self) -> float | None:
        """The crawl-delay that is honoured."""
        return None if self.crawl_delay is None else min(self.crawl_delay, MAX_CRAWL_DELAY)

    def allows(self, url: str) -> RobotsDecision:
        """The verdict on an absolute URL of this robots.txt's origin."""
        target = _target(url)
        if target == "/robots.txt":
            return RobotsDecision(True, "robots.txt itself may always be requested", "")
        if self.blanket is not None:
            return self.blanket
        if target.startswith(self.forbidden_starts):
            for rule in self.rules:
                if rule.matches(target):
                    return RobotsDecision(rule.allow, f"robots.txt line {rule.number}: {rule.text}", rule.text)
        return _NO_RULE


_NO_RULE = RobotsDecision(True, "no rule of robots.txt forbids it", "")


def read(*, status: int | None, failure: FailureKind | None, body: bytes, token: str = PRODUCT_TOKEN) -> Robots:
    """What the answer to a request for /robots.txt, its redirects followed, means for `token`."""
    if failure in _REDIRECT_FAILURES:
        return _everything(True, "robots.txt redirects to nowhere")
    if failure is not None or status is None:
        return _everything(False, f"robots.txt could not be read ({failure or 'no answer'})")
    if 200 <= status < 300:
        return _parse(body, token)
    # 429 is a server in trouble, not one without a robots.txt.
    if 300 <= status < 500 and status != 429:
        return _everything(True, f"robots.txt answered {status}")
    return _everything(False, f"robots.txt answered {status}")


def _everything(allowed: bool, cause: str) -> Robots:
    meaning = "allowed" if allowed else "disallowed"
    verdict = RobotsDecision(allowed, f"{cause}, which means everything is {meaning}", "")
    return Robots(blanket=verdict, unreachable=not allowed)


@dataclass(slots=True)
class _Group:
    """What the file says to one kind of agent, ours or `*`, over all its groups."""

    named: bool = False
    open: bool = False
    """The lines being read belong to it."""
    rules: list[RobotsRule] = field(default_factory=list)
    delay: float | None = None


def _parse(body: bytes, token: str) -> Robots:
    own, anyone = _Group(), _Group()
    wanted = _product_token(token.encode())
    sitemaps: list[str] = []
    naming = False  # Only rules end a run of agent lines: sitemaps, delays and blank lines do not.
    for number, directive, value in _directives(body):
        if directive == "sitemap":
            sitemaps.append(_shown(value))
        elif directive == "agent":
            if not naming:
                own.open = anyone.open = False
            naming = True
            if value.split()[:1] == [b"*"]:
                anyone.named = anyone.open = True
            elif wanted and _product_token(value) == wanted:
                own.named = own.open = True
        elif directive == "delay":
            for group in (own, anyone):
                if group.open and _SECONDS.fullmatch(value):
                    group.delay = max(group.delay or 0.0, min(float(value), _LONGEST_DELAY))
        else:
            naming = False
            for group in (own, anyone):
                if group.open and value:
                    group.rules.append(_rule(directive == "allow", value, number))
    chosen = own if own.named else anyone
    rules = sorted(chosen.rules, key=lambda rule: (-rule.weight, not rule.allow))
    return Robots(
        rules=tuple(rules),
        forbidden_starts=tuple(dict.fromkeys(rule.parts[0] for rule in rules if not rule.allow)),
        crawl_delay=chosen.delay,
        sitemaps=tuple(dict.fromkeys(filter(None, sitemaps))),
    )


def _directives(body: bytes) -> Iterator[tuple[int, str, bytes]]:
    """The lines that say something: number, directive, value."""
    whole = len(body) <= MAX_BYTES
    body = body[:MAX_BYTES]
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        body = body.decode("utf-16", "replace").encode()
    lines = _LINE_END.split(body.removeprefix(codecs.BOM_UTF8))
    if not whole:
        lines.pop()  # Half a line is another rule than the one that was written.
    for number, line in enumerate(lines, 1):
        said = line.partition(b"#")[0].strip()
        name, _, value = said.partition(b":")
        directive = _DIRECTIVES.get(name.strip().lower())
        words = said.split()
        if directive is None and len(words) == 2:
            directive, value = _DIRECTIVES.get(words[0].lower()), words[1]
        if directive:
            yield number, directive, value.strip()


def _product_token(value: bytes) -> bytes:
    """`tadoru` of `Tadoru/1.0`; empty when there is none."""
    found = _TOKEN.match(value)
    return found[0].lower() if found else b""


def _rule(allow: bool, value: bytes, number: int) -> RobotsRule:
    path = value.decode("latin-1")  # One character an octet, whatever encoding the file is in.
    anchored = path.endswith("$")
    normal = _normal(path.removesuffix("$"), _ODD_IN_RULE)
    text = f"{'Allow' if allow else 'Disallow'}: {_shown(value)[:_LONGEST_TEXT]}"
    return RobotsRule(allow, tuple(normal.split("*")), anchored, len(normal) + anchored, number, text)


def _shown(value: bytes) -> str:
    """Fit for a report and a terminal, which the octets of a stranger need not be."""
    return "".join(char if char.isprintable() else "\ufffd" for char in value.decode("utf-8", "replace"))


def _target(url: str) -> str:
    """Path and query of a URL in normal form."""
    rest = url.partition("#")[0].partition("://")[2]
    path = _AUTHORITY.sub("", rest, count=1)
    path = path if path.startswith("/") else f"/{path}"
    return _normal(path.encode("utf-8", "surrogatepass").decode("latin-1"), _ODD_IN_URL)


def _normal(text: str, odd: re.Pattern[str]) -> str:
    """The one spelling of all that percent-encoding makes equal: visible ASCII plain, other octets as %XX.

    What would change its meaning by being decoded stays as it was written; `/` and `?` mean nothing special in a query.
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
