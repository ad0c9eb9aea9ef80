"""Checks of what scripts do to a page: the page as it was sent compared with the page that a browser shows, and errors.

They need a crawl with `--render`; only hash routing shows without it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext, RenderedContext
from tadoru.model.finding import Check, Finding, Threshold
from tadoru.model.web import LinkKind
from tadoru.parse.page import PageView
from tadoru.parse.rendering import linked_urls, listed_languages, robots_names

_define = CheckDefinitions("rendering")

TITLE_ADDED = _define.warning(
    "js-title-only-rendered",
    title=N_("Title only after rendering"),
    why=N_("The HTML has no title until scripts run. Crawlers that run no scripts see none, and others see it late."),
    fix=N_("Send the title in the HTML."),
)
TITLE_CHANGED = _define.notice(
    "js-title-changed",
    title=N_("Title changed by JavaScript"),
    why=N_("Search engines and social networks may show either title."),
    fix=N_("Send the final title in the HTML."),
)
DESCRIPTION = _define.notice(
    "js-description-changed",
    title=N_("Meta description changed by JavaScript"),
    why=N_("The HTML has another description than the rendered page, or none. Crawlers that run no scripts miss the final one."),
    fix=N_("Send the final description in the HTML."),
)
H1 = _define.notice(
    "js-h1-changed",
    title=N_("h1 changed by JavaScript"),
    why=N_("The HTML has another main heading than the rendered page, or none."),
    fix=N_("Send the heading in the HTML."),
)
CANONICAL_ADDED = _define.warning(
    "js-canonical-only-rendered",
    title=N_("Canonical only after rendering"),
    why=N_("Search engines read the canonical of the HTML first and recommend not to insert it with scripts."),
    fix=N_("Send the canonical in the HTML."),
)
CANONICAL_CHANGED = _define.error(
    "js-canonical-changed",
    title=N_("Canonical changed by JavaScript"),
    why=N_("The HTML and the rendered page declare different canonicals, so search engines may choose the wrong one."),
    fix=N_("Declare one canonical in the HTML, and do not change it with scripts."),
)
NOINDEX_REMOVED = _define.error(
    "js-noindex-removed",
    title=N_("noindex removed by JavaScript"),
    why=N_("Search engines that read noindex in the HTML do not render the page, so it stays out of search results."),
    fix=N_("Send the HTML without noindex."),
)
NOINDEX_ADDED = _define.warning(
    "js-noindex-added",
    title=N_("noindex added by JavaScript"),
    why=N_("The page drops out of search results once it is rendered. Crawlers that run no scripts index it."),
    fix=N_("Send noindex in the HTML or in the X-Robots-Tag header, or remove the script."),
)
ROBOTS = _define.warning(
    "js-robots-changed",
    title=N_("Robots directives changed by JavaScript"),
    why=N_("Directives such as nofollow differ between the HTML and the rendered page, and each crawler obeys another set."),
    fix=N_("Send the final directives in the HTML."),
)
HREFLANG = _define.warning(
    "js-hreflang-changed",
    title=N_("hreflang changed by JavaScript"),
    why=N_("The languages that the HTML declares are not those of the rendered page, so annotations may be ignored."),
    fix=N_("Send the hreflang annotations in the HTML, in headers or in a sitemap."),
)
LINKS = _define.notice(
    "js-links-only-rendered",
    title=N_("Links only after rendering"),
    why=N_("Crawlers find these links only when they render the page, which takes longer and is not done by all."),
    fix=N_("Send links to important pages in the HTML."),
)
CONTENT = _define.notice(
    "js-content-only-rendered",
    title=N_("Text only after rendering"),
    why=N_("Much of the text is missing from the HTML. Crawlers that run no scripts do not see it."),
    fix=N_("Render the main text on the server."),
    threshold=Threshold(25, "percent"),
)
LATE = _define.notice(
    "js-content-late",
    title=N_("Content appears late"),
    why=N_("The page still changed so long after it was requested. Search engines may index it without this content."),
    fix=N_("Load content sooner, and without timers."),
    threshold=Threshold(5, "seconds"),
)
REDIRECT = _define.warning(
    "js-redirect",
    title=N_("JavaScript redirect"),
    why=N_("A script sends visitors to another page. Search engines notice it late, and other crawlers do not."),
    fix=N_("Use an HTTP redirect instead."),
)
HASH_ROUTING = _define.warning(
    "js-hash-routing",
    title=N_("Pages behind # in URLs"),
    why=N_("Search engines ignore what follows # in a URL, so these pages cannot be indexed."),
    fix=N_("Give each page a URL of its own with the History API."),
)
EXCEPTION = _define.warning(
    "js-exception",
    title=N_("Uncaught JavaScript exception"),
    why=N_("A script ended with an error, so a part of the page may be missing or not work."),
    fix=N_("Fix the script."),
)
CONSOLE = _define.info(
    "js-console-error",
    title=N_("Errors in the console"),
    why=N_("Scripts or the browser report errors, which may affect visitors."),
    fix=N_("Open the page with the developer tools of a browser and fix what the console reports."),
)
FAILED = _define.warning(
    "js-request-failed",
    title=N_("Failed requests while rendering"),
    why=N_("Scripts, styles or data that the page loads return an error or do not respond."),
    fix=N_("Restore the files, or correct the references."),
)
BLOCKED = _define.warning(
    "js-request-blocked",
    title=N_("Blocked requests while rendering"),
    why=N_(
        "robots.txt or the scope of the crawl blocks files that the page loads, so crawlers may see another page than visitors."
    ),
    fix=N_("Allow crawlers to load the scripts, styles and data of your pages."),
)

_FEWEST_WORDS = 20
"""Words that scripts may add without a finding."""
_ROUTE = frozenset("/!")
"""How the fragment of a route begins."""


def run(context: PageContext) -> Iterator[Finding]:
    rendered = context.rendering
    if rendered is not None and rendered.redirect_target is not None:
        yield REDIRECT.on(context.url, rendered.redirect_target)
        return
    page = context.document
    if page is None:
        return
    routes = [link.fragment for link in context.links[LinkKind.A] if link.fragment[:1] in _ROUTE and link.url == page.url]
    if len(set(routes)) > 1:
        yield HASH_ROUTING.among(page.url, [f"#{route}" for route in routes])
    if rendered is not None:
        yield from _check_head(page, rendered.raw)
        yield from _check_robots(page, rendered.raw)
        yield from _check_body(context, page, rendered)
        yield from _check_errors(page, rendered)


def _check_head(page: PageView, raw: PageView) -> Iterator[Finding]:
    before, after = raw.head, page.head
    if after.title and before.title != after.title:
        yield (TITLE_CHANGED if before.title else TITLE_ADDED).on(page.url, after.title, html=before.title or "")
    if after.meta_description and before.meta_description != after.meta_description:
        yield DESCRIPTION.on(page.url, after.meta_description, html=before.meta_description or "")
    if after.h1 and before.h1 != after.h1:
        yield H1.on(page.url, after.h1[0], html=before.h1[0] if before.h1 else "")
    if after.canonical != before.canonical:
        check: Check = CANONICAL_CHANGED if before.canonical else CANONICAL_ADDED
        yield check.on(page.url, after.canonical or "", html=before.canonical or "")
    was, now = listed_languages(raw), listed_languages(page)
    if changed := [one for one in now if one not in was] + [one for one in was if one not in now]:
        yield HREFLANG.among(page.url, changed)


def _check_robots(page: PageView, raw: PageView) -> Iterator[Finding]:
    was, now = set(robots_names(raw)), set(robots_names(page))
    if "noindex" in was and "noindex" not in now:
        yield NOINDEX_REMOVED.on(page.url)
    elif "noindex" in now and "noindex" not in was:
        yield NOINDEX_ADDED.on(page.url)
    elif changed := sorted(was ^ now):
        yield ROBOTS.on(page.url, ", ".join(changed))


def _check_body(context: PageContext, page: PageView, rendered: RenderedContext) -> Iterator[Finding]:
    was = linked_urls(rendered.raw)
    if added := [url for url in linked_urls(page) if url not in was]:
        yield LINKS.among(page.url, added)
    words, more = page.content.words, page.content.words - rendered.raw.content.words
    limit = context.limits[CONTENT]
    if more >= _FEWEST_WORDS and 100 * more > limit * words:
        yield CONTENT.on(page.url, f"{more} / {words}", words=words, percent=round(100 * more / words), limit=limit)
    settled, limit = rendered.page.settled, context.limits[LATE]
    if settled is not None and settled > limit:
        yield LATE.on(page.url, f"{settled:.1f} s", limit=limit)


def _check_errors(page: PageView, rendered: RenderedContext) -> Iterator[Finding]:
    shown = rendered.page
    for check, messages in (
        (EXCEPTION, shown.page_errors),
        (CONSOLE, shown.console_errors),
        (FAILED, shown.failed_resources),
        (BLOCKED, shown.refused_resources),
    ):
        if messages:
            yield check.among(page.url, messages)


GROUP = CheckGroup(_define.checks, run)
