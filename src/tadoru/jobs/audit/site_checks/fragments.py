"""Checks for links to fragments (#) that do not exist on the target page. Needs a crawl with `--fragments`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, page_finding
from tadoru.model.finding import MAX_EXAMPLES
from tadoru.store.crawl.analysis import SiteFinding

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

BOOKMARK = CheckDefinitions("links").notice(
    "link-broken-fragment",
    title=N_("Broken anchor (#) link"),
    why=N_("No element on the target page has the name after #, so visitors arrive at the top of the page."),
    fix=N_("Correct the fragment, or add the id to the target page."),
)

_TOP = frozenset({"", "top"})
"""Fragments that are valid on every page."""
_GENERATED = "user-content-"
"""What some sites put before the ids of texts that others wrote; scripts find them without it."""
_LINES = re.compile(r"L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?")
"""Lines of a source file, as the hosts of repositories name them."""
_FOR_SCRIPTS = ("!", "/", ":~:")
"""Prefixes of fragments for scripts and of text fragments."""


def is_missing(fragment: str, anchors: frozenset[str]) -> bool:
    """Whether a fragment is not the id of any element of a page. An id may itself be percent-encoded."""
    if fragment in anchors or f"{_GENERATED}{fragment}" in anchors or fragment.lower() in _TOP:
        return False
    if fragment.startswith(_FOR_SCRIPTS) or "=" in fragment or _LINES.fullmatch(fragment):
        return False
    return not any(fragment == unquote(name) for name in anchors if "%" in name)


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    lost = {
        (page, number): fragment
        for page, anchors, asked in site.fragments.asked_for()
        for number, fragment in asked
        if is_missing(fragment, anchors)
    }
    for source, links in groupby(site.fragments.linked_by(lost), key=itemgetter(0)):
        keys = {(target, number) for _, target, number in links}
        urls = site.urls({target for target, _ in keys})
        examples = sorted(f"{urls[target]}#{lost[target, number]}" for target, number in keys)
        yield page_finding(BOOKMARK, source, examples[0], count=len(examples), examples=tuple(examples[:MAX_EXAMPLES]))


GROUP = SiteCheckSet("fragments", (BOOKMARK,), run)
