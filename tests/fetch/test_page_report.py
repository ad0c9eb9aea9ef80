"""What a browser reports, kept within bounds and named as everywhere else."""

from __future__ import annotations

from typing import Any

import pytest

from tadoru.fetch.browser.page_report import (
    MAX_MESSAGE_LENGTH,
    MAX_MESSAGES,
    MAX_NOISE,
    PageReport,
    describe_browser_error,
)
from tadoru.model.web import FailureKind

MAIN = "main"


@pytest.mark.parametrize(
    "error, kind",
    [
        ("net::ERR_CERT_DATE_INVALID", FailureKind.TLS),
        ("net::ERR_SSL_PROTOCOL_ERROR", FailureKind.TLS),
        ("net::ERR_TOO_MANY_REDIRECTS", FailureKind.TOO_MANY_REDIRECTS),
        ("net::ERR_UNSAFE_REDIRECT", FailureKind.BAD_REDIRECT),
        ("net::ERR_INVALID_REDIRECT", FailureKind.BAD_REDIRECT),
        ("net::ERR_CONTENT_LENGTH_MISMATCH", FailureKind.INCOMPLETE),
        ("net::ERR_INCOMPLETE_CHUNKED_ENCODING", FailureKind.INCOMPLETE),
        ("net::ERR_CONTENT_DECODING_FAILED", FailureKind.BAD_ENCODING),
        ("net::ERR_INVALID_HTTP_RESPONSE", FailureKind.PROTOCOL),
        ("net::ERR_HTTP2_PROTOCOL_ERROR", FailureKind.PROTOCOL),
        ("net::ERR_TIMED_OUT", FailureKind.RESPONSE_TIMEOUT),
        ("net::ERR_EMPTY_RESPONSE", FailureKind.NETWORK),
        ("net::ERR_OF_TOMORROW", FailureKind.NETWORK),
    ],
)
def test_every_error_has_a_name_and_a_sentence_with_the_browsers_own_word(error: str, kind: FailureKind) -> None:
    found, sentence = describe_browser_error(error)
    assert found is kind
    assert sentence.endswith(f" ({error.removeprefix('net::')}).")


def response(status: int, kind: str, *, frame: str = MAIN, loader: str = "1", **headers: str) -> dict[str, Any]:
    answer = {"status": status, "headers": headers, "mimeType": "text/html", "url": "https://a.example/x"}
    return {"requestId": loader, "type": kind, "frameId": frame, "loaderId": loader, "response": answer}


def test_the_document_is_that_of_the_main_frame_as_it_is_shown() -> None:
    seen = PageReport(MAIN)
    assert seen.document is None
    seen.on_response(response(200, "Document", loader="1", Link="<a>\n<b>"))
    seen.on_response(response(404, "Document", frame="child", loader="2"))
    seen.on_response(response(503, "Document", loader="3"))
    assert seen.on_navigation({"id": MAIN, "loaderId": "1"})
    assert not seen.on_navigation({"id": "child", "loaderId": "2"})
    assert seen.document is not None
    assert (seen.document.status, seen.document.headers) == (200, (("Link", "<a>"), ("Link", "<b>")))
    assert list(seen.failed) == ["404 https://a.example/x"]
    seen.on_navigation({"id": MAIN, "loaderId": "written-by-a-script"})
    assert seen.document.status == 503


def test_what_we_refused_ourselves_is_no_fault_of_the_page() -> None:
    seen = PageReport(MAIN)
    errors = ("ERR_BLOCKED_BY_CLIENT", "ERR_BLOCKED_BY_CLIENT.Inspector", "ERR_ABORTED", "ERR_FAILED")
    for number, error in enumerate(errors):
        seen.on_request({"requestId": str(number), "request": {"url": f"https://a.example/{number}"}})
        seen.on_request_end({"requestId": str(number), "errorText": f"net::{error}"})
    seen.on_request({"requestId": "left", "request": {"url": "https://a.example/left"}})
    seen.on_request_end({"requestId": "left", "errorText": "net::ERR_FAILED", "canceled": True})
    assert list(seen.failed) == ["ERR_FAILED https://a.example/3"]


def test_a_page_can_complain_without_end_and_is_kept_short() -> None:
    seen = PageReport(MAIN)
    for number in range(MAX_NOISE // MAX_MESSAGE_LENGTH):
        text = {"value": f"{number}" * MAX_MESSAGE_LENGTH}
        seen.on_console({"type": "error", "args": [text]})
        seen.on_exception(
            {"exceptionDetails": {"text": "Uncaught", "exception": {"description": f"{number}" * MAX_MESSAGE_LENGTH}}}
        )
        seen.on_response(response(500, "Script") | {"response": {"status": 500, "url": f"https://a.example/{number}"}})
    assert seen.noise > MAX_NOISE
    for kept in (seen.console_errors, seen.page_errors, list(seen.failed)):
        assert len(kept) == MAX_MESSAGES
        assert all(len(one) <= MAX_MESSAGE_LENGTH for one in kept)


@pytest.mark.parametrize(
    "details, text",
    [
        ({"text": "Uncaught", "exception": {"description": "Error: no\n    at a.js:1"}}, "Error: no"),
        ({"text": "Uncaught (in promise)", "exception": {"value": "no"}}, "no"),
        ({"text": "Uncaught SyntaxError"}, "Uncaught SyntaxError"),
    ],
)
def test_an_exception_is_told_in_one_line(details: dict[str, Any], text: str) -> None:
    seen = PageReport(MAIN)
    seen.on_exception({"exceptionDetails": details})
    assert seen.page_errors == [text]


def test_of_the_console_only_errors_are_kept_and_failed_requests_are_not_told_twice() -> None:
    seen = PageReport(MAIN)
    seen.on_console({"type": "log", "args": [{"value": "hello"}]})
    seen.on_console({"type": "assert", "args": [{"value": "a"}, {"description": "Object"}]})
    seen.on_log_entry({"entry": {"level": "error", "source": "network", "text": "Failed to load resource"}})
    seen.on_log_entry({"entry": {"level": "warning", "source": "security", "text": "careful"}})
    seen.on_log_entry({"entry": {"level": "error", "source": "security", "text": "Mixed content"}})
    assert seen.console_errors == ["a Object", "Mixed content"]
