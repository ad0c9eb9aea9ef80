"""What a person sees while a crawl runs, all on stderr: a bar on a terminal, lines elsewhere, log lines when asked."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tadoru.clock import Clock
from tadoru.engine.notices import (
    HostSlowed,
    LeasesRecovered,
    Notice,
    PageBroke,
    PageDone,
    PageFailed,
    PageRefused,
    PageRetried,
    SiteMoved,
)
from tadoru.log import Log
from tadoru.store.base import Counts

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PLAIN_FIRST, PLAIN_EVERY = 2.0, 10.0
"""Seconds to the first line where there is no terminal, and between two of them."""

LONG_PAUSE = 30.0
"""Seconds that a person should hear about: otherwise it looks as if nothing happened."""


class Display:
    """Progress from the crawl's counts, log lines from its notices."""

    def __init__(self, *, quiet: bool, verbose: int, log_format: str, limit: int, clock: Clock) -> None:
        level = "error" if quiet else ("warning", "info", "debug")[min(verbose, 2)]
        self._log = Log(sys.stderr, clock, form=log_format, level=level)
        self._clock = clock
        self._limit = limit
        self._bar = not quiet and not verbose and log_format == "text" and sys.stderr.isatty()
        self._lines = not quiet and not self._bar
        self._json = log_format == "json"
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._began = clock.monotonic()
        self._say_at = self._began + PLAIN_FIRST
        self._first: int | None = None

    def note(self, sentence: str) -> None:
        """Something worth saying in any case, unless quiet."""
        if self._lines or self._bar:
            self._log_or_line(sentence)

    def _log_or_line(self, sentence: str) -> None:
        if self._json:
            self._log.write("warning", sentence)
        elif self._progress is not None:
            self._progress.console.print(sentence, markup=False, highlight=False)
        else:
            self._log.line(sentence)

    def __enter__(self) -> Self:
        self._began = self._clock.monotonic()
        self._say_at = self._began + PLAIN_FIRST
        return self

    def _start_bar(self) -> None:
        """Not before the crawl reports: the bar has a thread, and a process with threads must not fork its siblings."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("[bold]{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True), transient=True, refresh_per_second=5,
        )  # fmt: skip
        self._task = self._progress.add_task("Crawling", total=None, words="")
        self._progress.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def watch(self, counts: Counts) -> None:
        """Called several times a second with the counts of the whole crawl."""
        if self._first is None:
            self._first = counts.counted
            if self._bar:
                self._start_bar()
        now = self._clock.monotonic()
        done, waiting = counts.counted, counts.queued + counts.processing
        rate = (done - self._first) / max(now - self._began, 0.001)
        goal = min(done + waiting, self._limit) if self._limit else done + waiting
        words = f"{done} pages, {waiting} waiting, {counts.error} errors, {rate:.1f}/s"
        if rate > 0 and goal > done:
            words += f", about {_span((goal - done) / rate)} left"
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=max(goal, 1), words=words)
        elif self._lines and done and waiting and now >= self._say_at:
            self._say_at = now + PLAIN_EVERY
            self._log_or_line(words)

    def notify(self, notice: Notice) -> None:
        """A notice as a log line; the log's level decides whether it shows."""
        write = self._log.write
        match notice:
            case PageDone():
                write("info", notice.url, status=notice.status, depth=notice.depth, links=notice.links, seconds=notice.seconds)
            case PageFailed():
                write("info", notice.url, failed=notice.kind, why=notice.message)
            case PageRefused():
                write("info", notice.url, refused=notice.reason)
            case PageRetried():
                write("info", notice.url, again_after=notice.after, because=notice.kind)
            case HostSlowed() if notice.pause >= LONG_PAUSE:
                self.note(f"{notice.host} asks to be left alone for {_span(notice.pause)}: waiting.")
            case HostSlowed():
                write("info", f"slowing down for {notice.host}", gap=notice.gap, pause=notice.pause)
            case SiteMoved():
                self.note(f"{notice.old} redirects to {notice.new}: crawling that site.")
            case LeasesRecovered():
                write("info", "took back the work of a process that died", urls=notice.count)
            case PageBroke():
                write("error", f"Tadoru failed on {notice.url}; please report this", trace=notice.trace)
            case _:
                write("debug", type(notice).__name__)


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
