"""The JSON form: the seed's CrawlResult, written element by element, one URL a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TextIO

from tadoru.jobs.links.report.base import LinksReport
from tadoru.jobs.report.escape import json_safe


def write_json(report: LinksReport, out: TextIO) -> None:
    """Writes the document; external URLs only when they are to be shown."""
    result = report.result.with_bad_links(report.broken)
    if not report.show_external:
        result = replace(result, external_urls=())
    separator = "{\n"
    for name, value in result.fields():
        out.write(f"{separator}  {_encode(name)}: ")
        if isinstance(value, Iterator):
            _write_list(value, out)
        else:
            out.write(_encode(value))
        separator = ",\n"
    out.write("\n}\n")


def _write_list(items: Iterator[Any], out: TextIO) -> None:
    separator, end = "[\n", "[]"
    for item in items:
        out.write(f"{separator}    {_encode(item)}")
        separator, end = ",\n", "\n  ]"
    out.write(end)


def _encode(value: Any) -> str:
    return json_safe(json.dumps(value, ensure_ascii=False, allow_nan=False))
