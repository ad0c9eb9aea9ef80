"""From the part of a page that is its documentation to Markdown: one walk over the tree, written by ourselves.

`convert` is the door. `serialise` walks the blocks and `inline` what stands in a line; every other module knows one kind of
thing (code, tables, lists, callouts, tabs, math, signatures, footnotes, media). What of a page is documentation is decided
before, in `content`; files are written after, in `bundle`.

Code is written into its fence once. There is no pass over finished text, so nothing can change what stands in a fence.
"""

from tadoru.jobs.docs.markdown.conversion import ConvertOptions, MarkdownDocument, MarkdownHeading
from tadoru.jobs.docs.markdown.converter import convert

__all__ = ["ConvertOptions", "MarkdownDocument", "MarkdownHeading", "convert"]
