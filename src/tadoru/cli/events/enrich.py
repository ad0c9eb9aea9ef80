"""`tadoru events enrich train | evaluate | show`: models that assign categories to events.

A run uses a model with `--enrich category --category-model FILE`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import EventsContext, open_existing_calendar
from tadoru.cli.help import CommandGroup
from tadoru.cli.inputs import check_writable
from tadoru.cli.output import _, all_of, format_option, ngettext, write_json
from tadoru.cli.table import single_line, table_columns, write_pairs, write_table
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from tadoru.jobs.events.enrich.training import ModelEvaluation, TrainingSample

_SAMPLE_OPTIONS = (
    click.argument("files", metavar="[FILE.csv]...", nargs=-1),
    click.option("--from-database", is_flag=True, help="Train with the events in the database that have a category."),
    click.option(
        "--text", metavar="COLUMNS",
        help="Columns of title, description and venue, separated by commas; default: by their usual names.",
    ),
    click.option("--category", metavar="COLUMN", help="Column of the category; default: by its usual names."),
    click.option(
        "--group", metavar="COLUMN",
        help="Keep rows with the same value in this column together, such as those of a municipality.",
    ),
)  # fmt: skip


@click.group(
    cls=CommandGroup, short_help="Category models.",
    examples=(("tadoru events enrich train events.csv -o categories.npz", "train with a table of titles and categories"),),
)  # fmt: skip
def enrich() -> None:
    """Train and evaluate models that assign a category where the source has none."""


@enrich.command(
    short_help="Train a model.",
    examples=(
        ("tadoru events enrich train events.csv -o categories.npz", "train with a table of titles and categories"),
        ("tadoru events enrich train --from-database -o categories.npz", "train with collected events"),
        ("tadoru events run --all --enrich category --category-model categories.npz", "use the model"),
    ),
)  # fmt: skip
@all_of(*_SAMPLE_OPTIONS)
@click.option("-o", "--output", required=True, metavar="FILE", help="File of the model.")
@click.option("--no-trial", is_flag=True, help="Skip the evaluation.")
@click.pass_obj
def train(
    place: EventsContext, /, files: tuple[str, ...], from_database: bool, output: str, no_trial: bool, **columns: Any
) -> None:
    """Train a model with events whose category is known, and evaluate it on unseen events."""
    from tadoru.clock import SystemClock, to_datetime
    from tadoru.jobs.events.enrich import training

    path = Path(output)
    check_writable(path, "--output")
    samples = _samples(place, files, from_database, **columns)
    evaluation = None if no_trial else training.evaluate_model(samples, _report_progress)
    source = "database" if from_database else ", ".join(Path(file).name for file in files[:5])
    source += f" and {len(files) - 5} more" if len(files) > 5 else ""
    model = training.train_model(samples, to_datetime(SystemClock().now()), evaluation, source)
    model.save(path)
    if evaluation is not None:
        write_evaluation(evaluation)
    size = f"{len(model.data) / 1024:,.0f} KiB"
    events = ngettext("{count} event", "{count} events", len(samples))
    text = _(
        "Wrote {file}: {categories} categories from {events}, {size}.",
        file=single_line(output), categories=len(model.classes), events=events, size=size,
    )  # fmt: skip
    sys.stderr.write(text + "\n")


@enrich.command(
    short_help="Evaluate a model.",
    examples=(("tadoru events enrich evaluate events.csv --group city", "cross-validate by city"),),
)  # fmt: skip
@all_of(*_SAMPLE_OPTIONS)
@format_option("text", "json")
@click.pass_obj
def evaluate(place: EventsContext, /, files: tuple[str, ...], from_database: bool, form: str, **columns: Any) -> None:
    """Evaluate by five-fold cross-validation. Nothing is written."""
    from dataclasses import asdict

    from tadoru.jobs.events.enrich import training

    evaluation = training.evaluate_model(_samples(place, files, from_database, **columns), _report_progress)
    if form == "json":
        write_json(asdict(evaluation))
    else:
        write_evaluation(evaluation)


@enrich.command(
    short_help="Show a model.",
    examples=(("tadoru events enrich show categories.npz", "its categories and training"),),
)  # fmt: skip
@click.argument("file", metavar="FILE")
@format_option("text", "json")
def show(file: str, form: str) -> None:
    """Show the training, the quality and the categories of a model."""
    from dataclasses import asdict

    from tadoru.jobs.events.enrich.category_model import load_model

    model = load_model(Path(file))
    known = model.training
    if form == "json":
        write_json({"digest": model.digest, "classes": list(model.classes), **asdict(known)})
        return
    tried = (
        _("not evaluated")
        if known.macro_f1 is None
        else _("{f1} (accuracy {accuracy})", f1=f"{known.macro_f1:.3f}", accuracy=f"{known.accuracy:.3f}")
    )
    pairs = [
        (_("Model"), model.digest), (_("Trained"), known.trained_on), (_("Source"), known.source),
        (_("Events"), f"{known.rows:,}"),
    ]  # fmt: skip
    write_pairs(sys.stdout, [*pairs, ("Macro-F1", tried)])
    sys.stdout.write("\n")
    columns = table_columns("Category", "Events>")
    write_table(sys.stdout, columns, [(name, f"{count:,}") for name, count in known.counts.items()])


def _samples(
    place: EventsContext, files: tuple[str, ...], from_database: bool, text: str | None, category: str | None, group: str | None
) -> list[TrainingSample]:
    from tadoru.jobs.events.enrich.training import samples_from_calendar as of_database
    from tadoru.jobs.events.enrich.training import samples_from_tables

    if bool(files) == from_database:
        raise UsageError("Training data missing. Give one or more tables, or --from-database.")
    if from_database:
        if text or category or group:
            raise UsageError("--text, --category and --group are columns of a table. Omit them with --from-database.")
        with open_existing_calendar(place) as (store, _options):
            return of_database(store)
    names = tuple(name.strip() for name in text.split(",")) if text else ()
    if len(names) > 3 or not all(names):
        raise UsageError("--text takes up to three columns: title, description and venue.")
    return samples_from_tables([Path(file) for file in files], text=names, category=category, group=group)


def _report_progress(line: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"  {line}\n")


def write_evaluation(evaluation: ModelEvaluation) -> None:
    columns = table_columns("Category", "Events>", "Precision>", "Recall>", "F1>")
    rows = [
        (one.category, f"{one.count:,}", f"{one.precision:.2f}", f"{one.recall:.2f}", f"{one.f1:.2f}")
        for one in evaluation.scores
    ]
    write_table(sys.stdout, columns, rows)
    sys.stdout.write("\n")
    shares = ", ".join(
        _("{confidence} sure: {share} ({right} right)", confidence=f"{least:.0%}", share=f"{share:.0%}", right=f"{right:.0%}")
        for least, share, right in evaluation.sure
    )
    of_folds = f"{evaluation.macro_f1_of_parts:.3f}"
    write_pairs(sys.stdout, [
        ("Macro-F1", _(
            "{f1} over all categories, {mean} as the mean of the folds", f1=f"{evaluation.macro_f1:.3f}", mean=of_folds,
        )),
        (_("Accuracy"), _(
            "{accuracy}; always the most frequent category: {majority}",
            accuracy=f"{evaluation.accuracy:.3f}", majority=f"{evaluation.majority:.3f}",
        )),
        (_("Events that get a category"), shares),
        (_("Groups"), f"{evaluation.groups:,}"),
    ])  # fmt: skip
