"""A hook of mkdocs: links from docs/ to other files of the repository lead to GitHub on the site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
_RELATIVE = re.compile(r"(?<=\]\()(?:\.\./)+[^)\s]*")


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page in which each relative link that leaves docs/ is a URL of the repository."""
    folder = Path(page.file.abs_src_path or "").parent
    docs = Path(config.docs_dir)

    def absolute(link: re.Match[str]) -> str:
        path, _, place = link[0].partition("#")
        target = (folder / path).resolve()
        if target.is_relative_to(docs) or not target.is_relative_to(ROOT) or not target.exists():
            return link[0]
        kind = "tree" if target.is_dir() else "blob"
        return f"{config.repo_url}/{kind}/main/{target.relative_to(ROOT).as_posix()}" + (f"#{place}" if place else "")

    return _RELATIVE.sub(absolute, markdown)
