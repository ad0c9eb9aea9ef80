"""Sources: how they do, and what is done with them. What may be said over the network is decided in `rest.register`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import StoreError, TadoruError, UsageError
from tadoru.jobs.events.collect.collector import run_log_path
from tadoru.jobs.events.collect.source_settings import settings_from_pairs
from tadoru.jobs.events.collect.trial import SourceTrial
from tadoru.model.event import RunStatus, SourceType
from tadoru.serve.api.source_actions import (
    add_source,
    edit_source,
    get_source,
    preview_source,
    remove_source,
    start_run,
    visible_change,
    visible_settings,
)
from tadoru.serve.auth.principal import note_change
from tadoru.serve.problems import HttpProblem
from tadoru.serve.service import Service, service_of
from tadoru.serve.web.calendar.view_models import is_web_url
from tadoru.serve.web.rendering import caller_of, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import MAX_ID, PAGE_SIZE, SubmittedForm, parse_id
from tadoru.serve.web.words import Say
from tadoru.store.calendar.records import CollectionState, EventSource, RunLog
from tadoru.store.calendar.sources import FREQUENCIES, SourceHealthStats
from tadoru.store.files import FileStore, beside, open_files

router = APIRouter(include_in_schema=False)
SOURCES_URL = "/manage/sources"
_TEXTS = ("name", "type", "url", "city", "frequency", "timezone", "licence", "terms_url", "notes")
_NUMBERS = {"priority": 0, "low_hours": 24}
_KINDS = {RunStatus.SUCCESS: "good", RunStatus.PARTIAL: "warn", RunStatus.FAIL: "bad"}


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A source in the table."""

    source: EventSource
    health: SourceHealthStats
    state: CollectionState
    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class SourceRunRow:
    """A run as tables show it."""

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
    words: str


def source_run_row(one: RunLog) -> SourceRunRow:
    return SourceRunRow(
        one.id, one.source_id, one.started_at, one.finished_at,
        (one.finished_at - one.started_at).total_seconds() if one.finished_at else None, one.parsed_count, one.upserted_count,
        one.error_summary, one.snapshot_paths, _KINDS[one.status] if one.status else "",
        f"run.{one.status.value}" if one.status else "run.under_way",
    )  # fmt: skip


def source_names(service: Service) -> dict[int, str]:
    return {one.id: one.name for one in service.store.sources()}


@router.get("/manage/sources")
def sources_page(request: Request) -> Response:
    """Every source, with how it does."""
    service, say = service_of(request), formatter_of(request).say
    health = {one.source_id: one for one in service.store.health()}
    found = [
        SourceRow(one, health[one.id], service.store.state(one.id), *_health(health[one.id], say))
        for one in service.store.sources()
        if one.id in health
    ]
    found.sort(key=lambda one: (not one.health.failures, one.source.name))
    return render(request, "sources.html", place=SOURCES_URL, sources=found)


def _health(one: SourceHealthStats, say: Say) -> tuple[str, str]:
    """How a source does, as a colour and a word."""
    if not one.enabled:
        return "", say("health.off")
    if one.failures:
        return "bad", say("health.failed", count=one.failures)
    return ("good", say("health.well")) if one.last_success else ("", say("health.new"))


@router.get("/manage/sources/new")
def new_source_page(request: Request) -> Response:
    """The form of a new source."""
    return _form(request, None, _empty(service_of(request)))


@router.post("/manage/sources/new")
def add_source_page(request: Request) -> Response:
    """Save it."""
    return _save(request, None)


@router.get("/manage/sources/{source_id}")
def source_page(request: Request, source_id: int) -> Response:
    """One source: what it is, how it does, what it did."""
    return _shown(request, _found(service_of(request), source_id))


@router.get("/manage/sources/{source_id}/edit")
def edit_source_page(request: Request, source_id: int) -> Response:
    """The form of a source."""
    source = _found(service_of(request), source_id)
    return _form(request, source, _filled(source))


@router.post("/manage/sources/{source_id}/edit")
def save_source_page(request: Request, source_id: int) -> Response:
    """Save it."""
    return _save(request, _found(service_of(request), source_id))


@router.post("/manage/sources/{source_id}/test")
def test_source_page(request: Request, source_id: int) -> Response:
    """Fetch it once and show what would be read."""
    return _tried(request, _found(service_of(request), source_id))


@router.post("/manage/sources/{source_id}/run")
def run_source_page(request: Request, source_id: int) -> Response:
    """Collect it now; the page does not wait for it."""
    source = _found(service_of(request), source_id)
    try:
        start_run(service_of(request), source.id)
    except HttpProblem as error:
        return _shown(request, source, problem=error.detail, status=error.status_code)
    note_change(request, f"source {source.id}", name=source.name)
    return redirect_after(f"{SOURCES_URL}/{source.id}", "run_started")


@router.post("/manage/sources/{source_id}/enable")
def enable_source_page(request: Request, source_id: int) -> Response:
    """Collect it again, and soon."""
    service = service_of(request)
    source = _noted(request, source_id)
    service.store.enable_source(source.id, caller_of(request).name)
    service.store.schedule(source.id, 0.0)
    return redirect_after(f"{SOURCES_URL}/{source.id}", "source_enabled")


@router.post("/manage/sources/{source_id}/disable")
def disable_source_page(request: Request, source_id: int) -> Response:
    """Leave it alone; its events stay."""
    source = _noted(request, source_id)
    service_of(request).store.disable_source(source.id, caller_of(request).name)
    return redirect_after(f"{SOURCES_URL}/{source.id}", "source_disabled")


@router.post("/manage/sources/{source_id}/remove")
def remove_source_page(request: Request, source_id: int) -> Response:
    """Forget it; its events stay."""
    source = _noted(request, source_id)
    remove_source(service_of(request), source.id, caller_of(request).name)
    return redirect_after(SOURCES_URL, "source_removed")


def _noted(request: Request, source_id: int) -> EventSource:
    source = _found(service_of(request), source_id)
    note_change(request, f"source {source.id}", name=source.name)
    return source


def _found(service: Service, source_id: int) -> EventSource:
    if not 0 < source_id < MAX_ID:
        raise HttpProblem(404, "")
    return get_source(service, source_id)


def _shown(
    request: Request, source: EventSource, *, trial: SourceTrial | None = None, problem: str = "", status: int = 200
) -> Response:
    service, say, caller = service_of(request), formatter_of(request).say, caller_of(request)
    store = service.store
    health = next(one for one in store.health() if one.source_id == source.id)
    state = store.state(source.id)
    kind, words = _health(health, say)
    runs = store.runs(source_id=source.id, limit=10)
    facts = [
        ("source.city", source.city), ("source.frequency", say(f"frequency.{source.frequency}")),
        ("source.timezone", source.timezone), ("source.priority", source.priority or ""), ("event.licence", source.licence),
        ("event.terms", source.terms_url), ("source.notes", source.notes), ("source.secret", source.secret),
    ]  # fmt: skip
    changes = [(one.at, visible_change(one, caller)) for one in reversed(store.source_history(source.id))]
    history = [one | {"at": at, "old": _written(one["old"]), "new": _written(one["new"])} for at, one in changes[:50]]
    return render(
        request, "source.html", status=status, place=SOURCES_URL, problem=problem, source=source, health=health, state=state, kind=kind,
        words=words, facts=facts, settings=_lines(visible_settings(source.settings, caller)),
        runs=[source_run_row(one) for one in runs], history=history,
        is_running=bool(runs) and runs[0].finished_at is None, trial=trial, web_url=source.url if is_web_url(source.url) else "",
    )  # fmt: skip


def _written(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _tried(request: Request, source: EventSource) -> Response:
    note_change(request, f"source {source.id}", name=source.name)
    try:
        trial = preview_source(service_of(request), source.id)
    except UsageError as error:
        return _shown(request, source, problem=str(error), status=400)
    return _shown(request, source, trial=trial)


def _empty(service: Service) -> dict[str, Any]:
    return dict.fromkeys(_TEXTS, "") | {"frequency": "normal", "type": "ics", "settings": "", "priority": "", "low_hours": ""}


def _filled(source: EventSource) -> dict[str, Any]:
    texts: dict[str, Any] = {name: str(getattr(source, name)) for name in _TEXTS}
    return texts | {"settings": _lines(source.settings), "priority": source.priority, "low_hours": source.low_hours}


def _form(request: Request, source: EventSource | None, values: Mapping[str, Any], problem: str = "") -> Response:
    say = formatter_of(request).say
    return render(
        request, "source_form.html", status=400 if problem else 200, place=SOURCES_URL, problem=problem, values=values,
        heading=say("source.edit.title", name=source.name) if source else say("source.add.title"),
        types=[(one.value, say(f"type.{one.value}")) for one in SourceType],
        frequencies=[(one, say(f"frequency.{one}")) for one in FREQUENCIES],
        action=f"{SOURCES_URL}/{source.id}/edit" if source else f"{SOURCES_URL}/new", back=f"{SOURCES_URL}/{source.id}" if source else SOURCES_URL,
    )  # fmt: skip


def _save(request: Request, before: EventSource | None) -> Response:
    service, given, by = service_of(request), SubmittedForm(request), caller_of(request).name
    typed = given.texts((*_TEXTS, *_NUMBERS, "settings"))
    try:
        values = _values(typed, formatter_of(request).say)
        if before is not None:  # What stays as it is is not said anew: its address may have been permitted at the machine.
            values = {name: value for name, value in values.items() if getattr(before, name) != value}
        saved = edit_source(service, before.id, values, by) if before else add_source(service, values, by)
    except HttpProblem as error:
        return _form(request, before, typed, error.detail)
    except TadoruError as error:
        return _form(request, before, typed, str(error))
    note_change(request, f"source {saved.id}", name=saved.name)
    if given.text("do") == "test":
        return _tried(request, saved)
    return redirect_after(f"{SOURCES_URL}/{saved.id}", "source_saved" if before else "source_added")


def _values(typed: Mapping[str, str], say: Say) -> dict[str, Any]:
    """The form as fields of a source. Raises UsageError."""
    values: dict[str, Any] = {name: typed[name] for name in _TEXTS}
    for name, usual in _NUMBERS.items():
        try:
            values[name] = int(typed[name]) if typed[name] else usual
        except ValueError:
            raise UsageError(say("source.number", given=typed[name])) from None
        if abs(values[name]) > 1_000_000:
            raise UsageError(say("source.number", given=typed[name]))
    values["settings"] = _settings(typed["settings"], say)
    return values


def _settings(text: str, say: Say) -> dict[str, Any]:
    """Lines of `key=value`, or one JSON object."""
    if text.startswith("{"):
        try:
            found = json.loads(text)
        except ValueError:
            raise UsageError(say("source.settings.bad")) from None
        return dict(found)
    try:
        return settings_from_pairs(line.strip() for line in text.splitlines() if line.strip())
    except UsageError:
        raise UsageError(say("source.settings.bad")) from None


def _lines(settings: Mapping[str, Any]) -> str:
    """Settings as the form takes them: lines where they say everything, and JSON where lines would not."""
    if not settings:
        return ""
    lines = [f"{key}={value}" for key, value in _flat(settings)]
    try:
        same = settings_from_pairs(lines) == dict(settings) and not any("\n" in line for line in lines)
    except UsageError:
        same = False
    return "\n".join(lines) if same else json.dumps(dict(settings), ensure_ascii=False, indent=2)


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
    """What was collected, the newest first."""
    service = service_of(request)
    source_id, before = parse_id(request.query_params.get("source")), parse_id(request.query_params.get("before"))
    names = source_names(service)
    found = service.store.runs(source_id=source_id, limit=PAGE_SIZE + 1, before=before)
    more = f"?before={found[PAGE_SIZE - 1].id}" + (f"&source={source_id}" if source_id else "") if len(found) > PAGE_SIZE else ""
    source = service.store.source(source_id) if source_id in names and source_id is not None else None
    return render(
        request, "runs.html", place="/manage/runs", runs=[source_run_row(one) for one in found[:PAGE_SIZE]], names=names,
        source=source, next_url=f"/manage/runs{more}" if more else "", is_newest=before is None,
    )  # fmt: skip


@router.get("/manage/runs/{run_id}")
def run_page(request: Request, run_id: int) -> Response:
    """One run, with its log."""
    service = service_of(request)
    try:
        run = service.store.run(run_id) if 0 < run_id < MAX_ID else None
    except UsageError:
        run = None
    if run is None:
        raise HttpProblem(404, "")
    return render(
        request, "run.html", place="/manage/runs", run=source_run_row(run), source=_source(service, run.source_id),
        counts=sorted(run.counts.items()), log=_log(service, run),
    )  # fmt: skip


def _source(service: Service, source_id: int) -> EventSource | None:
    """The source of a run; it may have been removed."""
    try:
        return service.store.source(source_id)
    except UsageError:
        return None


def snapshot_files(service: Service) -> FileStore:
    """Where snapshots and run logs are kept."""
    return open_files(service.events.files or beside(service.store.database))


def _log(service: Service, run: RunLog) -> str:
    """The file that the run left, for people."""
    try:
        content = snapshot_files(service).get(run_log_path(run))
    except (StoreError, OSError):
        content = None
    if content is None:
        return ""
    try:
        found: Any = json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace")
    return json.dumps(found, ensure_ascii=False, indent=2)
