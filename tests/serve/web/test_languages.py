"""The languages of pages: the calendar in three, management pages in two, and errors in the language of the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tadoru.i18n.translation import translator
from tests.support.serving import Desk

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
def desk(tmp_path: Path) -> Any:
    made = Desk(tmp_path / "events.db")
    yield made
    made.close()


def lang_of(text: str) -> str:
    found = re.search(r'<html lang="(\w+)">', text)
    assert found is not None
    return found[1]


def offered(text: str) -> list[str]:
    """The languages of the language switch, with the present one."""
    switch = re.search(r'<nav class="languages".*?</nav>', text, re.DOTALL)
    assert switch is not None
    return re.findall(r' lang="(\w+)"', switch[0])


@pytest.mark.parametrize("path", CALENDAR)
def test_the_calendar_is_there_in_german(desk: Desk, path: str) -> None:
    answer = desk.anybody.get(path, headers=HTML | {"accept-language": "de-AT,de;q=0.9,en;q=0.5"})
    assert answer.status_code == 200
    assert lang_of(answer.text) == "de"
    for word in ("Upcoming", "Filter events", "Subscribe", "Sign in", "Previous", "Licence"):
        assert word not in answer.text.replace("Subscribe from web", ""), word


def test_the_switch_offers_every_language_of_the_page(desk: Desk) -> None:
    text = desk.anybody.get("/month/2050-08?city=x&lang=ja", headers=HTML).text
    assert offered(text) == ["en", "ja", "de"]
    assert 'href="/month/2050-08?city=x&amp;lang=de" lang="de" hreflang="de">Deutsch</a>' in text
    assert '<span lang="ja" aria-current="true">日本語</span>' in text
    assert offered(desk.anybody.get("/api/docs", headers=HTML).text) == ["en", "ja"]


def test_a_page_that_is_not_there_in_the_chosen_language_is_english(desk: Desk) -> None:
    for asked in ({"cookie": "lang=de"}, {"accept-language": "de"}):
        assert lang_of(desk.anybody.get("/api/docs", headers=HTML | asked).text) == "en"
    assert lang_of(desk.anybody.get("/api/docs", headers=HTML | {"accept-language": "de, ja;q=0.5"}).text) == "ja"


@pytest.mark.parametrize("lang", ["en", "ja", "de"])
def test_an_error_is_shown_in_the_language_of_the_page(desk: Desk, lang: str) -> None:
    missing = desk.anybody.get(f"/nowhere?lang={lang}", headers=HTML)
    assert (missing.status_code, lang_of(missing.text)) == (404, lang)
    assert f"<h1>{translator(lang).gettext('Page not found')}</h1>" in missing.text
    wrong = desk.anybody.get(f"/?from=tomorrow&lang={lang}", headers=HTML)
    problem = translator(lang).gettext("“{given}” is not a date. Use the format 2026-08-01.", given="tomorrow")
    assert (wrong.status_code, problem in wrong.text) == (400, True)


def test_an_error_of_the_store_is_translated_with_its_values(desk: Desk) -> None:
    english = desk.anybody.get("/?cursor=nothing&lang=en", headers=HTML).text
    message = re.search(r'role="alert">([^<]+)', english)
    assert message is not None
    japanese = desk.anybody.get("/?cursor=nothing&lang=ja", headers=HTML).text
    assert message[1] not in japanese
    shown = re.search(r'role="alert">([^<]+)', japanese)
    assert shown is not None
    assert any("ぁ" <= sign <= "龥" for sign in shown[1])
