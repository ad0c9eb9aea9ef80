"""Markdown that is written to take long takes no longer than any other: whatever a site offers, a crawl has to end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from tadoru.jobs.docs import site_markdown
from tadoru.jobs.docs.bundle.api_specs import detect_spec, name_specs
from tadoru.jobs.docs.bundle.links import rewrite_links, with_local_links
from tadoru.jobs.docs.bundle.markdown_blocks import split_sections
from tadoru.jobs.docs.bundle.model import StoredSpec
from tadoru.jobs.docs.markdown.math import split_formulas
from tadoru.jobs.docs.search import strip_markdown
from tadoru.rules.url import UrlResolver
from tadoru.serve.docs_sites.markdown_html import render_markdown
from tests.support.handbook import Handbook, entries, read
from tests.support.site import Site

LENGTH = 50_000
SECONDS = 20.0
"""Of CPU time, for all inputs of one reader together; one expression that is quadratic takes longer for one of them."""
REPEATED = (
    "`", "` ``", "`a`b``", "-", "-\n", "--- ", "|", "| ---", "[", "](", "[](", '[a](b "', "*a ", "**a", "_a ",
    "*_", "<a", "<!--", "> ", ">", "\\[", "\\(", '"\\', '"""', "#", "\n", " \n", "1. ", "1.1 ",
    "<http://", "a\n===\n", "title: ", "---\ntitle: a\n", "> ```\n",
    f"{'>' * 400}```\n", "[a][b]", "{", "(",
)  # fmt: skip
READERS: dict[str, Callable[[str], object]] = {
    "kept": lambda text: site_markdown.normalise_markdown(text, "https://site.example/"),
    "objection": lambda text: site_markdown.missing_content(text, "words"),
    "title": site_markdown.title_of,
    "links": lambda text: site_markdown.links_of(text, "https://site.example/", UrlResolver()),
    "offered": lambda text: site_markdown.split_llms_full(text, "https://site.example/", UrlResolver()),
    "local links": lambda text: with_local_links(text, {}),
    "short links": lambda text: rewrite_links(text, "https://x.example/a/b", "short"),
    "no links": lambda text: rewrite_links(text, "https://x.example/a/b", "none"),
    "sections": lambda text: list(split_sections(text)),
    "specification": lambda text: detect_spec(text.encode(), "a.graphql"),
    "formulas": split_formulas,
    "search": strip_markdown,
}


@pytest.mark.parametrize("name", READERS)
def test_no_text_takes_long(name: str) -> None:
    began = process_time()
    for unit in REPEATED:
        for start in ("", "# "):
            READERS[name](f"{start}{unit * (LENGTH // len(unit))}x")
            assert process_time() - began < SECONDS, (name, start, unit)


def test_a_file_of_backticks_does_not_hold_a_crawl(site: Site, book: Handbook, out: Path) -> None:
    book.page("/", "Start", "<p>Words.</p>", links=["/"])
    book.file("/index.md", f"# Start\n\nWords. {'`' * 20_000}\n", "text/markdown; charset=utf-8")
    began = process_time()
    read(site, out)
    assert process_time() - began < SECONDS
    assert entries(out, site)["/"]["source"] == "markdown"


def test_many_equal_headings_are_shown_at_once() -> None:
    began = process_time()
    headings = render_markdown("# Title\n\n" + "## Same\n\n" * 20_000, lambda href: href).headings
    assert process_time() - began < SECONDS
    assert [heading.id for heading in (*headings[:3], headings[-1])] == ["at-Same", "at-Same-2", "at-Same-3", "at-Same-20000"]


def test_many_specifications_of_one_name_get_names_at_once() -> None:
    body = b'{"openapi": "3.1.0", "info": {}}'
    found = [StoredSpec(f"https://site.example/{number}/api.json", body) for number in range(20_000)]
    began = process_time()
    assert len({spec.file for spec in name_specs(found, {})}) == len(found)
    assert process_time() - began < SECONDS
