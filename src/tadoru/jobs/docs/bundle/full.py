"""The whole site as one text: a page at a time, in the seed's form and in that of llms-full.txt."""

from __future__ import annotations

from tadoru.jobs.docs.bundle.base import one_line
from tadoru.jobs.docs.bundle.outline import without_title

SEPARATOR = "\n\n---\n\n"
_EDGES = "\r\n"


def section(title: str, url: str, markdown: str) -> str:
    """A page of full.md: title, source, text; no line end."""
    return f"# {_title(title, url)}\n\n> Source: {url}\n\n{without_title(markdown).strip(_EDGES)}".rstrip()


def llms_section(title: str, url: str, markdown: str) -> str:
    """A page of llms-full.txt, in the form its readers know."""
    return f"# {_title(title, url)}\nSource: {url}\n\n{without_title(markdown).strip(_EDGES)}".rstrip()


def _title(title: str, url: str) -> str:
    return one_line(title) or url
