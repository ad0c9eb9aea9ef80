"""Images, video and what is embedded: an image with its description, anything else as a link to it."""

from __future__ import annotations

from tadoru.jobs.docs.markdown import escape
from tadoru.jobs.docs.markdown.context import Context
from tadoru.parse.html import Element, collapsed


def written(context: Context, node: Element, tag: str) -> str:
    """The Markdown of an image or an embedded thing; empty when there is nothing to say about it."""
    if tag == "picture":
        image = node.css_first("img")
        return _image(context, image) if image is not None else ""
    return _image(context, node) if tag == "img" else _embedded(context, node)


def _image(context: Context, node: Element) -> str:
    attributes = node.attributes
    alt = escape.text(escape.seen(attributes.get("alt") or "").strip(), in_link=True)
    if "math" in (attributes.get("class") or "").split() and attributes.get("alt"):
        return f"${collapsed(attributes.get('alt') or '')}$"
    if not alt and not context.options.decorative_images:
        return ""
    source = attributes.get("src") or ""
    if not source or source.startswith("data:"):
        source = attributes.get("data-src") or attributes.get("data-original") or ""
    url = context.address(source) if source else None
    if url is None:
        return alt
    context.images += 1
    return f"![{alt}]({url.replace('(', '%28').replace(')', '%29')})"


def _embedded(context: Context, node: Element) -> str:
    attributes = node.attributes
    source = attributes.get("src") or attributes.get("data-src")
    if not source:
        inner = node.css_first("source")
        source = inner.attributes.get("src") if inner is not None else None
    target = context.target(source) if source else None
    if not target:
        return ""
    title = escape.text(escape.seen(attributes.get("title") or attributes.get("aria-label") or "").strip(), in_link=True)
    return f"[{title}]({target})" if title else f"<{target}>"
