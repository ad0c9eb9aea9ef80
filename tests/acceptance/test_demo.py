"""`tadoru demo` as a person meets it: it needs nothing, shows what each job finds, leaves files, and refuses in one sentence."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from tadoru.cli.demo import DEMO_JOBS, shorten_paragraphs


def command(checkout: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """What to start, and in which environment."""
    return [sys.executable, "-P", "-m", "tadoru", *arguments], os.environ | {"PYTHONPATH": str(checkout / "src")}


def run(checkout: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line, environment = command(checkout, *arguments)
    return subprocess.run(line, env=environment, cwd=cwd, capture_output=True, encoding="utf-8", timeout=120, check=False)


@pytest.fixture(scope="module")
def shown(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> DemoOutput:
    """A demo in a folder where one ran before, and left a crawl of a site that is gone."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "tadoru-demo").mkdir()
    (folder / "tadoru-demo" / "links.db").write_text("the crawl of another day")
    (folder / "tadoru-demo" / "docs").mkdir()
    (folder / "tadoru-demo" / "docs" / "full.md").write_text("the documentation of another day")
    line, environment = command(checkout, "demo", "--serve")
    notes: list[str] = []
    pages: dict[str, str] = {}
    with (
        (folder / "out.txt").open("w+", encoding="utf-8") as out,
        subprocess.Popen(line, env=environment, cwd=folder, stdout=out, stderr=subprocess.PIPE, encoding="utf-8") as process,
    ):
        assert process.stderr is not None
        try:
            for note in process.stderr:
                notes.append(note)
                if served := re.match(r"Serving on http://(\S+)/ ", note):
                    pages = {path: _page(served[1], path) for path in ("/", "/events.ics")}
                    town = next(one.split()[6] for one in notes if one.startswith("Serving the town of Hoshimachi at"))
                    pages["town"] = _page(town.removeprefix("http://").strip("/"), "/events.ics")
                    break
            process.send_signal(signal.SIGINT)
            notes.append(process.communicate(timeout=60)[1])
        finally:
            process.kill()
        out.seek(0)
        said = out.read()
    (folder / "out.txt").unlink()
    return DemoOutput(subprocess.CompletedProcess(line, process.returncode, said, "".join(notes)), folder / "tadoru-demo", pages)


def _page(server: str, path: str) -> str:
    with closing(http.client.HTTPConnection(server, timeout=60)) as connection:
        connection.request("GET", path)
        return connection.getresponse().read().decode()


class DemoOutput(NamedTuple):
    """What the demo said, what it left, and what its pages show."""

    done: subprocess.CompletedProcess[str]
    folder: Path
    pages: dict[str, str]


def test_the_demo_runs_and_leaves_what_it_promises(shown: DemoOutput) -> None:
    done, folder, _ = shown
    assert done.returncode == 0, done.stderr
    promised = {name for job in DEMO_JOBS for name, _ in job.made}
    assert {path.name for path in folder.iterdir() if path.stat().st_size} == {name.partition("/")[0] for name in promised}
    assert all((folder / name).exists() for name in promised)
    _, _, end = done.stdout.partition("Results\n")
    assert all(f"tadoru-demo/{name} " in end for name in promised)
    assert "tadoru demo --serve-only" in end
    assert (folder / "links.html").read_text("utf-8").lstrip().lower().startswith("<!doctype html>")


def test_results_are_on_stdout_and_progress_is_on_stderr(shown: DemoOutput) -> None:
    done, _, _ = shown
    commands = [shlex.split(line[2:]) for line in done.stdout.splitlines() if line.startswith("$ ")]
    assert {(line[0], line[1]) for line in commands} == {
        ("tadoru", job) for job in ("links", "audit", "report", "export", "docs", "events", "serve")
    }
    assert "Broken links" in done.stdout
    assert "Summary" in done.stdout
    assert "Serving the town of Hoshimachi at http://127.0.0.1:" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 16


def test_the_links_job_finds_what_is_wrong_on_purpose(shown: DemoOutput) -> None:
    done, folder, _ = shown
    result = json.loads((folder / "links.json").read_text("utf-8"))
    paths = {url["url"].removeprefix(result["start_url"]): url["status_code"] for url in result["internal_urls"]}
    assert {path for path, status in paths.items() if status == 404} == {"town/map-1998.html", "docs/rate-limits.html"}
    assert {path for path, status in paths.items() if status == 500} == {"town/statistics"}
    assert {"town/", "archive/", "docs/python-client.html", "events/ski.html", "news/bus-winter.html"} <= set(paths)
    assert paths["private/press.html"] is None
    assert "festival-archive.html" not in paths
    failed = {url["url"].removeprefix(result["start_url"]) for url in result["failed_urls"]}
    assert {"town/map-1998.html", "docs/rate-limits.html", "town/statistics"} <= failed
    assert f"✗ {result['start_url']}mobile/ " in done.stdout
    for fragment in ("access.html#boat", "offices.html#sunday", "getting-started.html#moving-from-1-x"):
        assert fragment in done.stdout


def test_the_endless_calendar_is_cut_off_and_said_so(shown: DemoOutput) -> None:
    done, folder, _ = shown
    result = json.loads((folder / "links.json").read_text("utf-8"))
    months = [url for url in result["internal_urls"] if "?month=" in url["url"] and url["status_code"] == 200]
    assert len(months) == 5
    assert "/calendar?month={date}" in done.stdout[done.stdout.index("Summary") :]


def test_the_results_are_shown_on_the_pages_of_the_service(shown: DemoOutput) -> None:
    assert "Hoshimachi" in shown.pages["/"]
    assert "BEGIN:VEVENT" in shown.pages["/events.ics"]
    assert "BEGIN:VEVENT" in shown.pages["town"], "the town is there while its results are shown"
    for crawl in ("Hoshimachi, audit (audit, finished)", "Hoshimachi, links (links, finished)", "Open Data (docs, finished)"):
        assert crawl in shown.done.stderr


def test_the_demo_asks_only_this_machine(shown: DemoOutput) -> None:
    _, folder, _ = shown
    result = json.loads((folder / "links.json").read_text("utf-8"))
    answered = {urlsplit(url["url"]).hostname for url in result["internal_urls"] + result["external_urls"] if url["status_code"]}
    assert answered == {"127.0.0.1"}


def test_the_site_alone_is_served_until_ctrl_c(checkout: Path, tmp_path: Path) -> None:
    line, environment = command(checkout, "demo", "--serve-only")
    with subprocess.Popen(
        line, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        url = urlsplit(process.stdout.readline().strip())
        with closing(http.client.HTTPConnection(url.netloc, timeout=20)) as connection:
            connection.request("GET", "/")
            assert "空にいちばん近い町" in connection.getresponse().read().decode()
        process.send_signal(signal.SIGINT)
        try:
            _, notes = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "Traceback" not in notes
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_used_is_one_sentence(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    done = run(checkout, tmp_path, "demo", "--keep", "file")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "--keep" in done.stderr
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("more", [[], ["--serve-only"]], ids=["with jobs", "serving only"])
def test_a_port_in_use_is_one_sentence(more: list[str], checkout: Path, tmp_path: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = run(checkout, tmp_path, "demo", "--port", str(port), *more)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert f"Cannot use port {port} " in done.stderr


@pytest.mark.parametrize(
    "more, said",
    [
        (["--changes", "."], "--changes needs --serve-only"),
        (["--serve-only", "--changes", "nowhere"], "Folder nowhere not found"),
    ],
    ids=["with jobs", "without a folder"],
)
def test_changes_that_can_not_be_served_are_one_sentence(more: list[str], said: str, checkout: Path, tmp_path: Path) -> None:
    done = run(checkout, tmp_path, "demo", *more)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr


@pytest.mark.parametrize(
    "text, short",
    [
        ("a\nb\nc\n", "a\nb\nc"),
        ("a\nb\nc\nd\n", "a\nb\n  … 2 more lines"),
        ("a\nb\nc\nd\n\n1\n2\n", "a\nb\n  … 2 more lines\n\n1\n2"),
    ],
    ids=["one line too many is shown all the same", "two are counted", "each part by itself"],
)
def test_each_part_of_a_long_text_is_cut(text: str, short: str) -> None:
    assert shorten_paragraphs(text, 2) == short


def test_the_events_job_makes_one_calendar_of_five_sources(shown: DemoOutput) -> None:
    _, folder, _ = shown
    listed = (folder / "events.txt").read_text("utf-8")
    assert listed.count("星まつり") == 1, "three sources speak of it"
    assert "cancelled" in listed
    calendar = (folder / "events.ics").read_text("utf-8")
    assert calendar.count("SUMMARY:星まつり") == 1
    assert "STATUS:CANCELLED" in calendar
    assert len(list((folder / "events" / "var" / "runlogs").rglob("*.json"))) == 5
