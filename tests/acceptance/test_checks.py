"""A check of links as a build runs it: what is broken, what is only blocked, what is forgiven, and when it fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.command import Tadoru
from tests.support.site import Site


@pytest.fixture
def worn(site: Site, elsewhere: Site) -> Site:
    """A site with every kind of bad link."""
    elsewhere.page("/fine")
    elsewhere.reply("/members", status=403)
    body = '<a href="/gone">our history</a> <a href="/a#nowhere">the end</a> <a href="/a#here">well</a>'
    site.page("/", links=["/a", elsewhere.url("/fine"), elsewhere.url("/missing"), elsewhere.url("/members")], body=body)
    site.page("/a", links=["/gone", "/old"], body='<p id="here"></p>')
    site.redirect("/old", "/a")
    return site


def bad(result: dict[str, Any]) -> dict[str, str]:
    """URL → kind of what a check reports, without the hosts."""
    return {link["url"].split("/", 3)[3]: link["kind"] for link in result["broken_links"] + result["blocked_links"]}


CHECK = ("--check", "--allow-private", "-f", "json")


def test_a_check_asks_other_sites_once_and_tells_blocked_from_broken(tadoru: Tadoru, worn: Site, elsewhere: Site) -> None:
    result = tadoru.map(worn.url(), *CHECK)
    assert bad(result) == {"gone": "broken", "missing": "broken", "members": "blocked"}
    assert {info["url"]: info["status_code"] for info in result["external_urls"]}[elsewhere.url("/fine")] == 200
    assert elsewhere.paths.count("/fine") == 1
    (gone,) = [link for link in result["broken_links"] if link["url"] == worn.url("/gone")]
    assert {(source["page_url"], source["anchor_text"]) for source in gone["sources"]} == {
        (worn.url("/"), "our history"), (worn.url("/a"), "/gone"),
    }  # fmt: skip


def test_without_a_check_other_sites_are_not_asked(tadoru: Tadoru, worn: Site, elsewhere: Site) -> None:
    assert bad(tadoru.map(worn.url())) == {"gone": "broken"}
    assert elsewhere.paths == []


def test_a_page_can_not_lead_to_a_private_address_unless_allowed(tadoru: Tadoru, worn: Site, elsewhere: Site) -> None:
    result = tadoru.map(worn.url(), "--check")
    assert elsewhere.paths == []
    assert bad(result)["fine"] == "blocked"


def test_fragments_are_checked_on_request(tadoru: Tadoru, worn: Site) -> None:
    assert bad(tadoru.map(worn.url(), "--fragments")) == {"gone": "broken", "a#nowhere": "fragment"}


@pytest.mark.parametrize("arguments, left", [
    (["--accept", "200..299,404"], {"members": "blocked"}),
    (["--accept", "200..499"], {}),
    (["--ignore", "/gone$"], {"missing": "broken", "members": "blocked"}),
    (["--ignore", "gone", "--ignore", "m"], {}),
], ids=["another code", "a range of codes", "a pattern", "two patterns"])  # fmt: skip
def test_codes_can_be_accepted_and_links_ignored(arguments: list[str], left: dict[str, str], tadoru: Tadoru, worn: Site) -> None:
    assert bad(tadoru.map(worn.url(), *CHECK, *arguments)) == left


@pytest.mark.parametrize("gate, sentence", [
    ("broken", "2 broken links, none allowed."),
    ("broken>1", "2 broken links, at most 1 allowed."),
    ("broken>2", None),
    ("blocked", "1 blocked link, none allowed."),
    ("redirects", "1 redirect, none allowed."),
    ("fragment", None),
    ("broken>2,any>=3", "3 links that do not work, at most 2 allowed."),
])  # fmt: skip
def test_a_gate_that_is_exceeded_is_exit_10_after_the_report(gate: str, sentence: str | None, tadoru: Tadoru, worn: Site) -> None:
    done = tadoru.links(worn.url(), *CHECK, "--fail-on", gate)
    assert bad(done.result)["gone"] == "broken"
    if sentence is None:
        assert (done.code, done.err) == (0, "")
    else:
        assert (done.code, done.sentence) == (10, sentence)


def test_known_links_are_suppressed_and_unused_entries_are_told(tadoru: Tadoru, worn: Site, elsewhere: Site) -> None:
    lines = ["# known", f"{worn.url('/gone')} # history", f"/{elsewhere.port}/ # not ours", "/never-seen/ # old"]
    (tadoru.folder / "known.txt").write_text("\n".join(lines))
    done = tadoru.links(worn.url(), *CHECK, "--suppress", "known.txt", "--fail-on", "any")
    assert (done.code, bad(done.result)) == (0, {})
    said = tadoru.links(worn.url(), *CHECK[:2], "--suppress", "known.txt").out
    assert "Every link works, except 3 that you accept." in said
    assert done.err == "known.txt, line 4: “/never-seen/ # old” matched nothing and can be removed.\n"


def test_a_bad_line_of_the_suppressions_is_told_before_anybody_is_asked(tadoru: Tadoru, worn: Site) -> None:
    (tadoru.folder / "known.txt").write_text("\n/open\n")
    done = tadoru.links(worn.url(), "--suppress", "known.txt")
    assert (done.code, worn.paths) == (2, [])
    assert "known.txt, line 2: " in done.sentence


def test_github_is_given_annotations_only_when_it_is_there(tadoru: Tadoru, worn: Site) -> None:
    there = tadoru.links(worn.url(), *CHECK, "--fail-on", "broken", env={"GITHUB_ACTIONS": "true"})
    lines = there.err.splitlines()
    assert there.code == 10
    assert there.result["start_url"] == worn.url(), "stdout is the result alone"
    errors = [line for line in lines if line.startswith("::error title=Broken link::")]
    assert len(errors) == 2
    assert any("our history" in line for line in errors)
    assert sum(line.startswith("::warning title=Blocked link::") for line in lines) == 1
    assert "::" not in tadoru.links(worn.url(), *CHECK, env={"GITHUB_ACTIONS": "false"}).err


def test_a_check_that_finds_nothing_says_so(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    assert "Every link works." in tadoru.links(site.url(), "--check").out


def test_a_build_gets_reports_a_summary_and_a_file_of_known_links(tadoru: Tadoru, worn: Site) -> None:
    summary = tadoru.folder / "summary.md"
    env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    reports = [
        part for name in ("out.sarif", "junit.xml", "out.md", "gl-code-quality-report.json") for part in ("--report", name)
    ]
    files = (*reports, "--write-suppressions", "known.txt", "--cache", "cache.jsonl", "--max-age", "1d")
    done = tadoru.links(worn.url(), *CHECK, *files, env=env)
    assert done.code == 0
    assert "Wrote out.sarif." in done.err
    assert "Added 3 links to known.txt. Fill in their reasons." in done.err
    (run,) = json.loads((tadoru.folder / "out.sarif").read_text(encoding="utf-8"))["runs"]
    assert len(run["results"]) == 4, "one link is on two pages"
    assert len(json.loads((tadoru.folder / "gl-code-quality-report.json").read_text(encoding="utf-8"))) == 4
    assert (tadoru.folder / "junit.xml").read_text(encoding="utf-8").count("<failure ") == 3
    assert summary.read_text(encoding="utf-8") == (tadoru.folder / "out.md").read_text(encoding="utf-8")
    assert len((tadoru.folder / "cache.jsonl").read_text(encoding="utf-8").splitlines()) == 1
    again = tadoru.links(worn.url(), *CHECK, "--suppress", "known.txt", "--fail-on", "any")
    assert again.code == 0
    assert "known.txt, line 1: fill in the reason." in again.err


@pytest.mark.parametrize("arguments, sentence", [
    (["--report", "out.pdf"], "Unknown report format of out.pdf."),
    (["--report", "none/out.md"], "--report none/out.md cannot be written"),
    (["--cache", "notes.txt"], "notes.txt, line 1: not a result of an external link."),
    (["--max-age", "soon"], "--max-age must be a duration"),
    (["--host-auth", "example.com secret"], "--host-auth needs “HOST user:password”"),
])  # fmt: skip
def test_files_and_secrets_that_cannot_be_used_are_refused_before_any_request(
    tadoru: Tadoru, worn: Site, arguments: list[str], sentence: str
) -> None:
    (tadoru.folder / "notes.txt").write_text("hello\n", encoding="utf-8")
    done = tadoru.links(worn.url(), *arguments)
    assert done.code == 2
    assert done.sentence.startswith(sentence)
    assert worn.paths == []
