"""Text that most pages repeat is taken out; code, and what only some pages say, is not; and no heading is left alone."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.docs.bundle.writer import RepeatedBlocks, drop_repeated

BANNER = "Version 9 is out, read all about it on our weblog today.\n"
FILLER = "This is what page {} is about, and it says so with a good many words of its own.\n"
CODE = "```sh\nexport TOKEN=the-same-on-every-page-of-this-site\n```\n"


def counted(pages: Iterable[str], most: int = 60_000) -> frozenset[int]:
    pages = list(pages)
    seen = RepeatedBlocks(most)
    for markdown in pages:
        seen.add(markdown)
    if seen.needs_recount:
        seen.recount()
        for markdown in pages:
            seen.add(markdown)
    return seen.found()


def alone(text: str) -> int:
    """How many headings have nothing below them."""
    parts = text.split("## H\n")[1:]
    return sum(not part.strip() for part in parts)


def site(pages: int, repeated: int, block: str) -> list[str]:
    return [f"# P{n}\n\n{block + chr(10) if n < repeated else ''}{FILLER.format(n)}" for n in range(pages)]


@pytest.mark.parametrize(
    "pages, on, block, goes",
    [
        pytest.param(10, 6, BANNER, True, id="on 60 % of the pages"),
        pytest.param(10, 5, BANNER, False, id="on half of them"),
        pytest.param(5, 5, BANNER, True, id="on five of five"),
        pytest.param(4, 4, BANNER, False, id="on four of four: too few to tell"),
        pytest.param(10, 10, "Returns:\n", False, id="a short one"),
        pytest.param(10, 10, "この文書は古い版のものです。新しい版をご覧ください。\n", True, id="a Japanese sentence"),
        pytest.param(10, 10, CODE, False, id="code"),
        pytest.param(10, 10, f"## {BANNER}", False, id="a heading"),
        pytest.param(10, 10, f"| {BANNER.strip()} |\n| --- |\n", False, id="a table"),
        pytest.param(10, 10, "| Kettle |  |\n| --- | --- |\n| [Home](/) | [Map](/m) |\n", True, id="a table of links"),
        pytest.param(10, 10, f"- item\n\n  {BANNER}", False, id="inside a list"),
        pytest.param(10, 10, f"[^1]: {BANNER}", False, id="a footnote"),
        pytest.param(10, 10, f"> {BANNER}", True, id="a quotation"),
        pytest.param(10, 10, "The documentation of this class was made of the file:\n", False, id="what announces the next"),
    ],
)
def test_what_most_pages_say_is_taken_out(pages: int, on: int, block: str, goes: bool) -> None:
    texts = site(pages, on, block)
    repeated = counted(texts)
    shorter = [drop_repeated(text, repeated) for text in texts]
    assert shorter == (
        [(f"# P{n}\n\n{FILLER.format(n)}", int(n < on)) for n in range(pages)] if goes else [(t, 0) for t in texts]
    )


def test_what_stands_below_the_same_heading_on_most_pages_is_a_section_they_share() -> None:
    texts = [f"# P{n}\n\n{FILLER.format(n)}\n### `fn boil(self)`\n\n{BANNER}\nAnd more of it.\n" for n in range(6)]
    assert counted(texts) == frozenset()


def test_what_stands_below_headings_that_differ_is_a_banner() -> None:
    texts = [f"# P{n}\n\n{FILLER.format(n)}\n## About {n}\n\n{FILLER.format(-n)}\n{BANNER}" for n in range(6)]
    assert [drop_repeated(text, counted(texts))[1] for text in texts] == [1] * 6


def test_white_space_does_not_make_two_blocks_of_one() -> None:
    texts = [f"{BANNER.replace(' ', chr(10)) if n % 2 else BANNER}\n{FILLER.format(n)}" for n in range(6)]
    repeated = counted(texts)
    assert [drop_repeated(text, repeated)[0] for text in texts] == [FILLER.format(n) for n in range(6)]


def test_a_page_that_says_hardly_anything_else_keeps_its_text() -> None:
    texts = site(6, 6, BANNER)
    assert drop_repeated(f"# Only\n\n{BANNER}\nx\n", counted(texts)) == (f"# Only\n\n{BANNER}\nx\n", 0)


def test_a_block_at_the_end_takes_the_empty_lines_before_it_along() -> None:
    texts = [f"{FILLER.format(n)}\n{CODE}\n{BANNER}" for n in range(6)]
    assert drop_repeated(texts[0], counted(texts))[0] == f"{FILLER.format(0)}\n{CODE}"


def test_a_section_that_says_nothing_else_goes_whole_from_the_end_of_a_page() -> None:
    texts = [f"# P{n}\n\n{FILLER.format(n)}\n## About\n\n### Suite\n\n{BANNER}" for n in range(6)]
    assert drop_repeated(texts[3], counted(texts)) == (f"# P3\n\n{FILLER.format(3)}", 3)


def test_a_section_that_says_nothing_else_stays_whole_within_a_page() -> None:
    texts = [f"# P{n}\n\n## Signals\n\n{BANNER}\n## Properties\n\n{FILLER.format(n)}" for n in range(6)]
    assert drop_repeated(texts[3], counted(texts)) == (texts[3], 0)


def test_a_section_with_more_in_it_loses_what_is_repeated() -> None:
    texts = [f"# P{n}\n\n## Use {n}\n\n{BANNER}\n{FILLER.format(n)}\n## End\n\n{FILLER.format(n + 1)}" for n in range(6)]
    shorter, dropped = drop_repeated(texts[3], counted(texts))
    assert (shorter, dropped) == (texts[3].replace(f"{BANNER}\n", ""), 1)


def test_few_counters_find_the_same_as_many() -> None:
    texts = [f"{text}\n" + "".join(f"Only page {n} says this, as its sentence number {i}.\n\n" for i in range(30))
             for n, text in enumerate(site(40, 30, BANNER))]  # fmt: skip
    assert counted(texts, most=50) == counted(texts) != frozenset()


@given(
    st.lists(
        st.lists(st.sampled_from([BANNER, CODE, "## H\n", FILLER.format(1), FILLER.format(2), "x\n"]), max_size=8),
        min_size=5,
        max_size=12,
    )
)
def test_code_is_never_touched_and_no_heading_is_left_alone(pages: list[list[str]]) -> None:
    texts = ["\n".join(page) for page in pages]
    repeated = counted(texts)
    for page, text in zip(pages, texts, strict=True):
        shorter, dropped = drop_repeated(text, repeated)
        kept = [block for block in page if block in (CODE, "x\n")]
        assert list(chain(part for part in kept if part not in shorter)) == []
        assert alone(shorter) <= alone(text)
        assert (shorter == text) == (dropped == 0)
        assert shorter.count("```") == text.count("```")
