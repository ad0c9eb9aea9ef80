"""A site that a program in the browser fills, read through the real Chromium; and what is said where there is none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from tadoru.fetch.browser.browser import PROGRAM_NAMES
from tests.acceptance.command import Tadoru
from tests.support.built.builders import SOURCES
from tests.support.built.serving import spa_site
from tests.support.handbook import PROSE, Handbook, crawl, doc, entries, index, tree
from tests.support.programs import needs_browser, needs_node
from tests.support.site import Site

NO_BROWSER = {"TADORU_CHROMIUM": "/no/such/browser"}
FILL = """<script>document.getElementById("root").innerHTML = "<main><h1>Filled</h1><p>" + "By a script, in the browser. "
    .repeat(9) + '</p><pre><code class="language-sh">kettle --on\\n</code></pre><a href="/behind">On</a></main>';</script>"""
SHELL = f'<!doctype html><html><head><title>Loading</title></head><body><div id="root">Loading …</div>{FILL}</body></html>'


@pytest.fixture
def spa() -> Iterator[Site]:
    """The site of a real framework."""
    with spa_site() as site:
        yield site


@pytest.fixture
def mixed(site: Site) -> Site:
    """A site with one page that scripts fill, and another behind it."""
    site.html("/", doc("Start", f"<p>{PROSE * 3}</p>", ["/shell", "/plain"]))
    site.html("/plain", doc("Plain", f"<p>{PROSE * 3}</p><script>document.title = 'Changed';</script>"))
    site.html("/shell", SHELL, headers={"ETag": '"1"'})
    site.html("/behind", doc("Behind", f"<p>{PROSE * 3}</p>"))
    return site


@needs_browser
@needs_node
def test_a_site_of_a_real_framework_is_read_whole(tadoru: Tadoru, spa: Site) -> None:
    crawl(tadoru, spa, "--spa-wait", "500ms")
    out = tadoru.folder / "out"
    content: list[dict[str, Any]] = json.loads((SOURCES / "spa" / "public" / "content.json").read_text("utf-8"))
    found = entries(out, spa)
    assert {path: found[path]["title"] for path in found} == {page["path"]: page["title"] for page in content}
    for page in content:
        text = (out / found[page["path"]]["file"]).read_text("utf-8")
        assert found[page["path"]]["source"] == "rendered"
        for section in page["sections"]:
            assert f"## {section['title']}\n" in text
            for block in section["blocks"]:
                _is_there(block, text)
        assert "Loading" not in text
        assert "The kettle makers" not in text, "a footer is not documentation"


def _is_there(block: dict[str, Any], text: str) -> None:
    if "code" in block:
        assert f"```{block['language']}\n{block['code'].removesuffix(chr(10))}\n```" in text
    elif "note" in block:
        assert "> [!NOTE]" in text
        assert _bare(block["note"]) in _bare(text)
    elif "rows" in block:
        rows = [line for line in text.splitlines() if line.startswith("|")]
        for cells in block["rows"]:
            assert any(all(_bare(cell) in _bare(row) for cell in cells) for row in rows), cells
    else:
        assert all(_bare(each) in _bare(text) for each in block.get("items", [block.get("text", "")]))


def _bare(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def test_without_a_browser_it_is_exit_3_with_what_to_do(tadoru: Tadoru, site: Site) -> None:
    site.html("/", SHELL)
    done = crawl(tadoru, site, "-q", code=3, env=NO_BROWSER)
    assert done.out == ""
    assert "/no/such/browser" in done.sentence
    assert "TADORU_CHROMIUM" in done.sentence
    assert site.url("/") in done.sentence, "the pages that need it are named"


def test_without_a_browser_the_rest_is_finished_and_the_pages_are_named(tadoru: Tadoru, mixed: Site) -> None:
    done = crawl(tadoru, mixed, code=3, env=NO_BROWSER)
    assert mixed.url("/shell") in done.err
    assert mixed.url("/plain") not in done.err.replace("\n", " ").partition("Not complete")[2]
    out = tadoru.folder / "out"
    assert list(entries(out, mixed)) == ["/", "/plain"], "Loading … is no documentation"
    assert "2 pages" in done.out
    if find_spec("playwright") and any(map(shutil.which, PROGRAM_NAMES)):
        again = crawl(tadoru, mixed, "--diff", "--spa-wait", "200ms")
        assert "2 added" in again.out, "the shell that did not change is read now that there is a browser"
        lost = crawl(tadoru, mixed, "--diff", code=3, env=NO_BROWSER)
        assert "No changes." in lost.out, "what a browser showed once stays, and what it led to"
        assert set(entries(out, mixed)) == {"/", "/shell", "/plain", "/behind"}


@needs_browser
def test_a_browser_is_used_for_empty_pages_only_unless_told(tadoru: Tadoru, mixed: Site) -> None:
    crawl(tadoru, mixed, "--spa-wait", "200ms", "--keep-session")
    out = tadoru.folder / "out"
    assert {path: page["source"] for path, page in entries(out, mixed).items()} == {
        "/": "html", "/plain": "html", "/shell": "rendered", "/behind": "html",
    }  # fmt: skip
    shell = (out / entries(out, mixed)["/shell"]["file"]).read_text("utf-8")
    assert "# Filled\n" in shell
    assert "```sh\nkettle --on\n```" in shell
    assert (out / ".tadoru" / "session").is_dir(), "--keep-session"
    before = tree(out)
    assert "No changes." in crawl(tadoru, mixed, "--spa-wait", "200ms", "--diff").out
    assert tree(out) == before
    assert not (out / ".tadoru" / "session" / "SingletonLock").exists()
    mixed.html("/shell", SHELL.replace("Filled", "Filled anew"), headers={"ETag": '"2"'})
    assert "1 changed" in crawl(tadoru, mixed, "--spa-wait", "200ms", "--diff").out


@needs_browser
def test_every_page_goes_through_the_browser_on_request(tadoru: Tadoru, mixed: Site) -> None:
    crawl(tadoru, mixed, "--render", "always", "--spa-wait", "100ms", "-d", "1")
    assert {page["source"] for page in index(tadoru.folder / "out")["pages"]} == {"rendered"}
    assert not (tadoru.folder / "out" / ".tadoru" / "session").exists()


def test_without_rendering_no_browser_is_missed(tadoru: Tadoru, mixed: Site) -> None:
    crawl(tadoru, mixed, "--render", "never", env=NO_BROWSER)
    out = tadoru.folder / "out"
    assert {page["source"] for page in index(out)["pages"]} == {"html"}
    assert "/behind" not in entries(out, mixed)


@needs_browser
def test_what_changes_behind_a_shell_that_stays_the_same_is_seen(tadoru: Tadoru, site: Site) -> None:
    script = (
        "<script>fetch('/data').then(a => a.text()).then(t => {"
        "document.body.innerHTML = '<main><h1>Data</h1><p>' + t + '</p></main>' })</script>"
    )
    site.html("/", f"<!doctype html><title>Shell</title><body>{script}", headers={"ETag": '"1"'})
    site.reply("/data", body="The kettle is warm today, says the server. " * 8, content_type="text/plain")
    crawl(tadoru, site, "--spa-wait", "200ms")
    assert "The kettle is warm" in (tadoru.folder / "out" / "full.md").read_text("utf-8")
    site.reply("/data", body="The kettle is cold today, says the server. " * 8, content_type="text/plain")
    assert "1 changed" in crawl(tadoru, site, "--spa-wait", "200ms", "--diff").out, "though the shell has the same ETag"
    assert "The kettle is cold" in (tadoru.folder / "out" / "full.md").read_text("utf-8")


def test_a_handbook_needs_no_browser_at_all(tadoru: Tadoru, site: Site) -> None:
    Handbook(site).write(3)
    assert crawl(tadoru, site, "--render", "auto", env=NO_BROWSER).code == 0
