"""Where an event is: coordinates in each writing, and municipalities by name and address."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.normalise.locations import (
    NO_COORDINATES,
    Coordinates,
    city_from_address,
    normalise_city,
    parse_coordinates,
)
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
    point = parse_coordinates(latitude, longitude, TOKYO)
    assert (point.latitude, point.longitude) == (pytest.approx(35.7), pytest.approx(139.75))
    assert point.note == ""


@pytest.mark.parametrize(
    "latitude, longitude, expected",
    [
        (None, None, NO_COORDINATES),
        ("", " ", NO_COORDINATES),
        ("139.75", "35.7", Coordinates(35.7, 139.75, "Latitude and longitude were swapped; corrected.")),
        ("0", "0.0", Coordinates(None, None, "Coordinates are 0, 0; ignored.")),
        ("95", "200", Coordinates(None, None, "Coordinates out of range; ignored.")),
        ("here", "139", Coordinates(None, None, "Invalid coordinates; ignored.")),
        ("35°99'00\"", "139", Coordinates(None, None, "Invalid coordinates; ignored.")),
        (float("nan"), 139.0, Coordinates(None, None, "Invalid coordinates; ignored.")),
        ("35.7", None, Coordinates(None, None, "Only one coordinate; ignored.")),
    ],
)
def test_a_point_that_can_not_be_true_is_left_out_with_a_note(
    latitude: str | float | None, longitude: str | float | None, expected: Coordinates
) -> None:
    assert parse_coordinates(latitude, longitude, TOKYO) == expected


def test_south_and_west_are_negative() -> None:
    assert parse_coordinates("33°52'S", "151.2W", "America/New_York") == Coordinates(pytest.approx(-33.8667, abs=1e-4), -151.2)


def test_a_point_outside_japan_is_not_turned_round() -> None:
    assert parse_coordinates("52.5", "13.4", "Europe/Berlin") == Coordinates(52.5, 13.4)


@given(NUMBERS, NUMBERS, st.sampled_from([TOKYO, "Europe/Berlin"]))
def test_a_point_is_on_the_globe_or_nowhere(latitude: str | float | None, longitude: str | float | None, zone: str) -> None:
    point = parse_coordinates(latitude, longitude, zone)
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
    assert city_from_address(address) == city


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
    assert normalise_city(text) == city


def test_every_municipality_is_found_behind_its_prefecture() -> None:
    for place in municipalities().values():
        if place.city:
            assert city_from_address(f"{place.prefecture}{place.city}1-2-3") == re.sub("(?<=.市).+区$", "", place.city)
