"""A page in chunks: by headings and a budget of tokens, or at headings of level 1; code and tables are divided between lines."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.bundle.chunks import ChunkedPage, DocChunk, chunk_files, split_at_titles, split_by_tokens
from tadoru.jobs.docs.bundle.markdown_blocks import split_blocks
from tadoru.jobs.docs.bundle.model import DEFINITION_LEVEL, DocHeading
from tadoru.jobs.docs.bundle.tokens import estimate_tokens

URL = "https://x.example/"
HEADINGS = (DocHeading(1, "Guide", "guide"), DocHeading(2, "Windows", "windows"))
CODE = "```sh\n# one\nmake\n\n# two\nmake test\n```\n\n"
TABLE = "| a | b |\n| --- | --- |\n" + "| some words | more words |\n" * 6 + "\n"
PROSE = "Some words that say a thing about the subject, and then go on for a while.\n\n"
BLOCKS = st.lists(
    st.sampled_from([CODE, TABLE, PROSE, "## Two\n\n", "### Three\n\n", "- a\n- b\n- c\n\n"]), min_size=1, max_size=14
)


@pytest.mark.parametrize(
    "text, expected",
    [
        pytest.param(
            "# A\n\n## A-1\n\n## A-2\n\n# B\n\n## B-1\n",
            ["# A\n\n## A-1\n\n## A-2\n", "# B\n\n## B-1\n"],
            id="the seed's example",
        ),
        pytest.param("# A\n\n```\n# no\n```\n", ["# A\n\n```\n# no\n```\n"], id="a comment in code is no title"),
        pytest.param("lead\n\n# A\n", ["lead\n", "# A\n"], id="text before the first title"),
        pytest.param("\n\n", [], id="nothing"),
    ],
)
def test_chunks_begin_at_titles(text: str, expected: list[str]) -> None:
    assert [chunk.text for chunk in split_at_titles(text)] == expected


def split(text: str, title: str, budget: int, headings: tuple[DocHeading, ...] = ()) -> list[DocChunk]:
    return list(split_by_tokens(text, ChunkedPage(URL, title), headings, budget, estimate_tokens))


def files(text: str, title: str, budget: int, headings: tuple[DocHeading, ...] = ()) -> list[str]:
    """The contents of the files of the chunks."""
    page = ChunkedPage(URL, title)
    chunks = split_by_tokens(text, page, headings, budget, estimate_tokens)
    return [made for _, made, _ in chunk_files(page, chunks, lambda: "chunk.md", estimate_tokens, with_header=True)]


def rows(text: str, headings: tuple[DocHeading, ...], budget: int = 110) -> list[dict[str, Any]]:
    """The lines of chunks.jsonl."""
    page = ChunkedPage(URL, "Guide", ("Manual",), "pages/page-001-guide.md")
    chunks = split_by_tokens(text, page, headings, budget, estimate_tokens)
    return [json.loads(row) for _, _, row in chunk_files(page, chunks, lambda: "chunk.md", estimate_tokens, with_header=True)]


@given(BLOCKS, st.integers(80, 400))
def test_chunks_keep_to_the_budget_and_lose_nothing(parts: list[str], budget: int) -> None:
    text = "# Page\n\n" + "".join(parts)
    made = files(text, "Page", budget)
    bodies = [file.partition("\n\n")[2] for file in made]
    assert [line for line in "".join(bodies).splitlines() if _is_content(line)] == [
        line for line in text.splitlines() if _is_content(line)
    ]
    for file, body in zip(made, bodies, strict=True):
        assert file.startswith(f"> Source: {URL}\n> Path: Page")
        assert estimate_tokens(file) <= budget
        assert body.count("```") == 2 * body.count("```sh")
        assert not body.count("| some words |") or "| a | b |\n| --- |" in body


def _is_content(line: str) -> bool:
    """Whether a line is none of those that are repeated where a block is divided, and not empty."""
    return bool(line) and not line.startswith(("```", "| a |", "| --- |"))


def test_a_code_block_larger_than_the_budget_is_divided_into_fences_of_the_same_language() -> None:
    code = "".join(f"rule_{number}: first_token second_token | 'literal {number}'\n\n" for number in range(200))
    made = split(f"# Grammar\n\nThe rules:\n\n```peg\n{code}```\n\nThe end.\n", "Grammar", 300)
    fences = [block.text for chunk in made for block in split_blocks(chunk.text) if block.kind == "code"]
    assert len(fences) > 5
    assert "".join(fence.partition("\n")[2].rpartition("```")[0] for fence in fences) == code
    assert all(fence.startswith("```peg\n") for fence in fences)
    assert max(estimate_tokens(chunk.text) for chunk in made) <= 300


def test_a_code_block_in_a_quotation_is_divided_too() -> None:
    code = "".join(f"> row {number} of a long report with some words\n" for number in range(200))
    made = split(f"# Report\n\n> ```\n{code}> ```\n", "Report", 300)
    assert len(made) > 5
    assert "".join(line for chunk in made for line in chunk.text.splitlines(keepends=True) if line.startswith("> row")) == code
    assert all(chunk.text.count("> ```\n") == 2 for chunk in made)
    assert max(estimate_tokens(chunk.text) for chunk in made) <= 300


def test_a_chunk_that_begins_at_a_definition_has_its_fragment() -> None:
    entries = "".join(f"```python\nos.call{number}(path, *, flag=None)\n```\n\n{PROSE}" for number in range(6))
    options = "".join(f"- **--option-{number}**\n  {PROSE.strip()}\n" for number in range(6))
    text = f"# os\n\n## Files\n\n{PROSE}{entries}## Options\n\n{options}"
    headings = (
        DocHeading(1, "os", "module-os"), DocHeading(2, "Files", "files"), DocHeading(2, "Options", None),
        *(DocHeading(DEFINITION_LEVEL, f"os.call{number}(path, *, flag=None)", f"os.call{number}") for number in range(6)),
        *(DocHeading(DEFINITION_LEVEL, f"**--option-{number}**", f"opt-{number}") for number in range(6)),
    )  # fmt: skip
    made = rows(text, headings)
    assert "".join(row["text"] for row in made).split() == text.split()
    fragments = ["files", *(f"os.call{number}" for number in range(1, 6)), "opt-0", "opt-2", "opt-4"]
    assert [row["fragment"] for row in made] == fragments
    assert made[-1]["path"] == ["Guide", "os", "Options", "--option-4"]
    again = rows(
        text.replace("os.call0(path, *, flag=None)\n```\n\n", f"os.call0(path, *, flag=None)\n```\n\n{PROSE * 4}"), headings
    )
    assert {row["id"] for row in made[-4:]} <= {row["id"] for row in again}


def test_a_chunk_names_the_headings_that_lead_to_it() -> None:
    text = "# Guide\n\n## Routing\n\n" + PROSE * 3 + "### Dynamic\n\n" + PROSE * 3
    made = files(text, "Guide", 100)
    assert [file.split("\n")[1] for file in made] == ["> Path: Guide > Routing", "> Path: Guide > Routing > Dynamic"]
    assert made[0].split("\n\n")[1:3] == ["# Guide", "## Routing"]


def test_a_chunk_has_its_url_with_the_fragment_its_breadcrumb_and_its_tokens() -> None:
    first, second = rows("# Guide\n\n" + PROSE * 2 + "## Windows\n\n" + PROSE * 2, HEADINGS)
    assert (first["url"], first["fragment"], first["path"]) == (f"{URL}#guide", "guide", ["Guide"])
    assert (second["url"], second["path"], second["breadcrumbs"]) == (f"{URL}#windows", ["Guide", "Windows"], ["Manual"])
    assert second["tokens"] == math.ceil(estimate_tokens(second["text"]))
    assert second["text"].startswith("## Windows\n\nSome words")
    assert (second["title"], second["pageFile"]) == ("Guide", "pages/page-001-guide.md")


def test_the_id_of_a_chunk_stays_when_other_sections_change() -> None:
    before = rows("# Guide\n\n" + PROSE * 2 + "## Windows\n\n" + PROSE * 2, HEADINGS)
    after = rows("# Guide\n\n" + PROSE * 6 + "## Windows\n\n" + PROSE * 2, HEADINGS)
    assert len(after) > len(before) == 2
    assert [before[0]["id"], before[1]["id"]] == [after[0]["id"], after[-1]["id"]]
    assert len({row["id"] for row in after}) == len(after)


def test_fragments_are_found_although_the_page_has_headings_that_its_text_does_not_have() -> None:
    headings = (DocHeading(2, "On this page", "toc"), *HEADINGS, DocHeading(2, "Windows", "windows-2"))
    found = rows("# Guide\n\n" + PROSE * 2 + "## Windows\n\n" + PROSE * 2 + "## *Windows*\n\n" + PROSE * 2, headings)
    assert [row["fragment"] for row in found] == ["guide", "windows", "windows-2"]


def test_a_section_that_does_not_fit_behind_another_begins_a_chunk_with_all_below_it() -> None:
    text = "# Guide\n\n" + PROSE + "## A\n\n" + PROSE * 2 + "## B\n\n" + PROSE + "### B1\n\n" + PROSE + "### B2\n\n" + PROSE
    assert [chunk.path for chunk in split(text, "Guide", 130)] == [("Guide",), ("Guide", "B")]


def test_each_heading_of_level_one_begins_a_chunk() -> None:
    text = "# One\n\nShort.\n\n# Two\n\nShort too.\n"
    assert [chunk.text for chunk in split(text, "One", 800)] == ["# One\n\nShort.\n", "# Two\n\nShort too.\n"]


def test_no_chunk_ends_with_a_heading_whose_text_is_in_the_next() -> None:
    text = "# A\n\n" + PROSE * 4 + "## B\n\n### C\n\n" + PROSE * 3
    first, second = split(text, "A", 120)
    assert "## B" not in first.text
    assert second.text.split("\n\n")[:2] == ["## B", "### C"]


def test_long_prose_is_cut_between_its_lines() -> None:
    text = "# List\n\n" + "".join(f"- entry number {n} of a long list\n" for n in range(100))
    made = files(text, "List", 120)
    assert len(made) > 5
    assert all(estimate_tokens(file) <= 120 for file in made)
    assert sum(file.count("- entry number") for file in made) == 100


def test_a_long_heading_is_not_repeated_whole_in_each_chunk() -> None:
    text = f"# {'word ' * 20_000}\n\n" + "A line of text.\n\n" * 200
    made = files(text, "Page", 100)
    assert len(made) > 20
    assert sum(map(len, made)) < 5 * len(text)


def test_a_table_with_a_header_larger_than_its_rows_is_not_repeated_for_each_of_them() -> None:
    text = f"# Page\n\n| {'word ' * 300} | b |\n| --- | --- |\n" + "| x | y |\n" * 500
    assert sum(len(chunk.text) for chunk in split(text, "Page", 300)) < 2 * len(text)
