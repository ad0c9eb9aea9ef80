"""Notices about an event, as items of a feed: attached to the event when it is certain which one is meant, asked otherwise."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tadoru.clock import SystemClock, to_datetime
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
