"""Meta descriptions, the lines under the title in search results; and meta keywords, which nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define
from tadoru.parse.measure import DESCRIPTION_SIZE, columns, pixels

_define = partial(define, group="descriptions")

MISSING = _define(
    "description-missing",
    Severity.NOTICE,
    en=(
        "Meta description missing",
        "Search engines then pick some text of the page to show under its title.",
        "Describe the page in a sentence or two in <meta name=description>.",
    ),
    ja=(
        "メタディスクリプションがない",
        "検索結果には、ページ内の文が適当に抜き出されて表示されます。",
        "<meta name=description> に一、二文で内容を書いてください。",
    ),
)
MULTIPLE = _define(
    "description-multiple",
    Severity.WARNING,
    en=("Several meta descriptions", "Which one search engines show is left to chance.", "Keep one."),
    ja=("メタディスクリプションが複数ある", "どれが検索結果に出るかわかりません。", "一つにしてください。"),
)
TOO_LONG = _define(
    "description-too-long",
    Severity.INFO,
    en=(
        "Meta description too long",
        "What does not fit is cut off in search results.",
        "Put what matters first and shorten the rest.",
    ),
    ja=(
        "メタディスクリプションが長すぎる",
        "収まらない部分は検索結果で省略されます。",
        "大事なことを先に書き、残りを短くしてください。",
    ),
    threshold=Threshold(155, "characters, full-width ones counted twice"),
)
TOO_WIDE = _define(
    "description-too-wide",
    Severity.INFO,
    en=("Meta description too wide", "Search results cut descriptions by their width on the screen.", "Shorten the description."),
    ja=("メタディスクリプションの表示幅が広すぎる", "検索結果では表示幅で省略されます。", "説明文を短くしてください。"),
    threshold=Threshold(985, "pixels"),
)
TOO_SHORT = _define(
    "description-too-short",
    Severity.INFO,
    en=(
        "Meta description too short",
        "There is room to say more about the page where people decide what to open.",
        "Use the space: one or two sentences.",
    ),
    ja=(
        "メタディスクリプションが短すぎる",
        "検索結果で内容を伝える余地を使い切っていません。",
        "一、二文で内容を説明してください。",
    ),
    threshold=Threshold(70, "characters, full-width ones counted twice"),
)
OUTSIDE_HEAD = _define(
    "description-outside-head",
    Severity.WARNING,
    en=("Meta description outside head", "Search engines may ignore it in the body.", "Move it into the <head>."),
    ja=(
        "メタディスクリプションがheadの外にある",
        "本文にあると検索エンジンに無視されることがあります。",
        "<head> の中に移してください。",
    ),
)
SAME_AS_TITLE = _define(
    "description-same-as-title",
    Severity.NOTICE,
    en=("Meta description same as title", "The same line twice tells nothing new.", "Write a description of its own."),
    ja=(
        "メタディスクリプションがタイトルと同じ",
        "同じ文を繰り返しても新しい情報になりません。",
        "独自の説明文を書いてください。",
    ),
)
KEYWORDS = _define(
    "meta-keywords-present",
    Severity.INFO,
    en=("Meta keywords present", "Search engines ignore them; competitors may read them.", "Remove the element."),
    ja=("メタキーワードがある", "検索エンジンは無視し、競合には読まれます。", "要素を削除してください。"),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None or not context.is_indexable:
        return
    if page.keywords:
        yield KEYWORDS.on(page.url, page.keywords)
    description = next(filter(None, page.descriptions), "")
    if not description:
        yield MISSING.on(page.url)
        return
    if len(page.descriptions) > 1:
        yield MULTIPLE.on(page.url, description, count=len(page.descriptions))
    if "description" in page.outside_head:
        yield OUTSIDE_HEAD.on(page.url, description)
    if description == page.head.title:
        yield SAME_AS_TITLE.on(page.url, description)
        return
    length, width = columns(description), pixels(description, DESCRIPTION_SIZE)
    if length > (limit := context.limits[TOO_LONG]):
        yield TOO_LONG.on(page.url, description, length=length, limit=limit)
    elif length < (limit := context.limits[TOO_SHORT]):
        yield TOO_SHORT.on(page.url, description, length=length, limit=limit)
    if width > (limit := context.limits[TOO_WIDE]):
        yield TOO_WIDE.on(page.url, description, pixels=width, limit=limit)


GROUP = CheckGroup((MISSING, MULTIPLE, TOO_LONG, TOO_WIDE, TOO_SHORT, OUTSIDE_HEAD, SAME_AS_TITLE, KEYWORDS), run)
