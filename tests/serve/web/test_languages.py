"""The languages of pages: the calendar in three, management pages in two, and errors in the language of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tadoru.errors import Message
from tadoru.i18n.translation import translator
from tadoru.model.event import RunStatus
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.crawl.workers import current
from tadoru.store.served_crawls.register import CRASHED
from tadoru.store.served_crawls.schema import CrawlState
from tests.support.serving import ServiceHarness

HTML = {"accept": "text/html"}
CALENDAR = (
    "/",
    "/search?q=x",
    "/month/2050-08",
    "/day/2050-08-01",
    "/subscribe",
    "/about",
    "/embed",
    "/embed?view=month",
    "/sign-in",
)


@pytest.fixture
def harness(tmp_path: Path) -> Any:
    made = ServiceHarness(tmp_path / "events.db")
    yield made
    made.close()


def page(harness: ServiceHarness, path: str, lang: str) -> str:
    """A management page as a user sees it."""
    user = harness.store.users.get("anna") or harness.store.users.add("anna", "viewer", Actor(who="test"))
    session = f"tadoru={harness.store.sessions.start(user, Actor(who='test'))}"
    answer = harness.anybody.get(path, headers=HTML | {"accept-language": lang, "cookie": session})
    assert answer.status_code == 200, answer.text
    return answer.text


def lang_of(text: str) -> str:
    found = re.search(r'<html lang="(\w+)">', text)
    assert found is not None
    return found[1]


def offered(text: str) -> list[str]:
    """The languages of the language switch, with the present one."""
    switch = re.search(r'<form class="languages.*?</form>', text, re.DOTALL)
    assert switch is not None
    return re.findall(r'(?:button|span)[^>]* lang="(\w+)"', switch[0])


@pytest.mark.parametrize("path", CALENDAR)
def test_the_calendar_is_there_in_german(harness: ServiceHarness, path: str) -> None:
    answer = harness.anybody.get(path, headers=HTML | {"accept-language": "de-AT,de;q=0.9,en;q=0.5"})
    assert answer.status_code == 200
    assert lang_of(answer.text) == "de"
    for word in ("Upcoming", "Filter events", "Subscribe", "Sign in", "Previous", "Licence"):
        assert word not in answer.text.replace("Subscribe from web", ""), word


def test_the_switch_offers_every_language_of_the_page(harness: ServiceHarness) -> None:
    text = harness.anybody.get("/month/2050-08?city=x&lang=ja", headers=HTML).text
    assert offered(text) == ["en", "ja", "de"]
    assert '<form class="languages wide-only" method="get" action="/month/2050-08"' in text
    assert '<input type="hidden" name="city" value="x">' in text
    assert '<button class="plain" name="lang" value="de" lang="de">Deutsch</button>' in text
    assert '<span lang="ja" aria-current="true">日本語</span>' in text
    assert offered(harness.anybody.get("/api/docs", headers=HTML).text) == ["en", "ja"]


def test_a_page_that_is_not_there_in_the_chosen_language_is_english(harness: ServiceHarness) -> None:
    for asked in ({"cookie": "lang=de"}, {"accept-language": "de"}):
        assert lang_of(harness.anybody.get("/api/docs", headers=HTML | asked).text) == "en"
    assert lang_of(harness.anybody.get("/api/docs", headers=HTML | {"accept-language": "de, ja;q=0.5"}).text) == "ja"


@pytest.mark.parametrize("lang, manage", [("en", "en"), ("ja", "ja"), ("de", "en")])
def test_the_configured_language_is_the_one_of_the_calendar_and_english_replaces_german_elsewhere(
    tmp_path: Path, lang: str, manage: str
) -> None:
    harness = ServiceHarness(tmp_path / "other.db", lang=lang)
    try:
        assert lang_of(harness.anybody.get("/", headers=HTML).text) == lang
        assert lang_of(harness.anybody.get("/api/docs", headers=HTML).text) == manage
        assert f"<language>{manage}" in harness.anybody.get("/events.rss").text
    finally:
        harness.close()


@pytest.mark.parametrize("lang", ["en", "ja", "de"])
def test_an_error_is_shown_in_the_language_of_the_page(harness: ServiceHarness, lang: str) -> None:
    missing = harness.anybody.get(f"/nowhere?lang={lang}", headers=HTML)
    assert (missing.status_code, lang_of(missing.text)) == (404, lang)
    assert f"<h1>{translator(lang).gettext('Page not found')}</h1>" in missing.text
    wrong = harness.anybody.get(f"/?from=tomorrow&lang={lang}", headers=HTML)
    problem = translator(lang).gettext("“{given}” is not a date. Use the format 2026-08-01.", given="tomorrow")
    assert (wrong.status_code, problem in wrong.text) == (400, True)


@pytest.mark.parametrize("asked", [{"accept-language": "ja"}, {"cookie": "lang=ja", "accept-language": "en"}])
def test_an_error_of_the_api_is_in_the_language_of_the_request_with_its_code_and_values(
    harness: ServiceHarness, asked: dict[str, str]
) -> None:
    english = harness.anybody.get("/api/v1/events/99")
    japanese = harness.anybody.get("/api/v1/events/99", headers=asked)
    message = {"detail": translator("ja").gettext("Event {id} not found.", id=99)}
    assert japanese.json() == english.json() | message
    assert (english.json()["code"], english.json()["params"]) == ("not_found", {"id": "99"})
    assert "Accept-Language" in japanese.headers["vary"]
    assert harness.anybody.get("/api/v1/events/99", headers={"accept-language": "de"}).json() == english.json()


def test_an_error_of_graphql_is_in_the_language_of_the_request(harness: ServiceHarness) -> None:
    def ask(query: str, lang: str) -> Any:
        answer = harness.anybody.post("/graphql", json={"query": query}, headers={"accept-language": lang})
        return answer.json()["errors"][0]

    english, japanese = ask("{ event(id: 99) { id } }", "en"), ask("{ event(id: 99) { id } }", "ja")
    assert japanese == english | {"message": translator("ja").gettext("Event {id} not found.", id=99)}
    assert english["extensions"] == {"code": "NOT_FOUND", "status": 404, "problem": "not_found", "params": {"id": "99"}}
    assert ask("mutation { x }", "ja")["message"].startswith("GraphQL は読み取り専用です")
    assert ask("{ " + "id " * 3000 + "}", "ja")["extensions"]["params"] == {"limit": "2,000"}


def test_the_error_of_a_run_is_shown_in_the_language_of_the_page(harness: ServiceHarness) -> None:
    source = harness.store.sources.add({"name": "Town", "type": "ics", "url": "https://town.example/"}, "test")
    inner = Message("{host} refused the connection.", host="town.example")
    error = Message("{problem} (and {count} more)", problem=inner, count=2)
    run = harness.store.runs.finish(harness.store.runs.start(source.id), RunStatus.FAIL, counts={"fetched": 1}, error=error)
    assert (run.error_summary, run.counts) == ("town.example refused the connection. (and 2 more)", {"fetched": 1})
    api = harness.viewer.get(f"/api/v1/admin/runs/{run.id}").json()
    assert (api["error_summary"], api["counts"]) == (str(error), {"fetched": 1})
    pages = (f"/manage/runs/{run.id}", "/manage/runs", f"/manage/sources/{source.id}", "/manage")
    for path in pages:
        assert str(error) in page(harness, path, "en"), path
        assert "town.example が接続を拒否しました。 (ほか 2 件)" in page(harness, path, "ja"), path


def test_the_error_and_the_notices_of_a_crawl_are_shown_in_the_language_of_the_page(harness: ServiceHarness) -> None:
    me = current()
    crawl = harness.store.crawls.add("Site", "links", ["https://site.example/"], {}, Actor(who="test"))
    assert harness.store.claims.claim(me, at_once=1) is not None
    harness.store.messages.publish(
        "crawl.notice", f"crawl/{crawl.id}", {"crawl_id": crawl.id, "text": Message("Slowing down for {host}.", host="x.example")}
    )
    harness.store.claims.pause_all(CRASHED)
    harness.store.claims.beat(crawl.id, me, {"pages": 3})
    assert harness.store.crawls.get(crawl.id).progress == {"pages": 3}
    ended = harness.store.claims.end(crawl.id, me, CrawlState.PAUSED)
    assert (ended.error, ended.progress) == (CRASHED, {"pages": 3})
    for lang in ("en", "ja"):
        text = page(harness, f"/manage/crawls/{crawl.id}", lang)
        assert translator(lang).text(CRASHED) in text
        assert translator(lang).gettext("Slowing down for {host}.", host="x.example") in text
    harness.store.crawls.run(crawl.id, Actor(who="test"))
    assert (harness.store.crawls.get(crawl.id).error, harness.store.crawls.get(crawl.id).progress) == ("", {"pages": 3})


def test_an_error_of_the_store_is_translated_with_its_values(harness: ServiceHarness) -> None:
    english = harness.anybody.get("/?cursor=nothing&lang=en", headers=HTML).text
    message = re.search(r'role="alert">([^<]+)', english)
    assert message is not None
    japanese = harness.anybody.get("/?cursor=nothing&lang=ja", headers=HTML).text
    assert message[1] not in japanese
    shown = re.search(r'role="alert">([^<]+)', japanese)
    assert shown is not None
    assert any("ぁ" <= sign <= "龥" for sign in shown[1])
