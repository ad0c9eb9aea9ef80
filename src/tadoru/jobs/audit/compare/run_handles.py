"""What is compared: `FILE`, the last run of a database, or `FILE@RUN`, an earlier one. And which URLs of the two are the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tadoru.clock import Clock
from tadoru.errors import UsageError
from tadoru.store.crawl.open import is_same_crawl, open_existing
from tadoru.store.crawl.run_pages import Rewrite
from tadoru.store.crawl.runs import StoredRun
from tadoru.store.crawl.sqlite import SqliteStore


@dataclass(frozen=True, slots=True)
class RunHandle:
    """One run of one database, open."""

    name: str
    """The file, as it was given."""
    store: SqliteStore
    run: StoredRun
    is_last: bool

    @property
    def number(self) -> int | None:
        """How the store knows the run: None is the last one."""
        return None if self.is_last else self.run.number

    async def close(self) -> None:
        await self.store.close()


def split_name(name: str) -> tuple[str, int | None]:
    """The file and the run of `FILE@RUN`. A file may have an @ in its name."""
    file, at, run = name.rpartition("@")
    if at and file and run.isascii() and run.isdigit() and not Path(name).is_file():
        return file, int(run)
    return name, None


async def open_run(name: str, clock: Clock) -> RunHandle:
    """Open `FILE` or `FILE@RUN`. Raises UsageError."""
    file, number = split_name(name)
    store = open_existing(file, clock)
    try:
        runs = await store.runs()
        if not runs:
            raise UsageError(f"{store.path} holds no crawl yet: let `tadoru audit` finish one.")
        return RunHandle(store.path, store, _find_run(store.path, runs, number), number in (None, runs[-1].number))
    except BaseException:
        await store.close()
        raise


async def open_runs(names: Sequence[str], clock: Clock) -> tuple[RunHandle, RunHandle]:
    """Two sides, or the last two runs of one file. Raises UsageError."""
    if len(names) == 1:
        names = await _last_two(names[0], clock)
    before = await open_run(names[0], clock)
    try:
        after = await open_run(names[1], clock)
    except BaseException:
        await before.close()
        raise
    if before.run.number == after.run.number and is_same_crawl(before.name, after.name):
        await before.close()
        await after.close()
        raise UsageError(f"Both are run {after.run.number} of {after.name}: there is nothing to compare.")
    return before, after


def parse_rewrites(pairs: Iterable[str]) -> Rewrite | None:
    """The function of every `--map REGEX=REPLACEMENT`, one after the other. Raises UsageError."""
    rules: list[tuple[re.Pattern[str], str]] = []
    for pair in pairs:
        pattern, sign, replacement = pair.partition("=")
        if not pattern or not sign:
            raise UsageError(rf"--map takes REGEX=REPLACEMENT, such as https://staging\.=https://www.; “{pair}” is not that.")
        try:
            rule = re.compile(pattern)
            rule.sub(replacement, "")  # Reads the replacement, whether it matches or not.
        except (re.error, IndexError) as error:
            raise UsageError(f"--map {pair} can not be read ({error}).") from None
        rules.append((rule, replacement))
    if not rules:
        return None

    def rewrite(url: str) -> str:
        for rule, replacement in rules:
            url = rule.sub(replacement, url)
        return url

    return rewrite


def _find_run(file: str, runs: list[StoredRun], number: int | None) -> StoredRun:
    if number is None:
        return runs[-1]
    kept = [run.number for run in runs if run.kept]
    for run in runs:
        if run.number == number and run.kept:
            return run
    told = f"run {kept[0]}" if len(kept) == 1 else f"the runs {', '.join(map(str, kept))}"
    raise UsageError(f"There is no run {number} in {file}: it holds {told}.")


async def _last_two(name: str, clock: Clock) -> tuple[str, str]:
    file, number = split_name(name)
    store = open_existing(file, clock)
    try:
        kept = [run.number for run in await store.runs() if run.kept and (number is None or run.number <= number)]
    finally:
        await store.close()
    if len(kept) < 2:
        raise UsageError(
            f"{store.path} holds no earlier run to compare with: give two databases, or crawl again with "
            f"`tadoru audit -d {store.path} --recrawl`."
        )
    return f"{file}@{kept[-2]}", f"{file}@{kept[-1]}"
