"""Headings, code, tables and prose of a Markdown text: nothing inside a fence is a heading, and no byte is lost."""

from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.bundle.markdown_blocks import (
    find_code_spans,
    plain_text,
    replace_outside_code,
    split_blocks,
    split_sections,
    strip_title,
)

LINES = st.sampled_from([
    "", "", "# One", "## Two ##", "#", "#no", "text", "more text", "```", "````", "```py", "~~~", "> ```", "> # in", ">", "- ```",
    "- item", "  ```", "    ```", "    # code", "| a | b |", "===", "---", "1. x", "\t", "`` ` ``", "    ", "日本語",
])  # fmt: skip


@given(st.lists(LINES).map("\n".join) | st.text())
def test_the_blocks_of_a_text_are_the_text(text: str) -> None:
    assert "".join(block.text for block in split_blocks(text)) == text
    assert "".join(section.text for section in split_sections(text, "T")) == text


@given(
    st.lists(LINES.filter(lambda line: "`" not in line and "~" not in line), max_size=12), st.sampled_from(["", "- ", "> ", "  "])
)
def test_nothing_inside_a_fence_is_a_heading(lines: list[str], container: str) -> None:
    inner = "".join(f"{container.replace('-', ' ')}{line}\n" for line in lines)
    text = f"# Top\n\n{container}````sh\n{inner}{container.replace('-', ' ')}````\n\n## After\n"
    assert [block.title for block in split_blocks(text) if block.kind == "heading"] == ["Top", "After"]


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("# A\n## B\ntext\n", [(1, "A"), (2, "B")], id="headings need no empty lines around them"),
        pytest.param("A\n===\n\nB\n---\n", [(1, "A"), (2, "B")], id="underlined headings"),
        pytest.param("text\n\n---\n\nmore\n", [], id="a rule is no heading"),
        pytest.param("| a |\n---\n", [], id="nor is a row with a line below it"),
        pytest.param("1. a\n---\n", [], id="nor an item"),
        pytest.param("#tag\n\n####### seven\n\n    # code\n", [], id="what only looks like one"),
        pytest.param("```\n# a\n", [], id="a fence that is never closed"),
        pytest.param("```a`b\n# H\n", [(1, "H")], id="backticks after backticks are no fence"),
        pytest.param("````\n```\n# a\n````\n# H\n", [(1, "H")], id="a shorter fence does not close"),
        pytest.param("```\n~~~\n# a\n```\n# H\n", [(1, "H")], id="nor does the other sign"),
        pytest.param("```\n- ```\n# a\n```\n# H\n", [(1, "H")], id="nor a mark behind a list sign"),
        pytest.param("```\n    ```\n# a\n```\n# H\n", [(1, "H")], id="nor one that is indented like code"),
        pytest.param("> ```\n> # a\n\n# H\n", [(1, "H")], id="the end of a quotation closes its fence"),
        pytest.param("    ```\n\n# H\n", [(1, "H")], id="indented marks are code, not a fence"),
        pytest.param("- a\n\n      ```\n      # a\n      ```\n\n# H\n", [(1, "H")], id="deep in a list they are a fence"),
        pytest.param("# `a` [b](c(d)) **e** f\\_g #\n", [(1, "a b e f_g")], id="as a reader sees it"),
        pytest.param("#\n", [(1, "")], id="an empty one"),
        pytest.param("# C#\n", [(1, "C#")], id="a sign that belongs to the name"),
        pytest.param("# a\r\n\r\n```\r\n# b\r\n```\r\n", [(1, "a")], id="line ends of Windows"),
    ],
)
def test_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert [(block.level, block.title) for block in split_blocks(text) if block.kind == "heading"] == expected


def test_a_section_knows_the_headings_above_it() -> None:
    text = "lead\n\n# Page\n\n## A\n\n#### Deep\n\n## B\n\n# Other\n"
    assert [section.path for section in split_sections(text, "Page")] == [
        ("Page",), ("Page",), ("Page", "A"), ("Page", "A", "Deep"), ("Page", "B"), ("Page", "Other"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param("# T\n\nbody\n", "body\n", id="the first heading"),
        pytest.param("\n\n# T\nbody\n", "body\n", id="after empty lines"),
        pytest.param("lead\n\n# T\n", "lead\n\n# T\n", id="not a later one"),
        pytest.param("## T\n", "## T\n", id="not a lower one"),
        pytest.param("```\n# T\n```\n", "```\n# T\n```\n", id="not code"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_the_title_of_a_page_can_be_left_out(text: str, expected: str) -> None:
    assert strip_title(text) == expected


@pytest.mark.parametrize("text", ["*a " * 400, "[a" * 500, "`a``" * 250, "_" * 1000, "[](" * 300], ids=lambda text: text[:4])
def test_a_hostile_heading_is_read_all_the_same(text: str) -> None:
    assert isinstance(plain_text(text * 100), str)


@pytest.mark.parametrize(
    "text, code",
    [
        ("a `b` c", ["`b`"]),
        ("``a ` b`` c", ["``a ` b``"]),
        ("`a`` b` c", ["`a`` b`"]),
        ("`` a ` b", []),
        ("`` ` a`", ["` a`"]),
        ("`a` `b`", ["`a`", "`b`"]),
    ],
)
def test_code_in_a_line_ends_at_the_next_run_of_as_many_backticks(text: str, code: list[str]) -> None:
    assert [text[start:end] for start, end, _ in find_code_spans(text)] == code


@pytest.mark.parametrize(
    "text, expected",
    [
        ("[a](b) `[a](b)` [a](b)", "[a](B) `[a](b)` [a](B)"),
        ("`` [a](b)", "`` [a](B)"),
        ("```\n[a](b)\n```\n\n[a](b)", "```\n[a](b)\n```\n\n[a](B)"),
        ("`a` [a](b) `b`", "`a` [a](B) `b`"),
        ("- [a](b)\n  ```\n  [a](b)\n  ```\n  [a](b)\n", "- [a](B)\n  ```\n  [a](b)\n  ```\n  [a](B)\n"),
        ("> [a](b)\n>\n> ```\n> [a](b)\n> ```\n", "> [a](B)\n>\n> ```\n> [a](b)\n> ```\n"),
        (
            "1. a\n\n    - [a](b)\n\n      ```\n      [a](b)\n      ```\n",
            "1. a\n\n    - [a](B)\n\n      ```\n      [a](b)\n      ```\n",
        ),
        ("text\n\n    [a](b)\n", "text\n\n    [a](b)\n"),
    ],
)
def test_code_is_left_alone(text: str, expected: str) -> None:
    assert replace_outside_code(text, re.compile(r"\(b"), lambda found: found[0].upper()) == expected


def test_a_text_of_many_lines_is_split_in_little_memory() -> None:
    text = "ab\n\n" * 60_000
    tracemalloc.start()
    try:
        count = sum(len(block.text) for block in split_blocks(text))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == len(text)
    assert peak < 3_000_000
