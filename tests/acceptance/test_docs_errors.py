"""What goes wrong with `tadoru docs` outside of the site: one sentence, the right exit code, and nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import Tadoru
from tests.support.handbook import Handbook, crawl, index, tree
from tests.support.site import Site


@pytest.fixture
def book(site: Site) -> Handbook:
    book = Handbook(site)
    book.write(4)
    return book


BAD = {
    "no scheme that is crawled": (["ftp://example.com/"], "ftp"),
    "a regular expression": (["http://127.0.0.1:1/", "--include", "("], "--include"),
    "a tokenizer": (["http://127.0.0.1:1/", "--tokenizer", "none"], "Unknown tokenizer none."),
    "a kind of variant": (["http://127.0.0.1:1/", "--variants", "odd"], "--variants"),
    "half a sign-in": (["http://127.0.0.1:1/", "--auth-type", "basic"], "--auth-username"),
    "a file for a folder": (["http://127.0.0.1:1/", "-o", "file"], "file is a file"),
    "somebody else's folder": (["http://127.0.0.1:1/", "-o", "theirs"], "theirs/index.json was not written by Tadoru"),
    "no URL": ([], "URL"),
}


@pytest.mark.parametrize("arguments, words", BAD.values(), ids=BAD)
def test_bad_input_is_exit_2_and_one_sentence_before_anything_is_touched(
    arguments: list[str], words: str, tadoru: Tadoru
) -> None:
    (tadoru.folder / "file").write_text("mine")
    (tadoru.folder / "theirs").mkdir()
    (tadoru.folder / "theirs" / "index.json").write_text('{"mine": true}')
    done = tadoru("docs", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.sentence
    assert (tadoru.folder / "theirs" / "index.json").read_text() == '{"mine": true}'
    assert [file.name for file in (tadoru.folder / "theirs").iterdir()] == ["index.json"]
    assert not (tadoru.folder / ".context").exists()


def test_a_start_that_can_not_be_reached_is_exit_1(tadoru: Tadoru) -> None:
    done = tadoru("docs", "http://127.0.0.1:1/", "-o", "out", "-q")
    assert (done.code, done.out) == (1, "")
    assert done.sentence == "Cannot reach http://127.0.0.1:1/ (connection refused)."
    assert not (tadoru.folder / "out" / "index.json").exists()


def test_a_start_without_a_page_is_exit_4(tadoru: Tadoru, site: Site) -> None:
    done = crawl(tadoru, site, "-q", code=4)
    assert done.sentence == f"Nothing to crawl from {site.url('/')}: the status code is 404."


def test_a_folder_of_another_site_is_refused(tadoru: Tadoru, site: Site, elsewhere: Site, book: Handbook) -> None:
    crawl(tadoru, site, "-q")
    before = tree(tadoru.folder / "out", times=True)
    done = crawl(tadoru, elsewhere, "-q", code=2)
    assert done.sentence == f"out already holds the site {site.url('/')}. Choose another folder with -o, or crawl that URL."
    assert tree(tadoru.folder / "out", times=True) == before


def test_other_files_in_the_folder_are_left_alone(tadoru: Tadoru, site: Site, book: Handbook) -> None:
    (tadoru.folder / "out").mkdir()
    (tadoru.folder / "out" / "NOTES.txt").write_text("mine")
    crawl(tadoru, site, "-q")
    site.reply("/part-3", status=410)
    (tadoru.folder / "out" / "pages" / "mine.md").write_text("mine")
    crawl(tadoru, site, "-q", "--diff")
    assert (tadoru.folder / "out" / "NOTES.txt").read_text() == "mine"
    assert (tadoru.folder / "out" / "pages" / "mine.md").read_text() == "mine"


@pytest.mark.parametrize("damage", ["the list is cut", "the crawl is garbage", "the crawl is cut", "the state is a file"])
def test_a_damaged_state_is_told_or_mended_and_costs_no_page(damage: str, tadoru: Tadoru, site: Site, book: Handbook) -> None:
    crawl(tadoru, site, "-q")
    out = tadoru.folder / "out"
    before = tree(out)
    state = out / ".tadoru"
    if damage == "the list is cut":
        file = state / "bundle.json"
        file.write_bytes(file.read_bytes()[:40])
    elif damage == "the crawl is garbage":
        (state / "crawl.db").write_bytes(b"not a database at all" * 99)
    elif damage == "the crawl is cut":
        data = (state / "crawl.db").read_bytes()
        (state / "crawl.db").write_bytes(data[: len(data) // 2])
    else:
        shutil.rmtree(state)
        state.write_text("mine")
    done = tadoru("docs", site.url("/"), "-o", "out", "--delay", "0", "-q", "--diff")
    if damage == "the list is cut":
        assert done.code == 0, done.err
        assert {name: data for name, data in tree(out).items() if name != "index.json"} == {
            name: data for name, data in before.items() if name != "index.json"
        }
    else:
        assert done.code in (1, 2), done
        assert ".tadoru" in done.sentence
        assert tree(out) == before


def test_without_its_state_a_folder_is_crawled_anew(tadoru: Tadoru, site: Site, book: Handbook) -> None:
    crawl(tadoru, site, "-q")
    before = tree(tadoru.folder / "out")
    shutil.rmtree(tadoru.folder / "out" / ".tadoru")
    crawl(tadoru, site, "-q", "--diff")
    assert tree(tadoru.folder / "out") == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 700 KB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("only root can mount a small disk; that files may not grow is tried below, by anybody")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("size", [1_000, 20_000])
def test_a_full_disk_is_exit_1_and_the_next_run_finishes(size: int, tadoru: Tadoru, site: Site, small_disk: Path) -> None:
    book = Handbook(site)
    body = "<p>Steam rises when the lid is lifted, and the cup is warmed before.</p>"
    book.page("/", "Start", links=[f"/p{number}" for number in range(25)])
    for number in range(25):
        noise = os.urandom(size // 2).hex()
        book.page(f"/p{number}", f"Page {number}", f"{body}<pre>{noise}</pre>")
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * (300_000 if size < 9_000 else 1))
    done = tadoru("docs", site.url("/"), "-o", "disk/out", "--delay", "0", "--processes", "1", "-q")
    assert (done.code, done.out) == (1, ""), done
    assert "disk" in done.sentence
    ballast.unlink()
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    crawl(tadoru, site, "-o", "disk/out", "-q")
    assert index(small_disk / "out")["totalPages"] == 26
    crawl(tadoru, site, "-o", "quiet/out", "-q")
    assert tree(small_disk / "out") == tree(tadoru.folder / "quiet" / "out")


def test_a_file_that_may_not_grow_is_exit_1_and_the_earlier_files_stay(tadoru: Tadoru, site: Site, book: Handbook) -> None:
    crawl(tadoru, site, "-q")
    before = tree(tadoru.folder / "out", times=True)
    book.page("/part-1", "Part 1", f"<pre>{os.urandom(800_000).hex()}</pre>", links=["/", "/part-2", "/part-3"])
    done = tadoru(
        "docs", site.url("/"), "-o", "out", "--delay", "0", "--processes", "1", "-q", "--diff",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)),
    )  # fmt: skip
    assert done.code == 1, done
    assert tree(tadoru.folder / "out", times=True) == before
    crawl(tadoru, site, "-q", "--diff")
    assert index(tadoru.folder / "out")["totalPages"] == 4
