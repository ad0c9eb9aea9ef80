from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.links.report import LINKS_FORMATS, LinksReport, write_links_report
from tadoru.jobs.links.result import BrokenLink, LinkSource, SkippedTrap, UrlInfo
from tests.jobs.links_sites import HOME, crawl, failure, invented, page, report, small


def text_of(given: LinksReport, colour: bool = False) -> str:
    out = io.StringIO()
    write_links_report(given, "text", out, colour)
    return out.getvalue()


SMALL = """\
https://garden.example/  The garden
├── /about  About us
│   └── /about/team  ✗ 404 Not Found
├── /old  301 → /about
└── /shop  · not requested: disallowed by robots.txt

External URLs (1)
  https://club.example/  ⊘ 403 Forbidden

External hosts (1)
  club.example  1 checked, 1 blocked

Broken links (1)
✗ https://garden.example/about/team  404 Not Found
    on /about  “Our team”
    on /  “Who we are”

Blocked links (visitors may be able to open them) (1)
⊘ https://club.example/  403 Forbidden
    on /  “The club”

Summary
  URLs      4 requested of 6 found
  External  1
  Status    200: 2   301: 1   404: 1   not requested: 1
  Failed    2
  Links     1 broken, 1 blocked
  Duration  2.5 s, 1.6 pages per second
  Depth 0   ███████████ 1
  Depth 1   ████████████████████████████████ 3
  Depth 2   ███████████ 1
"""


def test_a_small_site_reads_well() -> None:
    assert text_of(small()) == SMALL


def test_a_report_is_written_in_japanese() -> None:
    text = text_of(replace(small(), lang="ja", checked=True))
    assert "\nリンク切れ (1)\n" in text
    assert "  · 未取得: robots.txt による拒否" in text
    assert "\n概要\n  URL       検出6件中 4件を取得\n" in text
    assert not set(re.findall(r"[A-Za-z]+", text.partition("概要")[2])) - {"URL"}


def test_the_order_of_urls_does_not_change_the_text() -> None:
    given = invented(200)
    turned = replace(given.result, internal_urls=given.result.internal_urls[::-1], external_urls=given.result.external_urls[::-1])
    assert text_of(replace(given, result=turned)) == text_of(given)


def test_external_urls_are_left_out_unless_they_are_asked_for() -> None:
    assert "External URLs" not in text_of(replace(small(), show_external=False))


def test_colour_adds_nothing_but_escapes() -> None:
    coloured = text_of(small(), colour=True)
    assert "\x1b[31m✗ 404 Not Found\x1b[0m" in coloured
    for code in ("0", "1", "2", "31", "33", "36"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == SMALL


def test_every_link_works_is_said_only_when_links_were_checked() -> None:
    result = crawl(page(HOME))
    assert "\nEvery link works.\n" in text_of(report(result, checked=True))
    assert "Every link works" not in text_of(report(result))


def test_links_that_are_accepted_are_not_said_to_work() -> None:
    text = text_of(replace(report(crawl(page(HOME)), checked=True), accepted=2))
    assert "\nEvery link works, except 2 that you accept.\n" in text


def test_a_crawl_that_stopped_early_speaks_only_of_the_links_it_tried() -> None:
    text = text_of(report(replace(crawl(page(HOME)), stopped="limit of 1 page"), checked=True))
    assert "\nEvery checked link works.\n" in text
    assert "  Links     all checked links work\n" in text


def test_links_of_one_page_with_the_same_words_are_one_line() -> None:
    sources = (LinkSource(HOME, "2.10"), LinkSource(HOME, "2.10"), LinkSource(HOME, "here"), LinkSource(f"{HOME}a", "2.10"))
    text = text_of(report(crawl(page(HOME)).with_bad_links([BrokenLink(HOME + "x", 404, "gone", "broken", sources)])))
    assert "    on /  “2.10”  2 times\n    on /  “here”\n    on /a  “2.10”\n" in text


def test_an_empty_crawl_has_a_summary() -> None:
    assert text_of(report(crawl())).startswith("\nSummary\n  URLs      0 requested of 0 found\n")


def test_a_failure_without_status_gives_its_reason() -> None:
    result = crawl(page(HOME, status=None), failed=(failure(HOME, None, "the name does not exist"),))
    assert "https://garden.example/  ✗ the name does not exist\n" in text_of(report(result))
    assert "Status    no response: 1" in text_of(report(result))


def test_stops_and_traps_are_in_the_summary() -> None:
    result = replace(crawl(page(HOME)), stopped="time limit", traps=(SkippedTrap("/cal/{n}", "calendar", 9),))
    assert "  Trap      /cal/{n} (calendar)\n  Stopped   time limit\n" in text_of(report(result))


def test_many_places_are_counted_after_the_first_ten() -> None:
    sources = tuple(LinkSource(f"{HOME}{number:02}", "") for number in range(13))
    text = text_of(report(crawl(page(HOME)).with_bad_links([BrokenLink(HOME + "x", 404, "gone", "broken", sources)])))
    assert "    on /09\n    and 3 more places\n" in text


def test_pages_of_another_host_keep_their_whole_url() -> None:
    other = "https://www.garden.example/a"
    result = crawl(page(HOME), page(HOME + "b", 1, HOME), page(other, 1, HOME))
    text = text_of(report(result))
    assert "├── /b\n" in text
    assert f"└── {other}\n" in text


def test_paths_follow_the_host_that_a_start_url_redirects_to() -> None:
    www = "https://www.garden.example/"
    result = crawl(page(HOME, status=301, redirect_to=www), page(www, 1, HOME), page(www + "a", 2, www))
    assert text_of(report(result)).startswith("https://garden.example/  301 → https://www.garden.example/\n└── /\n    └── /a\n")


def test_escaped_letters_are_shown_as_letters_and_escaped_controls_are_not() -> None:
    result = crawl(
        page(HOME), page(HOME + "%E6%97%A5%E6%9C%AC%20a", 1, HOME), page(HOME + "%C2%9B31m", 1, HOME), page(HOME + "%FF", 1, HOME)
    )
    text = text_of(report(result))
    assert "/日本%20a\n" in text
    assert "/%C2%9B31m\n" in text
    assert "/%FF\n" in text


def unread(count: int, parent: str, under: str = HOME) -> list[UrlInfo]:
    depth = 1 if parent == HOME else 2
    return [page(f"{under}{number:04}", depth, parent, None, not_fetched="limit reached") for number in range(count)]


def test_of_a_thousand_urls_that_were_not_requested_the_text_shows_two_hundred_and_a_number() -> None:
    given = report(crawl(page(HOME), page(HOME + "z", 1, HOME), *unread(1000, HOME)))
    lines = text_of(given).splitlines()
    assert lines[0] == HOME
    assert lines[1:201] == [f"├── /{number:04}  · not requested: limit reached" for number in range(200)]
    assert lines[201:204] == ["├── /z", "└── … 800 more, not requested", ""]
    assert "  Not shown 800 URLs; the formats json and csv have all of them" in lines


def test_two_hundred_urls_that_were_not_requested_are_all_shown() -> None:
    lines = text_of(report(crawl(page(HOME), *unread(200, HOME)))).splitlines()
    assert lines[200] == "└── /0199  · not requested: limit reached"
    assert not any("more" in line or "Not shown" in line for line in lines)


def test_each_page_has_its_own_number_of_more_urls_under_its_branch() -> None:
    a, b = HOME + "a/", HOME + "b/"
    given = report(crawl(page(HOME), page(a, 1, HOME), *unread(203, a, a), page(b, 1, HOME), *unread(202, b, b)))
    lines = text_of(given).splitlines()
    assert lines[202:204] == ["│   └── … 3 more, not requested", "└── /b/"]
    assert lines[404] == "    └── … 2 more, not requested"


def test_urls_without_a_parent_are_counted_too() -> None:
    given = report(crawl(*[page(f"{HOME}{number:03}", status=None) for number in range(207)]))
    lines = text_of(given).splitlines()
    assert lines[199:202] == [f"{HOME}199  · not requested", "… 7 more, not requested", ""]


def test_pages_that_were_requested_are_all_shown_however_many() -> None:
    text = text_of(report(crawl(page(HOME), *[page(f"{HOME}{number:04}", 1, HOME) for number in range(1000)])))
    assert text.count("── /") == 1000
    assert "more" not in text


def test_very_many_external_urls_are_shown_in_part_those_that_were_checked_before_the_others() -> None:
    outside = [page(f"https://x.example/{number:05}", 1, HOME, None) for number in range(20_005)]
    checked = page("https://z.example/", 1, HOME, 200)
    lines = text_of(report(crawl(page(HOME), external=(*outside, checked)), external=True)).splitlines()
    assert lines[2:4] == ["External URLs (20,006)", "  https://x.example/00000"]
    assert lines[20_001:20_004] == ["  https://x.example/19998", "  https://z.example/", "  … 6 more"]


def test_parents_that_make_no_tree_lose_no_url() -> None:
    a, b, c = (HOME + name for name in "abc")
    result = crawl(page(a, 1, b), page(b, 1, a), page(c, 1, c), page(HOME))
    lines = text_of(report(result)).splitlines()
    assert lines[:4] == [HOME, a, b, c]


def test_a_chain_of_fifty_thousand_pages_is_written_without_recursion_and_in_little_space() -> None:
    pages = [page(f"{HOME}{number}", number, f"{HOME}{number - 1}" if number else None) for number in range(50_000)]
    text = text_of(report(crawl(*pages)))
    assert "[49999] /49999\n" in text
    assert len(text) < 15_000_000


@given(st.text(), st.text())
def test_crawled_text_never_brings_control_characters_or_lines(title: str, anchor: str) -> None:
    result = crawl(page(HOME, title=title), failed=()).with_bad_links(
        [BrokenLink(HOME + "x", None, title, "broken", (LinkSource(HOME, anchor),))]
    )
    text = text_of(report(result))
    assert text.splitlines() == text.removesuffix("\n").split("\n")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)
    text.encode()


def test_a_terminal_escape_in_a_title_is_taken_apart() -> None:
    assert "\x1b" not in text_of(report(crawl(page(HOME, title="\x1b]0;owned\x07\x1b[2J"))))


def test_a_command_of_a_build_log_in_a_title_is_taken_apart() -> None:
    assert "##[" not in text_of(report(crawl(page(HOME, title="##[add-mask]the"))))


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="text, json, csv, dot, html"):
        write_links_report(small(), "pdf", io.StringIO())


@pytest.mark.parametrize("form", LINKS_FORMATS)
def test_every_form_is_the_same_twice_and_takes_an_empty_crawl(form: str) -> None:
    first, second, empty = io.StringIO(), io.StringIO(), io.StringIO()
    write_links_report(invented(500), form, first)
    write_links_report(invented(500), form, second)
    write_links_report(report(crawl()), form, empty)
    assert first.getvalue() == second.getvalue()
    assert empty.getvalue()


def test_a_site_that_is_very_deep_is_not_shown_at_every_depth() -> None:
    pages = [page(f"{HOME}{depth}", depth, title="") for depth in range(300)]
    lines = text_of(report(crawl(*pages))).splitlines()
    depths = [line.split() for line in lines if line.startswith("  Depth")]
    assert len(depths) == 24
    assert depths[-1][1] == "23+"
    assert depths[-1][-1] == "277"


def test_a_title_that_only_repeats_the_error_is_left_out() -> None:
    gone = page(f"{HOME}gone", 1, HOME, status=404, title="404 Not Found")
    text = text_of(report(crawl(page(HOME), gone, failed=(failure(gone.url, 404, "404 Not Found"),))))
    assert "/gone  ✗ 404 Not Found\n" in text
