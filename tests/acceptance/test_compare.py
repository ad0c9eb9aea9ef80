"""`tadoru compare`, `--recrawl`, `--fail-on` and `--baseline` as a person types them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.acceptance.command import CommandResult, Tadoru
from tests.store.audited import SITE, audited
from tests.support.site import Site

UNHURRIED = ("--delay", "0", "--processes", "1", "--sitemap", "off", "-q")


def plant(site: Site, *, later: bool = False) -> None:
    """A small site, and what becomes of it."""
    site.page("/", links=["/a", "/b", *(["/new"] if later else [])], title="The start of it all")
    site.page("/a", links=["/"], title="Something else" if later else "The first page of them")
    if later:
        site.reply("/b", status=404)
        site.page("/new", links=["/"], title="")
        site.html("/new", '<html lang="en"><body><p>No title here</p><a href="/">home</a></body></html>')
    else:
        site.page("/b", links=["/"], title="The second page of them")


def audit(tadoru: Tadoru, *arguments: str, **options: Any) -> CommandResult:
    return tadoru("audit", *UNHURRIED, *arguments, **options)


def changes(done: CommandResult) -> set[tuple[str, str]]:
    return {
        (change["kind"], change["url"].partition("/")[2].partition("/")[2].partition("/")[2]) for change in done.result["changes"]
    }


def crawled_twice(tadoru: Tadoru, site: Site) -> None:
    plant(site)
    assert audit(tadoru, site.url(), "-d", "site.db").code == 0
    plant(site, later=True)
    assert audit(tadoru, "-d", "site.db", "--recrawl").code == 0


def test_a_recrawl_can_be_compared_with_what_was_before(tadoru: Tadoru, site: Site) -> None:
    crawled_twice(tadoru, site)
    done = tadoru("compare", "site.db", "-f", "json")
    assert (done.code, done.err) == (0, "")
    pages = {change for change in changes(done) if not change[0].endswith("finding")}
    assert pages >= {("broken", "b"), ("added", "new"), ("title", "a")}
    assert [done.result[side]["run"] for side in ("before", "after")] == [1, 2]
    assert ("new-finding", "new") in changes(done)
    text = tadoru("compare", "site.db@1", "site.db@2").out
    assert f"Newly broken (1)\n  {site.url('/b')}  200 → 404\n" in text
    assert "リンク切れになったページ (1)" in tadoru("compare", "site.db", "--lang", "ja").out


def test_a_comparison_fails_a_build_when_it_was_asked_to(tadoru: Tadoru, site: Site) -> None:
    crawled_twice(tadoru, site)
    done = tadoru("compare", "site.db", "--fail-on", "regressions")
    assert done.code == 10
    assert done.sentence.startswith("regressions: ")
    assert "Newly broken (1)" in done.out, "what is wrong is told all the same"
    assert tadoru("compare", "site.db", "--fail-on", "broken>1,removed").code == 0
    backwards = tadoru("compare", "site.db@2", "site.db@1", "--fail-on", "broken")
    assert backwards.code == 0
    assert "Working again (1)" in backwards.out


@pytest.mark.parametrize("form, begins", [("html", "<!doctype html>"), ("markdown", "## Crawl comparison"), ("json", "{")])
def test_a_comparison_is_written_to_a_file(form: str, begins: str, tadoru: Tadoru) -> None:
    asyncio.run(audited(tadoru.folder / "before.db", SITE))
    asyncio.run(audited(tadoru.folder / "after.db", {}))
    done = tadoru("compare", "before.db", "after.db", "-f", form, "-o", "changes")
    assert (done.code, done.out, done.err) == (0, "", "Wrote changes.\n")
    assert (tadoru.folder / "changes").read_text("utf-8").startswith(begins)


def test_staging_is_compared_with_production(tadoru: Tadoru, site: Site, elsewhere: Site) -> None:
    plant(site)
    plant(elsewhere)
    elsewhere.page("/a", links=["/"], title="Not yet published")
    assert audit(tadoru, site.url(), "-d", "live.db").code == 0
    assert audit(tadoru, elsewhere.url(), "-d", "staging.db").code == 0
    done = tadoru("compare", "live.db", "staging.db", "--map", f"{elsewhere.base}={site.base}", "-f", "json")
    assert {kind for kind, _ in changes(done) if not kind.endswith("finding")} == {"title", "h1", "content"}
    assert done.result["compared"] == 3


def test_a_crawl_that_was_stopped_removes_nothing(tadoru: Tadoru, site: Site) -> None:
    plant(site)
    assert audit(tadoru, site.url(), "-d", "whole.db").code == 0
    assert audit(tadoru, site.url(), "-d", "part.db", "--limit", "1").code == 0
    done = tadoru("compare", "whole.db", "part.db", "--fail-on", "removed")
    assert done.code == 0
    assert "stopped at the page limit" in done.out
    assert "2 pages that only one crawl has were ignored." in done.out


@pytest.mark.parametrize(
    "arguments, told",
    [
        ((), "Give one database, to compare its last two runs, or two"),
        (("a", "b", "c"), "Give one database"),
        (("none.db", "site.db"), "No crawl in none.db"),
        (("site.db",), "site.db has no earlier run to compare with"),
        (("site.db", "site.db@4"), "Run 4 not found in site.db. Available runs: 1."),
        (("site.db", "text.db"), "text.db is not a SQLite database"),
        (("site.db", "copy.db", "--fail-on", "brokn"), "Did you mean “broken”?"),
        (("site.db", "copy.db", "--map", "("), "Use REGEX=REPLACEMENT"),
        (("site.db", "copy.db", "-o", "nowhere/x"), "folder nowhere not found"),
        (("site.db", "copy.db", "--examples", "many"), "--examples must be a whole number from 0 to 10,000."),
    ],
    ids=" ".join,
)
def test_what_can_not_be_compared_is_one_sentence(arguments: tuple[str, ...], told: str, tadoru: Tadoru) -> None:
    asyncio.run(audited(tadoru.folder / "site.db", SITE))
    (tadoru.folder / "copy.db").write_bytes((tadoru.folder / "site.db").read_bytes())
    (tadoru.folder / "text.db").write_text("This is no database, whatever its name says. " * 30)
    done = tadoru("compare", *arguments)
    assert done.code == (1 if "text.db" in arguments else 2)
    assert told in done.sentence


# -- gates of the audit ------------------------------------------------------------------------------------------------------


def test_a_gate_that_means_nothing_stops_the_audit_before_it_begins(tadoru: Tadoru, site: Site) -> None:
    done = audit(tadoru, site.url(), "--fail-on", "titel-missing")
    assert done.code == 2
    assert done.sentence == "Unknown --fail-on condition “titel-missing”. Did you mean “title-missing”?"
    assert site.requests == []
    assert not (tadoru.folder / "tadoru.db").exists()


def test_an_audit_fails_a_build_on_what_was_asked(tadoru: Tadoru, site: Site) -> None:
    plant(site, later=True)
    done = audit(tadoru, site.url(), "--fail-on", "title-missing,score<100", "--fail-on", "response-client-error>5")
    assert done.code == 10
    assert "title-missing: 1 finding, none allowed." in done.sentence
    assert "The score is " in done.sentence
    assert "response-client-error" not in done.sentence


def test_only_what_is_new_since_the_baseline_fails_a_build(tadoru: Tadoru, site: Site) -> None:
    plant(site, later=True)
    assert audit(tadoru, site.url(), "-d", "first.db").code == 0
    assert audit(tadoru, site.url(), "-d", "second.db", "--fail-on", "error").code == 10
    assert audit(tadoru, site.url(), "-d", "third.db", "--fail-on", "error", "--baseline", "first.db").code == 0
    assert tadoru("report", "first.db", "--format", "json", "-o", "first.json").code == 0
    assert audit(tadoru, site.url(), "-d", "fourth.db", "--fail-on", "error", "--baseline", "first.json").code == 0
    site.reply("/a", status=500)
    done = audit(tadoru, site.url(), "-d", "fifth.db", "--fail-on", "response-*", "--baseline", "first.json")
    assert done.code == 10
    assert done.sentence == "response-*: 1 finding, none allowed."


def test_only_what_is_new_since_the_last_run_fails_a_recrawl(tadoru: Tadoru, site: Site) -> None:
    plant(site)
    assert audit(tadoru, site.url()).code == 0
    assert audit(tadoru, "--recrawl", "--fail-on", "new").code == 0
    plant(site, later=True)
    done = audit(tadoru, "--recrawl", "--fail-on", "new-error")
    assert done.code == 10
    assert "new finding" in done.sentence


def test_a_workflow_gets_annotations(tadoru: Tadoru, site: Site) -> None:
    plant(site, later=True)
    done = audit(tadoru, site.url(), env={"GITHUB_ACTIONS": "true"})
    assert done.code == 0
    assert f"::error title=Missing title::1 finding (title-missing), first {site.url('/new')}" in done.err.splitlines()
