"""Faults of the HTML that browsers have to guess around."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, define
from tadoru.parse.page import PageView

_define = partial(define, group="html")

DOCTYPE = _define(
    "html-doctype-missing",
    Severity.WARNING,
    en=("Doctype missing", "Browsers fall back to the layout rules of the nineties.", "Begin the page with <!doctype html>."),
    ja=("doctypeがない", "ブラウザーが古い互換モードで表示します。", "先頭に <!doctype html> を書いてください。"),
)
LANG = _define(
    "html-lang-missing",
    Severity.WARNING,
    en=(
        "Language missing",
        "Screen readers choose a voice, and browsers a translation, by the page's language.",
        "Write <html lang=…>.",
    ),
    ja=(
        "言語の指定がない",
        "読み上げソフトの音声や翻訳は、ページの言語をもとに選ばれます。",
        "<html lang=ja> のように書いてください。",
    ),
)
LANG_INVALID = _define(
    "html-lang-invalid",
    Severity.NOTICE,
    en=("Language code invalid", "The value of lang is not a language code.", "Write a code such as en, en-GB or ja."),
    ja=("言語コードが不正", "lang の値が言語コードではありません。", "en、en-GB、ja のようなコードを書いてください。"),
)
CHARSET = _define(
    "html-charset-missing",
    Severity.WARNING,
    en=(
        "Charset missing",
        "Neither the header nor the page says how its bytes are to be read: other letters than ASCII may break.",
        "Write <meta charset=utf-8> first in the <head>.",
    ),
    ja=(
        "文字コードの指定がない",
        "ヘッダーにもHTMLにも指定がなく、文字化けするおそれがあります。",
        "<head> の先頭に <meta charset=utf-8> を書いてください。",
    ),
)
CHARSET_LATE = _define(
    "html-charset-late",
    Severity.NOTICE,
    en=(
        "Charset declared too late",
        "Browsers look for it in the first 1,024 bytes only, and then guess.",
        "Make <meta charset> the first element of the <head>.",
    ),
    ja=(
        "文字コードの指定が遅い",
        "ブラウザーは先頭の1024バイトしか調べず、なければ推測します。",
        "<meta charset> を <head> の先頭に置いてください。",
    ),
)
DUPLICATE_IDS = _define(
    "html-duplicate-ids",
    Severity.NOTICE,
    en=(
        "Duplicate ids",
        "Links, labels and scripts find only the first element of several with the same id.",
        "Give each element an id of its own.",
    ),
    ja=(
        "idの重複",
        "リンク・ラベル・スクリプトは、同じidの最初の要素しか見つけられません。",
        "要素ごとに異なるidを付けてください。",
    ),
)
DEPRECATED = _define(
    "html-deprecated-elements",
    Severity.INFO,
    en=("Deprecated elements", "These elements are no longer part of HTML.", "Replace them with CSS or current elements."),
    ja=("廃止された要素", "現在のHTMLでは廃止された要素です。", "CSSや現行の要素に置き換えてください。"),
)
VIEWPORT = _define(
    "html-viewport-missing",
    Severity.WARNING,
    en=(
        "Viewport missing",
        "Phones show the page as a small picture of a desktop page.",
        'Write <meta name=viewport content="width=device-width, initial-scale=1">.',
    ),
    ja=(
        "viewportがない",
        "スマートフォンでは、PC用の画面が縮小されて表示されます。",
        '<meta name=viewport content="width=device-width, initial-scale=1"> を書いてください。',
    ),
)
ZOOM = _define(
    "html-viewport-no-zoom",
    Severity.NOTICE,
    en=(
        "Zooming is switched off",
        "People with weak eyes can not enlarge the text.",
        "Remove user-scalable=no and maximum-scale.",
    ),
    ja=("拡大が禁止されている", "視力の弱い人が文字を拡大できません。", "user-scalable=no と maximum-scale を削除してください。"),
)
HEADS = _define(
    "html-multiple-heads",
    Severity.WARNING,
    en=("Several head elements", "What stands in the second one may be ignored.", "Join them."),
    ja=("head要素が複数ある", "二つ目以降の内容は無視されることがあります。", "一つにまとめてください。"),
)
BODIES = _define(
    "html-multiple-bodies",
    Severity.WARNING,
    en=("Several body elements", "Usually two pages pasted into each other; browsers join them as they can.", "Keep one <body>."),
    ja=(
        "body要素が複数ある",
        "多くは二つのページの貼り合わせで、ブラウザーは推測で結合します。",
        "<body> を一つにしてください。",
    ),
)
HEAD_STRAYS = _define(
    "html-invalid-elements-in-head",
    Severity.WARNING,
    en=(
        "Elements that do not belong in the head",
        "The first of them ends the head: canonical, robots and hreflang after it may be ignored.",
        "Move them into the <body>.",
    ),
    ja=(
        "headに置けない要素",
        "最初の一つでheadが終わったと見なされ、後に続くcanonicalなどが無視されることがあります。",
        "<body> に移してください。",
    ),
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
