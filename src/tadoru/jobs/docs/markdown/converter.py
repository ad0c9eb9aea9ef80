"""Converts the blocks of a page to Markdown; `convert` is the entry point of the package.

Elements that only group others are traversed with a stack, however deep they are nested. Special elements are passed to the
module for them, which calls back for their content. Inline content between blocks becomes a paragraph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from tadoru.jobs.docs.markdown import (
    callouts,
    code,
    code_language,
    code_layout,
    element_kinds,
    escape,
    footnotes,
    headings,
    inline,
    lists,
    math,
    tables,
)
from tadoru.jobs.docs.markdown.conversion import MAX_DEPTH, ConversionContext, ConvertOptions, MarkdownDocument, MarkdownTooLong
from tadoru.parse.html import Attributes, Element, tag_ids

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_SPECIAL_TAGS = (
    frozenset(_HEADINGS)
    | code_layout.PREFORMATTED
    | _LISTS
    | {"blockquote", "hr", "dl", "table", "details", "form", "figcaption"}
)
_INLINE_TAGS = frozenset("em strong code b i img br kbd sub sup var cite samp small q abbr time u s".split())
"""Inline elements that contain no blocks on real pages."""
_STYLES = frozenset({"b", "i", "em", "strong", "small"})
"""Of these, those that tag soup has around whole articles."""
_CODE_TAGS = frozenset(tag_ids(code_layout.CODE_TAGS))
_PLAYED = frozenset({"iframe", "video", "audio"})
_CODE_ATTRIBUTES = frozenset({"style", "data-lang", "data-language", "data-code-language"})
"""Attributes that can make an element of any name a block of code."""
_RARE_ATTRIBUTES = _CODE_ATTRIBUTES | callouts.ATTRIBUTES | {"role", "hidden"}
"""Attributes that can make an element something else than its tag and class."""
_NO_TEXT = "script,style,noscript,template,textarea,select,object,iframe,video,audio"
_RULE = "---"
_NO_PART = (_RULE, "#")
_NOTE = "[^"
_NO_PROSE = ("```", "|", "#", "> ", "- ", "$$", "![")
_PARAGRAPH = 20
"""Characters; shorter paragraphs may be repeated on purpose."""
_WORTH_KEEPING = "h1,h2,h3,pre,p,article"


def convert(root: Element, *, base: str, options: ConvertOptions) -> MarkdownDocument:
    """The Markdown of an element. The tree is changed: parts of it are removed on the way."""
    _remove_non_text(root)
    page = BlockConverter(base, options, root)
    page.note_index = footnotes.match_notes(root)
    blocks = _drop_idle_rules(_drop_repeated(page.root_blocks(root)))
    blocks += page.asides
    is_cut = page.remaining < 0 or page.blocks_left < 0
    if is_cut or options.is_partial:
        blocks.append("*The page goes on: the rest is left out here, because it is too long.*")
    if options.title and not any(found.level == 1 for found in page.headings):
        blocks.insert(0, headings.title(page, options.title))
    text = "\n\n".join(blocks)
    return MarkdownDocument(
        text=text + "\n" if text else "",
        headings=tuple(page.headings),
        code_blocks=page.code_blocks,
        tables=page.tables,
        images=page.images,
        links=tuple(page.links),
        is_cut=is_cut,
        left_out=page.left_out(),
        definitions=tuple(page.definitions),
    )


def _drop_repeated(blocks: list[str]) -> list[str]:
    """The blocks without paragraphs that are repeated at the start of the next block, such as summaries."""
    repeated = {at for at, (block, after) in enumerate(pairwise(blocks)) if after.startswith(block) and _is_prose(block)}
    return [block for at, block in enumerate(blocks) if at not in repeated]


def _is_prose(block: str) -> bool:
    return len(block) >= _PARAGRAPH and not block.startswith(_NO_PROSE) and not block[0].isdigit()


def _drop_idle_rules(blocks: list[str]) -> list[str]:
    """The blocks without rules that separate nothing: at the ends, in a row, below a heading, above notes."""
    kept = [
        block
        for block, before, after in zip(blocks, ["#", *blocks], [*blocks[1:], _RULE], strict=False)
        if block != _RULE or not (before.startswith(_NO_PART) or after.startswith(_NOTE))
    ]
    return kept[:-1] if kept and kept[-1] == _RULE else kept


def _remove_non_text(root: Element) -> None:
    """Remove scripts, styles and the like once, so that the text of any element can be used as it is."""
    for element in root.css(_NO_TEXT):
        if element.tag in {"iframe", "video", "audio"}:
            while (inside := element.first_child) is not None and inside.is_text_node:
                inside.decompose()
        elif not math.is_math_script(element, element.tag or ""):
            element.decompose()


class BlockConverter(ConversionContext):
    """Converts blocks, with the shared state of the conversion."""

    def root_blocks(self, root: Element) -> list[str]:
        """The blocks of the root: its content, or itself if it is a special element."""
        try:
            written = self._special(root, root.tag or "") if root.tag in _SPECIAL_TAGS else _WALK_THROUGH
        except MarkdownTooLong:
            return []
        if written is _WALK_THROUGH:
            return self.blocks(root)
        return [] if written is _NOTHING else written

    def inline(self, nodes: Iterable[Element], breaks: str = "  \n") -> str:
        text = inline.render_inline(self, nodes, breaks)
        self.take(len(text))
        return text

    def blocks(self, parent: Element) -> list[str]:
        out: list[str] = []
        self.depth += 1
        try:
            self._walk(parent, out)
        except MarkdownTooLong:
            # Blocks are left out whole: a part could open a fence or a list that is not closed.
            if self.depth > 1:
                raise
        finally:
            self.depth -= 1
        return out

    def _walk(self, parent: Element, out: list[str]) -> None:
        """Append the blocks in an element to `out`."""
        if self.depth > MAX_DEPTH + 1:
            if text := escape.line_starts(escape.text(escape.visible_text(parent.text() or "").strip())):
                out.append(text)
            return
        run: list[Element] = []
        waiting: list[Element | None] = []
        node = parent.first_child
        while True:
            if node is None:
                self._paragraph(run, out)
                if self.depth == 1:
                    self._take_blocks(out)
                if not waiting:
                    break
                node = waiting.pop()
                continue
            following = node.next
            if node.is_text_node:
                if run or not (node.text_content or "").isspace():
                    run.append(node)
            elif node.is_element_node:
                written = self._element(node)
                if written is _INLINE:
                    run.append(node)
                elif written is _WALK_THROUGH:
                    self._paragraph(run, out)
                    waiting.append(following)
                    node = node.first_child
                    continue
                elif written is not _NOTHING:
                    self._paragraph(run, out)
                    out.extend(written)
                    if self.depth == 1:
                        self._take_blocks(out)
            node = following

    def _take_blocks(self, out: list[str]) -> None:
        """Count the blocks that were added at the top level. Raises MarkdownTooLong if there are too many."""
        while self._counted < len(out):
            self.blocks_left -= 1 + out[self._counted].count("\n\n")
            if self.blocks_left < 0:
                del out[self._counted :]
                raise MarkdownTooLong
            self._counted += 1

    def _paragraph(self, run: list[Element], out: list[str]) -> None:
        """Write the collected inline nodes as a paragraph."""
        if not run:
            return
        only = (run[0].text_content or "") if len(run) == 1 and run[0].is_text_node and not self.options.has_tex else "$"
        if "$" not in only:
            text = escape.text(escape.visible_text(only).strip())
            self.take(len(text))
        else:
            for at, node in enumerate(run):
                if node.tag_id in _CODE_TAGS and code_layout.is_code_in_lines(node, node.attributes):
                    before, after = run[:at], run[at + 1 :]
                    self._paragraph(before, out)
                    out.extend(code.code_block(self, node))
                    self._paragraph(after, out)
                    run.clear()
                    return
            text = self.inline(run)
        run.clear()
        if text:
            out.append(escape.line_starts(text))

    def _element(self, node: Element) -> list[str]:
        """The blocks of an element, or one of the three markers for other treatment."""
        tag = node.tag or ""
        attributes = node.attributes
        if self.note_index.notes and (noted := footnotes.note_blocks(self, node)) is not None:
            return noted
        if tag in element_kinds.SKIPPED_TAGS:
            return _INLINE if tag == "script" and math.is_math_script(node, tag) else _NOTHING
        if attributes:
            kind = element_kinds.element_kind(tag, attributes.get("class") or "")
            if not kind and tag in {"div", "p"} and not math.ATTRIBUTES.isdisjoint(attributes):
                kind = element_kinds.BLOCK_MATH
            if kind:
                written = self._of_kind(node, tag, kind)
                if written is not None:
                    return written
            if not _RARE_ATTRIBUTES.isdisjoint(attributes):
                written = self._of_attributes(node, tag, attributes)
                if written is not None:
                    return written
        return self._special(node, tag) if tag in _SPECIAL_TAGS else self._ordinary(node, tag)

    def _of_attributes(self, node: Element, tag: str, attributes: Attributes) -> list[str] | None:
        """Convert an element by another attribute than its class; None if it is converted by its tag."""
        if not callouts.ATTRIBUTES.isdisjoint(attributes) and callouts.is_marked(tag, attributes):
            return callouts.callout(self, node)
        if (role := attributes.get("role")) and (written := self._of_role(node, role)) is not None:
            return written
        if _is_hidden(attributes):
            return _NOTHING
        return code.maybe_code_block(self, node) if not _CODE_ATTRIBUTES.isdisjoint(attributes) else None

    def _ordinary(self, node: Element, tag: str) -> list[str]:
        """Convert an element that is a paragraph, inline content or a group of others."""
        if tag == "p":
            written: list[str] = []
            self._paragraph(list(node.iter(include_text=True)), written)
            return written or _NOTHING
        if tag in _INLINE_TAGS:
            return _WALK_THROUGH if tag in _STYLES and _holds_blocks(node) else _INLINE
        if tag in _PLAYED:
            return [media] if (media := inline.convert_media(self, node, tag)) else _NOTHING
        if tag == "a":
            return self._card(node)
        if tag == "dt":  # Outside a list, as in glossaries of DocBook.
            term = " ".join(self.blocks(node))
            return [_bold(term)] if term and "\n" not in term else _WALK_THROUGH
        return _WALK_THROUGH if tag in element_kinds.BLOCK_TAGS or _holds_blocks(node) else _INLINE

    def _of_role(self, node: Element, role: str) -> list[str] | None:
        """Convert an element by its ARIA role; None if it is converted by its tag."""
        if role == "tablist":
            callouts.keep_labels(self, node)
            return _NOTHING
        if role == "tabpanel":
            return callouts.panel(self, node)
        if role == "heading":
            return headings.heading(self, node, headings.level_of(node.attributes.get("aria-level")))
        return None

    def _of_kind(self, node: Element, tag: str, kind: str) -> list[str] | None:
        """Convert an element by its kind; None if it is converted by its tag."""
        if kind is element_kinds.DROP or kind is element_kinds.PERMALINK:
            return _INLINE if kind is element_kinds.PERMALINK else _NOTHING
        if kind is element_kinds.CALLOUT:
            return callouts.callout(self, node)
        if kind is element_kinds.PANEL:
            return callouts.panel(self, node)
        if kind is element_kinds.GROUP:
            return callouts.group(self, node)
        if kind is element_kinds.LABELS:
            callouts.keep_labels(self, node)
            return _NOTHING
        if kind is element_kinds.LABEL:
            callouts.keep_label(self, node)
            return _NOTHING
        return self._of_rarer_kind(node, tag, kind)

    def _of_rarer_kind(self, node: Element, tag: str, kind: str) -> list[str] | None:
        if (made := _KIND_CONVERTERS.get(kind)) is not None:
            return made(self, node)
        if kind is element_kinds.SIGNATURE and tag != "pre":
            return headings.signature_block(node)
        if kind is element_kinds.DRAWN_MATH:
            return _INLINE
        if kind is element_kinds.BLOCK_MATH or (kind is element_kinds.MATH and _is_display(node, tag)):
            formula = math.block_math(node)
            return [formula] if formula else _NOTHING
        if kind is element_kinds.TITLE:
            title = self.inline(node.iter(include_text=True), " ")
            if code_language.is_language(title) and code_layout.is_label_of_code(node):
                return _NOTHING
            return [_bold(title)] if title else _NOTHING
        if kind is element_kinds.PAGE_TITLE:
            return headings.heading(self, node, 1)
        if kind is element_kinds.MERMAID and node.css_first("svg") is None:
            source = code.code_text(node).strip("\n")
            if source.strip():
                self.code_blocks += 1
                return [code.fence(source, "mermaid")]
        return None

    def _special(self, node: Element, tag: str) -> list[str]:
        """Convert an element whose tag has its own Markdown form."""
        if tag in _HEADINGS:
            return headings.heading(self, node, _HEADINGS[tag])
        if tag in code_layout.PREFORMATTED:
            return code.code_block(self, node)
        if tag in _LISTS:
            return lists.item_list(self, node)
        if tag == "dl":
            return self._described(node)
        if tag == "table":
            return (
                code.code_block(self, node) if code_layout.is_code_block(node, tag, node.attributes) else tables.table(self, node)
            )
        if tag == "blockquote":
            inner = callouts.with_mark("\n\n".join(self.blocks(node)))
            return [self.quoted(inner)] if inner else _NOTHING
        if tag == "details":
            return callouts.details(self, node)
        if tag == "hr":
            return [_RULE]
        if tag == "figcaption":
            caption = self.inline(node.iter(include_text=True), " ")
            return [_bold(caption)] if caption else _NOTHING
        return _WALK_THROUGH if node.css_first(_WORTH_KEEPING) is not None else _NOTHING

    def _described(self, node: Element) -> list[str]:
        if not lists.has_pairs(node):
            return _WALK_THROUGH
        return headings.signature_entries(self, node) if headings.is_signature_list(node) else lists.definitions(self, node)

    def _card(self, node: Element) -> list[str]:
        """A link around blocks: the first of them becomes the link, the others follow."""
        if not _holds_blocks(node) or self.in_link:
            return _INLINE
        href = node.attributes.get("href")
        if not href:  # An unclosed anchor, as in XHTML that is parsed as HTML.
            return _WALK_THROUGH
        target = self.target(href)
        self.in_link = True
        blocks = self.blocks(node)
        self.in_link = False
        if target is None or not blocks:
            return blocks
        if blocks[0].startswith("#") and target.partition("#")[0] == self.here:
            return blocks  # A heading that links to itself (Haddock).
        marks, _, words = blocks[0].partition(" ") if blocks[0].startswith("#") else ("", "", blocks[0])
        if "\n" in words or words.startswith(("- ", "> ", "|", "```")):
            return blocks
        return [f"{marks} [{words}]({target})".strip(), *blocks[1:]]


_KIND_CONVERTERS: dict[str, Callable[[ConversionContext, Element], list[str] | None]] = {
    element_kinds.CODE: code.code_block,
    element_kinds.CODE_BOX: code.maybe_code_block,
    element_kinds.GRID: tables.grid,
    element_kinds.ITEMS: lists.items,
    element_kinds.METHOD: headings.method,
    element_kinds.FOOTNOTE: footnotes.notes,
    element_kinds.EQUATIONS: lambda _, node: math.equations(node),
}
"""Functions for kinds that need nothing else; a result of None leaves an element to its tag."""
_INLINE: list[str] = ["inline"]
_WALK_THROUGH: list[str] = ["open"]
_NOTHING: list[str] = ["nothing"]
"""Markers, compared by identity: collect the element for a paragraph, traverse it, leave it out."""


def _is_display(formula: Element, tag: str) -> bool:
    """Whether a formula is displayed on lines of its own."""
    return tag == "pre" or formula.attributes.get("display") == "true" or formula.attributes.get("data-math-style") == "display"


def _bold(text: str) -> str:
    return text if "**" in text else f"**{text}**"


def _holds_blocks(node: Element) -> bool:
    """Whether an inline element contains blocks; only a few levels and elements are checked."""
    only = node.first_child
    if only is None or (only.is_text_node and only.next is None):
        return False
    below = [node]
    for _ in range(4):
        below = [child for parent in below for child in parent.iter()][:40]
        if not below:
            return False
        if any(child.tag in element_kinds.BLOCK_TAGS for child in below):
            return True
    return False


def _is_hidden(attributes: Attributes) -> bool:
    """Whether an element is never shown. What a click shows, such as a tab panel, is not hidden in this sense."""
    hidden = ("hidden" in attributes and attributes["hidden"] != "until-found") or "display:none" in "".join(
        (attributes.get("style") or "").split()
    )
    if not hidden:
        return False
    return not element_kinds.is_collapsible(
        f"{attributes.get('class') or ''} {attributes.get('id') or ''} {attributes.get('role') or ''}"
    )
