"""Audited crawls for the tests of reports, written straight into a database: a few pages, or as many as one likes."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tadoru.jobs.audit.catalogue import CheckCatalogue
from tadoru.jobs.audit.report import ReportRequest, write_requested
from tadoru.jobs.audit.score import SCORE_VERSION
from tadoru.model.finding import Check, Severity, Threshold, define
from tadoru.store.crawl.runs import RunOutcome
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.support.clock import FakeClock

HOME = "https://garden.example/"
OUTSIDE = "https://friend.example/"

BROKEN = define(
    "test-broken", Severity.ERROR, group="responses",
    en=("Broken page", "Nobody finds it.", "Mend it."),
    ja=("壊れたページ", "誰も見つけられません。", "直してください。"),
)  # fmt: skip
LONG = define(
    "test-long", Severity.WARNING, group="titles",
    threshold=Threshold(60, "characters"),
    en=("Long title", "It is cut off.", "Write less."),
    ja=("長いタイトル", "途中で切れます。", "短くしてください。"),
)  # fmt: skip
PLAIN = define(
    "test-plain", Severity.NOTICE, group="titles",
    en=("Plain title", "Nobody reads it.", "Write more."),
    ja=("ありふれたタイトル", "読まれません。", "工夫してください。"),
)  # fmt: skip
CALM = define(
    "test-calm", Severity.INFO, group="urls",
    en=("Calm URL", "It is good to know.", "Nothing to do."),
    ja=("静かなURL", "参考になります。", "対応は不要です。"),
)  # fmt: skip
CLEAN = define(
    "test-clean", Severity.ERROR, group="urls",
    en=("Dirty URL", "Nobody types it.", "Wash it."),
    ja=("汚れたURL", "入力できません。", "整えてください。"),
)  # fmt: skip
SMALL_CATALOGUE = (BROKEN, LONG, PLAIN, CALM, CLEAN)


class Crawl:
    """A crawl that is being made up. `save` it, and it is one that a report can read."""

    def __init__(self, path: Path, checks: Iterable[Check] = SMALL_CATALOGUE) -> None:
        self.path = path
        self.store = SqliteStore(str(path), FakeClock())
        self._sql = self.store.sql
        self._sql.execute("PRAGMA synchronous = OFF")
        asyncio.run(self.store.checks.install(checks, "page"))
        self._numbers: dict[str, int] = dict(self._sql.execute("SELECT id, number FROM checks"))
        self._texts: dict[str, int] = {"": 0}
        self._positions: dict[int, int] = {}
        self._ids: dict[str, int] = {}
        self._sql.execute("BEGIN")

    def page(self, path: str = "", depth: int = 1, status: int | None = 200, **values: Any) -> int:
        """A page of the site; its number. `parent`, `title`, `state`, `reason`, `ms`, `size`, `redirect`, `score`, ..."""
        url = path if "://" in path else HOME + path
        state = values.get("state") or ("completed" if status is not None else "error")
        number = len(self._ids) + 1
        self._ids[url] = number
        self._sql.execute(
            """INSERT INTO pages(id, url, status, host_id, depth, is_seed, parent_id, added_at, status_code, title, ttfb_ms,
            download_time_ms, response_size_bytes, crawled_at, skip_reason, internal, redirect_id)
            VALUES (?, ?, ?, 1, ?, ?, ?, '2026-11-15 09:30:00.000', ?, ?, ?, ?, ?, '2026-11-15 09:31:00.000', ?, ?, ?)""",
            (
                number, url, state, depth, depth == 0, values.get("parent"), status, values.get("title"), values.get("ms"),
                10.0 if "ms" in values else None, values.get("size"), values.get("reason"), url.startswith(HOME),
                values.get("redirect"),
            ),
        )  # fmt: skip
        if url.startswith(HOME) and state in ("completed", "error"):
            why = values.get("indexability", "indexable" if status == 200 else "client error")
            self._sql.execute(
                "INSERT INTO page_details(page_id, indexable, indexability) VALUES (?, ?, ?)", (number, why == "indexable", why)
            )
        return number

    def link(self, source: int, target: int, text: str = "", rel: str = "") -> None:
        position = self._positions[source] = self._positions.get(source, -1) + 1
        self._sql.execute(
            "INSERT INTO link_relations VALUES (?, ?, ?, 'a', ?, ?, 0, 1)",
            (source, position, target, self._text(text), self._text(rel)),
        )

    def _text(self, text: str) -> int:
        if text not in self._texts:
            self._texts[text] = len(self._texts)
            self._sql.execute("INSERT INTO texts VALUES (?, ?)", (self._texts[text], text))
        return self._texts[text]

    def find(self, check: Check | str, page: int = 0, detail: str = "", subject: str = "", **data: Any) -> None:
        name = check if isinstance(check, str) else check.id
        self._sql.execute(
            "INSERT OR IGNORE INTO page_findings VALUES (?, ?, ?, ?, ?)",
            (page, self._numbers[name], subject, detail, json.dumps(data, ensure_ascii=False) if data else None),
        )

    def score(self, page: int, link_score: float, inlinks: int = 1, cluster: int | None = None) -> None:
        self._sql.execute("INSERT INTO page_scores VALUES (?, ?, ?, 1, 0, ?, ?)", (page, inlinks, inlinks, link_score, cluster))

    def sitemap(self, url: str, pages: Iterable[int] = (), status: str = "read", problems: Iterable[str] = ()) -> None:
        listed = list(pages)
        row = self._sql.execute(
            """INSERT INTO sitemaps(url, level, named_by, status, kind, status_code, urls, problems)
            VALUES (?, 0, 'robots.txt', ?, 'urlset', 200, ?, ?) RETURNING id""",
            (url, status, len(listed), json.dumps(list(problems), ensure_ascii=False)),
        ).fetchone()
        self._sql.executemany("INSERT INTO sitemap_entries VALUES (?, ?, NULL)", [(row[0], page) for page in listed])

    def trap(self, key: str, why: str, refused: int) -> None:
        self._sql.execute("INSERT INTO traps VALUES (?, ?, 9, ?, ?)", (key, why, refused, HOME + "x"))

    def save(self, score: float | None = 82.0, outcome: str | None = RunOutcome.COMPLETE, *, settled: bool = True) -> Path:
        """Ends the crawl. `outcome` None: it was killed."""
        self._sql.execute("COMMIT")
        asyncio.run(self._save(score, outcome, settled=settled))
        return self.path

    async def _save(self, score: float | None, outcome: str | None, *, settled: bool) -> None:
        run = await self.store.runs.begin("crawl", {}, "0.1.0")
        if settled:
            await self.store.graph.settle()
        if outcome is not None:
            await self.store.runs.end(run, outcome, score)
            self._sql.execute("UPDATE runs SET score_version = ?", (SCORE_VERSION,))
        await self.store.close()


def small(path: Path, *, settled: bool = True, outcome: str | None = RunOutcome.COMPLETE, score: float | None = 82.0) -> Path:
    """A start, two pages below it, one that is broken, one that moved, and one outside."""
    crawl = Crawl(path)
    home = crawl.page("", 0, title="The garden", ms=40.0, size=2048)
    about = crawl.page("about", 1, parent=home, title="About us", ms=120.0, size=4096)
    team = crawl.page("about/team", 2, 404, parent=about, ms=900.0, size=100)
    moved = crawl.page("old", 1, 301, parent=home, redirect=about, ms=30.0, indexability="redirected")
    crawl.page("late", 1, None, state="skipped", reason="robots.txt: Disallow: /late")
    outside = crawl.page(OUTSIDE, 1, None, state="discovered")
    for source, target, text in (
        (home, about, "About"),
        (home, team, "Who we are"),
        (about, team, "Our team"),
        (home, moved, "Old"),
    ):
        crawl.link(source, target, text)
    crawl.link(about, outside, "Friends", "nofollow")
    crawl.find(BROKEN, team, "404")
    crawl.find(LONG, about, "A very long title", length=72, limit=60)
    crawl.find(LONG, home, "Another long title", length=80, limit=60)
    crawl.find(PLAIN, about, "Us", count=3, examples=["Us", "We", "They"])
    crawl.find(CALM, subject="https://garden.example/sitemap.xml", detail="calm")
    crawl.score(home, 100.0, 0)
    crawl.score(about, 60.0, 1, cluster=about)
    crawl.score(team, 20.0, 2)
    crawl.score(moved, 20.0, 1, cluster=about)
    crawl.sitemap(HOME + "sitemap.xml", [home, about, team])
    return crawl.save(score, outcome, settled=settled)


SECTIONS = ("blog", "plants", "guides", "shop", "events", "people", "archive")


def large(path: Path, count: int, *, settled: bool = True) -> Path:
    """A site of `count` pages, judged by the whole catalogue, with several findings on most pages. The same every time."""
    checks = list(CheckCatalogue().checks.values())
    crawl = Crawl(path, checks)
    for number in range(count):
        _invented_page(crawl, number)
    for number in range(count):
        page = number + 1
        if number:
            crawl.link(_above(number), page, f"To {number}")
        for target in {(number * step + 1) % count for step in (3, 5, 11)} | {0, 1 + number % min(len(SECTIONS), count)}:
            crawl.link(page, 1 + target % count, f"Entry {target}")
        for step in range(number * 7 % 12):
            check = checks[(number * step + step * step * 17) % (len(checks) * 2 // 3)]
            crawl.find(
                check, page, f"evidence {number}.{step}", count=1 + step, examples=[f"example {step}", f"more of {number}"]
            )
        crawl.score(page, 100.0 / (1 + number), 1 + number % 7, cluster=1 + number // 15 * 15 if number % 5 == 0 else None)
    crawl.sitemap(HOME + "sitemap.xml", range(1, 1 + count * 2 // 3))
    crawl.sitemap(HOME + "news.xml", (), "failed", ["The file is no XML."])
    crawl.trap("calendar of /events/", "calendar", 412)
    return crawl.save(settled=settled)


def _above(number: int) -> int:
    """The page that leads to a page of `large`."""
    if number <= len(SECTIONS):
        return 1
    return 2 + number % len(SECTIONS) if number < 100 else 9 + number % 90


def _invented_page(crawl: Crawl, number: int) -> None:
    if number == 0:
        crawl.page("", 0, title="Garden Society of the North", ms=80.0, size=30_000)
        return
    if number <= len(SECTIONS):
        crawl.page(f"{SECTIONS[number - 1]}/", 1, parent=1, title=SECTIONS[number - 1].title(), ms=60.0 + number, size=20_000)
        return
    depth = 2 if number < 100 else 3
    status = 404 if number % 37 == 0 else 500 if number % 211 == 0 else 301 if number % 29 == 0 else 200
    crawl.page(
        f"{SECTIONS[number % len(SECTIONS)]}/entry-{number}",
        depth,
        status,
        parent=_above(number),
        title=f"Entry {number} of the {SECTIONS[number % len(SECTIONS)]}",
        ms=20.0 + number * number % 700 + (3000.0 if number % 53 == 0 else 0.0),
        size=5_000 + number * 977 % 90_000,
        redirect=1 + number % 5 if status == 301 else None,
        indexability={200: "noindex" if number % 11 == 0 else "indexable", 301: "redirected", 500: "server error"}.get(
            status, "client error"
        ),
    )


def told(path: Path, form: str = "text", **order: Any) -> str:
    """A report as it is written."""
    out = io.StringIO()
    write_requested(ReportRequest(database=str(path), form=form, **order), out)
    return out.getvalue()


HOSTILE = (
    """'"><script>alert(1)</script><img src=x onerror=alert(2)></title></style><svg onload=alert(3)>&amp;{{7*7}}\u202e]]>`|@a"""
)


def hostile(path: Path, text: str = HOSTILE) -> Path:
    """A crawl in which everything that a stranger can write says the same."""
    named = define("test-hostile", Severity.ERROR, en=(text,) * 3, ja=(text,) * 3, group=text)
    crawl = Crawl(path, [named])
    home = crawl.page(HOME + text, 0, title=text, ms=1.0, size=1)
    page = crawl.page(HOME + "b" + text, 1, 301, title=text, ms=2.0, size=2, redirect=home, indexability=text)
    crawl.page(HOME + "c" + text, 1, None, state="skipped", reason=text)
    crawl.page(HOME + "d" + text, 1, 404, parent=home)
    crawl.link(home, page, text, text)
    crawl.find(named, page, text, count=2, examples=[text, text + "2"], odd=text)
    crawl.find(named, subject=text, detail=text)
    crawl.score(home, 9.0, cluster=home)
    crawl.score(page, 8.0, cluster=home)
    crawl.sitemap(HOME + text, [home], "failed", [text])
    crawl.trap(text, text, 7)
    return crawl.save()
