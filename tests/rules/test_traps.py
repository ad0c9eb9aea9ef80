"""Endless URL spaces are recognised, and ordinary URLs are left alone."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.traps import MAX_URL_LENGTH, SESSION_CAP, TrapPattern, pattern, shape_refusal
from tadoru.rules.url import canonical

SITE = "https://a.example"

ORDINARY = [
    "/",
    "/index.html",
    "/a/a/",
    "/a/a/a/",
    "/en/en-us/",
    "/en/docs/en/docs/",
    "/blog/2024/2024-review/",
    "/2024/05/12/my-title",
    "/2024/05/12/my-title/",
    "/2024/05/my-title.html",
    "/2024-05-12-my-title/",
    "/events/2027-01-01/opening-night/",
    "/products/12345",
    "/products/1234/56/",
    "/docs/3.13/library/asyncio.html",
    "/v2/api/users/42/posts/7",
    "/news/article-20240512.html",
    "/download/file-1.2.3.tar.gz",
    "/wiki/1984",
    "/year/2024/",
    "/tiles/1/1/1/1.png",
    "/~user/notes;v=2",
    "/search?q=cats",
    "/search?q=cats&lang=en",
    "/search?q=cats+and+dogs&sort=",
    "/watch?v=dQw4w9WgXcQ",
    "/item?id=5f2b6c1a9d3e4f5061728394",
    "/post?post_id=5f2b6c1a9d3e4f5061728394",
    "/index.php?title=Main_Page",
    "/index.php?title=How_to_write_good_documentation&action=edit",
    "/page?print",
    "/page?next=/a/b/c.html",
    "/page?email=somebody@a.example&side=left",
    "/page?inside=yes&presidency=no",
    "/%E6%97%A5%E6%9C%AC/%E6%9D%B1%E4%BA%AC/",
    "/a//b//c/",
]


@pytest.mark.parametrize("path", ORDINARY)
def test_an_ordinary_url_is_no_trap(path: str) -> None:
    assert canonical(SITE + path) == SITE + path
    assert pattern(SITE + path) is None
    assert shape_refusal(SITE + path) is None


CLASSES = {
    "month in the query": ("/cal?month=2027-01", "/cal?month={date}", "calendar", 500),
    "day in the query": ("/cal?date=20270101", "/cal?date={date}", "calendar", 500),
    "any name with a date": ("/cal?from=2027-01-31", "/cal?from={date}", "calendar", 500),
    "date and time": ("/cal?at=2027-01-31T10:00:00", "/cal?at={date}", "calendar", 500),
    "week": ("/cal?w=2027-W05", "/cal?w={date}", "calendar", 500),
    "date with escaped slashes": ("/cal?on=01%2F31%2F2027", "/cal?on={date}", "calendar", 500),
    "date with slashes": ("/cal?on=2027/1/31", "/cal?on={date}", "calendar", 500),
    "date with dots": ("/cal?on=31.01.2027", "/cal?on={date}", "calendar", 500),
    "year and month apart": ("/cal?year=2027&month=1", "/cal?year={date}&month={date}", "calendar", 500),
    "year, month and day apart": ("/cal?year=2027&month=1&day=2", "/cal?year={date}&month={date}&day={date}", "calendar", 500),
    "relative week": ("/cal?week=-12", "/cal?week={date}", "calendar", 500),
    "prefixed name": ("/cal?cal_month=13", "/cal?cal_month={date}", "calendar", 500),
    "date beside a view": ("/cal?view=list&month=2027-01", "/cal?view=list&month={date}", "calendar", 500),
    "date beside a number": ("/cal?id=7&date=2027-01-01", "/cal?id=7&date={date}", "calendar", 500),
    "month in the path": ("/calendar/2027/01/", "/calendar/{date}/", "calendar", 500),
    "month in the path without a slash": ("/calendar/2027/1", "/calendar/{date}", "calendar", 500),
    "day in the path": ("/calendar/2027/01/31/", "/calendar/{date}/", "calendar", 500),
    "dashed day in the path": ("/events/2027-01-01/", "/events/{date}/", "calendar", 500),
    "dashed month in the path": ("/events/2027-01", "/events/{date}", "calendar", 500),
    "compact day in the path": ("/events/20270101", "/events/{date}", "calendar", 500),
    "day in the path as a page": ("/events/2027/01/31.html", "/events/{date}.html", "calendar", 500),
    "month in the path beside a query": ("/calendar/2027/01/?view=week", "/calendar/{date}/?view=week", "calendar", 500),
    "date and session": (
        "/cal?month=2027-01&sid=1f",
        "/cal?month={date}&sid={session}",
        "calendar",
        500,
    ),
    "session by name": ("/p?sid=7", "/p?sid={session}", "session id", SESSION_CAP),
    "session by name in upper case": ("/p?PHPSESSID=abc", "/p?PHPSESSID={session}", "session id", SESSION_CAP),
    "session by look": ("/p?s=4f2a9c81b7d3e605", "/p?s={session}", "session id", SESSION_CAP),
    "session keeps the other values": ("/p?id=7&sid=8", "/p?id=7&sid={session}", "session id", SESSION_CAP),
    "session in the path": ("/p.jsp;jsessionid=0A1B", "/p.jsp;{session}", "session id", SESSION_CAP),
    "session as a part of the path": ("/(S(lit3py55t21z5v55vlm25s55))/p", "/{session}/p", "session id", SESSION_CAP),
    "session by name in the path": ("/session/4f2a9c81b7d3e605/p", "/{session}/p", "session id", SESSION_CAP),
    "session in the path beside a query": (
        "/p.jsp;jsessionid=0A1B?id=7",
        "/p.jsp;{session}?id=7",
        "session id",
        SESSION_CAP,
    ),
    "facets": ("/shop?size=m&color=red&brand=x", "/shop?brand&color&size", "facets", 500),
    "facets with numbers": ("/shop?size=1&color=2&page=3", "/shop?color&page&size", "facets", 500),
    "facets repeated": ("/shop?c=red&c=blue&size=m", "/shop?c&size", "facets", 500),
    "facets and a session": ("/shop?b=x&a=y&c=z&sid=7", "/shop?a&b&c&sid", "facets", 500),
    "facets of a dated path": ("/cal/2027/01/?a=x&b=y&c=z", "/cal/{date}/?a&b&c", "facets", 500),
    "page number": ("/list?page=17", "/list?page={number}", "pagination", 5000),
    "offset": ("/list?offset=340&sort=name", "/list?offset={number}&sort=name", "pagination", 5000),
    "negative number": ("/list?start=-3", "/list?start={number}", "pagination", 5000),
    "two numbers": ("/list?page=2&per=50", "/list?page={number}&per={number}", "pagination", 5000),
}


@pytest.mark.parametrize("path,key,why,cap", CLASSES.values(), ids=CLASSES)
def test_an_endless_class_has_one_key(path: str, key: str, why: str, cap: int) -> None:
    assert canonical(SITE + path) == SITE + path
    trap = pattern(SITE + path)
    assert trap is not None
    assert trap[:3] == (SITE + key, why, cap)


@pytest.mark.parametrize(
    "path, outer",
    [
        ("/p?page=7&sid=8", TrapPattern(f"{SITE}/p?page={{number}}&sid={{session}}", "session id", 5000)),
        ("/p.jsp;jsessionid=0A1B?page=7", TrapPattern(f"{SITE}/p.jsp;{{session}}?page={{number}}", "session id", 5000)),
        ("/cal?day=2027-01-01&page=7", TrapPattern(f"{SITE}/cal?day={{date}}&page={{number}}", "calendar", 5000)),
        ("/p?sid=8&sort=name", None),
        ("/cal?day=2027-01-01", None),
        ("/list?page=7", None),
    ],
    ids=["session", "session in the path", "calendar", "session without number", "calendar without number", "pages alone"],
)
def test_numbered_pages_of_an_endless_class_are_a_class_themselves(path: str, outer: TrapPattern | None) -> None:
    trap = pattern(SITE + path)
    assert trap is not None
    assert trap.outer == outer


@pytest.mark.parametrize(
    "one,other",
    [
        ("/cal?month=2027-01", "/cal?month=2031-12"),
        ("/cal/2027/01/", "/cal/1999/12/"),
        ("/cal/2027/01/", "/cal/1999/12/31/"),
        ("/p?sid=1", "/p?sid=4f2a9c81b7d3e605"),
        ("/shop?a=1&b=2&c=3", "/shop?c=x&a=y&b=z"),
        ("/list?page=2", "/list?page=99999"),
    ],
)
def test_members_of_a_class_share_their_key(one: str, other: str) -> None:
    first, second = pattern(SITE + one), pattern(SITE + other)
    assert first is not None
    assert first == second


@pytest.mark.parametrize(
    "one,other",
    [
        ("/cal?month=2027-01", "/agenda?month=2027-01"),
        ("/p?sid=1", "/q?sid=1"),
        ("/p?id=1&sid=1", "/p?id=2&sid=1"),
        ("/shop?a=1&b=2&c=3", "/shop?a=1&b=2&d=3"),
        ("/list?page=2&sort=a", "/list?page=2&sort=b"),
    ],
)
def test_different_classes_are_counted_apart(one: str, other: str) -> None:
    first, second = pattern(SITE + one), pattern(SITE + other)
    assert first is not None
    assert second is not None
    assert first.key != second.key


def test_the_cap_follows_the_one_given() -> None:
    caps = [
        trap.cap for path in ("/c?month=2027-01", "/s?a=x&b=y&c=z", "/l?page=1", "/p?sid=1") if (trap := pattern(SITE + path, 7))
    ]
    assert caps == [7, 7, 7, 7]


LONGEST = SITE + "/" + "a" * (MAX_URL_LENGTH - len(SITE) - 1)
REFUSED = {
    "too long": (LONGEST + "a", "longer than 2083 characters"),
    "too deep": (SITE + "".join(f"/s{number}" for number in range(31)), "more than 30 path segments"),
    "one segment four times in a row": (SITE + "/a/a/a/a/", "the path segment “a” occurs 4 times"),
    "one segment four times apart": (SITE + "/x/a/x/b/x/c/x", "the path segment “x” occurs 4 times"),
    "empty segments": (SITE + "/a/////b", "the path segment “” occurs 4 times"),
    "cycle of two": (SITE + "/a/b/a/b/a/b", "the path repeats “a/b”"),
    "cycle of three after a start": (SITE + "/en/x/y/z/x/y/z/x/y/z/end.html", "the path repeats “x/y/z”"),
    "cycle of numbers": (SITE + "/1/2/1/2/1/2", "the path repeats “1/2”"),
    "same parameter and value": (SITE + "/?lang=en&lang=en&x&lang=en", "the parameter “lang=en” occurs 3 times"),
    "same parameter": (SITE + "/?" + "&".join(f"a={n}" for n in range(21)), "the parameter “a” occurs 21 times"),
}


@pytest.mark.parametrize("url,reason", REFUSED.values(), ids=REFUSED)
def test_an_ever_growing_url_is_refused_with_its_reason(url: str, reason: str) -> None:
    assert shape_refusal(url) == reason


@pytest.mark.parametrize(
    "url",
    [
        LONGEST,
        SITE + "".join(f"/s{number}" for number in range(30)) + "/",
        SITE + "/a/b/a/b/",
        SITE + "/x/y/z/x/y/z/",
        SITE + "/?lang=en&lang=en&x",
        SITE + "/?" + "&".join(f"tag[]={n}" for n in range(20)),
        SITE + "/?" + "&".join(f"name{n}=x" for n in range(60)),
    ],
    ids=["longest", "deepest", "cycle twice", "cycle of three twice", "pair twice", "list of twenty", "many names"],
)
def test_a_url_at_the_limit_is_not_refused(url: str) -> None:
    assert shape_refusal(url) is None


SEGMENTS = st.text(alphabet="abc-019", min_size=1, max_size=6)


@given(st.lists(SEGMENTS, min_size=1, max_size=5, unique=True))
def test_a_path_that_grows_by_the_same_segments_is_cut_off(cycle: list[str]) -> None:
    step = "/" + "/".join(cycle)
    assert shape_refusal(SITE + step) is None
    assert shape_refusal(SITE + step * 31) is not None
    if len(cycle) > 1:
        assert shape_refusal(f"{SITE}/start{step * 2}/end") is None
        assert shape_refusal(f"{SITE}/start{step * 3}/end") is not None


@given(st.dates(min_value=date(1800, 1, 1), max_value=date(2999, 12, 31)))
@pytest.mark.parametrize(
    "form", ["/c/%Y/%m/", "/c/%Y/%m/%d", "/c/%Y-%m-%d.html", "/c?at=%Y%m%d", "/c?at=%d.%m.%Y", "/c?at=%Y-%m"]
)
def test_every_date_of_a_calendar_has_the_same_key(form: str, day: date) -> None:
    trap = pattern(SITE + day.strftime(form))
    assert trap is not None
    assert trap.why == "calendar"
    assert trap == pattern(SITE + date(2027, 1, 1).strftime(form))


@given(st.from_regex(r"[0-9a-f]{12,40}", fullmatch=True))
def test_every_token_that_mixes_letters_and_digits_is_a_session(token: str) -> None:
    trap = pattern(f"{SITE}/p?t=f00d{token}")
    assert trap == TrapPattern(f"{SITE}/p?t={{session}}", "session id", SESSION_CAP)


@given(st.text(alphabet="/?&=;-.%aA1290T_[]", max_size=60))
def test_any_canonical_url_can_be_judged(text: str) -> None:
    url = canonical(f"{SITE}/{text}")
    assert url is not None
    trap = pattern(url)
    assert trap is None or trap.key.startswith(SITE + "/")
    refusal = shape_refusal(url)
    assert refusal is None or "occurs" in refusal or "repeats" in refusal or "segments" in refusal
