"""Every option of `tadoru links` changes something that the site or the result shows; every other name of it does the same."""

from __future__ import annotations

import asyncio
import json
import ssl
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trustme

from tadoru.config.options import JOB_SETTINGS
from tests.acceptance.command import Tadoru, paths
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site

ELSEWHERE = {
    "accept", "allow_private", "check", "fail_on", "fragments", "ignore", "suppress",  # test_checks
    "cache", "cache_failures", "max_age", "report", "write_suppressions",  # test_checks, tests/engine/test_external_checks
    "exclude_file", "host_auth", "host_header", "remap", "retries",  # tests/engine/test_external_checks
    "format", "output",  # test_output
    "base_url", "extensionless", "kinds",  # tests/jobs/test_links_local, tests/engine/test_check
    "list",  # test_list_and_explain
    "max_time", "state",  # test_stop
    "processes",  # test_two_processes
    "recrawl",  # test_stored_options
    "robots_agent", "robots_file",  # test_list_and_explain
    "log_file",  # test_linktadoru
}  # fmt: skip


@pytest.fixture
def garden(site: Site) -> Site:
    """A small site with one of everything that options are about."""
    site.robots("User-agent: *\nDisallow: /hidden\n")
    site.page("/", links=["/a/", "/hidden", "/shop?utm_source=x&id=1", "/s?sid=0123456789abcdef0123", "http://other.invalid/x"])
    site.page("/a/", links=["/a/b", "/c"])
    site.page("/a/b", links=["/a/deep"])
    for path in ("/a/deep", "/c", "/hidden", "/shop", "/s"):
        site.page(path)
    return site


EVERYTHING = {"/", "/a/", "/a/b", "/a/deep", "/c", "/hidden", "/shop?utm_source=x&id=1", "/s?sid=0123456789abcdef0123"}

REQUESTED: dict[str, tuple[list[str], set[str]]] = {
    "depth": (["--depth", "1"], EVERYTHING - {"/a/b", "/a/deep", "/c", "/hidden"}),
    "depth 0": (["--depth", "0"], {"/"}),
    "limit": (["--limit", "2", "-c", "1"], {"/", "/a/"}),
    "include": (["--include", "/a/"], {"/", "/a/", "/a/b", "/a/deep"}),
    "include twice": (["--include", "/a/$", "--include", "/a/b"], {"/", "/a/", "/a/b"}),
    "exclude": (["--exclude", "[?]", "--exclude", "/c$"], {"/", "/a/", "/a/b", "/a/deep"}),
    "ignore_robots": (["--ignore-robots"], EVERYTHING),
    "strip_tracking": (["--strip-tracking", "--exclude", "/a/|sid"], {"/", "/shop?id=1"}),
    "strip_sessions": (["--strip-sessions", "--exclude", "/a/|shop"], {"/", "/s"}),
}


@pytest.mark.parametrize("arguments, requested", REQUESTED.values(), ids=REQUESTED)
def test_what_is_requested_follows_the_option(arguments: list[str], requested: set[str], tadoru: Tadoru, garden: Site) -> None:
    tadoru.map(garden.url(), *arguments)
    assert set(garden.paths) - {"/robots.txt"} == requested
    assert ("/robots.txt" in garden.paths) == ("--ignore-robots" not in arguments)


def test_the_scope_can_be_the_start_s_path(tadoru: Tadoru, garden: Site) -> None:
    result = tadoru.map(garden.url("/a/"), "--scope", "path")
    assert set(garden.paths) - {"/robots.txt"} == {"/a/", "/a/b", "/a/deep"}
    assert {info["not_fetched"] for info in result["internal_urls"] if info["url"].endswith("/c")} == {"outside the path /a/"}


@pytest.mark.parametrize("arguments", [["--subdomains"], ["--scope", "domain"]], ids=["--subdomains", "--scope domain"])
def test_the_scope_can_be_the_whole_domain(arguments: list[str], tadoru: Tadoru) -> None:
    asked = ("explain", "https://shop.example.co.uk/", "--start", "https://www.example.co.uk/", "--ignore-robots", "--json")
    assert tadoru(*asked).result["crawled"] is False
    assert tadoru(*asked, *arguments).result["crawled"] is True


def test_external_urls_are_listed_when_asked_for(tadoru: Tadoru, garden: Site) -> None:
    assert tadoru.map(garden.url())["external_urls"] == []
    listed = tadoru.map(garden.url(), "--include-external")["external_urls"]
    assert [(info["url"], info["status_code"]) for info in listed] == [("http://other.invalid/x", None)]


@pytest.mark.parametrize("limit, months", [("3", 3), ("0", 8)])
def test_an_endless_kind_of_url_is_cut_off_where_asked(limit: str, months: int, tadoru: Tadoru, site: Site) -> None:
    for number in range(8):
        site.page(f"/when?month=2024-0{number + 1}", links=[f"/when?month=2024-0{number + 2}"])
    site.page("/", links=["/when?month=2024-01"])
    result = tadoru.map(site.url(), "--trap-limit", limit, "--depth", "8")
    assert sum(path.startswith("/when?") for path in site.paths) == months
    assert bool(result["traps"]) == (limit == "3")


@pytest.mark.parametrize("written", ["0.15", "150ms", "0.15s"])
def test_a_delay_is_kept_however_it_is_written(written: str, tadoru: Tadoru, site: Site) -> None:
    tadoru.map(site.url("/tree/5/4/0"), "--delay", written)
    gaps = [after.at - before.at for before, after in pairwise(site.requests)]
    assert len(gaps) == 5
    assert min(gaps) > 0.05
    assert sum(gaps) >= 0.7


@pytest.mark.parametrize("flag", ["-c", "--concurrency"])
def test_so_many_requests_are_in_flight_and_no_more(flag: str, tadoru: Tadoru, site: Site) -> None:
    now, most = 0, 0

    async def slow(exchange: Exchange, _: str) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.05)  # What a slow page takes.
        now -= 1
        await exchange.send(Reply())

    site.handle("/slow/*", slow)
    site.page("/", links=[f"/slow/{number}" for number in range(9)])
    tadoru.map(site.url(), flag, "3")
    assert (most, len(site.requests)) == (3, 11)


def test_patience_ends_with_the_timeout(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/bad/never"])
    done = tadoru.links(site.url(), "--timeout", "200ms", "--max-time", "900ms", "-v")
    assert "/bad/never again_after=" in done.err
    assert "because=response_timeout" in done.err


@pytest.mark.parametrize("size, works", [("10k", False), ("20480", False), ("1MB", True), ("0.5MiB", True)])
def test_larger_bodies_are_given_up(size: str, works: bool, tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/big"])
    site.page("/big", body="x" * 30_000)
    result = tadoru.map(site.url(), "--max-response-size", size)
    assert [failed["error_type"] for failed in result["failed_urls"]] == ([] if works else ["response_too_large"])


def test_headers_and_credentials_go_to_the_site_and_nowhere_else(tadoru: Tadoru, site: Site, elsewhere: Site) -> None:
    site.page("/", links=["/a", elsewhere.url("/x")])
    site.redirect("/a", elsewhere.url("/y"))
    (tadoru.folder / "cookies.txt").write_text(f"127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tbiscuit{site.port}\n")
    given = ("-H", "X-One: 1", "--header", "X-Two: 2", "-u", "Tester/1.0", "--cookies", "cookies.txt")
    signed = ("--auth-type", "basic", "--auth-username", "ann", "--auth-password", "s3cret")
    tadoru.map(site.url(), "--check", "--allow-private", *given, *signed)
    seen = next(seen for seen in site.requests if seen.path == "/")
    assert {name: seen.headers[name] for name in ("x-one", "x-two", "user-agent", "authorization")} == {
        "x-one": "1", "x-two": "2", "user-agent": "Tester/1.0", "authorization": "Basic YW5uOnMzY3JldA==",
    }  # fmt: skip
    assert "session=biscuit" in seen.headers["cookie"]
    assert {"/x", "/y"} <= set(elsewhere.paths)
    for seen in elsewhere.requests:
        assert seen.headers["user-agent"] == "Tester/1.0"
        assert not {"x-one", "x-two", "authorization"} & set(seen.headers)


@pytest.mark.parametrize(
    "arguments, header, value",
    [
        (["--auth-type", "bearer", "--auth-token", "t0ken"], "authorization", "Bearer t0ken"),
        (["--auth-type", "api-key", "--auth-header", "X-Key", "--auth-value", "k3y"], "x-key", "k3y"),
    ],
    ids=["bearer", "api-key"],
)
def test_a_token_or_a_key_signs_in(arguments: list[str], header: str, value: str, tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    tadoru.map(site.url(), *arguments)
    assert all(seen.headers[header] == value for seen in site.requests)


def test_the_user_agent_is_honest_by_default(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    tadoru.map(site.url())
    agents = {seen.headers["user-agent"] for seen in site.requests}
    assert len(agents) == 1
    assert agents.pop().startswith("Tadoru/0.1.0 (+https://")


def test_a_proxy_is_asked_for_everything(tadoru: Tadoru, site: Site, elsewhere: Site) -> None:
    site.page(elsewhere.url("/"), links=["/a"])
    site.page(elsewhere.url("/a"))
    result = tadoru.map(elsewhere.url(), "--proxy", site.base)
    assert paths(result) == {"/", "/a"}
    assert elsewhere.paths == []


def test_a_foreign_certificate_is_accepted_only_when_asked(tadoru: Tadoru) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with Site(tls=context) as site:
        site.page("/")
        assert tadoru.links(site.url(), "-q").code == 1
        assert paths(tadoru.map(site.url(), "--insecure")) == {"/"}


ALIASES = [
    (["--max-depth", "7"], "depth", 7),
    (["--max-urls", "7"], "limit", 7),
    (["--max-pages", "7"], "limit", 7),
    (["--no-robots"], "ignore_robots", True),
    (["--ignore-robots-txt"], "ignore_robots", True),
    (["--include-patterns", "a", "--include", "b"], "include", ["b", "a"]),
    (["--exclude-patterns", "a,b"], "exclude", ["a,b"]),
    (["-r", "2s"], "delay", 2.0),
    (["-r", "500ms"], "delay", 0.5),
    (["--delay", "90s"], "delay", 90.0),
    (["-t", "1.5"], "timeout", 1.5),
    (["--timeout", "2m"], "timeout", 120.0),
    (["-c", "9"], "concurrency", 9),
    (["-u", "me"], "user_agent", "me"),
    (["-f", "dot"], "format", "dot"),
    (["-o", "file"], "output", "file"),
    (["--max-response-size", "2MB"], "max_response_size", 2 * 1024 * 1024),
    (["--processes", "auto"], "processes", None),
    (["--limit", "5", "--max-urls", "6"], "limit", 6),
]


def shown(tadoru: Tadoru, *arguments: str, **options: Any) -> dict[str, dict[str, Any]]:
    """What `--show-config` says of each option."""
    done = tadoru("links", "--show-config", *arguments, **options)
    assert done.code == 0, done.err
    listing: dict[str, dict[str, Any]] = json.loads(done.out)["links"]
    return listing


@pytest.mark.parametrize("arguments, name, value", ALIASES, ids=[" ".join(arguments) for arguments, _, _ in ALIASES])
def test_every_other_name_and_form_means_the_same(arguments: list[str], name: str, value: object, tadoru: Tadoru) -> None:
    found = shown(tadoru, *arguments)[name]
    assert (sorted(found["value"]) if isinstance(value, list) else found["value"]) == (
        sorted(value) if isinstance(value, list) else value
    )
    assert found["source"] == "flag"


def test_the_defaults_are_as_settled(tadoru: Tadoru) -> None:
    values = {name: found["value"] for name, found in shown(tadoru).items()}
    settled = {
        "delay": 1.0, "concurrency": 4, "depth": 3, "limit": 1000, "timeout": 10.0, "format": "text", "scope": "host",
        "max_response_size": 10 * 1024 * 1024, "ignore_robots": False, "include_external": False, "check": False,
        "allow_private": False, "processes": None, "accept": "200..299",
    }  # fmt: skip
    assert {name: values[name] for name in settled} == settled
    assert {found["source"] for found in shown(tadoru).values()} == {"default"}


def test_every_option_is_held_to_its_effect() -> None:
    here = Path(__file__).read_text("utf-8")
    named = {setting.name for setting in JOB_SETTINGS["links"] if any(f'"{flag}"' in here for flag in setting.flags)}
    assert {setting.name for setting in JOB_SETTINGS["links"]} - named - ELSEWHERE == set()
