"""Sites built by Sphinx, MkDocs and VitePress from sources of ours: what the sources say is what the Markdown says.

The truth is read from the sources. Each site is built once and kept (`tests/support/built`).
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from tadoru.jobs.docs.content import find_main_content
from tadoru.jobs.docs.markdown import ConvertOptions, MarkdownDocument, convert
from tadoru.parse.html import HtmlDocument
from tests.support.built import marked, rst, written
from tests.support.built.builders import SOURCES, SPHINX_THEMES, built_mkdocs, built_sphinx, built_vitepress, has_node
from tests.support.built.truth import Code, ExpectedPage
from tests.support.built.written import MarkdownContent

SITES = (*SPHINX_THEMES, "mkdocs", "vitepress")
EXACT, NAMED = 0.99, 0.98
"""The floors for code: byte for byte, and with its language. Nothing may be less; the tests below hold every single block."""
GENERATORS = {
    "alabaster": "sphinx",
    "furo": "sphinx-furo",
    "sphinx_rtd_theme": "sphinx-readthedocs",
    "pydata_sphinx_theme": "sphinx-pydata",
    "sphinx_book_theme": "sphinx-pydata",
    "mkdocs": "mkdocs-material",
    "vitepress": "vitepress",
}
MARKS = {
    mark: kinds.split()
    for mark, kinds in {
        "NOTE": "note info seealso todo admonition abstract question example quote pied-piper details",
        "TIP": "tip hint success",
        "IMPORTANT": "important",
        "WARNING": "warning attention bug",
        "CAUTION": "caution danger error failure",
    }.items()
}
GENERATED = {"api", "domains", "definitions"}
"""Pages with signatures, which are code in the Markdown and no code in the source."""
_PLAIN = {"text", "txt"}
FURNITURE = (
    "¶", "\uf0c1", "🔗", "⚓", "\u200b", "Copy", "On this page", "Edit", "Skip to", "Previous", "Next", "Contents", "Built with",
    "Made with", "Search", "Back to top", "Powered by", "Made of steel", "The kettle makers", "View page source", "Show Source",
    "[source]", "Permalink", "Return to top",
)  # fmt: skip


class Page(NamedTuple):
    """A page three times over: what its source says, its Markdown, and what a reader finds in that."""

    name: str
    truth: ExpectedPage
    generator: str | None
    markdown: MarkdownDocument
    written: MarkdownContent


def page_of(source: Path, truth: ExpectedPage, html: Path) -> Page:
    url = f"https://kettle.example/{source.stem}.html"
    main = find_main_content(HtmlDocument.parse(html.read_bytes(), "text/html; charset=utf-8"), url)
    markdown = convert(main.root, base=url, options=ConvertOptions(title=main.title))
    return Page(source.stem, truth, main.generator, markdown, written.read(markdown.text))


@cache
def pages_of(site: str) -> list[Page]:
    if site == "mkdocs":
        folder = built_mkdocs()
        sources = sorted((SOURCES / "mkdocs" / "docs").glob("*.md"))
        files = [folder / ("index.html" if source.stem == "index" else f"{source.stem}/index.html") for source in sources]
        return [page_of(source, marked.read_mkdocs(source), file) for source, file in zip(sources, files, strict=True)]
    if site == "vitepress":
        if not has_node():
            pytest.skip("VitePress needs node and npm, which are not installed")
        folder = built_vitepress()
        sources = sorted((SOURCES / "vitepress").glob("*.md"))
        return [page_of(source, marked.read_vitepress(source), folder / f"{source.stem}.html") for source in sources]
    folder = built_sphinx(site)
    return [
        page_of(source, rst.read(source), folder / f"{source.stem}.html") for source in sorted((SOURCES / "sphinx").glob("*.rst"))
    ]


def is_same_language(told: str | None, found: str) -> bool:
    """Whether two names mean one language: by name, or because one lexer of Pygments has both."""
    if told in {None, "none"}:
        return found in {"", "text"}
    assert told is not None
    if told in _PLAIN:
        return found in _PLAIN
    try:
        return told == found or (bool(found) and get_lexer_by_name(told).name == get_lexer_by_name(found).name)
    except ClassNotFound:
        return False


GUESSED = {"heat = 96\nprint(heat)\n": "python"}
"""Blocks without a language that are certainly in the default language of their site."""


def unmatched(page: Page) -> tuple[list[Code], list[Code], list[tuple[Code, str | None]]]:
    """Blocks of the source without an equal in the Markdown, the other way round, and equal ones with another language."""
    left = list(page.written.codes)
    missing, wrong = [], []
    for code in page.truth.codes:
        equal = [block for block in left if block.text == code.text]
        language = GUESSED.get(code.text, code.language)
        right = [block for block in equal if is_same_language(language, block.language or "")]
        if not equal:
            missing.append(code)
            continue
        left.remove((right or equal)[0])
        if not right:
            wrong.append((code, equal[0].language))
    return missing, left, wrong


@pytest.mark.parametrize("site", SITES)
def test_the_generator_is_recognised_on_every_page(site: str) -> None:
    pages = pages_of(site)
    assert len(pages) >= 12
    assert {page.generator for page in pages} == {GENERATORS[site]}


@pytest.mark.parametrize("site", SITES)
def test_the_figures_of_a_site_are_above_their_floors(site: str) -> None:
    pages = pages_of(site)
    blocks = sum(len(page.truth.codes) for page in pages)
    exact = blocks - sum(len(unmatched(page)[0]) for page in pages)
    named = exact - sum(len(unmatched(page)[2]) for page in pages)
    tables, callouts, tabs = (
        sum(len(found) for found in each)
        for each in zip(*((page.truth.grids, page.truth.callouts, page.truth.tabs) for page in pages), strict=True)
    )
    print(
        f"{site}: {len(pages)} pages; {exact} of {blocks} blocks byte for byte, {named} of {exact} with their language; "
        f"{tables} tables, {callouts} admonitions, {tabs} tabs"
    )
    assert exact / blocks >= EXACT
    assert named / exact >= NAMED


@pytest.mark.parametrize("site", SITES)
def test_every_block_of_code_is_there_byte_for_byte(site: str) -> None:
    pages = pages_of(site)
    assert {page.name: unmatched(page)[0] for page in pages if unmatched(page)[0]} == {}
    assert sum(len(page.truth.codes) for page in pages) >= 55


@pytest.mark.parametrize("site", SITES)
def test_every_block_of_code_has_its_language(site: str) -> None:
    pages = pages_of(site)
    assert {page.name: unmatched(page)[2] for page in pages if unmatched(page)[2]} == {}
    assert len({code.language for page in pages for code in page.truth.codes}) >= 20


@pytest.mark.parametrize("site", SITES)
def test_nothing_else_becomes_code(site: str) -> None:
    assert {page.name: unmatched(page)[1] for page in pages_of(site) if unmatched(page)[1] and page.name not in GENERATED} == {}


@pytest.mark.parametrize("site", SITES)
def test_every_table_has_its_rows_and_columns(site: str) -> None:
    pages = [page for page in pages_of(site) if page.name not in GENERATED]
    assert {page.name: page.written.grids for page in pages} == {page.name: page.truth.grids for page in pages}
    assert sum(len(page.truth.grids) for page in pages) >= 6


@pytest.mark.parametrize("site", SITES)
def test_every_admonition_is_kept_with_its_kind(site: str) -> None:
    marks = {kind: mark for mark, kinds in MARKS.items() for kind in kinds}
    pages = [page for page in pages_of(site) if page.name not in GENERATED]
    assert {page.name: page.written.callouts for page in pages} == {
        page.name: [marks[kind] for kind in page.truth.callouts] for page in pages
    }
    assert sum(len(page.truth.callouts) for page in pages) >= 15


@pytest.mark.parametrize("site", SITES)
def test_every_tab_has_its_label_in_order(site: str) -> None:
    pages = [page for page in pages_of(site) if page.truth.tabs]
    assert {page.name: [label for label in page.written.labels if label in page.truth.tabs] for page in pages} == {
        page.name: page.truth.tabs for page in pages
    }
    assert sum(len(page.truth.tabs) for page in pages) >= 7


@pytest.mark.parametrize("site", SITES)
def test_every_heading_is_there_and_no_other(site: str) -> None:
    pages = [page for page in pages_of(site) if page.name not in {"index", "api"}]
    assert {page.name: [(heading.level, heading.text) for heading in page.markdown.headings] for page in pages} == {
        page.name: page.truth.headings for page in pages
    }


@pytest.mark.parametrize("site", SITES)
def test_every_sentence_is_there(site: str) -> None:
    pages = pages_of(site)
    lost = [(page.name, sentence) for page in pages for sentence in page.truth.sentences if sentence not in page.markdown.text]
    assert lost == []
    assert sum(len(page.truth.sentences) for page in pages) >= 20


@pytest.mark.parametrize("site", SITES)
def test_no_furniture_of_the_site_is_left(site: str) -> None:
    found = [
        (page.name, sign, line) for page in pages_of(site) for line in page.written.prose for sign in FURNITURE if sign in line
    ]
    assert found == []


@pytest.mark.parametrize("site", SITES)
def test_a_page_without_links_has_none_afterwards(site: str) -> None:
    for page in pages_of(site):
        if page.name in {"languages", "odd", "sessions", "groups", "alerts", "containers"}:
            assert page.markdown.links == (), page.name


def test_a_page_is_the_same_in_every_theme_of_sphinx() -> None:
    first = {page.name: page.markdown.text for page in pages_of(SPHINX_THEMES[0])}
    assert len(first) >= 15
    for theme in SPHINX_THEMES[1:]:
        assert {page.name: page.markdown.text for page in pages_of(theme)} == first, theme


@pytest.mark.parametrize("theme", SPHINX_THEMES)
def test_the_signatures_of_an_api_are_code_and_their_words_stand_apart(theme: str) -> None:
    blocks = Counter(code for page in pages_of(theme) if page.name in {"api", "domains"} for code in page.written.codes)
    for language, line in (
        ("python", "class kettle.Kettle(capacity: float = 1.7, *, keep_warm: bool = False)"),
        ("python", "fill(litres: float, /) -> float"),
        ("python", "classmethod of(names: Iterable[str], sizes: dict[str, tuple[int, ...]] | None = None) -> list[Kettle]"),
        ("python", "async kettle.boil(kettle: Kettle, degrees: float = 100.0, *args: str, **more: object) -> bool"),
        ("python", "property hot: bool"),
        ("pycon", ">>> Kettle().fill(0.5)\n0.5"),
        ("python", "await boil(Kettle(), 96.5)"),
        ("c", "int kettle_heat(struct kettle *k, double degrees)"),
        ("cpp", "template<typename T> std::vector<T> boil(const T &kettle, int n = 1) noexcept"),
        ("javascript", "boil(kettle[, degrees=100])"),
    ):
        assert blocks[Code(language, line + "\n")] == 1, line


WORDING: dict[str, tuple[str, str, str]] = {
    "a formula of MathJax": ("furo", "math", "The energy is $E = m c \\Delta T$, and $a_1 * b_2 < c$ too."),
    "a formula of several lines": ("furo", "math", "$$\n\\begin{split}a &= b + c \\\\\n  &= d\\end{split}\n$$"),
    "a formula through arithmatex": ("mkdocs", "math", "$$\nP = \\frac{E}{t}\n$$"),
    "a formula of KaTeX": ("vitepress", "math", "The energy is $E = m c \\Delta T$, and $a_1 * b_2 < c$ too."),
    "a formula that is only drawn": ("vitepress", "math", "Here $x^2$ is drawn.\n\n$$\nP = \\frac{E}{t}\n$$"),
    "a note and its reference": ("furo", "notes", "Tea is old [^2] and good [^1], as is said [^Tea]."),
    "a note of two paragraphs": ("furo", "notes", "[^1]: Very good.\n\n    In two paragraphs."),
    "a citation": ("furo", "notes", "[^Tea]: The book of tea."),
    "notes of MkDocs": ("mkdocs", "notes", "Tea is old[^1] and good[^2]."),
    "notes of VitePress": ("vitepress", "notes", "[^2]: Very good.\n\n    In two paragraphs."),
    "tasks of MkDocs": ("mkdocs", "lists", "- [x] fill\n- [ ] heat\n  - [x] a little\n  - [ ] a lot"),
    "tasks of VitePress": ("vitepress", "lists", "- [x] fill\n- [ ] heat"),
    "lists in lists": ("furo", "lists", "- one\n  - one and a half\n    - one and three quarters"),
    "a list that begins with three": ("vitepress", "lists", "3. three\n4. four"),
    "code in a list in a list": ("furo", "nesting", "   - not too much\n\n     ```yaml\n     heat:\n       - 96\n     ```"),
    "a note in a warning": ("mkdocs", "nesting", "> > [!NOTE]\n> > **Inside**\n> >\n> > A note in a warning, with code:"),
    "a title with code": ("vitepress", "containers", "> [!TIP]\n> **A title with `code`**\n>\n> And text."),
    "a table in a box": ("furo", "nesting", "> | Cup | Pot |\n> | --- | --- |\n> | 1 | 2 |"),
    "a list in a cell": ("furo", "tables", "| Spout | - pours<br>- drips |"),
    "code in a cell": ("furo", "tables", "| `kettle on` | `heat`<br>`wait` |"),
    "a block of code in a cell": (
        "furo",
        "tables",
        "See [Languages](https://kettle.example/languages.html).<br>`kettle --keep-warm` |",
    ),
    "pipes in a cell": ("furo", "tables", "| Odd \\| one | 30 | a pipe \\| in a cell |"),
    "alignment": ("mkdocs", "tables", "| :--- | :---: | ---: |"),
    "a cell over two rows": ("furo", "spans", "| two rows | d | e |\n| two rows | f | g |"),
    "a cell over three columns": ("furo", "spans", "| all of it is one cell |  |  |"),
    "a caption of code": ("furo", "lines", "**Listing 1 kettle.ini**\n\n```ini\n[kettle]\non = yes\n```"),
    "a title of code": ("mkdocs", "lines", "**kettle.py**\n\n```python\nkettle.fill()\nkettle.heat()\n```"),
    "a term with its class": ("furo", "definitions", "- **lid : part**\n"),
    "two terms": ("furo", "definitions", "- **scale**, **limescale**\n  What stays."),
    "two descriptions": ("mkdocs", "definitions", "- **spout**\n\n  Pours.\n\n  Drips."),
    "a rubric": ("furo", "definitions", "**A rubric**"),
    "a topic": ("furo", "admonitions", "**A topic**\n\nBeside the point."),
    "what was added when": ("furo", "admonitions", "Added in version 1.2: The lid."),
    "a picture": ("furo", "pictures", "![A kettle on its base](https://kettle.example/_images/kettle.png)"),
    "the title of a card": ("furo", "pictures", "**A card**\n\nAbout languages."),
    "lines marked as changed": ("vitepress", "lines", "```diff\n kettle.fill(); \n-kettle.heat(90); \n+kettle.heat(100); \n"),
    "the reference of mkdocstrings": ("mkdocs", "api", "## `kettle.boil(degrees=100.0, *, keep_warm=False)`"),
    "a reference to another page": ("mkdocs", "index", "[the tables](https://kettle.example/tables/#aligned)"),
    "signs that are no marks": ("furo", "lists", "2\\*3\\*4, a_b_c, \\<not a tag>, #5."),
    "keys": ("furo", "lists", "`Ctrl`+`C`, H<sub>2</sub>O, E=mc<sup>2</sup>"),
}


@pytest.mark.parametrize("site, name, expected", WORDING.values(), ids=WORDING)
def test_it_is_written_as_a_reader_expects(site: str, name: str, expected: str) -> None:
    assert expected in next(page for page in pages_of(site) if page.name == name).markdown.text
