from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.links.result import BrokenLink, CrawlResult, FailedUrl, LinkSource, SkippedTrap, UrlInfo
from tests.jobs.links_sites import HOME, START, invented, page, small

SEED_FIELDS = ["start_url", "internal_urls", "external_urls", "failed_urls", "total_processed", "total_found", "crawl_duration"]


def test_the_seeds_fields_come_first_and_in_its_order() -> None:
    document = small().result.to_dict()
    assert list(document)[:7] == SEED_FIELDS
    assert list(document["internal_urls"][0])[:5] == ["url", "depth", "parent_url", "status_code", "discovered_at"]
    assert list(document["failed_urls"][0])[:4] == ["url", "error_message", "attempted_at", "parent_url"]


def test_a_result_survives_json() -> None:
    result = invented(700).result
    assert result.traps
    assert CrawlResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_the_bare_form_of_the_seed_is_read() -> None:
    document = {name: value for name, value in small().result.to_dict().items() if name in SEED_FIELDS}
    document["internal_urls"] = [dict(list(info.items())[:5]) for info in document["internal_urls"]]
    document["failed_urls"] = [dict(list(failed.items())[:4]) for failed in document["failed_urls"]]
    result = CrawlResult.from_dict(document)
    assert result.internal_urls[0].url == HOME
    assert result.failed_urls[0].error_message == "404 Not Found"
    assert result.bad_links == ()


def test_times_are_written_in_utc_whatever_their_zone() -> None:
    tokyo = datetime(2026, 1, 1, 3, 0, tzinfo=timezone(timedelta(hours=9)))
    assert UrlInfo(HOME, 0, None, 200, tokyo).to_dict()["discovered_at"] == "2025-12-31T18:00:00Z"
    assert FailedUrl(HOME, "gone", tokyo, None).to_dict()["attempted_at"] == "2025-12-31T18:00:00Z"


def test_a_time_without_a_zone_is_refused() -> None:
    naive = START.replace(tzinfo=None)
    with pytest.raises(ValueError, match="zone"):
        UrlInfo(HOME, 0, None, 200, naive)
    with pytest.raises(ValueError, match="zone"):
        FailedUrl(HOME, "gone", naive, None)


def test_redirects_are_the_urls_that_lead_elsewhere() -> None:
    assert [info.url for info in small().result.redirects] == [HOME + "old"]


def test_bad_links_go_each_to_their_place() -> None:
    kinds = [BrokenLink(kind, None, "", kind) for kind in ("blocked", "fragment", "broken")]
    result = small().result.with_bad_links(kinds)
    assert [link.kind for link in result.broken_links] == ["fragment", "broken"]
    assert [link.kind for link in result.blocked_links] == ["blocked"]


@pytest.mark.parametrize(
    "change, words",
    [
        pytest.param(lambda document: document.pop("failed_urls"), "'failed_urls' is missing", id="a field is missing"),
        pytest.param(lambda document: document.update(internal_urls=7), "not iterable", id="a list is no list"),
        pytest.param(
            lambda document: document.update(internal_urls=["x"]), "Not a result of `tadoru links`", id="a URL is a string"
        ),
        pytest.param(lambda document: document["broken_links"][0].update(kind="odd"), "odd", id="an unknown kind"),
        pytest.param(
            lambda document: document["internal_urls"][0].update(discovered_at="2026-01-01T00:00:00"),
            "zone",
            id="a time without zone",
        ),
    ],
)
def test_a_foreign_document_is_refused_with_a_sentence(change: object, words: str) -> None:
    document = small().result.to_dict()
    change(document)  # type: ignore[operator]
    with pytest.raises(UsageError, match=words):
        CrawlResult.from_dict(document)


@given(st.text(), st.text(), st.none() | st.text(), st.none() | st.integers(100, 999))
def test_any_text_survives_json(url: str, title: str, parent: str | None, status: int | None) -> None:
    source = LinkSource(url, title, title, 3)
    result = CrawlResult(
        url, (page(url, 1, parent, status, title=title),), (),
        (FailedUrl(url, title, START, parent, "", status, True, (source,)),), 1, 1, 0.5,
        (BrokenLink(url, status, title, "broken", (source,)),), (), (SkippedTrap(url, title, 4),), title,
    )  # fmt: skip
    assert CrawlResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result
