"""A site in pieces: at headings of level 1, or by a budget of tokens; code and tables stay whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.bundle.chunks import split_at_titles, split_by_tokens
from tadoru.jobs.docs.bundle.markdown_blocks import split_blocks
from tadoru.jobs.docs.bundle.tokens import estimate_tokens

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
def test_pieces_begin_at_titles(text: str, expected: list[str]) -> None:
    assert list(split_at_titles(text)) == expected


@given(BLOCKS, st.integers(60, 400))
def test_pieces_keep_to_the_budget_and_lose_nothing(parts: list[str], budget: int) -> None:
    text = "# Page\n\n" + "".join(parts)
    pieces = list(split_by_tokens(text, "Page", "https://x.example/", budget, estimate_tokens))
    bodies = [piece.partition("\n\n")[2] for piece in pieces]
    assert "".join("".join(bodies).split()) == "".join(text.split())
    for piece, body in zip(pieces, bodies, strict=True):
        assert piece.startswith("> Source: https://x.example/\n> Path: Page")
        assert estimate_tokens(piece) <= budget or len([block for block in split_blocks(body) if block.kind != "heading"]) == 1
        assert body.count("```") % 2 == 0
        assert body.count("| --- |") * 6 == body.count("| some words |")


def test_a_piece_names_the_headings_that_lead_to_it() -> None:
    text = "# Guide\n\n## Routing\n\n" + PROSE * 3 + "### Dynamic\n\n" + PROSE * 3
    pieces = list(split_by_tokens(text, "Guide", "https://x.example/", 100, estimate_tokens))
    assert [piece.split("\n")[1] for piece in pieces] == ["> Path: Guide > Routing", "> Path: Guide > Routing > Dynamic"]
    assert pieces[0].split("\n\n")[1:3] == ["# Guide", "## Routing"]


def test_no_piece_ends_with_a_heading_whose_text_is_in_the_next() -> None:
    text = "# A\n\n" + PROSE * 4 + "## B\n\n### C\n\n" + PROSE * 3
    first, second = split_by_tokens(text, "A", "https://x.example/", 110, estimate_tokens)
    assert "## B" not in first
    assert second.split("\n\n")[1:3] == ["## B", "### C"]


def test_long_prose_is_cut_between_its_lines() -> None:
    text = "# List\n\n" + "".join(f"- entry number {n} of a long list\n" for n in range(100))
    pieces = list(split_by_tokens(text, "List", "https://x.example/", 120, estimate_tokens))
    assert len(pieces) > 5
    assert all(estimate_tokens(piece) <= 120 for piece in pieces)
    assert sum(piece.count("- entry number") for piece in pieces) == 100


def test_a_long_heading_is_not_repeated_whole_in_each_piece() -> None:
    text = f"# {'word ' * 20_000}\n\n" + "A line of text.\n\n" * 200
    pieces = list(split_by_tokens(text, "Page", "https://x.example/", 100, estimate_tokens))
    assert len(pieces) > 20
    assert sum(map(len, pieces)) < 5 * len(text)
