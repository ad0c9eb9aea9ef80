"""The catalogue of page checks: built-in ones and those of plugins. Checks of the whole site are in `site_checks`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tadoru.errors import ConfigError, quoted
from tadoru.jobs.audit.checks import (
    canonicals,
    content,
    cookies,
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
    responses,
    security,
    structured_data,
    titles,
    urls,
)
from tadoru.jobs.audit.context import PageChecks, PageContext
from tadoru.model.finding import Check, Finding

PAGE_CHECKS: tuple[PageChecks, ...] = (
    responses.GROUP,
    redirects.GROUP,
    urls.GROUP,
    titles.GROUP,
    descriptions.GROUP,
    headings.GROUP,
    content.GROUP,
    images.GROUP,
    canonicals.GROUP,
    pagination.GROUP,
    directives.GROUP,
    hreflang.GROUP,
    links.GROUP,
    structured_data.GROUP,
    security.GROUP,
    cookies.GROUP,
    html.GROUP,
    performance.GROUP,
)


class CheckCatalogue:
    """The page checks of an audit by id: the built-in ones and those of plugins."""

    def __init__(self, more: Iterable[PageChecks] = ()) -> None:
        self._groups: tuple[PageChecks, ...] = (*PAGE_CHECKS, *more)
        self.checks: dict[str, Check] = {}
        for check in (check for group in self._groups for check in group.checks):
            if check.id in self.checks:
                raise ConfigError(
                    "Two checks have the id {id}. Uninstall one of the plugins, or rename its check.", id=quoted(check.id)
                )
            self.checks[check.id] = check

    def run(self, context: PageContext) -> Iterator[Finding]:
        """All findings on a page."""
        for group in self._groups:
            yield from group.run(context)
