"""What a browser reports about a page while it shows it: the document's answer, what failed, what the scripts complained about.

Kept within bounds, because a page can complain without end. Which requests go out is not here (`fetch.browser.request_filter`), and neither is
when the page has settled (`fetch.browser.page_timing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tadoru.model.web import FailureKind, Headers

MAX_MESSAGES = 50
MAX_MESSAGE_LENGTH = 500
MAX_NOISE = 2_000_000
"""Characters of messages after which a page is taken as it is: what it writes without end would hold up everything else."""
_PER_MESSAGE = 1_000
_INTENDED = ("net::ERR_BLOCKED_BY_CLIENT", "net::ERR_ABORTED")
_ERRORS = (
    ("ERR_CERT", FailureKind.TLS, "No secure connection"),
    ("ERR_SSL", FailureKind.TLS, "No secure connection"),
    ("ERR_TOO_MANY_REDIRECTS", FailureKind.TOO_MANY_REDIRECTS, "Too many redirects"),
    ("ERR_UNSAFE_REDIRECT", FailureKind.BAD_REDIRECT, "A redirect to what is no web page"),
    ("ERR_UNKNOWN_URL_SCHEME", FailureKind.BAD_REDIRECT, "A redirect to what is no web page"),
    ("ERR_INVALID_REDIRECT", FailureKind.BAD_REDIRECT, "A redirect without a usable Location"),
    ("ERR_CONTENT_LENGTH_MISMATCH", FailureKind.INCOMPLETE, "The body ended before it was complete"),
    ("ERR_INCOMPLETE", FailureKind.INCOMPLETE, "The body ended before it was complete"),
    ("ERR_CONTENT_DECODING", FailureKind.BAD_ENCODING, "The body can not be decompressed"),
    ("ERR_HTTP_RESPONSE_CODE_FAILURE", FailureKind.UNPARSABLE, "An error status without a page"),
    ("ERR_INVALID_URL", FailureKind.PROTOCOL, "The browser does not take it for a URL"),
    ("ERR_INVALID", FailureKind.PROTOCOL, "The answer is not valid HTTP"),
    ("ERR_RESPONSE_HEADERS", FailureKind.PROTOCOL, "The answer is not valid HTTP"),
    ("ERR_HTTP2", FailureKind.PROTOCOL, "The answer is not valid HTTP"),
    ("ERR_TIMED_OUT", FailureKind.RESPONSE_TIMEOUT, "No answer in time"),
)


def describe_browser_error(error: str) -> tuple[FailureKind, str]:
    """The failure's name and sentence for an error of the browser (`net::ERR_…`)."""
    code = error.removeprefix("net::")
    for start, kind, sentence in _ERRORS:
        if code.startswith(start):
            return kind, f"{sentence} ({code})."
    return FailureKind.NETWORK, f"The browser could not load the page ({code})."


@dataclass(frozen=True, slots=True)
class DocumentResponse:
    """The answer a document came with."""

    status: int
    headers: Headers
    media_type: str


@dataclass(slots=True)
class PageReport:
    """What has been reported so far."""

    frame: str
    """The main frame: only its documents are the page."""
    documents: dict[str, DocumentResponse] = field(default_factory=dict)
    """By loader."""
    loader: str = ""
    """Of the document that is shown."""
    unreachable: str = ""
    """The URL that an error page of the browser stands for."""
    broken: str = ""
    """What went wrong with the body of the document that is shown."""
    requests: int = 0
    noise: int = 0
    console_errors: list[str] = field(default_factory=list)
    page_errors: list[str] = field(default_factory=list)
    failed: dict[str, None] = field(default_factory=dict)
    _urls: dict[str, str] = field(default_factory=dict)

    @property
    def document(self) -> DocumentResponse | None:
        """What is shown; one that a script wrote itself came with the answer before."""
        return self.documents.get(self.loader) or next(reversed(self.documents.values()), None)

    def navigated(self, frame: Mapping[str, Any]) -> bool:
        """Another document is shown in a frame; whether it is the main one."""
        if frame["id"] != self.frame:
            return False
        self.loader = frame["loaderId"]
        self.unreachable = frame.get("unreachableUrl", "")
        self.broken = ""
        return True

    def asked(self, event: Mapping[str, Any]) -> None:
        """A request begins."""
        self.requests += 1
        self._urls[event["requestId"]] = event["request"]["url"]

    def responded(self, event: Mapping[str, Any]) -> None:
        """The head of an answer came."""
        response = event["response"]
        if event["type"] == "Document" and event.get("frameId") == self.frame:
            headers = response["headers"].items()
            fields = tuple((name, value) for name, values in headers for value in str(values).split("\n"))
            self.documents[event["loaderId"]] = DocumentResponse(response["status"], fields, response["mimeType"])
        elif response["status"] >= 400:
            self._fail(str(response["status"]), response["url"])

    def ended(self, event: Mapping[str, Any]) -> None:
        """A request is over; with an `errorText` if it failed."""
        url = self._urls.pop(event["requestId"], "")
        error = event.get("errorText", "")
        if error and event["requestId"] == self.loader:
            self.broken = error
        if error and not event.get("canceled") and not error.startswith(_INTENDED) and url:
            self._fail(error.removeprefix("net::"), url)

    def console(self, event: Mapping[str, Any]) -> None:
        """A script wrote to the console."""
        text = " ".join(str(part.get("value", part.get("description", ""))) for part in event["args"])
        self.noise += _PER_MESSAGE + len(text)
        if event["type"] in ("error", "assert"):
            _keep(self.console_errors, text)

    def logged(self, event: Mapping[str, Any]) -> None:
        """The browser itself complained; of failed requests we know already."""
        entry = event["entry"]
        if entry["level"] == "error" and entry["source"] != "network":
            _keep(self.console_errors, entry["text"])

    def thrown(self, event: Mapping[str, Any]) -> None:
        """A script threw what nobody caught."""
        details = event["exceptionDetails"]
        thrown = details.get("exception", {})
        text = str(thrown.get("description") or thrown.get("value") or details["text"])
        self.noise += _PER_MESSAGE + len(text)
        _keep(self.page_errors, text.partition("\n")[0])

    def _fail(self, what: str, url: str) -> None:
        if len(self.failed) < MAX_MESSAGES:
            self.failed.setdefault(f"{what} {url}"[:MAX_MESSAGE_LENGTH])


def _keep(texts: list[str], text: str) -> None:
    if len(texts) < MAX_MESSAGES:
        texts.append(text[:MAX_MESSAGE_LENGTH])
