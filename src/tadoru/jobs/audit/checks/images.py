"""Checks of images: alt text, dimensions, sources."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding, Threshold
from tadoru.parse.walk import ImageElement

_define = CheckDefinitions("images")

ALT_MISSING = _define.warning(
    "image-alt-missing",
    title=N_("Image without alt attribute"),
    why=N_("Screen readers read out the file name instead, and image search lacks a description."),
    fix=N_('Describe the image in its alt attribute. Use alt="" if it is purely decorative.'),
)
ALT_TOO_LONG = _define.info(
    "image-alt-too-long",
    title=N_("Alt text too long"),
    why=N_("Screen readers read out the whole alt text, and it cannot be skimmed."),
    fix=N_("Use one sentence and move the details into the text."),
    threshold=Threshold(100, "characters"),
)
ALT_FILE_NAME = _define.notice(
    "image-alt-file-name",
    title=N_("File name as alt text"),
    why=N_("A file name does not describe the image."),
    fix=N_("Describe what the image shows."),
)
SIZE_MISSING = _define.info(
    "image-size-missing",
    title=N_("Image without width and height"),
    why=N_("The layout shifts when the image loads, because no space is reserved for it."),
    fix=N_("Add width and height attributes, or reserve the space with CSS."),
)
LINK_WITHOUT_TEXT = _define.warning(
    "image-link-without-text",
    title=N_("Linked image without alt text"),
    why=N_("The link consists of an image without alt text, so screen readers and search engines cannot tell where it leads."),
    fix=N_("Describe the link target in the alt attribute of the image."),
)
NO_SOURCE = _define.warning(
    "image-source-missing",
    title=N_("Image without source"),
    why=N_("The browser has nothing to display."),
    fix=N_("Add a src attribute, or remove the element."),
)
EMPTY_PICTURE = _define.error(
    "picture-without-img",
    title=N_("<picture> without <img>"),
    why=N_("Browsers display nothing for a <picture> without an <img>."),
    fix=N_("Add an <img> as its last child."),
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
    if found := [image.src for image in images if _shifts_layout(image)]:
        yield SIZE_MISSING.among(url, found)
    if found := [nameless.href for nameless in page.nameless if nameless.has_image]:
        yield LINK_WITHOUT_TEXT.among(url, found)
    if count := sum(not image.src for image in images):
        yield NO_SOURCE.on(url, count=count)
    if page.empty_pictures:
        yield EMPTY_PICTURE.on(url, count=page.empty_pictures)


def _shifts_layout(image: ImageElement) -> bool:
    """Whether the layout moves when the image loads. An inline image (data: URL) is there immediately."""
    return bool(image.src) and not (image.width and image.height) and not image.src.startswith("data:")


GROUP = CheckGroup(_define.checks, run)
