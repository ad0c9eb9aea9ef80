"""Lists: which events, in which order, in pages that neither repeat nor leave out."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text

from tadoru.errors import UsageError
from tadoru.model.event import EventDraft, EventStatus, Occurrence
from tadoru.store.calendar.listing import EventFilter
from tadoru.store.calendar.search_conditions import GeoBox, GeoCircle
from tadoru.store.calendar.store import CalendarStore, open_calendar
from tests.contract.events.conftest import Collector
from tests.contract.events.matching import FIRST, PlainMatcher, bad, draft, many, series, utc, whole_days
from tests.support.clock import FakeClock
from tests.support.postgres import PostgresServer


def titles(store: CalendarStore, **asked: object) -> list[str]:
    return [one.event.title for one in store.events.list(EventFilter(**asked), limit=100).items]  # type: ignore[arg-type]


def day(number: int) -> date:
    return (FIRST + timedelta(days=number)).date()


def test_pages_follow_each_other_without_gap_or_repetition(store: CalendarStore, collect: Collector) -> None:
    at_once = [draft(f"同時 {n}", FIRST + timedelta(days=3), uid=f"s{n}") for n in range(7)]
    collect.run(collect.source(), [*many(10), *at_once])
    seen, cursor, pages = [], None, 0
    while pages == 0 or cursor:
        page = store.events.list(limit=4, cursor=cursor)
        seen += [(one.event.starts_at, one.event.id) for one in page.items]
        cursor, pages = page.next_cursor, pages + 1
    assert pages == 5
    assert len(seen) == 17 == store.events.count()
    assert seen == sorted(set(seen), key=lambda one: (one[0], one[1]))


def test_a_cursor_of_somebody_else_is_refused(store: CalendarStore) -> None:
    for cursor in ("x", "bnVsbA", "WyIyMDIzIiwgMV0"):
        with pytest.raises(UsageError, match="Start again without `cursor`"):
            store.events.list(cursor=cursor)


def test_days_are_those_of_the_place(store: CalendarStore, collect: Collector) -> None:
    """Half past midnight in Tokyo is the day before in UTC, and ten in the evening in Honolulu the day after."""
    early = draft("夜明け前", FIRST.replace(hour=0, minute=30))
    late = draft("Luau", datetime(2023, 12, 1, 22, 0, tzinfo=ZoneInfo("Pacific/Honolulu")), timezone="Pacific/Honolulu")
    collect.run(collect.source(), [early, late])
    assert titles(store, since=day(0), until=day(0)) == ["夜明け前", "Luau"]
    assert titles(store, until=day(-1)) == titles(store, since=day(1)) == []
    first, second = store.events.list().items
    assert first.event.starts_at == utc(2023, 11, 30, 15, 30)
    assert second.event.starts_at == utc(2023, 12, 2, 8, 0)
    assert (first.event.local_date, second.event.local_date) == (day(0), day(0))


def test_what_is_under_way_is_listed_until_its_last_day(store: CalendarStore, collect: Collector) -> None:
    collect.run(collect.source(), [draft("展示", occurrence=whole_days(FIRST, 5)), draft("朝市", FIRST + timedelta(days=2))])
    assert titles(store, since=day(2)) == ["展示", "朝市"]
    assert titles(store, since=day(4)) == ["展示"]
    assert titles(store, since=day(5)) == []
    assert titles(store, until=day(0)) == ["展示"]


def test_an_end_at_midnight_is_the_end_of_the_day_before(store: CalendarStore, collect: Collector) -> None:
    night = Occurrence(starts_at=FIRST.replace(hour=20), ends_at=FIRST.replace(hour=0) + timedelta(days=1))
    collect.run(collect.source(), [draft("夜市", occurrence=night)])
    assert titles(store, since=day(1)) == []


def test_a_series_is_listed_once_at_its_first_time_that_fits(store: CalendarStore, collect: Collector) -> None:
    collect.run(collect.source(), [series(weeks=4), draft("朝市", FIRST + timedelta(days=8))])
    found = store.events.list(EventFilter(since=day(1))).items
    assert [(one.event.title, one.time.local_date if one.time else None) for one in found] == [
        ("体操教室", day(7)),
        ("朝市", day(8)),
    ]
    assert store.events.count(EventFilter(since=day(1))) == 2
    assert titles(store, since=day(8), until=day(13)) == ["朝市"]
    assert titles(store, since=day(22)) == []


@pytest.mark.parametrize(
    "asked, found",
    [
        pytest.param("読み聞かせ", ["おはなし会"], id="in the description"),
        pytest.param("聞か", ["おはなし会"], id="a part of a word"),
        pytest.param("市民会館", ["ＪＡＺＺの夕べ", "おはなし会"], id="the venue"),
        pytest.param("jazz", ["ＪＡＺＺの夕べ"], id="width and case do not matter"),
        pytest.param("ｼﾞｬｽﾞ", ["ＪＡＺＺの夕べ"], id="half width"),
        pytest.param("会館 絵本", ["おはなし会"], id="all words, in different places"),
        pytest.param("会館　ジャズ", ["ＪＡＺＺの夕べ"], id="a wide space"),
        pytest.param("100%", ["ＪＡＺＺの夕べ"], id="a sign that LIKE knows"),
        pytest.param("10_%", [], id="signs that match nothing else"),
        pytest.param("strong", [], id="tags are not text"),
        pytest.param("  ", ["ＪＡＺＺの夕べ", "おはなし会"], id="nothing"),
    ],
)
def test_words_are_looked_for_in_all_texts(store: CalendarStore, collect: Collector, asked: str, found: list[str]) -> None:
    concert = draft("ＪＡＺＺの夕べ", description="<strong>ジャズ</strong>を100%楽しむ")
    collect.run(collect.source(), [concert, draft("おはなし会", FIRST + timedelta(hours=1), description="絵本の読み聞かせ")])
    assert titles(store, q=asked) == found


def test_city_category_and_source_are_filters(store: CalendarStore, collect: Collector) -> None:
    one, other = collect.source("A"), collect.source("B")
    collect.run(one, [draft("朝市", city="花巻", category="市"), draft("星まつり", category="祭")])
    collect.run(other, [draft("星まつり", category="祭"), draft("夜市", city="花巻", category="市")])
    assert sorted(titles(store, city="花巻")) == ["夜市", "朝市"]
    assert titles(store, city="花巻", category="市", source_id=other.id) == ["夜市"]
    assert titles(store, category="祭") == titles(store, source_id=one.id, category="祭") == ["星まつり"]
    assert sorted(titles(store, ids=(1, 2))) == ["星まつり", "朝市"]
    assert store.events.cities() == ("盛岡", "花巻") or store.events.cities() == ("花巻", "盛岡")


def test_what_is_not_for_everybody_is_listed_only_when_asked_for(
    store: CalendarStore, collect: Collector, matcher: PlainMatcher, clock: FakeClock
) -> None:
    collect.run(collect.source(), many(4), (bad(),))
    store.edits.hide(1, by="mika")
    store.merges.merge(2, 3, matcher, by="mika")
    assert titles(store) == ["催し 1", "催し 3"]
    assert titles(store, statuses=(EventStatus.ACTIVE, EventStatus.HIDDEN)) == ["催し 0", "催し 1", "催し 3"]
    page = store.events.list_by_change(EventFilter(statuses=tuple(EventStatus), archived=None))
    assert len(page.items) == 5, "by change everything is told, also what is absorbed or has no time"
    assert [one.event.title for one in page.items if one.time is None] == ["催し 2", "日時未定の会"]


def test_changes_are_told_in_their_order_and_in_pages(store: CalendarStore, collect: Collector, clock: FakeClock) -> None:
    source = collect.source()
    collect.run(source, many(5))
    start = store.db.now()
    clock.advance(10)
    collect.run(source, [replace(many(5)[1], price="500円"), *many(5)[2:]])
    first = store.events.list_by_change(limit=3)
    rest = store.events.list_by_change(limit=3, cursor=first.next_cursor)
    assert [one.event.title for one in (*first.items, *rest.items)] == ["催し 0", "催し 2", "催し 3", "催し 4", "催し 1"]
    assert rest.next_cursor is None
    changed = store.events.list_by_change(EventFilter(updated_since=start + timedelta(seconds=1)))
    assert [one.event.title for one in changed.items] == ["催し 1"]


PLACES = {
    "東京駅": (35.681, 139.767),
    "新宿駅": (35.690, 139.700),
    "盛岡駅": (39.701, 141.136),
    "スバ": (-18.14, 178.44),
    "アピア": (-13.83, -171.76),
}


def on_the_map(collect: Collector) -> None:
    collect.run(
        collect.source(), [draft(name, latitude=lat, longitude=lon) for name, (lat, lon) in PLACES.items()] + [draft("どこか")]
    )


NEAR = [
    pytest.param(GeoCircle(35.681, 139.767, 5), ["東京駅"], id="5 km around Tokyo station"),
    pytest.param(GeoCircle(35.681, 139.767, 7), ["新宿駅", "東京駅"], id="7 km reach Shinjuku, which is 6.1 away"),
    pytest.param(GeoCircle(35.681, 139.767, 480), ["新宿駅", "東京駅", "盛岡駅"], id="480 km reach Morioka, which is 463 away"),
    pytest.param(GeoCircle(-16.0, 179.9, 1200), ["アピア", "スバ"], id="across the antimeridian"),
]


@pytest.mark.parametrize("near, found", NEAR)
def test_events_near_a_point(store: CalendarStore, collect: Collector, near: GeoCircle, found: list[str]) -> None:
    on_the_map(collect)
    assert sorted(titles(store, near=near)) == sorted(found)


def test_events_in_a_box(store: CalendarStore, collect: Collector) -> None:
    on_the_map(collect)
    assert sorted(titles(store, box=GeoBox(35, 139, 36, 140))) == ["新宿駅", "東京駅"]
    assert sorted(titles(store, box=GeoBox(-20, 178, -10, -170))) == ["アピア", "スバ"]
    with pytest.raises(UsageError, match="latitude must be from -90 to 90"):
        titles(store, near=GeoCircle(95, 0, 1))


STAND_IN = """
CREATE DOMAIN geography AS point;
CREATE FUNCTION st_makepoint(x float8, y float8) RETURNS point IMMUTABLE LANGUAGE sql AS 'SELECT point(x, y)';
CREATE FUNCTION st_setsrid(p point, srid int) RETURNS point IMMUTABLE LANGUAGE sql AS 'SELECT p';
CREATE FUNCTION st_dwithin(a geography, b geography, metres float8) RETURNS boolean IMMUTABLE LANGUAGE sql AS $$
  SELECT 2 * 6371008.8 * asin(sqrt(sin(radians(b[1] - a[1]) / 2) ^ 2
    + cos(radians(a[1])) * cos(radians(b[1])) * sin(radians(b[0] - a[0]) / 2) ^ 2)) <= metres $$;
"""
"""What is used of PostGIS, by the same names. It shows that our statements fit together; PostGIS itself is not tested by it."""


def test_the_way_of_postgis_is_taken_when_its_type_is_there(
    postgres: PostgresServer, clock: FakeClock, matcher: PlainMatcher
) -> None:
    address = postgres.new_database()
    open_calendar(address, clock).close()
    with postgres.connect(address.partition("@/")[2].partition("?")[0]) as sql:
        sql.execute(STAND_IN)
    store = open_calendar(address, clock)
    assert store.db.has_postgis
    collect = Collector(store, matcher)
    on_the_map(collect)
    for case in NEAR:
        near, found = case.values
        assert isinstance(near, GeoCircle)
        assert sorted(titles(store, near=near)) == sorted(found)  # type: ignore[arg-type,type-var]
    store.edits.edit(
        store.events.list(EventFilter(q="盛岡駅")).items[0].event.id, {"latitude": None, "longitude": None}, matcher, by="mika"
    )
    assert "盛岡駅" not in titles(store, near=GeoCircle(39.7, 141.1, 50))
    store.close()
    again = open_calendar(address, clock)
    assert again.db.has_postgis
    with again.db.read() as sql:
        made = sql.execute(text("SELECT count(*) FROM pg_indexes WHERE indexname = 'events_by_position'")).scalar_one()
    assert made == 1
    again.close()


def test_without_postgis_plain_columns_serve(store: CalendarStore) -> None:
    assert not store.db.has_postgis


def test_one_event_is_found_by_its_id(store: CalendarStore, collect: Collector) -> None:
    collect.run(collect.source(), [draft()])
    assert store.events.get(1).id == 1
    with pytest.raises(UsageError, match=r"Event 5 not found\. `tadoru events list --all`"):
        store.events.get(5)


def test_a_story_tells_where_everything_comes_from(store: CalendarStore, collect: Collector, matcher: PlainMatcher) -> None:
    rows: list[EventDraft] = [draft(price="500円"), draft(organizer="星の会")]
    for name, row in zip("AB", rows, strict=True):
        collect.run(collect.source(name), [row])
    store.edits.edit(1, {"category": "祭"}, matcher, by="mika")
    story = store.events.provenance(1)
    assert [one.draft for one in story.sightings] == rows
    assert {
        name: (one.owner, one.source_id) for name, one in story.owners.items() if name in ("price", "organizer", "category")
    } == {
        "price": ("source", 1),
        "organizer": ("source", 2),
        "category": ("person", None),
    }
    assert [(one.kept_id, one.sighting_ids, one.reasons) for one in story.merges] == [(1, (2,), ("same title, day and venue",))]
    assert [one.local_date for one in story.occurrences] == [day(0)]
    assert [one["by"] for one in story.history] == ["source 2", "mika"]


def test_the_source_of_higher_priority_is_heard_first(store: CalendarStore, collect: Collector) -> None:
    collect.run(collect.source("A"), [draft(price="500円")])
    collect.run(collect.source("B", priority=5, licence="CC BY 4.0"), [draft(price="800円")])
    event = store.events.get(1)
    assert (event.price, event.source_id, event.licence) == ("800円", 2, "CC BY 4.0")


def test_free_is_what_costs_nothing_for_everybody(store: CalendarStore, collect: Collector) -> None:
    free = ("無料", "入場無料", "Free admission", "Kostenlos", "0円", " 0 € ", "無料（先着50名）", "Free (first 50 people)")
    others = ("大人500、子ども無料", "", "500円", "大人500円、子ども無料", "一般５００円（小学生無料）", "10 €", "要問合せ")
    found = [replace(draft(f"催し {price}", uid=f"p{n}"), price=price) for n, price in enumerate((*free, *others))]
    collect.run(collect.source(), found)
    assert {one.event.price.strip() for one in store.events.list(EventFilter(free=True), limit=100).items} == {
        one.strip() for one in free
    }
