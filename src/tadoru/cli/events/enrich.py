"""`tadoru events enrich train | evaluate | show`: models that give events a category, made of data that a person supplies.

What a run does with a model is asked for with `--enrich category --category-model FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import EventsContext, open_existing_calendar
from tadoru.cli.help import CommandGroup
from tadoru.cli.inputs import check_writable
from tadoru.cli.output import format_option, write_json
from tadoru.cli.table import Column, single_line, write_pairs, write_table
from tadoru.errors import UsageError
from tadoru.jobs.reporting.formatting import format_count

if TYPE_CHECKING:
    from tadoru.jobs.events.enrich.training import ModelEvaluation, TrainingSample

_TEXT = click.option(
    "--text", "text", metavar="COLUMNS", help="The columns of title, description and venue, with commas. [by their usual names]"
)
_CATEGORY = click.option("--category", metavar="COLUMN", help="The column of the category. [by its usual names]")
_GROUP = click.option(
    "--group", metavar="COLUMN", help="Rows that are alike in this column are tried together, such as those of a municipality."
)
_FROM_DATABASE = click.option(
    "--from-database", is_flag=True, help="Learn from the categories that sources and persons gave to the events in the database."
)


@click.group(
    cls=CommandGroup, short_help="Models of categories.",
    examples=(("tadoru events enrich train events.csv -o categories.npz", "from a table with titles and categories"),),
)  # fmt: skip
def enrich() -> None:
    """Make and try models that give events a category where their source gives none."""


@enrich.command(
    short_help="Make a model.",
    examples=(
        ("tadoru events enrich train events.csv -o categories.npz", "from a table with titles and categories"),
        ("tadoru events enrich train --from-database -o categories.npz", "from what is collected"),
        ("tadoru events run --all --enrich category --category-model categories.npz", "use it"),
    ),
)  # fmt: skip
@click.argument("files", metavar="[FILE.csv]...", nargs=-1)
@_FROM_DATABASE
@_TEXT
@_CATEGORY
@_GROUP
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the model.")
@click.option("--no-trial", is_flag=True, help="Do not try it first; how good it is stays unknown.")
@click.pass_obj
def train(
    place: EventsContext, /, files: tuple[str, ...], from_database: bool, output: str, no_trial: bool, **columns: Any
) -> int:
    """Make a model of events whose category is known, and say how good it is on events that it has not seen."""
    from tadoru.clock import SystemClock, to_datetime
    from tadoru.jobs.events.enrich import training

    path = Path(output)
    check_writable(path, "The model")
    samples = _samples(place, files, from_database, **columns)
    evaluation = None if no_trial else training.evaluate_model(samples, _report_progress)
    source = "the database" if from_database else ", ".join(Path(file).name for file in files[:5])
    source += f" and {len(files) - 5} more" if len(files) > 5 else ""
    model = training.train_model(samples, to_datetime(SystemClock().now()), evaluation, source)
    model.save(path)
    if evaluation is not None:
        write_evaluation(evaluation)
    size = f"{len(model.data) / 1024:,.0f} KiB"
    sys.stderr.write(
        f"Wrote {single_line(output)}: {len(model.classes)} categories of {format_count(len(samples), 'event')}, {size}.\n"
    )
    return 0


@enrich.command(
    short_help="Try what a model would do.",
    examples=(("tadoru events enrich evaluate events.csv --group city", "no city is on both sides"),),
)  # fmt: skip
@click.argument("files", metavar="[FILE.csv]...", nargs=-1)
@_FROM_DATABASE
@_TEXT
@_CATEGORY
@_GROUP
@format_option("text", "json")
@click.pass_obj
def evaluate(place: EventsContext, /, files: tuple[str, ...], from_database: bool, form: str, **columns: Any) -> int:
    """Cross-validate: learn from four fifths, try the fifth, five times. Nothing is written."""
    from dataclasses import asdict

    from tadoru.jobs.events.enrich import training

    evaluation = training.evaluate_model(_samples(place, files, from_database, **columns), _report_progress)
    if form == "json":
        write_json(asdict(evaluation))
    else:
        write_evaluation(evaluation)
    return 0


@enrich.command(
    short_help="What is known of a model.",
    examples=(("tadoru events enrich show categories.npz", "its categories, and how it was made"),),
)  # fmt: skip
@click.argument("file", metavar="FILE")
@format_option("text", "json")
def show(file: str, form: str) -> int:
    """Show how a model was made, how good it is, and which categories it knows."""
    from dataclasses import asdict

    from tadoru.jobs.events.enrich.category_model import load_model

    model = load_model(Path(file))
    known = model.training
    if form == "json":
        write_json({"digest": model.digest, "classes": list(model.classes), **asdict(known)})
        return 0
    tried = "not tried" if known.macro_f1 is None else f"{known.macro_f1:.3f} (accuracy {known.accuracy:.3f})"
    pairs = [("Model", model.digest), ("Made", known.trained_on), ("From", known.source), ("Events", f"{known.rows:,}")]
    write_pairs(sys.stdout, [*pairs, ("Macro-F1", tried)])
    sys.stdout.write("\n")
    columns = (Column("Category"), Column("Events", to_right=True))
    write_table(sys.stdout, columns, [(name, f"{count:,}") for name, count in known.counts.items()])
    return 0


def _samples(
    place: EventsContext, files: tuple[str, ...], from_database: bool, text: str | None, category: str | None, group: str | None
) -> list[TrainingSample]:
    from tadoru.jobs.events.enrich.training import samples_from_calendar as of_database
    from tadoru.jobs.events.enrich.training import samples_from_tables

    if bool(files) == from_database:
        raise UsageError("Say what to learn from: one or more tables, or --from-database.")
    if from_database:
        if text or category or group:
            raise UsageError("--text, --category and --group name columns of a table: leave them out with --from-database.")
        with open_existing_calendar(place) as (store, _):
            return of_database(store)
    names = tuple(name.strip() for name in text.split(",")) if text else ()
    if len(names) > 3 or not all(names):
        raise UsageError("--text names up to three columns: of the title, the description and the venue.")
    return samples_from_tables([Path(file) for file in files], text=names, category=category, group=group)


def _report_progress(line: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"  {line}\n")


def write_evaluation(evaluation: ModelEvaluation) -> None:
    columns = (Column("Category"), *(Column(name, to_right=True) for name in ("Events", "Precision", "Recall", "F1")))
    rows = [
        (one.category, f"{one.count:,}", f"{one.precision:.2f}", f"{one.recall:.2f}", f"{one.f1:.2f}")
        for one in evaluation.scores
    ]
    write_table(sys.stdout, columns, rows)
    sys.stdout.write("\n")
    shares = ", ".join(f"{least:.0%} sure: {share:.0%} ({right:.0%} right)" for least, share, right in evaluation.sure)
    of_parts = f"{evaluation.macro_f1_of_parts:.3f} as the mean of the parts"
    write_pairs(sys.stdout, [
        ("Macro-F1", f"{evaluation.macro_f1:.3f} over all categories, {of_parts}"),
        ("Accuracy", f"{evaluation.accuracy:.3f}; always the most frequent category: {evaluation.majority:.3f}"),
        ("Events that get a category", shares),
        ("Groups", f"{evaluation.groups:,}"),
    ])  # fmt: skip
