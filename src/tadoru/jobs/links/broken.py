"""When a link is broken, and when it is merely blocked.

Rules over values: what was answered comes in, a verdict goes out. Who is forgiven is in `suppress`, what fails a
build in `gates`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from http import HTTPStatus

from tadoru.errors import UsageError
from tadoru.jobs.links.result import BrokenKind, CrawlResult
from tadoru.model.web import FailureKind

BLOCKED_CODES = frozenset({401, 403, 407, 429, 451, 999})
"""A refusal of *us*: sign in first, not for robots, too fast, not from here. The page itself may be fine for a visitor."""

_REACHED_FAILURES = frozenset({FailureKind.TOO_LARGE, FailureKind.UNPARSABLE, FailureKind.PAGE_LIMIT})
"""Something was there, only too much or too odd to read: no fault of the link."""


@dataclass(frozen=True, slots=True)
class AcceptedCodes:
    """Status codes that count as working, as inclusive ranges."""

    ranges: tuple[tuple[int, int], ...] = ((200, 299),)

    def __contains__(self, code: int) -> bool:
        return any(low <= code <= high for low, high in self.ranges)

    @classmethod
    def parse(cls, text: str) -> AcceptedCodes:
        """Reads `200..299,403`. Raises UsageError."""
        return cls(tuple(_parse_range(part.strip()) for part in text.split(",")))


def _parse_range(part: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9][0-9]{2})(?:\.\.([1-9][0-9]{2}))?", part, re.ASCII)
    if match is None:
        raise UsageError(f"Accepted codes are status codes and ranges such as 200..299,403; “{part}” is neither.")
    low, high = int(match[1]), int(match[2] or match[1])
    if low > high:
        raise UsageError(f"The range of accepted codes {part} is the wrong way round; write {high}..{low}.")
    return low, high


@dataclass(frozen=True, slots=True)
class LinkCheck:
    """What requesting a link came to, at the end of its redirects."""

    url: str
    """As linked, before any redirect."""
    status_code: int | None
    failure: FailureKind | None = None
    message: str = ""
    final_url: str | None = None
    """Where the redirects ended, when there were any."""


def classify_link(checked: LinkCheck, accepted: AcceptedCodes) -> BrokenKind | None:
    """What is wrong with a link; None when nothing is, or nothing is known."""
    if checked.failure is FailureKind.BLOCKED_ADDRESS:
        return "blocked"
    if checked.failure is not None and checked.failure not in _REACHED_FAILURES:
        return "broken"
    code = checked.status_code
    # A redirect that nobody followed to its end is no error by itself.
    if code is None or code in accepted or 300 <= code <= 399:
        return None
    return "blocked" if code in BLOCKED_CODES else "broken"


def describe_problem(checked: LinkCheck) -> str:
    """The error in a few words."""
    if checked.failure is not None:
        words = checked.message or checked.failure.value.replace("_", " ")
    else:
        words = format_status(checked.status_code)
    if checked.final_url and checked.final_url != checked.url:
        words = f"{words.rstrip('.')}, after a redirect to {checked.final_url}"
    return words


def format_status(code: int | None) -> str:
    """`404 Not Found`; the bare number where it has no name; `no answer` without one."""
    if code is None:
        return "no answer"
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def compile_patterns(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Regular expressions a person gave. Raises UsageError that names the bad one."""
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(pattern))
        except re.error as problem:
            raise UsageError(f"“{pattern}” is no regular expression: {problem}.") from None
    return tuple(compiled)


def is_ignored(url: str, patterns: Collection[re.Pattern[str]]) -> bool:
    """Whether any pattern is found in the URL."""
    return any(pattern.search(url) for pattern in patterns)


_GATE_NAMES = {
    "broken": ("broken link", "broken links"),
    "blocked": ("blocked link", "blocked links"),
    "fragment": ("link to a missing fragment", "links to missing fragments"),
    "redirects": ("redirect", "redirects"),
    "errors": ("failed URL", "failed URLs"),
    "any": ("link that does not work", "links that do not work"),
}


@dataclass(frozen=True, slots=True)
class LinkGate:
    """More than `limit` of `name` is too many."""

    name: str
    limit: int = 0

    def exceeded(self, result: CrawlResult) -> str | None:
        count = count_problems(self.name, result)
        if count <= self.limit:
            return None
        one, many = _GATE_NAMES[self.name]
        allowed = f"at most {self.limit} allowed" if self.limit else "none allowed"
        return f"{count:,} {one if count == 1 else many}, {allowed}."


@dataclass(frozen=True, slots=True)
class LinkGates:
    """Every gate of one `--fail-on`."""

    gates: tuple[LinkGate, ...] = ()

    @classmethod
    def parse(cls, text: str) -> LinkGates:
        """Reads `broken>5,blocked`. Raises UsageError."""
        return cls(tuple(_parse_gate(part.strip()) for part in text.split(",")))

    def exceeded(self, result: CrawlResult) -> list[str]:
        """One sentence for each gate that was passed; empty when all is well."""
        return [sentence for gate in self.gates if (sentence := gate.exceeded(result))]


def count_problems(name: str, result: CrawlResult) -> int:
    """How many there are of what a gate counts. `any` is every link that does not work; a redirect is none."""
    match name:
        case "broken" | "fragment":
            return sum(link.kind == name for link in result.broken_links)
        case "blocked":
            return len(result.blocked_links)
        case "redirects":
            return len(result.redirects)
        case "errors":
            return len(result.failed_urls)
        case _:
            return len(result.bad_links)


def _parse_gate(part: str) -> LinkGate:
    match = re.fullmatch(r"([a-z]+)\s*(?:(>=?)\s*([0-9]{1,9}))?", part, re.ASCII)
    if match is None or match[1] not in _GATE_NAMES:
        names = ", ".join(_GATE_NAMES)
        raise UsageError(f"--fail-on takes {names}, each with a limit if you like (broken>5); “{part}” is none of them.")
    if match[2] is None:
        return LinkGate(match[1])
    limit = int(match[3]) - (match[2] == ">=")
    if limit < 0:
        raise UsageError(f"--fail-on {part} would always fail; write {match[1]}>0.")
    return LinkGate(match[1], limit)
