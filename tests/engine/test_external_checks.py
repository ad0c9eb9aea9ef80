"""What builds need of external links: a cache of results, remapped URLs, retries, credentials by host, and bot blockers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tadoru.clock import SystemClock
from tadoru.errors import UsageError
from tadoru.jobs.links.run import links_async, read_checks
from tests.support.crawling import UNHURRIED, FastClock, by_path, crawl, set_up
from tests.support.site import Site

CHECK: dict[str, Any] = {"check": True, "allow_private": True, "ignore_robots": True}


def lines(path: Path) -> dict[str, dict[str, Any]]:
    """The entries of a cache by their URL."""
    return {entry["url"]: entry for entry in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


async def test_a_good_result_in_the_cache_is_not_requested_again(tmp_path: Path) -> None:
    cache = tmp_path / "links.cache"
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/fine"), other.url("/old"), other.url("/gone")])
        other.page("/fine")
        other.redirect("/old", "/new")
        other.page("/new")
        first = await crawl(site, cache=str(cache), **CHECK)
        requests = len(other.requests)
        before = lines(cache)
        second = await crawl(site, cache=str(cache), **CHECK)
        again = [(seen.method, seen.path) for seen in other.requests[requests:]]
    assert set(before) == {other.url("/fine"), other.url("/old"), other.url("/new")}
    assert again == [("HEAD", "/gone"), ("GET", "/gone")]
    assert [(link.url, link.error) for link in second.broken_links] == [(other.url("/gone"), "404 Not Found")]
    states = [{info.url: (info.status_code, info.redirect_to) for info in result.external_urls} for result in (first, second)]
    assert states[0] == states[1]
    assert lines(cache) == before, "the results keep the times of their requests"


async def test_a_cached_host_is_asked_for_nothing_not_even_its_robots_txt(tmp_path: Path) -> None:
    cache = str(tmp_path / "links.cache")
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/fine")])
        other.page("/fine")
        await crawl(site, cache=cache, check=True, allow_private=True)
        other.requests.clear()
        result = await crawl(site, cache=cache, check=True, allow_private=True, delay=0.01)
    assert other.requests == []
    assert [(info.status_code) for info in result.external_urls] == [200]


async def test_images_of_other_sites_are_cached_too(tmp_path: Path) -> None:
    cache = tmp_path / "links.cache"
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.html("/", f'<img src="{other.url("/a.png")}"><img src="{other.url("/gone.png")}"><img src="/own.png">')
        other.reply("/a.png", headers={"Content-Type": "image/png"})
        site.reply("/own.png", headers={"Content-Type": "image/png"})
        first = await crawl(site, cache=str(cache), **CHECK)
        assert set(lines(cache)) == {other.url("/a.png")}
        before = other.hits("/a.png")
        second = await crawl(site, cache=str(cache), **CHECK)
    assert (before, other.hits("/a.png")) == (1, 1)
    assert site.hits("/own.png") == 2
    assert [link.url for link in first.broken_links] == [link.url for link in second.broken_links] == [other.url("/gone.png")]


async def test_results_older_than_the_maximum_age_are_requested_again(tmp_path: Path) -> None:
    cache = tmp_path / "links.cache"
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/fine")])
        other.page("/fine")
        url = other.url("/fine")
        entry = {"url": url, "checked_at": SystemClock().now() - 3600, "status_code": 200}
        cache.write_text(json.dumps(entry) + "\n", encoding="utf-8")
        await crawl(site, cache=str(cache), max_age="2h", **CHECK)
        assert other.requests == []
        await crawl(site, cache=str(cache), max_age="30m", **CHECK)
        assert other.hits("/fine") == 1
    assert lines(cache)[url]["checked_at"] > entry["checked_at"]


async def test_failures_are_cached_on_request(tmp_path: Path) -> None:
    cache = str(tmp_path / "links.cache")
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/gone"), "http://127.0.0.2:1/refused"])
        first = await crawl(site, cache=cache, cache_failures=True, retries=0, **CHECK)
        requests = len(other.requests)
        second = await crawl(site, cache=cache, cache_failures=True, retries=0, **CHECK)
    assert len(other.requests) == requests
    assert first.broken_links == second.broken_links
    assert len(second.broken_links) == 2


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[]",
        '{"url": "https://a.example/"}',
        '{"url": 1, "checked_at": 1, "status_code": 200}',
        '{"url": "https://a.example/", "checked_at": 1, "error_type": "odd"}',
        '{"url": "https://a.example/", "checked_at": 1, "status_code": 301, "redirect_url": 5}',
        '{"url": "https://a.example/", "checked_at": 1, "status_code": "200", "error_type": "dns"}',
        "[" * 100_000,
    ],
)
def test_another_file_is_not_taken_for_a_cache(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="line 1: not a result of an external link"):
        read_checks(str(path), 0.0)


async def test_links_to_the_live_site_are_requested_where_it_is_tried_out() -> None:
    async with Site() as site:
        site.page("/", links=["https://garden.example/a", "https://garden.example/a?x=1#part", "https://garden.example.org/"])
        site.page("/a", links=["/b"])
        site.redirect("/b", "https://garden.example/c")
        site.page("/c")
        result = await crawl(site, remap=[f"https://garden.example={site.base}"])
    assert {path: info.status_code for path, info in by_path(site, result).items()} == {
        "/": 200, "/a": 200, "/a?x=1": 200, "/b": 302, "/c": 200,
    }  # fmt: skip
    assert [info.url for info in result.external_urls] == ["https://garden.example.org/"]


async def test_a_start_url_is_remapped_too_and_a_path_below_another_path() -> None:
    async with Site() as site:
        site.page("/build/", links=["https://garden.example/docs/a", "https://garden.example/docs-old/"])
        site.page("/build/a")
        remap = [f"https://garden.example/docs/={site.url('/build')}"]
        result = await links_async("https://garden.example/docs/", remap=remap, **UNHURRIED)
    assert {path for path, info in by_path(site, result).items() if info.status_code == 200} == {"/build/", "/build/a"}
    assert [info.url for info in result.external_urls] == ["https://garden.example/docs-old/"]


async def test_a_flaky_link_is_retried_before_it_counts_as_broken(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/flaky")])
        other.reply("/flaky", status=502, times=6)
        other.page("/flaky")
        setup = await set_up(site, tmp_path, retries=3, **CHECK)
        await setup.run(clock=FastClock(200.0))
        result = await setup.result()
    assert result.broken_links == ()
    assert other.hits("/flaky") == 7


async def test_an_accepted_failure_is_neither_broken_nor_failed() -> None:
    async with Site() as site:
        site.page("/", links=["http://127.0.0.1:9/gone"])
        result = await crawl(site, accept="network", retries=0, **CHECK)
        strict = await crawl(site, retries=0, **CHECK)
    assert (result.broken_links, result.failed_urls) == ((), ())
    assert len(strict.broken_links) == len(strict.failed_urls) == 1


async def test_no_retries_ask_once(tmp_path: Path) -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/busy")])
        other.reply("/busy", status=503)
        result = await crawl(site, retries=0, **CHECK)
    assert [seen.method for seen in other.requests] == ["HEAD"]
    assert [link.error for link in result.broken_links] == ["503 Service Unavailable"]


async def test_headers_and_credentials_of_a_host_go_to_that_host_only() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other, Site(host="127.0.0.3") as third:
        site.page("/", links=[other.url("/x"), third.url("/y")])
        other.redirect("/x", third.url("/z"))
        third.page("/y")
        third.page("/z")
        await crawl(
            site,
            host_header=[f"{other.base} X-Key: one"],
            host_auth=[f"{other.base} name:word:word", f"{site.base} bearer abc"],
            **CHECK,
        )
    (seen,) = other.requests
    assert (seen.headers.get("x-key"), seen.headers.get("authorization")) == ("one", "Basic bmFtZTp3b3JkOndvcmQ=")
    assert {seen.headers.get("authorization") for seen in site.requests} == {"Bearer abc"}
    assert {(seen.headers.get("authorization"), seen.headers.get("x-key")) for seen in third.requests} == {(None, None)}


async def test_what_is_for_a_host_replaces_what_is_for_the_site() -> None:
    async with Site() as site:
        site.page("/")
        await crawl(
            site, header=["X-Key: general", "X-Other: kept"], host_header=[f"{site.base} x-key: special"], ignore_robots=True
        )
    (seen,) = site.requests
    assert (seen.headers.get("x-key"), seen.headers.get("x-other")) == ("special", "kept")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"host_auth": ["api.example.com token"]}, "needs “HOST user:password”"),
        ({"host_header": ["X-Key:secret"]}, "must be a host and, after a space"),
        ({"host_header": ["https://a.example/path X-Key: secret"]}, "is not a host"),
        ({"host_header": ["a.example secret"]}, "Name: value"),
        ({"remap": ["https://a.example"]}, "must be two URLs"),
        ({"exclude_file": "none.txt"}, "Cannot read none.txt"),
    ],
)
async def test_what_cannot_be_meant_is_refused_without_the_secret(options: dict[str, Any], message: str) -> None:
    async with Site() as site:
        with pytest.raises(UsageError, match=message) as refused:
            await crawl(site, **options)
    assert "secret" not in str(refused.value)
    assert site.requests == []


async def test_patterns_of_a_file_are_never_requested(tmp_path: Path) -> None:
    patterns = tmp_path / "exclude.txt"
    patterns.write_text("# private\n/private/  # not for crawlers\n\\.pdf$\n", encoding="utf-8")
    async with Site() as site:
        site.page("/", links=["/private/a", "/b.pdf", "/c"])
        site.page("/c")
        result = await crawl(site, exclude_file=str(patterns), ignore_robots=True)
    assert sorted(seen.path for seen in site.requests) == ["/", "/c"]
    assert by_path(site, result)["/b.pdf"].not_fetched == r"excluded by pattern \.pdf$"


async def test_excluded_urls_of_other_sites_and_excluded_images_are_not_requested() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.html("/", f"<a href={other.url('/private')}>x</a><a href={other.url('/gone')}>x</a><img src=/private.png>")
        result = await crawl(site, exclude=["/private"], **CHECK)
    assert {seen.path for seen in other.requests} == {"/gone"}
    assert [seen.path for seen in site.requests] == ["/"]
    assert {info.url: info.not_fetched for info in result.external_urls}[other.url("/private")] == "excluded by pattern /private"


async def test_links_and_style_sheets_outside_the_path_are_checked_and_not_followed() -> None:
    async with Site() as site:
        site.html("/docs/", "<link rel=stylesheet href=/gone.css><a href=/>x</a><a href=/gone>x</a><a href=a>x</a>")
        site.page("/docs/a")
        site.page("/", links=["/other"])
        result = await crawl(site, "/docs/", scope="path", **CHECK)
    assert {link.url.removeprefix(site.base) for link in result.broken_links} == {"/gone", "/gone.css"}
    assert "/other" not in {seen.path for seen in site.requests}


async def test_relative_links_are_remapped_like_others() -> None:
    async with Site() as site:
        site.page("/build/", links=["/docs/a"])
        site.page("/build/a")
        result = await crawl(site, "/build/", remap=[f"{site.url('/docs')}={site.url('/build')}"])
    assert set(by_path(site, result)) == {"/build/", "/build/a"}


async def test_redirects_of_images_are_remapped_too() -> None:
    async with Site() as site:
        site.html("/", "<img src=/old.png>")
        site.redirect("/old.png", "https://garden.example/new.png")
        result = await crawl(site, remap=[f"https://garden.example={site.base}"], **CHECK)
    assert [(link.url, link.status_code) for link in result.broken_links] == [(site.url("/old.png"), 404)]


async def test_an_invalid_pattern_is_named_by_its_line(tmp_path: Path) -> None:
    patterns = tmp_path / "exclude.txt"
    patterns.write_text("fine\n(\n", encoding="utf-8")
    async with Site() as site:
        with pytest.raises(UsageError, match=r"exclude\.txt, line 2: "):
            await crawl(site, exclude_file=str(patterns))


async def test_a_challenge_is_blocked_and_not_retried() -> None:
    async with Site() as site, Site(host="127.0.0.2") as other:
        site.page("/", links=[other.url("/challenge"), other.url("/busy")])
        other.reply("/challenge", status=503, headers={"CF-Mitigated": "challenge"})
        other.reply("/busy", status=500)
        result = await crawl(site, retries=0, **CHECK)
    assert other.hits("/challenge") == 1
    assert [(link.url, link.error) for link in result.blocked_links] == [
        (other.url("/challenge"), "Answered 503: Cloudflare blocks crawlers.")
    ]
    assert [link.url for link in result.broken_links] == [other.url("/busy")]
