"""Commands that were typed wrongly, of every kind and at every level: one sentence that says what to do, the right exit code,
nothing on stdout, and no word of the library that reads command lines."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from tadoru.cli.main import run
from tests.acceptance.command import Tadoru

JARGON = re.compile(r"argument|parameter|Invalid value|No such|Missing|positional|Traceback|Errno|\b[A-Z]\w+Error\b")

MISTAKES: dict[str, tuple[str, int]] = {
    # -- which command --
    "adit": ("did you mean “tadoru audit”?", 2),
    "Audit": ("did you mean “tadoru audit”?", 2),
    "expl": ("did you mean “tadoru explain”?", 2),
    "help events list": ("To show help, run `tadoru events list --help`.", 2),
    "dance": ("`tadoru --help` lists them", 2),
    "https://example.com": ("`tadoru links https://example.com` to map its links, `tadoru audit https://example.com`", 2),
    "example.com": ("`tadoru docs example.com` to download its documentation", 2),
    "localhost:8000": ("`tadoru links localhost:8000`", 2),
    "sources list": ("did you mean “tadoru events sources”?", 2),
    "users": ("did you mean “tadoru serve users”?", 2),
    "status": ("“tadoru events status” or “tadoru cluster status”?", 2),
    "search words": ("did you mean “tadoru docs search”?", 2),
    "events suorces": ("did you mean “tadoru events sources”?", 2),
    "events sources ad": ("did you mean “tadoru events sources add”?", 2),
    "events review mrege 3": ("did you mean “tadoru events review merge”?", 2),
    "events --database x.db": ("“tadoru events” needs a command", 2),
    "serve usres": ("did you mean “tadoru serve users”?", 2),
    "serve users ad": ("did you mean “tadoru serve users add”?", 2),
    "cluster staus": ("did you mean “tadoru cluster status”?", 2),
    "docs serach .context words": ("did you mean “tadoru docs search”?", 2),
    # -- which option --
    "audit --dept 3": ("“tadoru audit” has no option --dept; did you mean --depth?", 2),
    "audit example.com --max-dept 3": ("did you mean --max-depth?", 2),
    "audit example.com -depth 3": ("Write --depth with two dashes", 2),
    "links example.com -x": ("“tadoru links” has no option -x; `tadoru links --help-all` lists them", 2),
    "events list --fomat json": ("did you mean --format?", 2),
    "events list -d x.db": ("-d goes before “list”: tadoru events -d … list", 2),
    "events sources list --database x.db": ("--database goes before “sources”: tadoru events --database … sources", 2),
    "--depth 3 links example.com": ("options go after the command", 2),
    "serve users list --jsn": ("“tadoru serve users list” has no option --jsn", 2),
    # -- which value --
    "links example.com --depth": ("--depth needs a value: --depth N.", 2),
    "events -d": ("-d needs a value: -d FILE|URL.", 2),
    "links example.com --quiet=3": ("--quiet takes no value", 2),
    "links example.com --log-format xml": ("--log-format must be one of text, json.", 2),
    "events list --limit 0": ("--limit must be a whole number of at least 1.", 2),
    "events list -f xml": ("--format must be one of table, json, csv, ics.", 2),
    "events show x": ("ID must be a whole number.", 2),
    "demo --port 70000": ("--port must be a whole number from 0 to 65,535.", 2),
    "serve --port x": ("--port must be a whole number from 0 to 65,535.", 2),
    "completion tcsh": ("SHELL must be one of bash, zsh, fish.", 2),
    "audit example.com -d mysql://localhost/x": (
        "--database mysql://… is not supported. Give a file name or postgresql:",
        2,
    ),
    "events -d redis://localhost list": ("--database redis://… is not supported", 2),
    "serve -d mysql://localhost/x": ("--database mysql://… is not supported", 2),
    "serve --host nowhere.invalid --port 0": ("Name or service not known. Choose another --port or --host", 2),
    "worker": ("Give --database postgresql://user@host/name", 2),
    "cluster status": ("Give --database postgresql://user@host/name", 2),
    "audit ftp://example.com": ("Use a URL that starts with https:// or http://", 2),
    # -- what is missing, or too much --
    "docs": ("“tadoru docs” needs URL, for example `tadoru docs https://docs.example.com`", 2),
    "report": ("“tadoru report” needs DB, for example `tadoru report site.db`", 2),
    "export site.db": ("needs --format (csv, jsonl, parquet, xlsx, sitemap, warc, dot), for example", 2),
    "copy site.db": ("“tadoru copy” needs TO", 2),
    "explain": ("“tadoru explain” needs URL", 2),
    "events show": ("“tadoru events show” needs ID, for example `tadoru events show 12`", 2),
    "events sources add --name Town --type ics": ("needs --url, for example `tadoru events sources add", 2),
    "events run": ("Choose the sources: --all, --due or --source ID.", 2),
    "serve users add": ("“tadoru serve users add” needs NAME", 2),
    "cluster stop": ("“tadoru cluster stop” needs CRAWL, for example `tadoru cluster stop shops`", 2),
    "links": ("Give one, such as https://example.com/", 2),
    "audit": ("Give a URL, such as https://example.com/", 2),
    "compare": ("tadoru compare old.db new.db", 2),
    "completion": ("“tadoru completion” needs SHELL (bash, zsh, fish)", 2),
    "report a.db b.db": ("“tadoru report” takes only DB; “b.db” is too many", 2),
    "plugins extra": ("“tadoru plugins” takes only options", 2),
    "docs example.com extra": ("“tadoru docs” takes only URL", 2),
    # -- what is not there --
    "report none.db": ("No crawl in none.db. Choose the database of an audit.", 2),
    "compare none.db other.db": ("No crawl in none.db", 2),
    "export none.db -f csv": ("No crawl in none.db", 2),
    "copy none.db x.db": ("Database none.db not found. Choose the file of a crawl or of a calendar.", 2),
    "explain example.com --state none.db": ("No crawl in none.db. Check --state.", 2),
    "audit example.com --seed-file none.txt": (
        "Cannot read none.txt (No such file or directory). Check its name.",
        2,
    ),
    "links example.com --suppress none.txt": ("none.txt (No such file or directory). Check its name.", 2),
    "audit example.com --baseline none.db": ("Cannot read --baseline none.db: No such file or directory.", 2),
    "links example.com --config none.yml": ("Configuration file none.yml not found. Check --config.", 2),
    "links example.com --config notes.txt": ("notes.txt", 2),
    "docs list": ("Folder .context not found", 2),
    "docs --config none.json": ("Configuration file none.json not found. Check --config.", 2),
    "docs search none words": ("Folder none not found. Give one that `tadoru docs URL` wrote, or its parent.", 2),
    "mcp .": ("No crawled site in .. Crawl one with `tadoru docs URL`.", 2),
    "events list": ("Database ./var/tadoru.db not found. Add a source with `tadoru events sources add`", 2),
    "events sources import none.yml": ("Cannot read none.yml (No such file or directory). Check its name.", 2),
    "events restore none.db": ("Cannot read the backup none.db (No such file or directory). Check the path.", 2),
    "events enrich show none.npz": ("Cannot read the model none.npz (No such file or directory). Check the path.", 2),
    "serve -d none.db users list": ("Database none.db not found. Name it with `tadoru serve -d FILE …`.", 2),
    "serve crawls add none.db": ("none.db. Choose the database of an audit.", 2),
    # -- what cannot be used --
    "report notes.txt": ("notes.txt is not a SQLite database. Choose another file", 1),
    "events -d notes.txt list": ("notes.txt", 1),
    "serve --port 0 -d postgresql://127.0.0.1:1/x": ("Check the database URL and that the server is running.", 1),
    "audit example.com -d postgresql://127.0.0.1:1/x": (
        "Connection refused). Check the database URL and that the server is running.",
        1,
    ),
    "events -d postgresql://127.0.0.1:1/x list": (
        "Connection refused). Check the database URL and that the server is running.",
        1,
    ),
    "cluster status -d postgresql://127.0.0.1:1/x": ("Check the database URL and that the server is running.", 1),
}


@pytest.fixture(autouse=True)
def an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("dear diary\n" * 500)


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_answered_with_what_to_do(line: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words, code = MISTAKES[line]
    assert run(line.split()) == code
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("tadoru: ")
    assert err.count("\n") == 1
    assert words in err
    assert not JARGON.search(err.replace("No such file or directory", ""))
    assert err.endswith((".\n", "?\n"))


@pytest.mark.parametrize("group", ["", "events", "events sources", "events review", "events enrich", "cluster", "serve keys"])
def test_a_group_without_a_command_shows_what_there_is(group: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(group.split()) == 0
    out, err = capfd.readouterr()
    assert "\nCommands:\n" in out
    assert err == ""


WITHOUT_PSYCOPG = """
import sys
sys.modules["psycopg"] = None
from tadoru.cli.main import run
for line in sys.argv[1:]:
    print(run(line.split()), flush=True)
"""
NEEDS_PSYCOPG = {
    "audit example.com -d postgresql://127.0.0.1:1/x": "postgres",
    "report postgresql://127.0.0.1:1/x?crawl=a": "postgres",
    "export postgresql://127.0.0.1:1/x?crawl=a -f csv": "postgres",
    "compare postgresql://127.0.0.1:1/x?crawl=a": "postgres",
    "copy postgresql://127.0.0.1:1/x?crawl=a x.db": "postgres",
    "events -d postgresql://127.0.0.1:1/x list": "postgres",
    "serve -d postgresql://127.0.0.1:1/x users list": "postgres",
    "worker -d postgresql://127.0.0.1:1/x": "cluster",
    "cluster status -d postgresql://127.0.0.1:1/x": "cluster",
}


def test_postgresql_without_its_package_says_how_to_install_it(tadoru: Tadoru) -> None:
    done = tadoru.python(WITHOUT_PSYCOPG, *NEEDS_PSYCOPG)
    assert done.out.split() == ["2"] * len(NEEDS_PSYCOPG)
    told = [line.partition("pip install ")[2].partition("[")[2].partition("]")[0] for line in done.err.splitlines()]
    assert dict(zip(NEEDS_PSYCOPG, told, strict=True)) == NEEDS_PSYCOPG


def test_only_the_first_word_too_many_is_repeated_because_a_secret_may_follow(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["docs", "example.com", "-H", "Authorization:", "Bearer", "s3cret"]) == 2
    err = capfd.readouterr().err
    assert "“Bearer” is too many. Quote values that contain spaces" in err
    assert "s3cret" not in err


def test_two_dashes_end_the_options() -> None:
    from tadoru.cli.docs import docs_search

    assert docs_search.make_context("search", ["site", "words", "--", "-format"]).params["words"] == ("words", "-format")


def test_a_mistake_that_click_may_make_tomorrow_is_still_told() -> None:
    from tadoru.cli.usage_errors import format_usage_error

    assert format_usage_error(click.ClickException("Something new.")) == "Something new."
