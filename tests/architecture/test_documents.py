"""The documents: every link in them leads somewhere, and the README says the same in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "bench").glob("*.md"), *(ROOT / "examples").rglob("*.md")]
)
_FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def blocks(document: Path) -> list[tuple[str, str]]:
    """What stands between fences, with the language that is named, but for remarks after commands."""
    return [
        (language, re.sub(r" +# .*$", "", text, flags=re.MULTILINE))
        for language, text in _FENCED.findall(document.read_text("utf-8"))
    ]


def anchors(document: Path) -> set[str]:
    """The places of a document that a link can name, as GitHub makes them of its titles."""
    text = _FENCED.sub("", document.read_text("utf-8"))
    titles = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def lost_links(document: Path) -> list[str]:
    """The links of a document that lead to no file or place of this repository."""
    lost = []
    for target in _LINK.findall(_FENCED.sub("", document.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, place = target.partition("#")
        there = (document.parent / unquote(path)).resolve() if path else document
        if not there.exists() or (place and there.suffix == ".md" and place not in anchors(there)):
            lost.append(target)
    return lost


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda one: one.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(document: Path) -> None:
    assert lost_links(document) == []


def test_a_lost_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A title\n[here](#a-title) [gone](#b) [gone](other.md) [web](https://example.com)\n```\n[code](x)\n```\n", "utf-8"
    )
    assert lost_links(page) == ["#b", "other.md"]


def test_both_languages_of_the_readme_have_the_same_examples() -> None:
    english, japanese = blocks(ROOT / "README.md"), blocks(ROOT / "README.ja.md")
    assert len(english) >= 7
    assert japanese == english


def test_both_languages_of_the_readme_have_the_same_sections() -> None:
    def levels(name: str) -> list[str]:
        return re.findall(r"^#+ ", _FENCED.sub("", (ROOT / name).read_text("utf-8")), re.MULTILINE)

    assert levels("README.ja.md") == levels("README.md")
