"""Two crawls compared: of one database or of two, whole or stopped, under one name or two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.audit.compare.comparison import ChangeKind, CrawlComparison, PageChange, compare_runs, merge_by_key
from tadoru.jobs.audit.compare.job import CompareGates
from tadoru.jobs.audit.compare.run_handles import open_runs, parse_rewrites, split_name
from tadoru.store.crawl.runs import RunOutcome
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.store.audited import OK, SITE, Page, Site, audit, audited, changed, crawl
from tests.support.clock import FakeClock
from tests.support.properties import examples

LATER = changed(
    SITE,
    home=replace(OK, links=("a", "b", "old", "gone", "new")),
    a=replace(OK, links=("b",), title="Another title", found=("title-too-long", "description-missing")),
    b=Page(code=404, indexability="client error"),
    gone=OK,
    new=replace(OK, found=("title-missing",)),
)


async def compared(
    before: str, after: str, *, maps: Iterable[str] = (), shown: int = 20
) -> tuple[CrawlComparison, list[PageChange]]:
    first, second = await open_runs([before, after], FakeClock())
    told: list[PageChange] = []
    try:
        return await compare_runs(first, second, rewrite=parse_rewrites(maps), shown=shown, on_change=told.append), told
    finally:
        await first.close()
        await second.close()


async def recrawled(path: Path, *sites: Site, **options: Any) -> str:
    """A database with a run for each site."""
    store = SqliteStore(str(path), FakeClock())
    for number, site in enumerate(sites):
        await audit(store, site, again=number > 0, **(options if number else {}))
    await store.close()
    return str(path)


def short(changes: Iterable[PageChange]) -> set[tuple[str, str]]:
    return {
        (str(change.kind), change.url.removeprefix(url("")) + (f" {change.check_id}" if change.check_id else ""))
        for change in changes
    }


EXPECTED = {
    ("broken", "b"), ("fixed", "gone"), ("added", "new"), ("title", "a"), ("inlinks", "c"),
    ("new-finding", "a description-missing"), ("new-finding", "new title-missing"),
}  # fmt: skip


async def test_two_databases_tell_everything_that_changed(tmp_path: Path) -> None:
    before = await audited(tmp_path / "before.db", SITE, score=80.0)
    after = await audited(tmp_path / "after.db", LATER, score=70.5)
    result, told = await compared(before, after)
    # Nothing links to c any more, so the second crawl never met it.
    assert short(told) == (EXPECTED - {("inlinks", "c")}) | {("removed", "c")}
    assert (result.before.run.score, result.after.run.score) == (80.0, 70.5)
    assert (result.pages_before, result.pages_after, result.compared, result.unseen, result.twins) == (6, 6, 5, 0, 0)
    assert result.counts[ChangeKind.NEW_FINDING] == 2
    assert short(result.examples[ChangeKind.BROKEN]) == {("broken", "b")}


async def test_two_runs_of_one_database_tell_the_same(tmp_path: Path) -> None:
    name = await recrawled(tmp_path / "site.db", SITE, LATER)
    _, told = await compared(f"{name}@1", name)
    assert short(told) == EXPECTED
    _, undone = await compared(name, f"{name}@1")
    assert ("broken", "gone") in short(undone)
    assert ("removed", "new") in short(undone)


async def test_findings_are_counted_by_check_and_what_went_with_a_page_is_not_called_fixed(tmp_path: Path) -> None:
    name = await recrawled(tmp_path / "site.db", SITE, LATER)
    result, _ = await compared(f"{name}@1", name)
    counted = {check: (one.before, one.after, one.new, one.fixed, one.gone) for check, one in result.checks.items()}
    assert counted["title-missing"] == (1, 1, 1, 0, 1)
    assert counted["description-missing"] == (1, 1, 1, 0, 1)
    assert counted["title-too-long"] == (1, 1, 0, 0, 0)
    assert [change.check.id for change in result.changed_checks()] == ["title-missing", "description-missing"]
    mended = await recrawled(tmp_path / "mended.db", SITE, changed(SITE, b=OK))
    result, told = await compared(f"{mended}@1", mended)
    assert result.checks["title-missing"].fixed == 1
    assert ("fixed-finding", "b title-missing") in short(told)


async def test_findings_about_no_page_are_new_and_fixed_too(tmp_path: Path) -> None:
    before = await audited(tmp_path / "1.db", SITE, stray={"https://x/1": "sitemap-missing", "https://x/2": "sitemap-missing"})
    after = await audited(tmp_path / "2.db", SITE, stray={"https://x/2": "sitemap-missing", "https://x/3": "duplicate-title"})
    _, told = await compared(before, after)
    assert short(told) == {("fixed-finding", "https://x/1 sitemap-missing"), ("new-finding", "https://x/3 duplicate-title")}


@pytest.mark.parametrize("ended", [RunOutcome.LIMIT, RunOutcome.INTERRUPTED, None], ids=["limit", "interrupted", "killed"])
async def test_what_a_stopped_crawl_did_not_come_to_is_neither_removed_nor_fixed(
    ended: RunOutcome | None, tmp_path: Path
) -> None:
    whole = await audited(tmp_path / "whole.db", SITE, stray={"https://x/1": "sitemap-missing"})
    part = await audited(tmp_path / "part.db", {"": SITE[""]}, limit=1, ended=ended)
    result, told = await compared(whole, part)
    assert short(told) == set()
    assert (result.unseen, result.compared) == (5, 1)
    result, told = await compared(part, whole)
    assert short(told) == set()
    assert result.unseen == 5


async def test_a_recrawl_that_is_on_its_way_has_changed_only_what_it_has_seen(tmp_path: Path) -> None:
    name = str(tmp_path / "site.db")
    store = SqliteStore(name, FakeClock())
    await audit(store, SITE, stray={"https://x/1": "sitemap-missing"})
    await store.runs.begin_recrawl({}, "2.0")
    await crawl(store, changed(LATER, home=replace(OK, links=LATER[""].links, title="New")), most=1)
    await store.close()
    result, told = await compared(f"{name}@1", name)
    assert short(told) == {("title", "")}
    assert (result.compared, result.unseen) == (1, 5)


@given(st.data())
@examples(25)
async def test_two_runs_of_one_file_and_two_files_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    paths = ("a", "b", "c")
    page = st.builds(
        Page,
        code=st.sampled_from([200, 200, 404, None]),
        title=st.sampled_from(["one", "two", None]),
        found=st.sets(st.sampled_from(["title-missing", "title-too-long", "canonicalised"])).map(tuple),
        indexability=st.sampled_from(["indexable", "noindex"]),
    )
    home = replace(OK, links=paths)
    sites = [{"": home, **{path: data.draw(page) for path in paths}} for _ in range(2)]
    folder = tmp_path_factory.mktemp("pair")
    one = await recrawled(folder / "one.db", *sites)
    files = [await audited(folder / f"{number}.db", site) for number, site in enumerate(sites)]
    _, told = await compared(f"{one}@1", one)
    _, also = await compared(*files)
    assert sorted(told) == sorted(also)
    broken = {path for path in paths if sites[0][path].code == 200 and sites[1][path].code != 200}
    assert {url for kind, url in short(told) if kind == "broken"} == broken


async def test_catalogues_with_other_numbers_are_compared_by_their_names(tmp_path: Path) -> None:
    before = await audited(tmp_path / "1.db", SITE)
    after = await audited(tmp_path / "2.db", SITE)
    store = SqliteStore(after, FakeClock())
    async with store.db.transaction() as sql:
        sql.execute("UPDATE checks SET number = number + 100")
        sql.execute("UPDATE page_findings SET check_number = check_number + 100")
    await store.close()
    _, told = await compared(before, after)
    assert told == []


async def test_a_page_that_is_not_to_be_requested_is_no_page_that_came_or_went(tmp_path: Path) -> None:
    site = {"": replace(OK, links=("a",))}
    before = await audited(tmp_path / "1.db", {**site, "a": replace(OK, refused="robots.txt line 1: Disallow: /")})
    after = await audited(tmp_path / "2.db", {"": OK})
    for pair in ((before, after), (after, before)):
        _, told = await compared(*pair)
        assert {kind for kind, _ in short(told)} <= {"inlinks"}


async def test_staging_is_compared_with_production_by_a_map(tmp_path: Path) -> None:
    live = await audited(tmp_path / "live.db", SITE)
    staging = await audited(tmp_path / "staging.db", changed(SITE, a=replace(SITE["a"], title="Draft")))
    store = SqliteStore(staging, FakeClock())
    async with store.db.transaction() as sql:
        sql.execute("UPDATE pages SET url = replace(url, 'https://a.example/', 'https://staging.a.example/zz/')")
    await store.close()
    _, told = await compared(live, staging)
    assert {change.kind for change in told} >= {ChangeKind.ADDED, ChangeKind.REMOVED}
    _, told = await compared(live, staging, maps=[r"https://staging\.(.*?)/zz/=https://\1/"])
    assert [(change.kind, change.url) for change in told] == [(ChangeKind.TITLE, "https://staging.a.example/zz/a")]


async def test_urls_that_a_map_makes_one_are_counted_once(tmp_path: Path) -> None:
    name = await audited(tmp_path / "1.db", {"": replace(OK, links=("a?x=1", "a?x=2", "b"))})
    other = await audited(tmp_path / "2.db", {"": replace(OK, links=("a?x=3", "b"))})
    result, told = await compared(name, other, maps=[r"\?x\x3d\d="])
    assert (result.compared, result.twins) == (3, 1)
    assert told == []


async def test_only_so_many_examples_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    many = [f"p{number}" for number in range(30)]
    before = await audited(tmp_path / "1.db", {"": replace(OK, links=many), **dict.fromkeys(many, OK)})
    after = await audited(
        tmp_path / "2.db", {"": replace(OK, links=many), **dict.fromkeys(many, Page(code=500, found=("title-missing",)))}
    )
    result, told = await compared(before, after, shown=4)
    assert len(told) == 60
    assert result.counts[ChangeKind.BROKEN] == result.checks["title-missing"].new == 30
    assert len(result.examples[ChangeKind.BROKEN]) == len(result.checks["title-missing"].examples) == 4


# -- names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, expected",
    [
        ("site.db", ("site.db", None)),
        ("site.db@3", ("site.db", 3)),
        ("me@home.db", ("me@home.db", None)),
        ("me@home.db@12", ("me@home.db", 12)),
        ("@3", ("@3", None)),
        ("site.db@", ("site.db@", None)),
        ("site.db@x", ("site.db@x", None)),
        ("site.db@٣", ("site.db@٣", None)),
    ],
)
def test_a_run_is_named_after_the_file(name: str, expected: tuple[str, int | None]) -> None:
    assert split_name(name) == expected


def test_a_file_that_is_there_is_meant_whatever_its_name(tmp_path: Path) -> None:
    odd = tmp_path / "crawl@2"
    odd.write_bytes(b"x")
    assert split_name(str(odd)) == (str(odd), None)


async def test_one_database_is_compared_with_itself_one_run_ago(tmp_path: Path) -> None:
    name = await recrawled(tmp_path / "site.db", SITE, LATER, LATER)
    first, second = await open_runs([name], FakeClock())
    assert (first.run.number, second.run.number, first.number, second.number) == (2, 3, 2, None)
    await first.close()
    await second.close()
    first, second = await open_runs([f"{name}@2"], FakeClock())
    assert (first.run.number, second.run.number) == (1, 2)
    await first.close()
    await second.close()


async def test_what_can_not_be_compared_is_refused_with_what_to_do(tmp_path: Path) -> None:
    one = await audited(tmp_path / "one.db", SITE)
    two = await recrawled(tmp_path / "two.db", SITE, LATER)
    empty = str(tmp_path / "empty.db")
    await SqliteStore(empty, FakeClock()).close()
    for names, told in (
        ([one], "has no earlier run to compare with. Compare two databases, or crawl again with `tadoru audit -d"),
        ([one, f"{one}@1"], "Both are run 1 of"),
        ([two, f"{two}@7"], "Run 7 not found in"),
        ([f"{one}@2", two], "Available runs: 1."),
        ([two, f"{two}@3"], "Available runs: 1, 2."),
        ([one, empty], "contains no crawl yet"),
        ([one, str(tmp_path / "none.db")], "No crawl in"),
    ):
        with pytest.raises(UsageError) as refused:
            await open_runs(names, FakeClock())
        assert told in str(refused.value), names


@pytest.mark.parametrize("text", ["", "=x", "abc", "(=x", r"a=\2", r"a=\g<n>"])
def test_a_map_that_can_not_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--map"):
        parse_rewrites([text])


def test_maps_apply_one_after_the_other() -> None:
    rewrite = parse_rewrites([r"^http:=https:", r"^https://(\w+)\.stage/=https://\1.live/"])
    assert rewrite is not None
    assert rewrite("http://shop.stage/a?b=http:") == "https://shop.live/a?b=http:"
    assert parse_rewrites([]) is None


# -- gates ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("regressions", "regressions: 2, none allowed."),
        ("broken", "broken: 1, none allowed."),
        ("new", "new: 2, none allowed."),
        ("new-error", "new-error: 1, none allowed."),
        ("new-errors", "new-errors: 1, none allowed."),
        ("new-warning>1", "new-warning: 2, at most 1 allowed."),
        ("new-title-missing", "new-title-missing: 1, none allowed."),
        ("new-descriptions", "new-descriptions: 1, none allowed."),
        ("new-*-missing", "new-*-missing: 2, none allowed."),
        ("broken>10%", "broken: 1 of 6 pages (16.7%), at most 10% allowed."),
        ("score>9", "The score fell by 9.5, at most 9 allowed."),
        ("score", "The score fell by 9.5, none allowed."),
        ("removed", None),
        ("broken>1", None),
        ("score>9.5", None),
        ("new-notice>2", None),
        ("new-titles>1", None),
        ("new-title-too-wide", None),
    ],
)
async def test_a_gate_is_exceeded_or_not(text: str, sentence: str | None, tmp_path: Path) -> None:
    name = await recrawled(tmp_path / "site.db", SITE, LATER, score=70.5)
    result, _ = await compared(f"{name}@1", name)
    gates = CompareGates.parse([text], (one.check for one in result.checks.values()))
    assert gates.exceeded(result) == ([sentence] if sentence else [])


async def test_a_gate_with_the_id_of_a_merged_check_counts_what_reports_the_same_since(tmp_path: Path) -> None:
    name = await recrawled(tmp_path / "site.db", SITE, changed(SITE, b=replace(OK, found=("title-too-long",))))
    result, _ = await compared(f"{name}@1", name)
    gates = CompareGates.parse(["new-title-too-wide"], (one.check for one in result.checks.values()))
    assert gates.exceeded(result) == ["new-title-too-wide: 1, none allowed."]


@pytest.mark.parametrize(
    "text, hint",
    [
        ("brokn", "Did you mean “broken”"),
        ("regression", "Did you mean “regressions”"),
        ("error", "Unknown --fail-on condition “error”"),
        ("new-titel-missing", "Unknown --fail-on condition"),
        ("broken<5", "has the wrong comparison"),
        ("score>5%", "has an invalid unit"),
        ("title-missing", "Unknown --fail-on condition"),
    ],
)
async def test_a_gate_that_means_nothing_is_refused(text: str, hint: str, tmp_path: Path) -> None:
    first, second = await open_runs([await recrawled(tmp_path / "site.db", SITE, LATER)], FakeClock())
    words = (await second.store.run_pages.check_words()).values()
    with pytest.raises(UsageError) as refused:
        CompareGates.parse([text], words)
    assert hint in str(refused.value)
    await first.close()
    await second.close()


# -- the walk -------------------------------------------------------------------------------------------------------------


async def _stream(items: list[int]) -> Any:
    for item in items:
        yield item


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
async def test_walking_side_by_side_pairs_what_is_equal_and_loses_nothing(left: list[int], right: list[int]) -> None:
    twins: list[int] = []
    pairs = [pair async for pair in merge_by_key(_stream(sorted(left)), _stream(sorted(right)), lambda item: item, twins.append)]
    assert {a for a, _ in pairs if a is not None} == set(left)
    assert {b for _, b in pairs if b is not None} == set(right)
    assert all(a == b or a is None or b is None for a, b in pairs)
    assert [a if a is not None else b for a, b in pairs] == sorted({*left, *right})
    assert len(twins) == len(left) + len(right) - len(set(left)) - len(set(right))
