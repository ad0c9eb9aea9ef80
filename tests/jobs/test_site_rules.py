"""The small rules that site checks decide by: dates of sitemaps, types of files, fragments, spellings of one URL."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.audit.site_checks.duplicates import normalise_all, without_index, without_slash
from tadoru.jobs.audit.site_checks.links import is_missing
from tadoru.jobs.audit.site_checks.pagination import series_name
from tadoru.jobs.audit.site_checks.resources import is_accepted_type
from tadoru.jobs.audit.site_checks.sitemaps import LASTMOD_FUTURE, LASTMOD_INVALID, check_lastmod

NOW = datetime(2025, 3, 1, 12, tzinfo=UTC).timestamp()
GOOD_DATES = (
    "2025", "2025-02", "2025-02-28", "2025-02-28T10:00Z", "2025-02-28T10:00:00+09:00", "2025-02-28T10:00:00.123-0500",
    "2025-02-28T10:00:00", "2025-03-02T11:00:00Z",
)  # fmt: skip
BAD_DATES = (
    "28.02.2025",
    "2025-2-28",
    "2025-02-30",
    "2025-13-01",
    "2025-02-28 10:00",
    "2025-02-28T25:00Z",
    "today",
    "0000-00-00",
    "0",
)


@pytest.mark.parametrize("text", GOOD_DATES)
def test_a_date_of_a_sitemap_is(text: str) -> None:
    assert check_lastmod(text, "urlset", NOW) is None


@pytest.mark.parametrize("text", BAD_DATES)
def test_a_date_of_a_sitemap_is_not(text: str) -> None:
    assert check_lastmod(text, "urlset", NOW) is LASTMOD_INVALID


@pytest.mark.parametrize("text", ["2025-03-03", "2026", "2025-03-02T12:00:01Z", "9999-12-31T23:59:59Z"])
def test_a_date_is_in_the_future(text: str) -> None:
    assert check_lastmod(text, "urlset", NOW) is LASTMOD_FUTURE


def test_a_feed_may_write_dates_as_mail_does() -> None:
    assert check_lastmod("Fri, 28 Feb 2025 10:00:00 +0900", "feed", NOW) is None
    assert check_lastmod("Fri, 28 Feb 2025 10:00:00 +0900", "urlset", NOW) is LASTMOD_INVALID
    assert check_lastmod("Fri, 28 Feb 2031 10:00:00 -0000", "feed", NOW) is LASTMOD_FUTURE


@given(st.text(), st.sampled_from(["urlset", "feed", None]))
def test_whatever_is_written_is_checked(text: str, kind: str | None) -> None:
    assert check_lastmod(text, kind, NOW) in (None, LASTMOD_INVALID, LASTMOD_FUTURE)


@given(st.floats(0.0, NOW))
def test_every_moment_of_the_past_is_a_date(when: float) -> None:
    assert check_lastmod(datetime.fromtimestamp(when, UTC).isoformat(), "urlset", NOW) is None


FITTING = [
    ("img", "image/png", True), ("img", "image/svg+xml", True), ("img", "text/html", False), ("img", "text/plain", False),
    ("img", "application/json", False), ("img", "application/octet-stream", True), ("script", "text/javascript", True),
    ("script", "application/x-javascript", True), ("script", "application/json", True), ("script", "text/html", False),
    ("script", "text/plain", False), ("link", "text/css", True), ("link", "image/x-icon", True), ("link", "text/html", False),
    ("iframe", "text/html", True), ("media", "video/mp4", True), ("media", "text/html", False), ("img", "", True),
]  # fmt: skip


@pytest.mark.parametrize("kind, media_type, expected", FITTING)
def test_a_file_fits_what_it_is_used_for(kind: str, media_type: str, expected: bool) -> None:
    assert is_accepted_type(kind, media_type) is expected


MISSING = [
    ("here", False), ("nowhere", True), ("top", False), ("TOP", False), ("!/x", False), ("/x", False), (":~:text=a", False),
    ("a=b", False), ("é", False), ("HERE", True),
]  # fmt: skip


@pytest.mark.parametrize("fragment, expected", MISSING)
def test_a_fragment_names_a_place_or_none(fragment: str, expected: bool) -> None:
    assert is_missing(fragment, frozenset({"here", "%C3%A9"})) is expected


SPELLINGS = [
    ("https://a/x/", "https://a/x"), ("https://a/X", "https://a/x"), ("https://a/x?b=1", "https://a/x"),
    ("https://a/x/index.html", "https://a/x"), ("https://a/x/Default.aspx?y", "https://a/x"),
]  # fmt: skip


@pytest.mark.parametrize("one, other", SPELLINGS)
def test_spellings_of_one_url_come_to_the_same(one: str, other: str) -> None:
    assert normalise_all(one) == normalise_all(other)


@pytest.mark.parametrize(
    "path",
    [
        "news/",
        "news/index.html",
        "news/2",
        "news/page/2/",
        "news/page-3",
        "news-2.html",
        "news_p4",
        "news?page=5",
        "news?start=20",
    ],
)
def test_pages_of_one_list_have_one_series_name(path: str) -> None:
    assert series_name(f"https://a.example/{path}") == series_name("https://a.example/news")


@pytest.mark.parametrize("path", ["", "news/archive", "news?tag=x", "news/2/comments", "old-news"])
def test_pages_of_another_list_have_another_series_name(path: str) -> None:
    assert series_name(f"https://a.example/{path}") != series_name("https://a.example/news")


def test_a_list_at_the_root_of_a_host_is_one_series() -> None:
    assert series_name("https://a.example/page/2") == series_name("https://a.example/")


def test_other_urls_stay_apart() -> None:
    assert normalise_all("https://a/x") != normalise_all("https://a/xy")
    assert without_slash("https://a/x/?y/") == "https://a/x?y/"
    assert without_index("https://a/index.html?x") == "https://a/?x"
    assert without_index("https://a/reindex.html") == "https://a/reindex.html"
