"""The forms an audit is told in: text, json, html, junit, sarif, markdown.

A form is a function that writes an `AuditReport` to a text stream. Forms are imported when they are asked for, so that a command
which prints text does not wait for the HTML page.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TextIO

from tadoru.clock import Clock, SystemClock
from tadoru.errors import UsageError, without_passwords
from tadoru.jobs.audit.report.base import AuditReport
from tadoru.jobs.audit.report.before import opened_baseline
from tadoru.jobs.audit.report.choice import Choice
from tadoru.jobs.audit.report.language import LANGUAGES
from tadoru.jobs.audit.report.reading import Extent, summarise
from tadoru.jobs.audit.run import analyse_left_over
from tadoru.jobs.audit.suppress import Suppressions
from tadoru.jobs.report.output import in_colour, opened_output
from tadoru.store.open import open_existing

__all__ = ["FORMS", "Order", "form_of", "print_summary", "write", "write_report"]


@dataclass(frozen=True, slots=True)
class Form:
    """A form: where its function is, which files it is for, and how much it shows."""

    function: str
    endings: tuple[str, ...]
    extent: Extent
    lists_all: bool = False
    """Whether it can list every page of each check."""


FORMS: dict[str, Form] = {
    "text": Form("terminal:write_text", (".txt",), Extent(examples=1, lists=False), lists_all=True),
    "json": Form("json_form:write_json", (".json",), Extent()),
    "html": Form("html:write_html", (".html", ".htm"), Extent(examples=100, inlinks=3, graph=True)),
    "junit": Form("junit:write_junit", (".xml",), Extent(examples=100, inlinks=3, lists=False), lists_all=True),
    "sarif": Form("sarif:write_sarif", (".sarif",), Extent(lists=False)),
    "markdown": Form(
        "markdown:write_markdown", (".md", ".markdown"), Extent(examples=10, inlinks=3, lists=False), lists_all=True
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A report as a person asks for it."""

    database: str
    form: str = "text"
    lang: str = "en"
    choice: Choice = Choice()
    list_all: bool = False
    suppress: str | None = None
    baseline: str | None = None


def form_of(path: str) -> str:
    """The form that a file's name asks for. Raises UsageError."""
    ending = Path(path).suffix.lower()
    for name, form in FORMS.items():
        if ending in form.endings:
            return name
    known = ", ".join(form.endings[0] for form in FORMS.values())
    raise UsageError(f"What form {path} shall have can not be told from its name: let it end in one of {known}.")


def write(order: Order, out: TextIO, *, colour: bool = False) -> list[str]:
    """Writes a report; what there is to say about its suppression file. Raises UsageError before anything is written."""
    return asyncio.run(_write(order, out, SystemClock(), colour=colour))


def write_report(path: str, database: str, *, lang: str = "en", suppress: str | None = None, baseline: str | None = None) -> None:
    """Writes a report to a file, in the form that its name asks for."""
    with opened_output(path) as out:
        write(Order(database=database, form=form_of(path), lang=lang, suppress=suppress, baseline=baseline), out)


def print_summary(database: str, out: TextIO, *, lang: str = "en", suppress: str | None = None) -> list[str]:
    """Writes the summary for a terminal; what there is to say about the suppression file."""
    return write(Order(database=database, lang=lang, suppress=suppress), out, colour=in_colour(out))


async def _write(order: Order, out: TextIO, clock: Clock, *, colour: bool) -> list[str]:
    suppressions = Suppressions.read(order.suppress)
    form = FORMS[order.form]
    if order.list_all and not form.lists_all:
        others = ", ".join(name for name, each in FORMS.items() if each.lists_all)
        raise UsageError(f"--all is for {others}: {_WHY_NOT_ALL[order.form]}")
    words = LANGUAGES[order.lang]
    store = open_existing(order.database, clock)
    try:
        await analyse_left_over(store)
        async with opened_baseline(order.baseline, store, clock) as baseline:
            with store.one_moment():
                catalogue = store.stored_checks()
                if not catalogue:
                    raise UsageError(f"{order.database} holds no audit: `tadoru audit URL -d FILE` makes one.")
                chosen = order.choice.of(catalogue)
                extent = Extent(lists=False) if order.list_all else form.extent
                report = AuditReport(
                    summary=await summarise(store, chosen, suppressions, extent),
                    words=words,
                    database=without_passwords(order.database),
                    store=store,
                    suppressions=suppressions,
                    list_all=order.list_all,
                    baseline=baseline,
                )
                _function(form)(report, out, **({"colour": colour} if order.form == "text" else {}))
    finally:
        await store.close()
    return [words.unused.format(file=suppressions.name, line=entry.line, text=entry.text) for entry in report.summary.unused]


_WHY_NOT_ALL = {
    "json": "the JSON form has every finding anyway.",
    "sarif": "the SARIF form has every finding anyway.",
    "html": "the page stays small enough to be opened, and names the command that lists the rest.",
}


def _function(form: Form) -> Callable[..., None]:
    module, _, name = form.function.partition(":")
    function: Callable[..., None] = getattr(import_module(f"{__name__}.{module}"), name)
    return function
