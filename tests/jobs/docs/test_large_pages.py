"""Large pages: what exceeds a limit is left out with a reason, what does not is read whole, and neither takes long."""

from __future__ import annotations

import resource
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from tadoru.engine.job import FetchedPage
from tadoru.jobs.docs.bundle.chunks import ChunkedPage, split_by_tokens
from tadoru.jobs.docs.bundle.markdown_blocks import split_blocks
from tadoru.jobs.docs.bundle.model import BundleOptions, BundleSite, StoredDoc
from tadoru.jobs.docs.bundle.tokens import estimate_tokens
from tadoru.jobs.docs.bundle.writer import RepeatedBlocks, write_bundle
from tadoru.jobs.docs.job import DocPage, DocsJob, read_doc_page
from tadoru.jobs.docs.markdown import ConvertOptions
from tadoru.model.web import Response
from tadoru.parse.complexity import PageTooComplex
from tadoru.parse.page_limits import MAX_DOC_TAGS, MAX_LINKS, MAX_MARKDOWN_BLOCKS
from tadoru.rules.scope import Scope
from tadoru.rules.url import UrlResolver
from tests.jobs.docs_markdown.pages import converted

URL = "https://docs.example/page"
NOTE = "*The page goes on: the rest is left out here, because it is too long.*"
END = "The end of the page."
SECONDS = 4.0
"""Twice what a reading may take on a quiet machine."""
MANY = MAX_DOC_TAGS - 1_000


def read(body: str, head: str = "") -> DocPage:
    page = f"<!doctype html><html><head><title>Page</title>{head}</head><body><main><h1>Page</h1>{body}</main></body></html>"
    return read_doc_page(page.encode(), "text/html; charset=utf-8", URL, UrlResolver())


CROWDS: dict[str, Callable[[], str]] = {
    "headings": lambda: "<h1>Same</h1>" * MANY,
    "paragraphs with ids": lambda: "".join(f"<p id=a{number}>x</p>" for number in range(MANY)),
    "links": lambda: "".join(f"<a href=#a{number}>{number}</a>" for number in range(MANY)),
    "items with links": lambda: "".join(f"<li id=fn{n}>note <a href=#r{n}>back</a></li>" for n in range(MANY // 2)),
    "tables": lambda: "<table><tr><td>x</table>" * (MANY // 3),
    "callouts": lambda: "<div class='admonition note'>x</div>" * MANY,
    "formulas": lambda: "<math><mi>x</mi></math>" * (MANY // 2),
    "code": lambda: "<pre><code class=language-x>x\n</code></pre>" * (MANY // 2),
    "pictures": lambda: "<img src=/same.png>" * MANY,
    "line breaks": lambda: "<br>" * MANY,
}


@pytest.mark.parametrize("body", CROWDS.values(), ids=CROWDS)
def test_as_many_elements_as_a_page_may_have_are_read_in_seconds(body: Callable[[], str]) -> None:
    page = body()
    began = process_time()
    read(page)
    assert process_time() - began < SECONDS


def test_a_page_with_too_many_elements_is_read_up_to_the_limit_with_a_reason() -> None:
    page = read("<span>x</span> " * (MAX_DOC_TAGS + 10) + f"<p>{END}</p>")
    assert page.left_out == (f"it has more than {MAX_DOC_TAGS:,} elements",)
    assert page.markdown.text.endswith(f"x\n\n{NOTE}\n")
    assert END not in page.markdown.text


def test_a_page_within_the_limit_is_read_whole() -> None:
    page = read("<span>x</span> " * (MAX_DOC_TAGS - 20) + f"<p>{END}</p>")
    assert page.left_out == ()
    assert page.markdown.text.endswith(f"{END}\n")


@pytest.mark.parametrize("tag", ["script", "style", "textarea", "!--"])
def test_tags_in_scripts_and_comments_do_not_count(tag: str) -> None:
    opening, closing = ("<!--", "-->") if tag == "!--" else (f"<{tag}>", f"</{tag}>")
    page = read(f"<p>{END}</p>", opening + "if (a<b) c;" * (MAX_DOC_TAGS + 10) + closing)
    assert page.left_out == ()
    assert END in page.markdown.text


def test_markdown_of_too_many_blocks_is_cut_with_a_reason() -> None:
    page = read("<p>x</p>" * (MAX_MARKDOWN_BLOCKS + 10))
    assert page.left_out == (f"its Markdown has more than {MAX_MARKDOWN_BLOCKS:,} blocks",)
    assert page.markdown.text.endswith(f"x\n\n{NOTE}\n")
    assert page.markdown.text.count("\n\n") <= MAX_MARKDOWN_BLOCKS


def test_blocks_in_a_list_count_and_headings_are_those_of_the_text() -> None:
    made = converted("<h2>One</h2><ul><li><p>a</p><p>b</p></ul><h2>Two</h2><p>c</p>", ConvertOptions(most_blocks=3))
    assert (made.text, made.is_cut) == (f"## One\n\n- a\n\n  b\n\n{NOTE}\n", True)
    assert made.left_out == ("its Markdown has more than 3 blocks",)


def test_links_beyond_the_limit_are_written_as_text_with_a_reason() -> None:
    page = read("".join(f"<a href='mailto:a{number}@docs.example'>x</a> " for number in range(MAX_LINKS + 2)))
    assert f"its Markdown has more than {MAX_LINKS:,} links" in page.left_out
    assert page.markdown.text.count("](mailto:") == MAX_LINKS
    assert page.markdown.text.endswith(") x x\n")


def test_published_markdown_of_too_many_blocks_is_refused() -> None:
    job = DocsJob(Scope(sites=(URL,)), start=URL, render="never")
    for block in ("x\n\n", "# x\n"):
        body = (block * (MAX_MARKDOWN_BLOCKS + 10)).encode()
        response = Response(url=URL, status=200, headers=(("Content-Type", "text/markdown"),), body=body)
        with pytest.raises(PageTooComplex, match="its Markdown has more than 60,000 blocks"):
            job.handle(FetchedPage(url=URL, depth=1, response=response))


TEXTS: dict[str, Callable[[], str]] = {
    "paragraphs": lambda: "# Page\n\n" + "".join(f"{number}\n\n" for number in range(MAX_MARKDOWN_BLOCKS)),
    "one line of two scripts": lambda: "# Page\n\n" + "word１" * 1_000_000 + "\n",
    "one line of Chinese": lambda: "漢字" * 1_200_000 + "\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_files_of_a_large_page_are_written_in_seconds(text: Callable[[], str], tmp_path: Path) -> None:
    doc = StoredDoc(url=URL, title="Page", markdown=text(), number=1, crawled_at=0.0, hash="x")
    site = BundleSite(base_url=URL, checked_at=0.0)
    began = process_time()
    RepeatedBlocks().add(doc.markdown)
    write_bundle(tmp_path / "site", site, lambda: [doc], BundleOptions(chunk_tokens=2_000, local_links=True))
    assert process_time() - began < SECONDS


def test_counting_tokens_takes_little_memory() -> None:
    text = "漢字かな" * 1_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    estimate_tokens(text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000, "KiB"


def test_a_large_text_counts_as_its_parts_do() -> None:
    part = "Kettle ケトル 水壺 주전자 чайник théière 🫖\n"
    assert estimate_tokens(part * 5_000) == pytest.approx(5_000 * estimate_tokens(part))
    assert estimate_tokens(part * 100_000) == pytest.approx(100_000 * estimate_tokens(part), rel=0.01), "counted in slices"


def test_a_text_of_different_halves_is_counted_in_both() -> None:
    halves = "Boil the water. " * 200_000, "水を沸かす。" * 500_000
    assert estimate_tokens("".join(halves)) == pytest.approx(sum(map(estimate_tokens, halves)), rel=0.05)


def test_each_chunk_is_counted_once_and_lines_stay_together() -> None:
    counted: list[str] = []

    def weigh(text: str) -> float:
        counted.append(text)
        return float(len(text))

    line = "x" * 99 + "\n"
    chunks = list(split_by_tokens(f"# Page\n\n{line * 5}", ChunkedPage(URL, "Page"), (), 400, weigh))
    assert sum(chunk.text.count("x" * 99) for chunk in chunks) == 5
    assert counted.count(line * 5) == 1


@pytest.mark.parametrize(
    "text, kinds",
    [
        ("a\n\nb\n", "text text"),
        ("1. a\n\n    ```\n    b\n    ```\n", "text code"),
        ("1\n2\n\n3\n", "text text"),
        ("a\n===\n\nb\n---\nc\n", "heading heading text"),
        ("- a\n\nb\n\n    ```\n    c\n", "text text code"),
        ("# a\r\n1.\r\n    ~~~\r\n", "heading code"),
        ("a\n# b\nc\n", "text heading text"),
        ("\n\na\n", "text text"),
        ("a\n| b |\n\n| c |\n", "text table"),
        ("```\na\n\nb\n```\nc\n", "code"),
    ],
)
def test_plain_lines_are_split_like_all_others(text: str, kinds: str) -> None:
    found = list(split_blocks(text))
    assert "".join(block.text for block in found) == text
    assert " ".join(block.kind for block in found) == kinds
