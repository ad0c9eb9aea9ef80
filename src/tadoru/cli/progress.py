"""Progress of a crawl on stderr: a bar on a terminal, lines elsewhere, and log lines with `-v`."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tadoru.cli.output import _, ngettext
from tadoru.clock import SystemClock
from tadoru.config.options import CrawlOptions
from tadoru.engine import notifications
from tadoru.errors import NothingToCrawl, SeedUnreachable, UsageError, without_passwords
from tadoru.log import Log, LogFile
from tadoru.store.crawl.metrics import CrawlMetrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType
    from rich.progress import Progress, TaskID

    from tadoru.engine.crawl import CrawlOutcome
    from tadoru.jobs.crawl_setup import FinishedCrawl, PreparedCrawl, Result, SiteCrawl, StartFailure

FIRST_LINE_AFTER, LINE_EVERY = 2.0, 10.0
"""Seconds until the first progress line where there is no terminal, and between two lines."""

LONG_PAUSE = 30.0
"""Seconds of a pause that is reported: otherwise the crawl seems to hang."""


class CrawlProgress:
    """Shows progress from the counts of the crawl, and log lines from its notifications."""

    def __init__(self, options: CrawlOptions, *, quiet: bool, verbose: int, log_format: str) -> None:
        """Raises UsageError if the log file cannot be written."""
        clock, log_file = SystemClock(), options.log_file
        level = "error" if quiet else ("warning", "info", "debug")[min(verbose, 2)]
        self._file = (
            None if log_file is None else Log(_open_log(log_file), clock, form="json", level=("info", "debug")[verbose > 1])
        )
        self._log = Log(sys.stderr, clock, form=log_format, level=level)
        self._clock = clock
        self._limit = options.limit
        self._bar = not quiet and not verbose and log_format == "text" and sys.stderr.isatty()
        self._lines = not quiet and not self._bar
        self._json = log_format == "json"
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._began = clock.monotonic()
        self._next_line_at = self._began + FIRST_LINE_AFTER
        self._first: int | None = None
        self._rate = PageRate()
        self.details = ""
        """The second line of the bar: errors, response times, load."""

    def _write(self, level: str, what: str, **fields: Any) -> None:
        """Write an event to stderr and to the log file."""
        self._log.write(level, what, **fields)
        if self._file is not None:
            self._file.write(level, what, **fields)

    def note(self, sentence: str) -> None:
        """Write a message, unless quiet."""
        if self._file is not None:
            self._file.write("info", sentence)
        if self._lines or self._bar:
            if self._json:
                self._log.write("warning", sentence)
            elif self._progress is not None:
                self._progress.console.print(without_passwords(sentence), markup=False, highlight=False)
            else:
                self._log.line(sentence)

    def __enter__(self) -> Self:
        self._began = self._clock.monotonic()
        self._next_line_at = self._began + FIRST_LINE_AFTER
        return self

    def _start_bar(self) -> None:
        """Start the bar when the crawl first reports: the bar has a thread, and a process with threads must not fork workers."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.text import Text

        display = self

        class TwoLines(Progress):
            """The bar with a line of details below it."""

            def get_renderables(self) -> Iterator[RenderableType]:
                yield from super().get_renderables()
                yield Text(display.details, style="dim", no_wrap=True, overflow="ellipsis")

        self._progress = TwoLines(
            TextColumn("[bold]{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[words]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True), transient=True, refresh_per_second=5,
        )  # fmt: skip
        self._task = self._progress.add_task(_("Crawling"), total=None, words="")
        self._progress.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def watch(self, metrics: CrawlMetrics, use: float) -> None:
        """Called several times a second with the metrics of the whole crawl."""
        counts = metrics.counts
        if self._first is None:
            self._first = counts.counted
            if self._bar:
                self._start_bar()
        now = self._clock.monotonic()
        done, waiting = counts.counted, counts.queued + counts.processing
        self._rate.add(now, done)
        rate = self._rate.value
        goal = min(done + waiting, self._limit) if self._limit else done + waiting
        values = {"waiting": f"{waiting:,}", "rate": f"{rate:.1f}"}
        if rate > 0 and goal > done:
            left = _format_duration((goal - done) / rate)
            words = ngettext(
                "{count} page, {waiting} queued, {rate}/s, about {left} left",
                "{count} pages, {waiting} queued, {rate}/s, about {left} left",
                done, left=left, **values,
            )  # fmt: skip
        else:
            words = ngettext(
                "{count} page, {waiting} queued, {rate}/s", "{count} pages, {waiting} queued, {rate}/s", done, **values
            )
        self.details = _details(metrics, use)
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=max(goal, 1), words=words)
        elif self._lines and done and waiting and now >= self._next_line_at:
            self._next_line_at = now + LINE_EVERY
            if self._json:
                self._log.write("warning", "progress", **_fields(metrics, use, rate))
            else:
                self._log.line(f"{words}; {self.details}")

    def notify(self, notice: notifications.CrawlNotification) -> None:
        """Write a notification as a log line, if its level is enabled."""
        write = self._write
        match notice:
            case notifications.PageDone():
                write("info", notice.url, status=notice.status, depth=notice.depth, links=notice.links, seconds=notice.seconds)
            case notifications.PageFailed():
                write("info", notice.url, failed=notice.kind, why=notice.message)
            case notifications.PageRefused():
                write("info", notice.url, refused=notice.reason)
            case notifications.PageRetried():
                write("info", notice.url, again_after=notice.after, because=notice.kind)
            case notifications.HostSlowed() if notice.pause >= LONG_PAUSE and not notice.silent:
                self.note(
                    _("{host} asks for a pause of {pause}: waiting.", host=notice.host, pause=_format_duration(notice.pause))
                )
            case notifications.HostSlowed():
                write("info", "slowing down", host=notice.host, gap=notice.gap, pause=notice.pause, silent=notice.silent)
            case notifications.SiteMoved():
                self.note(_("{old} redirects to {new}: crawling that site.", old=notice.old, new=notice.new))
            case notifications.LeasesRecovered():
                write("info", "recovered leases of a dead process", urls=notice.count)
            case notifications.PageTruncated():
                write("warning", "page truncated", url=notice.url, because="; ".join(notice.reasons))
            case notifications.PageNotRendered():
                write("info", notice.url, unrendered=notice.reason)
            case notifications.SitemapRead():
                write("info", notice.url, urls=notice.urls, problem=notice.problem)
            case notifications.PageHandlerFailed():
                write("error", "bug in Tadoru, please report it", url=notice.url, trace=notice.trace)
            case _:
                write("debug", type(notice).__name__)


def _open_log(path: str) -> LogFile:
    try:
        return LogFile(Path(path))
    except OSError as error:
        raise UsageError("Cannot write --log-file {file}: {reason}.", file=path, reason=error.strerror or error) from None


class PageRate:
    """Pages per second over the last 30 seconds."""

    WINDOW = 30.0

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, now: float, done: int) -> None:
        self._seen.append((now, done))
        while len(self._seen) > 2 and now - self._seen[1][0] > self.WINDOW:
            self._seen.popleft()

    @property
    def value(self) -> float:
        (first, before), (last, after) = self._seen[0], self._seen[-1]
        return (after - before) / max(last - first, 0.001)


def _details(metrics: CrawlMetrics, use: float) -> str:
    """Errors by kind, response times, and the load of the workers."""
    kinds = sorted(metrics.errors.items(), key=lambda item: -item[1])
    errors = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in kinds[:3]) or _("no errors")
    middle, slow = metrics.percentile(0.5), metrics.percentile(0.9)
    times = f"p50 {middle:.0f} ms, p90 {slow:.0f} ms, " if middle is not None and slow is not None else ""
    workers = ngettext("{count} worker ", "{count} workers ", metrics.workers) if metrics.workers > 1 else ""
    return _("{errors}; {times}{workers}{load} busy", errors=errors, times=times, workers=workers, load=f"{use:.0%}")


def _fields(metrics: CrawlMetrics, use: float, rate: float) -> dict[str, Any]:
    """The same as fields of a JSON log line."""
    counts = metrics.counts
    return {
        "pages": counts.counted, "queued": counts.queued, "processing": counts.processing, "pages_per_second": round(rate, 1),
        "errors": dict(metrics.errors), "statuses": {str(code): count for code, count in metrics.statuses.items()},
        "p50_ms": metrics.percentile(0.5), "p90_ms": metrics.percentile(0.9), "p99_ms": metrics.percentile(0.99),
        "workers": metrics.workers, "busy": round(use, 2), "bytes": metrics.bytes,
    }  # fmt: skip


def _format_duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def run_with_progress(
    crawl: SiteCrawl[Result], display: CrawlProgress, on_prepared: Callable[[PreparedCrawl], None]
) -> FinishedCrawl[Result]:
    """Run a crawl with sibling processes, and show its progress. Raises UsageError."""
    from tadoru.jobs import launch

    def run(plan: launch.CrawlPlan) -> CrawlOutcome:
        with display:
            return launch.run(plan, display.notify, display.watch)

    return crawl.run_with(run, on_prepared)


def note_start(prepared: PreparedCrawl, display: CrawlProgress, *, recrawl: bool) -> None:
    """Say whether a stored crawl is resumed or requested again; `recrawl`: whether the latter was asked for."""
    if prepared.recrawl:
        display.note(_("Crawling {url} again (run {run}).", url=prepared.starts[0], run=prepared.run))
    elif recrawl and prepared.resumed:
        display.note(_("The last crawl of {url} is not finished: resuming it first.", url=prepared.starts[0]))
    elif prepared.resumed:
        display.note(_("Resuming the crawl of {url}.", url=prepared.starts[0]))


def check_start_urls(failure: StartFailure | None, url: str = "") -> None:
    """Raise an error with the reason if nothing could be crawled. `url` is shown instead of the one that failed."""
    if failure is None:
        return
    if failure.status == "error":
        kind = (failure.error_type or "no_response").replace("_", " ")
        raise SeedUnreachable("Cannot reach {url} ({reason}).", url=url or failure.url, reason=kind)
    if failure.reason.startswith("robots.txt"):
        raise NothingToCrawl(
            "Nothing to crawl from {url}: {reason}. If the site is yours, use --ignore-robots.",
            url=url or failure.url,
            reason=failure.reason,
        )
    raise NothingToCrawl("Nothing to crawl from {url}: {reason}.", url=url or failure.url, reason=failure.reason)
