"""No run hides the results of another: a failed or stopped run leaves the last good one in sight, and each run can be opened."""

from __future__ import annotations

import pytest

from tadoru.jobs.audit.crawl_results import queries, run_comparison
from tadoru.jobs.audit.crawl_results.models import CrawlOverview
from tadoru.serve.crawl_runner import crawl_files
from tadoru.serve.crawl_runner.control import import_crawl
from tadoru.serve.crawl_runner.crawl_files import run_database, shown_run
from tadoru.store.copy_crawl import copy_crawl
from tadoru.store.crawl.browse import LinkFilter
from tadoru.store.served_crawls.schema import CrawlState
from tests.serve.crawl_runner.runner import BY, RunnerHarness
from tests.support.site import Site


def shop(site: Site) -> None:
    site.page("/", links=["/a", "/b"], title="A shop with a title that is long enough")
    for path in ("/a", "/b"):
        site.page(path, links=["/"], title=f"A page {path} with a title that is long enough")


def gone(site: Site) -> None:
    for path in ("/", "/a", "/b"):
        site.misbehave(path, "drop")


def shown(runner: RunnerHarness, number: int) -> CrawlOverview:
    return queries.read_overview(shown_run(runner.service, runner.store.crawls.get(number)).path)


def test_a_run_of_a_site_that_does_not_respond_leaves_the_last_good_results(runner: RunnerHarness, site: Site) -> None:
    shop(site)
    number = runner.add("audit", site.url("/"), retries=0).id
    good = runner.run_here(number)
    before = shown(runner, number)
    assert (before.pages, before.score is not None) == (3, True)
    gone(site)
    failed = runner.run_again(number)
    assert (failed.outcome, failed.changes["regression"]) == ("failed", True)
    after = shown(runner, number)
    assert (after.pages, after.score) == (before.pages, before.score)
    crawl = runner.store.crawls.get(number)
    assert shown_run(runner.service, crawl).run == good
    opened = run_database(runner.service, crawl, failed.id)
    assert opened is not None, "the failed run can be opened too"
    assert queries.read_overview(opened).pages == 1


def test_the_run_after_a_failed_one_is_compared_with_the_last_good_one(runner: RunnerHarness, site: Site) -> None:
    shop(site)
    number = runner.add("audit", site.url("/"), retries=0).id
    runs = [runner.run_here(number)]
    gone(site)
    runs.append(runner.run_again(number))
    shop(site)
    site.reply("/b", status=500)
    runs.append(runner.run_again(number))
    assert [one.outcome for one in runs] == ["finished", "failed", "finished"]
    assert runs[2].changes["added"] == 0, "every page was there in the last good run"
    crawl = runner.store.crawls.get(number)
    paths = [run_database(runner.service, crawl, one.id) for one in runs]
    assert [queries.read_overview(path).pages for path in paths if path is not None] == [3, 1, 3]
    found = run_comparison.compare_crawls(paths[0] or "", paths[2] or "")
    assert found.totals["broken"] == 1


def test_a_stopped_run_is_over_and_the_next_one_starts_anew(runner: RunnerHarness, site: Site) -> None:
    shop(site)
    number = runner.add("audit", site.url("/"), retries=0).id
    good = runner.run_here(number)
    runner.store.crawls.run(number, BY)
    runner.store.crawls.stop(number, BY)
    crawl = runner.store.crawls.get(number)
    assert crawl.state is CrawlState.STOPPED
    assert shown_run(runner.service, crawl).run == good
    assert runner.run_again(number).figures["pages"] == 3


def test_links_are_kept_by_run_as_well(runner: RunnerHarness, site: Site) -> None:
    shop(site)
    number = runner.add("links", site.url("/")).id
    first = runner.run_here(number)
    site.page("/", links=["/a"], title="A shop with one page")
    second = runner.run_again(number)
    crawl = runner.store.crawls.get(number)
    paths = [run_database(runner.service, crawl, one.id) for one in (first, second)]
    assert [queries.read_overview(path).pages for path in paths if path is not None] == [3, 2]


def test_only_the_newest_runs_are_kept(runner: RunnerHarness, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_files, "KEPT_RUNS", 2)
    site.page("/", title="A shop with a title that is long enough")
    number = runner.add("audit", site.url("/"), retries=0).id
    runs = [runner.run_here(number), *(runner.run_again(number) for _ in range(3))]
    crawl = runner.store.crawls.get(number)
    opened = [run_database(runner.service, crawl, one.id) is not None for one in runs]
    assert opened == [False, True, True, True]


def test_broken_links_include_those_into_a_redirect_loop(runner: RunnerHarness, site: Site) -> None:
    site.page("/", links=["/loop", "/gone", "/moved", "/fine"], title="A shop with a title that is long enough")
    site.redirect("/loop", "/back")
    site.redirect("/back", "/loop")
    site.redirect("/moved", "/gone")
    site.redirect("/fine", "/")
    number = runner.add("audit", site.url("/")).id
    assert runner.run_here(number).outcome == "finished"
    found, _ = queries.list_links(runner.crawl_database(number), LinkFilter(broken=True))
    assert sorted(one.target_url.removeprefix(site.base) for one in found) == ["/gone", "/loop", "/moved"]


def test_an_imported_crawl_has_a_run_with_its_figures(runner: RunnerHarness, site: Site) -> None:
    shop(site)
    number = runner.add("audit", site.url("/")).id
    first = runner.run_here(number)
    path = runner.crawl_database(number)
    elsewhere = path.with_name("elsewhere.db")
    copy_crawl(path, elsewhere)
    imported = import_crawl(runner.store, str(elsewhere), BY)
    (run,) = runner.store.crawls.runs(imported.id)
    assert (run.outcome, run.figures["pages"], run.figures["score"]) == ("finished", 3, first.figures["score"])
    assert imported.started_at == run.started_at
    assert shown_run(runner.service, imported).path == elsewhere


def test_a_finished_run_that_is_continued_with_nothing_to_do_took_as_long_as_before(runner: RunnerHarness, site: Site) -> None:
    shop(site)
    number = runner.add("audit", site.url("/")).id
    runner.run_here(number)
    before = queries.read_overview(runner.crawl_database(number)).seconds
    runner.store.crawls.run(number, BY, again=False)
    runner.run_here(number)
    after = queries.read_overview(runner.crawl_database(number)).seconds
    assert before is not None
    assert after is not None
    assert after <= before
