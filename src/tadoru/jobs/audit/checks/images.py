"""Images: their words for those who do not see them, and their size before they have arrived."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckGroup, PageContext
from tadoru.model.finding import Finding, Severity, Threshold, define
from tadoru.parse.walk import Image

_define = partial(define, group="images")

ALT_MISSING = _define(
    "image-alt-missing",
    Severity.WARNING,
    title=N_("Image without alt attribute"),
    why=N_("Screen readers read out its file name instead, and image search has nothing to go by."),
    fix=N_('Describe the image in its alt attribute; write alt="" when it only decorates.'),
)
ALT_TOO_LONG = _define(
    "image-alt-too-long",
    Severity.INFO,
    title=N_("Alt text too long"),
    why=N_("An alt text is heard in one go: it can not be skimmed."),
    fix=N_("Say it in a sentence, and put the rest into the text."),
    threshold=Threshold(100, "characters"),
)
ALT_FILE_NAME = _define(
    "image-alt-file-name",
    Severity.NOTICE,
    title=N_("Alt text is a file name"),
    why=N_("A file name tells nobody what the image shows."),
    fix=N_("Describe the image."),
)
SIZE_MISSING = _define(
    "image-size-missing",
    Severity.INFO,
    title=N_("Image without width and height"),
    why=N_("The text jumps when such an image arrives, because its room was not reserved."),
    fix=N_("Add width and height attributes, or reserve the room in CSS."),
)
LINK_WITHOUT_TEXT = _define(
    "image-link-without-text",
    Severity.WARNING,
    title=N_("Linked image without words"),
    why=N_("The link is only an image without alt text: nobody can tell where it leads without seeing it."),
    fix=N_("Write where the link leads in the image's alt attribute."),
)
NO_SOURCE = _define(
    "image-source-missing",
    Severity.WARNING,
    title=N_("Image without source"),
    why=N_("There is nothing to show."),
    fix=N_("Add a src attribute, or remove the element."),
)
EMPTY_PICTURE = _define(
    "picture-without-img",
    Severity.ERROR,
    title=N_("picture without img"),
    why=N_("Browsers show nothing for a <picture> that has no <img> in it."),
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
