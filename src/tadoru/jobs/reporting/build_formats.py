"""The formats that build servers read: SARIF 2.1.0 for code scanning, JUnit for test results, and GitLab's code quality report.

Each writer takes values that a job has made from its findings, and streams them: a result a line, a test case at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, NamedTuple, TextIO
from xml.sax.saxutils import escape as escape_text
from xml.sax.saxutils import quoteattr

from tadoru.jobs.reporting.escape import encode_json, printable
from tadoru.version import PROJECT_URL, VERSION

SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "tadoru/v1"
_LANGUAGES = {"en": "en-US", "ja": "ja-JP"}
_NOT_IN_URI = re.compile(r"[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

CaseOutcome = Literal["passed", "failed", "skipped", "noted"]


class ResultPlace(NamedTuple):
    """Where a result was found: the URL of a page, or a file with a line and a column from 1."""

    uri: str
    line: int | None = None
    column: int | None = None


def fingerprint(*key: str) -> str:
    """The identity of a result across runs."""
    return sha256("\n".join(key).encode("utf-8", "replace")).hexdigest()


def encode_uri(text: str) -> str:
    """A valid URI: characters that a URI cannot contain are percent-encoded."""
    escaped = _NOT_IN_URI.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text)
    return re.sub(r"%(?![0-9A-Fa-f]{2})", "%25", escaped)


@dataclass(frozen=True, slots=True, kw_only=True)
class SarifRun:
    """What a SARIF log states besides its results."""

    id: str
    """What was checked: `audit/https://example.com/`."""
    lang: str
    rules: Sequence[Mapping[str, Any]]
    invocation: Mapping[str, Any]
    properties: Mapping[str, Any]


def write_sarif_log(run: SarifRun, results: Iterable[Mapping[str, Any]], out: TextIO) -> None:
    """Writes a log of one run."""
    driver = {"name": "Tadoru", "semanticVersion": VERSION, "informationUri": PROJECT_URL, "rules": run.rules}
    out.write(f'{{\n  "$schema": {encode_json(SARIF_SCHEMA)},\n  "version": "2.1.0",\n  "runs": [{{\n')
    for name, value in (
        ("tool", {"driver": driver}),
        ("language", _LANGUAGES[run.lang]),
        ("columnKind", "unicodeCodePoints"),
        ("automationDetails", {"id": f"tadoru/{encode_uri(run.id)}"}),
        ("invocations", [run.invocation]),
        ("properties", run.properties),
    ):
        out.write(f"    {encode_json(name)}: {encode_json(value)},\n")
    out.write('    "results": ')
    write_json_list(results, out, "    ")
    out.write("\n  }]\n}\n")


def sarif_result(rule: str, index: int, level: str, message: str, place: ResultPlace, key: Sequence[str]) -> dict[str, Any]:
    """A result of a SARIF log; `key` identifies it across runs, `index` is that of its rule."""
    location: dict[str, Any] = {"artifactLocation": {"uri": encode_uri(place.uri)}}
    if place.line is not None:
        location["region"] = {"startLine": place.line} | ({"startColumn": place.column} if place.column is not None else {})
    return {
        "ruleId": rule,
        "ruleIndex": index,
        "level": level,
        "message": {"text": printable(message)},
        "locations": [{"physicalLocation": location}],
        "fingerprints": {FINGERPRINT: fingerprint(*key)},
    }


def code_quality_issue(check: str, severity: str, message: str, place: ResultPlace, key: Sequence[str]) -> dict[str, Any]:
    """An issue of GitLab's code quality report; `severity` is info, minor, major, critical or blocker."""
    return {
        "description": printable(message),
        "check_name": check,
        "fingerprint": fingerprint(*key),
        "severity": severity,
        "location": {"path": printable(place.uri).removeprefix("./"), "lines": {"begin": place.line or 1}},
    }


def write_json_list(items: Iterable[Any], out: TextIO, indent: str = "") -> None:
    """Writes a JSON list, one item a line."""
    separator, end = "[\n", "[]"
    for item in items:
        out.write(f"{separator}{indent}  {encode_json(item)}")
        separator, end = ",\n", f"\n{indent}]"
    out.write(end)


@dataclass(frozen=True, slots=True, kw_only=True)
class JunitCase:
    """A test case. The lines, which may be many, are read when it is written."""

    name: str
    class_name: str
    outcome: CaseOutcome = "passed"
    """`noted` passes, and has its lines as output."""
    message: str = ""
    type: str = ""
    lines: Iterable[str] = ()
    place: ResultPlace | None = None
    """The file of the case, which build servers link to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JunitSuite:
    """A test suite."""

    name: str
    timestamp: str
    hostname: str
    properties: Mapping[str, object]
    cases: Sequence[JunitCase]


def write_junit_suites(name: str, suites: Sequence[JunitSuite], out: TextIO) -> None:
    """Writes a JUnit document."""
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f"<testsuites {_attributes(name=name, **_counts([case for suite in suites for case in suite.cases]))}>\n")
    for suite in suites:
        stamps = {"time": 0, "timestamp": suite.timestamp, "hostname": suite.hostname}
        out.write(f"  <testsuite {_attributes(name=suite.name, **_counts(suite.cases), **stamps)}>\n")
        properties = "".join(f"<property {_attributes(name=key, value=value)}/>" for key, value in suite.properties.items())
        out.write(f"    <properties>{properties}</properties>\n")
        for case in suite.cases:
            out.writelines(_case(case))
        out.write("  </testsuite>\n")
    out.write("</testsuites>\n")


def _counts(cases: Sequence[JunitCase]) -> dict[str, int]:
    return {
        "tests": len(cases),
        "failures": sum(case.outcome == "failed" for case in cases),
        "errors": 0,
        "skipped": sum(case.outcome == "skipped" for case in cases),
    }


def _case(case: JunitCase) -> Iterator[str]:
    place = {"file": case.place.uri, "line": case.place.line or 1} if case.place is not None else {}
    yield f"    <testcase {_attributes(name=case.name, classname=case.class_name, **place, time=0)}"
    if case.outcome == "passed":
        yield "/>\n"
        return
    yield ">\n"
    if case.outcome == "skipped":
        yield f"      <skipped {_attributes(message=case.message)}/>\n"
    elif case.outcome == "failed":
        yield f"      <failure {_attributes(message=case.message, type=case.type)}>"
        yield from map(_text, case.lines)
        yield "</failure>\n"
    else:
        yield "      <system-out>"
        yield from map(_text, case.lines)
        yield "</system-out>\n"
    yield "    </testcase>\n"


def _attributes(**values: object) -> str:
    return " ".join(f"{name}={quoteattr(_clean(str(value)))}" for name, value in values.items())


def _text(text: str) -> str:
    return escape_text(_clean(text))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
