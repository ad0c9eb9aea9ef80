"""When a link is broken, malformed or only blocked; and the gates of `--fail-on`.

`--fail-on broken` fails on any broken link, `--fail-on "broken>5,blocked"` on more than five, or on any blocked link; the command
then ends with exit code 10.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from tadoru.errors import Message, UsageError, quoted
from tadoru.i18n.translation import N_
from tadoru.jobs.links.result import BrokenKind, BrokenLink, CrawlResult, LinkSource
from tadoru.jobs.reporting.escape import url_host
from tadoru.model.finding import Severity, define
from tadoru.model.web import FailureKind
from tadoru.parse.links import MalformedLink
from tadoru.store.crawl.findings import FindingReader
from tadoru.store.crawl.records import PageRecords

BLOCKED_CODES = frozenset({401, 403, 407, 429, 451, 999})
"""Responses that block crawlers: sign-in required, no robots, too many requests, legal reasons. Visitors may see the page."""

_REACHED_FAILURES = frozenset({FailureKind.TOO_LARGE, FailureKind.UNPARSABLE, FailureKind.PAGE_LIMIT})
"""The page exists, but is too large or cannot be parsed; the link works."""


_TIMEOUTS = frozenset({FailureKind.CONNECT_TIMEOUT, FailureKind.RESPONSE_TIMEOUT, FailureKind.DOWNLOAD_TIMEOUT})
_FAILURES = {
    "timeout": _TIMEOUTS,
    "network": _TIMEOUTS | {FailureKind.REFUSED, FailureKind.NETWORK, FailureKind.INCOMPLETE},
}
"""Failures that may pass. Not a name that does not resolve, nor a bad certificate: visitors see those too, and they stay."""


@dataclass(frozen=True, slots=True)
class AcceptedCodes:
    """Status codes that count as working, as inclusive ranges, and failures, for all hosts and for some of them."""

    ranges: tuple[tuple[int, int], ...] = ((200, 299),)
    by_host: tuple[tuple[str, tuple[int, int]], ...] = ()
    """A host, with its subdomains, and what it may respond besides."""
    failures: tuple[tuple[str, frozenset[FailureKind]], ...] = ()
    """A host, or nothing for all, and failures that count as working."""

    def accepts_failure(self, failure: FailureKind | None, url: str) -> bool:
        """Whether a failure of a URL counts as working."""
        return any(failure in kinds and (not host or _is_below(url_host(url), host)) for host, kinds in self.failures)

    def accepts(self, code: int, url: str) -> bool:
        """Whether a status code of a URL counts as working."""
        if any(low <= code <= high for low, high in self.ranges):
            return True
        return any(low <= code <= high and _is_below(url_host(url), host) for host, (low, high) in self.by_host)

    @classmethod
    def parse(cls, text: str) -> AcceptedCodes:
        """Parses `200..299,403,timeout,example.com=999`. Raises UsageError."""
        ranges, by_host, failures = [], [], []
        for part in text.split(","):
            host, _, codes = map(str.strip, part.rpartition("="))
            codes = codes if host else part.strip()
            if codes in _FAILURES:
                failures.append((host.lower(), _FAILURES[codes]))
            elif host:
                by_host.append((host.lower(), _parse_range(codes)))
            else:
                ranges.append(_parse_range(codes))
        return cls(tuple(ranges) or cls().ranges, tuple(by_host), tuple(failures))


def _is_below(host: str, domain: str) -> bool:
    name = host.partition(":")[0]
    return domain in (host, name) or name.endswith(f".{domain}")


def _parse_range(part: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9][0-9]{2})(?:\.\.([1-9][0-9]{2}))?", part, re.ASCII)
    if match is None:
        raise UsageError(
            "Invalid status code {code}. Use status codes and ranges, such as 200..299,403, or timeout or network.",
            code=quoted(part),
        )
    low, high = int(match[1]), int(match[2] or match[1])
    if low > high:
        raise UsageError("The range {range} is reversed. Use {low}..{high}.", range=quoted(part), low=high, high=low)
    return low, high


@dataclass(frozen=True, slots=True)
class LinkCheck:
    """The result of requesting a link, at the end of its redirects."""

    url: str
    """The linked URL, before any redirect."""
    status_code: int | None
    failure: FailureKind | None = None
    message: str = ""
    final_url: str | None = None
    """The URL at the end of the redirects, if there were any."""


def classify_link(checked: LinkCheck, accepted: AcceptedCodes) -> BrokenKind | None:
    """The problem of a link; None if it works or is unknown."""
    if checked.failure in (FailureKind.BLOCKED_ADDRESS, FailureKind.BOT_BLOCKED):
        return "blocked"
    if accepted.accepts_failure(checked.failure, checked.final_url or checked.url):
        return None
    if checked.failure is not None and checked.failure not in _REACHED_FAILURES:
        return "broken"
    code = checked.status_code
    # A redirect that was not followed to its end is not an error.
    if code is None or accepted.accepts(code, checked.final_url or checked.url) or 300 <= code <= 399:
        return None
    return "blocked" if code in BLOCKED_CODES else "broken"


def describe_problem(checked: LinkCheck) -> str:
    """The problem in a few words."""
    if checked.failure is not None:
        text = checked.message or checked.failure.value.replace("_", " ")
    else:
        text = format_status(checked.status_code)
    if checked.final_url and checked.final_url != checked.url:
        text = f"{text.rstrip('.')}, after a redirect to {checked.final_url}"
    return text


def format_status(code: int | None) -> str:
    """`404 Not Found`; only the number if it has no name; `no response` without a status."""
    if code is None:
        return "no response"
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)


def compile_patterns(patterns: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Compiles regular expressions. Raises UsageError for an invalid one."""
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(pattern))
        except re.error as problem:
            raise UsageError("Invalid regular expression {pattern}: {error}.", pattern=quoted(pattern), error=problem) from None
    return tuple(compiled)


def is_ignored(url: str, patterns: Collection[re.Pattern[str]]) -> bool:
    """Whether any pattern matches the URL."""
    return any(pattern.search(url) for pattern in patterns)


_GATE_MESSAGES = {
    "broken": (N_("{count} broken link, {allowed}."), N_("{count} broken links, {allowed}.")),
    "blocked": (N_("{count} blocked link, {allowed}."), N_("{count} blocked links, {allowed}.")),
    "fragment": (N_("{count} link to a missing fragment, {allowed}."), N_("{count} links to missing fragments, {allowed}.")),
    "redirects": (N_("{count} redirect, {allowed}."), N_("{count} redirects, {allowed}.")),
    "errors": (N_("{count} failed URL, {allowed}."), N_("{count} failed URLs, {allowed}.")),
    "any": (N_("{count} link that does not work, {allowed}."), N_("{count} links that do not work, {allowed}.")),
}


@dataclass(frozen=True, slots=True)
class LinkGate:
    """Fails on more than `limit` problems of a kind."""

    name: str
    limit: int = 0

    def exceeded(self, result: CrawlResult) -> Message | None:
        """The message of a gate that was exceeded."""
        count = count_problems(self.name, result)
        if count <= self.limit:
            return None
        allowed = Message("at most {limit} allowed", limit=self.limit) if self.limit else Message("none allowed")
        return Message(_GATE_MESSAGES[self.name][count != 1], count=f"{count:,}", allowed=allowed)


@dataclass(frozen=True, slots=True)
class LinkGates:
    """The gates of `--fail-on`."""

    gates: tuple[LinkGate, ...] = ()

    @classmethod
    def parse(cls, text: str) -> LinkGates:
        """Parses `broken>5,blocked`. Raises UsageError."""
        return cls(tuple(_parse_gate(part.strip()) for part in text.split(",")))

    def exceeded(self, result: CrawlResult) -> list[str]:
        """A message for each gate that was exceeded."""
        return [message for gate in self.gates if (message := gate.exceeded(result))]


def count_problems(name: str, result: CrawlResult) -> int:
    """The number of problems of a kind. `any` counts all links that do not work; redirects do."""
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
    if match is None or match[1] not in _GATE_MESSAGES:
        raise UsageError(
            "Invalid --fail-on {value}. Use {names}, each optionally with a limit, such as broken>5.",
            value=quoted(part),
            names=", ".join(_GATE_MESSAGES),
        )
    if match[2] is None:
        return LinkGate(match[1])
    limit = int(match[3]) - (match[2] == ">=")
    if limit < 0:
        raise UsageError("--fail-on {value} would always fail. Use {name}>0.", value=part, name=match[1])
    return LinkGate(match[1], limit)


MALFORMED_CHECK = define(
    "link-malformed",
    Severity.ERROR,
    title=N_("Malformed link URL"),
    why=N_("The URL is mistyped or refers to a file on a local computer."),
    fix=N_("Correct the href attribute."),
    group="links",
)
"""The same check as in audits."""
MAX_PER_PAGE = 1_000
NO_REFERENCE = '""'
"""An empty reference in results, so that it is seen and can be suppressed."""


def malformed_records(page_url: str, malformed: Sequence[MalformedLink]) -> PageRecords | None:
    """What is stored of a page with malformed links; None for other pages."""
    if not malformed:
        return None
    hrefs, texts, positions, problems, kinds = zip(*malformed[:MAX_PER_PAGE], strict=True)
    finding = MALFORMED_CHECK.on(
        page_url,
        hrefs[0],
        count=len(malformed),
        hrefs=hrefs,
        texts=texts,
        positions=tuple(map(str, positions)),
        problems=problems,
        kinds=tuple(map(str, kinds)),
    )
    return PageRecords(indexable=True, indexability="", findings=(finding,))


def malformed_links(findings: FindingReader) -> Iterator[BrokenLink]:
    """The malformed links of a crawl, each reference with all places where it is."""
    numbers = [stored.number for stored in findings.stored_checks() if stored.check.id == MALFORMED_CHECK.id]
    sources: dict[tuple[str, str], list[LinkSource]] = {}
    for row in findings.found(numbers) if numbers else ():
        columns = (row.data[name] for name in ("hrefs", "texts", "positions", "problems", "kinds"))
        for href, text, position, problem, kind in zip(*columns, strict=True):
            sources.setdefault((href, problem), []).append(LinkSource(row.url, text, position=int(position), kind=kind))
    for (href, problem), found in sorted(sources.items()):
        yield BrokenLink(href or NO_REFERENCE, None, problem, "broken", tuple(found))
