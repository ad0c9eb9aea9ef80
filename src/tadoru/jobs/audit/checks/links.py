"""Checks of the links of a page. Their targets are checked in `site_checks.links`."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import unquote

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding, Threshold
from tadoru.model.web import Link, LinkKind
from tadoru.parse.page import PageView
from tadoru.rules.url import host_key, split_port

_define = CheckDefinitions("links")

NO_OUTGOING = _define.warning(
    "links-no-outgoing",
    title=N_("No internal outlinks"),
    why=N_("The page is a dead end for visitors and crawlers."),
    fix=N_("Link to related pages or add a navigation menu."),
)
TOO_MANY = _define.info(
    "links-too-many",
    title=N_("Too many internal links"),
    why=N_("With this many links, neither readers nor search engines can tell which ones matter."),
    fix=N_("Remove unnecessary links, or split the page."),
    threshold=Threshold(1000, "links"),
)
TOO_MANY_EXTERNAL = _define.info(
    "links-external-too-many",
    title=N_("Too many external links"),
    why=N_("A page with very many external links looks like a link list."),
    fix=N_("Keep only the links that help the reader."),
    threshold=Threshold(100, "links"),
)
EMPTY = _define.warning(
    "link-without-text",
    title=N_("Link without anchor text"),
    why=N_("Screen readers cannot announce where the link leads, and search engines get no context."),
    fix=N_("Add anchor text or an aria-label."),
)
GENERIC = _define.info(
    "link-generic-text",
    title=N_("Non-descriptive anchor text"),
    why=N_("On its own, such as in a list of links, the text does not describe the target."),
    fix=N_("Use anchor text that describes the target."),
)
NOFOLLOW = _define.notice(
    "link-internal-nofollow",
    title=N_("Internal nofollow link"),
    why=N_("The site asks search engines not to follow a link to its own page."),
    fix=N_("Remove nofollow from internal links."),
)
SCRIPT = _define.notice(
    "link-javascript",
    title=N_("JavaScript link"),
    why=N_("Search engines cannot follow the link, and it cannot be opened in a new tab."),
    fix=N_("Use a <button>, or put the URL in the href attribute."),
)
LOCALHOST = _define.error(
    "link-localhost",
    title=N_("Link to localhost"),
    why=N_("The link only works on the computer of its author."),
    fix=N_("Replace it with the public URL."),
)
TO_HTTP = _define.notice(
    "link-to-http",
    title=N_("Internal link from HTTPS to HTTP"),
    why=N_("Visitors lose encryption or go through an unnecessary redirect."),
    fix=N_("Link to the https:// URL."),
)
MALFORMED = _define.warning(
    "link-malformed",
    title=N_("Malformed link URL"),
    why=N_("The URL is mistyped or refers to a file on a local computer."),
    fix=N_("Correct the href attribute."),
)
BOOKMARK = _define.warning(
    "link-broken-bookmark",
    title=N_("Broken anchor (#) link on the same page"),
    why=N_("No element on the page has the name after #, so the link does nothing."),
    fix=N_("Correct the fragment, or add the id."),
)

_GENERIC = frozenset(
    (
        "click here|here|click this|this link|link|more|read more|learn more|see more|more info|more information|"
        "this page|こちら|ここ|こちらをクリック|ここをクリック|詳細|詳しくはこちら|詳細はこちら|続きを読む|もっと見る|"
        "リンク|クリック"
    ).split("|")
)
_DECORATION = " .…»>›→[]。"
_LOCAL_PREFIXES = ("http://127.", "https://127.", "http://localhost", "https://localhost", "http://[::1]", "https://[::1]")
_TOP = frozenset({"", "top"})
"""Fragments that are valid on every page."""


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    url, site = page.url, host_key(page.url)
    anchors = context.links[LinkKind.A]
    others = [link for link in anchors if link.url != url]
    own = (f"http://{site}/", f"https://{site}/")
    internal = [link for link in others if link.url.startswith(own)]
    if not internal and not page.script_references:
        yield NO_OUTGOING.on(url)
    if len(internal) > context.limits[TOO_MANY] or len(others) - len(internal) > context.limits[TOO_MANY_EXTERNAL]:
        yield from _check_counts(context, page, {link.url for link in internal}, {link.url for link in others})
    if nameless := [one.href for one in page.nameless if not one.has_image]:
        yield EMPTY.among(url, nameless)
    if generic := {text for text in {link.text for link in others} if text.lower().strip(_DECORATION) in _GENERIC}:
        yield GENERIC.among(url, [f"{link.text}: {link.url}" for link in others if link.text in generic])
    if unfollowed := [link.url for link in internal if "nofollow" in link.rel]:
        yield NOFOLLOW.among(url, unfollowed)
    if page.script_references:
        yield SCRIPT.among(url, page.script_references)
    if page.malformed_references:
        yield MALFORMED.among(url, page.malformed_references)
    yield from _check_targets(page, anchors, internal)


def _check_counts(context: PageContext, page: PageView, internal: set[str], others: set[str]) -> Iterator[Finding]:
    """Findings about the number of links. Each target is counted once."""
    if len(internal) > (limit := context.limits[TOO_MANY]):
        yield TOO_MANY.on(page.url, count=len(internal), limit=limit)
    if len(others - internal) > (limit := context.limits[TOO_MANY_EXTERNAL]):
        yield TOO_MANY_EXTERNAL.on(page.url, count=len(others - internal), limit=limit)


def _check_targets(page: PageView, anchors: list[Link], internal: list[Link]) -> Iterator[Finding]:
    """Findings about link targets. A site on localhost may link to localhost."""
    site = host_key(page.url)
    if not _is_local(site):
        suspects = [link.url for link in anchors if link.url.startswith(_LOCAL_PREFIXES)]
        if local := [url for url in suspects if _is_local(host_key(url))]:
            yield LOCALHOST.among(page.url, local)
    if page.url.startswith("https:") and (plain := [link.url for link in internal if link.url.startswith("http:")]):
        yield TO_HTTP.among(page.url, plain)
    known = page.anchors
    lost = [
        link.fragment
        for link in anchors
        if link.fragment and link.url == page.url and link.fragment not in known and link.fragment.lower() not in _TOP
    ]
    if lost:
        # An id may itself be percent-encoded.
        written = {unquote(name) for name in known if "%" in name}
        lost = [fragment for fragment in lost if fragment not in written]
    # Fragments for scripts and text fragments are not the ids of elements.
    if lost := [fragment for fragment in lost if not fragment.startswith(("!", "/", ":~:")) and "=" not in fragment]:
        yield BOOKMARK.among(page.url, [f"#{fragment}" for fragment in lost])


def _is_local(key: str) -> bool:
    host = split_port(key)[0]
    return (
        host in ("localhost", "[::1]")
        or host.endswith(".localhost")
        or (host.startswith("127.") and host.replace(".", "").isdigit())
    )


GROUP = CheckGroup(_define.checks, run)
