"""`tadoru report`: the command as a person meets it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import Tadoru
from tests.jobs.audit_crawls import Crawl, small

STARTS = {
    "text": "garden.example  https://garden.example/\n",
    "json": '{\n  "schema": "tadoru-audit-report"',
    "html": "<!doctype html>",
    "junit": '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites',
    "sarif": '{\n  "$schema": ',
    "markdown": "## Audit of garden.example\n",
}
NAMES = {"text": "a.txt", "json": "a.json", "html": "a.HTML", "junit": "a.xml", "sarif": "a.sarif", "markdown": "a.md"}


@pytest.fixture
def site(tadoru: Tadoru) -> Tadoru:
    """The command, in a folder with a crawl in `site.db`."""
    small(tadoru.folder / "site.db")
    return tadoru


@pytest.mark.parametrize("form", STARTS)
def test_each_form_goes_to_stdout_or_to_a_file_that_says_what_it_is(site: Tadoru, form: str) -> None:
    printed = site("report", "site.db", "--format", form)
    written = site("report", "site.db", "-o", NAMES[form])
    assert (printed.code, printed.err) == (0, "")
    assert (written.code, written.out, written.err) == (0, "", f"Wrote {NAMES[form]}.\n")
    assert printed.out.startswith(STARTS[form])
    assert (site.folder / NAMES[form]).read_text("utf-8") == printed.out


def test_a_named_format_wins_over_the_name_of_the_file(site: Tadoru) -> None:
    assert site("report", "site.db", "-f", "markdown", "-o", "x.html", "-q").err == ""
    assert (site.folder / "x.html").read_text("utf-8").startswith("## ")


def test_a_check_is_listed_with_the_pages_that_link_there(site: Tadoru) -> None:
    done = site("report", "site.db", "--check", "test-broken")
    assert "← /about “Our team”" in done.out


def test_filters_meet(site: Tadoru) -> None:
    found = site("report", "site.db", "-f", "json", "--group", "titles", "--severity", "warning").result
    assert [check["id"] for check in found["checks"]] == ["test-long"]


def test_suppressions_that_matched_nothing_are_told_on_stderr(site: Tadoru) -> None:
    (site.folder / "known.txt").write_text("test-long * # fine\ntest-old * # gone\n")
    done = site("report", "site.db", "-f", "json", "--suppress", "known.txt")
    assert done.result["totals"]["suppressed"] == 2
    assert done.err == "known.txt, line 2: “test-old * # gone” matched nothing and can be removed.\n"


def test_a_report_does_not_change_the_crawl(site: Tadoru) -> None:
    before = (site.folder / "site.db").read_bytes()
    for form in STARTS:
        site("report", "site.db", "-f", form)
    assert (site.folder / "site.db").read_bytes() == before


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        pytest.param(["none.db"], "No crawl in none.db. Choose the database of an audit.", id="no such file"),
        pytest.param(["text.db"], "text.db is not a SQLite database. Choose another file, or remove this one.", id="no database"),
        pytest.param(
            ["foreign.db"],
            "foreign.db is a SQLite database, but not a Tadoru crawl. Choose another file.",
            id="another program's",
        ),
        pytest.param(
            ["links.db"], "links.db contains no audit. Create one with `tadoru audit URL -d FILE`.", id="a map of links"
        ),
        pytest.param(
            ["site.db", "--check", "test-brokn"],
            "No check “test-brokn” in this crawl. Did you mean test-broken?",
            id="a check that is none",
        ),
        pytest.param(
            ["site.db", "-o", "report.pdf"],
            "Unknown report format of report.pdf. Use one of the extensions .txt, .json, .html, .xml, .sarif, .md, "
            "codequality.json, or --format.",
            id="a form that is none",
        ),
        pytest.param(
            ["site.db", "-o", "nowhere/report.html"],
            "--output nowhere/report.html cannot be written: folder nowhere not found.",
            id="no folder",
        ),
        pytest.param(
            ["site.db", "--suppress", "none.txt"],
            "Cannot read none.txt (No such file or directory). Check its name.",
            id="no suppression file",
        ),
        pytest.param(
            ["site.db", "-f", "html", "--all"],
            "--all is available for text, junit, markdown. An HTML page with all findings would be too large to open; it shows "
            "the command that lists them.",
            id="all of it as HTML",
        ),
        pytest.param(
            ["site.db", "--baseline", "site.db"],
            "--baseline needs --format sarif; to compare two crawls, run `tadoru compare A B`.",
            id="a baseline for text",
        ),
    ],
)
def test_what_can_not_be_done_is_told_in_one_sentence(site: Tadoru, arguments: list[str], sentence: str) -> None:
    (site.folder / "text.db").write_text("not a database" * 100)
    with sqlite3.connect(site.folder / "foreign.db") as sql:
        sql.execute("CREATE TABLE t(x)")
    Crawl(site.folder / "links.db", ()).save()
    done = site("report", *arguments)
    assert (done.code, done.out) == (2 if "SQLite" not in sentence else 1, "")
    assert done.sentence == sentence


def test_an_older_file_is_not_half_overwritten(site: Tadoru) -> None:
    report = site.folder / "report.html"
    report.write_text("the last one")
    assert site("report", "site.db", "-o", "report.html", "--check", "zzz").code == 2
    assert report.read_text() == "the last one"
    assert sorted(path.name for path in site.folder.iterdir() if "part" in path.name) == []


def test_a_reader_that_has_had_enough_is_no_failure(site: Tadoru) -> None:
    process = site.start("report", "site.db", "-f", "html", stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    process.stdout.read(20)
    process.stdout.close()
    assert process.wait(30) == 0


def test_help_shows_how(tadoru: Tadoru, tmp_path: Path) -> None:
    done = tadoru("report", "--help")
    assert "tadoru report site.db" in done.out
    assert all(flag in done.out for flag in ("--suppress", "--severity", "--lang", "--baseline", "--all"))


def test_the_colours_of_a_terminal_stay_out_of_a_pipe(site: Tadoru) -> None:
    assert "\x1b" not in site("report", "site.db").out
    assert json.loads(site("report", "site.db", "-f", "json").out)


def test_a_crawl_that_is_being_written_can_be_reported(site: Tadoru) -> None:
    with sqlite3.connect(site.folder / "site.db", isolation_level=None) as writing:
        writing.execute("BEGIN IMMEDIATE")
        writing.execute("DELETE FROM page_findings")
        done = site("report", "site.db", "-f", "json")
        writing.execute("ROLLBACK")
    assert done.result["totals"]["findings"] == 5


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_told(site: Tadoru) -> None:
    done = site("report", "site.db", "-f", "html", "-o", "/dev/full")
    assert (done.code, done.sentence) == (1, "Failed: No space left on device.")


@pytest.fixture
def sealed() -> Iterator[Path]:
    """A folder with a crawl that nobody can write to, and that every user can look into, unlike those of `tmp_path`."""
    folder = Path(tempfile.mkdtemp(prefix="tadoru-test-"))
    small(folder / "site.db")
    (folder / "site.db").chmod(0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


AS_NOBODY = """
import contextlib, io, os, shutil, sys, tempfile
import tadoru.cli.main as main
with tempfile.TemporaryDirectory() as copy, contextlib.redirect_stdout(io.StringIO()):
    shutil.copy("site.db", copy)
    main.run(["report", f"{copy}/site.db"])  # Loads what this user cannot read later.
os.geteuid() or os.setuid(65534)
sys.exit(main.run(sys.argv[1:]))
"""


def test_a_crawl_that_can_not_be_written_can_be_told_of(sealed: Path) -> None:
    done = Tadoru(sealed).python(AS_NOBODY, "report", "site.db")
    assert done.code == 0, done.err
    assert done.out.startswith(STARTS["text"])
    assert [one.name for one in sealed.iterdir()] == ["site.db"]


def test_what_was_written_last_is_not_left_out_of_a_report(sealed: Path) -> None:
    """It may stand in a file beside the crawl, which cannot be taken over there."""
    (sealed / "site.db-wal").write_bytes(b"what was written last")
    done = Tadoru(sealed).python(AS_NOBODY, "report", "site.db")
    assert (done.code, done.out) == (1, "")
    assert "site.db for writing. Check the folder and its permissions." in done.sentence
