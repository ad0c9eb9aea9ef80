"""What was read of a crawl is kept, and read anew as soon as its files changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tadoru.jobs.audit.crawl_results.queries import CACHE_SIZE, LARGE_CACHE_SIZE, cached_while_unchanged


def test_what_was_read_is_kept_until_the_file_or_its_log_changes(tmp_path: Path) -> None:
    file, times = tmp_path / "crawl.db", list[str]()

    @cached_while_unchanged()
    def read(path: Path | str, *, lang: str = "en") -> str:
        times.append(lang)
        return f"{Path(path).read_text()} {lang}"

    file.write_text("one")
    assert [read(file), read(str(file)), read(file, lang="ja")] == [
        "one en",
        "one en",
        "one ja",
    ]
    assert times == ["en", "ja"]
    (tmp_path / "crawl.db-wal").write_text("x")
    read(file)
    assert times == ["en", "ja", "en"]
    file.write_text("two")
    os.utime(file, ns=(1, 1))
    assert read(file) == "two en"


def test_what_could_not_be_read_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / "crawl.db"
    tries = [0]

    @cached_while_unchanged()
    def read(path: Path | str) -> str:
        tries[0] += 1
        if tries[0] == 1:
            raise OSError
        return str(path)

    for _ in range(2):
        try:
            found = read(file)
        except OSError:
            continue
    assert (found, tries) == (str(file), [2])


@pytest.mark.parametrize(
    "decorator, size",
    [(cached_while_unchanged(), CACHE_SIZE), (cached_while_unchanged(LARGE_CACHE_SIZE), 8)],
    ids=["small results", "large results"],
)
def test_only_so_much_is_kept(tmp_path: Path, decorator: Callable[..., Callable[..., int]], size: int) -> None:
    counted: list[Path | str] = []

    @decorator
    def read(path: Path | str) -> int:
        counted.append(path)
        return len(counted)

    for number in range(size):
        read(tmp_path / str(number))
    read(tmp_path / "0")
    assert len(counted) == size
    read(tmp_path / "one more")
    read(tmp_path / "1")
    assert len(counted) == size + 2
