"""An endpoint on loopback that speaks OpenAI's language, and answers as a test tells it to: well, badly, late or never."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class RawResponse:
    """An answer that is not a chat completion."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


SILENCE = RawResponse(status=0)
"""No answer at all."""
Answer = Callable[[dict[str, Any]], str | RawResponse]
"""From the event in a question to the words of the answer."""


@dataclass(slots=True)
class ChatRequest:
    """A request as the endpoint saw it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def event(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.body["messages"][1]["content"])
        return said


@dataclass
class LanguageModel:
    """Serves until it is closed."""

    answer: Answer = lambda event: "{}"
    asked: list[ChatRequest] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._over = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer._reply(self)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def _reply(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        asked = ChatRequest(handler.path, {name.lower(): value for name, value in handler.headers.items()}, json.loads(body))
        self.asked.append(asked)
        said = self.answer(asked.event)
        if said is SILENCE:
            self._over.wait()
            handler.close_connection = True
            return
        if isinstance(said, str):
            said = RawResponse(
                json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": said}}]}).encode()
            )
        handler.send_response(said.status)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(said.body))), *said.headers):
            handler.send_header(name, value)
        with contextlib.suppress(OSError):  # Whoever asked may have gone.
            handler.end_headers()
            handler.wfile.write(said.body)


def says(category: str = "", summary: str = "") -> str:
    """A good answer."""
    return json.dumps({"category": category, "summary": summary}, ensure_ascii=False)
