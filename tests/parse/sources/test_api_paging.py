"""Where the next page of an interface is."""

from __future__ import annotations

import json

import pytest

from tadoru.errors import ConfigError
from tadoru.parse.sources.api import ApiSettings, read_api

BASE = "https://town.test/api/events?lang=ja"


def settings(pagination: dict[str, object], **more: object) -> ApiSettings:
    return ApiSettings.from_mapping({"items": "events", "fields": {"title": "name"}, "pagination": pagination, **more})


def following(pagination: dict[str, object], data: object, url: str = BASE, page: int = 1, link: str = "") -> str | None:
    headers = [("Content-Type", "application/json"), ("LINK", link)] if link else []
    return read_api(json.dumps(data).encode(), None, url, settings(pagination), page=page, headers=headers).next_url


def events(count: int, **more: object) -> dict[str, object]:
    return {"events": [{"name": f"祭 {number}"} for number in range(count)], **more}


@pytest.mark.parametrize(
    "pagination, data, page, expected",
    [
        pytest.param({"kind": "page"}, events(3), 1, f"{BASE}&page=2", id="second page"),
        pytest.param({"kind": "page"}, events(3), 7, f"{BASE}&page=8", id="later page"),
        pytest.param({"kind": "page"}, events(0), 4, None, id="an empty page is the last"),
        pytest.param({"kind": "page", "start": 0}, events(3), 1, f"{BASE}&page=1", id="counted from 0"),
        pytest.param(
            {"kind": "page", "parameter": "offset", "start": 0, "step": 20}, events(20), 2, f"{BASE}&offset=40", id="offset"
        ),
        pytest.param(
            {"kind": "page", "size": 20, "size_parameter": "n"}, events(20), 1, f"{BASE}&page=2&n=20", id="size is sent"
        ),
        pytest.param({"kind": "page", "total": "total"}, events(3, total=7), 2, f"{BASE}&page=3", id="more in total"),
        pytest.param({"kind": "page", "total": "total"}, events(3, total=6), 2, None, id="all in total"),
        pytest.param({"kind": "page", "total": "total", "size": 3}, events(1, total=7), 3, None, id="last page is shorter"),
        pytest.param({"kind": "page", "total": "total"}, events(3, total="6"), 2, None, id="total is a text"),
        pytest.param({"kind": "page", "total": "total"}, events(3, total=None), 2, f"{BASE}&page=3", id="total is not said"),
        pytest.param({"kind": "page", "pages": "meta.pages"}, events(3, meta={"pages": 2}), 1, f"{BASE}&page=2", id="pages left"),
        pytest.param({"kind": "page", "pages": "meta.pages"}, events(3, meta={"pages": 2}), 2, None, id="no pages left"),
        pytest.param(
            {"kind": "cursor", "path": "next"}, events(1, next="a b/1=&"), 1, f"{BASE}&cursor=a%20b%2F1%3D%26", id="cursor"
        ),
        pytest.param(
            {"kind": "cursor", "path": "next", "parameter": "after"}, events(1, next=42), 1, f"{BASE}&after=42", id="number"
        ),
        pytest.param({"kind": "cursor", "path": "next"}, events(1, next=None), 1, None, id="no cursor"),
        pytest.param({"kind": "cursor", "path": "next"}, events(1, next=""), 1, None, id="empty cursor"),
        pytest.param({"kind": "cursor", "path": "next"}, events(1, next=False), 1, None, id="false as a cursor"),
        pytest.param({"kind": "cursor", "path": "next"}, events(1, next={"a": 1}), 1, None, id="an object as a cursor"),
        pytest.param(
            {"kind": "link", "path": "next"}, events(1, next="/api/2"), 1, "https://town.test/api/2", id="relative link"
        ),
        pytest.param({"kind": "link", "path": "next"}, events(1, next=None), 1, None, id="no link"),
        pytest.param({"kind": "none"}, events(9), 1, None, id="no pages at all"),
    ],
)
def test_the_next_page(pagination: dict[str, object], data: object, page: int, expected: str | None) -> None:
    assert following(pagination, data, page=page) == expected


def test_the_parameter_of_this_page_gives_way_to_that_of_the_next() -> None:
    assert following({"kind": "page"}, events(1), f"{BASE}&page=2", 2) == f"{BASE}&page=3"
    assert following({"kind": "cursor", "path": "c"}, events(1, c="n"), f"{BASE}&cursor=m", 2) == f"{BASE}&cursor=n"


@pytest.mark.parametrize(
    "link, expected",
    [
        ('<https://town.test/e?p=2>; rel="next"', "https://town.test/e?p=2"),
        ('<?p=1>; rel="prev", <?p=3>; rel="last next"', "https://town.test/api/events?p=3"),
        ('<?p=1>; rel="prev"', None),
        ("<mailto:a@b.test>; rel=next", None),
        ("", None),
    ],
)
def test_the_link_header_names_the_next_page(link: str, expected: str | None) -> None:
    assert following({"kind": "link"}, events(1), link=link) == expected


@pytest.mark.parametrize("target", ["javascript:alert(1)", "file:///etc/passwd", "https://[::1"])
def test_a_next_page_that_is_no_web_address_is_a_problem(target: str) -> None:
    reading = read_api(json.dumps(events(1, next=target)).encode(), None, BASE, settings({"kind": "link", "path": "next"}))
    assert reading.next_url is None
    assert len(reading.problems) == 1


def test_a_next_page_that_is_this_page_ends_the_reading() -> None:
    for pagination, data in (
        ({"kind": "link", "path": "next"}, events(1, next=BASE)),
        ({"kind": "cursor", "path": "next"}, events(1, next="m")),
    ):
        url = BASE if pagination["kind"] == "link" else f"{BASE}&cursor=m"
        reading = read_api(json.dumps(data).encode(), None, url, settings({**pagination}))
        assert reading.next_url is None
        assert len(reading.problems) == 1


def test_no_more_pages_are_asked_for_than_the_person_allows() -> None:
    limited = settings({"kind": "page"}, most_pages=3)
    body = json.dumps(events(1)).encode()
    assert [read_api(body, None, BASE, limited, page=page).next_url is None for page in (1, 2, 3, 4)] == [
        False,
        False,
        True,
        True,
    ]


def test_a_first_page_asks_for_the_size() -> None:
    paging = settings({"kind": "page", "size": 50, "size_parameter": "per_page"}).paging
    assert paging.first(BASE) == f"{BASE}&per_page=50"
    assert settings({"kind": "page"}).paging.first(BASE) == BASE


@pytest.mark.parametrize(
    "more, data, page, expected",
    [
        pytest.param({}, events(20), 1, f"{BASE}&offset=20", id="second page"),
        pytest.param({}, events(20), 3, f"{BASE}&offset=60", id="later page"),
        pytest.param({}, events(0), 3, None, id="an empty page is the last"),
        pytest.param({"parameter": "skip", "size_parameter": "take"}, events(20), 1, f"{BASE}&skip=20&take=20", id="other names"),
        pytest.param({"total": "total"}, events(20, total=41), 2, f"{BASE}&offset=40", id="one more in total"),
        pytest.param({"total": "total"}, events(20, total=40), 2, None, id="all in total"),
        pytest.param({"start": 1}, events(20), 1, f"{BASE}&offset=21", id="counted from 1"),
    ],
)
def test_an_offset_steps_by_the_size_of_a_page(more: dict[str, object], data: object, page: int, expected: str | None) -> None:
    assert following({"kind": "offset", "size": 20, **more}, data, page=page) == expected


def test_an_offset_needs_the_size_of_a_page() -> None:
    with pytest.raises(ConfigError, match=r"pagination\.size is missing; it must be how many events a page has"):
        settings({"kind": "offset"})
