"""Files of a documentation site that can be fetched whole. Only these names are known, so that no path comes from a request."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tadoru.serve.docs_sites.sites import DocsSite
from tadoru.serve.problems import Refused

MARKDOWN, PLAIN, JSON = "text/markdown; charset=utf-8", "text/plain; charset=utf-8", "application/json"
FILES = {
    "full.md": MARKDOWN, "llms.txt": PLAIN, "llms-full.txt": PLAIN, "index.json": JSON, "SKILL.md": MARKDOWN,
    "changes.md": MARKDOWN,
}  # fmt: skip
"""Each with its type."""
CHUNKS = "chunks"


@dataclass(frozen=True, slots=True)
class Download:
    """A file to send."""

    path: Path
    media_type: str
    name: str


def download(site: DocsSite, name: str) -> Download:
    """A file of the site by one of the known names. Raises Refused when it has none."""
    media_type = FILES.get(name)
    path = site.folder / name if media_type is not None else None
    if media_type is None or path is None or path.is_symlink() or not path.is_file():
        known = ", ".join(FILES)
        raise Refused(404, f"The site {site.id} has no such file: there are {known} once it was crawled with them.")
    return Download(path, media_type, f"docs-{site.id}-{name}")


def chunk(site: DocsSite, number: int) -> Download:
    """A piece of the site by its number. Raises Refused."""
    name = f"chunk-{number:03}.md"
    path = site.folder / CHUNKS / name
    if path.parent.is_symlink() or path.is_symlink() or not path.is_file():
        raise Refused(404, f"The site {site.id} has no chunk {number}.")
    return Download(path, MARKDOWN, f"docs-{site.id}-{name}")


def available(site: DocsSite) -> list[tuple[str, int]]:
    """Which of the files are there, each with its size in bytes."""
    paths = ((name, site.folder / name) for name in FILES)
    return [(name, path.stat().st_size) for name, path in paths if path.is_file() and not path.is_symlink()]
