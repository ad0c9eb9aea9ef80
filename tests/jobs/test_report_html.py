from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from tadoru.i18n.translation import translator
from tadoru.jobs.audit.report.check_filter import CheckFilter
from tadoru.jobs.audit.report.html import MAX_PRINTED
from tadoru.jobs.reporting.html_templates import environment, read_asset
from tests.jobs.audit_crawls import BROKEN, HOME, HOSTILE, LONG, Crawl, hostile, large, small, told
from tests.support.properties import examples

STYLE = read_asset("report.css")


def parsed(path: Path, **order: Any) -> LexborHTMLParser:
    return LexborHTMLParser(told(path, "html", **order))


def words(node: LexborNode | None) -> str:
    assert node is not None
    return " ".join(node.text(separator=" ").split())


def test_the_page_loads_nothing_and_the_policy_forbids_it(tmp_path: Path) -> None:
    text = told(large(tmp_path / "site.db", 60), "html")
    tree = LexborHTMLParser(text)
    assert tree.css("link, img, iframe, object, embed, form, base, [src], [style], script[src]") == []
    assert not re.search(r"@import|url\(", text)
    head = text.partition("</head>")[0]
    assert "<title>Audit of garden.example</title>" in head
    assert f"<style>{STYLE}</style>" in head
    assert "default-src 'none'" in text
    assert "unsafe" not in head


def test_links_tell_the_site_nothing(tmp_path: Path) -> None:
    links = [
        link for link in parsed(large(tmp_path / "site.db", 60)).css("a") if not (link.attributes["href"] or "").startswith("#")
    ]
    assert links
    assert {link.attributes["rel"] for link in links} == {"noopener noreferrer nofollow"}
    assert all((link.attributes["href"] or "").startswith(HOME) for link in links)


def test_every_anchor_of_the_contents_leads_somewhere(tmp_path: Path) -> None:
    tree = parsed(large(tmp_path / "site.db", 60))
    ids = [node.attributes["id"] for node in tree.css("[id]")]
    assert len(set(ids)) == len(ids)
    anchors = [(link.attributes["href"] or "")[1:] for link in tree.css("nav a")]
    assert len(anchors) == 10
    assert set(anchors) <= set(ids)


def test_the_head_of_the_page_says_what_it_is_about(tmp_path: Path) -> None:
    tree = parsed(small(tmp_path / "site.db"))
    assert words(tree.css_first("h1")) == "garden.example"
    assert words(tree.css_first(".dial")) == "82 / 100"
    assert words(tree.css_first(".grade")) == "Good"
    assert "14 November 2023" in words(tree.css_first("header"))
    formula = words(tree.css_first(".how p"))
    assert "lowers the score by 15 % for an error, 5 % for a warning and 1.5 % for a notice" in formula
    assert "down to 10 % if they may show none" in formula
    assert [words(card) for card in tree.css(".cards > div")] == [
        "Pages 4", "Indexable 2 50 %", "Errors 1 1 page", "Warnings 2 2 pages", "Notices 1 1 page", "Links 5",
    ]  # fmt: skip


def test_an_unfinished_crawl_says_so_on_top(tmp_path: Path) -> None:
    tree = parsed(small(tmp_path / "site.db", outcome=None, score=None))
    assert words(tree.css_first("header .alert")).startswith("The crawl is not finished")
    assert tree.css(".dial") == []
    assert "No score yet" in words(tree.css_first("header"))


def test_a_check_opens_to_what_it_means_and_where_it_is(tmp_path: Path) -> None:
    tree = parsed(small(tmp_path / "site.db"))
    checks = tree.css("details.check")
    assert [words(check.css_first("summary")) for check in checks] == [
        "Error Broken page test-broken Response codes 1",
        "Warning Long title test-long Page titles 2",
        "Notice Plain title test-plain Page titles 1",
        "Info Calm URL test-calm URLs 1",
    ]
    assert words(checks[0].css_first(".inside")) == (
        "Why it matters Nobody finds it. How to fix it Mend it. Page Evidence Linked from "
        "404 /about/team 404 / Who we are /about Our team"
    )
    assert "Threshold: 60 characters" in words(checks[1].css_first(".inside"))
    assert "Us · 3 occurrences, e.g. We · They" in words(checks[2].css_first(".inside"))


def test_the_first_hundred_pages_are_shown_and_the_rest_is_counted_with_its_command(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    for number in range(130):
        crawl.find(LONG, crawl.page(f"{number:03}", 1), "x")
    path = crawl.save()
    tree = parsed(path)
    assert len(tree.css(".check tbody tr")) == 100
    assert (
        words(tree.css_first(".check .note:last-child")) == f"30 more. To list them, run: tadoru report {path} --check test-long"
    )


def test_on_paper_a_few_pages_of_each_check_are_enough(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    for number in range(MAX_PRINTED + 1):
        crawl.find(LONG, crawl.page(f"{number:03}", 1))
    crawl.find(BROKEN, 1)
    tree = parsed(crawl.save())
    assert [words(note) for note in tree.css(".note.paper")] == ["Only the first 10 are printed."]
    assert f".inside tr:nth-child(n + {MAX_PRINTED + 1}) {{ display: none; }}" in STYLE


def test_a_check_without_evidence_has_no_column_for_it(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.find(BROKEN, crawl.page("", 0))
    crawl.find(LONG, 1, "so long")
    tables = parsed(crawl.save()).css("details.check table")
    assert [[words(head) for head in table.css("th")] for table in tables] == [
        ["Page", "Linked from"],
        ["Page", "Evidence", "Linked from"],
    ]


def test_very_long_urls_do_not_make_a_page_that_nobody_can_open(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    home = crawl.page("", 0)
    for number in range(130):
        page = crawl.page(f"{number:03}/" + "x" * 8000, 1)
        crawl.link(home, page, "y" * 3000)
        crawl.find(LONG, page, "z" * 3000)
    path = crawl.save()
    text = told(path, "html")
    assert len(text) < 500_000
    shown = len(LexborHTMLParser(text).css(".check tbody tr"))
    assert 3 < shown < 20
    assert f"{130 - shown} more. To list them, run:" in text


def test_what_is_suppressed_is_told(tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("test-long https://garden.example/ # the <board> likes it\n")
    tree = parsed(small(tmp_path / "site.db"), suppress=str(known))
    assert "1 suppressed: the <board> likes it" in words(tree.css_first("#check-test-long"))
    assert "1 known finding suppressed." in words(tree.css_first("#traps"))


def test_a_site_without_a_fault_is_told_so(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0, ms=1.0)
    tree = parsed(crawl.save(100.0))
    assert words(tree.css_first("#findings .panel")) == "No issues found."
    assert "5 checks found no issues." in words(tree.css_first("#passed"))


def test_a_crawl_without_a_page_is_a_page_too(tmp_path: Path) -> None:
    tree = parsed(Crawl(tmp_path / "site.db").save(None))
    assert tree.css(".graph, table, .dial") == []


def test_charts_say_what_they_show_to_whoever_does_not_see_them(tmp_path: Path) -> None:
    tree = parsed(large(tmp_path / "site.db", 200))
    pictures = tree.css("#figures svg.bar, #figures svg.columns, svg.graph, svg.dial")
    assert len(pictures) > 10
    assert all(picture.attributes["role"] == "img" and picture.attributes["aria-label"] for picture in pictures)
    (times,) = (panel for panel in tree.css("#figures .panel") if words(panel).startswith("Response times"))
    assert "50 % of pages within this time" in words(times)
    assert len(times.css("rect.column")) == 7


def test_the_picture_draws_the_site(tmp_path: Path) -> None:
    tree = parsed(large(tmp_path / "site.db", 800))
    dots = tree.css(".graph .dot")
    assert len(dots) == 300
    hint = words(dots[0].css_first("title"))
    assert hint == "Garden Society of the North garden.example 200 · depth 0 · link score 100 · 1 inlink"
    assert "300 of 800 pages are drawn" in words(tree.css_first("#graph .note"))


def test_lists_are_there(tmp_path: Path) -> None:
    tree = parsed(small(tmp_path / "site.db"))
    assert words(tree.css_first("#slowest tbody tr")) == "/about/team 900 ms 910 ms 100 B"
    assert words(tree.css_first("#largest tbody tr")) == "/about About us 120 ms 130 ms 4.1 kB"
    assert words(tree.css_first("#redirects tbody tr")) == "301 /old 200 /about 1"
    assert "Listed: 3 pages; not indexable: 1; without inlinks: 0. Indexable but in no sitemap: 0 pages." in words(
        tree.css_first("#sitemaps")
    )
    assert words(tree.css_first("#duplicates .cluster")) == "2 nearly identical pages: /about /about /old"


def test_a_chosen_group_stands_alone(tmp_path: Path) -> None:
    tree = parsed(small(tmp_path / "site.db"), check_filter=CheckFilter(groups=("titles",)))
    assert [check.attributes["id"] for check in tree.css("details.check")] == ["check-test-long", "check-test-plain"]


def test_it_is_japanese_from_head_to_foot(tmp_path: Path) -> None:
    path = large(tmp_path / "site.db", 200)
    tree = parsed(path, lang="ja")
    html = tree.css_first("html")
    assert html is not None
    assert html.attributes["lang"] == "ja"
    shown = words(tree.body)
    _ = translator("ja")
    for heading in (
        "Health score", "Findings", "Why it matters", "How to fix it", "Linked from", "Site structure", "Sitemaps",
        "Near duplicates", "Passed checks", "Indexability",
    ):  # fmt: skip
        assert _(heading) in shown
        assert heading not in shown


def assert_harmless(tree: LexborHTMLParser) -> None:
    assert len(tree.css("script")) == len(tree.css("style")) == len(tree.css("head > title")) == 1
    assert tree.css("img, iframe, object, embed, form, base") == []
    for node in tree.css("*"):
        assert not any(name.startswith("on") or name == "style" for name in node.attributes)
        assert not (node.attributes.get("href") or "").lower().startswith(("javascript:", "data:", "vbscript:"))


def test_hostile_text_is_only_text(tmp_path: Path) -> None:
    text = told(hostile(tmp_path / "site.db"), "html")
    tree = LexborHTMLParser(text)
    assert_harmless(tree)
    assert "<script>alert(1)</script>" in words(tree.css_first("details.check"))
    assert "\u202e" not in text
    assert HOSTILE not in text


@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet="<>\"'&/=; \n\tscriptonX-\x00\u202e\u2066", max_size=30))
def test_no_crawled_text_breaks_out(tmp_path: Path, text: str) -> None:
    (tmp_path / "site.db").unlink(missing_ok=True)
    assert_harmless(parsed(hostile(tmp_path / "site.db", text)))


@pytest.mark.parametrize("url", ["javascript:alert(1)", "JavaScript:alert(1)//http://", "data:text/html,x"])
def test_a_url_that_is_no_web_address_is_no_link(tmp_path: Path, url: str) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    crawl.find(BROKEN, subject=url)
    tree = parsed(crawl.save())
    assert_harmless(tree)
    assert url in words(tree.css_first("details.check"))


def colours(dark: bool) -> dict[str, str]:
    parts = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    return dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", parts[dark]))


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


TEXT = [
    *((ink, paper) for ink in ("ink", "soft") for paper in ("paper", "card", "well", "unread-wash")),
    *((name, "card") for name in ("ok", "redirect", "broken", "blocked", "notice", "unread")),
    *((name, f"{name}-wash") for name in ("ok", "redirect", "broken", "blocked", "notice")),
]
SHAPES = [(name, "card") for name in ("ok", "amber", "broken", "blocked", "notice", "unread")]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("pair, least", [*((pair, 4.5) for pair in TEXT), *((pair, 3.0) for pair in SHAPES)], ids=str)
def test_colours_can_be_told_apart(pair: tuple[str, str], least: float, dark: bool) -> None:
    named = colours(dark)
    assert contrast(named[f"--{pair[0]}"], named[f"--{pair[1]}"]) >= least


def test_contrast_is_measured_as_the_guidelines_say() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The temporary folder of a process that has not written a report yet."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    environment.cache_clear()
    yield folder
    environment.cache_clear()


def test_templates_are_compiled_once_for_all_processes(tmp_path: Path, temporary: Path) -> None:
    first = told(small(tmp_path / "site.db"), "html")
    compiled = {file: file.stat().st_mtime_ns for file in temporary.glob("*/tadoru-*")}
    assert compiled
    environment.cache_clear()
    assert told(tmp_path / "site.db", "html") == first
    assert {file: file.stat().st_mtime_ns for file in temporary.glob("*/tadoru-*")} == compiled


def test_a_report_needs_no_folder_for_compiled_templates(tmp_path: Path, temporary: Path) -> None:
    temporary.rmdir()
    assert "</html>" in told(small(tmp_path / "site.db"), "html")


def test_compiled_templates_that_are_damaged_are_compiled_again(tmp_path: Path, temporary: Path) -> None:
    first = told(small(tmp_path / "site.db"), "html")
    for file in temporary.glob("*/tadoru-*"):
        file.write_bytes(file.read_bytes()[:40])
    environment.cache_clear()
    assert told(tmp_path / "site.db", "html") == first
