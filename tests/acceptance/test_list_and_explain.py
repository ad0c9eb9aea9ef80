"""Looking before leaping: `--list` follows nothing, `--dry-run` asks nobody, `tadoru explain` says which rule decides."""

from __future__ import annotations

import pytest

from tests.acceptance.command import Tadoru, paths
from tests.support.site import Site


@pytest.fixture
def house(site: Site) -> Site:
    site.robots("User-agent: *\nDisallow: /private/\nCrawl-delay: 3\n\nUser-agent: Other\nDisallow: /\n")
    site.page("/", links=["/a", "/private/x", "http://other.invalid/"])
    site.page("/a", links=["/b"])
    site.page("/b")
    return site


def test_a_list_is_requested_exactly_and_nothing_is_followed(tadoru: Tadoru, site: Site, elsewhere: Site) -> None:
    site.page("/", links=["/a", "/b"])
    site.page("/a", links=["/c"])
    elsewhere.page("/x", links=["/y"])
    result = tadoru.map(site.url(), site.url("/a"), elsewhere.url("/x"), "--list")
    assert set(site.paths) == {"/robots.txt", "/", "/a"}
    assert set(elsewhere.paths) == {"/robots.txt", "/x"}
    assert {info["url"] for info in result["internal_urls"] if info["status_code"]} == {
        site.url("/"), site.url("/a"), elsewhere.url("/x"),
    }  # fmt: skip


@pytest.mark.parametrize("source", ["file", "stdin"])
def test_a_list_may_name_files(source: str, tadoru: Tadoru) -> None:
    (tadoru.folder / "a.md").write_text("[x](no.md)")
    (tadoru.folder / "b.md").write_text("[x](a.md)")
    (tadoru.folder / "files.txt").write_text("# documents\na.md\nb.md\n")
    names = ("--seed-file", "files.txt") if source == "file" else ("-",)
    done = tadoru("links", *names, "--fail-on", "broken", stdin="" if source == "file" else "a.md\nb.md\n")
    assert done.code == 10
    assert "a.md:1:5" in done.out


@pytest.mark.parametrize("source", ["file", "stdin"])
def test_a_list_is_read_from_a_file_or_from_stdin(source: str, tadoru: Tadoru, site: Site) -> None:
    site.page("/a", links=["/never"])
    site.page("/b")
    text = f"\ufeff# two pages\n{site.url('/a')}\n\n  {site.url('/b')}  \n"
    (tadoru.folder / "urls.txt").write_text(text, encoding="utf-8")
    arguments = ("links", "--list", "--delay", "0", "-f", "json", "--seed-file")
    done = tadoru(*arguments, "urls.txt") if source == "file" else tadoru(*arguments, "-", stdin=text.removeprefix("\ufeff"))
    assert done.code == 0, done.err
    assert set(site.paths) == {"/robots.txt", "/a", "/b"}


def test_a_dry_run_says_the_plan_and_asks_nobody(tadoru: Tadoru, house: Site) -> None:
    arguments = ("--dry-run", "--depth", "2", "--exclude", "/x", "--limit", "30", "--delay", "2", "--check", "-o", "out.json")
    done = tadoru("links", house.url(), *arguments, "-f", "json", "--state", "crawl.db")
    assert (done.code, done.err, house.paths) == (0, "", [])
    plan = dict(line.split(None, 1) for line in done.out.splitlines())
    assert plan["start"] == house.url()
    assert "every 2 s" in plan["pace"]
    assert "1.0 min for 30 pages" in plan["pace"]
    assert (plan["exclude"], plan["limit"], plan["result"]) == ("URLs that match /x", "30 pages", "json to out.json")
    assert plan["robots.txt"].startswith("obeyed")
    assert list(tadoru.folder.iterdir()) == [], "no state file and no output either"


def explained(tadoru: Tadoru, *arguments: str) -> tuple[bool, str, dict[str, str]]:
    done = tadoru("explain", *arguments, "--json")
    assert (done.code, done.err) == (0, ""), done.err
    return done.result["crawled"], done.result["because"], done.result


def test_an_ordinary_page_would_be_crawled_at_the_host_s_pace(tadoru: Tadoru, house: Site) -> None:
    crawled, because, rows = explained(tadoru, house.url("/a"))
    assert (crawled, because) == (True, "all rules allow it")
    assert rows["scope"] == "in scope"
    assert "one request every 3 s" in rows["pace"]
    assert "Crawl-delay" in rows["pace"]
    assert house.paths == ["/robots.txt"], "only robots.txt is asked for"


def test_the_line_of_robots_txt_that_forbids_is_named_unless_ignored(tadoru: Tadoru, house: Site) -> None:
    crawled, because, _ = explained(tadoru, house.url("/private/x"))
    assert (crawled, because) == (False, "robots.txt line 2: Disallow: /private/")
    assert explained(tadoru, house.url("/private/x"), "--ignore-robots")[0] is True


def test_the_group_of_another_crawler_or_another_file_can_be_tried(tadoru: Tadoru, house: Site) -> None:
    assert explained(tadoru, house.url("/a"), "--robots-agent", "Other")[:2] == (False, "robots.txt line 6: Disallow: /")
    (tadoru.folder / "new.txt").write_text("User-agent: *\nDisallow: /a\n", encoding="utf-8")
    assert explained(tadoru, house.url("/a"), "--robots-file", "new.txt")[:2] == (False, "robots.txt line 2: Disallow: /a")
    missing = tadoru("explain", house.url("/a"), "--robots-file", "none.txt")
    assert (missing.code, missing.sentence) == (2, "Cannot read none.txt (No such file or directory). Check its name.")


REFUSED = {
    "external": (["http://other.invalid/", "--start", "{base}/"], "external: other.invalid is not 127.0.0.1"),
    "excluded": (["{base}/a", "--exclude", "/a"], "excluded by pattern /a"),
    "not included": (["{base}/a", "--include", "/b"], "not matched by any --include pattern"),
    "outside the path": (["{base}/a", "--scope", "path", "--start", "{base}/docs/"], "outside the path /docs/"),
    "a trap": (["{base}/a/b/a/b/a/b/a/b/a/b/a/b/a/b", "--start", "{base}/"], "trap: "),
    "a private address": (["http://10.0.0.1/", "--start", "{base}/", "--check"], "private"),
}


@pytest.mark.parametrize("arguments, words", REFUSED.values(), ids=REFUSED)
def test_a_refused_url_is_told_by_which_rule_and_nobody_is_asked(
    arguments: list[str], words: str, tadoru: Tadoru, house: Site
) -> None:
    crawled, because, _ = explained(tadoru, *(argument.replace("{base}", house.base) for argument in arguments))
    assert crawled is False
    assert words in because
    assert house.paths == []


def test_an_endless_looking_url_is_told_its_cap(tadoru: Tadoru, house: Site) -> None:
    crawled, _, rows = explained(tadoru, house.url("/when?month=2024-01"), "--trap-limit", "9")
    assert crawled is True
    assert "at most 9 such URLs" in rows["traps"]


def test_a_stored_crawl_tells_what_became_of_the_url(tadoru: Tadoru, house: Site) -> None:
    assert paths(tadoru.map(house.url(), "--state", "crawl.db", "--depth", "1", "--ignore-robots", "--exclude", "private"))
    _, _, rows = explained(tadoru, house.url("/a"), "--state", "crawl.db")
    assert (rows["known"], rows["found on"]) == ("completed, 1 link from the start URL: status 200", house.url("/"))
    assert explained(tadoru, house.url("/nowhere"), "--state", "crawl.db")[2]["known"] == "not found by this crawl"
    done = tadoru("explain", house.url(), "--state", "none.db")
    assert (done.code, done.sentence) == (2, "No crawl in none.db. Check --state.")


def test_the_lines_for_people_end_with_the_verdict(tadoru: Tadoru, house: Site) -> None:
    done = tadoru("explain", house.url("/private/x"))
    lines = done.out.splitlines()
    assert lines[0] == f"url        {house.url('/private/x')}"
    assert lines[-1] == "→ not crawled: robots.txt line 2: Disallow: /private/"
