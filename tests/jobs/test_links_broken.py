from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.links.broken import (
    AcceptedCodes,
    LinkCheck,
    classify_link,
    compile_patterns,
    describe_problem,
    format_status,
    is_ignored,
)
from tadoru.model.web import FailureKind

URL = "https://garden.example/a"


@pytest.mark.parametrize(
    "text, inside, outside",
    [
        ("200", [200], [199, 201]),
        ("200..299", [200, 250, 299], [199, 300]),
        ("200..299,403", [204, 403], [402, 404]),
        (" 200 , 999 ", [200, 999], [998]),
        ("404..404", [404], [403, 405]),
    ],
)
def test_accepted_codes_are_read_as_inclusive_ranges(text: str, inside: list[int], outside: list[int]) -> None:
    codes = AcceptedCodes.parse(text)
    assert all(codes.accepts(code, URL) for code in inside)
    assert not any(codes.accepts(code, URL) for code in outside)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2xx",
        "200..",
        "..299",
        "200-299",
        "200,,403",
        "99",
        "1000",
        "200...299",
        "２００",
        "-200",
        "2 00",
        "=403",
        "x.example=",
    ],
)
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"200\.\.299,403"):
        AcceptedCodes.parse(text)


@pytest.mark.parametrize(
    "url, accepted",
    [
        ("https://x.example/", True),
        ("https://www.x.example:8443/a", True),
        ("http://127.0.0.2:81/", True),
        ("http://127.0.0.2:82/", False),
        ("https://notx.example/", False),
        ("https://garden.example/?x.example", False),
    ],
)
def test_a_code_is_accepted_of_a_host_and_its_subdomains(url: str, accepted: bool) -> None:
    codes = AcceptedCodes.parse("X.example=403..404, 127.0.0.2:81=403")
    assert codes.accepts(403, url) is accepted
    assert codes.accepts(200, url), "the usual codes are accepted too if only those of hosts are given"
    assert not codes.accepts(500, url)


def test_of_a_redirect_the_host_at_its_end_counts() -> None:
    codes = AcceptedCodes.parse("200,x.example=403")
    assert classify_link(LinkCheck(URL, 403, final_url="https://x.example/"), codes) is None
    assert classify_link(LinkCheck("https://x.example/", 403, final_url=URL), codes) == "blocked"


def test_a_range_the_wrong_way_round_is_refused_with_the_right_way() -> None:
    with pytest.raises(UsageError, match=r"Use 200\.\.299"):
        AcceptedCodes.parse("299..200")


@given(st.lists(st.tuples(st.integers(100, 999), st.integers(100, 999)).map(sorted), min_size=1), st.integers(100, 999))
def test_a_code_is_accepted_when_one_range_holds_it(ranges: list[list[int]], code: int) -> None:
    codes = AcceptedCodes.parse(",".join(f"{low}..{high}" for low, high in ranges))
    assert codes.accepts(code, URL) == any(low <= code <= high for low, high in ranges)


@pytest.mark.parametrize(
    "code, kind",
    [
        (200, None), (204, None), (301, None), (304, None), (400, "broken"), (401, "blocked"), (403, "blocked"), (404, "broken"),
        (407, "blocked"), (410, "broken"), (429, "blocked"), (451, "blocked"), (500, "broken"), (503, "broken"), (999, "blocked"),
        (None, None),
    ],
)  # fmt: skip
def test_a_status_is_fine_broken_or_blocked(code: int | None, kind: str | None) -> None:
    assert classify_link(LinkCheck(URL, code), AcceptedCodes()) == kind


@pytest.mark.parametrize("code", [403, 404, 500])
def test_an_accepted_code_is_neither_broken_nor_blocked(code: int) -> None:
    assert classify_link(LinkCheck(URL, code), AcceptedCodes.parse(f"200..299,{code}")) is None


@pytest.mark.parametrize("failure", list(FailureKind))
def test_every_failure_has_its_verdict(failure: FailureKind) -> None:
    reached = dict.fromkeys((FailureKind.TOO_LARGE, FailureKind.UNPARSABLE, FailureKind.PAGE_LIMIT))
    expected = {FailureKind.BLOCKED_ADDRESS: "blocked", FailureKind.BOT_BLOCKED: "blocked", **reached}
    assert classify_link(LinkCheck(URL, None, failure), AcceptedCodes()) == expected.get(failure, "broken")


@pytest.mark.parametrize(
    "text, failure, kind",
    [
        ("timeout", FailureKind.RESPONSE_TIMEOUT, None),
        ("timeout", FailureKind.REFUSED, "broken"),
        ("network", FailureKind.REFUSED, None),
        ("network", FailureKind.DNS, "broken"),
        ("network", FailureKind.TLS, "broken"),
        ("example.com=timeout", FailureKind.CONNECT_TIMEOUT, None),
        ("other.example=timeout", FailureKind.CONNECT_TIMEOUT, "broken"),
    ],
)
def test_failures_that_may_pass_are_accepted_on_request(text: str, failure: FailureKind, kind: str | None) -> None:
    accepted = AcceptedCodes.parse(text)
    assert classify_link(LinkCheck("https://www.example.com/", None, failure), accepted) == kind
    assert accepted.accepts(204, URL), "the usual codes are accepted too"


def test_a_page_too_large_to_read_is_still_judged_by_its_status() -> None:
    assert classify_link(LinkCheck(URL, 404, FailureKind.TOO_LARGE), AcceptedCodes()) == "broken"


def test_a_redirect_that_ends_in_an_error_is_broken_and_says_where_it_went() -> None:
    checked = LinkCheck(URL, 404, final_url="https://garden.example/b")
    assert classify_link(checked, AcceptedCodes()) == "broken"
    assert describe_problem(checked) == "404 Not Found, after a redirect to https://garden.example/b"


@pytest.mark.parametrize(
    "checked, words",
    [
        (LinkCheck(URL, 404), "404 Not Found"),
        (LinkCheck(URL, 999), "999"),
        (LinkCheck(URL, None), "no response"),
        (LinkCheck(URL, None, FailureKind.DNS), "dns failure"),
        (LinkCheck(URL, None, FailureKind.DNS, "the name does not exist"), "the name does not exist"),
        (LinkCheck(URL, 500, final_url=URL), "500 Internal Server Error"),
    ],
)
def test_an_error_is_described_in_words(checked: LinkCheck, words: str) -> None:
    assert describe_problem(checked) == words


def test_a_status_without_a_name_is_a_bare_number() -> None:
    assert format_status(799) == "799"


def test_ignore_patterns_are_searched_anywhere_in_the_url() -> None:
    patterns = compile_patterns([r"\.pdf$", "^https://intranet"])
    assert is_ignored("https://garden.example/a.pdf", patterns)
    assert is_ignored("https://intranet.example/", patterns)
    assert not is_ignored("https://garden.example/a.pdf.html", patterns)


def test_a_bad_pattern_is_named() -> None:
    with pytest.raises(UsageError, match=r"Invalid regular expression “\(oops”"):
        compile_patterns(["fine", "(oops"])
