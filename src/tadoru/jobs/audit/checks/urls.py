"""Checks of the URLs of pages. Most are minor: a working URL is rarely worth changing for one of them alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding, Threshold
from tadoru.rules.url import is_session_name, is_tracking_name, origin, split_url

_define = CheckDefinitions("urls")

NON_ASCII = _define.info(
    "url-non-ascii",
    title=N_("Non-ASCII characters in URL"),
    why=N_("When copied, the URL turns into a long percent-encoded string."),
    fix=N_("Use ASCII letters in new URLs where possible."),
)
UNDERSCORES = _define.info(
    "url-underscores",
    title=N_("Underscores in URL"),
    why=N_("Search engines treat hyphens as word separators, but not always underscores."),
    fix=N_("Use hyphens in new URLs. Leave existing URLs unchanged."),
    is_off=True,
)
UPPERCASE = _define.info(
    "url-uppercase",
    title=N_("Uppercase letters in URL"),
    why=N_("Paths are case-sensitive, so a different spelling is a different page."),
    fix=N_("Use lowercase letters in new URLs."),
    is_off=True,
)
MULTIPLE_SLASHES = _define.warning(
    "url-multiple-slashes",
    title=N_("Multiple slashes in URL"),
    why=N_("The page exists at two URLs. Usually, paths were joined incorrectly."),
    fix=N_("Fix the links that contain //."),
)
REPETITIVE = _define.warning(
    "url-repetitive-path",
    title=N_("Repetitive path in URL"),
    why=N_("A relative link probably extends the path on every page, which creates an endless number of URLs."),
    fix=N_("Look for relative links without a leading slash on the linking pages."),
)
SPACE = _define.notice(
    "url-space",
    title=N_("Space in URL"),
    why=N_("Spaces must be encoded as %20, and often break when a URL is copied or sent."),
    fix=N_("Use hyphens instead of spaces."),
)
PARAMETERS = _define.info(
    "url-parameters-many",
    title=N_("Too many URL parameters"),
    why=N_("Combinations of parameters multiply the URLs that search engines have to crawl."),
    fix=N_("Keep only parameters that change the content, and declare a canonical URL."),
    threshold=Threshold(3, "parameters"),
)
TRACKING = _define.warning(
    "url-tracking-parameters",
    title=N_("Tracking parameters in internal URL"),
    why=N_("They split one page into many URLs and overwrite the source of the visit in analytics."),
    fix=N_("Link to the URL without tracking parameters."),
)
SESSION = _define.warning(
    "url-session-id",
    title=N_("Session ID in URL"),
    why=N_("Every visit creates new URLs for the same page, and a shared link can expose the session."),
    fix=N_("Store sessions in cookies."),
)
TOO_LONG = _define.info(
    "url-too-long",
    title=N_("URL too long"),
    why=N_("Long URLs are truncated in search results and messages and are hard to share."),
    fix=N_("Shorten the path where possible."),
    threshold=Threshold(115, "characters"),
)
SEARCH = _define.notice(
    "url-internal-search",
    title=N_("Indexable internal search results"),
    why=N_("Internal search results are endless and of little use in a search engine."),
    fix=N_("Set search result pages to noindex, or disallow them in robots.txt."),
)
ENCODED_TWICE = _define.warning(
    "url-encoded-twice",
    title=N_("Double-encoded URL"),
    why=N_("A percent sign is itself encoded (%25…), because the URL was encoded twice."),
    fix=N_("Encode the URL only once."),
)
HTTP = _define.warning(
    "url-http",
    title=N_("Page served over HTTP"),
    why=N_("Without encryption, the page can be read or modified in transit, and browsers mark it as not secure."),
    fix=N_("Serve the page over HTTPS and redirect the http:// URL to it."),
    is_site_wide=True,
)

_ESCAPE = re.compile(r"%[0-9A-F]{2}")
_NON_ASCII_ESCAPE = re.compile(r"%[89A-F][0-9A-F]")
_TWICE = re.compile(r"%25[0-9A-Fa-f]{2}")
_SEARCH_NAMES = frozenset({"q", "s", "query", "search", "keyword", "keywords"})


def run(context: PageContext) -> Iterator[Finding]:
    response = context.response
    # Redirects and errors have checks of their own.
    if response is None or not 200 <= response.status < 300:
        return
    url = context.url
    scheme, _, _, path, query = split_url(url)
    names = [pair.partition("=")[0] for pair in query.split("&")] if query else []
    yield from _check_path(url, path)
    if repeated := _find_repeated_segment(context, path):
        yield REPETITIVE.on(url, repeated)
    if len(names) > (limit := context.limits[PARAMETERS]):
        yield PARAMETERS.on(url, query, count=len(names), limit=limit)
    if tracking := [name for name in names if is_tracking_name(name)]:
        yield TRACKING.among(url, tracking)
    if (session := [name for name in names if is_session_name(name)]) or ";jsessionid=" in path.lower():
        yield SESSION.among(url, session or ["jsessionid"])
    if len(url) > (limit := context.limits[TOO_LONG]):
        yield TOO_LONG.on(url, url, length=len(url), limit=limit)
    is_search = "search" in path.lower() or path in ("/", "/index.php")
    if is_search and not _SEARCH_NAMES.isdisjoint(names) and context.is_indexable:
        yield SEARCH.on(url, query)
    if scheme == "http" and not context.is_loopback:
        yield HTTP.on(url)


def _check_path(url: str, path: str) -> Iterator[Finding]:
    if "%" in path:
        if _NON_ASCII_ESCAPE.search(path):
            yield NON_ASCII.on(url, path)
        if "%20" in path:
            yield SPACE.on(url, path)
        if _TWICE.search(path):
            yield ENCODED_TWICE.on(url, path)
    if "_" in path:
        yield UNDERSCORES.on(url, path)
    letters = _ESCAPE.sub("", path) if "%" in path else path
    if letters != letters.lower():
        yield UPPERCASE.on(url, path)
    if "//" in path:
        yield MULTIPLE_SLASHES.on(url, path)


def _find_repeated_segment(context: PageContext, path: str) -> str | None:
    """The segment that a path repeats: three times in a row, or twice on a page that links to a third repetition.

    Two repetitions alone are legitimate, as in the module `alloc` of the library `alloc`.
    """
    segments = path.strip("/").split("/")
    for at, (one, other) in enumerate(pairwise(segments)):
        if not one or one != other or one.isdigit():
            continue
        if segments[at + 2 : at + 3] == [one]:
            return one
        once_more = "/".join((origin(context.url), *segments[: at + 2], one, ""))
        if context.page is not None and any(link.url.startswith(once_more) for link in context.page.links):
            return one
    return None


GROUP = CheckGroup(_define.checks, run)
