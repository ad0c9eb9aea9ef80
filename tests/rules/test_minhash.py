"""Likeness of texts: what the sketches say against the truth, and that finding pairs stays linear."""

from __future__ import annotations

import random
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.minhash import BINS, MAX_WORDS, MIN_SHINGLES, similarity, sketch
from tadoru.rules.minhash import shingles as shingles_of
from tests.support.similar_pairs import similar_pairs

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


@pytest.mark.parametrize("length", [60, 300, 3_000])
@pytest.mark.parametrize("share", [0.01, 0.1, 0.3])
def test_the_estimate_is_close_to_the_truth_from_words_to_sketch(length: int, share: float) -> None:
    errors = []
    for seed in range(12):
        text = words(length, seed)
        other = changed(text, max(1, int(length * share)))
        estimate = similarity(*(sketch(shingles_of(" ".join(one).encode())) for one in (text, other)))
        errors.append(estimate - truth(shingles(text), shingles(other)))
    assert abs(sum(errors) / len(errors)) < 0.03
    assert max(map(abs, errors)) < 0.15


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("great bread wooden", "bread great wooden", id="order"),
        pytest.param("great bread wooden", "great bread woodem", id="the last letter of a word"),
        pytest.param("abcdefgh bread wooden", "abcdefghh bread wooden", id="a ninth letter"),
        pytest.param("abcdefghijklmnop bread wooden", "abcdefgxijklmnop bread wooden", id="the middle of a longer word"),
        pytest.param("abcdefghijklmnop bread wooden", "abcdefghijklmnox bread wooden", id="the end of a longer word"),
        pytest.param(f"a{'b' * 40}c bread wooden", f"a{'b' * 41}c bread wooden", id="the length of a very long word"),
        pytest.param("日 本 語", "日 本 人", id="characters"),
    ],
)
def test_a_shingle_depends_on(one: str, other: str) -> None:
    assert len(shingles_of(one.encode())) == len(shingles_of(other.encode())) == 1
    assert shingles_of(one.encode()) != shingles_of(other.encode())


def test_a_shingle_depends_on_nothing_around_it() -> None:
    text = b"storks return to the chimney of the brewery every spring"
    alone = shingles_of(b"chimney brewery every")
    assert list(shingles_of(text)[2:3]) == list(alone) == list(shingles_of(b"the chimney of the brewery every"))


def test_different_shingles_hardly_ever_have_one_hash() -> None:
    text = [f"word{n}" for n in range(MAX_WORDS)]
    assert len(set(shingles_of(" ".join(text).encode()))) > MAX_WORDS - 10


def test_words_beyond_the_first_many_are_not_looked_at() -> None:
    text = " ".join(words(MAX_WORDS, 3)).encode()
    assert list(shingles_of(text + b" something more entirely")) == list(shingles_of(text))


@given(st.lists(st.text("abcdé日-", min_size=1, max_size=20), max_size=30))
def test_shingles_are_as_many_as_triples_of_telling_words(text: list[str]) -> None:
    telling = [word for word in (one.encode() for one in text) if len(word) > 3 or word[0] >= 0xE3]
    found = shingles_of(" ".join(text).encode())
    triples = list(zip(telling, telling[1:], telling[2:], strict=False))
    assert len(found) == len(triples)
    assert len(set(found.tolist())) == len(set(triples))


def test_the_same_text_is_wholly_alike_and_another_is_not() -> None:
    one, other = (sketch(shingles(words(500, seed))) for seed in (1, 2))
    assert similarity(one, one) == 1.0
    assert similarity(one, other) < 0.05


def test_a_text_of_a_few_words_has_no_sketch_and_is_like_nothing() -> None:
    short = sketch(range(MIN_SHINGLES - 1))
    assert short == b""
    assert similarity(short, short) == 0.0
    assert list(similar_pairs([short, short])) == []


def test_a_sketch_is_small() -> None:
    assert len(sketch(shingles(words(500, 1)))) == BINS == 128


def test_a_sketch_is_the_same_for_ever() -> None:
    text = " ".join(STORIES).lower().encode()
    assert sketch(shingles_of(text)).hex()[:32] == "8383158593ad512ffab51993ce12f785"
    assert sketch(shingles(" ".join(STORIES).split())).hex()[:32] == "641c0230bd074c601c6fcdbd467470f1"


@given(st.sets(st.integers(0, 2**32 - 1), min_size=MIN_SHINGLES, max_size=400), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(values: set[int], shuffled: random.Random) -> None:
    repeated = [*values, *values]
    shuffled.shuffle(repeated)
    assert sketch(repeated) == sketch(values) == sketch(np.array(repeated, np.uint32))


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
