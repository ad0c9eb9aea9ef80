"""What is different between two versions: every line accounted for, and the words that changed."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from tadoru.serve.docs_sites.sites import CONTEXT_LINES, MAX_LINES, diff_markdown
from tests.support.properties import examples

LINES = st.lists(st.sampled_from(["", "a", "b c", "b d", "# e", "the kettle sings", "the kettle sang", "f" * 500]), max_size=40)


@examples(200, deadline=None)
@given(old=LINES, new=LINES)
def test_the_new_version_is_the_old_one_with_the_hunks_carried_out(old: list[str], new: list[str]) -> None:
    found = diff_markdown("\n".join(old), "\n".join(new))
    old, new = "\n".join(old).splitlines(), "\n".join(new).splitlines()
    made, at = list[str](), 0
    for hunk in found.hunks:
        made += old[at : hunk.old_start - 1]
        at = hunk.old_start - 1
        for line in hunk.lines:
            if line.kind != "+":
                assert (old[at], line.old) == (line.text, at + 1)
                at += 1
            if line.kind != "-":
                made.append(line.text)
                assert line.new == len(made)
    assert made + old[at:] == new
    kinds = [line.kind for hunk in found.hunks for line in hunk.lines]
    assert (found.added, found.removed) == (kinds.count("+"), kinds.count("-"))
    assert bool(found.hunks) == (old != new)


def test_the_words_that_changed_are_marked_and_what_has_little_in_common_is_not() -> None:
    [hunk] = diff_markdown("Fill it with cold water.\nGone.", "Fill it with hot water.\nNever seen before at all.").hunks
    minus, _, plus, other = hunk.lines
    assert [text for text, is_new in minus.spans if is_new] == ["cold "]
    assert [text for text, is_new in plus.spans if is_new] == ["hot "]
    assert other.spans == (("Never seen before at all.", False),)


def test_only_some_lines_around_a_change_are_shown() -> None:
    lines = [str(number) for number in range(100)]
    found = diff_markdown("\n".join(lines), "\n".join([*lines[:50], "x", *lines[51:]]))
    [hunk] = found.hunks
    assert (len(hunk.lines), hunk.old_start) == (2 + 2 * CONTEXT_LINES, 51 - CONTEXT_LINES)


def test_a_change_at_the_end_of_a_long_page_is_found_and_one_that_is_all_change_is_cut() -> None:
    lines = [str(number) for number in range(10 * MAX_LINES)]
    found = diff_markdown("\n".join(lines), "\n".join([*lines[:-1], "end"]))
    assert (found.added, found.removed, found.is_cut) == (1, 1, False)
    assert diff_markdown("\n".join(lines), "\n".join(f"x{line}" for line in lines)).is_cut


def test_a_line_without_end_is_compared_as_a_whole() -> None:
    tracemalloc.start()
    found = diff_markdown("a " * 2_000_000, "b " + "a " * 2_000_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.added, found.removed) == (1, 1)
    assert peak < 50_000_000
