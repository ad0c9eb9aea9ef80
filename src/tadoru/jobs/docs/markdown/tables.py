"""Tables: every row with as many cells as the widest, one line each.

Markdown knows one row of headings and no blocks in cells: heading rows are joined, a cell over several rows is repeated in each,
one over several columns leaves the others empty, and lines, lists and code within a cell are put on one line with `<br>`.
What is a table only to lay out a page is written as what it holds, and so is an example with its output beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tadoru.jobs.docs.markdown import kinds
from tadoru.jobs.docs.markdown.code import code_text
from tadoru.jobs.docs.markdown.context import DEEPEST, Context, classes_of, direct
from tadoru.jobs.docs.markdown.pieces import exact_span
from tadoru.parse.html import Element

_WIDEST = 200
_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
_LAYOUT = "table,pre,h1,h2,h3,h4,ul,ol,dl"
_BREAK = "<br>"
_CODE = "pre,div.fragment"
_MOST_EXAMPLES = 3
"""Rows of examples side by side. A longer table is one that is read down its columns."""


@dataclass(slots=True)
class _Rows:
    """The cells of a table, as elements, by row."""

    header: list[list[Element]] = field(default_factory=list)
    body: list[list[Element]] = field(default_factory=list)
    caption: Element | None = None
    left_out: int = 0
    """Rows beyond the bound."""


def table(context: Context, node: Element) -> list[str]:
    """A table as one block, its caption before it; or what it holds, when it only lays things out."""
    rows = _rows(node, context.options.most_table_cells)
    if not rows.header and not rows.body:
        return []
    if _is_layout(node, rows):
        return [block for row in rows.header + rows.body for cell in row for block in context.blocks(cell)]
    if _is_example(rows):
        return _side_by_side(context, rows)
    header, body = _grid(context, rows.header), _grid(context, rows.body)
    if not any(cell for row in header + body for cell in row):
        return []
    context.tables += 1
    width = max(map(len, header + body))
    lines = [_line(_one_header(header), width), _line(_alignments(rows, width), width), *(_line(row, width) for row in body)]
    blocks = ["\n".join(lines)]
    if rows.caption is not None and (caption := context.inline(rows.caption.iter(include_text=True), " ")):
        blocks.insert(0, caption if "**" in caption else f"**{caption}**")
    return blocks + _left_out(rows.left_out)


def grid(context: Context, node: Element) -> list[str] | None:
    """A table made of boxes, as Javadoc has it: the names of its columns, then cell after cell; None when it is none."""
    cells = direct(node)
    names = [cell for cell in cells if "table-header" in classes_of(cell).split()]
    rest = cells[len(names) :]
    if len(names) < 2 or names != cells[: len(names)] or not rest or len(rest) % len(names):
        return None
    context.tables += 1
    rows = [rest[at : at + len(names)] for at in range(0, len(rest), len(names))]
    most = context.options.most_table_cells // len(names)
    lines = [_line([cell_text(context, cell) for cell in row], len(names)) for row in (names, *rows[:most])]
    blocks = ["\n".join([lines[0], _line(["---"] * len(names), len(names)), *lines[1:]])]
    return blocks + _left_out(len(rows) - most)


def _left_out(rows: int) -> list[str]:
    return [f"*The table goes on: {rows} more rows are left out here.*"] if rows > 0 else []


def _rows(node: Element, most_cells: int) -> _Rows:
    found = _Rows()
    cells = 0
    for part in direct(node):
        if part.tag == "caption":
            found.caption = part
        for row in direct(part) if part.tag in _SECTIONS else [part]:
            if row.tag != "tr":
                continue
            if cells > most_cells:
                found.left_out += 1
                continue
            in_row = [cell for cell in direct(row) if cell.tag in {"td", "th"}]
            cells += sum(_span(cell.attributes.get("colspan")) for cell in in_row)
            if in_row:
                (found.header if part.tag == "thead" else found.body).append(in_row)
    if not found.header and found.body and _is_header(found.body):
        found.header.append(found.body.pop(0))
    return found


def _is_header(body: list[list[Element]]) -> bool:
    """Whether the first row names the columns: not when its first cell names the row, as that of the others does."""
    first = body[0]
    if all(cell.tag == "th" for cell in first):
        return len(first) > 1 or len(body) == 1 or any(cell.tag == "td" for cell in body[1])
    return first[0].tag != "th"


def _is_layout(node: Element, rows: _Rows) -> bool:
    everything = rows.header + rows.body
    if node.attributes.get("role") in {"presentation", "none"}:
        return True
    widest = max(map(len, everything))
    if widest == 1:
        return not any(cell.tag == "th" for row in everything for cell in row)
    return (
        len(everything) <= 2
        and any(cell.css_first(_LAYOUT) is not None for row in everything for cell in row if cell.tag == "td")
        and (node.css_first("th") is None and (node.css_first("h1,h2,h3,h4,table") is not None or len(everything) == 1))
    )


def _is_example(rows: _Rows) -> bool:
    """Whether every row is code beside code, as that of an example and what it prints: in cells it would not be what it was."""
    return 0 < len(rows.body) <= _MOST_EXAMPLES and all(map(_is_code_beside_code, rows.body))


def _is_code_beside_code(row: list[Element]) -> bool:
    blocks = [block for cell in row if (block := cell.css_first(_CODE)) is not None]
    return len(blocks) > 1 and any("\n" in code_text(block).strip("\n") for block in blocks)


def _side_by_side(context: Context, rows: _Rows) -> list[str]:
    """The cells one after the other, each below the name of its column."""
    names = _one_header(_grid(context, rows.header))
    blocks: list[str] = []
    for row in rows.body:
        for at, cell in enumerate(row):
            inside = context.blocks(cell)
            if inside and at < len(names) and names[at]:
                blocks.append(names[at] if "**" in names[at] else f"**{names[at]}**")
            blocks.extend(inside)
    return blocks


def _grid(context: Context, rows: list[list[Element]]) -> list[list[str]]:
    """The cells as text, spans filled."""
    grid: list[list[str]] = []
    down: dict[int, tuple[int, str]] = {}
    for row in rows:
        written: list[str] = []
        for cell in row:
            _fill(written, down)
            if len(written) >= _WIDEST:
                break
            attributes = cell.attributes
            content = cell_text(context, cell)
            rowspan, colspan = _span(attributes.get("rowspan")), _span(attributes.get("colspan"))
            for at in range(min(colspan, _WIDEST - len(written))):
                if rowspan > 1:
                    down[len(written)] = (rowspan - 1, "" if at else content)
                written.append("" if at else content)
        _fill(written, down)
        grid.append(written)
    return grid


def _fill(written: list[str], down: dict[int, tuple[int, str]]) -> None:
    """Put in the cells that reach down from rows above."""
    while (at := len(written)) in down:
        left, content = down.pop(at)
        if left > 1:
            down[at] = (left - 1, content)
        # Taken out first and put back below, so that this row sees each of them once.
        written.append(content)


def _span(text: str | None) -> int:
    return min(int(text[:6]), _WIDEST) or 1 if text and text.isascii() and text.isdigit() else 1


def _one_header(header: list[list[str]]) -> list[str]:
    if len(header) < 2:
        return header[0] if header else []
    width = max(map(len, header))
    columns = ([row[at] for row in header if at < len(row) and row[at]] for at in range(width))
    return [" ".join(dict.fromkeys(column)) for column in columns]


def _alignments(rows: _Rows, width: int) -> list[str]:
    marks = {"left": ":---", "right": "---:", "center": ":---:"}
    source = (rows.header or rows.body)[-1 if rows.header else 0]
    if rows.header and rows.body and not any(_alignment(cell) for cell in source):
        source = rows.body[0]
    found = [marks.get(_alignment(cell), "---") for cell in source[:width]]
    return found + ["---"] * (width - len(found))


def _alignment(cell: Element) -> str:
    attributes = cell.attributes
    style = "".join((attributes.get("style") or "").lower().split())
    if "text-align:" in style:
        return style.partition("text-align:")[2].partition(";")[0]
    words = (attributes.get("class") or "").split()
    for side in ("left", "right", "center"):
        if f"text-{side}" in words or f"align-{side}" in words:
            return side
    return (attributes.get("align") or "").lower()


def _line(cells: list[str], width: int) -> str:
    return "| " + " | ".join(cells + [""] * (width - len(cells))) + " |"


def cell_text(context: Context, cell: Element) -> str:
    """A cell on one line, its pipes escaped."""
    return "<br>".join(_pieces(context, cell, 0)).replace("\n", " ").replace("|", "\\|")


def _pieces(context: Context, parent: Element, depth: int) -> list[str]:
    """The lines that a cell, or a block in it, shows."""
    pieces: list[str] = []
    run: list[Element] = []

    def flush() -> None:
        if run and (text := context.inline(run, _BREAK).removeprefix(_BREAK).removesuffix(_BREAK)):
            pieces.append(text)
        run.clear()

    if depth + context.depth > DEEPEST:
        return [" ".join((parent.text() or "").split())]
    for child in parent.iter(include_text=True):
        tag = child.tag or ""
        if tag not in kinds.BLOCKS:
            run.append(child)
            continue
        flush()
        if tag in {"pre", "listing", "xmp"} or kinds.kind_of(tag, classes_of(child)) == kinds.CODE:
            pieces.extend(filter(None, map(exact_span, code_text(child).split("\n"))))
        elif tag == "li":
            marked = "- " if parent.tag != "ol" else f"{1 + sum(piece[:1].isdigit() for piece in pieces)}. "
            pieces.append(marked + "<br>".join(_pieces(context, child, depth + 1)))
        elif tag == "tr":
            pieces.append(" ".join(piece for cell in direct(child) for piece in _pieces(context, cell, depth + 1)))
        elif tag in {"h1", "h2", "h3", "h4", "h5", "h6", "dt"}:
            pieces.extend(f"**{piece}**" for piece in _pieces(context, child, depth + 1))
        else:
            pieces.extend(_pieces(context, child, depth + 1))
    flush()
    return pieces
