from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.errors import UsageError
from tadoru.jobs.audit.report.check_filter import CheckFilter
from tadoru.jobs.reporting.formatting import display_width
from tadoru.model.finding import Severity
from tests.jobs.audit_crawls import BROKEN, HOME, LONG, Crawl, hostile, small, told

LINES = """\
garden.example  https://garden.example/
Crawled on 14 November 2023, 22:13 UTC · took 0.00 s

Health score     82 of 100  Good
Pages                  4   2xx: 2   3xx: 1   4xx: 1   Not requested: 1
Indexable              2   Client error (4xx): 1   Redirected: 1
Links                  5
External URLs          1

Errors (1)
  ✗       1  Broken page  test-broken
              /about/team

Warnings (2)
  !       2  Long title   test-long
              /

Notices (1)
  ·       1  Plain title  test-plain
              /about

Info (1)
  i       1  Calm URL     test-calm
              /sitemap.xml

Clicks from the start page
  0  ████████████████ 1
  1  ████████████████████████████████ 2
  2  ████████████████ 1

Response times  p50 50 ms   p90 910 ms   p99 910 ms
   ≤ 50 ms  ████████████████████████████████ 2
  ≤ 100 ms  0
  ≤ 200 ms  ████████████████ 1
  ≤ 500 ms  0
     ≤ 1 s  ████████████████ 1
     ≤ 2 s  0
     ≤ 5 s  0
     > 5 s  0

Excluded
  1 URL skipped: robots.txt: Disallow: /late.

Shareable report: tadoru report '{path}' --format html -o report.html
All pages of a check, with their inlinks: tadoru report '{path}' --check test-broken
"""


def test_the_summary_says_everything_that_matters_on_one_screen(tmp_path: Path) -> None:
    path = small(tmp_path / "a site.db")
    assert told(path) == LINES.format(path=path)


def test_columns_stand_below_each_other_in_japanese(tmp_path: Path) -> None:
    lines = told(small(tmp_path / "site.db"), lang="ja").splitlines()
    ids = [display_width(line[: line.index("test-")]) for line in lines if "  test-" in line]
    assert len(ids) == 4
    assert len(set(ids)) == 1
    figures = [display_width(line[: line.index("   2xx")]) for line in lines if "   2xx" in line]
    figures += [display_width(line[: line.index("   クライアント")]) for line in lines if "   クライアント" in line]
    assert len(figures) == 2
    assert len(set(figures)) == 1


@pytest.mark.parametrize(
    "outcome, waiting, words",
    [
        pytest.param(None, 1, "The crawl is not finished; 1 known URL not crawled yet.", id="killed"),
        pytest.param(None, 0, "The crawl is not finished; 0 known URLs not crawled yet.", id="killed at the end"),
        pytest.param("interrupted", 2, "The crawl was interrupted; 2 known URLs not crawled.", id="interrupted"),
        pytest.param("limit", 3, "Stopped at the page limit; 3 known URLs not crawled.", id="at its limit"),
        pytest.param("time", 1, "Stopped at the time limit; 1 known URL not crawled.", id="out of time"),
        pytest.param("complete", 2, "The crawl is not finished; 2 known URLs not", id="ended, and joined by another"),
    ],
)
def test_an_unfinished_crawl_says_so_on_top(tmp_path: Path, outcome: str | None, waiting: int, words: str) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    for number in range(waiting):
        crawl.page(f"{number}", 1, None, state="queued")
    text = told(crawl.save(None, outcome))
    assert text.splitlines()[2].startswith(words)
    assert "No score yet" in text


@pytest.mark.parametrize("outcome", ["complete", "limit", "time"])
def test_a_crawl_that_has_everything_says_nothing_of_the_kind(tmp_path: Path, outcome: str) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    assert told(crawl.save(outcome=outcome)).splitlines()[2] == ""


def test_a_named_check_is_listed_page_by_page_with_the_links_that_lead_there(tmp_path: Path) -> None:
    text = told(small(tmp_path / "site.db"), check_filter=CheckFilter(checks=(BROKEN.id,)), list_all=True)
    assert text.endswith(
        "✗ Broken page (1)  test-broken\n  Why it matters: Nobody finds it.\n  How to fix it: Mend it.\n\n"
        "  /about/team\n      404\n      ← / “Who we are”\n      ← /about “Our team”\n"
    )


def test_more_links_than_are_shown_are_counted(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    target = crawl.page("", 0)
    for number in range(15):
        crawl.link(crawl.page(f"{number:02}", 1), target, "home")
    crawl.find(BROKEN, target)
    text = told(crawl.save(), check_filter=CheckFilter(checks=(BROKEN.id,)), list_all=True)
    assert text.count("← /") == 10
    assert "      ← and 5 more\n" in text


def test_every_page_is_listed_however_many(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    for number in range(300):
        crawl.find(LONG, crawl.page(f"{number:03}", 1), f"title {number}")
    text = told(crawl.save(), list_all=True)
    assert [line.strip() for line in text.splitlines() if line.startswith("  /")] == [f"/{number:03}" for number in range(300)]


def test_a_site_without_a_fault_is_told_so(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    text = told(crawl.save(100.0))
    assert "\nNo issues found.\n" in text
    assert "100 of 100  Very good" in text
    assert "--check" not in text


@pytest.mark.parametrize("name", ["page-broken-linked", "url-underscores"])
def test_a_check_that_is_merged_or_off_is_known(tmp_path: Path, name: str) -> None:
    assert "test-broken" not in told(small(tmp_path / "site.db"), check_filter=CheckFilter(checks=(name,)))


@pytest.mark.parametrize(
    "choice, shown",
    [
        pytest.param(CheckFilter(), {"broken", "long", "plain", "calm"}, id="everything"),
        pytest.param(CheckFilter(severity=Severity.WARNING), {"broken", "long"}, id="as grave as a warning"),
        pytest.param(CheckFilter(groups=("titles",)), {"long", "plain"}, id="a group"),
        pytest.param(CheckFilter(groups=("titles", "urls")), {"long", "plain", "calm"}, id="two groups"),
        pytest.param(CheckFilter(checks=("test-calm",)), {"calm"}, id="a check"),
        pytest.param(CheckFilter(checks=("test-*l*",)), {"long", "plain", "calm"}, id="a pattern"),
        pytest.param(CheckFilter(groups=("titles",), severity=Severity.WARNING), {"long"}, id="both"),
    ],
)
def test_only_what_was_chosen_is_shown(tmp_path: Path, choice: CheckFilter, shown: set[str]) -> None:
    text = told(small(tmp_path / "site.db"), check_filter=choice)
    assert {name for name in ("broken", "long", "plain", "calm") if f"  test-{name}\n" in text} == shown


@pytest.mark.parametrize(
    "choice, words",
    [
        pytest.param(CheckFilter(checks=("test-brokn",)), "“test-brokn” in this crawl. Did you mean test-broken?", id="a slip"),
        pytest.param(CheckFilter(checks=("zzz",)), "List all checks with `tadoru report DB --format json`.", id="a stranger"),
        pytest.param(CheckFilter(groups=("title",)), "“title” in this crawl. Did you mean titles?", id="a slip in a group"),
        pytest.param(CheckFilter(groups=("zzz",)), "Choose one of responses, titles, urls.", id="a strange group"),
    ],
)
def test_a_name_that_is_unknown_is_told_with_one_that_is_not(tmp_path: Path, choice: CheckFilter, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        told(small(tmp_path / "site.db"), check_filter=choice)
    assert str(caught.value).endswith(words)


def test_what_is_suppressed_is_counted_and_told(tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("test-long https://garden.example/about # the board likes it\n")
    path = small(tmp_path / "site.db")
    text = told(path, suppress=str(known))
    assert "Warnings (1)" in text
    assert "  1 known finding suppressed.\n" in text
    listed = told(path, suppress=str(known), check_filter=CheckFilter(checks=("test-long",)), list_all=True)
    assert "/about\n" not in listed
    assert listed.endswith("  1 suppressed: the board likes it\n")


def test_no_text_of_a_page_reaches_the_terminal_as_a_command(tmp_path: Path) -> None:
    text = told(hostile(tmp_path / "site.db", "a\x1b[31m\u202e\x07\r\nb##[error]c"), list_all=True)
    assert not set(text) & set("\x1b\x07\r\u202e")
    assert "##[" not in text


def test_a_url_with_japanese_in_it_can_be_read(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.find(BROKEN, crawl.page(f"{HOME}%E5%BA%AD", 0))
    assert "\n              /庭\n" in told(crawl.save())


def test_a_site_that_is_very_deep_is_not_shown_at_every_depth(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "x.db")
    for depth in range(300):
        crawl.page(f"page-{depth}" if depth else "", depth)
    crawl.save()
    shown = told(tmp_path / "x.db").partition("Clicks from the start page\n")[2].partition("\n\n")[0].splitlines()
    assert len(shown) == 24
    assert shown[-1].split()[0] == "23+"
    assert shown[-1].endswith(" 277")
