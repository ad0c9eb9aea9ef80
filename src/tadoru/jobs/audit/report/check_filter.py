"""Which checks a report is about: those of a group, as grave as this or graver, or named ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tadoru.errors import UsageError
from tadoru.model.finding import Severity
from tadoru.store.crawl.findings import StoredCheck

SEVERITIES = tuple(Severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFilter:
    """What a person asked to see; everything, unless told otherwise."""

    groups: tuple[str, ...] = ()
    severity: Severity = Severity.INFO
    """The least grave."""
    checks: tuple[str, ...] = ()
    """Ids, in which an asterisk stands for anything."""

    def of(self, catalogue: Sequence[StoredCheck]) -> tuple[StoredCheck, ...]:
        """The chosen checks. Raises UsageError for a name that the crawl does not know."""
        groups = [_known(name, {each.check.group for each in catalogue}, "group") for name in self.groups]
        ids = {name for wanted in self.checks for name in _matching(wanted, [each.check.id for each in catalogue])}
        grave = SEVERITIES[: SEVERITIES.index(self.severity) + 1]
        return tuple(
            each
            for each in catalogue
            if each.check.severity in grave
            and (not groups or each.check.group in groups)
            and (not self.checks or each.check.id in ids)
        )


def _matching(wanted: str, ids: Sequence[str]) -> list[str]:
    found = [name for name in ids if fnmatchcase(name, wanted)]
    return found or [_known(wanted, ids, "check")]


def _known(name: str, names: Iterable[str], what: str) -> str:
    known = sorted(names)
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, n=2, cutoff=0.75)
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}." if what == "group" else ""
    hint = hint or "`tadoru report DB --format json` lists them all."
    raise UsageError(f"This crawl knows no {what} “{name}”: {hint}")
