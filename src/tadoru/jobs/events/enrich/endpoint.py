"""Asks an endpoint that speaks OpenAI's language (`POST …/chat/completions`) about events, and remembers what it said.

One request each, never repeated, through the guarded fetcher. An answer is kept as a file under the digest of its question, so
that an event which does not change costs nothing; an answer of which nothing could be taken is kept as well, because the same
question would bring it again. What did not come (a timeout, an error of the server) is not kept. After a few of those in a row
the endpoint is left alone for a while. Nothing here raises for what an endpoint does, and the key is in no message.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tadoru.clock import Clock, to_datetime
from tadoru.fetch.base import Fetcher
from tadoru.jobs.events.enrich.prompt import Found, Question, checked, content_of, judge
from tadoru.jobs.report.words import counted
from tadoru.model.web import Failure, Headers, Request
from tadoru.rules.retry import parse_retry_after
from tadoru.store.files import Files

AT_ONCE = 4
"""Questions under way at a time."""
LARGEST_ANSWER = 1024 * 1024
FAILURES = 3
"""In a row, after which the endpoint is left alone."""
PAUSE = 600.0
"""Seconds for which it is."""
DAY = 24 * 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where the endpoint is, and how it may be used."""

    url: str
    """With `/chat/completions`."""
    model: str
    key: str = ""
    timeout: float = 60.0
    budget: int = 100
    """Questions in a run of the command; in one that runs for ever, in a day."""

    def __repr__(self) -> str:
        return f"Access({self.url}, {self.model})"


class Endpoint:
    """One endpoint, for as long as a command runs."""

    def __init__(self, access: Access, fetcher: Fetcher, files: Files, clock: Clock, say: Callable[..., None]) -> None:
        self.access = access
        self._fetcher = fetcher
        self._files = files
        self._clock = clock
        self._say = say
        self._places = asyncio.Semaphore(AT_ONCE)
        self._asked = 0
        self._is_over = False
        """It was said that the budget is used up."""
        self._since = clock.monotonic()
        self._failures = 0
        self._paused_until = 0.0

    async def close(self) -> None:
        await self._fetcher.close()

    async def ask(self, asked: Question) -> Found | None:
        """What is known about an event, or is found out now; None when it can not be asked at the moment."""
        key = f"var/enriched/{asked.digest}.json"
        known = await asyncio.to_thread(self._files.get, key)
        found = _recalled(known, asked) if known is not None else None
        if found is not None:
            return found
        async with self._places:
            if not self._may_ask():
                return None
            content = await self._content(asked)
        if content is None:
            return None
        found = judge(content, asked)
        if found.refused:
            self._say("answer", error=f"An answer of the endpoint was not taken: {' '.join(found.refused)}")
        record = {
            "model": asked.model,
            "category": found.category,
            "summary": found.summary,
            "refused": list(found.refused),
            "at": to_datetime(self._clock.now()).isoformat(timespec="seconds"),
        }
        await asyncio.to_thread(self._files.put, key, json.dumps(record, ensure_ascii=False).encode() + b"\n")
        return found

    def _may_ask(self) -> bool:
        """Count one more question, when there is still one to be asked."""
        now = self._clock.monotonic()
        if now < self._paused_until:
            return False
        if now - self._since >= DAY:
            self._asked, self._since, self._is_over = 0, now, False
        if self._asked >= self.access.budget:
            if not self._is_over:
                self._is_over = True
                self._say("enrich", error=f"The budget of {counted(self.access.budget, 'question')} is used up; the rest waits.")
            return False
        self._asked += 1
        return True

    async def _content(self, asked: Question) -> str | None:
        """The words of the answer; None when none came."""
        access = self.access
        headers: Headers = (("Content-Type", "application/json"), ("Accept", "application/json"))
        if access.key:
            headers = (*headers, ("Authorization", f"Bearer {access.key}"))
        answer = await self._fetcher.fetch(
            Request(
                url=access.url, method="POST", headers=headers, body=asked.payload(), timeout=access.timeout,
                max_bytes=LARGEST_ANSWER,
            )
        )  # fmt: skip
        if isinstance(answer, Failure):
            self._failed(answer.message)
            return None
        if answer.status != 200:
            wait = parse_retry_after(answer.header("retry-after"), self._clock.now())
            self._failed(f"The endpoint answered {answer.status}.", wait)
            return None
        content = content_of(answer.body)
        if content is None:
            self._failed("What the endpoint sent is not a chat completion: check --llm-url.")
            return None
        self._failures = 0
        return content

    def _failed(self, why: str, wait: float | None = None) -> None:
        if self.access.key:
            why = why.replace(self.access.key, "***")
        self._failures += 1
        is_enough = self._failures >= FAILURES
        if is_enough or wait is not None:
            self._failures = 0
            pause = max(PAUSE if is_enough else 0.0, min(wait or 0.0, DAY))
            self._paused_until = self._clock.monotonic() + pause
            why += f" It is left alone for {pause:.0f} seconds."
        self._say("enrich", error=why)


def _recalled(data: bytes, asked: Question) -> Found | None:
    """What is in a file, judged as if it had come now: files can be changed."""
    try:
        record: Any = json.loads(data)
        return checked(record["category"], record["summary"], asked)
    except (ValueError, KeyError, TypeError):
        return None
