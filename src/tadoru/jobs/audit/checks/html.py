"""Faults of the HTML that browsers have to guess around."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, define
from tadoru.parse.page import PageView

_define = partial(define, group="html")

DOCTYPE = _define(
    "html-doctype-missing",
    Severity.WARNING,
    title=N_("Doctype missing"),
    why=N_("Browsers fall back to the layout rules of the nineties."),
    fix=N_("Begin the page with <!doctype html>."),
)
LANG = _define(
    "html-lang-missing",
    Severity.WARNING,
    title=N_("Language missing"),
    why=N_("Screen readers choose a voice, and browsers a translation, by the page's language."),
    fix=N_("Write <html lang=…>."),
)
LANG_INVALID = _define(
    "html-lang-invalid",
    Severity.NOTICE,
    title=N_("Language code invalid"),
    why=N_("The value of lang is not a language code."),
    fix=N_("Write a code such as en, en-GB or ja."),
)
CHARSET = _define(
    "html-charset-missing",
    Severity.WARNING,
    title=N_("Charset missing"),
    why=N_("Neither the header nor the page says how its bytes are to be read: other letters than ASCII may break."),
    fix=N_("Write <meta charset=utf-8> first in the <head>."),
)
CHARSET_LATE = _define(
    "html-charset-late",
    Severity.NOTICE,
    title=N_("Charset declared too late"),
    why=N_("Browsers look for it in the first 1,024 bytes only, and then guess."),
    fix=N_("Make <meta charset> the first element of the <head>."),
)
DUPLICATE_IDS = _define(
    "html-duplicate-ids",
    Severity.NOTICE,
    title=N_("Duplicate ids"),
    why=N_("Links, labels and scripts find only the first element of several with the same id."),
    fix=N_("Give each element an id of its own."),
)
DEPRECATED = _define(
    "html-deprecated-elements",
    Severity.INFO,
    title=N_("Deprecated elements"),
    why=N_("These elements are no longer part of HTML."),
    fix=N_("Replace them with CSS or current elements."),
)
VIEWPORT = _define(
    "html-viewport-missing",
    Severity.WARNING,
    title=N_("Viewport missing"),
    why=N_("Phones show the page as a small picture of a desktop page."),
    fix=N_('Write <meta name=viewport content="width=device-width, initial-scale=1">.'),
)
ZOOM = _define(
    "html-viewport-no-zoom",
    Severity.NOTICE,
    title=N_("Zooming is switched off"),
    why=N_("People with weak eyes can not enlarge the text."),
    fix=N_("Remove user-scalable=no and maximum-scale."),
)
HEADS = _define(
    "html-multiple-heads",
    Severity.WARNING,
    title=N_("Several head elements"),
    why=N_("What stands in the second one may be ignored."),
    fix=N_("Join them."),
)
BODIES = _define(
    "html-multiple-bodies",
    Severity.WARNING,
    title=N_("Several body elements"),
    why=N_("Usually two pages pasted into each other; browsers join them as they can."),
    fix=N_("Keep one <body>."),
)
HEAD_STRAYS = _define(
    "html-invalid-elements-in-head",
    Severity.WARNING,
    title=N_("Elements that do not belong in the head"),
    why=N_("The first of them ends the head: canonical, robots and hreflang after it may be ignored."),
    fix=N_("Move them into the <body>."),
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
    yield from _structure(page)


def _structure(page: PageView) -> Iterator[Finding]:
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


GROUP = CheckGroup(
    (DOCTYPE, LANG, LANG_INVALID, CHARSET, CHARSET_LATE, DUPLICATE_IDS, DEPRECATED, VIEWPORT, ZOOM, HEADS, BODIES, HEAD_STRAYS),
    run,
)
