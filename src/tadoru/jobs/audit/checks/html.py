"""Checks of the HTML itself: doctype, language, charset, viewport, structure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding
from tadoru.parse.page import PageView

_define = CheckDefinitions("html")

DOCTYPE = _define.warning(
    "html-doctype-missing",
    title=N_("Missing doctype"),
    why=N_("Browsers render the page in quirks mode."),
    fix=N_("Start the document with <!doctype html>."),
    is_site_wide=True,
)
LANG = _define.warning(
    "html-lang-missing",
    title=N_("Missing lang attribute"),
    why=N_("Screen readers and translation tools need the language of the page."),
    fix=N_("Add a lang attribute to <html>, such as <html lang=en>."),
    is_site_wide=True,
)
LANG_INVALID = _define.notice(
    "html-lang-invalid",
    title=N_("Invalid lang attribute"),
    why=N_("The value of lang is not a valid language code."),
    fix=N_("Use a code such as en, en-GB or ja."),
)
CHARSET = _define.warning(
    "html-charset-missing",
    title=N_("Missing charset"),
    why=N_("Neither the HTTP header nor the HTML declares an encoding, so characters may be displayed incorrectly."),
    fix=N_("Add <meta charset=utf-8> at the start of the <head>."),
    is_site_wide=True,
)
CHARSET_LATE = _define.notice(
    "html-charset-late",
    title=N_("Charset declared too late"),
    why=N_("Browsers look for the declaration only in the first 1,024 bytes and guess otherwise."),
    fix=N_("Make <meta charset> the first element of the <head>."),
)
DUPLICATE_IDS = _define.notice(
    "html-duplicate-ids",
    title=N_("Duplicate ids"),
    why=N_("Links, labels and scripts only find the first element with a given id."),
    fix=N_("Use each id only once per page."),
)
DEPRECATED = _define.info(
    "html-deprecated-elements",
    title=N_("Deprecated HTML elements"),
    why=N_("The elements are no longer part of HTML."),
    fix=N_("Replace them with CSS or current elements."),
)
VIEWPORT = _define.warning(
    "html-viewport-missing",
    title=N_("Missing viewport"),
    why=N_("Mobile browsers display the page as a scaled-down desktop page."),
    fix=N_('Add <meta name=viewport content="width=device-width, initial-scale=1">.'),
    is_site_wide=True,
)
ZOOM = _define.notice(
    "html-viewport-no-zoom",
    title=N_("Zoom disabled"),
    why=N_("People with low vision cannot enlarge the text."),
    fix=N_("Remove user-scalable=no and maximum-scale from the viewport."),
    is_site_wide=True,
)
HEADS = _define.warning(
    "html-multiple-heads",
    title=N_("Multiple <head> elements"),
    why=N_("Browsers and search engines may ignore the content of the second one."),
    fix=N_("Merge them into one <head>."),
)
BODIES = _define.warning(
    "html-multiple-bodies",
    title=N_("Multiple <body> elements"),
    why=N_("Browsers guess how to combine them. This often happens when one page is pasted into another."),
    fix=N_("Keep one <body>."),
)
HEAD_STRAYS = _define.warning(
    "html-invalid-elements-in-head",
    title=N_("Invalid elements in <head>"),
    why=N_("The first invalid element ends the <head>. Canonical, robots and hreflang tags after it may be ignored."),
    fix=N_("Move the elements into the <body>."),
)

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*|x-\w+|i-\w+", re.IGNORECASE)
_NO_ZOOM = re.compile(r"user-scalable\s*=\s*(?:no|0)\b|maximum-scale\s*=\s*(?:1(?:\.0+)?(?![.\d])|0)", re.IGNORECASE)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    url, head = page.url, page.head
    if not page.has_doctype:
        yield DOCTYPE.on(url)
    if not head.lang:
        yield LANG.on(url)
    elif not _LANGUAGE.fullmatch(head.lang):
        yield LANG_INVALID.on(url, head.lang)
    if page.charset_source == "none":
        yield CHARSET.on(url, head.charset)
    elif page.charset_source == "late":
        yield CHARSET_LATE.on(url)
    if not head.viewport:
        yield VIEWPORT.on(url)
    elif _NO_ZOOM.search(head.viewport):
        yield ZOOM.on(url, head.viewport)
    yield from _check_structure(page)


def _check_structure(page: PageView) -> Iterator[Finding]:
    if page.duplicate_ids:
        yield DUPLICATE_IDS.among(page.url, page.duplicate_ids)
    if page.deprecated:
        yield DEPRECATED.among(page.url, page.deprecated)
    if page.markup.heads > 1:
        yield HEADS.on(page.url, count=page.markup.heads)
    if page.markup.bodies > 1:
        yield BODIES.on(page.url, count=page.markup.bodies)
    if page.markup.strays:
        yield HEAD_STRAYS.among(page.url, page.markup.strays)


GROUP = CheckGroup(_define.checks, run)
