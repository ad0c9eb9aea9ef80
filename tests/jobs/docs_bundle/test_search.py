"""Searching a crawled site, on a real index: words, phrases, Japanese, options, signs, and whatever somebody types."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from tadoru.cli.docs import docs_search
from tadoru.errors import UsageError
from tadoru.jobs.docs.bundle.model import DEFINITION_LEVEL, DocHeading
from tadoru.jobs.docs.search import index_path, make_snippet, search_site
from tadoru.store.docs_search import MAX_INDEXED, IndexedPage, IndexedSection, opened
from tadoru.store.search_terms import asked, indexed
from tests.jobs.docs_bundle.sites import BASE, INSTALL, manual, page, write

EXTRA = """# API

## asyncio.run()

Runs a coroutine. Returns `x -> y`.

## readFile

Reads.

### Options

Pass `--depth 3`.
"""


def test_a_long_text_without_spaces_is_indexed_in_little_memory() -> None:
    tracemalloc.start()
    try:
        found = indexed("漢" * 200_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.count("漢漢") == 199_999
    assert peak < 5_000_000


def test_of_a_section_of_any_length_the_first_million_characters_are_indexed(tmp_path: Path) -> None:
    text = "beginning " + "x" * MAX_INDEXED + " ending"
    with opened(tmp_path / "search.db", writable=True) as search:
        search.put(IndexedPage(BASE, "Long", "long.md", 1), 1, [IndexedSection(1, ("Long",), None, text)])
        assert [hit.url for hit in search.find(asked("beginning"), 5)[1]] == [BASE]
        assert search.find(asked("ending"), 5)[1] == []
        search.drop(BASE)
        assert search.find(asked("beginning"), 5)[1] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("search") / "site"
    headings = tuple(
        DocHeading(level, text, anchor)
        for level, text, anchor in [
            (1, "API", "api"),
            (2, "asyncio.run()", "run"),
            (2, "readFile", None),
            (3, "Options", "options"),
        ]
    )
    long = page(5, "# Installing everything\n\n" + "".join(f"## Step {n}\n\nThen install part {n}.\n\n" for n in range(20)))
    write(root, [*manual(), page(4, EXTRA, "api.html", headings=headings), long])
    return root


@pytest.mark.parametrize(
    "query, path",
    [
        pytest.param("wizard", ("Install", "Windows"), id="a word"),
        pytest.param("wizards", ("Install", "Windows"), id="another form of it"),
        pytest.param("WINDOWS", ("Install", "Windows"), id="whatever the case"),
        pytest.param('"make install"', ("Install",), id="a phrase in code"),
        pytest.param("設定", ("設定",), id="two characters"),
        pytest.param("読み込まれ", ("設定",), id="a part of a Japanese sentence"),
        pytest.param("ﾌｧｲﾙ", ("設定",), id="half-width letters"),
        pytest.param("起", ("設定",), id="one character"),
        pytest.param("asyncio.run", ("API", "asyncio.run()"), id="a dotted name"),
        pytest.param("read file", ("API", "readFile"), id="the parts of a compound name"),
        pytest.param("--depth", ("API", "readFile", "Options"), id="an option"),
        pytest.param("->", ("API", "asyncio.run()"), id="signs"),
        pytest.param("app.toml", ("Settings", "Files"), id="a file name"),
        pytest.param("corout", ("API", "asyncio.run()"), id="the beginning of a word"),
        pytest.param("how do I use the wizard please", ("Install", "Windows"), id="a question"),
    ],
)  # fmt: skip
def test_the_best_section_is_found(site: Path, query: str, path: tuple[str, ...]) -> None:
    assert search_site(site, query, by_meaning=False).hits[0].path == path


def test_a_hit_says_where_it_is(site: Path) -> None:
    hit = search_site(site, "coroutine").hits[0]
    assert (hit.url, hit.title, hit.file) == (f"{BASE}api.html#run", "API", "pages/page-004-api.md")
    assert hit.snippet == "Runs a coroutine. Returns x -> y."


RANKED = {
    "guide.html": "# Guide\n\nCall `max_size` with care, see below.\n\n## Sizes\n\nThe value of max_size may not be 0.\n",
    "settings.html": "# Settings\n\nAll names.\n\n`max_size` (number)\n\nThe largest size of a copy.\n",
    "news.html": "# Release notes\n\nmax_size max_size max_size. Copy a folder: copying a folder copies the folder.\n",
    "copy.html": "# Copying\n\nThis page explains how a folder is copied.\n\n## Copy a folder\n\nSay where to.\n",
    "zip.html": "# Archives\n\nAn archive of a folder. The folder may be large, the folder may be small.\n",
}


@pytest.mark.parametrize(
    "query, file",
    [
        pytest.param("max_size", "settings.html", id="a name where it is defined, not where it is mentioned"),
        pytest.param("How do I copy a folder?", "copy.html", id="the page about it, not release notes or a page of one word"),
        pytest.param("how to do it with the archives", "zip.html", id="only words that say something count"),
    ],
)
def test_the_page_that_explains_it_comes_first(tmp_path: Path, query: str, file: str) -> None:
    write(tmp_path, [page(number, text, name) for number, (name, text) in enumerate(RANKED.items(), 1)])
    assert search_site(tmp_path, query).hits[0].url.partition("#")[0] == f"{BASE}{file}"


ABOUT = {
    "index.html": "# Commands\n\n- [tool-mv](https://docs.example.com/mv.html): gives something another name\n",
    "mv.html": "# tool-mv(1)\n\n## NAME\n\ntool-mv - Move or rename a file\n\n## OPTIONS\n\nNone.\n",
    "diff.html": "# tool-diff(1)\n\n## NAME\n\ntool-diff - Compare\n\n"
    + "## Rename\n\nA file that is a rename of a file.\n\n" * 3,
    "worktree.html": "# tool-worktree(1)\n\nSeveral branches in several directories.\n",
}


@pytest.mark.parametrize(
    "query, file",
    [
        pytest.param("rename a file", "mv.html", id="what a page says first"),
        pytest.param("branches in folders", "worktree.html", id="another word for the same"),
        pytest.param("folder", "worktree.html", id="nothing but another word for the same"),
    ],
)
def test_a_page_is_found_by_what_it_is_about(tmp_path: Path, query: str, file: str) -> None:
    write(tmp_path, [page(number, text, name) for number, (name, text) in enumerate(ABOUT.items(), 1)])
    assert search_site(tmp_path, query, by_meaning=False).hits[0].url.partition("#")[0] == f"{BASE}{file}"


def test_a_page_is_found_by_what_another_says_where_it_links_to_it_as_long_as_that_is_there(tmp_path: Path) -> None:
    docs = [page(number, text, name) for number, (name, text) in enumerate(ABOUT.items(), 1)]
    write(tmp_path, docs)
    assert [hit.title for hit in search_site(tmp_path, "something", by_meaning=False).hits] == ["Commands", "tool-mv(1)"]
    write(tmp_path, docs[1:])
    assert search_site(tmp_path, "something", by_meaning=False).hits == ()


def test_a_verb_with_its_particle_is_looked_for_as_one_word_where_the_site_has_it(tmp_path: Path) -> None:
    names = [page(at, f"# Branch {at}\n\nA checkout of branch {at} in a folder.\n", f"c{at}.html") for at in range(1, 4)]
    checks = [page(at, f"# Check {at}\n\nCheck the folder of the branch, check it.\n", f"k{at}.html") for at in range(4, 7)]
    write(tmp_path / "one", [*names, *checks])
    found = search_site(tmp_path / "one", "check out a branch", 3, by_meaning=False)
    assert found.how == "all"
    assert all("checkout" in hit.text for hit in found.hits)
    write(tmp_path / "two", checks)
    assert search_site(tmp_path / "two", "check out a branch", 3, by_meaning=False).hits


def test_a_query_of_nothing_but_stop_words_looks_for_them(site: Path) -> None:
    assert asked("what is it").wanted == ("what", "is", "it")
    assert asked('what "is it"').wanted == ("is it",)


def test_an_excluded_word_is_not_there(site: Path) -> None:
    assert {hit.path for hit in search_site(site, "install -step", 50).hits} == {
        ("Install",), ("Install", "Windows"), ("Installing everything",),
    }  # fmt: skip


def test_one_page_does_not_crowd_out_the_others(site: Path) -> None:
    titles = [hit.title for hit in search_site(site, "install", 10).hits]
    assert titles.count("Installing everything") == 2  # Its title, without text, and the first step are one.
    assert "Install" in titles


def test_a_heading_without_text_shows_what_is_below_it_once(tmp_path: Path) -> None:
    write(tmp_path, [page(1, "# tool(1)\n\n## NAME\n\ntool - shows a kettle\n\n## OPTIONS\n\nNone of them.\n", "tool.html")])
    hits = search_site(tmp_path, "tool", by_meaning=False).hits
    assert (hits[0].path, hits[0].snippet) == (("tool(1)", "NAME"), "tool - shows a kettle")
    assert len({hit.path for hit in hits}) == len(hits)


def test_each_page_has_a_place_before_one_has_two(site: Path) -> None:
    found = search_site(site, "install", 2, by_meaning=False)
    assert {hit.title for hit in found.hits} == {"Install", "Installing everything"}


def test_a_search_after_a_site_was_replaced_finds_the_new_one(tmp_path: Path) -> None:
    write(tmp_path / "site", manual())
    assert search_site(tmp_path / "site", "wizard").hits
    shutil.rmtree(tmp_path / "site")
    write(tmp_path / "site", [page(1, "# Penguins\n\nThey swim.\n")])
    assert not search_site(tmp_path / "site", "wizard", by_meaning=False).hits
    assert search_site(tmp_path / "site", "penguins").hits


def test_searches_in_several_threads_get_their_own_results(site: Path) -> None:
    queries = ["wizard", "coroutine", "app.toml", "設定"] * 8
    expected = [search_site(site, query, by_meaning=False) for query in queries]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda query: search_site(site, query, by_meaning=False), queries)) == expected


def test_when_no_section_has_all_words_those_with_some_are_given(site: Path) -> None:
    found = search_site(site, "wizard coroutine")
    assert found.how == "any"
    assert {hit.path[-1] for hit in found.hits} >= {"Windows", "asyncio.run()"}


@given(
    query=st.text()
    | st.lists(st.sampled_from(['"', "(", ")", "AND", "NEAR", "*", "^", "-", ":", "title", "{", "設", "\x00"])).map(" ".join)
)
def test_no_query_fails(site: Path, query: str) -> None:
    assert search_site(site, query, 3).query == query


def test_the_index_follows_the_pages(tmp_path: Path) -> None:
    docs = manual()
    write(tmp_path, docs)
    new = INSTALL.replace("wizard", "penguin")
    write(tmp_path, [replace(docs[0], markdown=new, hash=hashlib.sha256(new.encode()).hexdigest()), docs[1]])
    assert [search_site(tmp_path, word).hits != () for word in ("penguin", "wizard", "app.toml", "設定")] == [
        True,
        False,
        True,
        False,
    ]
    with closing(sqlite3.connect(index_path(tmp_path))) as sql:
        sql.execute("INSERT INTO words(words) VALUES ('integrity-check')")
        assert (
            sql.execute("SELECT count(*) FROM words_docsize").fetchone()
            == sql.execute("SELECT count(*) FROM sections").fetchone()
        )


@pytest.mark.parametrize("damage", ["gone", "garbage", "another form"])
def test_an_index_that_can_not_be_used_is_made_again_from_the_pages(tmp_path: Path, damage: str) -> None:
    write(tmp_path, manual())
    path = index_path(tmp_path)
    if damage == "gone":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"no database" * 1000)
    else:
        with closing(sqlite3.connect(path)) as sql:
            sql.execute("PRAGMA user_version = 1")
    assert search_site(tmp_path, "設定").hits[0].url == f"{BASE}ja/設定/"


def test_an_index_of_an_earlier_form_leaves_its_fragments(tmp_path: Path) -> None:
    write(tmp_path, [page(1, EXTRA, "api.html", headings=(DocHeading(1, "API", "api"), DocHeading(2, "asyncio.run()", "run")))])
    with closing(sqlite3.connect(index_path(tmp_path))) as sql:
        sql.execute("PRAGMA user_version = 1")
    assert search_site(tmp_path, "coroutine").hits[0].url == f"{BASE}api.html#run"


def test_a_definition_is_found_with_its_own_fragment_also_after_the_index_was_made_again(tmp_path: Path) -> None:
    entries = ("os.walk(top)\n```\n\nList a tree.", "os.stat(path)\n```\n\nRead the status.")
    text = "# os\n\nSystem calls.\n" + "".join(f"\n```python\n{entry}\n" for entry in entries)
    headings = (
        DocHeading(1, "os", "os"), DocHeading(DEFINITION_LEVEL, "os.walk(top)", "os.walk"),
        DocHeading(DEFINITION_LEVEL, "os.stat(path)", "os.stat"),
    )  # fmt: skip
    write(tmp_path, [page(1, text, "os.html", headings=headings)])
    for form in (None, 1):
        if form:
            with closing(sqlite3.connect(index_path(tmp_path))) as sql:
                sql.execute(f"PRAGMA user_version = {form}")
        hit = search_site(tmp_path, "tree").hits[0]
        assert (hit.url, hit.path) == (f"{BASE}os.html#os.walk", ("os", "os.walk(top)"))
        assert hit.text.strip().endswith("List a tree.")


def test_an_unusable_index_is_made_again_by_a_crawl_that_changed_nothing(tmp_path: Path) -> None:
    write(tmp_path, manual(), pages=False)
    index_path(tmp_path).unlink()
    assert write(tmp_path, manual(), pages=False).rewritten == 0
    assert search_site(tmp_path, "設定").hits


def test_a_folder_without_a_site_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No crawled site"):
        search_site(tmp_path, "x")


@pytest.mark.parametrize(
    "text, words, expected",
    [
        ("# H\n\nbody of it\n", ("nothing",), "body of it"),
        ("# Only\n", (), "# Only"),
        (
            "A branch.\n" + "w " * 200 + "Two branches in folders.",
            ("branch", "folder?"),
            "…" + "w " * 28 + "Two branches in folders.",
        ),
        ("w " * 200 + "needle " + "w " * 200, ("Needle",), "…" + "w " * 60 + "needle " + "w " * 55 + "w…"),
    ],
    ids=["the beginning", "a heading alone", "where most words are", "around the word"],
)
def test_a_snippet(text: str, words: tuple[str, ...], expected: str) -> None:
    found = make_snippet(text, words)
    assert (
        found == expected
        if "needle" not in expected
        else ("needle" in found and found[0] == found[-1] == "…" and len(found) < 250)
    )


def test_the_command_prints_lines_or_json(site: Path) -> None:
    lines = CliRunner().invoke(docs_search, [str(site), "coroutine"], standalone_mode=False)
    assert lines.output.splitlines()[:3] == ["API › asyncio.run()", f"  {BASE}api.html#run", "  pages/page-004-api.md"]
    answer = json.loads(
        CliRunner().invoke(docs_search, [str(site), "Runs a", "coroutine", "--json"], standalone_mode=False).output
    )
    assert (answer["query"], answer["how"]) == ('"Runs a" coroutine', "all")
    assert list(answer["hits"][0]) == ["url", "title", "path", "file", "snippet", "score"]


@pytest.mark.parametrize(
    "query, note",
    [
        ("wizard", ""),
        ("wizard coroutine", "No section contains all words. Showing partial matches.\n"),
        ("automobile vehicles", "No section contains the words. Showing sections with a similar meaning.\n"),
    ],
    ids=["all words", "some of them", "none of them"],
)
def test_the_command_says_when_no_section_has_all_words(tmp_path: Path, query: str, note: str) -> None:
    write(tmp_path, [*manual(), page(4, EXTRA, "api.html"), page(5, MEANINGS[0], "lorries.html")])
    assert CliRunner().invoke(docs_search, [str(tmp_path), query], standalone_mode=False).stderr == note


def test_the_command_searches_all_sites_of_a_folder_in_one_ranking(tmp_path: Path) -> None:
    write(tmp_path / "one", [page(1, "# Cups\n\nA cup beside the kettle.\n")])
    write(tmp_path / "two", [page(1, "# Kettle\n\nDescale the kettle.\n"), page(2, "# Pot\n\nA pot.\n", "pot.html")])
    done = CliRunner().invoke(docs_search, [str(tmp_path), "descale", "kettle", "--json"], standalone_mode=False)
    assert [hit["file"].partition("/")[0] for hit in json.loads(done.stdout)["hits"]] == ["two", "one"]


def test_the_command_lists_a_section_that_two_versions_share_once(tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        write(tmp_path / f"docs@{version}", [page(1, "# Kettle\n\nDescale the kettle.\n")])
    shown = CliRunner().invoke(docs_search, [str(tmp_path), "kettle"], standalone_mode=False).stdout
    assert shown.count("Descale the kettle.") == 1
    assert "docs@1.0/pages/page-001-p1.md, docs@2.0\n" in shown


def test_the_command_refuses_a_folder_that_is_not_there(tmp_path: Path) -> None:
    result = CliRunner().invoke(docs_search, [str(tmp_path / "no"), "x"], standalone_mode=False)
    assert isinstance(result.exception, UsageError)


LIMIT = "[`os.setlimit()`](https://docs.example.com/sys.html#os.setlimit)"
NAMED = {
    "faq.html": f"# FAQ\n\nCall {LIMIT} first.\n",
    "pickle.html": f"# Pickle\n\nRaise the limit with {LIMIT}, or use another protocol.\n",
    "sys.html": "# System\n\nParameters of the interpreter. The function os.setlimit changes one of them, if it is allowed to.\n",
    "other.html": "# Other\n\nAnother page.\n",
}


def test_a_name_is_found_where_other_pages_link_to_with_it(tmp_path: Path) -> None:
    write(tmp_path, [page(at, text, path) for at, (path, text) in enumerate(NAMED.items(), 1)])
    assert search_site(tmp_path, "os.setlimit", by_meaning=False).hits[0].title == "System"
    assert search_site(tmp_path, "os.setlimit()", by_meaning=False).hits[0].title == "System"


def test_links_of_a_page_that_is_gone_no_longer_name_another(tmp_path: Path) -> None:
    docs = [page(at, text, path) for at, (path, text) in enumerate(NAMED.items(), 1)]
    write(tmp_path, docs)
    with opened(index_path(tmp_path)) as index:
        assert index.linked("os.setlimit") == {f"{BASE}sys.html": 2}
    write(tmp_path, docs[1:])
    with opened(index_path(tmp_path)) as index:
        assert index.linked("os.setlimit") == {f"{BASE}sys.html": 1}


MEANINGS = (
    "# Lorries\n\nHow to drive a truck on the motorway, and where to park it over night.\n",
    "# Bread\n\nMix flour, water and yeast, and bake the dough in an oven.\n",
    "# Stars\n\nTelescopes show galaxies and planets at night.\n",
)


def test_sections_are_found_by_meaning_where_no_word_is_shared(tmp_path: Path) -> None:
    write(tmp_path, [page(at, text) for at, text in enumerate(MEANINGS, 1)])
    with opened(index_path(tmp_path)) as index:
        assert not index.lacks_vectors()
    found = search_site(tmp_path, "automobile vehicles")
    assert (found.how, found.hits[0].title) == ("meaning", "Lorries")
    assert search_site(tmp_path, "automobile vehicles", by_meaning=False).hits == ()


def test_vectors_that_are_missing_are_computed_at_the_first_search_and_dropped_with_their_page(tmp_path: Path) -> None:
    docs = [page(at, text) for at, text in enumerate(MEANINGS, 1)]
    write(tmp_path, docs)
    with closing(sqlite3.connect(index_path(tmp_path))) as sql, sql:
        sql.execute("DELETE FROM vectors")
    assert search_site(tmp_path, "automobile vehicles").hits[0].title == "Lorries"
    with opened(index_path(tmp_path)) as index:
        assert not index.lacks_vectors()
        assert len(list(index.vectors())) == 3
    write(tmp_path, docs[:2])
    with opened(index_path(tmp_path)) as index:
        assert len(list(index.vectors())) == 2


def test_the_vectors_come_with_the_package_and_nothing_is_downloaded(tmp_path: Path) -> None:
    write(tmp_path, [page(at, text) for at, text in enumerate(MEANINGS, 1)])
    code = (
        "import socket, sys, pathlib\n"
        "def refuse(*_, **__): raise AssertionError('a connection')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from tadoru.jobs.docs.search import search_site\n"
        "print(search_site(pathlib.Path(sys.argv[1]), 'automobile vehicles').hits[0].title)"
    )
    environment = {**os.environ, "HOME": str(tmp_path / "home"), "HF_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "Lorries\n"
