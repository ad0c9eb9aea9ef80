"""Gates: what makes `--fail-on` end an audit with exit code 10. Pure: parsed before anything is requested, and told at the end.

    error, warning, notice, info        any finding as grave as that, or graver
    title-missing, titles, title-*      any finding of a check, of a group of checks, of checks that match
    new, new-error, new-title-*         the same, counting only what was not there before
    broken-links>5, warning>10%         more than so many findings, or findings on more than so large a part of the pages
    score<80   pages<100   p90>800ms    the health score, the pages that answered, a percentile of the response times

Who counts is `verdict`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from tadoru.errors import UsageError
from tadoru.jobs.audit.terms import Term, read_terms, unknown
from tadoru.jobs.report.words import counted
from tadoru.model.finding import Check, Severity

FORMS = (
    "error, warning, notice, a check such as title-missing, a group such as titles, a pattern such as title-*, any of these "
    "after new-, with >5 or >2% if you like, score<80, pages<100, or p90>800ms"
)
_PERCENTILE = re.compile(r"p([1-9][0-9]?)")
_PLURALS = {"errors": "error", "warnings": "warning", "notices": "notice", "infos": "info"}
_RANKS = list(Severity)
_PLAIN = ("score", "pages")


@dataclass(frozen=True, slots=True)
class Gate:
    """One limit on findings."""

    term: Term
    checks: frozenset[str]
    words: str
    """What is counted."""
    only_new: bool = False

    def sentence(self, count: Count, pages: int) -> str | None:
        """What was exceeded; None when nothing was."""
        new = "new " if self.only_new else ""
        if self.term.unit == "%":
            share = 100.0 * count.pages / pages if pages else 0.0
            found = f"{self.words}: {new}findings on {count.pages:,} of {counted(pages, 'page')} ({share:.1f}%)"
            return f"{found}, {self.term.allowed}." if self.term.holds(share) else None
        found = f"{self.words}: {counted(count.findings, f'{new}finding')}"
        return f"{found}, {self.term.allowed}." if self.term.holds(count.findings) else None


@dataclass(slots=True)
class Count:
    """What a gate has seen so far."""

    findings: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is known of the whole site at the end."""

    pages: int
    score: float | None
    times: Mapping[int, float | None] = field(default_factory=dict)
    """Percentile → milliseconds."""


@dataclass(frozen=True, slots=True)
class Gates:
    """Everything that `--fail-on` says."""

    gates: tuple[Gate, ...] = ()
    figures: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str], checks: Iterable[Check], *, has_earlier: bool) -> Gates:
        """Reads every `--fail-on`. `has_earlier`: there is a baseline or an earlier run to compare with. Raises UsageError."""
        catalogue = {check.id: check for check in checks}
        gates: list[Gate] = []
        figures: list[Term] = []
        for term in read_terms(texts, FORMS):
            if _is_figure(term):
                figures.append(replace(term, unit=term.unit or "ms") if term.name not in _PLAIN else term)
            else:
                gates.append(_gate(term, catalogue))
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

    def counting(self) -> Counting:
        return Counting(self)

    def exceeded(self, counting: Counting, figures: Figures) -> list[str]:
        """One sentence for each gate that was passed; empty when all is well."""
        told = [gate.sentence(count, figures.pages) for gate, count in zip(self.gates, counting.counts, strict=True)]
        told += [_figure_sentence(term, figures) for term in self.figures]
        return [sentence for sentence in told if sentence is not None]


class Counting:
    """The findings of a site as they pass by."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates.gates
        self.counts = [Count() for _ in gates.gates]

    def add(self, found: Sequence[str], new: Sequence[str], *, is_page: bool) -> None:
        """What was found about one URL, and which of that is new, by check."""
        for gate, count in zip(self._gates, self.counts, strict=True):
            hits = sum(check in gate.checks for check in (new if gate.only_new else found))
            if hits:
                count.findings += hits
                count.pages += is_page


def _is_figure(term: Term) -> bool:
    """Whether a term is about a figure of the whole site. Raises UsageError when it can not be."""
    percentile = _PERCENTILE.fullmatch(term.name) is not None
    if not percentile and term.name not in _PLAIN:
        return False
    example = f"{term.name}>800ms" if percentile else f"{term.name}<80"
    if term.bare:
        raise UsageError(f"--fail-on {term.text} needs a number: write {example}.")
    term.check(">" if percentile else "<", ("ms", "s", "") if percentile else ("",))
    return True


def _gate(term: Term, catalogue: Mapping[str, Check]) -> Gate:
    only_new = term.name == "new" or (term.name.startswith("new-") and term.name not in catalogue)
    name = term.name.removeprefix("new").removeprefix("-") if only_new else term.name
    name = _PLURALS.get(name, name)
    if not name:
        chosen, words = frozenset(catalogue), "everything"
    elif name in _RANKS:
        grave = _RANKS[: _RANKS.index(Severity(name)) + 1]
        chosen = frozenset(check.id for check in catalogue.values() if check.severity in grave)
        words = f"severity {name}" + (" or worse" if len(grave) > 1 else "")
    else:
        chosen, words = _matching(name, catalogue), name
    if not chosen:
        groups = {check.group for check in catalogue.values()}
        raise unknown(term, [*_RANKS, *groups, *catalogue, "new", "new-error", "new-warning", *_PLAIN], FORMS)
    term.check(">", ("", "%"))
    if term.unit == "%" and term.number >= 100:
        raise UsageError(f"--fail-on {term.text} could never fail: write a part below 100%.")
    return Gate(term, chosen, words, only_new)


def _matching(name: str, catalogue: Mapping[str, Check]) -> frozenset[str]:
    if name in catalogue:
        return frozenset({name})
    in_group = frozenset(check.id for check in catalogue.values() if check.group == name)
    return in_group or frozenset(one for one in catalogue if fnmatchcase(one, name))


def _figure_sentence(term: Term, figures: Figures) -> str | None:
    if term.name == "score":
        if figures.score is None:
            return f"There is no score, because no page answered; {term.allowed}."
        return f"The score is {figures.score:.1f}, {term.allowed}." if term.holds(figures.score) else None
    if term.name == "pages":
        return f"{counted(figures.pages, 'page')}, {term.allowed}." if term.holds(figures.pages) else None
    ms = figures.times.get(int(term.name[1:]))
    seconds = term.unit == "s"
    if ms is None or not term.holds(ms / 1000 if seconds else ms):
        return None
    shown = f"{ms / 1000:.2f} s" if seconds else f"{ms:.0f} ms"
    return f"{term.name} of the response times is {shown}, {term.allowed}."
