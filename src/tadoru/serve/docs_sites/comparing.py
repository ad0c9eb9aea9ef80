"""Two versions of a page of a documentation site, chosen and compared: for REST and for pages."""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.serve.docs_sites.differences import Difference, difference
from tadoru.serve.docs_sites.sites import DocsSite, history_of, index_of
from tadoru.serve.problems import Refused
from tadoru.store.docs_search import PageRow
from tadoru.store.document_history import Version


@dataclass(frozen=True, slots=True)
class Compared:
    """A page now, and what it said before."""

    number: int
    title: str
    row: PageRow | None
    """The page as it is shown; None when it is gone."""
    before: Version
    after: Version | None
    """What it says now; None when it is gone."""
    versions: tuple[Version, ...]
    """All that can be compared with now, the newest first."""
    difference: Difference


def compare(site: DocsSite, number: int, version: int | None) -> Compared:
    """What became of a page since a version of it; without one, since the newest. Raises Refused when there is none."""
    with index_of(site) as index:
        row = index.numbered(number) if index is not None else None
    with history_of(site) as history:
        known = history.versions(number)
        present = known[0] if row is not None and known and not known[0].id else None
        earlier = tuple(one for one in known if one is not present)
        if not known and row is None:
            raise Refused(404, f"The site {site.id} never had a page {number}.")
        if not earlier:
            raise Refused(404, f"Page {number} has no earlier version: it did not change since versions are kept.")
        before = next((one for one in earlier if version in (None, one.id)), None)
        if before is None:
            raise Refused(404, f"Page {number} has no version {version}: its versions are listed with the page.")
        old = history.text(number, before.id) or ""
        new = (history.text(number, 0) or "") if present is not None else ""
    title = row.title if row is not None else before.title
    return Compared(number, title, row, before, present, earlier, difference(old, new))
