"""Which checks could not be applied to a crawl, and why: every report has a section about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tadoru.i18n.translation import Translator
from tadoru.jobs.audit.site_checks.sitemaps import incomplete_sitemaps
from tadoru.jobs.reporting.escape import printable

if TYPE_CHECKING:
    from tadoru.store.crawl.site.view import SiteView

META_KEY = "not_judged"
_NEED_ALL_LINKS = (
    "page-orphan", "inlinks-nofollow-only", "inlinks-nonindexable-only", "canonical-unlinked",
    "hreflang-unlinked", "pagination-unlinked",
)  # fmt: skip
_NEED_RESOURCES = ("image-broken", "resource-broken", "resource-redirected", "image-too-large", "resource-content-type")
_NEED_EXTERNAL = ("link-external-broken", "link-external-redirect")


@dataclass(frozen=True, slots=True)
class SkippedChecks:
    """Checks that were not applied, or not everywhere."""

    reason: str
    """A key of `_REASONS`."""
    checks: tuple[str, ...]
    count: int = 0
    """How many URLs or resources are the reason."""
    url: str = ""
    """The first of them."""


def find_skipped_checks(site: SiteView) -> Iterator[SkippedChecks]:
    """What the crawl does not show."""
    pages = site.pages
    if unseen := int(pages.unseen.sum()):
        reason = "few pages missing" if pages.is_complete else "pages missing"
        first = min(site.ids(pages.unseen), key=lambda page: int(pages.place[page]))
        yield SkippedChecks(reason, _NEED_ALL_LINKS, unseen, site.url(first))
    if site.in_full_sitemaps.any() and (unread := incomplete_sitemaps(site)):
        yield SkippedChecks("sitemaps missing", ("sitemap-page-missing",), len(unread), unread[0])
    if waiting := site.untried_resources():
        yield SkippedChecks("resources missing", _NEED_RESOURCES, waiting)
    external = site.untried_external_urls()
    if external and not pages.tried.any():
        yield SkippedChecks("external URLs missing", _NEED_EXTERNAL, external)
    if pages.documents.any() and not site.has_anchors:
        yield SkippedChecks("fragments missing", ("link-broken-fragment",))


def encode(skipped: Iterable[SkippedChecks]) -> str:
    """As it is stored with the crawl."""
    return json.dumps([asdict(one) for one in skipped])


def decode(text: str | None) -> tuple[SkippedChecks, ...]:
    """What was stored; nothing in a crawl of an earlier version."""
    return tuple(SkippedChecks(**{**one, "checks": tuple(one["checks"])}) for one in json.loads(text or "[]"))


def describe_skipped_checks(skipped: Iterable[SkippedChecks], _: Translator) -> Iterator[str]:
    """A sentence for each reason, with the ids of the checks."""
    for one in skipped:
        reason = _REASONS.get(one.reason)
        if reason is not None:
            yield f"{', '.join(one.checks)}: {reason(one, _)}"


def _describe_missing(one: SkippedChecks, _: Translator) -> str:
    return _.ngettext(
        "{count} URL of the site was not requested ({url}); a link that is missed may be there.",
        "{count} URLs of the site were not requested ({url} …); a link that is missed may be there.",
        one.count,
        url=printable(one.url),
    )


def _describe_few_missing(one: SkippedChecks, _: Translator) -> str:
    return _.ngettext(
        "judged although {count} URL of the site was not requested ({url}).",
        "judged although {count} URLs of the site were not requested ({url} …).",
        one.count,
        url=printable(one.url),
    )


def _describe_sitemaps(one: SkippedChecks, _: Translator) -> str:
    return _.ngettext(
        "{count} sitemap was not read completely ({url}); it may list any page.",
        "{count} sitemaps were not read completely ({url} …); they may list any page.",
        one.count,
        url=printable(one.url),
    )


def _describe_resources(one: SkippedChecks, _: Translator) -> str:
    return _.ngettext(
        "{count} resource was not requested. Raise --resources.",
        "{count} resources were not requested. Raise --resources.",
        one.count,
    )


def _describe_external(one: SkippedChecks, _: Translator) -> str:
    return _.ngettext(
        "{count} external URL was not requested. Use --check-external.",
        "{count} external URLs were not requested. Use --check-external.",
        one.count,
    )


def _describe_fragments(one: SkippedChecks, _: Translator) -> str:
    return _("the ids of elements were not stored. Use --fragments.")


_REASONS: dict[str, Callable[[SkippedChecks, Translator], str]] = {
    "pages missing": _describe_missing,
    "few pages missing": _describe_few_missing,
    "sitemaps missing": _describe_sitemaps,
    "resources missing": _describe_resources,
    "external URLs missing": _describe_external,
    "fragments missing": _describe_fragments,
}
