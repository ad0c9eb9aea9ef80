"""The endpoint on a real server: one question each, nothing twice, and none of its faults gets any further."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tadoru.fetch import http
from tadoru.jobs.events.enrich.llm import (
    LARGEST_ANSWER,
    MAX_FAILURES,
    PAUSE,
    LlmAccess,
    LlmAnswer,
    LlmEndpoint,
    LlmQuestion,
    build_question,
)
from tadoru.rules.address import Exemptions
from tadoru.store.files import FolderFiles
from tests.jobs.events.enrich.drafts import LONG, draft
from tests.support.clock import FakeClock
from tests.support.language_model import SILENCE, LanguageModel, RawResponse, says

KEY = "sk-very-secret"
SOON = 0.2
"""A timeout short enough to wait for."""


@pytest.fixture
def llm() -> Iterator[LanguageModel]:
    with LanguageModel() as serving:
        yield serving


def about(title: str, **fields: Any) -> LlmQuestion:
    return build_question(draft(title=title, description=LONG, **fields), "small", ("Music", "Sports"), wants_summary=True)


class EndpointHarness:
    """An endpoint, and what it said."""

    def __init__(self, llm: LanguageModel, folder: Path, *, url: str = "", exempt: bool = True, **access: Any) -> None:
        self.said: list[tuple[str, str]] = []
        self.clock = FakeClock()
        self.folder = folder
        self._exemptions = Exemptions.for_urls([llm.url]) if exempt else Exemptions()
        values = {"url": url or f"{llm.url}/chat/completions", "model": "small", "key": KEY, "timeout": 10.0} | access
        self._access = LlmAccess(**values)

    async def __aenter__(self) -> LlmEndpoint:
        fetcher = http.build_http_fetcher(user_agent="Tadoru/1", exemptions=self._exemptions)
        self.endpoint = LlmEndpoint(self._access, fetcher, FolderFiles(self.folder), self.clock, self._say)
        return self.endpoint

    async def __aexit__(self, *_: object) -> None:
        await self.endpoint.close()

    def _say(self, stage: str, *, error: str) -> None:
        self.said.append((stage, error))

    @property
    def kept(self) -> list[Path]:
        return sorted(self.folder.rglob("*.json"))


async def test_a_question_is_one_post_with_the_key_and_the_event(llm: LanguageModel, tmp_path: Path) -> None:
    llm.answer = lambda event: says("Music", "Songs for all.")
    harness = EndpointHarness(llm, tmp_path)
    async with harness as endpoint:
        assert await endpoint.ask(about("Choir")) == LlmAnswer("Music", "Songs for all.")
    [asked] = llm.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["content-type"] == "application/json"
    assert asked.body["model"] == "small"
    assert asked.event["title"] == "Choir"
    assert harness.said == []
    assert KEY not in repr(endpoint.access)


async def test_the_same_question_is_asked_once_ever(llm: LanguageModel, tmp_path: Path) -> None:
    llm.answer = lambda event: says("Music", "Songs.")
    for _ in range(2):
        async with (harness := EndpointHarness(llm, tmp_path)) as endpoint:
            assert await endpoint.ask(about("Choir")) == LlmAnswer("Music", "Songs.")
    assert len(llm.asked) == 1
    [file] = harness.kept
    assert file.relative_to(tmp_path).as_posix() == f"var/enriched/{about('Choir').digest}.json"
    assert KEY not in file.read_text()
    async with EndpointHarness(llm, tmp_path) as endpoint:
        await endpoint.ask(about("Quire"))
    assert len(llm.asked) == 2


async def test_an_answer_of_which_nothing_is_taken_is_not_asked_for_again(llm: LanguageModel, tmp_path: Path) -> None:
    for words in ("no idea", says("Politics", "x" * 500)):
        llm.asked.clear()
        llm.answer = lambda event, words=words: words  # type: ignore[misc]
        harness = EndpointHarness(llm, tmp_path)
        async with harness as endpoint:
            for _ in range(2):
                found = await endpoint.ask(about(f"Choir {words[:4]}"))
                assert found is not None
                assert (found.category, found.summary) == ("", "")
        assert len(llm.asked) == 1
        assert [stage for stage, _ in harness.said] == ["answer"]


@pytest.mark.parametrize(
    "answer, why",
    [
        (RawResponse(b"oops", 500), "answered 500"),
        (RawResponse(b"", 302, (("Location", "/elsewhere"),)), "answered 302"),
        (RawResponse(b"<html>Welcome</html>"), "not a chat completion"),
        (RawResponse(b'{"choices": "x"}'), "not a chat completion"),
        (RawResponse(b" " * (LARGEST_ANSWER + 1)), ""),
        (SILENCE, ""),
    ],
)
async def test_what_does_not_come_is_said_and_asked_again_next_time(
    llm: LanguageModel, tmp_path: Path, answer: RawResponse, why: str
) -> None:
    llm.answer = lambda event: answer
    harness = EndpointHarness(llm, tmp_path, timeout=SOON if answer is SILENCE else 10.0)
    async with harness as endpoint:
        assert await endpoint.ask(about("Choir")) is None
        assert len(llm.asked) == 1
        [(stage, error)] = harness.said
        assert stage == "enrich"
        assert why in error
        assert KEY not in error
        assert harness.kept == []
        llm.answer = lambda event: says("Music")
        assert await endpoint.ask(about("Choir")) == LlmAnswer("Music")


async def test_an_endpoint_that_is_not_there_is_left_alone_after_a_few_tries(llm: LanguageModel, tmp_path: Path) -> None:
    llm.answer = lambda event: RawResponse(status=500)
    harness = EndpointHarness(llm, tmp_path)
    async with harness as endpoint:
        for number in range(10):
            assert await endpoint.ask(about(f"Choir {number}")) is None
        assert len(llm.asked) == MAX_FAILURES
        harness.clock.advance(PAUSE + 1)
        llm.answer = lambda event: says("Music")
        assert await endpoint.ask(about("Choir 1")) == LlmAnswer("Music")
        assert await endpoint.ask(about("Choir 2")) == LlmAnswer("Music")


async def test_an_endpoint_that_asks_for_a_wait_gets_it(llm: LanguageModel, tmp_path: Path) -> None:
    llm.answer = lambda event: RawResponse(status=429, headers=(("Retry-After", "30"),))
    harness = EndpointHarness(llm, tmp_path)
    async with harness as endpoint:
        await endpoint.ask(about("Choir 1"))
        await endpoint.ask(about("Choir 2"))
        assert len(llm.asked) == 1
        harness.clock.advance(31)
        await endpoint.ask(about("Choir 2"))
        assert len(llm.asked) == 2


async def test_the_budget_holds_and_starts_anew_the_next_day(llm: LanguageModel, tmp_path: Path) -> None:
    llm.answer = lambda event: says("Music")
    harness = EndpointHarness(llm, tmp_path, budget=3)
    async with harness as endpoint:
        found = await asyncio.gather(*(endpoint.ask(about(f"Choir {number}")) for number in range(9)))
        assert sum(one is not None for one in found) == 3
        assert len(llm.asked) == 3
        assert harness.said == [("enrich", "The budget of 3 questions is used up; the rest is enriched later.")]
        known, unknown = found.index(LlmAnswer("Music")), found.index(None)
        # What is known costs nothing.
        assert await endpoint.ask(about(f"Choir {known}")) == LlmAnswer("Music")
        harness.clock.advance(24 * 3600)
        assert await endpoint.ask(about(f"Choir {unknown}")) == LlmAnswer("Music")


async def test_a_private_address_that_nobody_typed_is_refused(llm: LanguageModel, tmp_path: Path) -> None:
    harness = EndpointHarness(llm, tmp_path, exempt=False)
    async with harness as endpoint:
        assert await endpoint.ask(about("Choir")) is None
    assert llm.asked == []
    assert "loopback" in harness.said[0][1]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"category": 1}', b"\xff"])
async def test_a_damaged_file_is_asked_for_again(llm: LanguageModel, tmp_path: Path, content: bytes) -> None:
    llm.answer = lambda event: says("Music")
    harness = EndpointHarness(llm, tmp_path)
    FolderFiles(tmp_path).put(f"var/enriched/{about('Choir').digest}.json", content)
    async with harness as endpoint:
        assert await endpoint.ask(about("Choir")) == LlmAnswer("Music")
    assert len(llm.asked) == 1
    assert json.loads(harness.kept[0].read_text())["category"] == "Music"


async def test_a_file_that_was_changed_says_nothing_that_an_answer_could_not(llm: LanguageModel, tmp_path: Path) -> None:
    changed = json.dumps({"category": "Politics", "summary": "<script>"}).encode()
    FolderFiles(tmp_path).put(f"var/enriched/{about('Choir').digest}.json", changed)
    async with EndpointHarness(llm, tmp_path) as endpoint:
        found = await endpoint.ask(about("Choir"))
    assert found is not None
    assert (found.category, found.summary) == ("", "")
