"""A page that says little: a whole one is kept as it is, and a shell that scripts fill is for a browser."""

from __future__ import annotations

import pytest

from tadoru.engine.job import FetchedPage, PageResult
from tadoru.jobs.docs.job import DocsJob
from tadoru.model.web import Response
from tadoru.rules.scope import Scope

URL = "https://docs.example/kettle.html"
SCRIPT = "<script src=/theme.js></script>"
SPHINX = f"<meta name=generator content='Sphinx 8'>{SCRIPT}<div class=documentwrapper><div class=body>{{}}</div></div>"


def handled(html: str) -> PageResult:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    job = DocsJob(scope=Scope(sites=(URL,)), start=URL)
    response = Response(url=URL, status=200, headers=headers, body=f"<title>Boiling</title>{html}".encode())
    return job.handle(FetchedPage(url=URL, depth=0, response=response))


def test_a_heading_and_a_sentence_where_the_generator_puts_them_are_a_whole_page() -> None:
    found = handled(SPHINX.format("<h1>Boiling</h1><p>See <a href=fill.html>the chapter on filling</a> first.</p>"))

    assert not found.render
    assert found.records is not None
    assert found.records.document is not None
    assert found.records.document.markdown.startswith("# Boiling\n\nSee [the chapter")


def test_a_heading_and_a_sentence_beside_a_menu_are_a_whole_page() -> None:
    menu = "".join(f"<li><a href=/{number}>Chapter {number}</a></li>" for number in range(12))

    assert not handled(f"{SCRIPT}<nav><ul>{menu}</ul></nav><div id=content><h1>Boiling</h1><p>Version 2, May.</p></div>").render


def test_a_sentence_beside_a_menu_is_a_whole_page_without_a_heading_too() -> None:
    menu = "".join(f"<li><a href=/{number}>Chapter {number}</a></li>" for number in range(12))
    page = f"{SCRIPT}<nav><ul>{menu}</ul></nav><main>{{}}</main>"

    assert not handled(page.format("<p>This is the manual of a kettle.</p>")).render
    assert handled(page.format("<p>Fetching your kettle</p>")).render


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(SPHINX.format("<h1>Search</h1><div id=search-results></div>"), id="the search of Sphinx"),
        pytest.param(
            f"{SCRIPT}<body class=rustdoc><section id=main-content><h1>Settings</h1><a id=back>Back</a></section>",
            id="the settings of rustdoc",
        ),
    ],
)
def test_a_tool_of_the_generator_is_neither_kept_nor_rendered(html: str) -> None:
    found = handled(html)

    assert not found.render
    assert found.records is not None
    assert found.records.document is None


def test_a_section_on_the_results_of_a_search_is_no_tool() -> None:
    section = "<div class=section id=search-results><h2>Search results</h2><p>They are listed by how hot they are.</p></div>"
    found = handled(SPHINX.format(f"<h1>Boiling</h1>{section}"))

    assert found.records is not None
    assert found.records.document is not None


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(
            SPHINX.format("<h1>Boiling</h1><p>Loading, this may take a moment or two …</p>"), id="it says that it loads"
        ),
        pytest.param(SPHINX.format("<h1>Boiling</h1><p>Welcome.</p>"), id="no sentence"),
        pytest.param(SPHINX.format("<p>See the chapter on filling the kettle first.</p>"), id="no heading"),
        pytest.param(f"{SCRIPT}<div id=app><h1>Boiling</h1><p>See the chapter on filling first.</p></div>", id="no known place"),
    ],
)
def test_anything_less_is_for_a_browser(html: str) -> None:
    assert handled(html).render


def test_a_short_page_without_scripts_is_never_for_a_browser() -> None:
    assert not handled("<h1>Boiling</h1>").render
