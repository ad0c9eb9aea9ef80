"""Collects what the browser reports about a page: the response of the document, failed requests, errors of scripts.

The number of messages is limited, because a page can write without end. Filtering requests is in `fetch.browser.request_filter`,
and when a page has settled in `fetch.browser.page_timing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tadoru.model.web import FailureKind, Headers

MAX_MESSAGES = 50
MAX_MESSAGE_LENGTH = 500
MAX_NOISE = 2_000_000
"""Characters of messages after which the page is read as it is: endless messages would block everything else."""
_PER_MESSAGE = 1_000
_INTENDED = ("net::ERR_BLOCKED_BY_CLIENT", "net::ERR_ABORTED")
_ERRORS = (
    ("ERR_CERT", FailureKind.TLS, "No secure connection"),
    ("ERR_SSL", FailureKind.TLS, "No secure connection"),
    ("ERR_TOO_MANY_REDIRECTS", FailureKind.TOO_MANY_REDIRECTS, "Too many redirects"),
    ("ERR_UNSAFE_REDIRECT", FailureKind.BAD_REDIRECT, "A redirect to a URL that is not a web page"),
    ("ERR_UNKNOWN_URL_SCHEME", FailureKind.BAD_REDIRECT, "A redirect to a URL that is not a web page"),
    ("ERR_INVALID_REDIRECT", FailureKind.BAD_REDIRECT, "A redirect without a valid Location header"),
    ("ERR_CONTENT_LENGTH_MISMATCH", FailureKind.INCOMPLETE, "The body ended before it was complete"),
    ("ERR_INCOMPLETE", FailureKind.INCOMPLETE, "The body ended before it was complete"),
    ("ERR_CONTENT_DECODING", FailureKind.BAD_ENCODING, "The body cannot be decompressed"),
    ("ERR_HTTP_RESPONSE_CODE_FAILURE", FailureKind.UNPARSABLE, "An error status without a page"),
    ("ERR_INVALID_URL", FailureKind.PROTOCOL, "The browser rejects the URL"),
    ("ERR_INVALID", FailureKind.PROTOCOL, "The response is not valid HTTP"),
    ("ERR_RESPONSE_HEADERS", FailureKind.PROTOCOL, "The response is not valid HTTP"),
    ("ERR_HTTP2", FailureKind.PROTOCOL, "The response is not valid HTTP"),
    ("ERR_TIMED_OUT", FailureKind.RESPONSE_TIMEOUT, "No response in time"),
)


def describe_browser_error(error: str) -> tuple[FailureKind, str]:
    """The failure kind and the message for an error of the browser (`net::ERR_…`)."""
    code = error.removeprefix("net::")
    for start, kind, sentence in _ERRORS:
        if code.startswith(start):
            return kind, f"{sentence} ({code})."
    return FailureKind.NETWORK, f"The browser could not load the page ({code})."


@dataclass(frozen=True, slots=True)
class DocumentResponse:
    """The response of a document."""

    status: int
    headers: Headers
    media_type: str


@dataclass(slots=True)
class PageReport:
    """What the browser has reported about a page so far."""

    frame: str
    """The id of the main frame."""
    documents: dict[str, DocumentResponse] = field(default_factory=dict)
    """By loader id."""
    loader: str = ""
    """The loader id of the current document."""
    unreachable: str = ""
    """The URL of which the browser shows an error page."""
    broken: str = ""
    """The error in the body of the current document."""
    requests: int = 0
    noise: int = 0
    console_errors: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    failed: dict[str, None] = field(default_factory=dict)
    _urls: dict[str, str] = field(default_factory=dict)

    @property
    def document(self) -> DocumentResponse | None:
        """The response of the current document; for one that a script wrote, the response before."""
        return self.documents.get(self.loader) or next(reversed(self.documents.values()), None)

    def on_navigation(self, frame: Mapping[str, Any]) -> bool:
        """A frame shows another document. True for the main frame."""
        if frame["id"] != self.frame:
            return False
        self.loader = frame["loaderId"]
        self.unreachable = frame.get("unreachableUrl", "")
        self.broken = ""
        return True

    def on_request(self, event: Mapping[str, Any]) -> None:
        """A request starts."""
        self.requests += 1
        self._urls[event["requestId"]] = event["request"]["url"]

    def on_response(self, event: Mapping[str, Any]) -> None:
        """The headers of a response arrived."""
        response = event["response"]
        if event["type"] == "Document" and event.get("frameId") == self.frame:
            headers = response["headers"].items()
            fields = tuple((name, value) for name, values in headers for value in str(values).split("\n"))
            self.documents[event["loaderId"]] = DocumentResponse(response["status"], fields, response["mimeType"])
        elif response["status"] >= 400:
            self._fail(str(response["status"]), response["url"])

    def on_request_end(self, event: Mapping[str, Any]) -> None:
        """A request ended; with an `errorText` if it failed."""
        url = self._urls.pop(event["requestId"], "")
        error = event.get("errorText", "")
        if error and event["requestId"] == self.loader:
            self.broken = error
        if error and not event.get("canceled") and not error.startswith(_INTENDED) and url:
            self._fail(error.removeprefix("net::"), url)

    def on_console(self, event: Mapping[str, Any]) -> None:
        """A script wrote to the console."""
        text = " ".join(str(part.get("value", part.get("description", ""))) for part in event["args"])
        self.noise += _PER_MESSAGE + len(text)
        if event["type"] in ("error", "assert"):
            _append(self.console_errors, text)

    def on_log_entry(self, event: Mapping[str, Any]) -> None:
        """The browser logged an entry; failed requests are already known."""
        entry = event["entry"]
        if entry["level"] == "error" and entry["source"] != "network":
            _append(self.console_errors, entry["text"])

    def on_exception(self, event: Mapping[str, Any]) -> None:
        """A script raised an uncaught exception."""
        details = event["exceptionDetails"]
        exception = details.get("exception", {})
        text = str(exception.get("description") or exception.get("value") or details["text"])
        self.noise += _PER_MESSAGE + len(text)
        _append(self.page_errors, text.partition("\n")[0])

    def _fail(self, what: str, url: str) -> None:
        if len(self.failed) < MAX_MESSAGES:
            self.failed.setdefault(f"{what} {url}"[:MAX_MESSAGE_LENGTH])


def _append(texts: list[str], text: str) -> None:
    if len(texts) < MAX_MESSAGES:
        texts.append(text[:MAX_MESSAGE_LENGTH])
