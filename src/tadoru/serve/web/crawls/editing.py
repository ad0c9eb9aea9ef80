"""The forms of crawls: a new one, and the name and rhythm of one. Fields and bounds come from `serve.crawl_runner.crawl_options`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.errors import UsageError
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_options import CRAWL_OPTIONS, JOBS, CrawlOptionSpec, validate_options, validate_start_urls
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import service_of
from tadoru.serve.web.calendar.view_models import Formatter
from tadoru.serve.web.crawls.view_models import CRAWLS_URL, crawl_or_404
from tadoru.serve.web.rendering import caller_of, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import SubmittedForm
from tadoru.serve.web.words import Say
from tadoru.store.served_crawls.schema import ServedCrawl

router = APIRouter(include_in_schema=False)
BASICS = ("depth", "limit")
"""What stands in the open; all other choices are folded away."""
_OWN = ("starts", "name", "every", "webhook")
"""Fields that are not options of the job."""
INTERVALS = (3600, 21600, 86400, 604800, 2592000)


@dataclass(frozen=True, slots=True)
class CrawlFormField:
    """A field of the form, as the template shows it."""

    name: str
    kind: str
    label: str
    hint: str
    value: str
    options: tuple[tuple[str, str], ...]
    least: float | None
    most: float | None
    problem: str

    @property
    def is_on(self) -> bool:
        return self.value == "yes"


@router.get("/manage/crawls/new")
def new_crawl_page(request: Request) -> Response:
    """The form of a new crawl."""
    asked = request.query_params.get("job", "")
    return _form(request, asked if asked in JOBS else JOBS[0], {}, {})


@router.post("/manage/crawls/new")
def add_crawl_page(request: Request) -> Response:
    """Add it; it begins as soon as there is room."""
    service, caller, given = service_of(request), caller_of(request), SubmittedForm(request)
    job = given.text("job")
    if job not in JOBS:
        raise HttpProblem(400, f"There is no job “{job[:40]}”: choose one of {', '.join(JOBS)}.")
    typed, telling = _typed(given, job), formatter_of(request)
    options, problems = _options(job, typed, telling, admin=caller.role is Role.ADMIN)
    starts = [line.strip() for line in typed["starts"].splitlines() if line.strip()]
    try:
        validate_start_urls(service, job, starts, listed=bool(options.get("list")))
    except UsageError as error:
        problems["starts"] = str(error)
    every = _every(typed["every"])
    if problems:
        return _form(request, job, typed, problems)
    try:
        crawl = control.add(
            service, actor_of(request), name=typed["name"], job=job, starts=starts, options=options, every=every,
            webhook=typed["webhook"] or None, role=caller.role,
        )  # fmt: skip
    except HttpProblem as error:
        at = "webhook" if typed["webhook"] and "webhook" in error.detail.lower() else ""
        return _form(request, job, typed, {at: error.detail} if at else {}, problem=error.detail, status=error.status_code)
    return redirect_after(f"{CRAWLS_URL}/{crawl.id}", "crawl_added")


@router.get("/manage/crawls/{crawl_id}/edit")
def edit_crawl_page(request: Request, crawl_id: int) -> Response:
    """The form of its name, its rhythm, and who is told."""
    crawl = crawl_or_404(request, crawl_id)
    return _edit(request, crawl, crawl.name, str(crawl.every or ""))


@router.post("/manage/crawls/{crawl_id}/edit")
def change_crawl_page(request: Request, crawl_id: int) -> Response:
    """Keep them."""
    crawl, given = crawl_or_404(request, crawl_id), SubmittedForm(request)
    name, every, webhook = given.text("name"), _every(given.text("every")), given.text("webhook")
    try:
        control.change(
            service_of(request), actor_of(request), crawl.id, name=name if name != crawl.name else None,
            every=every if every != crawl.every else None, repeats=False if every is None and crawl.every else None,
            webhook="" if given.has("no_webhook") else webhook or None,
        )  # fmt: skip
    except HttpProblem as error:
        typed = name, given.text("every"), webhook
        return _edit(request, crawl, *typed, problem=error.detail, status=error.status_code)
    return redirect_after(f"{CRAWLS_URL}/{crawl.id}", "crawl_changed")


def changed_options(crawl: ServedCrawl, telling: Formatter) -> list[tuple[str, str]]:
    """What was chosen for a crawl, where it is not what is usual."""
    found = []
    for choice in CRAWL_OPTIONS.get(crawl.job, ()):
        value = crawl.options.get(choice.name, choice.default)
        if value != choice.default:
            found.append((telling.say(f"choice.{choice.name}"), _shown(choice, value, telling.say)))
    return found


def _shown(choice: CrawlOptionSpec, value: Any, say: Say) -> str:
    if choice.kind == "flag":
        return say("yes") if value else say("no")
    if choice.kind == "one":
        return say(f"choice.{choice.name}.{value}")
    return (
        "\n".join(str(one) for one in value)
        if isinstance(value, list | tuple)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def _typed(given: SubmittedForm, job: str) -> dict[str, str]:
    return given.texts((*_OWN, *(choice.name for choice in CRAWL_OPTIONS[job])))


def _options(job: str, typed: Mapping[str, str], telling: Formatter, *, admin: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """What was chosen beyond what is usual, and what can not be taken, each by the name of its field."""
    options: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for choice in CRAWL_OPTIONS[job]:
        value = _value(choice, typed[choice.name])
        if typed[choice.name] == _written(choice) or value is None or (choice.admin and not admin):
            continue
        try:
            validate_options(job, {choice.name: value}, admin=admin)
        except UsageError as error:
            bounded = choice.least is not None and choice.most is not None
            bounds = {"least": f"{choice.least:,g}", "most": f"{choice.most:,.0f}"} if bounded else {}
            problems[choice.name] = telling.say("crawl.bounds", **bounds) if bounded else str(error)
        else:
            options[choice.name] = value
    return options, problems


def _value(choice: CrawlOptionSpec, text: str) -> Any:
    """A field as `allowed` takes it; None when nothing was said."""
    if choice.kind == "flag":
        return bool(text)
    if choice.kind == "texts":
        return [line.strip() for line in text.splitlines() if line.strip()] or None
    return text or None


def _written(choice: CrawlOptionSpec) -> str:
    """What is usual, as the form has it."""
    if choice.kind == "flag":
        return "yes" if choice.default else ""
    if choice.kind == "texts":
        return "\n".join(choice.default)
    return "" if choice.default is None else f"{choice.default:g}" if isinstance(choice.default, float) else str(choice.default)


def _every(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 and 0 < int(text) <= 10**9 else None


def _fields(
    job: str, typed: Mapping[str, str], problems: Mapping[str, str], telling: Formatter, *, admin: bool
) -> Iterable[CrawlFormField]:
    for choice in CRAWL_OPTIONS[job]:
        if choice.admin and not admin:
            continue
        say = telling.say
        yield CrawlFormField(
            name=choice.name, kind=choice.kind, label=say(f"choice.{choice.name}"),
            hint=choice.ja if telling.lang == "ja" else choice.words, value=typed.get(choice.name, _written(choice)),
            options=tuple((one, say(f"choice.{choice.name}.{one}")) for one in choice.values) if choice.kind == "one" else (),
            least=choice.least, most=choice.most, problem=problems.get(choice.name, ""),
        )  # fmt: skip


def _form(
    request: Request, job: str, typed: Mapping[str, str], problems: Mapping[str, str], *, problem: str = "", status: int = 400
) -> Response:
    telling = formatter_of(request)
    say, is_bad = telling.say, bool(problems or problem)
    fields = list(_fields(job, typed, problems, telling, admin=caller_of(request).role is Role.ADMIN))
    folded = [one for one in fields if one.name not in BASICS]
    return render(
        request, "crawl_form.html", status=status if is_bad else 200, place=CRAWLS_URL,
        problem=problem or (say("crawl.form.problem") if problems else ""), job=job, values=dict.fromkeys(_OWN, "") | dict(typed),
        problems=dict.fromkeys(_OWN, "") | dict(problems),
        jobs=[(one, say(f"crawl.job.{one}")) for one in JOBS], about=say(f"crawl.job.{job}.hint"), back=CRAWLS_URL,
        basics=[one for one in fields if one.name in BASICS], folded=folded, is_open=any(one.problem for one in folded),
        rhythms=_interval_choices(say, None),
    )  # fmt: skip


def _edit(
    request: Request, crawl: ServedCrawl, name: str, every: str, webhook: str = "", *, problem: str = "", status: int = 200
) -> Response:
    """The address of a webhook may be a secret: only its host is shown."""
    say = formatter_of(request).say
    return render(
        request, "crawl_edit.html", status=status, place=CRAWLS_URL, problem=problem, name=name, every=every, webhook=webhook,
        webhook_host=urlsplit(crawl.webhook).hostname or "" if crawl.webhook else "",
        action=f"{CRAWLS_URL}/{crawl.id}/edit", back=f"{CRAWLS_URL}/{crawl.id}", heading=say("crawl.edit.title", name=crawl.name),
        rhythms=_interval_choices(say, crawl.every, formatter_of(request)),
    )  # fmt: skip


def _interval_choices(say: Say, present: int | None, telling: Formatter | None = None) -> list[tuple[str, str]]:
    """How often; a rhythm that was given elsewhere stays possible."""
    found = [("", say("crawl.every.never")), *((str(one), say(f"crawl.every.{one}")) for one in INTERVALS)]
    if present and present not in INTERVALS and telling is not None:
        found.append((str(present), say("crawl.every.span", span=telling.span(present))))
    return found
