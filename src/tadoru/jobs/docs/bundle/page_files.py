"""A page as text: its file with frontmatter, and its sections of full.md and llms-full.txt."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tadoru.jobs.docs.bundle.markdown_blocks import strip_title
from tadoru.jobs.docs.bundle.model import StoredDoc, one_line

# Characters that JSON does not escape and YAML does not allow: controls, unusual line ends, the byte order mark, lone surrogates.
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def page_frontmatter(doc: StoredDoc, *, digest: str, tokens: int, crawled_at: str) -> dict[str, object]:
    """The frontmatter of a page. It has no validators: a server may change them although the page is the same."""
    fields: dict[str, object | None] = {
        "title": one_line(doc.title) or doc.url,
        "url": doc.url,
        "description": one_line(doc.metadata.description or "") or None,
        "keywords": one_line(doc.metadata.keywords or "") or None,
        "crawledAt": crawled_at,
        "hash": digest,
        "depth": doc.depth,
        "tokens": tokens,
        "language": doc.language,
        "generator": doc.generator,
        "version": doc.version,
        "breadcrumbs": [one_line(crumb) for crumb in doc.breadcrumbs] or None,
        "source": doc.source,
    }
    return {key: value for key, value in fields.items() if value is not None}


def render_page_file(fields: Mapping[str, object], markdown: str) -> str:
    """The file of a page: frontmatter that any YAML parser accepts, and Markdown."""
    head = "".join(f"{key}: {_scalar(value)}\n" for key, value in fields.items())
    return f"---\n{head}---\n\n{markdown}"


def _scalar(value: object) -> str:
    """A value as JSON, which YAML parses as the same value."""
    return _NOT_PRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))


def page_body(file: str) -> str:
    """The Markdown of a page file, without the frontmatter that `render_page_file` wrote."""
    end = file.find("\n---\n\n", 3)
    return file[end + 6 :] if file.startswith("---\n") and end >= 0 else file


FULL_SEPARATOR = "\n\n---\n\n"
_LINE_ENDS = "\r\n"


def full_section(title: str, url: str, markdown: str) -> str:
    """A page of full.md: title, source URL and text, without a final line break."""
    return f"# {_title(title, url)}\n\n> Source: {url}\n\n{strip_title(markdown).strip(_LINE_ENDS)}".rstrip()


def llms_full_section(title: str, url: str, markdown: str) -> str:
    """A page of llms-full.txt, in its usual format."""
    return f"# {_title(title, url)}\nSource: {url}\n\n{strip_title(markdown).strip(_LINE_ENDS)}".rstrip()


def _title(title: str, url: str) -> str:
    return one_line(title) or url
