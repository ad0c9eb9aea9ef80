"""`tadoru doctor`: is everything there, and how to mend what is not."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import click

from tadoru.cli.options import GroupedCommand
from tadoru.log import printable

_MARKS = {"ok": "ok", "absent": "-", "wrong": "!!"}


@click.command(
    cls=GroupedCommand, short_help="Check this installation.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    examples=(
        ("tadoru doctor", "browser, folder, clock, certificates, extras"),
        ("tadoru doctor -d postgresql://me@localhost/sites", "and whether that database can be used"),
    ),
)  # fmt: skip
@click.option("-d", "--database", metavar="FILE|URL", help="Try this database as well.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array instead of lines.")
def doctor(database: str | None, as_json: bool) -> int:
    """Check this installation and say how to mend what is wrong. The exit code is 1 when something is; what is only not installed
    is no fault.
    """
    from tadoru.clock import SystemClock
    from tadoru.jobs.doctor import State, diagnose

    found = list(diagnose(Path.cwd(), database, os.environ, SystemClock()))
    if as_json:
        json.dump([asdict(one) for one in found], sys.stdout, ensure_ascii=False, indent=2)
        sys.stdout.write("\n")
    else:
        wide = max(len(one.name) for one in found)
        for one in found:
            sys.stdout.write(printable(f"{_MARKS[one.state]:<3} {one.name:<{wide}}  {one.words}") + "\n")
            if one.mend:
                sys.stdout.write(printable(f"{'':<4}{'':<{wide}}  {one.mend}") + "\n")
    return 1 if any(one.state is State.WRONG for one in found) else 0
