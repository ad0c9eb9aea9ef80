"""Structured data: what search engines would have to throw away."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, define
from tadoru.parse.vocabulary import malformed, missing

_define = partial(define, group="structured-data")

PARSE_ERROR = _define(
    "structured-data-parse-error",
    Severity.ERROR,
    title=N_("Structured data can not be read"),
    why=N_("A block of JSON-LD is not valid JSON, and is ignored as a whole."),
    fix=N_("Correct the JSON: often a comma, a quote or a line break."),
)
NO_CONTEXT = _define(
    "structured-data-without-context",
    Severity.WARNING,
    title=N_("JSON-LD without @context"),
    why=N_("Without a context the names in it mean nothing."),
    fix=N_('Add "@context": "https://schema.org".'),
)
REQUIRED = _define(
    "structured-data-required-missing",
    Severity.WARNING,
    title=N_("Required property missing"),
    why=N_("Without it the item earns no rich result."),
    fix=N_("Add the property that is named."),
)
VALUE = _define(
    "structured-data-invalid-value",
    Severity.WARNING,
    title=N_("Invalid value in structured data"),
    why=N_("A date, number or currency is not written in the form that machines read."),
    fix=N_("Write dates as 2026-01-31, numbers as 1234.50, currencies as EUR."),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    data = page.structured
    if data.problems:
        yield PARSE_ERROR.among(page.url, data.problems)
    if data.without_context:
        yield NO_CONTEXT.on(page.url, count=data.without_context)
    if lacking := list(missing(data.items)):
        yield REQUIRED.among(page.url, lacking)
    if wrong := list(malformed(data.items)):
        yield VALUE.among(page.url, wrong)


GROUP = CheckGroup((PARSE_ERROR, NO_CONTEXT, REQUIRED, VALUE), run)
