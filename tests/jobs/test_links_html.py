from __future__ import annotations

import base64
import hashlib
import io
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from tadoru.jobs.links.report import LinksReport, write_links_report
from tadoru.jobs.links.report.html import MAX_ROWS
from tadoru.jobs.links.result import BrokenLink, LinkEdge, LinkSource, SkippedTrap
from tests.jobs.links_sites import HOME, crawl, failure, invented, page, report, small

HOSTILE = """'"><script>alert(1)</script><img src=x onerror=alert(2)></title></style><svg onload=alert(3)>&amp;{{7*7}}"""


def html_of(given: LinksReport) -> str:
    out = io.StringIO()
    write_links_report(given, "html", out)
    return out.getvalue()


def parsed(given: LinksReport) -> LexborHTMLParser:
    return LexborHTMLParser(html_of(given))


def test_the_policy_allows_this_pages_style_and_script_and_nothing_else() -> None:
    text = html_of(small())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for name in ("style", "script"):
        inside = re.search(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
        assert inside is not None
        digest = base64.b64encode(hashlib.sha256(inside[1].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}';" in policy[1]
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe" not in policy[1]
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_the_page_loads_nothing() -> None:
    tree = parsed(invented(60))
    assert tree.css("link, img, iframe, object, embed, [src], [style], script[src]") == []
    assert not re.search(r"@import|url\(", html_of(invented(60)))


def test_links_lead_only_to_web_addresses_and_tell_them_nothing() -> None:
    result = crawl(page(HOME), page("javascript:alert(1)", 1, HOME), page("JAVASCRIPT:alert(1)//http://", 1, HOME))
    tree = parsed(
        report(result.with_bad_links([BrokenLink("data:text/html,x", None, "no", "broken", (LinkSource("vbscript:x", "y"),))]))
    )
    links = tree.css("a")
    assert links
    assert {link.attributes["href"] for link in links} == {HOME}
    assert {link.attributes["rel"] for link in links} == {"noopener noreferrer nofollow"}


def hostile_report(text: str) -> LinksReport:
    url = HOME + text
    result = crawl(
        page(HOME, title=text),
        page(url, 1, HOME, 301, title=text, redirect_to=text, not_fetched=text),
        page(url + "/a", 1, HOME, None, not_fetched=text),
        external=(page("https://x.example/" + text, 1, text, None),),
        failed=(failure(HOME, 404, text),),
    ).with_bad_links(
        [BrokenLink(url, 404, text, "broken", (LinkSource(url, text, text),)), BrokenLink(url, 403, text, "blocked")]
    )
    result = replace(result, start_url=url, stopped=text, traps=(SkippedTrap(text, text, 3),))
    return report(result, LinkEdge(HOME, url, text, text), external=True)


def assert_harmless(given: LinksReport) -> None:
    tree = parsed(given)
    assert len(tree.css("script")) == len(tree.css("style")) == len(tree.css("head > title")) == 1
    assert tree.css("img, iframe, object, embed, form, base") == []
    for node in tree.css("*"):
        assert not any(name.startswith("on") for name in node.attributes)


def test_hostile_text_is_only_text() -> None:
    given = hostile_report(HOSTILE)
    assert_harmless(given)
    assert "<script>alert(1)</script>" in parsed(given).css("#urls")[0].text()


@given(st.text(alphabet="<>\"'&/=; \n\tscriptonX\x00\u202e\ud800", max_size=40))
def test_no_crawled_text_breaks_out(text: str) -> None:
    given = hostile_report(text)
    assert_harmless(given)
    html_of(given).encode()


def test_broken_links_come_with_the_pages_to_fix() -> None:
    tree = parsed(small())
    blocks = [" ".join(block.text(separator=" ").split()) for block in tree.css(".bad-link")]
    assert blocks == [
        "404 /about/team Not Found on /about : Our team on / : Who we are",
        "403 https://club.example/ Forbidden on / : The club",
    ]


@pytest.mark.parametrize(
    "given, kind, words",
    [
        pytest.param(small(), "broken", "1 broken link on 2 pages", id="broken links"),
        pytest.param(report(crawl(page(HOME)), checked=True), "ok", "Every link works.", id="checked and fine"),
        pytest.param(report(crawl(page(HOME))), "ok", "Every requested page works.", id="not checked"),
        pytest.param(
            report(crawl(page(HOME, status=500), failed=(failure(HOME, 500),))),
            "broken", "1 page could not be loaded", id="failed page",
        ),
        pytest.param(
            report(crawl(page(HOME)).with_bad_links([BrokenLink("https://x.example/", 403, "", "blocked")])),
            "blocked", "1 link could not be checked", id="only blocked",
        ),
        pytest.param(report(crawl()), "unread", "Nothing was crawled.", id="nothing"),
    ],
)  # fmt: skip
def test_the_verdict_says_what_matters(given: LinksReport, kind: str, words: str) -> None:
    verdict = parsed(given).css_first(".verdict")
    assert verdict is not None
    assert verdict.text() == words
    assert verdict.attributes["class"] == f"verdict {kind}"


def test_the_page_is_japanese_from_head_to_foot() -> None:
    given = replace(invented(900), lang="ja")
    tree = parsed(replace(given, result=replace(given.result, stopped="time limit", traps=(SkippedTrap("/n", "暦", 3),))))
    assert [node.attributes["lang"] for node in tree.css("html")] == ["ja"]
    headings = [heading.text() for heading in tree.css("h2, h3, th, dt, .lead, .note, .verdict, .legend li, option")]
    assert len(headings) > 30
    assert [heading for heading in headings if not re.search("[ぁ-んァ-ヶ一-龠]", heading)] == ["URL"]
    assert "クロールは途中で終了しました: 制限時間" in (tree.html or "")


def test_every_url_is_in_the_table_with_its_status() -> None:
    given = invented(300)
    rows = parsed(given).css("#urls tbody tr")
    assert len(rows) == len(given.result.internal_urls) + len(given.result.external_urls)
    broken = [row for row in rows if (row.attributes["data-k"] or "").startswith("broken")]
    assert len(broken) == sum(info.status_code == 404 for info in given.result.internal_urls) > 0


def test_a_table_too_long_keeps_what_is_broken_and_says_so() -> None:
    pages = [page(HOME)] + [page(f"{HOME}{number:05}", 1, HOME, 404 if number > 5990 else 200) for number in range(6000)]
    failed = tuple(failure(info.url, parent=HOME) for info in pages if info.status_code == 404)
    tree = parsed(report(crawl(*pages, failed=failed)))
    rows = tree.css("#urls tbody tr")
    assert len(rows) == MAX_ROWS
    assert sum(row.attributes["data-k"] == "broken" for row in rows) == 9
    assert "5,000 of 6,001 URLs" in tree.css("section .lead")[-1].text()


def test_what_was_excluded_is_listed() -> None:
    result = replace(crawl(page(HOME)), stopped="time limit", traps=(SkippedTrap("/cal/{n}", "calendar", 412),))
    text = html_of(report(result))
    assert "The crawl stopped early: time limit" in text
    assert "Crawler trap: /cal/{n} (calendar), 412 URLs skipped" in text
    assert "Excluded" not in html_of(report(crawl(page(HOME))))


def test_many_broken_links_are_folded_but_all_there() -> None:
    tree = parsed(invented(2000))
    folded = tree.css("section .panel > details .bad-link")
    assert len(tree.css(".bad-link")) == len(invented(2000).broken)
    assert folded
