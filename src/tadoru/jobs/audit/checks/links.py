"""The links of a page, as far as it shows them itself. Whether they work is a matter of the whole site."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from urllib.parse import unquote

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define
from tadoru.model.web import Link, LinkKind
from tadoru.parse.page import PageView
from tadoru.rules.url import host_key, split_port

_define = partial(define, group="links")

NO_OUTGOING = _define(
    "links-no-outgoing",
    Severity.WARNING,
    title=N_("No links to other pages of the site"),
    why=N_("A dead end: visitors and crawlers can only go back."),
    fix=N_("Link to related pages or to a menu."),
)
TOO_MANY = _define(
    "links-too-many",
    Severity.INFO,
    title=N_("Many internal links"),
    why=N_("Among so many links none stands out, for readers or for search engines."),
    fix=N_("Remove what is not needed, or divide the page."),
    threshold=Threshold(1000, "links"),
)
TOO_MANY_EXTERNAL = _define(
    "links-external-too-many",
    Severity.INFO,
    title=N_("Many external links"),
    why=N_("Pages with very many links to other sites look like link lists."),
    fix=N_("Keep those that help the reader."),
    threshold=Threshold(100, "links"),
)
EMPTY = _define(
    "link-without-text",
    Severity.WARNING,
    title=N_("Link without text"),
    why=N_("Nobody who can not see it can tell where it leads, and search engines learn nothing from it."),
    fix=N_("Add words, or an aria-label."),
)
GENERIC = _define(
    "link-generic-text",
    Severity.INFO,
    title=N_("Non-descriptive link text"),
    why=N_("Read by itself, as in a list of links, such a text says nothing about its target."),
    fix=N_("Say what the link leads to."),
)
NOFOLLOW = _define(
    "link-internal-nofollow",
    Severity.NOTICE,
    title=N_("Internal link with nofollow"),
    why=N_("The site asks search engines not to trust its own page."),
    fix=N_("Remove nofollow from links within the site."),
)
SCRIPT = _define(
    "link-javascript",
    Severity.NOTICE,
    title=N_("Link that only runs a script"),
    why=N_("Search engines can not follow it, and it can not be opened in another tab."),
    fix=N_("Use a <button>, or put the address into href."),
)
LOCALHOST = _define(
    "link-localhost",
    Severity.ERROR,
    title=N_("Link to localhost"),
    why=N_("The link works only on the machine of whoever wrote it."),
    fix=N_("Replace it with the public URL."),
)
TO_HTTP = _define(
    "link-to-http",
    Severity.NOTICE,
    title=N_("Link from HTTPS to HTTP within the site"),
    why=N_("Visitors leave the encrypted site, or take a redirect for nothing."),
    fix=N_("Link to the https:// URL."),
)
MALFORMED = _define(
    "link-malformed",
    Severity.ERROR,
    title=N_("Malformed link"),
    why=N_("The address is mistyped, or names a file on somebody's machine."),
    fix=N_("Correct the href."),
)
BOOKMARK = _define(
    "link-broken-bookmark",
    Severity.WARNING,
    title=N_("Link to a missing place on the page"),
    why=N_("The part after # names nothing on this page: the link does nothing."),
    fix=N_("Correct the fragment, or add the id."),
)

_GENERIC = frozenset(
    {
        "click here",
        "here",
        "click this",
        "this link",
        "link",
        "more",
        "read more",
        "learn more",
        "see more",
        "more info",
        "more information",
        "this page",
        "こちら",
        "ここ",
        "こちらをクリック",
        "ここをクリック",
        "詳細",
        "詳しくはこちら",
        "詳細はこちら",
        "続きを読む",
        "もっと見る",
        "リンク",
        "クリック",
    }
)
_AROUND = " .…»>›→[]。"
_LOCAL = ("http://127.", "https://127.", "http://localhost", "https://localhost", "http://[::1]", "https://[::1]")
_TOP = frozenset({"", "top"})
"""Fragments every page has."""


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
        yield from _numbers(context, page, {link.url for link in internal}, {link.url for link in others})
    if nameless := [one.href for one in page.nameless if not one.has_image]:
        yield EMPTY.among(url, nameless)
    if generic := {text for text in {link.text for link in others} if text.lower().strip(_AROUND) in _GENERIC}:
        yield GENERIC.among(url, [f"{link.text}: {link.url}" for link in others if link.text in generic])
    if unfollowed := [link.url for link in internal if "nofollow" in link.rel]:
        yield NOFOLLOW.among(url, unfollowed)
    if page.script_references:
        yield SCRIPT.among(url, page.script_references)
    if page.malformed_references:
        yield MALFORMED.among(url, page.malformed_references)
    yield from _targets(page, anchors, internal)


def _numbers(context: PageContext, page: PageView, internal: set[str], others: set[str]) -> Iterator[Finding]:
    """Each target is counted once."""
    if len(internal) > (limit := context.limits[TOO_MANY]):
        yield TOO_MANY.on(page.url, count=len(internal), limit=limit)
    if len(others - internal) > (limit := context.limits[TOO_MANY_EXTERNAL]):
        yield TOO_MANY_EXTERNAL.on(page.url, count=len(others - internal), limit=limit)


def _targets(page: PageView, anchors: list[Link], internal: list[Link]) -> Iterator[Finding]:
    """Where links lead. A site that itself runs on this machine may link to itself."""
    site = host_key(page.url)
    if not _is_local(site):
        suspects = [link.url for link in anchors if link.url.startswith(_LOCAL)]
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
        # An id may itself be written with escapes, and is then meant by the same letters.
        written = {unquote(name) for name in known if "%" in name}
        lost = [fragment for fragment in lost if fragment not in written]
    # What begins with these is for scripts and for text search, not the name of a place.
    if lost := [fragment for fragment in lost if not fragment.startswith(("!", "/", ":~:")) and "=" not in fragment]:
        yield BOOKMARK.among(page.url, [f"#{fragment}" for fragment in lost])


def _is_local(key: str) -> bool:
    host = split_port(key)[0]
    return (
        host in ("localhost", "[::1]")
        or host.endswith(".localhost")
        or (host.startswith("127.") and host.replace(".", "").isdigit())
    )


GROUP = CheckGroup(
    (NO_OUTGOING, TOO_MANY, TOO_MANY_EXTERNAL, EMPTY, GENERIC, NOFOLLOW, SCRIPT, LOCALHOST, TO_HTTP, MALFORMED, BOOKMARK), run
)
