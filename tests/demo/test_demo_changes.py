"""Files that take the place of the town's own: somebody mends a page by saving it, and nothing else can be had of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.demo.server import FileOverrides


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    changes = tmp_path / "changes"
    (changes / "town").mkdir(parents=True)
    (tmp_path / "secret.html").write_text("secret", "utf-8")
    (changes / "town" / "index.html").write_text("<h1>町役場</h1>", "utf-8")
    (changes / "feed.xml").write_text("<rss/>", "utf-8")
    (changes / "notes").write_text("of no type that the town serves", "utf-8")
    (changes / "being-written.html").touch()
    return changes


@pytest.mark.parametrize(
    "target, body, kind",
    [
        ("/town/", "<h1>町役場</h1>", "text/html; charset=utf-8"),
        ("/town/index.html?from=menu", "<h1>町役場</h1>", "text/html; charset=utf-8"),
        ("/%74own/", "<h1>町役場</h1>", "text/html; charset=utf-8"),
        ("/feed.xml", "<rss/>", "application/xml"),
    ],
)
def test_a_file_is_the_answer_to_its_address(target: str, body: str, kind: str, folder: Path) -> None:
    answer = FileOverrides(folder).respond(target)
    assert answer is not None
    assert (answer.status, answer.body.decode(), answer.type) == (200, body, kind)


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/town",
        "/town/other.html",
        "/notes",
        "/being-written.html",
        "/../secret.html",
        "/%2e%2e/secret.html",
        "//town/",
        "*",
        "",
    ],
)
def test_everything_else_is_left_to_the_town(target: str, folder: Path) -> None:
    assert FileOverrides(folder).respond(target) is None


def test_a_file_counts_from_the_moment_it_is_saved_until_it_is_taken_away(folder: Path) -> None:
    changes = FileOverrides(folder)
    page = folder / "new.html"
    assert changes.respond("/new.html") is None
    page.write_text("new", "utf-8")
    assert changes.respond("/new.html") is not None
    page.unlink()
    assert changes.respond("/new.html") is None


def test_without_a_folder_nothing_is_changed() -> None:
    assert FileOverrides(None).respond("/feed.xml") is None
