"""Small charts of the HTML page: how the URLs came out, and how deep they lie."""

from __future__ import annotations

from collections.abc import Mapping

from tadoru.jobs.report.charts import Piece, bar, columns
from tadoru.jobs.report.graph.dots import Outcome

WORDS = {
    Outcome.OK: "Fine",
    Outcome.REDIRECT: "Redirected",
    Outcome.BROKEN: "Broken",
    Outcome.BLOCKED: "Blocked",
    Outcome.UNREAD: "Not requested",
}


def outcome_bar(outcomes: Mapping[Outcome, int]) -> str:
    """One bar, a piece for each outcome that occurs."""
    return bar([Piece(outcome, words, outcomes.get(outcome, 0)) for outcome, words in WORDS.items()])


def depth_columns(depths: tuple[tuple[int, int], ...]) -> str:
    """A column for each depth; on a very deep site the last one holds all the rest."""
    return columns([(str(depth), count) for depth, count in depths], "depth")
