"""Checks of images, scripts, stylesheets, frames and media. Each is one finding, with the pages that use it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, Limits
from tadoru.jobs.audit.site_checks.check_set import SiteCheckSet, site_finding
from tadoru.model.finding import Check, Threshold, Value
from tadoru.model.web import FailureKind, LinkKind
from tadoru.rules.url import split_url
from tadoru.store.crawl.analysis import SiteFinding
from tadoru.store.crawl.site.arrays import REFUSED_CODES

if TYPE_CHECKING:
    from tadoru.store.crawl.site.side_tables import SiteResource
    from tadoru.store.crawl.site.view import SiteView

_define = CheckDefinitions("resources")

IMAGE_BROKEN = CheckDefinitions("images").warning(
    "image-broken",
    title=N_("Broken image"),
    why=N_("The image returns an error or does not respond, so it is not displayed."),
    fix=N_("Restore the file, or correct the reference."),
)
BROKEN = _define.warning(
    "resource-broken",
    title=N_("Broken script, stylesheet or frame"),
    why=N_("A resource of the page returns an error or does not respond, so the page may look wrong or not work."),
    fix=N_("Restore the file, or correct the reference."),
)
REDIRECTED = _define.info(
    "resource-redirected",
    title=N_("Redirected resource"),
    why=N_("The redirect delays the resource on every page load."),
    fix=N_("Use the final URL of the resource."),
)
IMAGE_LARGE = CheckDefinitions("images").notice(
    "image-too-large",
    title=N_("Large image file"),
    why=N_("Large files slow down the page, especially on mobile devices."),
    fix=N_("Compress or scale down the image, or use a newer format."),
    threshold=Threshold(100_000, "bytes"),
)
WRONG_TYPE = _define.warning(
    "resource-content-type",
    title=N_("Unexpected resource content type"),
    why=N_("The Content-Type does not match how the page uses the file, so browsers may reject it. Often it is an error page."),
    fix=N_("Send the correct Content-Type, or return status 404 if the file does not exist."),
)

_FONTS = (".woff2", ".woff", ".ttf", ".otf", ".eot", ".css")
_SCRIPTS = ("javascript", "ecmascript", "json", "wasm")
"""Parts of media types that a script element may load: import maps and speculation rules are JSON."""


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    problems = {one.number: (one.url, found) for one in site.resources() if (found := list(_find_problems(one, limits)))}
    for number, count, examples in site.using(problems):
        url, found = problems[number]
        for check, detail, data in found:
            yield site_finding(check, url, detail, pages=count, examples=examples, **data)


def _find_problems(one: SiteResource, limits: Limits) -> Iterator[tuple[Check, str, dict[str, Value]]]:
    """The checks that apply to a resource, with their evidence."""
    image = one.kind == LinkKind.IMAGE
    if is_broken(one):
        yield IMAGE_BROKEN if image or _is_picture(one) else BROKEN, str(one.status_code or one.error_type or ""), {}
    if one.status != "completed" or one.status_code != 200:
        return
    if one.final_url:
        yield REDIRECTED, one.final_url, {}
    if image and (size := one.content_length or 0) > (limit := limits[IMAGE_LARGE]):
        yield IMAGE_LARGE, "", {"size": size, "limit": limit}
    if one.content_type and not is_accepted_type(one.kind, one.content_type.partition(";")[0].strip().lower()):
        yield WRONG_TYPE, one.content_type, {}


def _is_picture(one: SiteResource) -> bool:
    """Whether a style sheet or the metadata of a page name an image: nearly all that they name is one."""
    if one.kind == LinkKind.PREVIEW:
        return True
    return one.kind == LinkKind.CSS and not split_url(one.url).path.lower().endswith(_FONTS)


def is_broken(one: SiteResource) -> bool:
    """Whether a resource, or a URL that a page declares, does not respond or responds with an error."""
    if one.status == "error":
        return one.error_type not in (FailureKind.TOO_LARGE, FailureKind.BLOCKED_ADDRESS, FailureKind.BOT_BLOCKED)
    code = one.status_code or 0
    return code >= 400 and code not in REFUSED_CODES


def is_accepted_type(kind: str, media_type: str) -> bool:
    """Whether browsers accept a media type for a kind of resource."""
    if kind in (LinkKind.FRAME, LinkKind.PREVIEW) or media_type in ("", "application/octet-stream", "binary/octet-stream"):
        return True
    if kind == LinkKind.SCRIPT:
        return any(part in media_type for part in _SCRIPTS)
    if kind == LinkKind.IMAGE:
        return not media_type.startswith("text/") and media_type not in ("application/json", "application/xhtml+xml")
    return media_type not in ("text/html", "application/xhtml+xml")


GROUP = SiteCheckSet("resources", (IMAGE_BROKEN, BROKEN, REDIRECTED, IMAGE_LARGE, WRONG_TYPE), run)
