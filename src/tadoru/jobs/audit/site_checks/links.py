"""Links in the light of where they lead, and pages in the light of who leads to them.

That something is missing (nobody links here, only such links lead here) is said only when every page of the site was seen: the
link may be on one that was not.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.site_checks.base import SiteChecks, among, on
from tadoru.model.finding import Severity, Threshold, define
from tadoru.store.analysis import SiteFinding

if TYPE_CHECKING:
    from tadoru.store.site.view import SiteView

_define = partial(define, group="links")

BROKEN = _define(
    "link-broken",
    Severity.ERROR,
    en=(
        "Broken internal link",
        "The page leads its visitors to pages of the site that do not answer or do not exist.",
        "Correct the address, or remove the link.",
    ),
    ja=(
        "内部リンク切れ",
        "サイト内の存在しない、または応答しないページへ訪問者を誘導しています。",
        "URLを修正するか、リンクを削除してください。",
    ),
)
LINKED_BROKEN = _define(
    "page-broken-linked",
    Severity.ERROR,
    en=(
        "Broken page that is linked to",
        "Pages of the site link to this URL, which does not answer or does not exist.",
        "Restore the page, redirect its URL, or correct the links.",
    ),
    ja=(
        "リンクされている壊れたページ",
        "存在しない、または応答しないこのURLへ、サイト内からリンクされています。",
        "ページを復元するか、リダイレクトするか、リンクを修正してください。",
    ),
)
MOVED = _define(
    "link-to-redirect",
    Severity.NOTICE,
    en=(
        "Link to a page that has moved",
        "Every visitor takes a detour, and the link loses its use once the redirect is gone.",
        "Link to the new address directly.",
    ),
    ja=(
        "移転したページへのリンク",
        "訪問のたびに遠回りとなり、リダイレクトがなくなるとリンク切れになります。",
        "新しいURLに直接リンクしてください。",
    ),
)
EXTERNAL_BROKEN = _define(
    "link-external-broken",
    Severity.WARNING,
    en=(
        "Broken external link",
        "The page leads its visitors to pages of other sites that do not answer or do not exist.",
        "Find where the page has gone, or remove the link.",
    ),
    ja=(
        "外部リンク切れ",
        "他サイトの存在しない、または応答しないページへ誘導しています。",
        "移転先を探すか、リンクを削除してください。",
    ),
)
EXTERNAL_MOVED = _define(
    "link-external-redirect",
    Severity.INFO,
    en=(
        "External link to a page that has moved",
        "The other site says that the page is elsewhere for good.",
        "Link to the new address.",
    ),
    ja=(
        "移転した外部ページへのリンク",
        "リンク先のサイトは、ページが恒久的に移転したと応答しています。",
        "新しいURLにリンクしてください。",
    ),
)
ORPHAN = _define(
    "page-orphan",
    Severity.WARNING,
    en=(
        "Orphan page",
        "No link leads from the start of the site to this page: visitors do not find it, and search engines think little of it.",
        "Link to it where it belongs, or remove it.",
    ),
    ja=(
        "孤立ページ",
        "サイトの入口からたどれるリンクがなく、訪問者に見つからず、検索エンジンにも軽視されます。",
        "ふさわしい場所からリンクするか、削除してください。",
    ),
)
NOFOLLOW_ONLY = _define(
    "inlinks-nofollow-only",
    Severity.WARNING,
    en=(
        "Only nofollow links lead here",
        "Every link of the site to this page asks search engines not to follow it.",
        "Remove nofollow from the links to pages that should be found.",
    ),
    ja=(
        "nofollowリンクのみ",
        "このページへのサイト内リンクはすべて nofollow です。",
        "検索されるべきページへのリンクから nofollow を外してください。",
    ),
)
MIXED = _define(
    "inlinks-nofollow-mixed",
    Severity.INFO,
    en=(
        "Links with and without nofollow lead here",
        "Some links of the site vouch for this page and some do not.",
        "Decide for one of them; within a site, nofollow is seldom meant.",
    ),
    ja=(
        "nofollowの有無が混在",
        "このページへのサイト内リンクに、nofollow のあるものとないものが混在しています。",
        "どちらかに統一してください。サイト内では通常 nofollow は不要です。",
    ),
)
NONINDEXABLE_ONLY = _define(
    "inlinks-nonindexable-only",
    Severity.WARNING,
    en=(
        "Only pages outside the index link here",
        "Search engines visit pages they do not show ever less often, and may lose sight of this one.",
        "Link to it from a page that can be found as well.",
    ),
    ja=(
        "索引対象外のページからのみリンク",
        "検索結果に出ないページは次第に巡回されなくなり、このページも見失われるおそれがあります。",
        "検索対象のページからもリンクしてください。",
    ),
)
SINGLE = _define(
    "inlinks-single",
    Severity.INFO,
    en=(
        "Only one page links here",
        "A page that is linked to once is easily overlooked, and lost when that link goes.",
        "Link to it from related pages too.",
    ),
    ja=(
        "1ページからしかリンクされていない",
        "見落とされやすく、そのリンクがなくなるとたどり着けなくなります。",
        "関連ページからもリンクしてください。",
    ),
)
DEEP = _define(
    "page-deep",
    Severity.NOTICE,
    en=(
        "Many clicks away from the start",
        "Few visitors and search engines go so deep.",
        "Link to the page from a list or an overview nearer to the start.",
    ),
    ja=(
        "入口から遠い",
        "ここまでたどる訪問者や検索エンジンはまれです。",
        "入口に近い一覧などからリンクしてください。",
    ),
    threshold=Threshold(5, "clicks"),
)


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    yield from among(BROKEN, site.linking("broken"))
    yield from among(LINKED_BROKEN, site.linking("broken by target"))
    yield from among(MOVED, site.linking("moved"))
    yield from among(EXTERNAL_BROKEN, site.linking("external broken"))
    yield from among(EXTERNAL_MOVED, site.linking("external moved"))
    yield from _inlinks(site)
    limit = limits[DEEP]
    for page in site.ids(site.pages.candidates & site.reached & (site.depth > limit)):
        yield on(DEEP, page, str(int(site.depth[page])), clicks=int(site.depth[page]), limit=limit)


def _inlinks(site: SiteView) -> Iterator[SiteFinding]:
    pages, links = site.pages, site.links
    elsewhere = pages.candidates & ~pages.seed
    for page in site.ids(pages.candidates & links.has_followed & links.has_unfollowed):
        yield on(MIXED, page)
    if not pages.is_complete:
        return
    for page in site.ids(elsewhere & ~site.reached):
        yield on(ORPHAN, page, sitemaps=int(site.in_sitemaps[page]))
    linked = elsewhere & site.reached & (site.inlinks.unique > 0)
    for page in site.ids(linked & ~links.has_followed):
        yield on(NOFOLLOW_ONLY, page, count=int(site.inlinks.unique[page]))
    for page in site.ids(linked & links.has_followed & ~site.inlinks.from_indexable):
        yield on(NONINDEXABLE_ONLY, page, count=int(site.inlinks.unique[page]))
    single = [page for page in site.ids(linked & (site.inlinks.unique == 1)) if site.inlinks.single[page]]
    for page in single:
        yield on(SINGLE, page, site.url(int(site.inlinks.single[page])))


GROUP = SiteChecks(
    "links",
    (
        BROKEN,
        LINKED_BROKEN,
        MOVED,
        EXTERNAL_BROKEN,
        EXTERNAL_MOVED,
        ORPHAN,
        NOFOLLOW_ONLY,
        MIXED,
        NONINDEXABLE_ONLY,
        SINGLE,
        DEEP,
    ),
    run,
)
