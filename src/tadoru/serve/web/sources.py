"""Pages of event sources and their runs. What may be set over the network is decided in `serve.api.source_actions`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import StoreError, TadoruError, UsageError
from tadoru.i18n.translation import N_, Formatter
from tadoru.jobs.events.collect.source_settings import settings_from_pairs
from tadoru.model.event import RunStatus, SourceType
from tadoru.serve.api import source_actions
from tadoru.serve.auth.principal import note_change
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.calendar.view_models import format_draft_time, is_web_url
from tadoru.serve.web.rendering import Problem, caller_of, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import PAGE_SIZE, SubmittedForm, find_or_404, parse_id
from tadoru.store.calendar.records import CollectionState, EventSource, RunLog
from tadoru.store.calendar.sources import FREQUENCIES, SourceHealthStats

if TYPE_CHECKING:
    from tadoru.jobs.events.collect.trial import SourceTrial

router = APIRouter(include_in_schema=False)
SOURCES_URL = "/manage/sources"
LATE_SECONDS = 60
"""Seconds after which a source that is due counts as overdue."""
_TEXTS = ("name", "type", "url", "city", "frequency", "timezone", "licence", "terms_url", "notes")
_NUMBERS = {"priority": 0, "low_hours": 24}
_RUN_STATES = {
    RunStatus.SUCCESS: ("good", N_("Succeeded")),
    RunStatus.PARTIAL: ("warn", N_("Partly succeeded")),
    RunStatus.FAIL: ("bad", N_("Failed")),
    None: ("", N_("Running")),
}
_TYPE_LABELS = {
    SourceType.RSS: N_("RSS, Atom or JSON Feed"),
    SourceType.ICS: N_("Calendar (ICS)"),
    SourceType.API: N_("JSON API"),
    SourceType.HTML: N_("Web page"),
    SourceType.CSV: N_("Table (CSV)"),
}
_FREQUENCY_LABELS = {"high": N_("Every 3 hours"), "normal": N_("Every 12 hours"), "low": N_("Every 24 to 72 hours")}


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source in the table."""

    source: EventSource
    health: SourceHealthStats
    state: CollectionState
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class SourceRunRow:
    """A run in a table."""

    id: int
    source_id: int
    started_at: datetime
    finished_at: datetime | None
    seconds: float | None
    parsed_count: int
    upserted_count: int
    error_summary: str
    snapshot_paths: tuple[str, ...]
    kind: str
    label: str


def source_run_row(one: RunLog) -> SourceRunRow:
    """A run as tables show it."""
    return SourceRunRow(
        one.id, one.source_id, one.started_at, one.finished_at,
        (one.finished_at - one.started_at).total_seconds() if one.finished_at else None, one.parsed_count, one.upserted_count,
        one.error_summary, one.snapshot_paths, *_RUN_STATES[one.status],
    )  # fmt: skip


def source_names(service: Service) -> dict[int, str]:
    """The names of the sources by id."""
    return {one.id: one.name for one in service.store.sources.list()}


def actor_name(by: str, names: Mapping[int, str]) -> str:
    """Who changed an event: a user, or a source by its name."""
    kind, _, number = by.partition(" ")
    return names.get(int(number), by) if kind == "source" and number.isascii() and number.isdigit() else by


def overdue_note(service: Service, health: Iterable[SourceHealthStats], formatter: Formatter) -> str:
    """What to do if sources are overdue and no worker collects them; "" if all is well."""
    late = sum(one.enabled and one.late > LATE_SECONDS for one in health)
    if not late or service.store.schedule.has_worker():
        return ""
    return formatter.ngettext(
        "No collector is running: {count} source is overdue. Start the service without --no-collector, or run `{command}`.",
        "No collector is running: {count} sources are overdue. Start the service without --no-collector, or run `{command}`.",
        late, command="tadoru events worker",
    )  # fmt: skip


@router.get("/manage/sources")
def sources_page(request: Request) -> Response:
    """All sources with their health, failing ones first."""
    service, formatter = service_of(request), formatter_of(request)
    health = {one.source_id: one for one in service.store.statistics.source_health()}
    found = [
        SourceRow(one, health[one.id], service.store.schedule.state(one.id), *_health(health[one.id], formatter))
        for one in service.store.sources.list()
        if one.id in health
    ]
    found.sort(key=lambda one: (not one.health.failures, one.source.name))
    note = overdue_note(service, health.values(), formatter)
    return render(request, "sources/list.html", place=SOURCES_URL, sources=found, overdue_note=note)


def _health(one: SourceHealthStats, formatter: Formatter) -> tuple[str, str]:
    """The health of a source as a colour and a label."""
    _, ngettext = formatter.gettext, formatter.ngettext
    if not one.enabled:
        return "", _("Disabled")
    if one.failures:
        return "bad", ngettext("Failed {count} time", "Failed {count} times", one.failures)
    return ("good", _("Healthy")) if one.last_success else ("", _("Not run yet"))


@router.get("/manage/sources/new")
def new_source_page(request: Request) -> Response:
    """The form of a new source."""
    return _form(request, None, _empty(service_of(request)))


@router.post("/manage/sources/new")
def add_source_page(request: Request) -> Response:
    """Save the form."""
    return _save(request, None)


@router.get("/manage/sources/{source_id}")
def source_page(request: Request, source_id: int) -> Response:
    """One source: settings, health, runs and history."""
    return _shown(request, _found(service_of(request), source_id))


@router.get("/manage/sources/{source_id}/edit")
def edit_source_page(request: Request, source_id: int) -> Response:
    """The form of a source."""
    source = _found(service_of(request), source_id)
    return _form(request, source, _filled(source))


@router.post("/manage/sources/{source_id}/edit")
def save_source_page(request: Request, source_id: int) -> Response:
    """Save the form."""
    return _save(request, _found(service_of(request), source_id))


@router.post("/manage/sources/{source_id}/preview")
def preview_source_page(request: Request, source_id: int) -> Response:
    """Show what the settings of the form find in the last saved response. Nothing is requested and nothing is saved."""
    service = service_of(request)
    source = _found(service, source_id)
    typed = SubmittedForm(request).texts((*_TEXTS, *_NUMBERS, "settings"))
    try:
        kind = SourceType(typed["type"])
        changed = replace(
            source, type=kind, city=typed["city"], timezone=typed["timezone"], settings=parse_settings_text(typed["settings"])
        )
        trial = source_actions.preview_typed(service, changed)
    except (HttpProblem, TadoruError, ValueError) as error:
        problem = error if isinstance(error, HttpProblem | TadoruError) else UsageError("Unknown type of source.")
        return _form(request, source, typed, problem)
    return _form(request, source, typed, trial=trial)


@router.post("/manage/sources/{source_id}/test")
def test_source_page(request: Request, source_id: int) -> Response:
    """Fetch the source once and show what a run would save."""
    return _tried(request, _found(service_of(request), source_id))


@router.post("/manage/sources/{source_id}/run")
def run_source_page(request: Request, source_id: int) -> Response:
    """Start a run in the background."""
    source = _found(service_of(request), source_id)
    try:
        source_actions.start_run(service_of(request), source.id)
    except HttpProblem as error:
        return _shown(request, source, problem=error, status=error.status_code)
    note_change(request, f"source {source.id}", name=source.name)
    return redirect_after(f"{SOURCES_URL}/{source.id}", "run_started")


@router.post("/manage/sources/{source_id}/enable")
def enable_source_page(request: Request, source_id: int) -> Response:
    """Enable a source and schedule its next run now."""
    service = service_of(request)
    source = _noted(request, source_id)
    service.store.sources.enable(source.id, caller_of(request).name)
    service.store.schedule.set_due(source.id, 0.0)
    return redirect_after(f"{SOURCES_URL}/{source.id}", "source_enabled")


@router.post("/manage/sources/{source_id}/disable")
def disable_source_page(request: Request, source_id: int) -> Response:
    """Disable a source; its events are kept."""
    source = _noted(request, source_id)
    service_of(request).store.sources.disable(source.id, caller_of(request).name)
    return redirect_after(f"{SOURCES_URL}/{source.id}", "source_disabled")


@router.post("/manage/sources/{source_id}/remove")
def remove_source_page(request: Request, source_id: int) -> Response:
    """Remove a source; its events are kept."""
    source = _noted(request, source_id)
    source_actions.remove_source(service_of(request), source.id, caller_of(request).name)
    return redirect_after(SOURCES_URL, "source_removed")


def _noted(request: Request, source_id: int) -> EventSource:
    source = _found(service_of(request), source_id)
    note_change(request, f"source {source.id}", name=source.name)
    return source


def _found(service: Service, source_id: int) -> EventSource:
    return find_or_404(partial(source_actions.get_source, service), source_id)


def _shown(
    request: Request, source: EventSource, *, trial: SourceTrial | None = None, problem: Problem = "", status: int = 200
) -> Response:
    service, formatter, caller = service_of(request), formatter_of(request), caller_of(request)
    _ = formatter.gettext
    store = service.store
    health = next(one for one in store.statistics.source_health() if one.source_id == source.id)
    state = store.schedule.state(source.id)
    kind, label = _health(health, formatter)
    runs = store.runs.list(source_id=source.id, limit=10)
    facts = [
        (N_("City"), source.city), (N_("Frequency"), _(_FREQUENCY_LABELS[source.frequency])),
        (N_("Time zone"), source.timezone), (N_("Priority"), source.priority or ""), (N_("Licence"), source.licence),
        (N_("Terms of use"), source.terms_url), (N_("Notes"), source.notes),
        (N_("Environment variable of the secret"), source.secret),
    ]  # fmt: skip
    changes = [(one.at, source_actions.visible_change(one, caller)) for one in reversed(store.sources.history(source.id))]
    history = [
        one | {
            "at": at, "old": _written(one["old"]), "new": _written(one["new"]),
            "is_created": one["field"] == "source" and one["old"] is None,
        }
        for at, one in changes[:50]
    ]  # fmt: skip
    return render(
        request, "sources/detail.html", status=status, place=SOURCES_URL, problem=problem, source=source, health=health,
        state=state, kind=kind, label=label, type_label=_(_TYPE_LABELS[source.type]), facts=facts,
        settings=settings_text(source_actions.visible_settings(source.settings, caller)),
        runs=[source_run_row(one) for one in runs], history=history,
        draft_time=lambda draft: format_draft_time(draft, formatter), is_running=bool(runs) and runs[0].finished_at is None,
        trial=trial, trial_heading=_("Test result"), web_url=source.url if is_web_url(source.url) else "",
        overdue_note=overdue_note(service, [health], formatter),
    )  # fmt: skip


def _written(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _tried(request: Request, source: EventSource) -> Response:
    note_change(request, f"source {source.id}", name=source.name)
    try:
        trial = source_actions.preview_source(service_of(request), source.id)
    except UsageError as error:
        return _shown(request, source, problem=error, status=400)
    return _shown(request, source, trial=trial)


def _empty(service: Service) -> dict[str, Any]:
    return dict.fromkeys(_TEXTS, "") | {"frequency": "normal", "type": "ics", "settings": "", "priority": "", "low_hours": ""}


def _filled(source: EventSource) -> dict[str, Any]:
    texts: dict[str, Any] = {name: str(getattr(source, name)) for name in _TEXTS}
    return texts | {"settings": settings_text(source.settings), "priority": source.priority, "low_hours": source.low_hours}


def _form(
    request: Request,
    source: EventSource | None,
    values: Mapping[str, Any],
    problem: Problem = "",
    trial: SourceTrial | None = None,
) -> Response:
    formatter = formatter_of(request)
    _ = formatter.gettext
    return render(
        request, "sources/form.html", status=400 if problem else 200, place=SOURCES_URL, problem=problem, values=values,
        heading=_("Edit {name}", name=source.name) if source else _("Add source"),
        types=[(one.value, _(_TYPE_LABELS[one])) for one in SourceType],
        frequencies=[(one, _(_FREQUENCY_LABELS[one])) for one in FREQUENCIES],
        action=f"{SOURCES_URL}/{source.id}/edit" if source else f"{SOURCES_URL}/new",
        back=f"{SOURCES_URL}/{source.id}" if source else SOURCES_URL, trial=trial, trial_heading=_("Preview"),
        preview=f"{SOURCES_URL}/{source.id}/preview" if source else "",
        draft_time=lambda draft: format_draft_time(draft, formatter),
    )  # fmt: skip


def _save(request: Request, before: EventSource | None) -> Response:
    service, given, by = service_of(request), SubmittedForm(request), caller_of(request).name
    typed = given.texts((*_TEXTS, *_NUMBERS, "settings"))
    try:
        values = _values(typed)
        if before is not None:  # Unchanged values are not set again: a private URL may have been allowed on the command line.
            values = {name: value for name, value in values.items() if getattr(before, name) != value}
        saved = (
            source_actions.edit_source(service, before.id, values, by)
            if before
            else source_actions.add_source(service, values, by)
        )
    except (HttpProblem, TadoruError) as error:
        return _form(request, before, typed, error)
    note_change(request, f"source {saved.id}", name=saved.name)
    if given.text("do") == "test":
        return _tried(request, saved)
    return redirect_after(f"{SOURCES_URL}/{saved.id}", "source_saved" if before else "source_added")


def _values(typed: Mapping[str, str]) -> dict[str, Any]:
    """The form as fields of a source. Raises UsageError."""
    values: dict[str, Any] = {name: typed[name] for name in _TEXTS}
    for name, usual in _NUMBERS.items():
        try:
            values[name] = int(typed[name]) if typed[name] else usual
        except ValueError:
            raise UsageError("“{given}” is not a number.", given=typed[name]) from None
        if abs(values[name]) > 1_000_000:
            raise UsageError("“{given}” is not a number.", given=typed[name])
    values["settings"] = parse_settings_text(typed["settings"])
    return values


def parse_settings_text(text: str) -> dict[str, Any]:
    """Lines of `key=value`, or one JSON object."""
    if text.startswith("{"):
        try:
            found = json.loads(text)
        except ValueError:
            raise UsageError("The settings are not valid. Enter one key=value per line, or a JSON object.") from None
        return dict(found)
    return settings_from_pairs(line.strip() for line in text.splitlines() if line.strip())


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings for the form: lines of `key=value` if they express everything, else JSON."""
    if not settings:
        return ""
    lines = "\n".join(f"{key}={value}" for key, value in _flat(settings))
    try:
        same = parse_settings_text(lines.strip()) == dict(settings)  # As the form sends it.
    except UsageError:
        same = False
    return lines if same else json.dumps(dict(settings), ensure_ascii=False, indent=2)


def _flat(settings: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{before}{key}.")
        else:
            found.append((f"{before}{key}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
    return found


@router.get("/manage/runs")
def runs_page(request: Request) -> Response:
    """The runs of all sources or of one, newest first."""
    service = service_of(request)
    source_id, before = parse_id(request.query_params.get("source")), parse_id(request.query_params.get("before"))
    names = source_names(service)
    found = service.store.runs.list(source_id=source_id, limit=PAGE_SIZE + 1, before=before)
    more = f"?before={found[PAGE_SIZE - 1].id}" + (f"&source={source_id}" if source_id else "") if len(found) > PAGE_SIZE else ""
    source = service.store.sources.get(source_id) if source_id in names and source_id is not None else None
    return render(
        request, "sources/runs.html", place="/manage/runs", runs=[source_run_row(one) for one in found[:PAGE_SIZE]], names=names,
        source=source, next_url=f"/manage/runs{more}" if more else "", is_newest=before is None,
    )  # fmt: skip


@router.get("/manage/runs/{run_id}")
def run_page(request: Request, run_id: int) -> Response:
    """One run, with its log."""
    service = service_of(request)
    run = find_or_404(service.store.runs.get, run_id)
    return render(
        request, "sources/run.html", place="/manage/runs", run=source_run_row(run), source=_source(service, run.source_id),
        counts=sorted(run.counts.items()), log=_log(service, run),
    )  # fmt: skip


def _source(service: Service, source_id: int) -> EventSource | None:
    """The source of a run; it may have been removed."""
    try:
        return service.store.sources.get(source_id)
    except UsageError:
        return None


def _log(service: Service, run: RunLog) -> str:
    """The log file of a run, indented."""
    from tadoru.jobs.events.collect.collector import run_log_path  # Late: pages do not wait for the HTTP client.

    try:
        content = source_actions.source_files(service).get(run_log_path(run))
    except (StoreError, OSError):
        content = None
    if content is None:
        return ""
    try:
        found: Any = json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace")
    return json.dumps(found, ensure_ascii=False, indent=2)
