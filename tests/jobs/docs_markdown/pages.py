"""Pages for the tests of the Markdown: a body in, the Markdown of it out."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from tadoru.jobs.docs.markdown import ConvertOptions, MarkdownDocument, convert
from tadoru.parse.html import HtmlDocument

BASE = "https://docs.example/guide/page.html"
_READER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def converted(body: str, options: ConvertOptions | None = None) -> MarkdownDocument:
    """The whole result for a page with this body."""
    page = f"<!doctype html><html><body>{body}</body></html>"
    document = HtmlDocument.parse(page.encode(errors="surrogatepass"), "text/html; charset=utf-8")
    root = document.tree.body
    assert root is not None
    return convert(root, base=BASE, options=options or ConvertOptions())


def markdown(body: str, options: ConvertOptions | None = None) -> str:
    """Its text, without the line break at the end."""
    return converted(body, options).text.removesuffix("\n")


def fences(text: str) -> list[tuple[str, str]]:
    """The blocks of code that a reader of Markdown finds: language and content."""
    return [(token.info, token.content) for token in _READER.parse(text) if token.type == "fence"]


def read_back(text: str) -> str:
    """The words a reader of Markdown sees, white space collapsed."""
    html = _READER.render(text)
    plain = re.sub(r"<[^>]*>", "", html)
    for name, sign in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        plain = plain.replace(name, sign)
    return " ".join(plain.split())
