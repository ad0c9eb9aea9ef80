"""The forms of a crawl. Fields and bounds of a new one come from `serve.crawl_runner.crawl_options`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.config.settings import CrawlField
from tadoru.errors import UsageError
from tadoru.i18n.translation import N_, Formatter
from tadoru.serve.auth.principal import actor_of
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_options import CRAWL_OPTIONS, JOBS, validate_options, validate_start_urls
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.serve.service import service_of
from tadoru.serve.web.crawls.view_models import CRAWLS_URL, JOB_LABELS, crawl_or_404
from tadoru.serve.web.rendering import Problem, caller_of, explain, formatter_of, redirect_after, render
from tadoru.serve.web.request_input import SubmittedForm
from tadoru.store.served_crawls.schema import DAILY, WEEKDAYS, ServedCrawl

router = APIRouter(include_in_schema=False)
BASICS = ("depth", "limit")
"""The options outside the advanced section."""
_OWN = ("starts", "name", "every", "webhook", "day", "at", "zone", "report_to")
"""Fields that are not options of the job."""
INTERVALS = {
    3600: N_("Every hour"), 21600: N_("Every 6 hours"), 86400: N_("Every day"), 604800: N_("Every week"),
    2592000: N_("Every 30 days"),
}  # fmt: skip
"""How often a crawl can repeat, in seconds."""
_WEEKDAY_LABELS = (
    N_("Every Monday"), N_("Every Tuesday"), N_("Every Wednesday"), N_("Every Thursday"), N_("Every Friday"),
    N_("Every Saturday"), N_("Every Sunday"),
)  # fmt: skip
_JOB_HINTS = {
    "audit": N_("Find the problems of a site: titles, links, speed, security."),
    "links": N_("Map the links of a site and find the broken ones."),
    "docs": N_("Save a documentation site as Markdown, to read and search."),
}


@dataclass(frozen=True, slots=True)
class CrawlFormField:
    """A field of the form of a new crawl."""

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
        """Whether a checkbox is checked."""
        return self.value == "yes"


@router.get("/manage/crawls/new")
def new_crawl_page(request: Request) -> Response:
    """The form of a new crawl."""
    asked = request.query_params.get("job", "")
    return _form(request, asked if asked in JOBS else JOBS[0], {}, {})


@router.post("/manage/crawls/new")
def add_crawl_page(request: Request) -> Response:
    """Add and queue a crawl."""
    service, caller, given = service_of(request), caller_of(request), SubmittedForm(request)
    job = given.text("job")
    if job not in JOBS:
        raise HttpProblem(400, "There is no job “{job}”. Choose one of {jobs}.", job=job[:40], jobs=", ".join(JOBS))
    typed, formatter = given.texts((*_OWN, *(choice.name for choice in CRAWL_OPTIONS[job]))), formatter_of(request)
    options, problems = _options(job, typed, formatter, admin=caller.role is Role.ADMIN)
    starts = [line.strip() for line in typed["starts"].splitlines() if line.strip()]
    try:
        validate_start_urls(service, job, starts, listed=bool(options.get("list")))
    except UsageError as error:
        problems["starts"] = formatter.translator.error(error)
    every = _scheduled_interval(typed, _every(typed["every"]))
    if problems:
        return _form(request, job, typed, problems)
    try:
        crawl = control.add(
            service, actor_of(request), name=typed["name"], job=job, starts=starts, options=options, every=every,
            webhook=typed["webhook"] or None, role=caller.role, schedule=_schedule(typed), report_to=typed["report_to"],
        )  # fmt: skip
    except HttpProblem as error:
        at = "webhook" if typed["webhook"] and "webhook" in error.detail.lower() else ""
        return _form(
            request, job, typed, {at: explain(error, formatter.translator)} if at else {}, problem=error, status=error.status_code
        )
    return redirect_after(f"{CRAWLS_URL}/{crawl.id}", "crawl_added")


@router.get("/manage/crawls/{crawl_id}/edit")
def edit_crawl_page(request: Request, crawl_id: int) -> Response:
    """The form of the name, the interval and the webhook."""
    crawl = crawl_or_404(request, crawl_id)
    day, _, rest = crawl.schedule.partition(" ")
    at, _, zone = rest.partition(" ")
    when = {"day": "" if day == DAILY else day, "at": at, "zone": zone, "report_to": crawl.report_to}
    return _edit(request, crawl, crawl.name, str(crawl.every or ""), when=when)


@router.post("/manage/crawls/{crawl_id}/edit")
def change_crawl_page(request: Request, crawl_id: int) -> Response:
    """Save the form."""
    crawl, given = crawl_or_404(request, crawl_id), SubmittedForm(request)
    when = given.texts(("every", "day", "at", "zone", "report_to"))
    name, every, webhook = given.text("name"), _scheduled_interval(when, _every(when["every"])), given.text("webhook")
    schedule = _schedule(when)
    try:
        control.change(
            service_of(request), actor_of(request), crawl.id, name=name if name != crawl.name else None,
            every=every if every != crawl.every else None, repeats=False if every is None and crawl.every else None,
            webhook="" if given.has("no_webhook") else webhook or None,
            schedule=schedule if schedule != crawl.schedule and every is not None else None, report_to=when["report_to"],
        )  # fmt: skip
    except HttpProblem as error:
        return _edit(request, crawl, name, when["every"], webhook, when=when, problem=error, status=error.status_code)
    return redirect_after(f"{CRAWLS_URL}/{crawl.id}", "crawl_changed")


def changed_options(crawl: ServedCrawl, formatter: Formatter) -> list[tuple[str, str]]:
    """The options of a crawl that differ from the defaults: label and value."""
    found = []
    for choice in CRAWL_OPTIONS.get(crawl.job, ()):
        value = crawl.options.get(choice.name, choice.default)
        if value != choice.default:
            found.append((formatter.gettext(choice.label), _format_value(choice, value, formatter)))
    return found


def _format_value(choice: CrawlField, value: Any, formatter: Formatter) -> str:
    _ = formatter.gettext
    if choice.kind == "flag":
        return _("Yes") if value else _("No")
    if choice.kind == "one":
        return _(choice.value_labels[choice.values.index(value)])
    if isinstance(value, list | tuple):
        return "\n".join(str(one) for one in value)
    return formatter.number(value) if isinstance(value, int) else str(value)


def _options(job: str, typed: Mapping[str, str], formatter: Formatter, *, admin: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """The options that differ from the defaults, and the problems of invalid ones, by the name of the field."""
    _ = formatter.gettext
    options: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for choice in CRAWL_OPTIONS[job]:
        value = _value(choice, typed[choice.name])
        if typed[choice.name] == _format_default(choice) or value is None or (choice.admin and not admin):
            continue
        try:
            validate_options(job, {choice.name: value}, admin=admin)
        except UsageError as error:
            bounded = choice.least is not None and choice.most is not None
            bounds = {"least": f"{choice.least:,g}", "most": f"{choice.most:,.0f}"} if bounded else {}
            problems[choice.name] = (
                _("Enter a number from {least} to {most}.", **bounds) if bounded else formatter.translator.error(error)
            )
        else:
            options[choice.name] = value
    return options, problems


def _value(choice: CrawlField, text: str) -> Any:
    """The value of a field; None if it is empty."""
    if choice.kind == "flag":
        return bool(text)
    if choice.kind == "texts":
        return [line.strip() for line in text.splitlines() if line.strip()] or None
    return text or None


def _format_default(choice: CrawlField) -> str:
    """The default as the form shows it."""
    if choice.kind == "flag":
        return "yes" if choice.default else ""
    if choice.kind == "texts":
        return "\n".join(choice.default)
    return "" if choice.default is None else f"{choice.default:g}" if isinstance(choice.default, float) else str(choice.default)


def _every(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 and 0 < int(text) <= 10**9 else None


def _schedule(typed: Mapping[str, str]) -> str:
    """The schedule of a form with a time; empty without one."""
    at = typed["at"][:5]
    return f"{typed['day'] or DAILY} {at} {typed['zone'] or 'UTC'}" if at else ""


def _scheduled_interval(typed: Mapping[str, str], every: int | None) -> int | None:
    """The interval of a form: that of its schedule, if it has a time."""
    return control.schedule_interval(_schedule(typed)) or every


def _weekday_choices(formatter: Formatter) -> list[tuple[str, str]]:
    _ = formatter.gettext
    return [("", _("Every day")), *((name, _(label)) for name, label in zip(WEEKDAYS, _WEEKDAY_LABELS, strict=True))]


def _fields(
    job: str, typed: Mapping[str, str], problems: Mapping[str, str], formatter: Formatter, *, admin: bool
) -> Iterable[CrawlFormField]:
    for choice in CRAWL_OPTIONS[job]:
        if choice.admin and not admin:
            continue
        _ = formatter.gettext
        yield CrawlFormField(
            name=choice.name, kind=choice.kind, label=_(choice.label), hint=_(choice.description),
            value=typed.get(choice.name, _format_default(choice)),
            options=tuple((value, _(label)) for value, label in zip(choice.values, choice.value_labels, strict=False)),
            least=choice.least, most=choice.most, problem=problems.get(choice.name, ""),
        )  # fmt: skip


def _form(
    request: Request, job: str, typed: Mapping[str, str], problems: Mapping[str, str], *, problem: Problem = "", status: int = 400
) -> Response:
    formatter = formatter_of(request)
    _, is_bad = formatter.gettext, bool(problems or problem)
    fields = list(_fields(job, typed, problems, formatter, admin=caller_of(request).role is Role.ADMIN))
    folded = [one for one in fields if one.name not in BASICS]
    return render(
        request, "crawls/form.html", status=status if is_bad else 200, place=CRAWLS_URL,
        problem=problem or (_("Please correct the marked fields.") if problems else ""), job=job,
        values=dict.fromkeys(_OWN, "") | dict(typed), problems=dict.fromkeys(_OWN, "") | dict(problems),
        jobs=[(one, _(JOB_LABELS[one])) for one in JOBS], about=_(_JOB_HINTS[job]), back=CRAWLS_URL,
        basics=[one for one in fields if one.name in BASICS], folded=folded, is_open=any(one.problem for one in folded),
        intervals=_interval_choices(formatter, None), weekdays=_weekday_choices(formatter),
        default_zone=service_of(request).options.timezone,
    )  # fmt: skip


def _edit(
    request: Request, crawl: ServedCrawl, name: str, every: str, webhook: str = "", *, when: Mapping[str, str],
    problem: Problem = "", status: int = 200,
) -> Response:  # fmt: skip
    """The form of a crawl that exists. The URL of a webhook may be a secret: only its host is shown."""
    formatter = formatter_of(request)
    _ = formatter.gettext
    return render(
        request, "crawls/edit.html", status=status, place=CRAWLS_URL, problem=problem, name=name, every=every, webhook=webhook,
        webhook_host=urlsplit(crawl.webhook).hostname or "" if crawl.webhook else "",
        action=f"{CRAWLS_URL}/{crawl.id}/edit", back=f"{CRAWLS_URL}/{crawl.id}", heading=_("Edit {name}", name=crawl.name),
        intervals=_interval_choices(formatter, crawl.every), when=when, weekdays=_weekday_choices(formatter),
        default_zone=service_of(request).options.timezone,
    )  # fmt: skip


def _interval_choices(formatter: Formatter, present: int | None) -> list[tuple[str, str]]:
    """How often a crawl can repeat, including its present interval."""
    _ = formatter.gettext
    found = [("", _("Never")), *((str(one), _(label)) for one, label in INTERVALS.items())]
    if present and present not in INTERVALS:
        found.append((str(present), _("every {span}", span=formatter.duration(present))))
    return found
