"""Counts the tokens of a text: an estimate that needs no vocabulary, or exactly if a vocabulary is installed.

The estimate counts words, letters, digits, signs, line breaks and the characters of other scripts, each with a weight. Fitted to
the o200k vocabulary on 440 English and Japanese documentation texts, its error is 4 % for a page on average, less than 11 % for
19 of 20 pages, and 3 % for a whole site; characters divided by four are off by 5 to 60 %, most for Japanese.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from tadoru.errors import UsageError
from tadoru.extras import install_command

TokenCounter = Callable[[str], float]
"""Returns the tokens of a text, possibly fractional. Counts of two texts can be added if the first ends with a line break."""

ESTIMATE = "estimate"
_VOCABULARIES = ("o200k_base", "cl100k_base")
_VOCABULARY_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def _char_class(code: int) -> int:
    char = chr(code)
    if char.islower():
        return ord("a")
    if char.isupper():
        return ord("A")
    if char.isdigit():
        return ord("0")
    return code if char == "\n" else ord(" ") if char.isspace() else ord(".")


_CHAR_CLASSES = bytes(_char_class(code) for code in range(128)) + bytes(128)
_WORD_STARTS = (b" a", b".a", b"0a", b"\na", b" A", b".A", b"0A", b"\nA", b"aA")
_SIGN_STARTS = (b" .", b"a.", b"A.", b"0.", b"\n.")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
# Tokens per character of a script, in the order of frequency in documentation; other characters count as signs.
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff]+"), 0.62),  # kana
    (re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"), 0.94),  # kanji, hanzi
    (re.compile(r"[\uac00-\ud7af]+"), 0.85),  # hangul
    (re.compile(r"[\u00c0-\u024f]+"), 0.6),  # accented Latin
    (re.compile(r"[\u0370-\u052f]+"), 0.4),  # Greek, Cyrillic
)
_OTHER = 0.8
_SLICE = 100_000
_MAX_COUNTED = 20 * _SLICE
"""Characters of one text that are counted: of a longer one, evenly spaced slices. Counting takes a second for ten million."""


def estimate_tokens(text: str) -> float:
    """The estimated number of tokens, not rounded."""
    if len(text) <= _MAX_COUNTED:
        return _estimate(text)
    step = len(text) * _SLICE // _MAX_COUNTED
    sample = "".join(text[start : start + _SLICE] for start in range(0, len(text), step))
    return _estimate(sample) * len(text) / len(sample)


def _estimate(text: str) -> float:
    kinds = b"\n" + text.encode("ascii", "ignore").translate(_CHAR_CLASSES)
    count = kinds.count
    weight = (
        0.729 * sum(map(count, _WORD_STARTS)) + 0.056 * (count(b"a") + count(b"A")) + 0.902 * count(b"0")
        + 0.166 * count(b".") + 0.773 * sum(map(count, _SIGN_STARTS)) + 0.704 * (count(b"\n") - 1)
    )  # fmt: skip
    return weight if text.isascii() else weight + _non_ascii_tokens(text)


def _non_ascii_tokens(text: str) -> float:
    counts: Counter[float] = Counter()
    for start in range(0, len(text), _SLICE):  # A list of the characters of a whole text could take hundreds of megabytes.
        for char, number in Counter("".join(_NON_ASCII.findall(text[start : start + _SLICE]))).items():
            counts[_tokens_of(char)] += number
    weight = 0.0
    for _, each in _SCRIPTS:
        weight += each * counts[each]
    return weight + _OTHER * counts[_OTHER]


@lru_cache(maxsize=20_000)
def _tokens_of(char: str) -> float:
    return next((each for script, each in _SCRIPTS if script.match(char)), _OTHER)


def round_tokens(weight: float) -> int:
    """A fractional number of tokens, rounded up."""
    return math.ceil(weight - 1e-9)


def token_counter(tokenizer: str) -> TokenCounter:
    """The counter of a tokenizer. Raises UsageError if its vocabulary is not on this machine: nothing is downloaded."""
    if tokenizer == ESTIMATE:
        return estimate_tokens
    if tokenizer not in _VOCABULARIES:
        raise UsageError(
            "Unknown tokenizer {tokenizer}. Choose one of {known}.",
            tokenizer=tokenizer,
            known=", ".join((ESTIMATE, *_VOCABULARIES)),
        )
    try:
        tiktoken = import_module("tiktoken")
    except ImportError:
        raise UsageError(
            "The tokenizer {tokenizer} needs tiktoken. Install it with `{command}`, or use --tokenizer estimate.",
            tokenizer=tokenizer,
            command=install_command("tiktoken"),
        ) from None
    if not _is_cached(tokenizer):
        raise UsageError(
            "The vocabulary {tokenizer} is not on this machine. Let tiktoken download it into the folder that TIKTOKEN_CACHE_DIR "
            "names, or use --tokenizer estimate.",
            tokenizer=tokenizer,
        )
    encoding = tiktoken.get_encoding(tokenizer)
    return lambda text: float(len(encoding.encode_ordinary(text)))


def _is_cached(tokenizer: str) -> bool:
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", "")
    key = hashlib.sha1(_VOCABULARY_URL.format(tokenizer).encode(), usedforsecurity=False).hexdigest()
    return bool(folder) and (Path(folder) / key).is_file()
