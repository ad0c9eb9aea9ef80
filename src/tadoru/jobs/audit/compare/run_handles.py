"""Opens the runs to compare: `FILE` is the last run of a database, `FILE@RUN` an earlier one. Also parses `--map`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tadoru.clock import Clock
from tadoru.errors import UsageError, quoted
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.open import is_same_crawl, open_existing
from tadoru.store.crawl.run_pages import Rewrite
from tadoru.store.crawl.runs import StoredRun


@dataclass(frozen=True, slots=True)
class RunHandle:
    """A run in an open database."""

    name: str
    """The file, as the user gave it."""
    store: CrawlDatabase
    run: StoredRun
    is_last: bool

    @property
    def number(self) -> int | None:
        """The number of the run in the store; None for the last run."""
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
    """Opens `FILE` or `FILE@RUN`. Raises UsageError."""
    file, number = split_name(name)
    store = open_existing(file, clock)
    try:
        runs = await store.runs.all()
        if not runs:
            raise UsageError("{database} contains no crawl yet. Create one with `tadoru audit`.", database=store.path)
        return RunHandle(store.path, store, _find_run(store.path, runs, number), number in (None, runs[-1].number))
    except BaseException:
        await store.close()
        raise


async def open_runs(names: Sequence[str], clock: Clock) -> tuple[RunHandle, RunHandle]:
    """Opens two runs, or the last two runs of one file. Raises UsageError."""
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
        raise UsageError(
            "Both are run {number} of {database}. Choose two different runs.", number=after.run.number, database=after.name
        )
    return before, after


def parse_rewrites(pairs: Iterable[str]) -> Rewrite | None:
    """A function that applies all `--map REGEX=REPLACEMENT` in turn. Raises UsageError."""
    rules: list[tuple[re.Pattern[str], str]] = []
    for pair in pairs:
        pattern, sign, replacement = pair.partition("=")
        if not pattern or not sign:
            raise UsageError(
                "Invalid --map {value}. Use REGEX=REPLACEMENT, such as https://staging\\.=https://www.", value=quoted(pair)
            )
        try:
            rule = re.compile(pattern)
            rule.sub(replacement, "")  # Reads the replacement, whether it matches or not.
        except (re.error, IndexError) as error:
            raise UsageError(
                "Invalid regular expression or replacement in --map {value} ({error}).", value=quoted(pair), error=error
            ) from None
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
    raise UsageError(
        "Run {number} not found in {database}. Available runs: {runs}.",
        number=number,
        database=file,
        runs=", ".join(map(str, kept)),
    )


async def _last_two(name: str, clock: Clock) -> tuple[str, str]:
    file, number = split_name(name)
    store = open_existing(file, clock)
    try:
        kept = [run.number for run in await store.runs.all() if run.kept and (number is None or run.number <= number)]
    finally:
        await store.close()
    if len(kept) < 2:
        raise UsageError(
            "{database} has no earlier run to compare with. Compare two databases, or crawl again with "
            "`tadoru audit -d {database} --recrawl`.",
            database=store.path,
        )
    return f"{file}@{kept[-2]}", f"{file}@{kept[-1]}"
