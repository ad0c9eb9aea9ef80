"""The problems of one reading, as many as a person would read: the rest is counted."""

from __future__ import annotations

from tadoru.model.event import ReadProblem
from tadoru.parse.sources.fields import storable

MAX_PROBLEMS = 100
_SAMPLE = 300


def read_problem(position: str, reason: str, sample: str = "") -> ReadProblem:
    """One problem; of the text in question as much as a person would look at."""
    return ReadProblem(position=position, reason=storable(reason), sample=storable(sample[:_SAMPLE]))


class Problems:
    """A list that does not grow without end."""

    def __init__(self) -> None:
        self._found: list[ReadProblem] = []
        self._more = 0

    def add(self, position: str, reason: str, sample: str = "") -> None:
        """One more."""
        if len(self._found) < MAX_PROBLEMS:
            self._found.append(read_problem(position, reason, sample))
        else:
            self._more += 1

    def all(self) -> tuple[ReadProblem, ...]:
        """What was found, and how many more there are."""
        if not self._more:
            return tuple(self._found)
        return (*self._found, ReadProblem(position="end", reason=f"And {self._more} more problems."))
