"""Checks of structured data (JSON-LD, microdata, RDFa)."""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding
from tadoru.parse.structured import malformed_properties, missing_properties

_define = CheckDefinitions("structured-data")

PARSE_ERROR = _define.error(
    "structured-data-parse-error",
    title=N_("Structured data parse error"),
    why=N_("A JSON-LD block is not valid JSON and is ignored."),
    fix=N_("Correct the JSON. The cause is often a comma, a quotation mark or a line break."),
)
NO_CONTEXT = _define.warning(
    "structured-data-without-context",
    title=N_("JSON-LD without @context"),
    why=N_("Without @context, the property names have no defined meaning."),
    fix=N_('Add "@context": "https://schema.org".'),
)
REQUIRED = _define.warning(
    "structured-data-required-missing",
    title=N_("Missing required property in structured data"),
    why=N_("Without the property, the item is not eligible for rich results."),
    fix=N_("Add the listed properties."),
)
VALUE = _define.warning(
    "structured-data-invalid-value",
    title=N_("Invalid value in structured data"),
    why=N_("A date, number or currency is not in the required format."),
    fix=N_("Use formats such as 2026-01-31 for dates, 1234.50 for numbers and EUR for currencies."),
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
    if lacking := list(missing_properties(data.items)):
        yield REQUIRED.among(page.url, lacking)
    if wrong := list(malformed_properties(data.items)):
        yield VALUE.among(page.url, wrong)


GROUP = CheckGroup(_define.checks, run)
