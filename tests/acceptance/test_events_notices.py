"""Notices about an event, as items of a feed: attached to the event when it is certain which one is meant, asked otherwise."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tadoru.clock import SystemClock, to_datetime
from tadoru.store.calendar.records import CalendarEvent
from tests.acceptance.calendar import Calendar
from tests.support.site import Site

DAY = to_datetime(SystemClock().now()).date() + timedelta(days=30)
CONCERT = f"北浜ジャズナイト|日時：{DAY.year}年{DAY.month}月{DAY.day}日 18時～20時　会場：北浜文化会館"


def feed(*items: str) -> str:
    entries = "".join(
        f"<item><title>{title}</title><link>https://town.example/{len(title) * 1_000 + ord(title[1])}</link>"
        f"<description>{text}</description></item>"
        for title, _, text in (item.partition("|") for item in items)
    )
    return f"<rss version='2.0'><channel><title>Town</title>{entries}</channel></rss>"


def collect(calendar: Calendar, site: Site, *items: str) -> None:
    site.reply("/feed.xml", body=feed(*items), content_type="application/rss+xml")
    done = calendar.run()
    assert done.code == 0, done.err


@pytest.fixture
def town(calendar: Calendar, site: Site) -> Calendar:
    calendar.add(site.url("/feed.xml"), "rss", name="Town", city="北浜市")
    collect(calendar, site, CONCERT)
    return calendar


def test_a_cancellation_without_a_date_is_attached_to_the_only_event_of_that_title(town: Calendar, site: Site) -> None:
    collect(town, site, "「北浜ジャズナイト」中止のお知らせ|諸般の事情により中止します。", CONCERT)
    [event] = town.events()
    assert event.title == "北浜ジャズナイト"
    assert event.cancelled_at is not None
    assert event.venue == "北浜文化会館"
    assert town.reviews() == []


def test_another_venue_replaces_that_of_the_event(town: Calendar, site: Site) -> None:
    collect(town, site, "北浜ジャズナイトの会場変更について|会場：北浜アリーナ", CONCERT)
    [event] = town.events()
    assert (event.title, event.venue, event.cancelled_at) == ("北浜ジャズナイト", "北浜アリーナ", None)


def test_sold_out_is_no_cancellation(town: Calendar, site: Site) -> None:
    collect(town, site, "北浜ジャズナイト 満席となりました|ありがとうございました。", CONCERT)
    [event] = town.events()
    assert event.cancelled_at is None
    assert event.extra["sold_out"] == "yes"


@pytest.mark.parametrize(
    "title", ["「北浜音楽祭」中止のお知らせ", "北浜ジャズナイト雨天の場合の中止について", "夏まつり パレードの中止について"]
)
def test_a_notice_about_something_else_cancels_nothing(town: Calendar, site: Site, title: str) -> None:
    collect(town, site, f"{title}|詳しくは市役所まで。", CONCERT)
    [event] = town.events()
    assert event.cancelled_at is None


def test_a_notice_that_may_mean_two_events_is_asked_about(town: Calendar, site: Site) -> None:
    later = DAY + timedelta(days=7)
    second = f"北浜ジャズナイト|日時：{later.year}年{later.month}月{later.day}日 18時～20時　会場：北浜文化会館"
    collect(town, site, CONCERT, second)
    collect(town, site, CONCERT, second, "「北浜ジャズナイト」中止のお知らせ|中止します。")
    assert [event.cancelled_at for event in town.events()] == [None, None]
    with town.store() as store:
        [review] = store.reviews.list()
    assert review.detail["values"]["count"] == "2"


def two_sources(calendar: Calendar, site: Site, events: dict[str, str], *notices: str) -> dict[str, CalendarEvent]:
    """The events after a second source of the same city gave these notices without dates; by title and venue."""
    rows = [
        f"{title},{DAY},{DAY},10:00,{venue}" for title, venue in ((key.split("@")[0], venue) for key, venue in events.items())
    ]
    site.reply("/a.csv", body="\r\n".join(["イベント名,開始日,終了日,開始時間,場所名称", *rows, ""]), content_type="text/csv")
    site.reply("/feed.xml", body=feed(*notices), content_type="application/rss+xml")
    calendar.add(site.url("/a.csv"), "csv", name="Table", city="北浜市", priority=1)
    calendar.add(site.url("/feed.xml"), "rss", name="Notices", city="北浜市")
    assert calendar.run("--concurrency", "1").code == 0
    assert calendar.run("--concurrency", "1").code == 0
    return {f"{event.title}@{event.venue}": event for event in calendar.events() if event.starts_at is not None}


def test_notices_of_another_source_are_attached_to_the_only_event_of_their_title(calendar: Calendar, site: Site) -> None:
    halls = {"ジャズの夕べ": "文化会館", "春のさくらまつり": "城址公園", "さくらまつり写真展": "城址公園", "天体観測会": "天文台"}
    halls |= {"Spring Concert": "City Hall", "Spring Choir Concert": "Opera", "Open Mic Night": "Cafe Rio"}
    notices = (
        "「ジャズの夕べ」中止のお知らせ",
        "【延期】春のさくらまつり",
        "【満員御礼】天体観測会",
        "CANCELLED: Spring Concert",
    )
    found = two_sources(calendar, site, halls, *notices, "SOLD OUT - Open Mic Night")
    assert len(found) == len(halls)
    cancelled = {event.title for event in found.values() if event.cancelled_at is not None}
    assert cancelled == {"ジャズの夕べ", "春のさくらまつり", "Spring Concert"}
    assert {event.title for event in found.values() if event.extra.get("sold_out")} == {"天体観測会", "Open Mic Night"}
    lines = {line.split()[4]: line for line in calendar("list").out.splitlines()[1:]}
    assert lines["春のさくらまつり"].endswith("postponed"), "which is no cancellation"
    assert lines["天体観測会"].endswith("sold out")
    assert lines["ジャズの夕べ"].endswith("cancelled")
    assert calendar.reviews() == []


def test_a_notice_of_a_day_is_attached_to_the_event_of_that_day(calendar: Calendar, site: Site) -> None:
    found = two_sources(calendar, site, {"親子料理教室": "公民館"}, f"{DAY.month}月{DAY.day}日の親子料理教室は中止します")
    assert [event.cancelled_at is not None for event in found.values()] == [True]


@pytest.mark.parametrize(
    "notice",
    [
        pytest.param("おはなし会中止のお知らせ", id="two halls on one day"),
        pytest.param("落語名人会の会場が変更になりました", id="a venue that is not named"),
        pytest.param("大雪の場合、落語名人会は中止します", id="a condition"),
        pytest.param("落語名人会の参加者募集は中止しました", id="a part"),
    ],
)
def test_a_notice_that_is_not_certain_is_asked_about_and_makes_no_event(notice: str, calendar: Calendar, site: Site) -> None:
    halls = {"おはなし会@北": "北図書館", "おはなし会@南": "南図書館", "落語名人会": "文化会館"}
    found = two_sources(calendar, site, halls, notice)
    assert sorted(found) == ["おはなし会@北図書館", "おはなし会@南図書館", "落語名人会@文化会館"]
    assert [event.cancelled_at for event in found.values()] == [None, None, None]
    assert calendar.reviews() == ["missing_required"]
