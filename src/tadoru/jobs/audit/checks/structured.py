"""Structured data: what search engines would have to throw away."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, define
from tadoru.parse.vocabulary import malformed, missing

_define = partial(define, group="structured-data")

PARSE_ERROR = _define(
    "structured-data-parse-error",
    Severity.ERROR,
    en=(
        "Structured data can not be read",
        "A block of JSON-LD is not valid JSON, and is ignored as a whole.",
        "Correct the JSON: often a comma, a quote or a line break.",
    ),
    ja=(
        "構造化データを読み取れない",
        "JSON-LDが正しいJSONでないため、全体が無視されます。",
        "JSONを修正してください。多くはカンマ、引用符、改行の誤りです。",
    ),
)
NO_CONTEXT = _define(
    "structured-data-without-context",
    Severity.WARNING,
    en=("JSON-LD without @context", "Without a context the names in it mean nothing.", 'Add "@context": "https://schema.org".'),
    ja=(
        "JSON-LDに@contextがない",
        "@context がないと、中の名前に意味がありません。",
        '"@context": "https://schema.org" を加えてください。',
    ),
)
REQUIRED = _define(
    "structured-data-required-missing",
    Severity.WARNING,
    en=("Required property missing", "Without it the item earns no rich result.", "Add the property that is named."),
    ja=("必須プロパティがない", "これがないとリッチリザルトの対象になりません。", "示されたプロパティを加えてください。"),
)
VALUE = _define(
    "structured-data-invalid-value",
    Severity.WARNING,
    en=(
        "Invalid value in structured data",
        "A date, number or currency is not written in the form that machines read.",
        "Write dates as 2026-01-31, numbers as 1234.50, currencies as EUR.",
    ),
    ja=(
        "構造化データの値が不正",
        "日付・数値・通貨が機械の読める形式ではありません。",
        "日付は 2026-01-31、数値は 1234.50、通貨は JPY のように書いてください。",
    ),
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
