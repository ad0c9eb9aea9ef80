"""Expressions that a person types find what Python's own engine finds, in linear time, or are refused with a reason."""

from __future__ import annotations

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.linear_regex import MOST_LENGTH, linear_regex

PATTERNS = (
    r"開催日：(.+)", r"(\d{1,2})月(\d+)日", r"[\d０-９]+", r"[^\s]+", r"[\s\S]+?end", r"[\W\w]", r"a{,3}2",
    r"[]a]+", r"[^]a]+", r"[\[]x", r"\u3000+\S", r"[\w.-]+@[\w.-]+", r"(?P<d>\d+)\Z", r"\[x\]", r"[\]a]+",
    r"(?i)AUG \d", r"[\u3040-\u30ff]+", r"[a\[2]+", r"[{,2]+", r"\D+", r"[\Da]", r"\W", r"(a)|(月)",
    r"^a.*?$", r"x*", r"(?:a|e)+(n)?",
)  # fmt: skip
SIGNS = [*"aA１2 ８月日。\u3000[]x.-@e{,_é", "end", "開催日：", "Aug ", "ひ", "カ", "\x85", "\x1f"]
TEXTS = st.lists(st.sampled_from(SIGNS)).map("".join)


@given(st.sampled_from(PATTERNS), TEXTS)
def test_what_is_found_is_what_python_finds(pattern: str, text: str) -> None:
    match = re.search(pattern, text)
    assert linear_regex(pattern).search(text) == ((match[0], *match.groups()) if match else None)
    assert linear_regex(pattern).groups == re.compile(pattern).groups


@pytest.mark.parametrize("pattern", [r"(\w+\s?)+$", r"(a|a)*b", r"(.*)*x", r"(?:a?){50}a{50}", r"\s+$|(\w*)*!"])
def test_no_expression_takes_long(pattern: str) -> None:
    began = process_time()
    for text in ("a" * 20_000 + "\x00", " " * 20_000 + "\x00"):
        linear_regex(pattern).search(text)
    assert process_time() - began < 10


@pytest.mark.parametrize(
    "pattern, reason",
    [
        ("(?<=on )a", "lookaround"),
        ("(?!a)b", "lookaround"),
        (r"(a)\1", "backreferences"),
        ("a++", "possessive"),
        ("(", "unterminated"),
        (r"[\S,]", "in a set"),
        ("a" * (MOST_LENGTH + 1), "longer than 1000 characters"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        linear_regex(pattern)


def test_a_text_with_half_a_character_is_searched_too() -> None:
    assert linear_regex("a(.)").search("\ud800ab") == ("ab", "b")
