"""The comparison as JSON: every change, one a line, written while the crawls are read; the sums stand at the end.

{"schema": "tadoru-comparison", "schema_version": 1, "before": {...}, "after": {...},
 "changes": [{"kind", "url", "before", "after"}, {"kind": "new-finding", "url", "check", "severity", "subject"}, ...],
 "totals": {kind: number}, "checks": [{"check", "severity", "group", "title", "before", "after", "new", "fixed", "gone"}, ...],
 "pages_before", "pages_after", "compared", "unseen", "twins"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from tadoru.clock import iso
from tadoru.errors import without_passwords
from tadoru.jobs.audit.compare.changes import FINDINGS, Change, Kind
from tadoru.jobs.audit.compare.comparison import Comparison
from tadoru.jobs.audit.compare.sides import Side
from tadoru.jobs.audit.compare.texts import Sentences
from tadoru.jobs.audit.report.json_form import encode

SCHEMA = "tadoru-comparison"
SCHEMA_VERSION = 1


class JsonForm:
    """Writes one comparison."""

    def __init__(self, before: Side, after: Side, severities: Mapping[str, str], out: TextIO) -> None:
        self._out = out
        self._severities = severities
        self._first = True
        head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "before": _side(before), "after": _side(after)}
        self._out.write(f"{encode(head)[:-1]},\n")
        self._out.write('"changes": [')

    def change(self, change: Change) -> None:
        self._out.write("\n" if self._first else ",\n")
        self._first = False
        self._out.write(encode(self._plain(change)))

    def end(self, result: Comparison, say: Sentences) -> None:
        tail = {
            "totals": {str(kind): result.counts[kind] for kind in Kind},
            "checks": [
                {
                    "check": one.check.id, "severity": one.check.severity, "group": one.check.group,
                    "title": say.check_title(one.check), "before": one.before, "after": one.after, "new": one.new,
                    "fixed": one.fixed, "gone": one.gone,
                }
                for one in sorted(result.checks.values(), key=lambda one: one.check.id)
                if one.before or one.after
            ],
            "pages_before": result.pages_before, "pages_after": result.pages_after, "compared": result.compared,
            "unseen": result.unseen, "twins": result.twins,
        }  # fmt: skip
        self._out.write(f"\n],\n{encode(tail)[1:]}\n")

    def _plain(self, change: Change) -> dict[str, Any]:
        if change.kind not in FINDINGS:
            return {"kind": str(change.kind), "url": change.url, "before": change.before, "after": change.after}
        subject = change.after if change.kind is Kind.NEW_FINDING else change.before
        return {
            "kind": str(change.kind), "url": change.url, "check": change.check_id,
            "severity": self._severities[change.check_id], "subject": subject or "",
        }  # fmt: skip


def _side(side: Side) -> dict[str, Any]:
    run = side.run
    return {
        "database": without_passwords(side.name),
        "run": run.number,
        "started_at": iso(run.started_at),
        "ended_at": iso(run.ended_at) if run.ended_at else None,
        "outcome": run.outcome,
        "partial": run.partial,
        "score": run.score,
    }
