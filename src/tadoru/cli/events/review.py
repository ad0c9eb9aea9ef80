"""`tadoru events review` and `tadoru events merges`: decisions that need a person, and undoing merges."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TextIO

import click

from tadoru.cli.events import EventsContext, current_user, format_event_dates, open_existing_calendar, write_json_array
from tadoru.cli.events.listing import format_reason, source_name
from tadoru.cli.help import CommandGroup
from tadoru.cli.output import N_, _, format_option, format_time, ngettext, translate_error, translate_text, write_json
from tadoru.cli.table import TableColumn, single_line, table_columns, write_pairs, write_table
from tadoru.errors import TadoruError, UsageError

if TYPE_CHECKING:
    from tadoru.config.options import EventsOptions
    from tadoru.store.calendar.records import CalendarEvent, EventRecord, ReviewItem
    from tadoru.store.calendar.store import CalendarStore


_COMPARED_FIELDS = {
    "title": N_("title"), "when": N_("when"), "timezone": N_("time zone"), "venue": N_("venue"), "address": N_("address"),
    "city": N_("city"), "category": N_("category"), "price": N_("price"), "organizer": N_("organizer"), "url": "URL",
    "description": N_("description"), "source": N_("source"),
}  # fmt: skip
"""Fields of the comparison, with their labels."""
MAX_SIDE_TEXT = 200


def write_review(out: TextIO, store: CalendarStore, found: ReviewItem, zone: str) -> None:
    """Write a review as text: a comparison or the raw item, the evidence, and the commands that resolve it."""
    from tadoru.jobs.events.reviews import raw_fields
    from tadoru.store.calendar.review_items import detail_message

    names = {source.id: source.name for source in store.sources.list()}
    created = format_time(found.created_at, zone)
    out.write(_("Review {id}: {reason}, created {created}", id=found.id, reason=found.reason.value, created=created) + "\n")
    if found.resolved_at is not None:
        text = _(
            "Resolved {time} by {user}: {resolution}",
            time=format_time(found.resolved_at, zone), user=single_line(found.by), resolution=single_line(found.resolution),
        )  # fmt: skip
        out.write(text + "\n")
    if why := detail_message(found.detail):
        out.write(f"{single_line(translate_text(why))}\n")
    out.write("\n")
    raw = found.detail.get("raw")
    if raw:
        position = single_line(str(found.detail.get("position", _("an item"))))
        out.write(_("Data of {source} in {position}", source=source_name(found.source_id, names), position=position) + "\n")
        write_pairs(out, raw_fields(raw), "  ")
    else:
        _write_comparison(out, _compared(store, found, names))
        _write_evidence(out, found)
    if found.resolved_at is None:
        out.write("\n")
        for action, command in _actions(found, is_row=bool(raw)):
            out.write(f"  {action}: {command}\n")  # The whole command, to be copied.


def _actions(found: ReviewItem, *, is_row: bool) -> list[tuple[str, str]]:
    command = "tadoru events review"
    if is_row:
        return [
            (_("Complete it"), f"{command} fix {found.id} --set 'starts=2026-08-01 10:00'"),
            (_("Parse it again"), f"{command} retry {found.id}"),
            (_("Dismiss it"), f"{command} dismiss {found.id}"),
        ]
    return [
        (_("Merge"), f"{command} merge {found.id}"),
        (_("Keep separate"), f"{command} keep-apart {found.id}"),
        (_("Dismiss"), f"{command} dismiss {found.id}"),
    ]


def _write_comparison(out: TextIO, sides: list[tuple[str, dict[str, str]]]) -> None:
    columns = [TableColumn(), *(TableColumn(heading, may_shrink=True) for heading, _ in sides), TableColumn()]
    rows = []
    for name, label in _COMPARED_FIELDS.items():
        values = [side.get(name, "") for _, side in sides]
        if any(values):
            rows.append([_(label), *values, "" if len(set(values)) == 1 else _("differs")])
    write_table(out, columns, rows)


def _write_evidence(out: TextIO, found: ReviewItem) -> None:
    from tadoru.jobs.events.dedupe.reasons import probability_first

    reasons = found.detail.get("reasons", ())
    out.write("\n" if reasons else "")
    for reason in probability_first(reasons):
        out.write(f"  {single_line(format_reason(reason))}\n")


def _compared(store: CalendarStore, found: ReviewItem, names: Mapping[int, str]) -> list[tuple[str, dict[str, str]]]:
    """The events to compare; or an event, and the item that may not belong to it."""
    from tadoru.jobs.events.reviews import compared_texts, review_subjects

    events, sightings = review_subjects(store, found)
    sides = []
    for event in (record.event for record in events):
        more = {"when": format_event_dates(event), "source": source_name(event.source_id, names)}
        sides.append((_("Event {id}", id=event.id), compared_texts(event, MAX_SIDE_TEXT) | more))
    rows = []
    for one, draft in sightings:
        start, end = draft.occurrence.starts_at, draft.occurrence.ends_at
        form = "%Y-%m-%d %H:%M" if draft.occurrence.has_time else "%Y-%m-%d"
        when = start.strftime(form) + (f" – {end.strftime(form)}" if end and draft.occurrence.has_time else "")
        more = {"when": when, "source": source_name(one.source_id, names)}
        rows.append((_("Item of source {id}", id=one.source_id), compared_texts(draft, MAX_SIDE_TEXT) | more))
    return rows if len(rows) > 1 else [*sides, *rows]


_REASONS = ("dedupe_conflict", "missing_required", "parse_error")


@click.group(
    cls=CommandGroup, short_help="Review queue.",
    examples=(
        ("tadoru events review list", "open reviews"), ("tadoru events review show 3", "compare field by field"),
        ("tadoru events review merge 3", "merge two events"),
    ),
)  # fmt: skip
def review() -> None:
    """Review queue: decisions that need a person.

    Possible duplicates: merge, keep-apart. Incomplete items: fix, retry. To close a review without a change: dismiss. To open one
    again: undo.
    """


@review.command(
    "list", short_help="List reviews.",
    examples=(("tadoru events review list --reason dedupe_conflict", "possible duplicates"),),
)  # fmt: skip
@click.option("--reason", type=click.Choice(_REASONS), help="Only reviews with this reason.")
@click.option("--all", "every", is_flag=True, help="Include resolved reviews.")
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of reviews.")
@format_option("table", "json")
@click.pass_obj
def list_reviews(place: EventsContext, /, reason: str | None, every: bool, limit: int | None, form: str) -> None:
    """List reviews, oldest first."""
    from tadoru.jobs.events.publish.json_documents import review_json
    from tadoru.model.event import ReviewReason

    with open_existing_calendar(place) as (store, options):
        found = store.reviews.list(is_open=None if every else True, reason=ReviewReason(reason) if reason else None, limit=limit)
        if form == "json":
            write_json_array([review_json(one) for one in found])
            return
        about = store.events.records({event_id for one in found for event_id in one.candidate_ids})
        columns = table_columns("ID>", "Reason", "Created", "Events", "Problem~", "Titles~")
        columns += table_columns("Resolution") if every else ()
        rows = (_review_row(one, about, options.timezone)[: len(columns)] for one in found)
        if not write_table(sys.stdout, columns, rows):
            sys.stderr.write(_("No open reviews.") + "\n")


def _review_row(one: ReviewItem, about: Mapping[int, EventRecord], zone: str) -> list[str]:
    from tadoru.jobs.events.dedupe.reasons import main_difference
    from tadoru.store.calendar.review_items import detail_message

    known = [about[event_id].event for event_id in one.candidate_ids if event_id in about]
    titles = dict.fromkeys(event.title or _("untitled") for event in known)
    evidence = main_difference(one.detail.get("reasons", ()))
    why = translate_text(detail_message(one.detail)) or " · ".join(map(format_reason, evidence))
    events = ", ".join(map(str, one.candidate_ids))
    return [str(one.id), one.reason.value, format_time(one.created_at, zone), events, why, " / ".join(titles), one.resolution]


@review.command(
    "show", short_help="Show a review.",
    examples=(("tadoru events review show 3", "compare field by field"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@format_option("text", "json")
@click.pass_obj
def show_review(place: EventsContext, /, review_id: int, form: str) -> None:
    """Show a review: a comparison field by field, the evidence, and the commands that resolve it."""
    from tadoru.jobs.events.publish.json_documents import review_document

    with open_existing_calendar(place) as (store, options):
        found = store.reviews.get(review_id)
        if form == "json":
            write_json(review_document(store, found))
        else:
            write_review(sys.stdout, store, found, options.timezone)


@review.command(
    "merge", short_help="Merge events.",
    examples=(("tadoru events review merge 3 --keep 12", "keep event 12"),),
)  # fmt: skip
@click.argument("review_ids", type=int, nargs=-1, required=True, metavar="ID…")
@click.option("--keep", type=int, metavar="EVENT", help="Event to keep; default: the older one.")
@click.pass_obj
def merge_reviews(place: EventsContext, /, review_ids: tuple[int, ...], keep: int | None) -> None:
    """Merge the events of reviews. `tadoru events merges undo` reverts a merge."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher

    if keep is not None and len(review_ids) > 1:
        raise UsageError("--keep names the event of one review. Give one ID.")

    def merge(store: CalendarStore, review_id: int) -> None:
        kept = store.reviews.merge(review_id, EventMatcher(), current_user(), keep=keep)
        event = store.events.get(kept)
        done = store.merges.list(event_id=kept, limit=1)
        text = _("Merged into event {id}: {event}.", id=kept, event=_format_event(event))
        undo = " " + _("To undo: {command}", command=f"tadoru events merges undo {done[0].id}") if done else ""
        sys.stdout.write(f"{text}{undo}\n")

    _decide(place, review_ids, merge)


def _decide(place: EventsContext, review_ids: tuple[int, ...], decide: Callable[[CalendarStore, int], None]) -> None:
    """Decide about several reviews; one that fails stops none of the others. Raises UsageError if the only one, or all, fail."""
    failures: list[TadoruError] = []
    with open_existing_calendar(place) as (store, _options):
        for review_id in dict.fromkeys(review_ids):
            try:
                decide(store, review_id)
            except UsageError as error:
                failures.append(error)
                if len(review_ids) > 1:
                    sys.stderr.write(_("Review {id}: {error}", id=review_id, error=single_line(translate_error(error))) + "\n")
    if len(failures) == len(set(review_ids)):
        raise failures[0]


@review.command(
    "keep-apart", short_help="Keep events separate.",
    examples=(("tadoru events review keep-apart 3", "and close the review"),),
)  # fmt: skip
@click.argument("review_ids", type=int, nargs=-1, required=True, metavar="ID…")
@click.pass_obj
def keep_apart(place: EventsContext, /, review_ids: tuple[int, ...]) -> None:
    """Keep the events of reviews separate, and do not report them as duplicates again. `review undo` reverts it."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher

    def separate(store: CalendarStore, review_id: int) -> None:
        ids = store.reviews.keep_apart(review_id, EventMatcher(), current_user())
        sys.stdout.write(_("Kept separate: events {ids}.", ids=", ".join(map(str, ids))) + "\n")

    _decide(place, review_ids, separate)


@review.command(
    "undo", short_help="Open a review again.",
    examples=(("tadoru events review undo 3", "the events may be the same after all"),),
)  # fmt: skip
@click.argument("review_ids", type=int, nargs=-1, required=True, metavar="ID…")
@click.pass_obj
def undo_review(place: EventsContext, /, review_ids: tuple[int, ...]) -> None:
    """Take back that events are different, or that a review is dismissed: it is open again."""

    def reopen(store: CalendarStore, review_id: int) -> None:
        store.reviews.reopen(review_id)
        sys.stdout.write(_("Review {id} is open again.", id=review_id) + "\n")

    _decide(place, review_ids, reopen)


@review.command(
    "fix", short_help="Complete an incomplete item.",
    examples=(("tadoru events review fix 3 --set 'starts=2026-08-01 10:00'", "publish it with a start"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID")
@click.option("--set", "pairs", multiple=True, metavar="FIELD=VALUE", required=True, help="Missing field (repeatable).")
@click.pass_obj
def fix(place: EventsContext, /, review_id: int, pairs: tuple[str, ...]) -> None:
    """Complete an item and publish it as an event. Your values override the source."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.event_input import fields_from_pairs, parse_completed_row
    from tadoru.jobs.events.reviews import incomplete_row

    values = fields_from_pairs(pairs)
    with open_existing_calendar(place) as (store, options):
        draft = parse_completed_row(*incomplete_row(store, review_id, options.timezone), values)
        event = store.events.get(store.reviews.fix(review_id, draft, EventMatcher(), current_user()))
        sys.stdout.write(_("Published event {id}: {event}.", id=event.id, event=_format_event(event)) + "\n")


@review.command(
    "retry", short_help="Parse an incomplete item again.",
    examples=(("tadoru events review retry --all", "after the settings of a source have changed"),),
)  # fmt: skip
@click.argument("review_id", type=int, metavar="ID", required=False)
@click.option("--all", "every", is_flag=True, help="All incomplete items.")
@click.pass_obj
def retry(place: EventsContext, /, review_id: int | None, every: bool) -> None:
    """Parse an incomplete item again with the current settings of its source."""
    if (review_id is None) is not every:
        raise UsageError("Give the ID of a review, or --all.")
    with open_existing_calendar(place) as (store, options):
        if review_id is not None:
            sys.stdout.write(_retry(store, store.reviews.get(review_id), options)[1] + "\n")
            return
        waiting = [one for one in store.reviews.list() if one.reason.value != "dedupe_conflict"]
        read = sum(_try_retry(store, one, options) for one in waiting)
        rest = len(waiting) - read
        items = ngettext("{count} incomplete item", "{count} incomplete items", len(waiting))
        text = _("Completed {done} of {items}.", done=read, items=items)
        sys.stdout.write(text + (" " + _("{count} remain.", count=rest) if rest else "") + "\n")


def _try_retry(store: CalendarStore, one: ReviewItem, options: EventsOptions) -> bool:
    try:
        return _retry(store, one, options)[0]
    except TadoruError as error:
        sys.stderr.write(_("Review {id}: {error}", id=one.id, error=single_line(translate_error(error))) + "\n")
        return False


def _retry(store: CalendarStore, one: ReviewItem, options: EventsOptions) -> tuple[bool, str]:
    from tadoru.jobs.events.dedupe.matcher import EventMatcher
    from tadoru.jobs.events.normalise.normaliser import normalise
    from tadoru.jobs.events.reviews import incomplete_row
    from tadoru.model.event import QuarantinedEvent

    outcome = normalise(*incomplete_row(store, one.id, options.timezone))
    is_read = store.reviews.retry(one.id, outcome, EventMatcher(), current_user())
    if isinstance(outcome, QuarantinedEvent):
        return (
            False,
            _(
                "The item is still incomplete: {problem} Complete it with {command}",
                problem=single_line(translate_text(outcome.why)),
                command=f"tadoru events review fix {one.id} --set …",
            ),
        )
    event = store.events.get(one.candidate_ids[0])
    return is_read, _("Published event {id}: {event}.", id=event.id, event=_format_event(event))


def _format_event(event: CalendarEvent) -> str:
    return f"{single_line(event.title)} · {format_event_dates(event)}"


@review.command(
    "dismiss", short_help="Close reviews without a change.",
    examples=(("tadoru events review dismiss 3", "and close the review"),),
)  # fmt: skip
@click.argument("review_ids", type=int, nargs=-1, required=True, metavar="ID…")
@click.pass_obj
def dismiss(place: EventsContext, /, review_ids: tuple[int, ...]) -> None:
    """Close reviews without a change. One is opened again only if the data changes, or with `review undo`."""

    def close(store: CalendarStore, review_id: int) -> None:
        store.reviews.dismiss(review_id, current_user())
        sys.stdout.write(_("Dismissed review {id}.", id=review_id) + "\n")

    _decide(place, review_ids, close)


@click.group(
    cls=CommandGroup, invoke_without_command=True, short_help="List merges and undo them.",
    examples=(
        ("tadoru events merges --event 12", "merges of event 12 and their evidence"),
        ("tadoru events merges undo 7", "undo a merge"),
    ),
)  # fmt: skip
@click.option("--event", "event_id", type=int, metavar="ID", help="Only merges of this event.")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=50, metavar="N", help="Maximum number of merges. [50]")
@format_option("table", "json")
@click.pass_context
def merges(ctx: click.Context, /, event_id: int | None, limit: int, form: str) -> None:
    """List merges with their evidence, newest first. `tadoru events merges undo ID` undoes one."""
    from tadoru.cli.events.listing import write_merge
    from tadoru.jobs.events.publish.json_documents import merge_json

    if ctx.invoked_subcommand is not None:
        return
    with open_existing_calendar(ctx.obj) as (store, options):
        if event_id is not None:
            store.events.get(event_id)  # Raises UsageError if it does not exist.
        found = store.merges.list(event_id=event_id, limit=limit)
        if form == "json":
            write_json_array([merge_json(one) for one in found])
            return
        for one in found:
            write_merge(sys.stdout, one, options.timezone)
        if not found:
            sys.stderr.write(_("No merges.") + "\n")


@merges.command(
    short_help="Undo a merge.",
    examples=(("tadoru events merges undo 7", "split them and keep them separate"),),
)  # fmt: skip
@click.argument("merge_id", type=int, metavar="MERGE")
@click.pass_obj
def undo(place: EventsContext, /, merge_id: int) -> None:
    """Undo a merge. The two events are kept separate from then on."""
    from tadoru.jobs.events.dedupe.matcher import EventMatcher

    with open_existing_calendar(place) as (store, _options):
        kept, other = store.merges.undo(merge_id, EventMatcher(), current_user())
        sys.stdout.write(
            _("Split into events {first} and {second}; they are kept separate from now on.", first=kept, second=other) + "\n"
        )
