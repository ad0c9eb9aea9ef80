"""Days, times, filters, charts and weeks: the pure half of the pages."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tadoru.i18n.translation import Formatter
from tadoru.serve.web.admin.dashboard import HEIGHT, TOP, runs_chart
from tadoru.serve.web.calendar.pages import CalendarFilter, parse_day, parse_filter, to_event_filter
from tadoru.serve.web.calendar.view_models import calendar_weeks, format_event_time, is_web_url, next_time, shift_month
from tadoru.serve.web.request_input import preferred_language
from tadoru.serve.web.sources import parse_settings_text, settings_text
from tadoru.store.calendar.records import EventTime

TOKYO = ZoneInfo("Asia/Tokyo")
EN, JA, DE = (Formatter(lang, TOKYO) for lang in ("en", "ja", "de"))


def at(day: int, hour: int = 0, *, end: tuple[int, int] | None = None, has_time: bool = True, last: int = 0) -> EventTime:
    begin = datetime(2026, 8, day, hour, tzinfo=TOKYO)
    ends = datetime(2026, 8, *end, tzinfo=TOKYO) if end else None
    days = {"local_date": date(2026, 8, day), "last_date": date(2026, 8, last or day)}
    return EventTime(starts_at=begin.astimezone(UTC), ends_at=ends.astimezone(UTC) if ends else None, has_time=has_time, **days)


@pytest.mark.parametrize(
    "time,english,japanese,german",
    [
        (at(1, 10, end=(1, 12)), "Sat, 1 Aug 2026 10:00–12:00", "2026年8月1日(土) 10:00–12:00", "Sa., 1. Aug. 2026 10:00–12:00"),
        (at(1, 10), "Sat, 1 Aug 2026 10:00", "2026年8月1日(土) 10:00", "Sa., 1. Aug. 2026 10:00"),
        (at(1, 22, end=(2, 0)), "Sat, 1 Aug 2026 22:00–24:00", "2026年8月1日(土) 22:00–24:00", "Sa., 1. Aug. 2026 22:00–24:00"),
        (
            at(1, 22, end=(2, 5), last=2),
            "Sat, 1 Aug 2026 22:00 – Sun 2 Aug 05:00",
            "2026年8月1日(土) 22:00 – 8月2日(日) 05:00",
            "Sa., 1. Aug. 2026 22:00 – So., 2. Aug. 05:00",
        ),
        (at(1, end=(2, 0), has_time=False), "Sat, 1 Aug 2026 All day", "2026年8月1日(土) 終日", "Sa., 1. Aug. 2026 Ganztägig"),
        (at(1, has_time=False), "Sat, 1 Aug 2026", "2026年8月1日(土)", "Sa., 1. Aug. 2026"),
        (
            at(1, end=(4, 0), has_time=False, last=3),
            "Sat, 1 Aug 2026 – Mon 3 Aug",
            "2026年8月1日(土) – 8月3日(月)",
            "Sa., 1. Aug. 2026 – Mo., 3. Aug.",
        ),
    ],
)
def test_a_time_is_shown_in_every_language(time: EventTime, english: str, japanese: str, german: str) -> None:
    assert format_event_time(time, "Asia/Tokyo", EN) == english
    assert format_event_time(time, "Asia/Tokyo", JA) == japanese
    assert format_event_time(time, "Asia/Tokyo", DE) == german


@pytest.mark.parametrize(
    "header,lang",
    [("ja", "ja"), ("en-US,en;q=0.9", "en"), ("fr, ja;q=0.5, en;q=0.7", "en"), ("fr", None), ("", None),
     ("ja;q=0, en;q=0.1", "en"), ("ja;q=x", None), ("JA-jp", "ja"),
     ("de-AT, en;q=0.5", "de")],
)  # fmt: skip
def test_the_preferred_language_is_ours_with_the_greatest_weight(header: str, lang: str | None) -> None:
    assert preferred_language(header) == lang


@given(st.text())
def test_any_header_can_be_read(header: str) -> None:
    assert preferred_language(header) in (None, "en", "ja", "de")


@given(st.text(max_size=12))
def test_a_day_is_of_a_year_that_databases_hold_or_none(text: str) -> None:
    found = parse_day(text)
    assert found is None or 1900 <= found.year < 2200


def test_a_day_that_is_not_valid_is_reported() -> None:
    _, problem = to_event_filter(CalendarFilter(since="tomorrow"), EN, today=date(2026, 8, 1))
    assert problem == "“tomorrow” is not a date. Use the format 2026-08-01."
    _, problem = to_event_filter(CalendarFilter(since="2026-08-02", until="2026-08-01"), EN, today=date(2026, 8, 1))
    assert problem == "The start date is after the end date. Swap the two dates."


def test_a_list_begins_today_unless_a_day_is_given() -> None:
    today = date(2026, 8, 1)
    assert to_event_filter(CalendarFilter(), EN, today=today)[0].since == today
    assert to_event_filter(CalendarFilter(until="2026-07-01"), EN, today=today)[0].since is None
    assert to_event_filter(CalendarFilter(since="2026-07-01"), EN, today=today)[0].since == date(2026, 7, 1)


def test_a_city_may_be_named_without_its_kind() -> None:
    assert parse_filter({"city": "盛岡"}, ("盛岡市", "花巻市")).city == "盛岡市"


@given(st.builds(CalendarFilter, city=st.text(max_size=9), q=st.text(max_size=9), category=st.text(max_size=9)))
def test_what_was_chosen_survives_an_address(chosen: CalendarFilter) -> None:
    from urllib.parse import parse_qsl

    asked = dict(parse_qsl(chosen.query().removeprefix("?"), keep_blank_values=True))
    tidy = {name: getattr(chosen, name).replace("\0", "").strip() for name in ("city", "q", "category")}
    assert parse_filter(asked) == CalendarFilter(**tidy)


@given(st.dates(date(1900, 2, 1), date(2199, 11, 1)))
def test_weeks_hold_every_day_of_the_month_once_and_begin_on_monday(day: date) -> None:
    weeks = calendar_weeks(day.year, day.month)
    inside = [cell.day for week in weeks for cell in week if cell.is_inside]
    first, after = day.replace(day=1), shift_month(day.replace(day=1), 1)
    assert inside == [first + timedelta(days=n) for n in range((after - first).days)]
    assert all(len(week) == 7 and week[0].day.weekday() == 0 for week in weeks)
    assert shift_month(after, -1) == first


def test_the_next_time_of_a_series_is_the_first_that_is_not_over() -> None:
    times = (at(1), at(5), at(9))
    assert next_time(times, date(2026, 8, 2)) is times[1]
    assert next_time(times, date(2026, 9, 1)) is times[2]
    assert next_time((), date(2026, 9, 1)) is None


@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=60))
def test_a_chart_counts_its_days_and_stays_inside(runs: list[tuple[int, bool]]) -> None:
    last = date(2026, 8, 1)
    chart = runs_chart(((last - timedelta(days=ago), failed) for ago, failed in runs), last)
    shown = [failed for ago, failed in runs if ago < 30]
    assert (chart.total, chart.failed) == (len(shown), sum(shown))
    assert all(TOP - 0.2 <= bar.failed_y <= bar.well_y <= HEIGHT for bar in chart.bars)
    assert chart.bars[-1].label == "8/1"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//x.example", "", " https://x.example", "file:///etc/passwd"]
)
def test_only_addresses_of_the_web_become_links(url: str) -> None:
    assert not is_web_url(url)
    assert is_web_url("https://x.example/") is is_web_url("HTTP://x.example/") is True


JSON = st.recursive(
    st.text(max_size=8) | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
@example({"a": " "})
@example({"a": "\x1e"})
def test_settings_survive_the_form(settings: dict[str, object]) -> None:
    sent = settings_text(settings).replace("\0", "").strip()
    if "\0" not in settings_text(settings):
        assert parse_settings_text(sent) == settings
