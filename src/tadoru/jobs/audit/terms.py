"""The grammar that `--fail-on` of `tadoru audit` and of `tadoru compare` share: a name, and a comparison if one likes.

    error        title-*        broken>5        description-missing > 2%        p90>800ms

What the names mean is in `gates` and `compare.gates`.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tadoru.errors import UsageError

_TERM = re.compile(r"([a-z0-9*?][a-z0-9*?-]*)\s*(?:(>=|<=|>|<)\s*(\d{1,9}(?:\.\d{1,6})?)\s*(%|ms|s|))?", re.ASCII)
_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


@dataclass(frozen=True, slots=True)
class Term:
    """One part of an expression. Without a comparison it means more than none."""

    text: str
    name: str
    sign: str = ">"
    number: float = 0.0
    unit: str = ""
    bare: bool = True

    def holds(self, value: float) -> bool:
        return bool(_COMPARE[self.sign](value, self.number))

    @property
    def allowed(self) -> str:
        """What would have been good enough, in words."""
        if self.sign == ">" and not self.number:
            return "none allowed"
        shown = f"{self.number:g}{' ' if self.unit in ('ms', 's') else ''}{self.unit}"
        words = {">": f"at most {shown} allowed", ">=": f"less than {shown} allowed"}
        return words.get(self.sign) or f"{'at least' if self.sign == '<' else 'more than'} {shown} asked for"

    def check(self, signs: str, units: tuple[str, ...]) -> None:
        """Refuse comparisons that make no sense for what is named. Raises UsageError."""
        if self.sign[0] not in signs:
            right = f"{self.name}{signs[0]}{self.number:g}{self.unit}"
            raise UsageError(f"--fail-on {self.text} is the wrong way round: write {right}.")
        if self.unit not in units:
            told = " or ".join(f"{self.name}{self.sign}{self.number:g}{unit}" for unit in units)
            raise UsageError(f"--fail-on {self.text} has a unit that does not fit: write {told}.")
        if self.sign == ">=" and self.number <= 0:
            raise UsageError(f"--fail-on {self.text} would always fail: write {self.name}>0.")


def read_terms(texts: Iterable[str], forms: str) -> Iterator[Term]:
    """The parts of every `--fail-on`. `forms` says what is possible. Raises UsageError."""
    for part in (part.strip() for text in texts for part in text.split(",")):
        found = _TERM.fullmatch(part.lower())
        if found is None:
            raise UsageError(f"--fail-on takes {forms}; “{part}” is none of them.")
        name, sign, number, unit = found.groups()
        yield Term(part, name) if sign is None else Term(part, name, sign, float(number), unit, bare=False)


def unknown(term: Term, names: Iterable[str], forms: str) -> UsageError:
    """The error for a name that means nothing, with the one that looks like it."""
    near = difflib.get_close_matches(term.name, list(names), n=1, cutoff=0.65)
    hint = f"; did you mean “{near[0]}”?" if near else f": it takes {forms}."
    return UsageError(f"--fail-on does not know “{term.name}”{hint}")
