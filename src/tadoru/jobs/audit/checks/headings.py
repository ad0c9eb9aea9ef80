"""Headings: the outline of a page, for readers and for search engines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define
from tadoru.parse.walk import Heading

_define = partial(define, group="headings")

H1_MISSING = _define(
    "h1-missing",
    Severity.WARNING,
    en=(
        "h1 missing",
        "The main heading tells readers, screen readers and search engines what the page is about.",
        "Add one <h1>.",
    ),
    ja=("h1がない", "主見出しは、読者・読み上げソフト・検索エンジンにページの主題を伝えます。", "<h1> を一つ置いてください。"),
)
H1_EMPTY = _define(
    "h1-empty",
    Severity.WARNING,
    en=("h1 empty", "The main heading has no words.", "Write the heading, or give the image in it an alt text."),
    ja=("h1が空", "主見出しに言葉がありません。", "見出しを書くか、中の画像に代替テキストを付けてください。"),
)
H1_MULTIPLE = _define(
    "h1-multiple",
    Severity.NOTICE,
    en=(
        "Several h1",
        "With several main headings it is unclear which one names the page.",
        "Keep one <h1>; make the others <h2>.",
    ),
    ja=(
        "h1が複数ある",
        "主見出しが複数あると、ページの主題があいまいになります。",
        "<h1> を一つにし、他は <h2> にしてください。",
    ),
)
H1_TOO_LONG = _define(
    "h1-too-long",
    Severity.INFO,
    en=("h1 too long", "A heading is read at a glance; this one is a paragraph.", "Shorten it."),
    ja=("h1が長すぎる", "見出しはひと目で読めることが大切です。", "短くしてください。"),
    threshold=Threshold(70, "characters"),
)
H1_IMAGE = _define(
    "h1-image-only",
    Severity.NOTICE,
    en=(
        "h1 is an image",
        "The only words of the main heading are the alt text of an image, which weigh less than text.",
        "Write the heading as text.",
    ),
    ja=(
        "h1が画像のみ",
        "主見出しの言葉が画像の代替テキストだけです。テキストより重みが小さくなります。",
        "見出しをテキストで書いてください。",
    ),
)
H2_MISSING = _define(
    "h2-missing",
    Severity.INFO,
    en=("Long text without h2", "A long text without subheadings is hard to scan.", "Divide it with <h2> headings."),
    ja=("長文にh2がない", "小見出しのない長文は拾い読みができません。", "<h2> で区切ってください。"),
    threshold=Threshold(1_000, "words, two Chinese or Japanese characters counted as one"),
)
NONSEQUENTIAL = _define(
    "headings-nonsequential",
    Severity.NOTICE,
    en=(
        "Heading levels skipped",
        "Screen readers offer headings as an outline; a skipped level is a hole in it.",
        "Use the level below the heading above it.",
    ),
    ja=(
        "見出しレベルの飛び",
        "読み上げソフトは見出しを目次として使います。レベルが飛ぶと目次に穴が空きます。",
        "直前の見出しの一つ下のレベルを使ってください。",
    ),
)
EMPTY = _define(
    "heading-empty",
    Severity.NOTICE,
    en=(
        "Empty heading",
        "A heading without words is announced by screen readers and says nothing.",
        "Remove it, or style an element that is no heading.",
    ),
    ja=(
        "空の見出し",
        "言葉のない見出しは、読み上げられても何も伝えません。",
        "削除するか、見出し以外の要素で体裁を整えてください。",
    ),
)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    url, headings = page.url, page.headings
    main = [heading for heading in headings if heading.level == 1]
    texts = [heading.text for heading in main if heading.text]
    # A page without any text lacks more than a heading, and is found for that.
    if not main and page.content.words:
        yield H1_MISSING.on(url)
    if main and not texts:
        yield H1_EMPTY.on(url)
    if len(texts) > 1:
        yield H1_MULTIPLE.among(url, texts)
    for heading in main[:1]:
        if heading.is_image:
            yield H1_IMAGE.on(url, heading.text)
        elif (length := len(heading.text)) > (limit := context.limits[H1_TOO_LONG]):
            yield H1_TOO_LONG.on(url, heading.text, length=length, limit=limit)
    if empty := [f"h{heading.level}" for heading in headings if heading.level > 1 and not heading.text]:
        yield EMPTY.among(url, empty)
    if page.content.words > (limit := context.limits[H2_MISSING]) and not any(
        heading.level in (2, 3) and not heading.is_aside for heading in headings
    ):
        yield H2_MISSING.on(url, words=page.content.words, limit=limit)
    yield from _outline(url, headings)


def _outline(url: str, headings: Sequence[Heading]) -> Iterator[Finding]:
    """Levels are judged from the h1 on, and without menus and asides, which have headings of their own."""
    headings = [heading for heading in headings if not heading.is_aside]
    start = next((at for at, heading in enumerate(headings) if heading.level == 1), None)
    if start is None:
        return
    skipped = [
        f"h{above.level} → h{below.level}: {below.text}"
        for above, below in pairwise(headings[start:])
        if below.level > above.level + 1
    ]
    if skipped:
        yield NONSEQUENTIAL.among(url, skipped)


GROUP = CheckGroup((H1_MISSING, H1_EMPTY, H1_MULTIPLE, H1_TOO_LONG, H1_IMAGE, H2_MISSING, NONSEQUENTIAL, EMPTY), run)
