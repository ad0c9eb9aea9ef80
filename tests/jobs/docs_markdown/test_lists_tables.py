"""Lists and tables: what belongs together stays together, every row on its line."""

from __future__ import annotations

import pytest

from tadoru.jobs.docs.markdown import ConvertOptions
from tests.jobs.docs_markdown.pages import converted, markdown

LISTS: dict[str, tuple[str, str]] = {
    "bullets": ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
    "bullets in numbers with code": ("<ol><li>a<ul><li>b <code>c</code></li></ul></li><li>d</li></ol>", "1. a\n   - b `c`\n2. d"),
    "start": ('<ol start="9"><li>a</li><li>b</li></ol>', "9. a\n10. b"),
    "counting down": ("<ol reversed><li>a</li><li>b</li></ol>", "2. a\n1. b"),
    "value": ('<ol><li>a</li><li value="7">b</li><li>c</li></ol>', "1. a\n7. b\n8. c"),
    "letters are numbers": ('<ol type="a"><li>a</li></ol>', "1. a"),
    "a number that is none": ('<ol start="x"><li>a</li></ol>', "1. a"),
    "paragraphs make it loose": ("<ul><li><p>a</p><p>b</p></li><li><p>c</p></li></ul>", "- a\n\n  b\n\n- c"),
    "one paragraph each is tight": ("<ul><li><p>a</p></li><li><p>c</p></li></ul>", "- a\n- c"),
    "code in an item": ("<ol><li><p>a</p><pre>b\n\nc</pre><p>d</p></li></ol>", "1. a\n\n   ```\n   b\n\n   c\n   ```\n\n   d"),
    "a table in an item": (
        "<ul><li>a<table><tr><th>x</th><th>z</th></tr><tr><td>y</td><td>w</td></tr></table></li></ul>",
        "- a\n\n  | x | z |\n  | --- | --- |\n  | y | w |",
    ),
    "three levels": ("<ul><li>a<ul><li>b<ol><li>c</li></ol></li></ul></li></ul>", "- a\n  - b\n    1. c"),
    "a list right below a list": ("<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n  - b\n- c"),
    "a list with nothing but a list": ("<ul><ul><li>b</li></ul></ul>", "- - b"),
    "tasks": (
        '<ul class="contains-task-list"><li><input type="checkbox" checked disabled> done</li><li><label>'
        '<input type="checkbox"> open</label></li></ul>',
        "- [x] done\n- [ ] open",
    ),
    "tasks in paragraphs": ('<ul><li><p><input type="checkbox"> open</p></li></ul>', "- [ ] open"),
    "an item that looks like a task": ("<ul><li>[ ] a</li></ul>", "- \\[ ] a"),
    "an item that looks like a number": ("<ul><li>1. a</li></ul>", "- 1\\. a"),
    "empty items are left out": ("<ul><li></li><li>a</li></ul>", "- a"),
    "two lists": ("<ul><li>a</li></ul><p>x</p><ul><li>b</li></ul>", "- a\n\nx\n\n- b"),
    "two lists side by side": ("<ul><li>a</li></ul><ul><li>b</li></ul>", "- a\n\n- b"),
    "definitions": (
        "<dl><dt>term</dt><dd>what it means</dd><dt>other</dt><dd>this</dd></dl>",
        "- **term**\n  what it means\n- **other**\n  this",
    ),
    "definition in code": ("<dl><dt><code>--all</code></dt><dd>everything</dd></dl>", "- `--all`\n  everything"),
    "terms that share a definition": ("<dl><dt>a</dt><dt>b</dt><dd>c</dd></dl>", "- **a**, **b**\n  c"),
    "definitions with blocks": ("<dl><dt>a</dt><dd><p>b</p><pre>c</pre></dd></dl>", "- **a**\n\n  b\n\n  ```\n  c\n  ```"),
    "definitions in groups": ("<dl><div><dt>a</dt><dd>b</dd></div></dl>", "- **a**\n  b"),
    "an item that is a definition": (
        "<ul><li>a</li><li><dl class=simple><dt><code>zone</code>:</dt><dd><ul><li>b</li><li>c</li></ul></dd></dl></li></ul>",
        "- a\n\n- `zone`:\n\n  - b\n  - c",
    ),
    "fields of Sphinx": (
        '<dl class="field-list simple"><dt class="field-odd">Parameters<span class="colon">:</span></dt>'
        '<dd class="field-odd"><ul class="simple"><li><p><strong>a</strong> (<em>int</em>) – one</p></li>'
        "</ul></dd>"
        '<dt class="field-even">Returns<span class="colon">:</span></dt><dd class="field-even"><p>two</p></dd></dl>',
        "- **Parameters:**\n\n  - **a** (*int*) – one\n\n- **Returns:**\n  two",
    ),
}


@pytest.mark.parametrize("body, expected", LISTS.values(), ids=LISTS)
def test_a_list_keeps_its_order_and_its_levels(body: str, expected: str) -> None:
    assert markdown(body) == expected


HEAD = "| a | b |\n| --- | --- |\n"
TABLES: dict[str, tuple[str, str]] = {
    "simple": (
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>",
        HEAD + "| 1 | 2 |",
    ),
    "first row is the header": ("<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>", HEAD + "| 1 | 2 |"),
    "rows with a name each have no header": (
        "<table><tr><th>a</th><td>1</td></tr><tr><th>b</th><td>2</td></tr></table>",
        "|  |  |\n| --- | --- |\n| a | 1 |\n| b | 2 |",
    ),
    "rows that hold what no name of a column does have no header": (
        "<table><tr><td><code>-v</code></td><td>says more</td></tr><tr><td><code>-q</code></td><td>says less</td></tr></table>",
        "|  |  |\n| --- | --- |\n| `-v` | says more |\n| `-q` | says less |",
    ),
    "rows that are made alike have no header": (
        "<table><tr><td class=name>lid</td><td>on top</td></tr><tr><td class=name>base</td><td>below</td></tr></table>",
        "|  |  |\n| --- | --- |\n| lid | on top |\n| base | below |",
    ),
    "rows of the same widths have no header": (
        "<table><tr><td width='9%'>bf</td><td>bold</td></tr><tr><td width='9%'>it</td><td>italic</td></tr></table>",
        "|  |  |\n| --- | --- |\n| bf | bold |\n| it | italic |",
    ),
    "rows that begin with their name in italics have no header": (
        "<table><tr><td><em>Version</em></td><td>4</td></tr><tr><td><em>Licence</em></td><td>free</td></tr></table>",
        "|  |  |\n| --- | --- |\n| *Version* | 4 |\n| *Licence* | free |",
    ),
    "rows that end in bold have no header": (
        "<table><tr><td>Readable</td><td><b>yes</b></td></tr><tr><td>Writable</td><td><b>no</b></td></tr></table>",
        "|  |  |\n| --- | --- |\n| Readable | **yes** |\n| Writable | **no** |",
    ),
    "a first row in bold is a header": (
        "<table><tr><td><b>a</b></td><td><b>b</b></td></tr><tr><td><b>1</b></td><td>2</td></tr></table>",
        "| **a** | **b** |\n| --- | --- |\n| **1** | 2 |",
    ),
    "one row is no header": ("<table><tr><td>lid</td><td>on top</td></tr></table>", "|  |  |\n| --- | --- |\n| lid | on top |"),
    "columns and rows without a word are left out": (
        "<table><tr><th></th><th>a</th><th>b</th></tr><tr><td></td><td>1</td><td>2</td></tr><tr><td></td><td></td><td></td></tr></table>",
        HEAD + "| 1 | 2 |",
    ),
    "pipes": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>x|y</td><td><code>x|y</code></td></tr></table>",
        HEAD + "| x\\|y | `x\\|y` |",
    ),
    "line breaks, paragraphs and lists": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1<br>2</td><td><p>3</p><ul><li>4</li><li>5</li></ul></td></tr></table>",
        HEAD + "| 1<br>2 | 3<br>- 4<br>- 5 |",
    ),
    "code block in a cell": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td><pre>x\n  y</pre></td><td>2</td></tr></table>",
        HEAD + "| `x`<br>`  y` | 2 |",
    ),
    "cells over columns": ('<table><tr><th>a</th><th>b</th></tr><tr><td colspan="2">1</td></tr></table>', HEAD + "| 1 |  |"),
    "cells over rows": (
        '<table><tr><th>a</th><th>b</th></tr><tr><td rowspan="2">1</td><td>2</td></tr><tr><td>3</td></tr></table>',
        HEAD + "| 1 | 2 |\n| 1 | 3 |",
    ),
    "two rows of headings": (
        '<table><thead><tr><th rowspan="2">a</th><th colspan="2">b</th></tr><tr><th>c</th><th>d</th></tr>'
        "</thead><tr><td>1</td><td>2</td><td>3</td></tr></table>",
        "| a | b c | b d |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
    ),
    "alignment": (
        '<table><tr><th style="text-align: right">a</th><th align="center">b</th></tr><tr><td>1</td><td>2</td></tr></table>',
        "| a | b |\n| ---: | :---: |\n| 1 | 2 |",
    ),
    "caption": (
        "<table><caption>What</caption><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
        "**What**\n\n" + HEAD + "| 1 | 2 |",
    ),
    "a table in a cell": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><table><tr><td>x</td><td>y</td></tr><tr>"
        "<td>z</td><td>w</td></tr></table></td></tr><tr><td>3</td><td>4</td></tr></table>",
        HEAD + "| 1 | x y<br>z w |\n| 3 | 4 |",
    ),
    "short rows are filled": ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td></tr></table>", HEAD + "| 1 |  |"),
    "one column is no table": ("<table><tr><td><p>x</p><p>y</p></td></tr></table>", "x\n\ny"),
    "one column with a heading is one": ("<table><tr><th>a</th></tr><tr><td>1</td></tr></table>", "| a |\n| --- |\n| 1 |"),
    "one cell a row is no table": (
        "<table><tr><td>Boil</td><td></td></tr><tr><td colspan=2><p>Fields</p><ul><li>x</li></ul></td></tr><tr><td>Pour</td>"
        "<td> </td></tr></table>",
        "Boil\n\nFields\n\n- x\n\nPour",
    ),
    "layout by role": (
        '<table role="presentation"><tr><td><h2>x</h2></td><td><pre>y</pre></td></tr></table>',
        "## x\n\n```\ny\n```",
    ),
    "layout by what it holds": (
        "<table><tr><td><ul><li>x</li></ul></td><td><h2>y</h2><p>z</p></td></tr></table>",
        "- x\n\n## y\n\nz",
    ),
    "footer": (
        "<table><thead><tr><th>a</th><th>b</th></tr></thead><tfoot><tr><td>1</td><td>2</td></tr></tfoot></table>",
        HEAD + "| 1 | 2 |",
    ),
    "empty cells": ("<table><tr><th>a</th><th>b</th></tr><tr><td></td><td>2</td></tr></table>", HEAD + "|  | 2 |"),
    "no rows": ("<table></table>", ""),
    "nothing in its cells": ("<table><tr><td></td><td><ul></ul></td></tr><tr><td> </td><td></td></tr></table>", ""),
}


@pytest.mark.parametrize("body, expected", TABLES.values(), ids=TABLES)
def test_a_table_has_all_its_cells_each_row_on_one_line(body: str, expected: str) -> None:
    assert markdown(body) == expected


def test_tables_are_counted_and_layout_is_not() -> None:
    page = converted("<table><tr><th>a</th><th>b</th></tr></table><table><tr><td>x</td></tr></table>")

    assert page.tables == 1


def test_a_huge_table_is_cut_with_a_note() -> None:
    page = converted("<table>" + "<tr><td>1</td><td>2</td></tr>" * 50 + "</table>", ConvertOptions(most_table_cells=20))

    assert page.text.count("| 1 | 2 |") == 11
    assert page.text.endswith("*The table goes on: 39 more rows are left out here.*\n")


def test_a_box_between_the_terms_of_a_list_is_a_part_of_the_description_before_it() -> None:
    body = "<dl><dt>Kind</dt><dd>green</dd><div>Example: <pre>brew\n  tea</pre></div><dt>See also</dt><dd>pots</dd></dl>"

    assert markdown(body) == ("- **Kind**\n\n  green\n\n  Example:\n\n  ```\n  brew\n    tea\n  ```\n\n- **See also**\n  pots")
