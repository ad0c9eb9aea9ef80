"""What must come through: a page for each thing that converters lose or damage, and exactly its Markdown.

The pages go the whole way, the text found first and written then. `fidelity_research` has what others were measured by,
`fidelity_own` what we found ourselves.
"""

from __future__ import annotations

import pytest

from tadoru.jobs.docs.content import find_main_content
from tadoru.jobs.docs.markdown import ConvertOptions, convert
from tadoru.parse.html import HtmlDocument
from tests.quality import fidelity_own, fidelity_research

URL = "https://docs.example/guide/page.html"
BEFORE = "# Title\n\nIntro.\n\n"


def markdown_of(body: str) -> str:
    """What a page with this in its `<main>` becomes, after its title and first words; one with a `<main>` is the whole body."""
    inside = body if "<main>" in body else f"<main><h1>Title</h1><p>Intro.</p>{body}</main>"
    page = f"<!doctype html><html><head><title>Title</title></head><body>{inside}</body></html>"
    main = find_main_content(HtmlDocument.parse(page.encode(), "text/html; charset=utf-8"), URL)
    text = convert(main.root, base=URL, options=ConvertOptions(title=main.title)).text
    assert text.startswith(BEFORE), text
    return text.removeprefix(BEFORE).removesuffix("\n")


def test_all_of_the_checks_are_here() -> None:
    assert len(fidelity_research.CHECKS) == 38
    assert len(fidelity_own.CHECKS) >= 40


@pytest.mark.parametrize("body, expected", fidelity_research.CHECKS.values(), ids=fidelity_research.CHECKS)
def test_what_others_lose_is_kept(body: str, expected: str) -> None:
    assert markdown_of(body) == expected


@pytest.mark.parametrize("body, expected", fidelity_own.CHECKS.values(), ids=fidelity_own.CHECKS)
def test_what_we_found_is_kept(body: str, expected: str) -> None:
    assert markdown_of(body) == expected
