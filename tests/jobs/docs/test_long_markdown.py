"""A site's own Markdown is read up to a length: a page beyond it is refused with the reason, or read from its HTML instead."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tadoru.engine.job import FetchedPage, PageResult
from tadoru.jobs.docs.job import MAX_MARKDOWN_LENGTH, DocsJob
from tadoru.model.web import Response
from tadoru.parse.complexity import PageTooComplex
from tadoru.rules.scope import Scope

URL = "https://docs.example/kettle"
JOB = DocsJob(scope=Scope(sites=(URL,)), start=URL)


def response(kind: str, text: str) -> Response:
    return Response(url=URL, status=200, headers=(("Content-Type", kind),), body=text.encode())


def source_of(found: PageResult) -> str:
    assert found.records is not None
    assert found.records.document is not None
    return found.records.document.source


def test_a_page_of_markdown_beyond_the_limit_is_refused_with_the_reason() -> None:
    text = "# Kettle\n" + "x" * (MAX_MARKDOWN_LENGTH - 9)
    assert source_of(JOB.handle(FetchedPage(url=URL, depth=0, response=response("text/markdown", text)))) == "markdown"
    with pytest.raises(PageTooComplex, match="its Markdown has more than"):
        JOB.handle(FetchedPage(url=URL, depth=0, response=response("text/markdown", f"{text}x")))


def test_a_page_whose_own_markdown_is_beyond_the_limit_is_read_from_its_html() -> None:
    html = response("text/html", "<main><h1>Kettle</h1><p>Fill it, then boil it.</p></main>")
    page = FetchedPage(url=URL, depth=0, response=html)
    job = replace(JOB, markdown_access="accept")
    short = response("text/markdown", "# Kettle\n\nFill it, then boil it.\n")
    long = response("text/markdown", "# Kettle\n\nFill it, then boil it.\n" + "x " * MAX_MARKDOWN_LENGTH)
    assert source_of(job.handle(replace(page, alternate_answer=short))) == "markdown"
    assert source_of(job.handle(replace(page, alternate_answer=long))) == "html"
