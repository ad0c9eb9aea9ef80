"""Where an event is: coordinates in each writing, and municipalities by name and address."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.places import NOWHERE, Point, city_named, city_of, read_point
from tadoru.parse.sources.municipalities import municipalities

TOKYO = "Asia/Tokyo"
NUMBERS = st.one_of(st.none(), st.floats(), st.integers(-200, 200), st.text("0123456789.-°'\"NSEW北緯度分秒 ,", max_size=14))


@pytest.mark.parametrize(
    "latitude, longitude",
    [
        ("35.7000", "139.7500"),
        (35.7, 139.75),
        ("３５．７", "１３９．７５"),
        ("35°42'00\"N", "139°45'00\"E"),
        ("N35°42'0.0\"", "E139°45'0.0\""),
        ("35°42′00″", "139°45′00″"),
        ("北緯35度42分0秒", "東経139度45分0秒"),
        ("35度42分", "139度45分"),
        ("35 42 00", "139 45 00"),
        ("35°42.0'", "139°45.0'"),
        ("35.42.00.0", "139.45.00.0"),
        ("35.7N", "139.75E"),
        ("35.7°", "139.75°"),
        ("35.7,139.75", None),
        ("35.7 139.75", ""),
    ],
)
def test_a_point_is_read_in_each_writing(latitude: str | float | None, longitude: str | float | None) -> None:
    point = read_point(latitude, longitude, TOKYO)
    assert (point.latitude, point.longitude) == (pytest.approx(35.7), pytest.approx(139.75))
    assert point.note == ""


@pytest.mark.parametrize(
    "latitude, longitude, expected",
    [
        (None, None, NOWHERE),
        ("", " ", NOWHERE),
        ("139.75", "35.7", Point(35.7, 139.75, "Latitude and longitude were exchanged, and were turned round.")),
        ("0", "0.0", Point(None, None, "The coordinates are 0, 0, and were left out.")),
        ("95", "200", Point(None, None, "The coordinates are not on the globe, and were left out.")),
        ("here", "139", Point(None, None, "The coordinates can not be read, and were left out.")),
        ("35°99'00\"", "139", Point(None, None, "The coordinates can not be read, and were left out.")),
        (float("nan"), 139.0, Point(None, None, "The coordinates can not be read, and were left out.")),
        ("35.7", None, Point(None, None, "Only one coordinate is given; it was left out.")),
    ],
)
def test_a_point_that_can_not_be_true_is_left_out_with_a_note(
    latitude: str | float | None, longitude: str | float | None, expected: Point
) -> None:
    assert read_point(latitude, longitude, TOKYO) == expected


def test_south_and_west_are_negative() -> None:
    assert read_point("33°52'S", "151.2W", "America/New_York") == Point(pytest.approx(-33.8667, abs=1e-4), -151.2)


def test_a_point_outside_japan_is_not_turned_round() -> None:
    assert read_point("52.5", "13.4", "Europe/Berlin") == Point(52.5, 13.4)


@given(NUMBERS, NUMBERS, st.sampled_from([TOKYO, "Europe/Berlin"]))
def test_a_point_is_on_the_globe_or_nowhere(latitude: str | float | None, longitude: str | float | None, zone: str) -> None:
    point = read_point(latitude, longitude, zone)
    assert (point.latitude is None) == (point.longitude is None)
    assert point.latitude is None or abs(point.latitude) <= 90
    assert point.longitude is None or abs(point.longitude) <= 180


@pytest.mark.parametrize(
    "address, city",
    [
        ("東京都杉並区阿佐谷南1-15-1", "杉並区"),
        ("〒166-8570 東京都杉並区阿佐谷南1-15-1", "杉並区"),
        ("〒１６６－８５７０　東京都杉並区阿佐谷南", "杉並区"),
        ("日本、岩手県盛岡市内丸12-2", "盛岡市"),
        ("盛岡市内丸12-2", "盛岡市"),
        ("神奈川県足柄上郡大井町金子", "大井町"),
        ("千葉県市川市八幡1-1", "市川市"),
        ("三重県四日市市諏訪町", "四日市市"),
        ("広島県廿日市市下平良", "廿日市市"),
        ("横浜市中区本町6-50-10", "横浜市"),
        ("神奈川県横浜市保土ヶ谷区川辺町", "横浜市"),
        ("千葉県袖ヶ浦市坂戸市場", "袖ケ浦市"),
        ("千葉県", ""),
        ("Musterstraße 1, Berlin", ""),
        ("会場はオンライン", ""),
        ("", ""),
    ],
)
def test_the_city_is_read_from_the_beginning_of_an_address(address: str, city: str) -> None:
    assert city_of(address) == city


@pytest.mark.parametrize(
    "text, city",
    [
        ("足柄上郡大井町", "大井町"),
        ("東京都杉並区", "杉並区"),
        ("袖ヶ浦市", "袖ケ浦市"),
        ("茅ケ崎市", "茅ヶ崎市"),
        ("千葉市中央区", "千葉市"),
        ("杉並区", "杉並区"),
        ("盛岡", "盛岡"),
        ("Berlin", "Berlin"),
    ],
)
def test_a_city_has_one_name(text: str, city: str) -> None:
    assert city_named(text) == city


def test_every_municipality_is_found_behind_its_prefecture() -> None:
    for place in municipalities().values():
        if place.city:
            assert city_of(f"{place.prefecture}{place.city}1-2-3") == re.sub("(?<=.市).+区$", "", place.city)
