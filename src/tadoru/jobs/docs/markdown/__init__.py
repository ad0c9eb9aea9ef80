"""Converts the main content of a page to Markdown in one walk over its tree.

The entry point is `convert`. `converter` walks over the blocks and `inline` over inline content; the other modules each convert
one kind of element (code, tables, lists, callouts, tabs, math, signatures, footnotes). The main content is found in `content`;
files are written in `bundle`.

Code is written into its fence once. There is no pass over finished text that could change it.
"""

from tadoru.jobs.docs.markdown.conversion import ConvertOptions, MarkdownDocument, MarkdownHeading
from tadoru.jobs.docs.markdown.converter import convert

__all__ = ["ConvertOptions", "MarkdownDocument", "MarkdownHeading", "convert"]
