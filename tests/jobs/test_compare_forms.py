"""A comparison written down: as text, JSON, Markdown and HTML, in both languages, whatever a stranger wrote into a page."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tadoru.cli.report import FORMS as OFFERED
from tadoru.i18n.translation import translator
from tadoru.jobs.audit.compare.comparison import ChangeKind
from tadoru.jobs.audit.compare.job import COMPARE_FORMATS, CompareJob, CompareRequest
from tadoru.jobs.audit.compare.report_formats import CHANGE_NAMES
from tadoru.store.crawl.runs import RunOutcome
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.store.audited import OK, SITE, Page, Site, audit, audited, changed
from tests.support.clock import FakeClock

LATER = changed(
    SITE,
    a=replace(SITE["a"], title="Another title", ms=900.0, size=90_000, words=7, text="other", found=()),
    b=Page(code=None, found=("title-missing", "description-missing")),
    c=replace(SITE["c"], indexability="noindex", robots="noindex", found=("canonicalised",)),
    old=Page(code=302, redirect="", indexability="redirected"),
)
EVIL = '</script><script>alert(1)</script>\x1b[31m\u202e|`*_<marquee>"&\n::error::'


async def written(before: str, after: str, form: str = "text", **options: Any) -> str:
    job = await CompareJob.open(CompareRequest(names=[before, after], form=form, **options), FakeClock())
    out = io.StringIO()
    try:
        await job.write(out)
    finally:
        await job.close()
    return out.getvalue()


async def pair(folder: Path, before: Site = SITE, after: Site = LATER, **options: Any) -> tuple[str, str]:
    first = await audited(folder / "before.db", before)
    return first, await audited(folder / "after.db", after, score=72.25, **options)


async def test_the_text_begins_with_what_is_compared_and_the_worst_comes_first(tmp_path: Path) -> None:
    before, after = await pair(tmp_path)
    text = await written(before, after)
    assert text.splitlines()[:6] == [
        f"Before  {before}, run 1, 14 November 2023, 22:13 UTC, 6 pages",
        f"After   {after}, run 1, 14 November 2023, 22:13 UTC, 6 pages",
        "Score   80.0 → 72.2 (-7.8)",
        "",
        "Newly broken (1)",
        "  https://a.example/b  200 → No response",
    ]
    headings = [line for line in text.splitlines() if line and not line.startswith(" ")][3:]
    assert headings == [
        "Newly broken (1)", "No longer indexable (1)", "Newly redirected (1)", "Title changed (1)",
        "Robots directives changed (1)", "Content changed (1)", "Slower (1)", "Larger (1)", "Finding changes  1 new, 1 fixed",
    ]  # fmt: skip
    for line in (
        "  https://a.example/c  Indexable → noindex",
        "  https://a.example/old  https://a.example/a → https://a.example/",
        "  https://a.example/a  “Page A” → “Another title”",
        "  https://a.example/c  none → “noindex”",
        "  https://a.example/a  100 words → 7 words",
        "  https://a.example/a  50 ms → 900 ms",
        "  https://a.example/a  5,000 bytes → 90,000 bytes",
        "  Notice: title-too-long in English (title-too-long): 1 fixed, 1 → 0",
        "    − https://a.example/a",
        "    + https://a.example/c",
    ):
        assert line in text.splitlines(), line


async def test_nothing_changed_is_said_in_every_form(tmp_path: Path) -> None:
    before, after = await pair(tmp_path, after=SITE)
    for form in ("text", "markdown", "html"):
        assert "No changes." in await written(before, after, form)
        assert "変化はありません。" in await written(before, after, form, lang="ja")
    assert json.loads(await written(before, after, "json"))["changes"] == []


async def test_colours_are_only_for_those_who_want_them(tmp_path: Path) -> None:
    before, after = await pair(tmp_path)
    plain, coloured = await written(before, after), await written(before, after, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[31mNewly broken (1)\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == plain


@pytest.mark.parametrize("form", COMPARE_FORMATS)
async def test_a_stopped_crawl_is_said_to_be_one(form: str, tmp_path: Path) -> None:
    before, after = await pair(tmp_path, after={"": SITE[""]}, limit=1, ended=RunOutcome.LIMIT)
    text = await written(before, after, form)
    if form == "json":
        data = json.loads(text)
        assert (data["after"]["partial"], data["after"]["outcome"], data["unseen"]) == (True, "limit", 5)
        assert data["totals"]["removed"] == 0
    else:
        text = text.replace("\\", "")
        assert "stopped at the page limit" in text
        assert "Pages that only the first crawl has are not counted as removed." in text
        assert "5 pages that only one crawl has were ignored." in text


async def test_the_json_holds_every_change_and_the_sums(tmp_path: Path) -> None:
    before, after = await pair(tmp_path)
    data = json.loads(await written(before, after, "json"))
    assert (data["schema"], data["schema_version"]) == ("tadoru-comparison", 1)
    assert data["before"] == {
        "database": before, "run": 1, "started_at": "2023-11-14T22:13:20Z", "ended_at": "2023-11-14T22:13:20Z",
        "outcome": "complete", "partial": False, "score": 80.0, "score_version": 1,
    }  # fmt: skip
    assert {"kind": "broken", "url": url("b"), "before": "200", "after": "no answer"} in data["changes"]
    assert {
        "kind": "new-finding", "url": url("c"), "check": "canonicalised", "severity": "info", "subject": "",
    } in data["changes"]  # fmt: skip
    assert {kind: count for kind, count in data["totals"].items() if count} == {
        "broken": 1, "deindexed": 1, "redirected": 1, "title": 1, "robots": 1, "content": 1, "slower": 1, "larger": 1,
        "new-finding": 1, "fixed-finding": 1,
    }  # fmt: skip
    assert set(data["totals"]) == {str(kind) for kind in ChangeKind}
    assert data["checks"][0] == {
        "check": "canonicalised", "severity": "info", "group": "canonicals", "title": "canonicalised in English",
        "before": 0, "after": 1, "new": 1, "fixed": 0, "gone": 0,
    }  # fmt: skip
    assert (data["pages_before"], data["pages_after"], data["compared"], data["unseen"], data["twins"]) == (6, 6, 6, 0, 0)
    japanese = json.loads(await written(before, after, "json", lang="ja"))
    assert japanese["checks"][0]["title"] == "canonicalisedの日本語"


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
async def test_only_so_many_of_each_are_shown_and_the_rest_is_counted(form: str, tmp_path: Path) -> None:
    many = [f"page-{number}" for number in range(12)]
    home = replace(OK, links=many)
    before, after = await pair(
        tmp_path,
        {"": home, **dict.fromkeys(many, OK)},
        {"": home, **dict.fromkeys(many, Page(code=500, found=("title-missing",)))},
    )
    text = (await written(before, after, form, shown=3)).replace("\\", "")
    assert "and 9 more" in text
    assert len(re.findall(r"200 → 500", text)) == 3
    assert len(re.findall(r"200 → 500", (await written(before, after, form, shown=12)))) == 12


class _Reader(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


async def test_what_strangers_wrote_does_nothing_anywhere(tmp_path: Path) -> None:
    before, after = await pair(tmp_path, after=changed(SITE, a=replace(SITE["a"], title=EVIL, robots=EVIL, h1=EVIL)))
    store = SqliteStore(after, FakeClock())
    async with store.db.transaction() as sql:
        sql.execute("UPDATE checks SET title = ?, title_ja = ?", (EVIL, EVIL))
        sql.execute("UPDATE pages SET url = ? WHERE url = ?", (f"javascript:alert(1)//{EVIL}", url("gone")))
    await store.close()
    for form in COMPARE_FORMATS:
        text = await written(before, after, form)
        assert "\x1b" not in text, form
        assert "\u202e" not in text, form
        if form == "html":
            page = _Reader()
            page.feed(text)
            assert page.open == []
            assert "script" not in page.tags
            assert "marquee" not in page.tags
            assert not [value for name, value in page.attributes if name == "href" and not (value or "").startswith("https:")]
            assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
        if form == "markdown":
            assert "<script" not in re.sub(r"\\<", "", text)
            assert not re.search(r"(?<!\\)\|.*alert", text.replace("\\|", "")[: text.find("Finding changes")])


async def test_the_html_is_one_file_that_loads_and_runs_nothing(tmp_path: Path) -> None:
    before, after = await pair(tmp_path)
    for lang in ("en", "ja"):
        text = await written(before, after, "html", lang=lang)
        page = _Reader()
        page.feed(text)
        assert page.open == []
        assert not {"script", "link", "img", "iframe"} & set(page.tags)
        assert f'<html lang="{lang}">' in text
        assert "default-src 'none'; style-src 'sha256-" in text
        assert "url(" not in text
        assert str(tmp_path) not in text, "where the files are is not told"


async def test_the_markdown_has_a_table_of_what_changed_and_lists_that_open(tmp_path: Path) -> None:
    before, after = await pair(tmp_path)
    text = await written(before, after, "markdown")
    assert text.startswith("## Crawl comparison\n")
    assert "| Newly broken | 1 |" in text
    assert "| Notice | title\\-too\\-long in English (`title-too-long`) | 0 | 1 | 1 → 0 |" in text
    assert text.count("<details>") == text.count("</details>") == 8


async def test_japanese_speaks_japanese_throughout(tmp_path: Path) -> None:
    before, after = await pair(tmp_path)
    text = await written(before, after, lang="ja")
    assert text.startswith(f"前回    {before}, 1回目のクロール, 2023年11月14日")
    assert "リンク切れになったページ (1)" in text
    assert "  https://a.example/b  200 → 応答なし" in text
    assert "注意: title-too-longの日本語 (title-too-long): 解消1件, 1 → 0" in text


def test_the_command_offers_every_form() -> None:
    assert OFFERED == COMPARE_FORMATS


def test_every_kind_of_change_has_a_name_in_both_languages() -> None:
    assert set(CHANGE_NAMES) == set(ChangeKind)
    names = [translator("ja")(name) for name in CHANGE_NAMES.values()]
    assert not set(names) & set(CHANGE_NAMES.values())
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("outcome", [outcome for outcome in RunOutcome if outcome is not RunOutcome.COMPLETE])
async def test_why_a_run_is_incomplete_is_shown(outcome: RunOutcome, tmp_path: Path) -> None:
    before, after = await pair(tmp_path, after={"": SITE[""]}, limit=1, ended=outcome)
    reason = {"limit": "stopped at the page limit", "time": "stopped at the time limit", "interrupted": "interrupted"}[outcome]
    assert f", {reason}\n" in await written(before, after)


async def test_runs_of_one_file_are_told_apart_in_the_title(tmp_path: Path) -> None:
    name = str(tmp_path / "site.db")
    store = SqliteStore(name, FakeClock())
    await audit(store, SITE)
    await audit(store, LATER, again=True)
    await store.close()
    assert "<title>Comparison of site.db@1 and site.db@2</title>" in await written(f"{name}@1", name, "html")
