"""The folder is shared with a person: only what an earlier run wrote is ever replaced or removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.errors import StoreError, UsageError
from tadoru.jobs.docs.bundle.model import BundleOptions, StoredDoc
from tadoru.jobs.docs.bundle.output_folder import check_folder, is_inside
from tadoru.jobs.docs.bundle.writer import write_bundle
from tests.jobs.docs_bundle.sites import SITE, manual, tree, write


@pytest.mark.parametrize("name", ["index.json", "SKILL.md", "pages/mine.md"])
def test_a_folder_with_somebody_elses_files_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("{}")
    with pytest.raises(UsageError, match="was not written by Tadoru"):
        write(tmp_path, manual())
    assert list(tree(tmp_path)) == [name]


def test_a_folder_with_other_things_in_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    write(tmp_path, manual())
    (tmp_path / "pages/notes.md").write_text("mine")
    write(tmp_path, [], diff=True)
    assert {"notes.txt", "pages/notes.md"} < tree(tmp_path).keys()
    assert not list((tmp_path / "pages").glob("page-*"))


def test_a_folder_without_its_state_is_known_by_its_index(tmp_path: Path) -> None:
    write(tmp_path, manual())
    for file in (tmp_path / ".tadoru").iterdir():
        file.unlink()
    check_folder(tmp_path)
    assert write(tmp_path, manual()).rewritten == 0


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        check_folder(tmp_path / "x")


def test_a_link_to_another_place_is_not_followed(tmp_path: Path) -> None:
    root, other = tmp_path / "site", tmp_path / "other"
    write(root, manual())
    (root / "pages").rename(other)
    (root / "pages").symlink_to(other)
    before = tree(other)
    with pytest.raises(UsageError, match="is a symbolic link"):
        write(root, manual()[:1])
    write(root, manual()[:1], pages=False)
    assert tree(other) == before


def test_a_linked_file_is_replaced_and_not_written_through(tmp_path: Path) -> None:
    root = tmp_path / "site"
    write(root, manual())
    (tmp_path / "precious").write_text("precious")
    (root / "full.md").unlink()
    (root / "full.md").symlink_to(tmp_path / "precious")
    write(root, manual())
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (root / "full.md").is_symlink()


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "pages/../../x", ".tadoru/crawl.db", "a/b/c", "..\\x", ""])
def test_a_list_that_was_tampered_with_removes_nothing_outside(tmp_path: Path, path: str) -> None:
    assert not is_inside(path)
    root = tmp_path / "site"
    write(root, manual())
    (tmp_path / "x").write_text("precious")
    state = root / ".tadoru/bundle.json"
    kept = json.loads(state.read_text())
    state.write_text(json.dumps(kept | {"files": kept["files"] | {path: [0, 0]}}))
    write(root, manual()[:1])
    assert (tmp_path / "x").read_text() == "precious"


@pytest.mark.parametrize("text", ["", "[]", '{"fingerprint": 1}', '{"files": {"a": 1}}', "\x00"])
def test_a_list_that_can_not_be_read_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    write(tmp_path, manual())
    before = tree(tmp_path)
    (tmp_path / ".tadoru/bundle.json").write_text(text)
    write(tmp_path, manual())
    assert tree(tmp_path) == before


def test_what_a_killed_run_left_behind_is_known_to_the_next(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    def docs() -> Iterator[StoredDoc]:
        docs.runs += 1  # type: ignore[attr-defined]
        yield manual()[0]
        if docs.runs > 1:  # type: ignore[attr-defined]
            raise Killed

    docs.runs = 0  # type: ignore[attr-defined]
    with pytest.raises(Killed):
        write_bundle(tmp_path, SITE, docs, BundleOptions())
    assert list(tree(tmp_path)) == ["chunks/chunk-001.md", "pages/page-001-guide-install.md"]
    write(tmp_path, manual()[1:])
    assert [name for name in tree(tmp_path) if name.startswith("pages/")] == [
        "pages/page-002-guide-settings.md", "pages/page-003-ja-設定.md",
    ]  # fmt: skip
    assert sorted(file.name for file in (tmp_path / ".tadoru").iterdir()) == ["bundle.json", "search.db"]


def test_a_disk_that_fails_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="Cannot write"):
        write(tmp_path / "file" / "site", manual())
