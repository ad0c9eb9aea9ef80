"""Texts that databases store in English: each is known, stays the same in English, and is shown in other languages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tadoru.engine.url_filter import UrlFilter
from tadoru.errors import Message, UsageError
from tadoru.i18n.stored_texts import (
    FAILURES,
    SKIP_REASONS,
    error_regression,
    failure_name,
    format_regression,
    skip_reason,
    translate_reason,
)
from tadoru.i18n.translation import translator
from tadoru.jobs.docs.content.variants import DocsEdition, variant_of
from tadoru.model.web import FailureKind
from tadoru.rules import robots, traps
from tadoru.rules.scope import Scope
from tadoru.store.crawl.records import HOST_SPENT, QUEUE_FULL, SUBDOMAINS, TOO_DEEP

START = "https://example.com/docs/"
SCOPE = Scope(mode="path", sites=(START,), include=("docs",), exclude=("private",))


def scope_reasons() -> Iterator[str]:
    for url in (
        START,
        "https://example.com/docs/a",
        "https://example.com/b",
        "https://example.com/docs/private",
        "https://other.org/",
    ):
        yield SCOPE.decide(url).reason
    yield replace(SCOPE, mode="host", include=("never",)).decide("https://example.com/docs/a").reason
    yield Scope(mode="domain", sites=(START,)).decide("https://other.org/").reason
    yield Scope(sites=(START, "https://example.net/")).decide("https://other.org/").reason


def robots_reasons() -> Iterator[str]:
    rules = robots.read(status=200, failure=None, body=b"User-agent: *\nDisallow: /a\n")
    for path in ("a", "b", "robots.txt"):
        yield rules.allows(f"https://example.com/{path}").reason
    for status in (404, 500):
        yield robots.read(status=status, failure=None, body=b"").allows(START).reason
    yield robots.read(status=None, failure=None, body=b"").allows(START).reason
    for kind in FailureKind:
        yield robots.read(status=None, failure=kind, body=b"").allows(START).reason


def trap_reasons() -> Iterator[str]:
    odd = (
        "x" * 3000,
        "/".join(map(str, range(40))),
        "a/a/a/a/a",
        "a/b/a/b/a/b",
        "?a=1&a=1&a=1",
        "?" + "&".join(f"a={n}" for n in range(30)),
    )
    for path in odd:
        reason = traps.shape_refusal(f"https://example.com/{path}")
        assert reason is not None, path
        yield f"trap: {reason}"
    for path in ("2050/08/01", "?a=b&c=d&e=f", "?page=3", "?PHPSESSID=0123456789abcdef01"):
        pattern = traps.pattern(f"https://example.com/{path}")
        assert pattern is not None, path
        yield f"trap: {pattern.why}"
    yield f"trap: {SUBDOMAINS}"


def variant_reasons() -> Iterator[str]:
    edition = DocsEdition(version="3.1", language="en")
    for path in ("_sources/a.txt", "print.html", "genindex.html", "2.0/a", "ja/a"):
        variant = variant_of(f"https://example.com/{path}", edition)
        assert variant is not None, path
        yield variant.reason
    for version in (None, "3.1"):
        variant = variant_of("https://example.com/2.0/a", DocsEdition(version=version))
        assert variant is not None
        yield variant.reason


def other_reasons() -> Iterator[str]:
    yield from (TOO_DEEP, HOST_SPENT, QUEUE_FULL)
    only_given = UrlFilter(SCOPE, check_external=False, follow=False, trap_cap=500)
    yield only_given.target("https://example.com/docs/a").reason
    # Written by earlier versions.
    yield "robots.txt answered 500, which means everything is disallowed"
    yield "robots.txt could not be read (no answer), which means everything is disallowed"
    yield "everything on one page"


REASONS = sorted({*scope_reasons(), *robots_reasons(), *trap_reasons(), *variant_reasons(), *other_reasons()})


@pytest.mark.parametrize("reason", REASONS)
def test_every_skip_reason_is_known_and_stays_the_same_in_english(reason: str) -> None:
    known = skip_reason(reason)
    assert isinstance(known, Message)
    kind = next((kind for kind in FailureKind if f"({kind})" in reason), None)
    assert known == (reason if kind is None else reason.replace(kind, FAILURES[kind]))
    japanese = translate_reason(reason, translator("ja"))
    assert any("ぁ" <= sign <= "龥" for sign in japanese), japanese


def test_every_template_of_a_reason_is_used() -> None:
    def templates(text: str) -> Iterator[str]:
        known = skip_reason(text)
        if isinstance(known, Message):
            yield known.template
            yield from (one for value in known.values.values() for one in templates(str(value)))

    used = {template for reason in REASONS for template in templates(reason)}
    # The reason of a request outside of a crawl, which the client makes from one of the others.
    assert set(SKIP_REASONS) - used == {"Disallowed by robots.txt: {reason}."}


def test_values_that_contain_words_of_a_template_are_kept() -> None:
    assert skip_reason("excluded by pattern a is not b, which means everything is allowed") == (
        "excluded by pattern a is not b, which means everything is allowed"
    )
    assert translate_reason("robots.txt line 3: Disallow: /{x}", translator("ja")) == "robots.txt の 3 行目: Disallow: /{x}"


def test_an_unknown_reason_is_shown_as_it_is() -> None:
    assert translate_reason("refused by my plugin", translator("ja")) == "refused by my plugin"
    assert translate_reason("", translator("ja")) == ""


@pytest.mark.parametrize("kind", FailureKind)
def test_every_kind_of_failure_has_a_name(kind: FailureKind) -> None:
    assert translator("ja").text(failure_name(kind)) != translator("en").text(failure_name(kind))


def test_an_unknown_kind_of_failure_is_shown_in_words() -> None:
    assert failure_name("of_a_newer_version") == "of a newer version"


def test_the_error_of_a_run_is_a_reason_in_every_language() -> None:
    inner = UsageError("{file} is empty. Choose another file.", file="a.db")
    reason = error_regression(Message("{reason}, which means everything is allowed", reason=inner))
    assert format_regression(reason, translator("en")) == "a.db is empty. Choose another file., which means everything is allowed"
    assert "みなす" in format_regression(reason, translator("ja"))
