"""Gates: what makes `--fail-on` end an audit with exit code 10. Pure: parsed before anything is requested, and told at the end.

    error, warning, notice, info        any finding as grave as that, or graver
    title-missing, titles, title-*      any finding of a check, of a group of checks, of checks that match
    new, new-error, new-title-*         the same, counting only what was not there before
    broken-links>5, warning>10%         more than so many findings, or findings on more than so large a part of the pages
    score<80   pages<100   p90>800ms    the health score, the pages that answered, a percentile of the response times

Who counts is `verdict`.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from tadoru.errors import UsageError
from tadoru.jobs.reporting.formatting import format_count
from tadoru.model.finding import Check, Severity

_TERM = re.compile(r"([a-z0-9*?][a-z0-9*?-]*)\s*(?:(>=|<=|>|<)\s*(\d{1,9}(?:\.\d{1,6})?)\s*(%|ms|s|))?", re.ASCII)
_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


@dataclass(frozen=True, slots=True)
class GateTerm:
    """One part of an expression. Without a comparison it means more than none."""

    text: str
    name: str
    sign: str = ">"
    number: float = 0.0
    unit: str = ""
    bare: bool = True

    def holds(self, value: float) -> bool:
        return bool(_COMPARE[self.sign](value, self.number))

    @property
    def allowed(self) -> str:
        """What would have been good enough, in words."""
        if self.sign == ">" and not self.number:
            return "none allowed"
        shown = f"{self.number:g}{' ' if self.unit in ('ms', 's') else ''}{self.unit}"
        words = {">": f"at most {shown} allowed", ">=": f"less than {shown} allowed"}
        return words.get(self.sign) or f"{'at least' if self.sign == '<' else 'more than'} {shown} asked for"

    def check(self, signs: str, units: tuple[str, ...]) -> None:
        """Refuse comparisons that make no sense for what is named. Raises UsageError."""
        if self.sign[0] not in signs:
            right = f"{self.name}{signs[0]}{self.number:g}{self.unit}"
            raise UsageError(f"--fail-on {self.text} is the wrong way round: write {right}.")
        if self.unit not in units:
            told = " or ".join(f"{self.name}{self.sign}{self.number:g}{unit}" for unit in units)
            raise UsageError(f"--fail-on {self.text} has a unit that does not fit: write {told}.")
        if self.sign == ">=" and self.number <= 0:
            raise UsageError(f"--fail-on {self.text} would always fail: write {self.name}>0.")


def parse_terms(texts: Iterable[str], forms: str) -> Iterator[GateTerm]:
    """The parts of every `--fail-on`. `forms` says what is possible. Raises UsageError."""
    for part in (part.strip() for text in texts for part in text.split(",")):
        found = _TERM.fullmatch(part.lower())
        if found is None:
            raise UsageError(f"--fail-on takes {forms}; “{part}” is none of them.")
        name, sign, number, unit = found.groups()
        yield GateTerm(part, name) if sign is None else GateTerm(part, name, sign, float(number), unit, bare=False)


def unknown_term_error(term: GateTerm, names: Iterable[str], forms: str) -> UsageError:
    """The error for a name that means nothing, with the one that looks like it."""
    near = difflib.get_close_matches(term.name, list(names), n=1, cutoff=0.65)
    hint = f"; did you mean “{near[0]}”?" if near else f": it takes {forms}."
    return UsageError(f"--fail-on does not know “{term.name}”{hint}")


SYNTAX = (
    "error, warning, notice, a check such as title-missing, a group such as titles, a pattern such as title-*, any of these "
    "after new-, with >5 or >2% if you like, score<80, pages<100, or p90>800ms"
)
_PERCENTILE = re.compile(r"p([1-9][0-9]?)")
_PLURALS = {"errors": "error", "warnings": "warning", "notices": "notice", "infos": "info"}
_SEVERITIES = list(Severity)
_SITE_FIGURES = ("score", "pages")


@dataclass(frozen=True, slots=True)
class FindingGate:
    """One limit on findings."""

    term: GateTerm
    checks: frozenset[str]
    words: str
    """What is counted."""
    only_new: bool = False

    def sentence(self, count: GateCount, pages: int) -> str | None:
        """What was exceeded; None when nothing was."""
        new = "new " if self.only_new else ""
        if self.term.unit == "%":
            share = 100.0 * count.pages / pages if pages else 0.0
            found = f"{self.words}: {new}findings on {count.pages:,} of {format_count(pages, 'page')} ({share:.1f}%)"
            return f"{found}, {self.term.allowed}." if self.term.holds(share) else None
        found = f"{self.words}: {format_count(count.findings, f'{new}finding')}"
        return f"{found}, {self.term.allowed}." if self.term.holds(count.findings) else None


@dataclass(slots=True)
class GateCount:
    """What a gate has seen so far."""

    findings: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFigures:
    """What is known of the whole site at the end."""

    pages: int
    score: float | None
    times: Mapping[int, float | None] = field(default_factory=dict)
    """Percentile → milliseconds."""


@dataclass(frozen=True, slots=True)
class AuditGates:
    """Everything that `--fail-on` says."""

    gates: tuple[FindingGate, ...] = ()
    figures: tuple[GateTerm, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str], checks: Iterable[Check], *, has_earlier: bool) -> AuditGates:
        """Reads every `--fail-on`. `has_earlier`: there is a baseline or an earlier run to compare with. Raises UsageError."""
        catalogue = {check.id: check for check in checks}
        gates: list[FindingGate] = []
        figures: list[GateTerm] = []
        for term in parse_terms(texts, SYNTAX):
            if _is_figure(term):
                figures.append(replace(term, unit=term.unit or "ms") if term.name not in _SITE_FIGURES else term)
            else:
                gates.append(_parse_gate(term, catalogue))
            if gates and gates[-1].only_new and not has_earlier:
                raise UsageError(
                    f"--fail-on {term.text} needs something to compare with: add --baseline FILE, or re-crawl with --recrawl."
                )
        return cls(tuple(gates), tuple(figures))

    @property
    def percentiles(self) -> tuple[int, ...]:
        """The percentiles of response times that are asked about."""
        return tuple(int(found[1]) for term in self.figures if (found := _PERCENTILE.fullmatch(term.name)))

    @property
    def ask_for_new(self) -> bool:
        """Whether it matters what was found before."""
        return any(gate.only_new for gate in self.gates)

    def counting(self) -> GateCounter:
        return GateCounter(self)

    def exceeded(self, counting: GateCounter, figures: SiteFigures) -> list[str]:
        """One sentence for each gate that was passed; empty when all is well."""
        told = [gate.sentence(count, figures.pages) for gate, count in zip(self.gates, counting.counts, strict=True)]
        told += [_figure_message(term, figures) for term in self.figures]
        return [sentence for sentence in told if sentence is not None]


class GateCounter:
    """The findings of a site as they pass by."""

    def __init__(self, gates: AuditGates) -> None:
        self._gates = gates.gates
        self.counts = [GateCount() for _ in gates.gates]

    def add(self, found: Sequence[str], new: Sequence[str], *, is_page: bool) -> None:
        """What was found about one URL, and which of that is new, by check."""
        for gate, count in zip(self._gates, self.counts, strict=True):
            hits = sum(check in gate.checks for check in (new if gate.only_new else found))
            if hits:
                count.findings += hits
                count.pages += is_page


def _is_figure(term: GateTerm) -> bool:
    """Whether a term is about a figure of the whole site. Raises UsageError when it can not be."""
    percentile = _PERCENTILE.fullmatch(term.name) is not None
    if not percentile and term.name not in _SITE_FIGURES:
        return False
    example = f"{term.name}>800ms" if percentile else f"{term.name}<80"
    if term.bare:
        raise UsageError(f"--fail-on {term.text} needs a number: write {example}.")
    term.check(">" if percentile else "<", ("ms", "s", "") if percentile else ("",))
    return True


def _parse_gate(term: GateTerm, catalogue: Mapping[str, Check]) -> FindingGate:
    only_new = term.name == "new" or (term.name.startswith("new-") and term.name not in catalogue)
    name = term.name.removeprefix("new").removeprefix("-") if only_new else term.name
    name = _PLURALS.get(name, name)
    if not name:
        chosen, words = frozenset(catalogue), "everything"
    elif name in _SEVERITIES:
        grave = _SEVERITIES[: _SEVERITIES.index(Severity(name)) + 1]
        chosen = frozenset(check.id for check in catalogue.values() if check.severity in grave)
        words = f"severity {name}" + (" or worse" if len(grave) > 1 else "")
    else:
        chosen, words = _matching_checks(name, catalogue), name
    if not chosen:
        groups = {check.group for check in catalogue.values()}
        raise unknown_term_error(
            term, [*_SEVERITIES, *groups, *catalogue, "new", "new-error", "new-warning", *_SITE_FIGURES], SYNTAX
        )
    term.check(">", ("", "%"))
    if term.unit == "%" and term.number >= 100:
        raise UsageError(f"--fail-on {term.text} could never fail: write a part below 100%.")
    return FindingGate(term, chosen, words, only_new)


def _matching_checks(name: str, catalogue: Mapping[str, Check]) -> frozenset[str]:
    if name in catalogue:
        return frozenset({name})
    in_group = frozenset(check.id for check in catalogue.values() if check.group == name)
    return in_group or frozenset(one for one in catalogue if fnmatchcase(one, name))


def _figure_message(term: GateTerm, figures: SiteFigures) -> str | None:
    if term.name == "score":
        if figures.score is None:
            return f"There is no score, because no page answered; {term.allowed}."
        return f"The score is {figures.score:.1f}, {term.allowed}." if term.holds(figures.score) else None
    if term.name == "pages":
        return f"{format_count(figures.pages, 'page')}, {term.allowed}." if term.holds(figures.pages) else None
    ms = figures.times.get(int(term.name[1:]))
    seconds = term.unit == "s"
    if ms is None or not term.holds(ms / 1000 if seconds else ms):
        return None
    shown = f"{ms / 1000:.2f} s" if seconds else f"{ms:.0f} ms"
    return f"{term.name} of the response times is {shown}, {term.allowed}."
