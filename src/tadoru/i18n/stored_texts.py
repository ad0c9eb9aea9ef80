"""Texts that databases store, in the language of the reader.

A reason why a run is worse is stored as a code with parameters. A crawl database stores why a URL was skipped as an English text
of a closed set (`SKIP_REASONS`), and why it did not respond as a code (`FAILURES`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from tadoru.errors import Message
from tadoru.i18n.translation import N_, Translator, translator
from tadoru.model.web import FailureKind

FAILURES = {
    FailureKind.DNS: N_("host name not resolved"),
    FailureKind.REFUSED: N_("connection refused"),
    FailureKind.NETWORK: N_("connection failed"),
    FailureKind.TLS: N_("TLS error"),
    FailureKind.CONNECT_TIMEOUT: N_("connection timeout"),
    FailureKind.RESPONSE_TIMEOUT: N_("response timeout"),
    FailureKind.DOWNLOAD_TIMEOUT: N_("download timeout"),
    FailureKind.TOO_LARGE: N_("response too large"),
    FailureKind.HEADERS_TOO_LARGE: N_("headers too large"),
    FailureKind.INCOMPLETE: N_("incomplete body"),
    FailureKind.BAD_ENCODING: N_("invalid content encoding"),
    FailureKind.PROTOCOL: N_("invalid HTTP response"),
    FailureKind.FORBIDDEN: N_("disallowed by robots.txt"),
    FailureKind.BLOCKED_ADDRESS: N_("blocked address"),
    FailureKind.BOT_BLOCKED: N_("blocked as a crawler"),
    FailureKind.PROXY: N_("proxy error"),
    FailureKind.BAD_REDIRECT: N_("invalid redirect"),
    FailureKind.TOO_MANY_REDIRECTS: N_("too many redirects"),
    FailureKind.REDIRECT_LOOP: N_("redirect loop"),
    FailureKind.UNPARSABLE: N_("page not parsable"),
    FailureKind.PAGE_LIMIT: N_("page over a limit"),
}
SKIP_REASONS = (
    # Scope.
    N_("in scope"),
    N_("a start URL"),
    N_("not matched by any --include pattern"),
    N_("excluded by pattern {pattern}"),
    N_("outside the path {path}"),
    N_("external: {host} is not in {site}"),
    N_("external: {host} is not {site}"),
    N_("external: {host} is none of the {count} sites"),
    N_("list mode: only the given URLs are requested"),
    # robots.txt; “answered” and “no answer” are in databases of earlier versions.
    N_("no rule in robots.txt disallows it"),
    N_("robots.txt itself is always allowed"),
    N_("robots.txt line {line}: {rule}"),
    N_("{reason}, which means everything is allowed"),
    N_("{reason}, which means everything is disallowed"),
    N_("robots.txt returned status {status}"),
    N_("robots.txt answered {status}"),
    N_("robots.txt has an invalid redirect"),
    N_("robots.txt could not be read ({reason})"),
    N_("no response"),
    N_("no answer"),
    N_("Disallowed by robots.txt: {reason}."),
    # Limits and crawler traps.
    N_("deeper than the depth limit"),
    N_("over the number of pages for one host"),
    N_("put off: the queue was full"),
    N_("trap: {reason}"),
    N_("longer than {count} characters"),
    N_("more than {count} path segments"),
    N_("the path segment {segment} occurs {count} times"),
    N_("the path repeats {segments}"),
    N_("the parameter {parameter} occurs {count} times"),
    N_("facets"),
    N_("calendar"),
    N_("session id"),
    N_("pagination"),
    N_("subdomains"),
    # Variants of documentation pages.
    N_("everything on one page"),
    N_("a listing of source code or a file of the build"),
    N_("a whole book on one page, or a page for printing"),
    N_("an index, a list of tags or a search page"),
    N_("version {version}; this crawl is about {reason}"),
    N_("the current version"),
    N_("version {version}"),
    N_("in {language}; this crawl is about {crawled}"),
)
"""The reasons why a URL is skipped, as `rules`, `engine` and `store` write them; `{reason}` is another one or a failure."""

Regression = Mapping[str, Any]
"""One reason as JSON: its `code` and its `parameters`."""


def regression(code: str, **parameters: float) -> Regression:
    """One reason."""
    return {"code": code, "parameters": parameters}


def error_regression(error: Message) -> Regression:
    """The error of a run as its reason."""
    return {"code": "error", "parameters": error.to_json()}


def regression_changes(reasons: Iterable[Regression]) -> dict[str, Any]:
    """The changes of a run that these reasons make: whether it is a regression, and why, in English and as codes."""
    codes, english = list(reasons), translator("en")
    return {"regression": bool(codes), "reasons": [format_regression(one, english) for one in codes], "reason_codes": codes}


def format_regression(reason: Regression, messages: Translator) -> str:
    """A reason as a sentence. Raises KeyError if the code or a parameter is unknown, as in a database of a newer version."""
    ngettext, parameters = messages.ngettext, reason["parameters"]
    match reason["code"]:
        case "pages_broke":
            return ngettext("{count} page broke.", "{count} pages broke.", parameters["count"])
        case "pages_vanished":
            return ngettext("{count} page vanished.", "{count} pages vanished.", parameters["count"])
        case "pages_deindexed":
            return ngettext(
                "{count} page can no longer be found by search engines.",
                "{count} pages can no longer be found by search engines.",
                parameters["count"],
            )
        case "new_errors":
            return ngettext("{count} new error.", "{count} new errors.", parameters["count"])
        case "pages_gone":
            gone, all_pages = messages.number(parameters["gone"]), messages.number(parameters["pages"])
            return messages.gettext("{gone} of {pages} pages are gone.", gone=gone, pages=all_pages)
        case "broken_links":
            before = messages.number(parameters["before"])
            return ngettext(
                "{count} broken link; {before} before.",
                "{count} broken links; {before} before.",
                parameters["count"],
                before=before,
            )
        case "score_fell":
            before, after = f"{parameters['before']:.1f}", f"{parameters['after']:.1f}"
            return messages.gettext("The score fell from {before} to {after}.", before=before, after=after)
        case "error":
            return messages.text(Message.from_json(parameters))
    raise KeyError(reason["code"])


def failure_name(kind: str) -> str:
    """The name of a kind of failure, as a message if it is known."""
    return Message(FAILURES[FailureKind(kind)]) if kind in FAILURES else kind.replace("_", " ")


def skip_reason(text: str) -> str:
    """A stored skip reason, as a message if it is known."""
    if text in FAILURES:
        return failure_name(text)
    for template, parts in _split_templates():
        values = _values(text, parts)
        if values is not None:
            if "reason" in values:
                values["reason"] = skip_reason(values["reason"])
            return Message(template, **values)
    return text


def translate_reason(text: str, messages: Translator) -> str:
    """A stored reason in a language; an unknown one as it is, unless it is a message."""
    reason = skip_reason(text)
    return messages.text(reason) if isinstance(reason, Message) else messages.gettext(text)


@cache
def _split_templates() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each template with its parts: a text, a name, a text, …, a text."""
    return tuple((one, tuple(part for piece in one.split("{") for part in piece.split("}"))) for one in SKIP_REASONS)


def _values(text: str, parts: tuple[str, ...]) -> dict[str, str] | None:
    """The values in a text that was made from a template; None if it was not. Each value ends at the first text that follows."""
    if not text.startswith(parts[0]):
        return None
    start, values = len(parts[0]), {}
    for name, literal in zip(parts[1:-2:2], parts[2:-1:2], strict=True):
        end = text.find(literal, start)
        if end < 0:
            return None
        values[name] = text[start:end]
        start = end + len(literal)
    if len(parts) == 1:
        return values if text == parts[0] else None
    end = len(text) - len(parts[-1])
    if end < start or not text.endswith(parts[-1]):
        return None
    return values | {parts[-2]: text[start:end]}
