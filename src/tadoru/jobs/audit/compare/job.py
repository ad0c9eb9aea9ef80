"""What makes `tadoru compare --fail-on` end with exit code 10.

regressions                pages that broke, vanished or are no longer indexable, and new errors
broken, removed, title …   any change of that kind
new, new-error, new-title-*  any new finding, any as grave as that or graver, any of such checks
score>2                    the score fell by more than that
removed>5, broken>1%       more than so many, or than so large a part of the pages that both crawls have
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TextIO

from tadoru.clock import Clock
from tadoru.jobs.audit.compare.changes import FINDING_CHANGES, REGRESSIONS, ChangeKind
from tadoru.jobs.audit.compare.comparison import CrawlComparison, compare_runs
from tadoru.jobs.audit.compare.html import write_html
from tadoru.jobs.audit.compare.report_formats import SENTENCES, ComparisonJsonWriter, write_markdown, write_text
from tadoru.jobs.audit.compare.run_handles import RunHandle, open_runs, parse_rewrites
from tadoru.jobs.audit.gates import GateTerm, parse_terms, unknown_term_error
from tadoru.jobs.reporting.formatting import format_count
from tadoru.model.finding import Severity
from tadoru.store.crawl.run_pages import CheckTexts

_KINDS = [str(kind) for kind in ChangeKind if kind not in FINDING_CHANGES]
GATE_SYNTAX = (
    f"regressions, new, new-error, new-warning, new- and a check, score, or one of {', '.join(_KINDS)}, "
    "each with >5 or >2% if you like"
)


@dataclass(frozen=True, slots=True)
class CompareGates:
    """Everything that `--fail-on` says."""

    terms: tuple[GateTerm, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str], checks: Iterable[CheckTexts]) -> CompareGates:
        """Reads every `--fail-on`; `checks` are those that either crawl knows. Raises UsageError."""
        catalogue = list(checks)
        ids = {check.id for check in catalogue} | {check.group for check in catalogue}
        terms = tuple(parse_terms(texts, GATE_SYNTAX))
        known = {"regressions", "score", "new", *_KINDS, *(f"new-{severity}{s}" for severity in Severity for s in ("", "s"))}
        for term in terms:
            name = term.name.removeprefix("new-")
            if term.name not in known and not (name != term.name and any(fnmatchcase(one, name) for one in ids)):
                raise unknown_term_error(term, [*known, *(f"new-{one}" for one in ids)], GATE_SYNTAX)
            term.check(">", ("",) if term.name == "score" else ("", "%"))
        return cls(terms)

    def exceeded(self, result: CrawlComparison) -> list[str]:
        """One sentence for each gate that was passed; empty when all is well."""
        return [sentence for term in self.terms if (sentence := _sentence(term, result))]


def _sentence(term: GateTerm, result: CrawlComparison) -> str | None:
    if term.name == "score":
        was, now = result.before.run.score, result.after.run.score
        fell = was - now if was is not None and now is not None else 0.0
        return f"The score fell by {fell:.1f}, {term.allowed}." if term.holds(fell) else None
    number = _count(term.name, result)
    if term.unit == "%":
        share = 100.0 * number / result.compared if result.compared else 0.0
        if not term.holds(share):
            return None
        return f"{term.name}: {number:,} of {format_count(result.compared, 'page')} ({share:.1f}%), {term.allowed}."
    return f"{term.name}: {number:,}, {term.allowed}." if term.holds(number) else None


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
    return sum(
        change.new for change in result.checks.values() if fnmatchcase(change.check.id, wanted) or change.check.group == wanted
    )


COMPARE_FORMATS = ("text", "json", "markdown", "html")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest:
    """What a comparison shall be."""

    names: Sequence[str]
    """`FILE` or `FILE@RUN`, one or two."""
    maps: Sequence[str] = ()
    form: str = "text"
    lang: str = "en"
    shown: int = 20
    """How many examples of each kind; the JSON form has everything."""
    fail_on: Sequence[str] = ()
    colour: bool = False


class CompareJob:
    """A comparison with everything checked that can be, before a byte is written."""

    def __init__(
        self, order: CompareRequest, before: RunHandle, after: RunHandle, gates: CompareGates, severities: dict[str, str]
    ) -> None:
        self._order = order
        self._sides = before, after
        self._gates = gates
        self._severities = severities
        self._rewrite = parse_rewrites(order.maps)

    @classmethod
    async def open(cls, order: CompareRequest, clock: Clock) -> CompareJob:
        """Raises UsageError."""
        parse_rewrites(order.maps)
        before, after = await open_runs(order.names, clock)
        try:
            words = {check.id: check for side in (before, after) for check in (await side.store.check_words()).values()}
            gates = CompareGates.parse(order.fail_on, words.values())
        except BaseException:
            await before.close()
            await after.close()
            raise
        return cls(order, before, after, gates, {check.id: check.severity for check in words.values()})

    async def write(self, out: TextIO) -> list[str]:
        """Compare, and write it; the sentences of the gates that were exceeded."""
        result = await (self._write_json(out) if self._order.form == "json" else self._write_summary(out))
        return self._gates.exceeded(result)

    async def close(self) -> None:
        for side in self._sides:
            await side.close()

    async def _write_json(self, out: TextIO) -> CrawlComparison:
        form = ComparisonJsonWriter(*self._sides, self._severities, out)
        result = await compare_runs(*self._sides, rewrite=self._rewrite, shown=0, sink=form.change)
        form.end(result, SENTENCES[self._order.lang])
        return result

    async def _write_summary(self, out: TextIO) -> CrawlComparison:
        result = await compare_runs(*self._sides, rewrite=self._rewrite, shown=self._order.shown)
        say = SENTENCES[self._order.lang]
        if self._order.form == "html":
            write_html(result, say, out)
        elif self._order.form == "markdown":
            write_markdown(result, say, out)
        else:
            write_text(result, say, out, colour=self._order.colour)
        return result
