"""Likeness of texts: what the sketches say against the truth, and that finding pairs stays linear."""

from __future__ import annotations

import random
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.similar import BINS, FEWEST, band_keys, similar_pairs, similarity, sketch

STORIES = [
    "The ferry to the island leaves at seven, unless the wind is from the north, in which case the captain decides.",
    "In the library of the old town there is a room with maps of coasts that the sea has taken since they were drawn.",
    "Every spring the storks return to the chimney of the brewery, which has not been lit for their sake in thirty years.",
    "The clockmaker repairs only clocks that somebody misses, and asks each customer at what hour theirs was last looked at.",
    "Between the two villages runs a path that nobody mows, because each of them says that it belongs to the other one.",
]


def words(number: int, seed: int) -> list[str]:
    chosen = random.Random(seed)
    vocabulary = [f"word{n}" for n in range(3_000)]
    return [chosen.choice(vocabulary) for _ in range(number)]


def shingles(text: list[str]) -> set[int]:
    return {crc32(" ".join(three).encode()) for three in zip(text, text[1:], text[2:], strict=False)}


def truth(one: set[int], other: set[int]) -> float:
    return len(one & other) / len(one | other)


def changed(text: list[str], times: int) -> list[str]:
    chosen = random.Random(times)
    copy = list(text)
    for _ in range(times):
        copy[chosen.randrange(len(copy))] = f"other{chosen.randrange(9_999)}"
    return copy


@pytest.mark.parametrize("length", [60, 300, 3_000])
@pytest.mark.parametrize("share", [0.01, 0.03, 0.1, 0.3])
def test_the_estimate_is_close_to_the_truth(length: int, share: float) -> None:
    errors = []
    for seed in range(12):
        text = words(length, seed)
        other = changed(text, max(1, int(length * share)))
        one, two = shingles(text), shingles(other)
        errors.append(similarity(sketch(one), sketch(two)) - truth(one, two))
    assert abs(sum(errors) / len(errors)) < 0.03
    assert max(map(abs, errors)) < 0.15


def test_the_same_text_is_wholly_alike_and_another_is_not() -> None:
    one, other = (sketch(shingles(words(500, seed))) for seed in (1, 2))
    assert similarity(one, one) == 1.0
    assert similarity(one, other) < 0.05


def test_a_text_of_a_few_words_has_no_sketch_and_is_like_nothing() -> None:
    short = sketch(range(FEWEST - 1))
    assert short == b""
    assert band_keys(short) == ()
    assert similarity(short, short) == 0.0
    assert list(similar_pairs([short, short])) == []


def test_a_sketch_is_small_and_its_keys_fit_a_database() -> None:
    made = sketch(shingles(words(500, 1)))
    assert len(made) == BINS == 128
    assert len(band_keys(made)) == 16
    assert all(-(2**63) <= key < 2**63 for key in band_keys(made))


def test_a_sketch_is_the_same_for_ever() -> None:
    assert sketch(shingles(" ".join(STORIES).split())).hex()[:32] == "641c0230bd074c601c6fcdbd467470f1"


@given(st.sets(st.integers(0, 2**32 - 1), min_size=FEWEST, max_size=400), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(values: set[int], shuffled: random.Random) -> None:
    repeated = [*values, *values]
    shuffled.shuffle(repeated)
    assert sketch(repeated) == sketch(values)


def test_a_long_text_is_sketched_as_if_all_of_its_shingles_were_looked_at() -> None:
    values = shingles(words(8_000, 5))
    smallest = {at: min(value for value in values if value & 127 == at) for at in range(BINS)}
    assert sketch(values) == bytes(smallest[at] >> 7 & 0xFF for at in range(BINS))


def test_near_duplicates_are_found_among_many_pages() -> None:
    pages = [words(400, seed) for seed in range(60)]
    pages += [changed(pages[seed], 4) for seed in range(0, 60, 10)]
    found = {(one, other) for one, other, _ in similar_pairs([sketch(shingles(page)) for page in pages], 0.9)}
    assert found == {(10 * at, 60 + at) for at in range(6)}


def test_a_thousand_copies_of_a_page_cost_a_thousand_comparisons_and_hang_together() -> None:
    one = sketch(shingles(words(400, 1)))
    pairs = list(similar_pairs([one] * 1_000))
    assert [(first, alike) for first, _, alike in pairs] == [(0, 1.0)] * 999


def test_a_real_text_with_a_changed_sentence_is_near() -> None:
    text = " ".join(STORIES * 1 + [story[::-1] for story in STORIES])
    other = text.replace("at seven", "at half past eight")
    assert similarity(sketch(shingles(text.split())), sketch(shingles(other.split()))) > 0.85
