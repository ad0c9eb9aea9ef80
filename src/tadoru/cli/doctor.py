"""`tadoru doctor`: is everything there, and how to mend what is not."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tadoru.cli.forms import format_option, write_json
from tadoru.cli.help import GroupedCommand
from tadoru.cli.table import write_pairs

if TYPE_CHECKING:
    from tadoru.jobs.checkup import Checked


@click.command(
    cls=GroupedCommand, short_help="Check this installation.",
    examples=(
        ("tadoru doctor", "browser, folder, clock, certificates, packages"),
        ("tadoru doctor -d postgresql://me@localhost/sites", "and whether that database can be used"),
    ),
)  # fmt: skip
@click.option("-d", "--database", metavar="FILE|URL", help="Try this database as well. [TADORU_DATABASE]")
@format_option("text", "json")
def doctor(database: str | None, form: str) -> int:
    """Check this installation and say how to mend what is wrong. The exit code is 1 when something is bad."""
    from tadoru.clock import SystemClock
    from tadoru.jobs.doctor import diagnose

    return tell(list(diagnose(Path.cwd(), database or os.environ.get("TADORU_DATABASE"), os.environ, SystemClock())), form)


def tell(found: Sequence[Checked], form: str) -> int:
    """What a doctor found, and the exit code."""
    from tadoru.jobs.checkup import State

    if form == "json":
        write_json([{"what": one.what, "state": one.state.value, "words": one.words} for one in found])
    else:
        signs = {State.GOOD: "ok", State.DOUBTFUL: "look", State.BAD: "BAD"}
        write_pairs(sys.stdout, ((f"{signs[one.state]:4}  {one.what}", one.words) for one in found))
    return 1 if any(one.state is State.BAD for one in found) else 0
