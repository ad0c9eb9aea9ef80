"""Selects the checks of a report by group, severity or id."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tadoru.errors import UsageError, quoted
from tadoru.jobs.audit.site_checks import BUILT_IN_CHECKS, MERGED_CHECKS
from tadoru.model.finding import Severity
from tadoru.store.crawl.findings import StoredCheck

SEVERITIES = tuple(Severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFilter:
    """The selected checks; all by default."""

    groups: tuple[str, ...] = ()
    severity: Severity = Severity.INFO
    """The lowest severity."""
    checks: tuple[str, ...] = ()
    """Ids, with * as a wildcard."""

    def select(self, catalogue: Sequence[StoredCheck]) -> tuple[StoredCheck, ...]:
        """The selected checks. Raises UsageError for an unknown name."""
        all_groups, all_ids = sorted({each.check.group for each in catalogue}), sorted(each.check.id for each in catalogue)
        for group in self.groups:
            if group not in all_groups:
                raise _unknown_group(group, all_groups)
        ids = {name for wanted in self.checks for name in _matching_ids(wanted, all_ids)}
        severities = SEVERITIES[: SEVERITIES.index(self.severity) + 1]
        return tuple(
            each
            for each in catalogue
            if each.check.severity in severities
            and (not self.groups or each.check.group in self.groups)
            and (not self.checks or each.check.id in ids)
        )


def _matching_ids(wanted: str, ids: Sequence[str]) -> list[str]:
    """The ids of this crawl that are wanted, by their own name or by that of a check which is merged into them."""
    known = [name for name in BUILT_IN_CHECKS if fnmatchcase(name, wanted)]
    found = [name for name in ids if fnmatchcase(name, wanted)]
    found += [name for merged in known for name in MERGED_CHECKS.get(merged, ()) if name in ids and name not in found]
    if found or known:  # A check that did not run found nothing.
        return found
    if near := _similar(wanted, ids):
        raise UsageError("No check {name} in this crawl. Did you mean {similar}?", name=quoted(wanted), similar=near)
    raise UsageError("No check {name} in this crawl. List all checks with `tadoru report DB --format json`.", name=quoted(wanted))


def _unknown_group(name: str, groups: Sequence[str]) -> UsageError:
    if near := _similar(name, groups):
        return UsageError("No group {name} in this crawl. Did you mean {similar}?", name=quoted(name), similar=near)
    return UsageError("No group {name} in this crawl. Choose one of {groups}.", name=quoted(name), groups=", ".join(groups))


def _similar(name: str, known: Sequence[str]) -> str:
    return " / ".join(difflib.get_close_matches(name, known, n=2, cutoff=0.75))
