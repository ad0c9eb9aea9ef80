"""A question for a person, as it is shown: both sides field by field, what spoke for and against, and the ways to answer."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

import click

from tadoru.cli.events import EventsContext, current_user, format_event_dates, open_existing_calendar, write_json_array
from tadoru.cli.events.listing import format_reason, source_name
from tadoru.cli.help import CommandGroup
from tadoru.cli.output import format_option, format_time, write_json
from tadoru.cli.table import Column, single_line, write_pairs, write_table
from tadoru.errors import TadoruError, UsageError
from tadoru.jobs.reporting.formatting import format_count
from tadoru.parse.normal_text import plain_text
from tadoru.store.calendar.event_records import event_records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tadoru.config.options import EventsOptions
    from tadoru.jobs.events.normalise.normaliser import SourceRules
    from tadoru.model.event import EventDraft
    from tadoru.store.calendar.event_records import EventRecord
    from tadoru.store.calendar.records import CalendarEvent, ReviewItem
    from tadoru.store.calendar.store import CalendarStore


_COMPARED_FIELDS = (
    "title",
    "when",
    "timezone",
    "venue",
    "address",
    "city",
    "category",
    "price",
    "organizer",
    "url",
    "description",
    "source",
)
_TEXT_FIELDS = ("title", "timezone", "venue", "address", "city", "category", "price", "organizer", "url")
MAX_SIDE_TEXT = 200


def write_review(out: TextIO, store: CalendarStore, found: ReviewItem, zone: str) -> None:
    """The question for a person."""
    names = {source.id: source.name for source in store.sources()}
    out.write(f"Review {found.id}: {found.reason.value}, asked {format_time(found.created_at, zone)}\n")
    if found.resolved_at is not None:
        out.write(
            f"Answered {format_time(found.resolved_at, zone)} by {single_line(found.by)}: {single_line(found.resolution)}\n"
        )
    if found.detail.get("why"):
        out.write(f"{single_line(str(found.detail['why']))}\n")
    out.write("\n")
    raw = found.detail.get("raw")
    if raw:
        out.write(
            f"What {source_name(found.source_id, names)} says in {single_line(str(found.detail.get('position', 'a row')))}\n"
        )
        write_pairs(out, ((str(name), _format_raw(value)) for name, value in raw.items() if name != "position"), "  ")
    else:
        _write_comparison(out, _compared(store, found, names))
        _write_evidence(out, found)
    if found.resolved_at is None:
        out.write("\n")
        for words, command in _actions(found, is_row=bool(raw)):
            out.write(f"  {words}: {command}\n")  # whole, so that it can be copied


def _actions(found: ReviewItem, *, is_row: bool) -> list[tuple[str, str]]:
    command = "tadoru events review"
    if is_row:
        return [
            ("Say what is missing", f"{command} fix {found.id} --set 'starts=2026-08-01 10:00'"),
            ("Read it again", f"{command} retry {found.id}"),
            ("Leave it out", f"{command} dismiss {found.id}"),
        ]
    return [
        ("One event", f"{command} merge {found.id}"),
        ("Different events", f"{command} keep-apart {found.id}"),
        ("Leave it as it is", f"{command} dismiss {found.id}"),
    ]


def _write_comparison(out: TextIO, sides: list[tuple[str, dict[str, str]]]) -> None:
    columns = [Column(""), *(Column(heading, may_shrink=True) for heading, _ in sides), Column("")]
    rows = []
    for name in _COMPARED_FIELDS:
        values = [side.get(name, "") for _, side in sides]
        if any(values):
            rows.append([name, *values, "" if len(set(values)) == 1 else "differs"])
    write_table(out, columns, rows)


def _write_evidence(out: TextIO, found: ReviewItem) -> None:
    score = found.detail.get("score")
    if isinstance(score, int | float):
        out.write(f"\nScore {score:.2f}\n")
    for reason in found.detail.get("reasons", ()):
        out.write(f"  {single_line(format_reason(reason))}\n")


def _compared(store: CalendarStore, found: ReviewItem, names: Mapping[int, str]) -> list[tuple[str, dict[str, str]]]:
    """The events in question; or one event, and the row that may not be about it."""
    events = event_records(store, found.candidate_ids)
    sides = [
        (f"Event {number}", _event_values(events[number].event, names)) for number in found.candidate_ids if number in events
    ]
    wanted = {number for name in ("sighting", "other") if isinstance(number := found.detail.get(name), int)}
    if wanted and found.candidate_ids:
        said = [one for one in store.story(found.candidate_ids[0]).said if one.id in wanted and one.draft is not None]
        rows = [
            (f"Row of source {one.source_id}", _draft_values(one.draft, source_name(one.source_id, names)))
            for one in said
            if one.draft is not None
        ]
        sides = rows if len(rows) > 1 else [*sides, *rows]
    return sides


def _event_values(event: CalendarEvent, names: Mapping[int, str]) -> dict[str, str]:
    values: dict[str, str] = {name: getattr(event, name) for name in _TEXT_FIELDS}
    source = source_name(event.source_id, names)
    return values | {"when": format_event_dates(event), "description": _shorten(event.description), "source": source}


def _draft_values(draft: EventDraft, source: str) -> dict[str, str]:
    start, end = draft.occurrence.starts_at, draft.occurrence.ends_at
    form = "%Y-%m-%d %H:%M" if draft.occurrence.has_time else "%Y-%m-%d"
    when = start.strftime(form) + (f" – {end.strftime(form)}" if end and draft.occurrence.has_time else "")
    values: dict[str, str] = {name: getattr(draft, name) for name in _TEXT_FIELDS}
    return values | {"when": when, "description": _shorten(draft.description), "source": source}


def _shorten(text: str) -> str:
    plain = " ".join(plain_text(text).split())
    return plain if len(plain) <= MAX_SIDE_TEXT else plain[:MAX_SIDE_TEXT].rstrip() + "…"


def _format_raw(value: Any) -> str:
    """A field of a row as it came; dates are marked as such in the database."""
    if isinstance(value, Mapping):
        if "datetime" in value or "date" in value:
            return str(value.get("datetime") or value.get("date"))
        return "\n".join(f"{name}: {part}" for name, part in value.items())
    return str(value)


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
def list_reviews(place: EventsContext, /, reason: str | None, every: bool, limit: int | None, form: str) -> int:
    """List the questions, the oldest first."""
    from tadoru.jobs.events.publish.json_documents import review_json
    from tadoru.model.event import ReviewReason
    from tadoru.store.calendar.event_records import event_records

    with open_existing_calendar(place) as (store, options):
        found = store.reviews(is_open=None if every else True, reason=ReviewReason(reason) if reason else None, limit=limit)
        if form == "json":
            write_json_array([review_json(one) for one in found])
            return 0
        about = event_records(store, {event_id for one in found for event_id in one.candidate_ids})
        columns = [
            Column("ID", to_right=True),
            Column("Reason"),
            Column("Asked"),
            Column("Events"),
            Column("Why", may_shrink=True),
        ]
        columns += [Column("About", may_shrink=True)]
        columns += [Column("Answer")] if every else []
        rows = (_review_row(one, about, options.timezone)[: len(columns)] for one in found)
        if not write_table(sys.stdout, columns, rows):
            sys.stderr.write("Nothing waits for an answer.\n")
    return 0


def _review_row(one: ReviewItem, about: Mapping[int, EventRecord], zone: str) -> list[str]:
    known = [about[event_id].event for event_id in one.candidate_ids if event_id in about]
    titles = dict.fromkeys(event.title or "without a title" for event in known)
    score = one.detail.get("score")
    why = str(one.detail.get("why") or (f"score {score:.2f}" if isinstance(score, int | float) else ""))
    events = ", ".join(map(str, one.candidate_ids))
    return [str(one.id), one.reason.value, format_time(one.created_at, zone), events, why, " / ".join(titles), one.resolution]


@review.command(
    "show", short_help="One question, with both sides.",
    examples=(("tadoru events review show 3", "both sides, field by field"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@format_option("text", "json")
@click.pass_obj
def show_review(place: EventsContext, /, review_id: int, form: str) -> int:
    """Show one question: what is asked, both sides field by field, and how to answer."""
    from tadoru.jobs.events.publish.json_documents import review_document

    with open_existing_calendar(place) as (store, options):
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
def merge_review(place: EventsContext, /, review_id: int, keep: int | None) -> int:
    """They are one event. Nothing is lost: `tadoru events merges undo` takes it back."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher

    with open_existing_calendar(place) as (store, _):
        kept = store.review_merge(review_id, EventMatcher(), current_user(), keep=keep)
        event = store.event(kept)
        done = store.merges(event_id=kept, limit=1)
        undo = f" Take it back: tadoru events merges undo {done[0].id}" if done else ""
        sys.stdout.write(f"Merged into event {kept}: {single_line(event.title)} · {format_event_dates(event)}.{undo}\n")
    return 0


@review.command(
    "keep-apart", short_help="They are different events.",
    examples=(("tadoru events review keep-apart 3", "and do not ask again"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@click.pass_obj
def keep_apart(place: EventsContext, /, review_id: int) -> int:
    """They are different events, whatever a comparison says."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher

    with open_existing_calendar(place) as (store, _):
        ids = store.review_keep_apart(review_id, EventMatcher(), current_user())
        sys.stdout.write(f"Kept apart: events {', '.join(map(str, ids))}.\n")
    return 0


@review.command(
    "fix", short_help="Say what is missing.",
    examples=(("tadoru events review fix 3 --set 'starts=2026-08-01 10:00'", "the row is an event now"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@click.option("--set", "pairs", multiple=True, metavar="FIELD=VALUE", required=True, help="What the row should have said.")
@click.pass_obj
def fix(place: EventsContext, /, review_id: int, pairs: tuple[str, ...]) -> int:
    """Say what a row lacks; it becomes an event. What you say is yours, the rest stays the source's."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.event_input import fields_from_pairs, parse_completed_row

    values = fields_from_pairs(pairs)
    with open_existing_calendar(place) as (store, options):
        raw = store.review_raw(review_id)
        if raw is None:
            raise UsageError(f"Review {review_id} is not about a row that lacks something: answer it with merge or keep-apart.")
        draft = parse_completed_row(raw, values, _rules(store, store.review(review_id), options))
        event = store.event(store.review_fix(review_id, draft, EventMatcher(), current_user()))
        sys.stdout.write(f"Event {event.id} is in the calendar now: {single_line(event.title)} · {format_event_dates(event)}.\n")
    return 0


@review.command(
    "retry", short_help="Read the row again.",
    examples=(("tadoru events review retry --all", "after the settings of a source were changed"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID", required=False)
@click.option("--all", "every", is_flag=True, help="Every row that lacks something.")
@click.pass_obj
def retry(place: EventsContext, /, review_id: int | None, every: bool) -> int:
    """Read a row again, with the settings that its source has now."""
    if (review_id is None) is not every:
        raise UsageError("Say which review is to be tried again: its ID, or --all.")
    with open_existing_calendar(place) as (store, options):
        if review_id is not None:
            sys.stdout.write(_retry(store, store.review(review_id), options)[1] + "\n")
            return 0
        waiting = [one for one in store.reviews() if one.reason.value != "dedupe_conflict"]
        read = sum(_try_retry(store, one, options) for one in waiting)
        rest = len(waiting) - read
        sys.stdout.write(
            f"{read} of {format_count(len(waiting), 'row')} can be read now" + (f"; {rest} can not yet.\n" if rest else ".\n")
        )
    return 0


def _try_retry(store: CalendarStore, one: ReviewItem, options: EventsOptions) -> bool:
    try:
        return _retry(store, one, options)[0]
    except TadoruError as error:
        sys.stderr.write(f"Review {one.id}: {single_line(str(error))}\n")
        return False


def _retry(store: CalendarStore, one: ReviewItem, options: EventsOptions) -> tuple[bool, str]:
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.normalise.normaliser import normalise
    from tadoru.model.event import QuarantinedEvent

    raw = store.review_raw(one.id)
    if raw is None:
        raise UsageError(f"Review {one.id} is not about a row that lacks something: answer it with merge or keep-apart.")
    outcome = normalise(raw, _rules(store, one, options))
    is_read = store.review_retry(one.id, outcome, EventMatcher(), current_user())
    if isinstance(outcome, QuarantinedEvent):
        return (
            False,
            f"The row still lacks something: {single_line(outcome.why)} Say it with tadoru events review fix {one.id} --set …",
        )
    event = store.event(one.candidate_ids[0])
    return is_read, f"Event {event.id} is in the calendar now: {single_line(event.title)} · {format_event_dates(event)}."


def _rules(store: CalendarStore, one: ReviewItem, options: EventsOptions) -> SourceRules:
    from tadoru.jobs.events.event_input import source_rules

    source = store.source(one.source_id) if one.source_id is not None else None
    return source_rules(source, options.timezone, store.now())


@review.command(
    "dismiss", short_help="Leave everything as it is.",
    examples=(("tadoru events review dismiss 3", "and do not ask again"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@click.pass_obj
def dismiss(place: EventsContext, /, review_id: int) -> int:
    """Leave everything as it is, and do not ask again until something changes."""
    with open_existing_calendar(place) as (store, _):
        store.review_dismiss(review_id, current_user())
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
    from tadoru.cli.events.listing import write_merge
    from tadoru.jobs.events.publish.json_documents import merge_json

    if ctx.invoked_subcommand is not None:
        return 0
    with open_existing_calendar(ctx.obj) as (store, options):
        if event_id is not None:
            store.event(event_id)  # says so when there is none
        found = store.merges(event_id=event_id, limit=limit)
        if form == "json":
            write_json_array([merge_json(one) for one in found])
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
def undo(place: EventsContext, /, merge_id: int) -> int:
    """Take a merge back. The two are kept apart from now on."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher

    with open_existing_calendar(place) as (store, _):
        kept, other = store.undo_merge(merge_id, EventMatcher(), current_user())
        sys.stdout.write(f"Events {kept} and {other} are two again, and are kept apart from now on.\n")
    return 0
