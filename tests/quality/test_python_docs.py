"""The documentation of Python as Debian ships it (`python3-doc`): each block of code byte for byte, with its source's language.

A sample of the pages, when the package is installed.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from textwrap import dedent

import pytest

from tadoru.jobs.docs.markdown import ConvertOptions, convert
from tadoru.jobs.docs.markdown.code_language import language_name
from tadoru.parse.html import HtmlDocument
from tests.jobs.docs_markdown.pages import fences

HTML = Path("/usr/share/doc/python3-doc/html")
SAMPLE = 9
"""One page of so many."""
_EXPLICIT = re.compile(
    r"^( *)\.\. (?:code-block|sourcecode|code):: *(\S+)\n((?:\1 +:[^\n]*\n)*)\n((?:\1 +[^\n]*\n|\s*\n)+)", re.MULTILINE
)

pytestmark = pytest.mark.skipif(not (HTML / "_sources").is_dir(), reason="python3-doc is not installed")

Page = tuple[Path, list[str], list[tuple[str, str]]]
"""A page, the text of each `<pre>` in it, and the fences of its Markdown."""


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    found: list[Page] = []
    for path in sorted(HTML.rglob("*.html"))[::SAMPLE]:
        document = HtmlDocument.parse(path.read_bytes(), "text/html; charset=utf-8")
        body = document.tree.css_first("div.body")
        if body is None:
            continue
        blocks = [pre.text() or "" for pre in body.css("pre")]
        markdown = convert(body, base=f"https://docs.example/{path.relative_to(HTML)}", options=ConvertOptions())
        assert "¶" not in markdown.text
        found.append((path, blocks, fences(markdown.text)))
    return found


def test_every_block_of_code_is_byte_exact_in_a_fence(pages: list[Page]) -> None:
    kept = total = 0
    for _, blocks, found in pages:
        left = Counter(content for _, content in found)
        for block in blocks:
            total += 1
            content = block if block.endswith("\n") else block + "\n"
            kept += left[content] > 0
            left[content] -= 1

    assert total > 400
    assert kept / total >= 0.99


def test_explicit_code_blocks_have_the_language_of_their_source(pages: list[Page]) -> None:
    right = total = 0
    for path, _, found in pages:
        source = HTML / "_sources" / path.relative_to(HTML).with_suffix(".rst.txt")
        if not source.is_file():
            continue
        languages = {content.strip(): language for language, content in found}
        for match in _EXPLICIT.finditer(source.read_text() + "\n"):
            code = dedent(match.group(4)).strip()
            if code in languages:
                total += 1
                right += languages[code] == language_name(match.group(2))

    assert total > 10
    assert right / total >= 0.98
