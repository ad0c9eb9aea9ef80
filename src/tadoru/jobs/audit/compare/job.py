"""Compares two crawls and writes the result; and the gates of `tadoru compare --fail-on`.

A gate that is exceeded ends the command with exit code 10:

regressions                  pages that broke, disappeared or are no longer indexable, and new errors
broken, removed, title …     any change of that kind
new, new-error, new-title-*  any new finding, any of at least that severity, any of these checks
score>2                      the score fell by more than that
removed>5, broken>1%         more than that number, or that share of the pages that both crawls have
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TextIO

from tadoru.clock import Clock
from tadoru.errors import Message
from tadoru.i18n.translation import translator
from tadoru.jobs.audit.compare.comparison import FINDING_CHANGES, REGRESSIONS, ChangeKind, CrawlComparison, compare_runs
from tadoru.jobs.audit.compare.report_formats import ComparisonJsonWriter, write_markdown, write_text
from tadoru.jobs.audit.compare.run_handles import RunHandle, open_runs, parse_rewrites
from tadoru.jobs.audit.gates import GateTerm, parse_terms, unknown_term_error
from tadoru.jobs.audit.score import score_change
from tadoru.jobs.audit.site_checks import MERGED_CHECKS
from tadoru.model.finding import Severity
from tadoru.store.crawl.run_pages import CheckTexts

_KINDS = [str(kind) for kind in ChangeKind if kind not in FINDING_CHANGES]
GATE_SYNTAX = (
    f"regressions, new, new-error, new-warning, new- and a check, score, or one of {', '.join(_KINDS)}, "
    "each optionally with >5 or >2%"
)


@dataclass(frozen=True, slots=True)
class CompareGates:
    """The gates of `--fail-on`."""

    terms: tuple[GateTerm, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str], checks: Iterable[CheckTexts]) -> CompareGates:
        """Parses the values of `--fail-on`; `checks` are those of both crawls. Raises UsageError."""
        catalogue = list(checks)
        ids = {check.id for check in catalogue} | {check.group for check in catalogue} | MERGED_CHECKS.keys()
        terms = tuple(parse_terms(texts, GATE_SYNTAX))
        known = {"regressions", "score", "new", *_KINDS, *(f"new-{severity}{s}" for severity in Severity for s in ("", "s"))}
        for term in terms:
            name = term.name.removeprefix("new-")
            if term.name not in known and not (name != term.name and any(fnmatchcase(one, name) for one in ids)):
                raise unknown_term_error(term, [*known, *(f"new-{one}" for one in ids)], GATE_SYNTAX)
            term.check(">", ("",) if term.name == "score" else ("", "%"))
        return cls(terms)

    def exceeded(self, result: CrawlComparison) -> list[str]:
        """A message for each gate that was exceeded."""
        return [message for term in self.terms if (message := _exceeded(term, result))]


def _exceeded(term: GateTerm, result: CrawlComparison) -> Message | None:
    if term.name == "score":
        points = -(score_change(result.before.run, result.after.run) or 0.0)
        if not term.holds(points):
            return None
        return Message("The score fell by {points}, {allowed}.", points=f"{points:.1f}", allowed=term.allowed)
    number = _count(term.name, result)
    if term.unit == "%":
        share = 100.0 * number / result.compared if result.compared else 0.0
        if not term.holds(share):
            return None
        return Message(
            "{name}: {number} of {total} pages ({share}%), {allowed}.",
            name=term.name,
            number=f"{number:,}",
            total=f"{result.compared:,}",
            share=f"{share:.1f}",
            allowed=term.allowed,
        )
    if not term.holds(number):
        return None
    return Message("{name}: {number}, {allowed}.", name=term.name, number=f"{number:,}", allowed=term.allowed)


def _count(name: str, result: CrawlComparison) -> int:
    if name == "regressions":
        return sum(result.counts[kind] for kind in REGRESSIONS) + result.new_findings(Severity.ERROR)
    if name == "new":
        return result.counts[ChangeKind.NEW_FINDING]
    if name in _KINDS:
        return result.counts[ChangeKind(name)]
    wanted = name.removeprefix("new-")
    if wanted.removesuffix("s") in list(Severity):
        return result.new_findings(Severity(wanted.removesuffix("s")))
    successors = {check for merged, into in MERGED_CHECKS.items() if fnmatchcase(merged, wanted) for check in into}
    return sum(
        change.new
        for change in result.checks.values()
        if fnmatchcase(change.check.id, wanted) or change.check.group == wanted or change.check.id in successors
    )


COMPARE_FORMATS = ("text", "json", "markdown", "html")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """Which crawls to compare, and how to show it."""

    names: Sequence[str]
    """`FILE` or `FILE@RUN`, one or two."""
    maps: Sequence[str] = ()
    form: str = "text"
    lang: str = "en"
    shown: int = 20
    """Examples of each kind of change; the JSON format has all changes."""
    fail_on: Sequence[str] = ()
    colour: bool = False


class CompareJob:
    """A comparison whose request is checked before anything is written."""

    def __init__(
        self, request: CompareRequest, before: RunHandle, after: RunHandle, gates: CompareGates, severities: dict[str, str]
    ) -> None:
        self._request = request
        self._runs = before, after
        self._gates = gates
        self._severities = severities
        self._rewrite = parse_rewrites(request.maps)
        self._translate = translator(request.lang)

    @classmethod
    async def open(cls, request: CompareRequest, clock: Clock) -> CompareJob:
        """Opens both crawls. Raises UsageError."""
        parse_rewrites(request.maps)
        before, after = await open_runs(request.names, clock)
        try:
            checks = {check.id: check for run in (before, after) for check in (await run.store.run_pages.check_words()).values()}
            gates = CompareGates.parse(request.fail_on, checks.values())
        except BaseException:
            await before.close()
            await after.close()
            raise
        return cls(request, before, after, gates, {check.id: check.severity for check in checks.values()})

    async def write(self, out: TextIO) -> list[str]:
        """Compares and writes the result; returns the messages of the gates that were exceeded."""
        result = await (self._write_json(out) if self._request.form == "json" else self._write_summary(out))
        return self._gates.exceeded(result)

    async def close(self) -> None:
        for run in self._runs:
            await run.close()

    async def _write_json(self, out: TextIO) -> CrawlComparison:
        writer = ComparisonJsonWriter(*self._runs, self._severities, out)
        result = await compare_runs(*self._runs, rewrite=self._rewrite, shown=0, on_change=writer.change)
        writer.end(result, self._translate)
        return result

    async def _write_summary(self, out: TextIO) -> CrawlComparison:
        result = await compare_runs(*self._runs, rewrite=self._rewrite, shown=self._request.shown)
        if self._request.form == "html":
            from tadoru.jobs.audit.compare.html import write_html

            write_html(result, self._translate, out)
        elif self._request.form == "markdown":
            write_markdown(result, self._translate, out)
        else:
            write_text(result, self._translate, out, colour=self._request.colour)
        return result
