"""Images: their words for those who do not see them, and their size before they have arrived."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define
from tadoru.parse.walk import Image

_define = partial(define, group="images")

ALT_MISSING = _define(
    "image-alt-missing",
    Severity.WARNING,
    en=(
        "Image without alt attribute",
        "Screen readers read out its file name instead, and image search has nothing to go by.",
        'Describe the image in its alt attribute; write alt="" when it only decorates.',
    ),
    ja=(
        "alt属性のない画像",
        "読み上げソフトはファイル名を読み上げ、画像検索には手がかりがありません。",
        'alt属性で画像を説明してください。装飾なら alt="" と書いてください。',
    ),
)
ALT_TOO_LONG = _define(
    "image-alt-too-long",
    Severity.INFO,
    en=(
        "Alt text too long",
        "An alt text is heard in one go: it can not be skimmed.",
        "Say it in a sentence, and put the rest into the text.",
    ),
    ja=(
        "代替テキストが長すぎる",
        "代替テキストは一気に読み上げられ、読み飛ばせません。",
        "一文にまとめ、残りは本文に書いてください。",
    ),
    threshold=Threshold(100, "characters"),
)
ALT_FILE_NAME = _define(
    "image-alt-file-name",
    Severity.NOTICE,
    en=("Alt text is a file name", "A file name tells nobody what the image shows.", "Describe the image."),
    ja=("代替テキストがファイル名", "ファイル名では画像の内容が伝わりません。", "画像の内容を説明してください。"),
)
SIZE_MISSING = _define(
    "image-size-missing",
    Severity.INFO,
    en=(
        "Image without width and height",
        "The text jumps when such an image arrives, because its room was not reserved.",
        "Add width and height attributes, or reserve the room in CSS.",
    ),
    ja=(
        "画像に幅と高さがない",
        "表示領域が確保されないため、画像の読み込み時に文章がずれます。",
        "width と height を指定するか、CSSで領域を確保してください。",
    ),
)
LINK_WITHOUT_TEXT = _define(
    "image-link-without-text",
    Severity.WARNING,
    en=(
        "Linked image without words",
        "The link is only an image without alt text: nobody can tell where it leads without seeing it.",
        "Write where the link leads in the image's alt attribute.",
    ),
    ja=(
        "言葉のない画像リンク",
        "代替テキストのない画像だけのリンクは、見えない人には行き先がわかりません。",
        "リンク先を画像のalt属性に書いてください。",
    ),
)
NO_SOURCE = _define(
    "image-source-missing",
    Severity.WARNING,
    en=("Image without source", "There is nothing to show.", "Add a src attribute, or remove the element."),
    ja=("画像の参照先がない", "表示するものがありません。", "src属性を加えるか、要素を削除してください。"),
)
EMPTY_PICTURE = _define(
    "picture-without-img",
    Severity.ERROR,
    en=(
        "picture without img",
        "Browsers show nothing for a <picture> that has no <img> in it.",
        "Add an <img> as its last child.",
    ),
    ja=(
        "imgのないpicture",
        "<img> のない <picture> は、ブラウザーに何も表示されません。",
        "最後の子要素として <img> を加えてください。",
    ),
)

_FILE_NAME = re.compile(r"\S+\.(?:jpe?g|png|gif|webp|avif|svg|bmp|tiff?)|(?:img|dsc|image|screenshot)[ _-]?\d+", re.IGNORECASE)


def run(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    url, images = page.url, page.images
    if found := [image.src for image in images if image.alt is None and not image.is_hidden and image.src]:
        yield ALT_MISSING.among(url, found)
    limit = context.limits[ALT_TOO_LONG]
    if found := [image.alt for image in images if image.alt and len(image.alt) > limit]:
        yield ALT_TOO_LONG.among(url, found, limit=limit)
    if found := [image.alt for image in images if image.alt and _FILE_NAME.fullmatch(image.alt)]:
        yield ALT_FILE_NAME.among(url, found)
    if found := [image.src for image in images if _jumps(image)]:
        yield SIZE_MISSING.among(url, found)
    if found := [nameless.href for nameless in page.nameless if nameless.has_image]:
        yield LINK_WITHOUT_TEXT.among(url, found)
    if count := sum(not image.src for image in images):
        yield NO_SOURCE.on(url, count=count)
    if page.empty_pictures:
        yield EMPTY_PICTURE.on(url, count=page.empty_pictures)


def _jumps(image: Image) -> bool:
    """An inline image is there at once; a small one without a size can not be told from a large one."""
    return bool(image.src) and not (image.width and image.height) and not image.src.startswith("data:")


GROUP = CheckGroup((ALT_MISSING, ALT_TOO_LONG, ALT_FILE_NAME, SIZE_MISSING, LINK_WITHOUT_TEXT, NO_SOURCE, EMPTY_PICTURE), run)
