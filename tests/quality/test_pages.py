"""Small pages in the markup of each generator: exactly their text is found, and what they say of their place in the site.

`pages/NAME.html` is the page and `pages/NAME.txt` its text, pieces separated by one space. Everything that is not text has
the word FURNITURE in it, or is one of the phrases that sites use.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tadoru.jobs.docs.content import MainContent, find_main_content
from tadoru.parse.html import HtmlDocument

PAGES = Path(__file__).parent / "pages"
NAMES = sorted(file.stem for file in PAGES.glob("*.html"))
URL = "https://docs.test/guide/boil.html"
SITE = "https://docs.test"


class Place(NamedTuple):
    """What is to be read besides the text."""

    generator: str | None
    title: str = "Boil water"
    crumbs: tuple[str, ...] = ()
    navigation: tuple[tuple[str, int], ...] = ()
    next: str | None = None
    prev: str | None = None
    version: str | None = None


PLACES = {
    "antora": Place("antora", crumbs=("Kettle", "Boil water"), navigation=(("/guide/unpack.html", 0), ("/guide/tea.html", 0))),
    "bookdown": Place(
        "bookdown",
        "0.1 Boil water",
        navigation=(("/guide/index.html", 0), ("/guide/boil.html", 1), ("/guide/tea.html", 0)),
        next="/guide/tea.html",
        prev="/guide/index.html",
    ),
    "docbook": Place("docbook", "Chapter 2. Boil water", next="/guide/tea.html", prev="/guide/unpack.html"),
    "docsy": Place(
        "docsy", crumbs=("Docs", "Boil water"), navigation=(("/docs/unpack/", 0), ("/docs/unpack/box/", 1), ("/docs/tea/", 0))
    ),
    "docusaurus": Place(
        "docusaurus",
        crumbs=("Guide", "Boil water"),
        navigation=(("/docs/unpack", 0), ("/docs/teas", 0), ("/docs/teas/green", 1)),
        next="/docs/teas",
        version="2.1",
    ),
    "docusaurus_1": Place("docusaurus-1", navigation=(("/docs/unpack", 0), ("/docs/tea", 0)), next="/docs/tea"),
    "doxygen": Place("doxygen"),
    "gitbook_streamed": Place("gitbook", navigation=(("/unpack", 0), ("/tea", 0))),
    "github": Place("github"),
    "japanese": Place(None, "お湯を沸かす", crumbs=("ホーム", "お湯を沸かす")),
    "javadoc_new": Place("javadoc", "Class Kettle"),
    "javadoc_old": Place("javadoc", "Class Kettle"),
    "just_the_docs": Place("just-the-docs", crumbs=("Guide", "Boil water"), navigation=(("/unpack/", 0), ("/tea/", 0))),
    "mandoc": Place("mandoc", "kettle(1)"),
    "mdbook": Place(
        "mdbook",
        navigation=(("/guide/unpack.html", 0), ("/guide/boil.html", 0), ("/guide/tea.html", 1)),
        next="/guide/tea.html",
        prev="/guide/unpack.html",
    ),
    "mediawiki": Place("mediawiki", "Kettle"),
    "mintlify": Place("mintlify", navigation=(("/unpack", 0), ("/boil", 0), ("/tea", 0))),
    "mkdocs_material": Place("mkdocs-material", navigation=(("/unpack/", 0), ("/guide/", 1), ("/tea/", 1)), next="/tea/"),
    "nextra": Place("nextra", crumbs=("Docs",), navigation=(("/unpack", 0), ("/tea", 0))),
    "rustdoc": Place("rustdoc", "Struct Kettle", crumbs=("kettle",)),
    "sphinx_classic": Place("sphinx", next="/guide/tea.html", prev="/guide/unpack.html", version="2.1"),
    "sphinx_furo": Place(
        "sphinx-furo",
        navigation=(("/guide/unpack.html", 0), ("/guide/tea.html", 0), ("/guide/green.html", 1)),
        next="/guide/tea.html",
    ),
    "sphinx_pydata": Place(
        "sphinx-pydata",
        crumbs=("Manual", "Boil water"),
        navigation=(("/guide/unpack.html", 0), ("/guide/tea.html", 0)),
        next="/guide/tea.html",
    ),
    "sphinx_readthedocs": Place(
        "sphinx-readthedocs",
        crumbs=("Guide", "Boil water"),
        navigation=(("/guide/unpack.html", 0), ("/guide/boil.html", 0)),
        next="/guide/tea.html",
        version="stable",
    ),
    "starlight": Place("starlight", navigation=(("/unpack/", 0), ("/green/", 1)), next="/tea/"),
    "texinfo": Place("texinfo", "2 Boil water", next="/guide/Tea.html", prev="/guide/Unpack.html"),
    "unknown_with_main": Place(None),
    "unknown_without_main": Place(None),
    "vitepress": Place("vitepress", navigation=(("/guide/unpack", 0), ("/guide/boil", 0), ("/guide/tea", 0)), next="/guide/tea"),
    "vuepress": Place("vuepress", navigation=(("/unpack.html", 0), ("/tea.html", 0))),
}


def found(name: str) -> MainContent:
    return find_main_content(HtmlDocument.parse((PAGES / f"{name}.html").read_bytes(), "text/html; charset=utf-8"), URL)


def test_every_page_has_its_expectations() -> None:
    assert sorted(PLACES) == NAMES == sorted(file.stem for file in PAGES.glob("*.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_exactly_the_text_is_found(name: str) -> None:
    document = HtmlDocument.parse((PAGES / f"{name}.html").read_bytes(), "text/html; charset=utf-8")
    main = find_main_content(document, URL)
    assert " ".join(main.root.text(separator=" ").split()) == (PAGES / f"{name}.txt").read_text("utf-8").strip()


@pytest.mark.parametrize("name", NAMES)
def test_the_page_knows_its_place(name: str) -> None:
    main, place = found(name), PLACES[name]
    assert main.generator == place.generator
    assert main.title == place.title
    assert main.breadcrumbs == place.crumbs
    assert tuple((item.url.removeprefix(SITE), item.level) for item in main.navigation) == place.navigation
    assert (main.next_url, main.prev_url) == tuple(step and SITE + step for step in (place.next, place.prev))
    assert main.version == place.version
    assert main.language == ("ja" if name == "japanese" else "en")


@pytest.mark.parametrize("name", NAMES)
def test_every_page_says_why(name: str) -> None:
    main = found(name)
    assert 0 < main.confidence <= 1
    assert main.reason
