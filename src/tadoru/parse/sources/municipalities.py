"""The municipalities of Japan by their official codes, from `municipalities.tsv`.

A line is a code and a name; a prefecture comes before its municipalities. The list is read once.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

_WEIGHTS = (6, 5, 4, 3, 2)


class Municipality(NamedTuple):
    """A city, ward, town or village; of a prefecture `city` is empty."""

    code: str
    """Six digits, the last of which checks the others."""
    prefecture: str
    city: str


@lru_cache(maxsize=1)
def municipalities() -> dict[str, Municipality]:
    """All of them, by code."""
    found: dict[str, Municipality] = {}
    prefecture = ""
    for line in files("tadoru.parse.sources").joinpath("municipalities.tsv").read_text("utf-8").splitlines():
        code, _, name = line.partition("\t")
        if code[2:5] == "000":
            prefecture = name
        found[code] = Municipality(code, prefecture, "" if code[2:5] == "000" else name)
    return found


@lru_cache(maxsize=4_096)
def by_code(text: str) -> Municipality | None:
    """The municipality a code stands for: six digits, five without the check digit, or what a spreadsheet left of them."""
    digits = re.sub(r"\D", "", unicodedata.normalize("NFKC", text))
    known = municipalities()
    for code in (digits, digits.zfill(6), with_check_digit(digits), with_check_digit(digits.zfill(5))):
        if code in known:
            return known[code]
    return None


def with_check_digit(code: str) -> str:
    """The six digits of a code of five; empty for anything else."""
    if not re.fullmatch(r"[0-9]{5}", code):
        return ""
    rest = sum(int(digit) * weight for digit, weight in zip(code, _WEIGHTS, strict=True)) % 11
    return f"{code}{(11 - rest) % 10}"
