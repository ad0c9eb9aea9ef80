"""Where things are written: the result to stdout or its file and nothing else there, everything said on the way to stderr."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import select
import shutil
import subprocess
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest

from tests.acceptance.command import PATIENCE, Tadoru, finished
from tests.support.site import Site


@pytest.fixture
def shop(site: Site) -> Site:
    """Four pages, one of them gone, and a link elsewhere."""
    site.page("/", links=["/a", "/gone", "http://other.invalid/x"], title="辿る <shop>")
    site.page("/a", links=["/b"], title="A")
    site.page("/b", title="=1+1")
    return site


def test_json_has_the_seed_s_fields_first_and_by_their_names(tadoru: Tadoru, shop: Site) -> None:
    result = tadoru.map(shop.url(), "--include-external")
    assert [*result][:7] == [
        "start_url", "internal_urls", "external_urls", "failed_urls", "total_processed", "total_found", "crawl_duration",
    ]  # fmt: skip
    assert all([*info][:5] == ["url", "depth", "parent_url", "status_code", "discovered_at"] for info in result["internal_urls"])
    (failed,) = result["failed_urls"]
    assert [*failed][:4] == ["url", "error_message", "attempted_at", "parent_url"]
    assert (failed["url"], failed["parent_url"]) == (shop.url("/gone"), shop.url("/"))
    assert (result["start_url"], result["total_processed"], result["total_found"]) == (shop.url(), 4, 5)
    assert {info["url"]: info["status_code"] for info in result["internal_urls"]}[shop.url("/gone")] == 404


def test_csv_has_a_header_and_one_row_for_every_url(tadoru: Tadoru, shop: Site) -> None:
    done = tadoru.links(shop.url(), "-f", "csv", "--include-external")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert done.err == ""
    assert {(row["url"], row["type"], row["depth"], row["status_code"]) for row in rows} == {
        (shop.url("/"), "internal", "0", "200"), (shop.url("/a"), "internal", "1", "200"),
        (shop.url("/b"), "internal", "2", "200"),
        (shop.url("/gone"), "internal", "1", "404"), ("http://other.invalid/x", "external", "1", ""),
    }  # fmt: skip


def test_dot_is_one_graph_with_every_page(tadoru: Tadoru, shop: Site) -> None:
    done = tadoru.links(shop.url(), "-f", "dot")
    assert re.match(r"strict digraph .*\{\n", done.out)
    assert done.out.rstrip().endswith("}")
    assert all(shop.url(path) in done.out for path in ("/", "/a", "/b", "/gone"))
    if dot := shutil.which("dot"):
        subprocess.run([dot, "-Tsvg"], input=done.out, text=True, check=True, capture_output=True, timeout=60)


def test_text_is_a_tree_by_depth_and_ends_with_a_summary(tadoru: Tadoru, shop: Site) -> None:
    lines = tadoru.links(shop.url()).out.splitlines()
    assert lines[:4] == [
        f"{shop.url()}  辿る <shop>", "├── /a  A", "│   └── /b  =1+1", "└── /gone  ✗ 404 Not Found  Not found",
    ]  # fmt: skip
    assert "  URLs      4 requested of 5 found" in lines[lines.index("Summary") :]


class References(HTMLParser):
    """What a browser would load by itself, and where links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "srcset", "data", "poster", "action") or (name == "href" and tag in ("link", "use", "image")):
                self.loaded.append(value or "")
            elif name in ("href", "xlink:href"):
                self.linked.append(value or "")


def test_html_is_one_file_that_loads_nothing(tadoru: Tadoru, shop: Site) -> None:
    page = tadoru.links(shop.url(), "-f", "html", "--include-external").out
    found = References()
    found.feed(page)
    assert [reference for reference in found.loaded if not reference.startswith(("data:", "#"))] == []
    hosts = {urlsplit(link).netloc for link in found.linked} - {""}
    assert hosts <= {urlsplit(shop.url()).netloc, "other.invalid"}
    assert "@import" not in page
    assert "url(http" not in page
    assert "辿る &lt;shop&gt;" in page


@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_html_opens_in_a_browser_without_a_complaint(tadoru: Tadoru, shop: Site) -> None:
    tadoru.links(shop.url(), "-f", "html", "-o", "out.html")
    folder = tadoru.folder
    chromium = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", "--v=0",
         f"--user-data-dir={folder / 'profile'}", "--dump-dom", (folder / "out.html").as_uri()],
        capture_output=True, encoding="utf-8", timeout=120, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in chromium.stderr, chromium.stderr
    assert "辿る &lt;shop&gt;" in chromium.stdout
    assert shop.url("/gone") in chromium.stdout


def test_a_file_appears_whole_and_only_there(tadoru: Tadoru, shop: Site) -> None:
    target = tadoru.folder / "real.json"
    (tadoru.folder / "out.json").symlink_to(target)
    done = tadoru.links(shop.url(), "-f", "json", "-o", "out.json")
    assert (done.code, done.out, done.err) == (0, "", "Wrote out.json.\n")
    assert json.loads(target.read_text("utf-8"))["start_url"] == shop.url()
    assert (tadoru.folder / "out.json").is_symlink()
    assert tadoru.links(shop.url(), "-f", "json", "-o", "-").result["start_url"] == shop.url()


def test_a_pipe_or_device_is_written_to_and_not_replaced(tadoru: Tadoru, shop: Site) -> None:
    pipe = tadoru.folder / "pipe"
    os.mkfifo(pipe)
    process = tadoru.start("links", shop.url(), "--delay", "0", "-f", "json", "-o", "pipe", "-q")
    assert json.loads(pipe.read_text("utf-8"))["start_url"] == shop.url()
    assert finished(process).code == 0
    assert pipe.is_fifo()


def test_quiet_says_nothing_and_a_pipe_gets_no_bar(tadoru: Tadoru, shop: Site) -> None:
    for arguments in (["-q"], ["-q", "-o", "x.txt"], []):
        done = tadoru.links(shop.url(), *arguments)
        assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("processes", ["1", "2"])
def test_verbose_tells_every_page_whichever_process_asked(processes: str, tadoru: Tadoru, shop: Site) -> None:
    done = tadoru.links(shop.url(), "-v", "-f", "json", "--processes", processes)
    assert done.result["total_processed"] == 4
    told = {line.split(" ")[0]: line for line in done.err.splitlines()}
    assert set(told) == {shop.url(path) for path in ("/", "/a", "/b", "/gone")}
    assert " status=404 depth=1 " in told[shop.url("/gone")]


@pytest.mark.parametrize("form", [["--log-format", "json"], ["--log-format=json"]], ids=["two words", "one word"])
def test_log_lines_can_be_json_the_error_too(form: list[str], tadoru: Tadoru, shop: Site) -> None:
    done = tadoru.links(shop.url(), *form, "-v", "--processes", "2", "--fail-on", "broken", "-o", "out.txt")
    assert (done.code, done.out) == (10, "")
    records = [json.loads(line) for line in done.err.splitlines()]
    assert {"time", "level", "worker", "event"} <= set.intersection(*map(set, records))
    assert shop.url("/gone") in {record["event"] for record in records}
    assert (records[-1]["level"], records[-1]["event"], records[-1]["exit_code"]) == ("error", "1 broken link, none allowed.", 10)


def on_a_terminal(tadoru: Tadoru, *arguments: str, out: bool = False, env: dict[str, str] | None = None) -> tuple[str, str]:
    """(what the terminal showed, stdout) with stderr, or stdout too, on a terminal."""
    ours, theirs = pty.openpty()
    options = {"stderr": theirs, "stdout": theirs} if out else {"stderr": theirs}
    process = tadoru.start(*arguments, env={"TERM": "xterm-256color", "COLUMNS": "100"} | (env or {}), **options)
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            shown += os.read(ours, 65536)
        except OSError:  # The other side is closed.
            break
    os.close(ours)
    return shown.decode(), finished(process).out


def test_a_terminal_shows_a_bar_that_goes_away(tadoru: Tadoru, site: Site) -> None:
    shown, out = on_a_terminal(tadoru, "links", site.url("/tree/12/4/0"), "--delay", "50ms", "-f", "json")
    assert "Crawling" in shown
    assert re.search(r"\d+ pages?, \d+ queued, [\d.]+/s, about \d+ s left", shown)
    assert re.search(r"no errors; p50 \d+ ms, p90 \d+ ms, \d+% busy", shown)
    assert "\x1b[2K" in shown, "the line is cleared"
    assert json.loads(out)["total_processed"] == 12


@pytest.mark.parametrize("env, coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True)], ids=str)
def test_colours_are_for_terminals_and_can_be_switched_off(
    env: dict[str, str], coloured: bool, tadoru: Tadoru, shop: Site
) -> None:
    shown, _ = on_a_terminal(tadoru, "links", shop.url(), "--delay", "0", "-q", out=True, env=env)
    assert "Summary" in shown
    assert ("\x1b[31m" in shown) is coloured


def test_a_reader_that_has_had_enough_ends_it_quietly(tadoru: Tadoru, site: Site) -> None:
    process = tadoru.start("links", site.url("/links/900"), "--delay", "0", "--depth", "0", "-f", "csv")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("url,type,")
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(PATIENCE) == 0
    process.stderr.close()


def test_the_result_is_utf_8_whatever_the_locale(tadoru: Tadoru, shop: Site) -> None:
    done = tadoru.links(shop.url(), env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert "辿る" in done.out
    assert "├── /a" in done.out
