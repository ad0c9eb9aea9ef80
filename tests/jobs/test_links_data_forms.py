"""JSON, CSV and DOT: forms that programs read."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.links.report import LinksReport, write_links_report
from tadoru.jobs.links.result import CrawlResult, LinkEdge
from tadoru.jobs.reporting.escape import quote_dot
from tests.jobs.links_sites import HOME, crawl, failure, invented, page, report, small


def written(given: LinksReport, form: str) -> str:
    out = io.StringIO()
    write_links_report(given, form, out)
    return out.getvalue()


def rows_of(given: LinksReport) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(given, "csv"))))


def test_json_is_the_result() -> None:
    given = invented(120)
    assert json.loads(written(given, "json")) == given.result.to_dict() | {"hosts": []}
    assert CrawlResult.from_dict(json.loads(written(given, "json"))) == given.result


def test_json_has_the_figures_of_each_external_host() -> None:
    hosts = json.loads(written(small(), "json"))["hosts"]
    assert hosts == [{"host": "club.example", "checked": 1, "broken": 0, "blocked": 1, "redirects": 0}]


def test_json_has_a_url_on_each_line() -> None:
    lines = written(small(), "json").splitlines()
    assert sum(line.lstrip().startswith('{"url": ') and '"depth"' in line for line in lines) == 6


def test_json_leaves_external_urls_out_unless_they_are_asked_for() -> None:
    document = json.loads(written(replace(small(), show_external=False), "json"))
    assert document["external_urls"] == []
    assert document["total_found"] == 6


def test_json_keeps_letters_and_escapes_what_a_terminal_would_obey() -> None:
    title = "日本 \x9b31m \u202e \U000e0041 \ud800"
    text = written(report(crawl(page(HOME, title=title))), "json")
    assert "日本" in text
    assert not re.search("[\x7f-\x9f\u202e\ud800-\udfff\U000e0041]", text)
    assert json.loads(text)["internal_urls"][0]["title"] == title


@given(st.text())
def test_json_gives_back_any_text(title: str) -> None:
    text = written(report(crawl(page(HOME, title=title))), "json")
    assert json.loads(text)["internal_urls"][0]["title"] == title


def test_csv_has_one_row_for_each_url_with_its_failure_in_it() -> None:
    rows = rows_of(small())
    assert [row["url"] for row in rows] == [HOME + path for path in ("", "about", "old", "shop", "about/team")] + [
        "https://club.example/"
    ]
    assert [row["type"] for row in rows] == ["internal"] * 5 + ["external"]
    assert (rows[4]["status_code"], rows[4]["error"], rows[4]["blocked"]) == ("404", "404 Not Found", "no")
    assert (rows[5]["status_code"], rows[5]["blocked"]) == ("403", "yes")
    assert (rows[0]["error"], rows[0]["blocked"], rows[0]["parent_url"]) == ("", "", "")
    assert rows[0]["discovered_at"] == "2026-11-15T09:30:00Z"
    assert rows[3]["not_fetched"] == "disallowed by robots.txt"
    assert rows[2]["redirect_to"] == HOME + "about"


def test_json_and_csv_list_every_url_that_was_not_requested() -> None:
    given = report(crawl(page(HOME), *[page(f"{HOME}{number}", 1, HOME, None, not_fetched="limit") for number in range(1000)]))
    urls = [info.url for info in given.result.internal_urls]
    assert [info["url"] for info in json.loads(written(given, "json"))["internal_urls"]] == urls
    assert [row["url"] for row in rows_of(given)] == urls


def test_csv_begins_with_the_columns_in_their_order() -> None:
    header = written(small(), "csv").splitlines()[0]
    assert (
        header == "url,type,depth,parent_url,status_code,error,discovered_at,title,content_type,redirect_to,not_fetched,blocked"
    )


def test_csv_shows_external_urls_that_failed_even_when_the_others_are_not_asked_for() -> None:
    given = small()
    result = replace(given.result, external_urls=(*given.result.external_urls, page("https://fine.example/", 1, HOME, None)))
    rows = rows_of(replace(given, result=result, show_external=False))
    assert [row["url"] for row in rows if row["type"] == "external"] == ["https://club.example/"]


def test_csv_has_a_row_for_a_failure_that_is_in_no_other_list() -> None:
    rows = rows_of(report(crawl(page(HOME), failed=(failure("https://gone.example/", None, "no such host"),))))
    assert (rows[1]["url"], rows[1]["type"], rows[1]["error"]) == ("https://gone.example/", "failed", "no such host")


@pytest.mark.parametrize("title", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r\n=1", "＝1", "\u200b=1"])
def test_csv_holds_no_cell_that_a_spreadsheet_would_run(title: str) -> None:
    cell = rows_of(report(crawl(page(HOME, title=title))))[0]["title"]
    assert cell.startswith(("'", "\ufffd"))


@given(st.text())
def test_csv_keeps_its_shape_whatever_the_title(title: str) -> None:
    rows = list(csv.reader(io.StringIO(written(report(crawl(page(HOME, title=title), page(HOME + "a", 1, HOME))), "csv"))))
    assert [len(row) for row in rows] == [12, 12, 12]
    assert not rows[1][7].startswith(("=", "+", "-", "@", "\t", "\r", " "))


def test_dot_draws_pages_by_depth_and_the_links_between_them() -> None:
    text = written(small(), "dot")
    assert text.startswith('strict digraph "https://garden.example/" {\n')
    assert text.endswith("}\n")
    assert re.findall(r'label="(depth \d|external)"', text) == ["depth 0", "depth 1", "depth 2", "external"]
    assert '  "https://garden.example/about" -> "https://garden.example/about/team";\n' in text
    assert re.search(r'"https://garden.example/about/team" \[label="/about/team", .*fillcolor="#f4c4bb"\]', text)


def test_dot_puts_a_depth_that_comes_in_parts_into_clusters_of_one_name() -> None:
    text = written(report(crawl(page(HOME + "a", 1, HOME), page(HOME), page(HOME + "b", 1, HOME))), "dot")
    assert re.findall(r"subgraph (.*) \{", text) == ['"cluster depth 1"', '"cluster depth 0"', '"cluster depth 1"']


def test_dot_leaves_out_links_to_urls_it_does_not_show() -> None:
    edges = (LinkEdge(HOME, "https://club.example/", "", ""), LinkEdge(HOME, "https://unknown.example/", "", ""))
    given = replace(small(), edges=lambda: edges)
    assert written(given, "dot").count(" -> ") == 1
    assert " -> " not in written(replace(given, show_external=False), "dot")


def test_dot_dashes_a_nofollow_link_and_no_other() -> None:
    given = report(crawl(page(HOME)), LinkEdge(HOME, HOME, "", "noopener nofollow"), LinkEdge(HOME, HOME, "", "nofollowed"))
    assert re.findall(r" -> .*", written(given, "dot")) == [f' -> "{HOME}" [style=dashed];', f' -> "{HOME}";']


@given(st.text())
def test_a_dot_string_can_not_be_left_from_within(text: str) -> None:
    inner = quote_dot(text)[1:-1]
    assert re.fullmatch(r'(?:[^"\\\n]|\\["\\])*', inner)
    assert "\n" not in inner


def test_dot_shows_an_ampersand_as_it_is() -> None:
    assert 'label="/?a=1&amp;lt;b"' in written(report(crawl(page(HOME), page(HOME + "?a=1&lt;b", 1, HOME))), "dot")
