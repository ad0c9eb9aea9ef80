"""The CPU of a page stays within the committed budget of `bench.budget`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.budget import exceeded

ROOT = Path(__file__).resolve().parent.parent.parent
ROUNDS = (3, 6, 12, 24)
"""A busy machine needs more of them until each piece of work was undisturbed once."""


def test_a_page_costs_no_more_cpu_than_its_budget() -> None:
    for rounds in ROUNDS:  # In a process of its own, which is tuned as that of a crawl.
        command = [sys.executable, "-m", "bench.budget", "--rounds", str(rounds)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    assert (done.returncode, done.stderr) == (0, "")


def test_a_job_that_costs_more_than_a_tenth_too_much_is_named() -> None:
    assert exceeded({"links": 0.30, "docs": 5.4}, {"links": 0.2, "docs": 5.0}) == [
        "links: 0.300 of the calibration, 1.50 times the baseline of 0.200"
    ]
