"""What makes `tadoru compare --fail-on` end with exit code 10.

regressions                pages that broke, vanished or are no longer indexable, and new errors
broken, removed, title …   any change of that kind
new, new-error, new-title-*  any new finding, any as grave as that or graver, any of such checks
score>2                    the score fell by more than that
removed>5, broken>1%       more than so many, or than so large a part of the pages that both crawls have
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tadoru.jobs.audit.compare.changes import FINDINGS, WORSE, Kind
from tadoru.jobs.audit.compare.comparison import Comparison
from tadoru.jobs.audit.terms import Term, read_terms, unknown
from tadoru.jobs.report.words import counted
from tadoru.model.finding import Severity
from tadoru.store.states import CheckWords

_KINDS = [str(kind) for kind in Kind if kind not in FINDINGS]
FORMS = (
    f"regressions, new, new-error, new-warning, new- and a check, score, or one of {', '.join(_KINDS)}, "
    "each with >5 or >2% if you like"
)


@dataclass(frozen=True, slots=True)
class CompareGates:
    """Everything that `--fail-on` says."""

    terms: tuple[Term, ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str], checks: Iterable[CheckWords]) -> CompareGates:
        """Reads every `--fail-on`; `checks` are those that either crawl knows. Raises UsageError."""
        catalogue = list(checks)
        ids = {check.id for check in catalogue} | {check.group for check in catalogue}
        terms = tuple(read_terms(texts, FORMS))
        known = {"regressions", "score", "new", *_KINDS, *(f"new-{severity}{s}" for severity in Severity for s in ("", "s"))}
        for term in terms:
            name = term.name.removeprefix("new-")
            if term.name not in known and not (name != term.name and any(fnmatchcase(one, name) for one in ids)):
                raise unknown(term, [*known, *(f"new-{one}" for one in ids)], FORMS)
            term.check(">", ("",) if term.name == "score" else ("", "%"))
        return cls(terms)

    def exceeded(self, result: Comparison) -> list[str]:
        """One sentence for each gate that was passed; empty when all is well."""
        return [sentence for term in self.terms if (sentence := _sentence(term, result))]


def _sentence(term: Term, result: Comparison) -> str | None:
    if term.name == "score":
        was, now = result.before.run.score, result.after.run.score
        fell = was - now if was is not None and now is not None else 0.0
        return f"The score fell by {fell:.1f}, {term.allowed}." if term.holds(fell) else None
    number = _count(term.name, result)
    if term.unit == "%":
        share = 100.0 * number / result.compared if result.compared else 0.0
        if not term.holds(share):
            return None
        return f"{term.name}: {number:,} of {counted(result.compared, 'page')} ({share:.1f}%), {term.allowed}."
    return f"{term.name}: {number:,}, {term.allowed}." if term.holds(number) else None


def _count(name: str, result: Comparison) -> int:
    if name == "regressions":
        return sum(result.counts[kind] for kind in WORSE) + result.new_findings(Severity.ERROR)
    if name == "new":
        return result.counts[Kind.NEW_FINDING]
    if name in _KINDS:
        return result.counts[Kind(name)]
    wanted = name.removeprefix("new-")
    if wanted.removesuffix("s") in list(Severity):
        return result.new_findings(Severity(wanted.removesuffix("s")))
    return sum(
        change.new for change in result.checks.values() if fnmatchcase(change.check.id, wanted) or change.check.group == wanted
    )
