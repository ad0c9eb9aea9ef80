"""The catalogue of page checks: built-in ones and those of plugins. Checks of the whole site are in `site_checks`.

Checks that are merged into others, and such as are off, stay in it: their ids are known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tadoru.errors import ConfigError, quoted
from tadoru.jobs.audit.checks import (
    canonicals,
    content,
    descriptions,
    directives,
    headings,
    hreflang,
    html,
    images,
    links,
    pagination,
    performance,
    redirects,
    rendering,
    responses,
    security,
    structured_data,
    titles,
    urls,
)
from tadoru.jobs.audit.context import PageChecks, PageContext
from tadoru.model.finding import Check, Finding

PAGE_CHECKS: tuple[PageChecks, ...] = tuple(module.GROUP for module in (
    responses, redirects, urls, titles, descriptions, headings, content, images, canonicals, pagination, directives,
    hreflang, links, structured_data, security, html, performance, rendering,
))  # fmt: skip
SITE_WIDE_CHECKS: dict[str, Check] = {
    check.id: check for group in PAGE_CHECKS for check in group.checks if check.is_site_wide and not check.merged_into
}
"""Checks of a page that are reported once for the site if they apply to most of it (`site_checks.site`)."""


class CheckCatalogue:
    """The page checks of an audit by id: the built-in ones and those of plugins."""

    def __init__(self, more: Iterable[PageChecks] = (), enabled: Collection[str] = ()) -> None:
        """`more`: those of plugins. `enabled`: checks that run although they are off by default."""
        self._groups: tuple[PageChecks, ...] = (*PAGE_CHECKS, *more)
        self.checks: dict[str, Check] = {}
        for check in (check for group in self._groups for check in group.checks):
            if check.id in self.checks:
                raise ConfigError(
                    "Two checks have the id {id}. Uninstall one of the plugins, or rename its check.", id=quoted(check.id)
                )
            self.checks[check.id] = check
        self._disabled = frozenset(check.id for check in self.checks.values() if check.is_off) - frozenset(enabled)

    @property
    def page_checks(self) -> list[Check]:
        """The checks whose findings are about single pages."""
        unreported = {*SITE_WIDE_CHECKS, *self._disabled}
        return [check for check in self.checks.values() if check.id not in unreported and not check.merged_into]

    def run(self, context: PageContext) -> Iterator[Finding]:
        """All findings on a page."""
        for group in self._groups:
            for finding in group.run(context):
                if finding.check_id not in self._disabled:
                    yield finding
