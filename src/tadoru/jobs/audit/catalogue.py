"""Every page check, in one table. Third parties join by the same door: anything with `checks` and `run` (`context.PageChecks`).

The checks of the whole site, which need more than one page, are not here.
"""

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
    """The checks of an audit: the built-in ones and those of plugins. Ids are unique."""

    def __init__(self, more: Iterable[PageChecks] = ()) -> None:
        self._groups: tuple[PageChecks, ...] = (*PAGE_CHECKS, *more)
        self.checks: dict[str, Check] = {}
        for check in (check for group in self._groups for check in group.checks):
            if check.id in self.checks:
                raise ConfigError(f"Two checks have the id {quoted(check.id)}: remove one of the plugins, or rename its check.")
            self.checks[check.id] = check

    def run(self, context: PageContext) -> Iterator[Finding]:
        """Everything that is found on a page."""
        for group in self._groups:
            yield from group.run(context)
