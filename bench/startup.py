"""The CPU of starting each command, as a multiple of a bare interpreter: `python -m bench.startup [--rounds 9]`.

Each command prints its help, which is what it takes to be ready for its arguments. The best of several rounds counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"
COMMANDS = ("--version", "--help", *(f"{name} --help" for name in (
    "links", "audit", "docs", "events", "events list", "events run", "serve", "worker", "cluster", "mcp", "report", "compare",
    "export", "explain", "doctor",
)))  # fmt: skip


def cpu(arguments: list[str], rounds: int) -> float:
    """Seconds of user and system time of a program."""
    taken = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-P", *arguments], env=os.environ | {"PYTHONPATH": str(SOURCE)}, capture_output=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.startup", description="Measure the start of each command.")
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    bare = cpu(["-c", "pass"], rounds)
    print(f"python -c pass: {1000 * bare:.0f} ms")
    print(f"{'import click':20} {cpu(['-c', 'import click'], rounds) / bare:5.1f} times")
    for command in COMMANDS:
        print(f"tadoru {command:20} {cpu(['-m', 'tadoru', *command.split()], rounds) / bare:5.1f} times")


if __name__ == "__main__":
    main()
