"""`tadoru docs URL` writes what its seed says, field for field and byte for byte, and the same each time."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.command import Tadoru
from tests.support.handbook import PROSE, Handbook, crawl, doc, entries, index, tree
from tests.support.site import Site

SPEC = {"openapi": "3.1.0", "info": {"title": "Kettle", "version": "1"}, "paths": {}}
FENCED = "# not a title\nkettle --minutes 3\n\n# nor this"
META = (
    '<meta name="description" content="Getting it."><meta name="keywords" content="tea, kettle">'
    '<meta name="author" content="Ada">'
    '<meta property="og:title" content="Install it"><meta property="og:type" content="article">'
)


@pytest.fixture
def book(site: Site) -> Handbook:
    book = Handbook(site)
    book.page("/", "The handbook", links=["/install", "/use", "/api/openapi.json"])
    book.page("/install", "Install", links=["/use", "/"], code=FENCED, head=META)
    book.page("/use", "Use", f"<p>{PROSE}</p><h1>A second title</h1><p>{PROSE}</p>", links=["/", "https://elsewhere.example/"])
    book.file("/api/openapi.json", json.dumps(SPEC), "application/json")
    return book


@pytest.fixture
def out(tadoru: Tadoru, site: Site, book: Handbook) -> Path:
    crawl(tadoru, site)
    return tadoru.folder / "out"


def test_the_index_has_the_schema_of_the_seed(out: Path, site: Site) -> None:
    found = index(out)
    assert list(found)[:1] == ["crawledAt"]
    assert {"crawledAt", "baseUrl", "config", "totalPages", "pages", "specs"} <= found.keys()
    assert found["baseUrl"] == site.url("/")
    assert found["config"] == {"maxDepth": 2, "sameDomain": True}
    assert found["totalPages"] == len(found["pages"]) == 3
    assert found["specs"] == [{"url": site.url("/api/openapi.json"), "type": "openapi", "file": "specs/openapi.json"}]
    stamps = [found["crawledAt"], found["lastChecked"], *(page["crawledAt"] for page in found["pages"])]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stamp) for stamp in stamps)
    assert all(datetime.fromisoformat(stamp) for stamp in stamps)


def test_a_page_in_the_index_has_the_fields_of_the_seed(out: Path, site: Site) -> None:
    page = entries(out, site)["/install"]
    assert list(page)[:8] == ["url", "title", "file", "depth", "links", "metadata", "hash", "crawledAt"]
    assert (page["url"], page["title"], page["depth"]) == (site.url("/install"), "Install", 1)
    assert page["file"] == "pages/page-002-install.md"
    assert page["links"] == [site.url("/use"), site.url("/")]
    assert page["metadata"] == {
        "title": "Install", "description": "Getting it.", "keywords": "tea, kettle", "author": "Ada",
        "ogTitle": "Install it", "ogType": "article",
    }  # fmt: skip
    body = (out / page["file"]).read_text("utf-8").partition("\n---\n\n")[2]
    assert page["hash"] == hashlib.sha256(body.encode()).hexdigest()
    assert page["source"] == "html"


def test_metadata_that_a_page_does_not_have_is_null(out: Path, site: Site) -> None:
    assert entries(out, site)["/use"]["metadata"] == {
        "title": "Use", "description": None, "keywords": None, "author": None, "ogTitle": None, "ogType": None,
    }  # fmt: skip


def test_the_whole_site_is_one_file_in_the_form_of_the_seed(out: Path, site: Site) -> None:
    whole = (out / "full.md").read_text("utf-8")
    sections = whole.removesuffix("\n").split("\n\n---\n\n")
    paths = ["/", "/install", "/use"]
    titles = ["The handbook", "Install", "Use"]
    for section, path, title in zip(sections, paths, titles, strict=True):
        assert section.startswith(f"# {title}\n\n> Source: {site.url(path)}\n\n"), section[:80]
        file = (out / entries(out, site)[path]["file"]).read_text("utf-8")
        body = file.partition("\n---\n\n")[2].removeprefix(f"# {title}\n\n")
        assert section.partition("> Source: ")[2].partition("\n\n")[2] == body.rstrip("\n")
    assert f"```sh\n{FENCED}\n```" in whole
    assert "Made by hand" not in whole, "a footer is not documentation"


def read_chunks(out: Path) -> dict[str, str]:
    return {name.name: name.read_text("utf-8") for name in sorted((out / "chunks").iterdir())}


def test_chunks_have_their_place_and_begin_at_titles(out: Path, site: Site) -> None:
    chunks = read_chunks(out)
    assert list(chunks) == [f"chunk-{number:03}.md" for number in range(1, 5)]
    heads, starts, *_ = zip(*(chunk.split("\n\n") for chunk in chunks.values()), strict=False)
    assert list(starts) == ["# The handbook", "# Install", "# Use", "# A second title"]
    assert [head.splitlines()[1] for head in heads][1] == "> Path: Install"
    rows = [json.loads(line) for line in (out / "chunks.jsonl").read_text("utf-8").splitlines()]
    assert list(heads) == [
        f"> Source: {row['url']}\n> Path: {' > '.join(row['path'])}\n> Chunk: {row['id']}, {row['tokens']} tokens" for row in rows
    ]
    assert f"```sh\n{FENCED}\n```" in rows[1]["text"]


def test_chunks_without_a_budget_are_the_text_split_at_titles_and_never_inside_code(
    tadoru: Tadoru, site: Site, out: Path
) -> None:
    crawl(tadoru, site, "-o", "titles/out", "--chunk-tokens", "0", "-q")
    chunks = read_chunks(tadoru.folder / "titles" / "out")
    assert list(chunks) == [f"chunk-{number:03}.md" for number in range(1, 5)]
    starts = [chunk.partition("\n")[0] for chunk in chunks.values()]
    assert starts == ["# The handbook", "# Install", "# Use", "# A second title"]
    assert all(chunk.count("```") % 2 == 0 for chunk in chunks.values())
    assert f"```sh\n{FENCED}\n```" in chunks["chunk-002.md"]
    together = "\n\n---\n\n".join([*(text.rstrip("\n") for text in list(chunks.values())[:2])])
    assert (out / "full.md").read_text("utf-8").startswith(together)


def test_a_page_has_frontmatter_that_says_what_the_index_says(out: Path, site: Site) -> None:
    for page in entries(out, site).values():
        head, body = (out / page["file"]).read_text("utf-8").removeprefix("---\n").split("\n---\n\n", 1)
        fields: dict[str, Any] = yaml.safe_load(head)
        assert {name: fields[name] for name in ("title", "url", "crawledAt", "hash", "depth", "tokens", "source")} == {
            name: page[name] for name in ("title", "url", "crawledAt", "hash", "depth", "tokens", "source")
        }
        assert fields.get("description") == page["metadata"]["description"]
        assert body.startswith(f"# {page['title']}\n")
        assert body.endswith("\n")
        assert not body.endswith("\n\n")


def test_a_specification_is_kept_as_it_was_sent(out: Path) -> None:
    assert json.loads((out / "specs" / "openapi.json").read_bytes()) == SPEC
    assert sorted(file.name for file in (out / "specs").iterdir()) == ["openapi.json"]


def test_everything_beside_it_is_there_and_nothing_else(out: Path) -> None:
    assert sorted(file.name for file in out.iterdir()) == [
        ".tadoru", "SKILL.md", "chunks", "chunks.jsonl", "full.md", "index.json", "llms-full.txt", "llms.txt", "pages", "specs",
    ]  # fmt: skip
    assert not list(out.rglob("*.part"))


def test_two_crawls_give_the_same_bytes_but_for_the_times(tadoru: Tadoru, site: Site, out: Path) -> None:
    crawl(tadoru, site, "-o", "again/out", "-q")
    again = tadoru.folder / "again" / "out"
    assert tree(again) == tree(out)
    changed = {name for name, data in tree(again, times=True).items() if data != tree(out, times=True)[name]}
    assert changed == {"index.json", *(page["file"] for page in index(out)["pages"])}


@pytest.mark.parametrize("how", [("-c", "1"), ("-c", "16"), ("--processes", "2", "-c", "4"), ("--no-same-domain",)], ids=" ".join)
def test_how_it_is_crawled_does_not_change_what_is_written(tadoru: Tadoru, site: Site, how: tuple[str, ...]) -> None:
    book = Handbook(site)
    book.write(25)
    crawl(tadoru, site, "-o", "one/out")
    crawl(tadoru, site, "-o", "other/out", *how)
    one, other = tree(tadoru.folder / "one" / "out"), tree(tadoru.folder / "other" / "out")
    if "--no-same-domain" in how:
        assert b'"sameDomain": false' in other["index.json"]
        other["index.json"] = other["index.json"].replace(b'"sameDomain": false', b'"sameDomain": true')
    assert other == one
    assert len(index(tadoru.folder / "one" / "out")["pages"]) == 25


def test_the_folder_is_named_after_the_site_when_none_is_given(tadoru: Tadoru, site: Site, book: Handbook) -> None:
    book.page("/guide/v1/index.html", "Guide")
    done = tadoru("docs", site.url("/guide/v1/index.html"), "--delay", "0")
    assert done.code == 0, done.err
    folder = Path(".context") / f"127-0-0-1-{site.port}-guide-v1"
    assert (tadoru.folder / folder / "index.json").is_file()
    assert str(folder) in done.out


def test_what_is_there_is_told_on_stdout_and_nothing_with_quiet(tadoru: Tadoru, site: Site, book: Handbook) -> None:
    done = crawl(tadoru, site)
    assert re.fullmatch(r"3 pages, 1 API specification, about \d+ tokens, in out\n", done.out), done.out
    assert crawl(tadoru, site, "-o", "quiet", "-q") == (done.__class__(0, "", ""))


def test_a_page_that_repeats_what_every_page_says_does_not_say_it(tadoru: Tadoru, site: Site) -> None:
    menu = [f"/p{number}" for number in range(30)]
    banner = "<p>Support ends next year: plan your move to the new kettle in good time, please.</p>"
    site.html("/", doc("Start", f"{banner}<p>{PROSE * 2}</p>", menu))
    for number, path in enumerate(menu):
        site.html(path, doc(f"Page {number}", f"{banner}<p>Number {number}. {PROSE * 2}</p>", menu))
    crawl(tadoru, site)
    out = tadoru.folder / "out"
    assert "Support ends next year" not in (out / "full.md").read_text("utf-8")
    assert index(out)["repeatedBlocks"] == 1
    page = entries(out, site)["/p7"]
    body = (out / page["file"]).read_text("utf-8").partition("\n---\n\n")[2]
    assert page["hash"] == hashlib.sha256(body.encode()).hexdigest()
