"""The conditions of `--fail-on`, which end an audit with exit code 10. They are parsed before the crawl and evaluated after it.

    error, warning, notice, info        any finding of this severity or a higher one
    title-missing, titles, title-*      any finding of a check, of a group of checks, of checks that match a pattern
    new, new-error, new-title-*         the same for new findings only
    broken-links>5, warning>10%         more findings than this, or findings on more than this share of the pages
    score<80   pages<100   p90>800ms    the health score, the number of crawled pages, a percentile of the response times

The findings are counted in `criteria`. `tadoru compare --fail-on` uses the same syntax (`GateTerm`) with names of its own.
"""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from tadoru.errors import Message, UsageError, quoted
from tadoru.i18n.translation import N_
from tadoru.jobs.audit.site_checks import MERGED_CHECKS
from tadoru.model.finding import Check, Severity

_TERM = re.compile(r"([a-z0-9*?][a-z0-9*?-]*)\s*(?:(>=|<=|>|<)\s*(\d{1,9}(?:\.\d{1,6})?)\s*(%|ms|s|))?", re.ASCII)
_COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}


@dataclass(frozen=True, slots=True)
class GateTerm:
    """One condition, such as `error`, `title-*` or `broken>5`. Without a comparison it means more than zero."""

    text: str
    name: str
    sign: str = ">"
    number: float = 0.0
    unit: str = ""
    bare: bool = True

    def holds(self, value: float) -> bool:
        return bool(_COMPARE[self.sign](value, self.number))

    @property
    def allowed(self) -> Message:
        """The limit as the end of a sentence: `at most 5 allowed`."""
        if self.sign == ">" and not self.number:
            return Message("none allowed")
        limit = f"{self.number:g}{' ' if self.unit in ('ms', 's') else ''}{self.unit}"
        if self.sign == ">":
            return Message("at most {limit} allowed", limit=limit)
        if self.sign == ">=":
            return Message("less than {limit} allowed", limit=limit)
        if self.sign == "<":
            return Message("at least {limit} required", limit=limit)
        return Message("more than {limit} required", limit=limit)

    def check(self, signs: str, units: tuple[str, ...]) -> None:
        """Raises UsageError if the comparison makes no sense for what is compared."""
        if self.sign[0] not in signs:
            example = f"{self.name}{signs[0]}{self.number:g}{self.unit}"
            raise UsageError("--fail-on {term} has the wrong comparison. Write {example}.", term=self.text, example=example)
        if self.unit not in units:
            examples = ", ".join(f"{self.name}{self.sign}{self.number:g}{unit}" for unit in units)
            raise UsageError("--fail-on {term} has an invalid unit. Valid forms: {examples}.", term=self.text, examples=examples)
        if self.sign == ">=" and self.number <= 0:
            raise UsageError("--fail-on {term} always fails. Write {example}.", term=self.text, example=f"{self.name}>0")


def parse_terms(texts: Iterable[str], examples: str) -> Iterator[GateTerm]:
    """The conditions of every `--fail-on`. Raises UsageError, which shows the examples."""
    for part in (part.strip() for text in texts for part in text.split(",")):
        found = _TERM.fullmatch(part.lower())
        if found is None:
            raise UsageError(
                "{term} is not a valid --fail-on condition. Examples: {examples}.", term=quoted(part), examples=examples
            )
        name, sign, number, unit = found.groups()
        yield GateTerm(part, name) if sign is None else GateTerm(part, name, sign, float(number), unit, bare=False)


def unknown_term_error(term: GateTerm, names: Iterable[str], examples: str) -> UsageError:
    """The error for an unknown name, with the most similar one of the known names."""
    near = difflib.get_close_matches(term.name, list(names), n=1, cutoff=0.65)
    if near:
        return UsageError(
            "Unknown --fail-on condition {name}. Did you mean {suggestion}?", name=quoted(term.name), suggestion=quoted(near[0])
        )
    return UsageError("Unknown --fail-on condition {name}. Examples: {examples}.", name=quoted(term.name), examples=examples)


EXAMPLES = "error, warning>10%, title-missing, titles>5, title-*, new-error, score<80, pages<100, p90>800ms"
_PERCENTILE = re.compile(r"p([1-9][0-9]?)")
_PLURALS = {"errors": "error", "warnings": "warning", "notices": "notice", "infos": "info"}
_SEVERITIES = list(Severity)
_SITE_FIGURES = ("score", "pages")


@dataclass(frozen=True, slots=True)
class FindingGate:
    """A condition on the number of findings."""

    term: GateTerm
    checks: frozenset[str]
    subject: str
    """What is counted, such as `title-missing`; may be a `Message`."""
    only_new: bool = False

    def message(self, count: GateCount, pages: int) -> Message | None:
        """The message if the condition is met; None if it is not."""
        if self.term.unit == "%":
            share = 100.0 * count.pages / pages if pages else 0.0
            if not self.term.holds(share):
                return None
            template = (
                N_("{subject}: new findings on {affected} of {pages} pages ({share}%), {allowed}.")
                if self.only_new
                else N_("{subject}: findings on {affected} of {pages} pages ({share}%), {allowed}.")
            )
            values = {"affected": f"{count.pages:,}", "pages": f"{pages:,}", "share": f"{share:.1f}"}
        else:
            if not self.term.holds(count.findings):
                return None
            template = _COUNTS[self.only_new][count.findings != 1]
            values = {"count": f"{count.findings:,}"}
        return Message(template, subject=self.subject, allowed=self.term.allowed, **values)


_COUNTS = (
    (N_("{subject}: {count} finding, {allowed}."), N_("{subject}: {count} findings, {allowed}.")),
    (N_("{subject}: {count} new finding, {allowed}."), N_("{subject}: {count} new findings, {allowed}.")),
)


@dataclass(slots=True)
class GateCount:
    """The findings of one gate and the pages that have them."""

    findings: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteFigures:
    """The figures of the whole site after the crawl."""

    pages: int
    score: float | None
    times: Mapping[int, float | None] = field(default_factory=dict)
    """Percentile → milliseconds."""


@dataclass(frozen=True, slots=True)
class AuditGates:
    """All conditions of `--fail-on`."""

    gates: tuple[FindingGate, ...] = ()
    figures: tuple[GateTerm, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str], checks: Iterable[Check], *, has_earlier: bool) -> AuditGates:
        """Parses every `--fail-on`. `has_earlier`: there is a baseline or an earlier run to compare with. Raises UsageError."""
        catalogue = {check.id: check for check in checks}
        gates: list[FindingGate] = []
        figures: list[GateTerm] = []
        for term in parse_terms(texts, EXAMPLES):
            if _is_figure(term):
                figures.append(replace(term, unit=term.unit or "ms") if term.name not in _SITE_FIGURES else term)
            else:
                gates.append(_parse_gate(term, catalogue))
            if gates and gates[-1].only_new and not has_earlier:
                raise UsageError(
                    "--fail-on {term} has nothing to compare with. Add --baseline FILE, or crawl again with --recrawl.",
                    term=term.text,
                )
        return cls(tuple(gates), tuple(figures))

    @property
    def percentiles(self) -> tuple[int, ...]:
        """The percentiles of response times that are needed."""
        return tuple(int(found[1]) for term in self.figures if (found := _PERCENTILE.fullmatch(term.name)))

    @property
    def needs_earlier(self) -> bool:
        """Whether earlier findings are needed."""
        return any(gate.only_new for gate in self.gates)

    def counter(self) -> GateCounter:
        return GateCounter(self)

    def exceeded(self, counter: GateCounter, figures: SiteFigures) -> list[str]:
        """A `Message` for each condition that is met."""
        messages = [gate.message(count, figures.pages) for gate, count in zip(self.gates, counter.counts, strict=True)]
        messages += [_figure_message(term, figures) for term in self.figures]
        return [message for message in messages if message is not None]


class GateCounter:
    """Counts the findings of a site for each gate."""

    def __init__(self, gates: AuditGates) -> None:
        self._gates = gates.gates
        self.counts = [GateCount() for _ in gates.gates]

    def add(self, found: Sequence[str], new: Sequence[str], *, is_page: bool) -> None:
        """Add the findings of one URL, by check, and those of them that are new."""
        for gate, count in zip(self._gates, self.counts, strict=True):
            hits = sum(check in gate.checks for check in (new if gate.only_new else found))
            if hits:
                count.findings += hits
                count.pages += is_page


def _is_figure(term: GateTerm) -> bool:
    """Whether a term is about a figure of the whole site. Raises UsageError if its comparison is invalid."""
    percentile = _PERCENTILE.fullmatch(term.name) is not None
    if not percentile and term.name not in _SITE_FIGURES:
        return False
    example = f"{term.name}>800ms" if percentile else f"{term.name}<80"
    if term.bare:
        raise UsageError("--fail-on {term} needs a number. Write {example}.", term=term.text, example=example)
    term.check(">" if percentile else "<", ("ms", "s", "") if percentile else ("",))
    return True


def _parse_gate(term: GateTerm, catalogue: Mapping[str, Check]) -> FindingGate:
    only_new = term.name == "new" or (term.name.startswith("new-") and term.name not in catalogue)
    name = term.name.removeprefix("new").removeprefix("-") if only_new else term.name
    name = _PLURALS.get(name, name)
    subject = name
    if not name:
        chosen, subject = frozenset(catalogue), Message("all checks")
    elif name in _SEVERITIES:
        included = _SEVERITIES[: _SEVERITIES.index(Severity(name)) + 1]
        chosen = frozenset(check.id for check in catalogue.values() if check.severity in included)
        subject = (
            Message("severity {severity} or higher", severity=name)
            if len(included) > 1
            else Message("severity {severity}", severity=name)
        )
    else:
        chosen = _with_successors(_matching_checks(name, catalogue))
    if not chosen:
        groups = {check.group for check in catalogue.values()}
        known = [*_SEVERITIES, *groups, *catalogue, "new", "new-error", "new-warning", *_SITE_FIGURES]
        raise unknown_term_error(term, known, EXAMPLES)
    term.check(">", ("", "%"))
    if term.unit == "%" and term.number >= 100:
        raise UsageError("--fail-on {term} never fails. Use a percentage below 100%.", term=term.text)
    return FindingGate(term, chosen, subject, only_new)


def _matching_checks(name: str, catalogue: Mapping[str, Check]) -> frozenset[str]:
    if name in catalogue:
        return frozenset({name})
    in_group = frozenset(check.id for check in catalogue.values() if check.group == name)
    return in_group or frozenset(one for one in catalogue if fnmatchcase(one, name))


def _with_successors(chosen: frozenset[str]) -> frozenset[str]:
    """The chosen checks, and those that report what a merged one reported."""
    return chosen.union(*(MERGED_CHECKS.get(name, ()) for name in chosen))


def _figure_message(term: GateTerm, figures: SiteFigures) -> Message | None:
    if term.name == "score":
        if figures.score is None:
            return Message("There is no score because no page responded; {allowed}.", allowed=term.allowed)
        if not term.holds(figures.score):
            return None
        return Message("The score is {score}, {allowed}.", score=f"{figures.score:.1f}", allowed=term.allowed)
    if term.name == "pages":
        if not term.holds(figures.pages):
            return None
        template = N_("{pages} page, {allowed}.") if figures.pages == 1 else N_("{pages} pages, {allowed}.")
        return Message(template, pages=f"{figures.pages:,}", allowed=term.allowed)
    ms = figures.times.get(int(term.name[1:]))
    in_seconds = term.unit == "s"
    if ms is None or not term.holds(ms / 1000 if in_seconds else ms):
        return None
    shown = f"{ms / 1000:.2f} s" if in_seconds else f"{ms:.0f} ms"
    return Message("Response time {percentile} is {time}, {allowed}.", percentile=term.name, time=shown, allowed=term.allowed)
