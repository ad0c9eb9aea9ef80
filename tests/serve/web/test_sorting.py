"""The order of a list is chosen by its form, and what was searched for is marked; all of it without a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tadoru.store.accounts.audit_log import Actor
from tests.serve.api.conftest import fill
from tests.support.calendar import row
from tests.support.serving import ServiceHarness

HTML = {"accept": "text/html", "accept-language": "en"}
BY = Actor(who="test")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceHarness]:
    harness = ServiceHarness(Path(tmp_path_factory.mktemp("sorting")) / "events.db")
    fill(harness)
    yield harness
    harness.close()


def page(harness: ServiceHarness, path: str) -> str:
    answer = harness.anybody.get(path, headers=HTML)
    assert answer.status_code == 200
    return answer.text


def titles(text: str) -> list[str]:
    return re.findall(r'<h3><a href="/events/\d+">([^<]+)', text)


def test_the_form_offers_the_orders_and_keeps_what_was_chosen(shown: ServiceHarness) -> None:
    first = page(shown, "/?city=盛岡市")
    assert re.findall(r'<option value="(|-starts|relevance)"( selected)?>', first) == [("", " selected"), ("-starts", "")]
    assert titles(first) == ["星まつり", "写真展", "朝市"]
    turned = page(shown, "/?city=盛岡市&sort=-starts")
    assert '<option value="-starts" selected>' in turned
    assert titles(turned) == ["朝市", "写真展", "星まつり"]
    assert "sort=" not in re.findall(r'href="(/subscribe[^"]*)"', turned)[0]


def test_relevance_is_for_searches(shown: ServiceHarness) -> None:
    found = page(shown, "/search?q=音楽会&sort=relevance")
    assert titles(found) == ["音楽会", "夜の音楽会"]
    assert '<option value="relevance" selected>' in found
    assert titles(page(shown, "/?sort=relevance")) == titles(page(shown, "/?sort=nothing")) == titles(page(shown, "/"))


def test_pages_of_a_list_that_is_turned_around_follow_each_other(tmp_path: Path) -> None:
    harness = ServiceHarness(tmp_path / "events.db")
    source = harness.calendar.source("町")
    rows = [row(f"催し {n:02}", f"2050-08-{n % 20 + 1:02} 10:00", uid=str(n), venue=f"会館 {n}") for n in range(64)]
    harness.calendar.say(source, *rows)
    for sort, words in (("", "Later events"), ("-starts", "Earlier events"), ("relevance", "More results")):
        url, seen = f"/search?q=催し&sort={sort}", []
        while url:
            text = page(harness, url)
            seen += titles(text)
            found = re.search(r'<a class="button" href="([^"]+)" rel="next">([^<]+)', text)
            assert found is None or found[2] == words
            url = unescape(found[1]) if found else ""
        days = [int(one[-2:]) % 20 for one in seen]
        assert len(seen) == len(set(seen)) == 64
        assert days == sorted(days, reverse=sort == "-starts")
    harness.close()


def test_what_was_searched_for_is_marked_and_markup_of_a_source_stays_text(tmp_path: Path) -> None:
    harness = ServiceHarness(tmp_path / "events.db")
    source = harness.calendar.source("町")
    evil = "1 &lt;mark&gt; &lt;script&gt;alert(1)&lt;/script&gt; 魚の店 &lt;/mark&gt;"
    harness.calendar.say(source, row("朝市", "2050-08-02 06:00", uid="a", venue='<img src="x"> 魚市場', description=evil))
    for sort in ("", "relevance"):
        text = page(harness, f"/search?q=魚&sort={sort}")
        (excerpt,) = re.findall(r'<p class="excerpt">(.*?)</p>', text)
        assert excerpt.count("<mark>魚</mark>") == 1
        assert "<" not in excerpt.replace("<mark>魚</mark>", "")
    harness.close()


def test_what_is_under_way_stands_at_the_end_of_a_list_that_is_turned_around(shown: ServiceHarness) -> None:
    text = page(shown, "/?from=2050-08-04&to=2050-08-31&sort=-starts")
    assert titles(text) == ["音楽会", "写真展"]
    assert text.index("10 Aug 2050") < text.index("Ongoing")


def test_those_who_look_after_events_see_the_latest_change_first(shown: ServiceHarness) -> None:
    token = shown.store.sessions.start(shown.store.users.add("mia", "viewer", BY), BY)

    def listed(sort: str) -> list[str]:
        text = shown.anybody.get(f"/manage/events?sort={sort}", headers=HTML | {"cookie": f"tadoru={token}"}).text
        return re.findall(r'<a href="/manage/events/(\d+)">', text)

    assert listed("") == listed("-updated") == listed("updated")[::-1]
    assert len(listed("")) == 7
