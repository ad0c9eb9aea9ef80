from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.links.report.build_reports import write_annotations
from tadoru.jobs.links.result import BrokenKind, BrokenLink, LinkSource
from tadoru.jobs.reporting.output import workflow_command
from tests.jobs.links_sites import HOME


def lines_of(*links: BrokenLink) -> list[str]:
    out = io.StringIO()
    write_annotations(links, out)
    return out.getvalue().splitlines()


def link(kind: BrokenKind, *sources: LinkSource, url: str = HOME + "x", error: str = "404 Not Found") -> BrokenLink:
    return BrokenLink(url, 404, error, kind, sources)


def test_a_broken_link_is_an_error_with_the_place_that_leads_to_it() -> None:
    assert lines_of(link("broken", LinkSource(HOME, "Our team"), LinkSource(HOME, "again"))) == [
        f"::error title=Broken link::{HOME}x: 404 Not Found%0Alinked from {HOME} “Our team” and 1 more place"
    ]


def test_a_blocked_link_is_a_warning_and_a_missing_fragment_an_error() -> None:
    lines = lines_of(link("blocked"), link("fragment", LinkSource(HOME, "")))
    assert lines == [
        f"::warning title=Blocked link::{HOME}x: 404 Not Found",
        f"::error title=Missing fragment::{HOME}x: 404 Not Found%0Alinked from {HOME}",
    ]


def test_no_broken_link_is_no_line() -> None:
    assert lines_of() == []


def test_percent_signs_of_a_url_are_escaped() -> None:
    assert f"{HOME}%25E3" in lines_of(link("broken", url=HOME + "%E3"))[0]


def test_titles_escape_what_would_end_them() -> None:
    assert workflow_command("error", "a,b:c%\n", "d:e,f\r\n") == "::error title=a%2Cb%3Ac%25%0A::d:e,f%0D%0A"


def test_what_github_would_drop_is_counted() -> None:
    lines = lines_of(*[link("broken")] * 13, *[link("blocked")] * 11)
    assert sum(line.startswith("::error ") for line in lines) == 10
    assert sum(line.startswith("::warning ") for line in lines) == 10
    assert lines[-1] == "::notice title=More links::4 more links with problems. The report lists all of them."


def test_exactly_ten_need_no_notice() -> None:
    assert len(lines_of(*[link("broken")] * 10)) == 10


@given(st.text(), st.text(), st.text())
def test_crawled_text_never_starts_a_line_of_its_own(url: str, error: str, anchor: str) -> None:
    lines = lines_of(link("broken", LinkSource(url, anchor), url=url, error=error))
    assert len(lines) == 1
    assert lines[0].startswith("::error title=Broken link::")
