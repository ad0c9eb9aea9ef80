"""Converts tables: every row with as many cells as the widest, one line each.

Markdown has one header row and no blocks in cells: header rows are joined, a cell over several rows is repeated in each, one over
several columns leaves the others empty, and lines, lists and code in a cell are put on one line with `<br>`. Layout tables are
written as their content, and so are examples with their output beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tadoru.jobs.docs.markdown import code_layout, element_kinds
from tadoru.jobs.docs.markdown.code import code_text
from tadoru.jobs.docs.markdown.conversion import MAX_DEPTH, ConversionContext, child_elements, classes_of
from tadoru.jobs.docs.markdown.inline import exact_span
from tadoru.parse.html import Element, is_leaf

_MAX_COLUMNS = 200
_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
_LAYOUT = "table,pre,h1,h2,h3,h4,ul,ol,dl"
_BREAK = "<br>"
_CODE = "pre,div.fragment"
_NOT_IN_COLUMN_NAMES = "a[href],code,tt,samp,kbd,pre,div.fragment,img,ul,ol,dl,table"
"""Elements that do not occur in column names."""
_MAX_COLUMN_NAME = 60
_MAX_EXAMPLE_ROWS = 3
"""Rows of code beside code that are written as examples; a longer table is a table."""


@dataclass(slots=True)
class _Rows:
    """The cells of a table by row."""

    header: list[list[Element]] = field(default_factory=list)
    body: list[list[Element]] = field(default_factory=list)
    caption: Element | None = None
    left_out: int = 0
    """Rows beyond the limit."""
    heading: Element | None = None
    """A cell over all columns with a heading (Doxygen), which is written above the table."""
    notes: list[Element] = field(default_factory=list)
    """Cells with the footnotes of the table (DocBook), which are written below it."""


def table(context: ConversionContext, node: Element) -> list[str]:
    """A table as one block with its caption before it, or the content of a layout table."""
    rows = _rows(node, context.options.most_table_cells)
    above = context.blocks(rows.heading) if rows.heading is not None else []
    if not rows.header and not rows.body:
        return above
    if _is_layout(node, rows):
        return above + [block for row in rows.header + rows.body for cell in row for block in context.blocks(cell)]
    if _is_example(rows):
        return above + _side_by_side(context, rows)
    if numbers := _numbers(rows):
        return above + _numbered(context, rows, numbers)
    header, body = _grid(context, rows.header, repeats=len(rows.header) > 1), _grid(context, rows.body)
    body = [row for row in body if any(row)] or body
    width = max(map(len, header + body), default=0)
    names = _one_header(header)
    kept = [at for at in range(width) if any(at < len(row) and row[at] for row in (names, *body))]
    if not kept:
        return above
    context.take(3 * len(kept) * (len(body) + 2))
    context.tables += 1
    lines = [_line(_cells(row, kept), len(kept)) for row in (names, _alignments(rows, width), *body)]
    blocks = ["\n".join(lines)]
    if rows.caption is not None and (caption := context.inline(rows.caption.iter(include_text=True), " ")):
        blocks.insert(0, caption if "**" in caption else f"**{caption}**")
    return above + blocks + _rows_left_out(rows.left_out) + [block for note in rows.notes for block in context.blocks(note)]


def _cells(row: list[str], kept: list[int]) -> list[str]:
    """The cells of a row in the columns that are kept; columns without any text are dropped."""
    return [row[at] if at < len(row) else "" for at in kept]


def grid(context: ConversionContext, node: Element) -> list[str] | None:
    """A table made of `<div>` cells (Javadoc): column names, then cell after cell; None if it is not one."""
    cells = child_elements(node)
    names = [cell for cell in cells if "table-header" in classes_of(cell).split()]
    rest = cells[len(names) :]
    if len(names) < 2 or names != cells[: len(names)] or not rest or len(rest) % len(names):
        return None
    context.tables += 1
    rows = [rest[at : at + len(names)] for at in range(0, len(rest), len(names))]
    most = context.options.most_table_cells // len(names)
    lines = [_line([cell_text(context, cell) for cell in row], len(names)) for row in (names, *rows[:most])]
    blocks = ["\n".join([lines[0], _line(["---"] * len(names), len(names)), *lines[1:]])]
    return blocks + _rows_left_out(len(rows) - most)


def _rows_left_out(rows: int) -> list[str]:
    return [f"*The table goes on: {rows} more {'row is' if rows == 1 else 'rows are'} left out here.*"] if rows > 0 else []


def _rows(node: Element, most_cells: int) -> _Rows:
    found = _Rows()
    cells = 0
    for part in child_elements(node):
        if part.tag == "caption":
            found.caption = part
        if part.tag in _SECTIONS and "footnotes" in classes_of(part).split():
            found.notes += part.css("td")
            continue
        for row in child_elements(part) if part.tag in _SECTIONS else [part]:
            if row.tag != "tr":
                continue
            if cells > most_cells:
                found.left_out += 1
                continue
            in_row = [cell for cell in child_elements(row) if cell.tag in {"td", "th"}]
            if not found.header and not found.body and found.heading is None and _is_heading(in_row):
                found.heading = in_row[0]
                continue
            cells += sum(_span(cell.attributes.get("colspan")) for cell in in_row)
            if in_row:
                (found.header if part.tag == "thead" else found.body).append(in_row)
    if not found.header and found.body and _is_header(found.body):
        found.header.append(found.body.pop(0))
    return found


def _is_heading(row: list[Element]) -> bool:
    """Whether a row is one cell over several columns with a heading and nothing else."""
    if len(row) != 1 or _span(row[0].attributes.get("colspan")) < 2:
        return False
    inside = row[0].css_first("h1,h2,h3,h4,h5,h6")
    return inside is not None and (inside.text() or "").strip() == (row[0].text() or "").strip()


def _is_header(body: list[list[Element]]) -> bool:
    """Whether the first row has the column names; not if its first cell is a row header like those of the other rows."""
    first = body[0]
    if all(cell.tag == "th" for cell in first):
        return len(first) > 1 or len(body) == 1 or any(cell.tag == "td" for cell in body[1])
    return first[0].tag != "th" and len(body) > 1 and not _is_like_next(first, body[1])


def _is_like_next(row: list[Element], following: list[Element]) -> bool:
    """Whether a row of ordinary cells is not a header: it has what no column name has, or the markup of the next row."""
    if any(
        cell.css_first(_NOT_IN_COLUMN_NAMES) is not None or len((cell.text() or "").strip()) > _MAX_COLUMN_NAME for cell in row
    ):
        return True
    makes = [_cell_markup(cell) for cell in row]
    return any(makes) and makes == [_cell_markup(cell) for cell in following]


def _cell_markup(cell: Element) -> str:
    """The markup of a cell without its content."""
    return f"{classes_of(cell)} {cell.attributes.get('width') or ''} {'*' * _is_emphasised(cell)}".strip()


def _is_emphasised(cell: Element) -> bool:
    mark = None if is_leaf(cell) else cell.css_first("b,strong,em,i")
    return mark is not None and (mark.text() or "").strip() == (cell.text() or "").strip()


def _is_layout(node: Element, rows: _Rows) -> bool:
    everything = rows.header + rows.body
    if node.attributes.get("role") in {"presentation", "none"}:
        return True
    widest = max(map(len, everything))
    if node.css_first("th") is None and all(sum(map(_is_filled, row)) <= 1 for row in everything):
        return True  # At most one filled cell in each row: lines, not a table.
    if widest == 1:
        return len(everything) == 1 or not any(cell.tag == "th" for row in everything for cell in row)
    return (
        len(everything) <= 2
        and any(cell.css_first(_LAYOUT) is not None for row in everything for cell in row if cell.tag == "td")
        and node.css_first("th") is None
    )


def _is_filled(cell: Element) -> bool:
    return bool((cell.text() or "").strip()) or (not is_leaf(cell) and cell.css_first("img") is not None)


def _is_example(rows: _Rows) -> bool:
    """Whether every row is code beside code, such as an example and its output, which cells would distort."""
    return 0 < len(rows.body) <= _MAX_EXAMPLE_ROWS and all(map(_is_code_beside_code, rows.body))


def _is_code_beside_code(row: list[Element]) -> bool:
    blocks = [block for cell in row if not is_leaf(cell) and (block := cell.css_first(_CODE)) is not None]
    return len(blocks) > 1 and any("\n" in code_text(block).strip("\n") for block in blocks)


def _side_by_side(context: ConversionContext, rows: _Rows) -> list[str]:
    """The cells one after another, each below its column name."""
    names = _one_header(_grid(context, rows.header))
    blocks: list[str] = []
    for row in rows.body:
        for at, cell in enumerate(row):
            inside = context.blocks(cell)
            if inside and at < len(names) and names[at]:
                blocks.append(names[at] if "**" in names[at] else f"**{names[at]}**")
            blocks.extend(inside)
    return blocks


def _numbers(rows: _Rows) -> list[str]:
    """The row numbers of a list of explanations, each an image (DocBook); empty for any other table."""
    pictures = [row[0].css_first("img") if len(row) == 2 and not (row[0].text() or "").strip() else None for row in rows.body]
    numbers = [(picture.attributes.get("alt") or "").strip("() ") if picture is not None else "" for picture in pictures]
    return numbers if not rows.header and all(number.isdecimal() and len(number) < 4 for number in numbers) else []


def _numbered(context: ConversionContext, rows: _Rows, numbers: list[str]) -> list[str]:
    """The explanations as a list with the numbers in the code."""
    return [
        "\n\n".join(
            f"{number}. " + context.indented("\n\n".join(context.blocks(row[1])), len(number) + 2)
            for number, row in zip(numbers, rows.body, strict=True)
        )
    ]


def _grid(context: ConversionContext, rows: list[list[Element]], *, repeats: bool = False) -> list[list[str]]:
    """The cells as text, with row and column spans filled; `repeats`: a cell over several columns is repeated in each."""
    grid: list[list[str]] = []
    down: dict[int, tuple[int, str]] = {}
    for row in rows:
        written: list[str] = []
        for cell in row:
            _fill_rowspans(context, written, down)
            if len(written) >= _MAX_COLUMNS:
                break
            attributes = cell.attributes
            content = cell_text(context, cell)
            rowspan, colspan = _span(attributes.get("rowspan")), _span(attributes.get("colspan"))
            for at in range(min(colspan, _MAX_COLUMNS - len(written))):
                shown = content if repeats or not at else ""
                if rowspan > 1:
                    down[len(written)] = (rowspan - 1, shown)
                context.take(len(shown) if at else 0)
                written.append(shown)
        _fill_rowspans(context, written, down)
        grid.append(written)
    return grid


def _fill_rowspans(context: ConversionContext, written: list[str], down: dict[int, tuple[int, str]]) -> None:
    """Add the cells that span down from the rows above."""
    while (at := len(written)) in down:
        left, content = down.pop(at)
        if left > 1:
            down[at] = (left - 1, content)
        # Removed first and added again, so that this row gets each of them once.
        context.take(len(content))
        written.append(content)


def _span(text: str | None) -> int:
    return min(int(text[:6]), _MAX_COLUMNS) or 1 if text and text.isascii() and text.isdigit() else 1


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


def cell_text(context: ConversionContext, cell: Element) -> str:
    """A cell on one line, its pipes escaped."""
    return "<br>".join(_cell_lines(context, cell, 0)).replace("\n", " ").replace("|", "\\|")


def _cell_lines(context: ConversionContext, parent: Element, depth: int) -> list[str]:
    """The lines of a cell or of a block in it."""
    pieces: list[str] = []
    run: list[Element] = []

    def flush() -> None:
        if run and (text := context.inline(run, _BREAK).removeprefix(_BREAK).removesuffix(_BREAK)):
            pieces.append(text)
        run.clear()

    if depth + context.depth > MAX_DEPTH:
        return [" ".join((parent.text() or "").split())]
    for child in parent.iter(include_text=True):
        tag = child.tag or ""
        if tag not in element_kinds.BLOCK_TAGS:
            run.append(child)
            continue
        flush()
        if code_layout.is_code_block(child, tag, child.attributes):
            pieces.extend(filter(None, map(exact_span, code_text(child).split("\n"))))
        elif tag == "li":
            marked = "- " if parent.tag != "ol" else f"{1 + sum(piece[:1].isdigit() for piece in pieces)}. "
            pieces.append(marked + "<br>".join(_cell_lines(context, child, depth + 1)))
        elif tag == "tr":
            pieces.append(" ".join(piece for cell in child_elements(child) for piece in _cell_lines(context, cell, depth + 1)))
        elif tag in {"h1", "h2", "h3", "h4", "h5", "h6", "dt"}:
            pieces.extend(f"**{piece}**" for piece in _cell_lines(context, child, depth + 1))
        else:
            pieces.extend(_cell_lines(context, child, depth + 1))
    flush()
    return pieces
