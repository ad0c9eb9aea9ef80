"""Documentation sites over REST: lists, pages as JSON and Markdown, search, changes, differences, files, and a new crawl."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tadoru.jobs.docs.search import strip_markdown
from tadoru.serve.roles import Role
from tadoru.store.served_crawls.schema import CrawlState
from tests.serve.docs_sites.docs_harness import API, AUDIT, BOOK, BY, COMING, EVIL, DocsHarness
from tests.support.serving import ServiceHarness


def get(docs_harness: DocsHarness, path: str, status: int = 200, **options: Any) -> Any:
    told = docs_harness.harness.viewer.get(path, **options)
    assert told.status_code == status, told.text
    return told.json()


def test_the_sites_are_the_crawls_of_that_job_the_newest_first(docs_harness: DocsHarness) -> None:
    found = get(docs_harness, API)
    assert [(one["id"], one["name"], one["state"], one["pages"]) for one in found["items"]] == [
        (COMING, "Still to come", "paused", 0),
        (EVIL, "Example Docs", "finished", 2),
        (BOOK, "やかんの手引き", "finished", 7),
    ]
    book = found["items"][-1]
    assert (book["url"], book["title"]) == (f"{docs_harness.book_url}/", "The handbook")
    assert book["tokens"] > 100
    assert book["lastChecked"] >= book["crawledAt"] > "2026"
    assert found["items"][0]["crawledAt"] is None


def test_a_list_of_sites_goes_on_where_it_ended(docs_harness: DocsHarness) -> None:
    seen, url = [], f"{API}?limit=1"
    while url:
        found = get(docs_harness, url)
        seen += [one["id"] for one in found["items"]]
        url = found["next"]
    assert seen == [COMING, EVIL, BOOK]


def test_a_site_names_its_files_and_each_can_be_had(docs_harness: DocsHarness) -> None:
    files = get(docs_harness, f"{API}/{BOOK}")["files"]
    assert [one["name"] for one in files] == [
        "full.md", "llms.txt", "llms-full.txt", "index.json", "SKILL.md", "changes.md", "chunks.jsonl",
    ]  # fmt: skip
    for one in files:
        told = docs_harness.harness.viewer.get(one["url"])
        assert (told.status_code, len(told.content)) == (200, one["bytes"])
        assert told.headers["content-disposition"].startswith("attachment")
        known = docs_harness.harness.viewer.get(one["url"], headers={"if-none-match": told.headers["etag"]})
        assert (known.status_code, known.content) == (304, b"")


@pytest.mark.parametrize(
    "name",
    [
        ".tadoru",
        "bundle.json",
        "pages",
        "..%2f..%2ftadoru.db",
        "..%5ctadoru.db",
        "full.md%00",
        "FULL.MD",
        "chunks",
        "%2fetc%2fpasswd",
        "",
    ],
)
def test_no_other_name_is_a_file(docs_harness: DocsHarness, name: str) -> None:
    told = docs_harness.harness.viewer.get(f"{API}/{BOOK}/download/{name}")
    assert told.status_code == 404
    assert b"SQLite" not in told.content


def test_a_chunk_is_had_by_its_number_and_a_link_in_its_place_is_not_followed(docs_harness: DocsHarness, tmp_path: Path) -> None:
    told = docs_harness.harness.viewer.get(f"{API}/{BOOK}/download/chunks/1")
    assert (told.status_code, told.headers["content-type"]) == (200, "text/markdown; charset=utf-8")
    assert told.text.split("\n\n")[1] == "# The handbook"
    assert docs_harness.harness.viewer.get(f"{API}/{BOOK}/download/chunks/999").status_code == 404
    secret = tmp_path / "secret"
    secret.write_text("secret")
    place = Path(docs_harness.harness.store.db.database).parent / "var" / "docs" / str(EVIL)
    for name in ("changes.md", "chunks/chunk-077.md"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).symlink_to(secret)
    for path in ("changes.md", "chunks/77"):
        assert docs_harness.harness.viewer.get(f"{API}/{EVIL}/download/{path}").status_code == 404


def test_pages_are_listed_in_reading_order_and_keep_their_numbers(docs_harness: DocsHarness) -> None:
    first = get(docs_harness, f"{API}/{BOOK}/pages?limit=4")
    rest = get(docs_harness, first["next"])
    titles = [one["title"] for one in first["items"] + rest["items"]]
    assert titles == ["The handbook", "Part 1", "Part 3", "Part 4", "Part 5", "Everything & more", "Whistle"]
    assert rest["next"] is None
    assert len({one["number"] for one in first["items"] + rest["items"]}) == 7
    assert get(docs_harness, f"{API}/{COMING}/pages") == {"items": [], "next": None}


def test_a_page_is_json_with_its_neighbours_or_markdown_as_the_caller_likes(docs_harness: DocsHarness) -> None:
    found = get(docs_harness, docs_harness.page("/rich"))
    assert found["markdown"].startswith("# Everything & more\n")
    assert [(one["path"][-1], one["anchor"]) for one in found["headings"][1:]] == [("The lid", "lid"), ("The grip", "grip")]
    assert (found["previous"], found["next"]) == (docs_harness.numbers["/part-5"], docs_harness.numbers["/whistle"])
    assert found["versions"] == []
    for accept in ("text/markdown", "text/markdown, application/json;q=0.5"):
        plain = docs_harness.harness.viewer.get(docs_harness.page("/rich"), headers={"accept": accept})
        assert plain.headers["content-type"] == "text/markdown; charset=utf-8"
        assert plain.text == found["markdown"]
    known = docs_harness.harness.viewer.get(
        docs_harness.page("/rich"), headers={"accept": accept, "if-none-match": plain.headers["etag"]}
    )
    assert known.status_code == 304
    for accept in ("*/*", "application/json, text/markdown"):
        assert get(docs_harness, docs_harness.page("/rich"), headers={"accept": accept}) == found


def test_a_search_finds_sections_with_plain_words_around_them(docs_harness: DocsHarness) -> None:
    found = get(docs_harness, f"{API}/{BOOK}/search?q=spout")
    assert found["how"] == "all"
    [hit] = found["items"]
    assert (hit["site"], hit["number"], hit["path"]) == (BOOK, docs_harness.numbers["/rich"], ["Everything & more", "The lid"])
    assert hit["url"].endswith("/rich#lid")
    assert "spout Where it sings." in hit["snippet"]
    assert "**" not in hit["snippet"]
    other = get(docs_harness, f"{API}/search?q=harmless")["items"]
    assert [(one["site"], one["title"]) for one in other] == [(EVIL, "Plain")]
    assert get(docs_harness, f"{API}/{COMING}/search?q=anything")["items"] == []


@pytest.mark.parametrize("query", ['"', "-", "NEAR(", "a AND", "*", "%", "'; --", "\U0001f389", "x" * 400, "(" * 40])
def test_no_query_is_wrong(docs_harness: DocsHarness, query: str) -> None:
    assert "items" in get(docs_harness, f"{API}/search?q={quote(query)}")


def test_what_the_last_runs_changed_is_told(docs_harness: DocsHarness) -> None:
    [run] = get(docs_harness, f"{API}/{BOOK}/changes")["items"]
    assert run["counts"] == {"added": 1, "changed": 1, "removed": 1}
    assert [(one["kind"], one["title"], one["diff"] is not None) for one in run["pages"]] == [
        ("added", "Whistle", False),
        ("changed", "Part 3", True),
        ("removed", "Part 2", True),
    ]
    assert get(docs_harness, f"{API}/{BOOK}/changes?cursor={run['run']}")["items"] == []
    for one in run["pages"][1:]:
        assert get(docs_harness, one["diff"])["number"] == one["number"]


def test_the_difference_of_a_page_is_told_line_by_line(docs_harness: DocsHarness) -> None:
    found = get(docs_harness, f"{docs_harness.page('/part-3')}/diff")
    lines = [(line["kind"], line["text"]) for hunk in found["hunks"] for line in hunk["lines"]]
    assert (" ", "# Part 3") in lines
    assert any(kind == "-" and text.startswith("Part 3 is about step 3.") for kind, text in lines)
    assert any(kind == "+" and text.startswith("Part 3 is about step three.") for kind, text in lines)
    assert found["added"] == sum(kind == "+" for kind, _ in lines)
    assert found["before"]["until"] == found["after"]["since"]
    version = get(docs_harness, docs_harness.page("/part-3"))["versions"][0]["id"]
    assert get(docs_harness, f"{docs_harness.page('/part-3')}/diff?version={version}") == found


def test_a_page_that_is_gone_shows_what_it_said(docs_harness: DocsHarness) -> None:
    assert re.fullmatch(r"Page \d+ not found\.", get(docs_harness, docs_harness.page("/part-2"), 404)["detail"])
    found = get(docs_harness, f"{docs_harness.page('/part-2')}/diff")
    assert (found["after"], found["added"], found["title"]) == (None, 0, "Part 2")
    assert found["removed"] > 5


@pytest.mark.parametrize(
    "path",
    ["/99", f"/{AUDIT}", f"/{AUDIT}/pages", f"/{BOOK}/pages/999", f"/{BOOK}/pages/999/diff", f"/{BOOK}/pages/1/diff?version=77",
     f"/{BOOK}/pages/1/diff", f"/{COMING}/pages/1", f"/{EVIL}/pages/1/diff"],
)  # fmt: skip
def test_what_is_not_there_is_404_in_a_sentence(docs_harness: DocsHarness, path: str) -> None:
    told = get(docs_harness, f"{API}{path}", 404)
    assert told["detail"].endswith(".")


def test_a_refresh_asks_for_a_run_once_and_is_in_the_log(tmp_path: Path) -> None:
    harness = ServiceHarness(tmp_path / "tadoru.db")
    harness.store.crawls.add("A book", "docs", ["https://docs.example.com/"], {}, BY, state=CrawlState.FINISHED)
    told = harness.editor.post(f"{API}/{BOOK}/refresh")
    assert (told.status_code, told.json()["state"], told.headers["location"]) == (202, "queued", f"{API}/{BOOK}")
    assert harness.store.crawls.get(BOOK).again
    again = harness.editor.post(f"{API}/{BOOK}/refresh")
    assert (again.status_code, again.json()["detail"]) == (409, "Crawl 1 is already queued.")
    assert [one.what for one in harness.store.audit.entries()].count("crawl.run") == 1
    assert harness.viewer.post(f"{API}/{BOOK}/refresh").status_code == 403
    assert harness.client(Role.VIEWER, "docs:read").post(f"{API}/{BOOK}/refresh").status_code == 403
    harness.close()


def test_the_prompt_of_an_interpreter_is_no_quotation() -> None:
    assert strip_markdown("> quoted\n\n>>> import math\n>>> math.pi\n").split("\n")[2:4] == [">>> import math", ">>> math.pi"]
    assert ">" not in strip_markdown("> quoted")
