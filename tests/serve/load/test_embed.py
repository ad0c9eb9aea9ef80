"""The calendar in a frame, what it is called, and whose scripts may read it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tadoru.config.parsers import parse_contact_url, parse_frame_origin, parse_name
from tadoru.errors import UsageError
from tadoru.serve.auth.http_security import CONTENT_SECURITY_POLICY
from tests.serve.api.conftest import fill
from tests.support.serving import ServiceHarness

HTML = {"accept": "text/html"}


def _desk(folder: Path, **options: object) -> ServiceHarness:
    harness = ServiceHarness(folder / "events.db", **options)
    fill(harness)
    return harness


def test_only_the_sites_that_were_named_may_show_it_in_a_frame(tmp_path: Path) -> None:
    harness = _desk(tmp_path, embed=("https://town.example", "https://other.example"))
    shown = harness.anybody.get("/embed?from=2050-01-01", headers=HTML)
    wanted = CONTENT_SECURITY_POLICY.replace(
        "frame-ancestors 'none'", "frame-ancestors https://town.example https://other.example"
    )
    assert (shown.status_code, shown.headers["content-security-policy"]) == (200, wanted)
    assert "x-frame-options" not in shown.headers
    for path in ("/", "/month/2050-08", "/events/1", "/sign-in", "/embed/nothing"):
        headers = harness.anybody.get(path, headers=HTML).headers
        assert (headers["x-frame-options"], headers["content-security-policy"]) == ("DENY", CONTENT_SECURITY_POLICY), path
    harness.close()


def test_without_the_option_nobody_frames_it(tmp_path: Path) -> None:
    harness = _desk(tmp_path)
    headers = harness.anybody.get("/embed").headers
    assert (headers["x-frame-options"], headers["content-security-policy"]) == ("DENY", CONTENT_SECURITY_POLICY)
    harness.close()


def test_it_shows_what_was_chosen_and_its_links_leave_the_frame(tmp_path: Path) -> None:
    harness = _desk(tmp_path, embed=("*",), site_name="<町の暦>", lang="ja")
    text = harness.anybody.get("/embed?city=花巻&from=2050-01-01&limit=1&lang=ja", headers=HTML).text
    assert re.findall(r'<h3><a href="/events/\d+">([^<]+)', text) == ["音楽会"]
    assert '<base target="_top">' in text
    assert "&lt;町の暦&gt;" in text
    assert "<form" not in text
    assert "<script" not in text
    month = harness.anybody.get("/embed?view=month&month=2050-08&category=music&lang=ja", headers=HTML).text
    assert "音楽会" in month
    assert "星まつり" not in month
    assert 'href="/embed?category=music&amp;view=month&amp;month=2050-09" rel="next" target="_self"' in month
    harness.close()


@pytest.mark.parametrize("query", ["limit=0", "limit=9999", "limit=²", "limit=-1", "view=month&month=9999-99", "view=nothing",
                                   "from=never",
                                   "view=month&month=1900-01", "view=month&month=2199-12", "q=%00%22%3E"])  # fmt: skip
def test_no_parameter_is_too_strange(tmp_path: Path, query: str) -> None:
    harness = ServiceHarness(tmp_path / "events.db", embed=("*",))
    assert harness.anybody.get(f"/embed?{query}").status_code == (400 if query == "from=never" else 200)
    harness.close()


def test_the_name_of_the_calendar_is_everywhere_and_who_is_responsible_on_each_page(tmp_path: Path) -> None:
    harness = _desk(tmp_path, site_name="町の暦, 全部", contact="https://town.example/imprint?a=1&b=2")
    page = harness.anybody.get("/", headers=HTML).text
    assert "· 町の暦, 全部</title>" in page
    assert 'href="https://town.example/imprint?a=1&amp;b=2"' in page
    assert "X-WR-CALNAME:町の暦\\, 全部" in harness.anybody.get("/events.ics?from=2050-01-01").text
    assert "<title>町の暦, 全部</title>" in harness.anybody.get("/events.rss?from=2050-01-01").text
    assert harness.anybody.get("/openapi.json").json()["info"]["title"] == "町の暦, 全部"
    harness.close()


def test_options_that_become_headers_and_links_are_what_they_should_be() -> None:
    assert (parse_frame_origin("*"), parse_frame_origin("https://town.example/")) == ("*", "https://town.example")
    assert parse_name(" 町の \t 暦 ") == "町の 暦"
    assert parse_contact_url("mailto:office@town.example") == "mailto:office@town.example"
    for parse, given in (
        (parse_frame_origin, "https://town.example; script-src *"), (parse_frame_origin, "'self'"),
        (parse_frame_origin, "https://a b"),
        (parse_contact_url, "javascript:alert(1)"), (parse_contact_url, "https://a.example/\" onclick=\"x"),
        (parse_contact_url, "office"),
        (parse_name, "x" * 101), (parse_name, "a\nb"), (parse_name, "a\u202eb"),
    ):  # fmt: skip
        with pytest.raises(UsageError):
            parse(given)


def test_scripts_of_a_named_site_read_the_lists_and_no_other_site_does(tmp_path: Path) -> None:
    harness = _desk(tmp_path, cors=("https://town.example",))
    for path in ("/api/v1/events?from=2050-01-01", "/events.ics", "/api/v1/cities"):
        ours = harness.anybody.get(path, headers={"origin": "https://town.example"}).headers
        assert ours["access-control-allow-origin"] == "https://town.example"
        assert "access-control-allow-credentials" not in ours
        assert "Origin" in ours["vary"]
        assert "access-control-allow-origin" not in harness.anybody.get(path, headers={"origin": "https://evil.example"}).headers
    before = {
        "origin": "https://town.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization",
    }
    assert harness.anybody.options("/api/v1/events", headers=before).status_code == 200
    assert harness.anybody.options("/api/v1/events", headers=before | {"origin": "https://evil.example"}).status_code == 400
    harness.close()
