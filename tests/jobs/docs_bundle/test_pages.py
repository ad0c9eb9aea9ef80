"""The file of a page: a frontmatter that every YAML reader understands, and the Markdown as it is."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.bundle import site_files
from tadoru.jobs.docs.bundle.model import DocChange, DocChanges, PageMetadata, one_line
from tadoru.jobs.docs.bundle.site_files import page_body, page_frontmatter, render_page_file
from tests.jobs.docs_bundle.sites import page

HOSTILE = [
    '"',
    "a: b",
    "---",
    "- x",
    "# c",
    "yes",
    "1",
    "\\",
    "'",
    "{}",
    "a\nb: c",
    "\x00\x1b[31m",
    "\u2028",
    "\ufeff",
    "🎉",
    "\x85",
]


@given(st.text() | st.sampled_from(HOSTILE), st.text() | st.sampled_from(HOSTILE), st.text())
def test_yaml_reads_back_what_was_written(title: str, description: str, markdown: str) -> None:
    doc = page(1, markdown, title=title, metadata=PageMetadata(description=description), breadcrumbs=(title, description))
    fields = page_frontmatter(doc, digest="d", tokens=3, crawled_at="2026-02-01T14:00:00.000Z")
    text = render_page_file(fields, markdown).encode("utf-8", "replace").decode()
    head, body = text[4:].split("\n---\n\n", 1)
    assert yaml.safe_load(head) == fields
    assert body == page_body(text) == markdown.encode("utf-8", "replace").decode()


def test_what_is_not_known_is_left_out() -> None:
    fields = page_frontmatter(page(1, "# A\n"), digest="d", tokens=3, crawled_at="t")
    assert list(fields) == ["title", "url", "crawledAt", "hash", "depth", "tokens", "source"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a\n b\tc", "a b c"),
        ("a\x1b[0m", "a [0m"),
        ("a\u200bb\u202e", "ab"),
        ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"),
        ("長い" * 9, "長い長い…"),
    ],
    ids=["white space", "controls", "marks without width", "a mark that is spelled", "cut"],
)  # fmt: skip
def test_text_of_a_stranger_is_put_on_one_line(text: str, expected: str) -> None:
    assert one_line(text, 5 if text.startswith("長") else None) == expected


def test_changes_are_listed_by_title() -> None:
    found = DocChanges(
        added=(DocChange("https://x.example/(a)", "A [b](c)\nd", "pages/page-001-a.md"),),
        removed=(DocChange("https://x.example/b", "", "f"),),
    )
    assert site_files.render_changes(found, pages=True) == (
        "# Changes\n\n1 added, 0 changed, 1 removed since the previous crawl.\n"
        "\n## Added\n\n- [A \\[b\\](c) d](https://x.example/%28a%29) · pages/page-001-a.md\n"
        "\n## Removed\n\n- [https://x.example/b](https://x.example/b)\n"
    )
