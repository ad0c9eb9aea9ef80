"""The CPU of a page stays within the committed budget of `bench.budget`."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.budget import PYTHON, Budget, baseline, exceeded

MOST_TRIES = 6
ROUNDS = 3


def test_a_page_costs_no_more_cpu_than_its_budget(tmp_path: Path) -> None:
    allowed = baseline()
    if allowed is None:
        pytest.skip(f"bench/budget.json has no ratios of Python {PYTHON}: python -m bench.budget --write adds them")
    budget = Budget(tmp_path, tmp_path)
    found = ["not measured"]
    for _ in range(MOST_TRIES):  # A busy machine needs more rounds until each piece of work was undisturbed once.
        found = exceeded(budget.measure(ROUNDS), allowed)
        if not found:
            break
    assert found == []


def test_a_job_that_costs_more_than_a_tenth_too_much_is_named() -> None:
    assert exceeded({"links": 0.30, "docs": 5.4}, {"links": 0.2, "docs": 5.0}) == [
        "links: 0.300 of the calibration, 1.50 times the baseline of 0.200"
    ]
