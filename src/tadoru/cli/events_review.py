"""`tadoru events review` and `tadoru events merges`: questions that only a person can answer, and taking a merge back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from tadoru.cli.events import Place, person
from tadoru.cli.events_reading import event_when, existing, write_array
from tadoru.cli.forms import format_option, stamp_text, write_json
from tadoru.cli.help import CommandGroup
from tadoru.cli.table import Column, clean, write_table
from tadoru.errors import TadoruError, UsageError
from tadoru.jobs.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tadoru.jobs.events.normalise import SourceRules
    from tadoru.options import EventsOptions
    from tadoru.store.events.open import EventsStore
    from tadoru.store.events.values import Review
    from tadoru.store.events.walking import Told

_REASONS = ("dedupe_conflict", "missing_required", "parse_error")


@click.group(
    cls=CommandGroup, short_help="Questions for a person.",
    examples=(
        ("tadoru events review list", "what waits for an answer"), ("tadoru events review show 3", "both sides, field by field"),
        ("tadoru events review merge 3", "they are one event"),
    ),
)  # fmt: skip
def review() -> None:
    """Questions that only a person can answer.

    Whether two events are one: merge, keep-apart. What to do with a row that lacks something: fix, retry. Neither: dismiss.
    """


@review.command(
    "list", short_help="What waits for an answer.",
    examples=(("tadoru events review list --reason dedupe_conflict", "which may be one event"),),
)  # fmt: skip
@click.option("--reason", type=click.Choice(_REASONS), help="Only for this reason.")
@click.option("--all", "every", is_flag=True, help="Also what was answered.")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@format_option("table", "json")
@click.pass_obj
def list_reviews(place: Place, /, reason: str | None, every: bool, limit: int | None, form: str) -> int:
    """List the questions, the oldest first."""
    from tadoru.jobs.events.publish.records import review_json
    from tadoru.model.event import ReviewReason
    from tadoru.store.events.walking import told_all

    with existing(place) as (store, options):
        found = store.reviews(is_open=None if every else True, reason=ReviewReason(reason) if reason else None, limit=limit)
        if form == "json":
            write_array([review_json(one) for one in found])
            return 0
        about = told_all(store, {event_id for one in found for event_id in one.candidate_ids})
        columns = [
            Column("ID", to_right=True),
            Column("Reason"),
            Column("Asked"),
            Column("Events"),
            Column("Why", may_shrink=True),
        ]
        columns += [Column("About", may_shrink=True)]
        columns += [Column("Answer")] if every else []
        rows = (_row(one, about, options.timezone)[: len(columns)] for one in found)
        if not write_table(sys.stdout, columns, rows):
            sys.stderr.write("Nothing waits for an answer.\n")
    return 0


def _row(one: Review, about: Mapping[int, Told], zone: str) -> list[str]:
    known = [about[event_id].event for event_id in one.candidate_ids if event_id in about]
    titles = dict.fromkeys(event.title or "without a title" for event in known)
    score = one.detail.get("score")
    why = str(one.detail.get("why") or (f"score {score:.2f}" if isinstance(score, int | float) else ""))
    events = ", ".join(map(str, one.candidate_ids))
    return [str(one.id), one.reason.value, stamp_text(one.created_at, zone), events, why, " / ".join(titles), one.resolution]


@review.command(
    "show", short_help="One question, with both sides.",
    examples=(("tadoru events review show 3", "both sides, field by field"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@format_option("text", "json")
@click.pass_obj
def show_review(place: Place, /, review_id: int, form: str) -> int:
    """Show one question: what is asked, both sides field by field, and how to answer."""
    from tadoru.cli.events_sides import write_review
    from tadoru.jobs.events.publish.records import review_document

    with existing(place) as (store, options):
        found = store.review(review_id)
        if form == "json":
            write_json(review_document(store, found))
        else:
            write_review(sys.stdout, store, found, options.timezone)
    return 0


@review.command(
    "merge", short_help="They are one event.",
    examples=(("tadoru events review merge 3 --keep 12", "event 12 takes in the other"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@click.option("--keep", type=int, metavar="EVENT", help="The event that stays. [the older one]")
@click.pass_obj
def merge_review(place: Place, /, review_id: int, keep: int | None) -> int:
    """They are one event. Nothing is lost: `tadoru events merges undo` takes it back."""
    from tadoru.jobs.events.dedupe.judge import EventJudge

    with existing(place) as (store, _):
        kept = store.review_merge(review_id, EventJudge(), person(), keep=keep)
        event = store.event(kept)
        done = store.merges(event_id=kept, limit=1)
        undo = f" Take it back: tadoru events merges undo {done[0].id}" if done else ""
        sys.stdout.write(f"Merged into event {kept}: {clean(event.title)} · {event_when(event)}.{undo}\n")
    return 0


@review.command(
    "keep-apart", short_help="They are different events.",
    examples=(("tadoru events review keep-apart 3", "and do not ask again"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@click.pass_obj
def keep_apart(place: Place, /, review_id: int) -> int:
    """They are different events, whatever a comparison says."""
    from tadoru.jobs.events.dedupe.judge import EventJudge

    with existing(place) as (store, _):
        ids = store.review_keep_apart(review_id, EventJudge(), person())
        sys.stdout.write(f"Kept apart: events {', '.join(map(str, ids))}.\n")
    return 0


@review.command(
    "fix", short_help="Say what is missing.",
    examples=(("tadoru events review fix 3 --set 'starts=2026-08-01 10:00'", "the row is an event now"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@click.option("--set", "pairs", multiple=True, metavar="FIELD=VALUE", required=True, help="What the row should have said.")
@click.pass_obj
def fix(place: Place, /, review_id: int, pairs: tuple[str, ...]) -> int:
    """Say what a row lacks; it becomes an event. What you say is yours, the rest stays the source's."""
    from tadoru.jobs.events.by_hand import from_pairs, mended
    from tadoru.jobs.events.dedupe.judge import EventJudge

    values = from_pairs(pairs)
    with existing(place) as (store, options):
        raw = store.review_raw(review_id)
        if raw is None:
            raise UsageError(f"Review {review_id} is not about a row that lacks something: answer it with merge or keep-apart.")
        draft = mended(raw, values, _rules(store, store.review(review_id), options))
        event = store.event(store.review_fix(review_id, draft, EventJudge(), person()))
        sys.stdout.write(f"Event {event.id} is in the calendar now: {clean(event.title)} · {event_when(event)}.\n")
    return 0


@review.command(
    "retry", short_help="Read the row again.",
    examples=(("tadoru events review retry --all", "after the settings of a source were changed"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID", required=False)
@click.option("--all", "every", is_flag=True, help="Every row that lacks something.")
@click.pass_obj
def retry(place: Place, /, review_id: int | None, every: bool) -> int:
    """Read a row again, with the settings that its source has now."""
    if (review_id is None) is not every:
        raise UsageError("Say which review is to be tried again: its ID, or --all.")
    with existing(place) as (store, options):
        if review_id is not None:
            sys.stdout.write(_retry(store, store.review(review_id), options)[1] + "\n")
            return 0
        waiting = [one for one in store.reviews() if one.reason.value != "dedupe_conflict"]
        read = sum(_retried(store, one, options) for one in waiting)
        rest = len(waiting) - read
        sys.stdout.write(
            f"{read} of {counted(len(waiting), 'row')} can be read now" + (f"; {rest} can not yet.\n" if rest else ".\n")
        )
    return 0


def _retried(store: EventsStore, one: Review, options: EventsOptions) -> bool:
    try:
        return _retry(store, one, options)[0]
    except TadoruError as error:
        sys.stderr.write(f"Review {one.id}: {clean(str(error))}\n")
        return False


def _retry(store: EventsStore, one: Review, options: EventsOptions) -> tuple[bool, str]:
    from tadoru.jobs.events.dedupe.judge import EventJudge
    from tadoru.jobs.events.normalise import normalise
    from tadoru.model.event import Quarantined

    raw = store.review_raw(one.id)
    if raw is None:
        raise UsageError(f"Review {one.id} is not about a row that lacks something: answer it with merge or keep-apart.")
    outcome = normalise(raw, _rules(store, one, options))
    is_read = store.review_retry(one.id, outcome, EventJudge(), person())
    if isinstance(outcome, Quarantined):
        return False, f"The row still lacks something: {clean(outcome.why)} Say it with tadoru events review fix {one.id} --set …"
    event = store.event(one.candidate_ids[0])
    return is_read, f"Event {event.id} is in the calendar now: {clean(event.title)} · {event_when(event)}."


def _rules(store: EventsStore, one: Review, options: EventsOptions) -> SourceRules:
    from tadoru.jobs.events.by_hand import rules_of

    source = store.source(one.source_id) if one.source_id is not None else None
    return rules_of(source, options.timezone, store.now())


@review.command(
    "dismiss", short_help="Leave everything as it is.",
    examples=(("tadoru events review dismiss 3", "and do not ask again"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@click.pass_obj
def dismiss(place: Place, /, review_id: int) -> int:
    """Leave everything as it is, and do not ask again until something changes."""
    with existing(place) as (store, _):
        store.review_dismiss(review_id, person())
        sys.stdout.write(f"Review {review_id} was dismissed.\n")
    return 0


@click.group(
    cls=CommandGroup, invoke_without_command=True, short_help="What was merged.",
    examples=(
        ("tadoru events merges --event 12", "what event 12 took in, and why"), ("tadoru events merges undo 7", "take it back"),
    ),
)  # fmt: skip
@click.option("--event", "event_id", type=int, metavar="ID", help="Only merges of this event.")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=50, metavar="N", help="At most so many. [50]")
@format_option("table", "json")
@click.pass_context
def merges(ctx: click.Context, /, event_id: int | None, limit: int, form: str) -> int:
    """What was merged, the newest first, and why. `tadoru events merges undo ID` takes a merge back."""
    from tadoru.cli.events_story import write_merge
    from tadoru.jobs.events.publish.records import merge_json

    if ctx.invoked_subcommand is not None:
        return 0
    with existing(ctx.obj) as (store, options):
        if event_id is not None:
            store.event(event_id)  # says so when there is none
        found = store.merges(event_id=event_id, limit=limit)
        if form == "json":
            write_array([merge_json(one) for one in found])
            return 0
        for one in found:
            write_merge(sys.stdout, one, options.timezone)
        if not found:
            sys.stderr.write("Nothing was merged.\n")
    return 0


@merges.command(
    short_help="Take a merge back.",
    examples=(("tadoru events merges undo 7", "both are events again, and are kept apart"),),
)  # fmt: skip
@click.argument("merge_id", type=int, metavar="MERGE")
@click.pass_obj
def undo(place: Place, /, merge_id: int) -> int:
    """Take a merge back. The two are kept apart from now on."""
    from tadoru.jobs.events.dedupe.judge import EventJudge

    with existing(place) as (store, _):
        kept, other = store.undo_merge(merge_id, EventJudge(), person())
        sys.stdout.write(f"Events {kept} and {other} are two again, and are kept apart from now on.\n")
    return 0
