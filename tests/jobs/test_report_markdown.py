from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.audit.report import REPORT_FORMATS
from tadoru.jobs.reporting.escape import escape_markdown
from tests.jobs.audit_crawls import HOME, HOSTILE, LONG, Crawl, hostile, large, small, told

PAGES = REPORT_FORMATS["markdown"].extent.examples
SMALL = """\
## Audit of garden.example

Crawled on 14 November 2023, 22\\:13 UTC · took 0.00 s

- Health score: **82 of 100** (Good)
- Pages: 4 (2xx: 2, 3xx: 1, 4xx: 1, Not requested: 1)
- Indexable: 2
- Findings: Errors: 1, Warnings: 2, Notices: 1, Info: 1

| Severity | Check | Group | Count |
|---|---|---|---:|
| 🔴 Error | Broken page | Response codes | 1 |
| 🟠 Warning | Long title | Page titles | 2 |
| 🔵 Notice | Plain title | Page titles | 1 |
| ⚪ Info | Calm URL | URLs | 1 |

<details><summary>🔴 Broken page (1)</summary>

Nobody finds it. Mend it.

- [/about/team](<https://garden.example/about/team>) – 404{break_}
  Linked from: [/](<https://garden.example/>) “Who we are”, [/about](<https://garden.example/about>) “Our team”

</details>
"""


def test_it_can_be_put_into_a_pull_request(tmp_path: Path) -> None:
    text = told(small(tmp_path / "site.db"), "markdown")
    assert text.startswith(SMALL.replace("{break_}", "  "))
    assert text.count("<details>") == text.count("</details>") == 4


def test_more_pages_than_are_shown_are_counted_with_the_command_that_lists_them(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    for number in range(PAGES + 5):
        crawl.find(LONG, crawl.page(f"{number:02}", 1))
    path = crawl.save()
    text = told(path, "markdown")
    assert len(re.findall(r"^- \[", text, re.MULTILINE)) == PAGES
    assert f"\n5 more. To list them, run: `tadoru report {path} --check test-long`\n" in text
    everything = told(path, "markdown", list_all=True)
    assert len(re.findall(r"^- \[", everything, re.MULTILINE)) == PAGES + 5
    assert "more. To list" not in everything


def test_a_site_without_a_fault_is_told_so(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    text = told(crawl.save(), "markdown", lang="ja")
    assert text.endswith("\n問題は見つかりませんでした。\n")


def test_an_unfinished_crawl_says_so_on_top(tmp_path: Path) -> None:
    text = told(small(tmp_path / "site.db", outcome=None, score=None), "markdown")
    assert text.splitlines()[4].startswith("> ⚠️ The crawl is not finished")


def test_hostile_text_is_only_text(tmp_path: Path) -> None:
    text = told(hostile(tmp_path / "site.db"), "markdown")
    own = re.sub(r"</?details>|</?summary>|\]\(<[^<>\s]*>\)", "", text)
    assert not re.search(r"(?<!\\)[<>`]", own)
    assert not re.search(r"(?<![\\&])[@]", own)
    targets = re.findall(r"\]\(<([^>]*)>\)", text)
    assert targets
    assert all(target.startswith(HOME) for target in targets)
    assert "\u202e" not in text


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a|b", "a\\|b"),
        ("a\nb", "a b"),
        ("**b**", "\\*\\*b\\*\\*"),
        ("<b>", "&lt;b\\>"),
        ("@you", "&#64;you"),
        ("#1", "\\#1"),
        ("&amp;", "&amp;amp;"),
        ("https://x.example", "https\\://x.example"),
    ],
)
def test_markup_is_shown_and_not_acted_on(text: str, shown: str) -> None:
    assert escape_markdown(text) == shown


@given(st.text())
def test_no_text_opens_a_tag_ends_a_cell_or_names_anybody(text: str) -> None:
    shown = escape_markdown(text)
    assert not re.search(r"<|@|(?<!\\)(?:\\\\)*\||\n", shown)


def test_a_url_that_is_no_web_address_is_no_link(tmp_path: Path) -> None:
    crawl = Crawl(tmp_path / "site.db")
    crawl.page("", 0)
    crawl.find(LONG, subject="javascript:alert(1)")
    text = told(crawl.save(), "markdown")
    assert "](<javascript" not in text
    assert "javascript\\:alert\\(1\\)" in text
    assert HOSTILE not in text


def test_it_fits_into_a_comment(tmp_path: Path) -> None:
    text = told(large(tmp_path / "site.db", 600), "markdown")
    assert len(text) < 65_536
    found = re.search(r"\n(\d+) more checks. To list everything, run: `tadoru report \S+ --all`\n", text)
    assert found is not None
    assert text.count("<details>") + int(found[1]) == len(re.findall(r"^\| [🔴🟠🔵⚪]", text, re.MULTILINE)) > 80
