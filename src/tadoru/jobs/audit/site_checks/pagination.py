"""Series of pages that name the next and the one before. What one page shows by itself is in `checks.pagination`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from tadoru.jobs.audit.context import Limits
from tadoru.jobs.audit.site_checks.base import SiteChecks, on
from tadoru.model.finding import Severity, define
from tadoru.store.analysis import SiteFinding
from tadoru.store.site.verdicts import Verdict

if TYPE_CHECKING:
    from tadoru.store.site.view import SiteView

_define = partial(define, group="pagination")

NON_200 = _define(
    "pagination-to-error",
    Severity.WARNING,
    en=(
        "Next or previous page does not answer",
        "rel=next or rel=prev leads to an error or a redirect.",
        "Name pages of the series that are there.",
    ),
    ja=(
        "次・前のページが応答しない",
        "rel=next や rel=prev がエラーかリダイレクトになります。",
        "存在するページを示してください。",
    ),
)
LOOP = _define(
    "pagination-loop",
    Severity.WARNING,
    en=("Series without an end", "Following rel=next leads back to this page.", "Leave rel=next out on the last page."),
    ja=(
        "終わりのないページ送り",
        "rel=next をたどるとこのページに戻ります。",
        "最後のページでは rel=next を省いてください。",
    ),
)
SEQUENCE = _define(
    "pagination-sequence-error",
    Severity.NOTICE,
    en=(
        "Next page does not name this one",
        "The page that follows by rel=next does not name this one as the page before it.",
        "Let rel=next and rel=prev name each other.",
    ),
    ja=(
        "次のページが戻りを示していない",
        "rel=next の先のページが、このページを rel=prev として示していません。",
        "rel=next と rel=prev が互いを示すようにしてください。",
    ),
)
UNLINKED = _define(
    "pagination-unlinked",
    Severity.NOTICE,
    en=(
        "Next or previous page is linked nowhere",
        "No link of the site leads to it, only rel=next or rel=prev, which search engines no longer follow.",
        "Link to the pages of the series.",
    ),
    ja=(
        "次・前のページがどこからもリンクされていない",
        "rel=next や rel=prev だけで示され、検索エンジンはたどりません。",
        "一連のページにリンクしてください。",
    ),
)
NONINDEXABLE = _define(
    "pagination-nonindexable",
    Severity.NOTICE,
    en=(
        "Page of a series is outside the index",
        "What is linked only from this page may not be found.",
        "Let every page of the series be indexed, with itself as its canonical.",
    ),
    ja=(
        "一連のページが索引対象外",
        "このページからのみリンクされた内容が見つからないおそれがあります。",
        "一連の各ページを索引対象とし、canonical は自身を示してください。",
    ),
)


def run(site: SiteView, limits: Limits) -> Iterator[SiteFinding]:
    pages = site.pages
    series = pages.documents & ((pages.next != 0) | (pages.prev != 0))
    if not series.any():
        return
    after, before = (site.points_at(steps, (Verdict.BROKEN, Verdict.REDIRECT)) for steps in (pages.next, pages.prev))
    for page in site.ids(series & (after | before)):
        target = int(pages.next[page] if after[page] else pages.prev[page])
        yield on(NON_200, page, site.url(target), status=int(pages.status[target]))
    yield from _order(site)
    for page in site.ids(series & ((pages.why == Verdict.NOINDEX) | (pages.why == Verdict.CANONICALISED))):
        yield on(NONINDEXABLE, page, site.value(page, "indexability"))
    if pages.is_complete:
        yield from _unlinked(site)


def _order(site: SiteView) -> Iterator[SiteFinding]:
    pages = site.pages
    for page in site.ids(pages.documents & site.on_loop(pages.next)):
        yield on(LOOP, page, site.url(int(pages.next[page])))
    for page in site.ids(pages.documents & (pages.next > 0) & site.points_at(pages.next, (Verdict.GOOD,))):
        after = int(pages.next[page])
        if pages.documents[after] and pages.prev[after] != page:
            yield on(SEQUENCE, page, site.url(after))


def _unlinked(site: SiteView) -> Iterator[SiteFinding]:
    pages = site.pages
    for page in site.ids(pages.documents & ((pages.next != 0) | (pages.prev != 0))):
        for target, column in ((int(pages.next[page]), "next_url"), (int(pages.prev[page]), "prev_url")):
            if target > 0 and pages.internal[target] and not site.linked[target]:
                yield on(UNLINKED, page, site.url(target))
                break
            if target < 0 and site.is_ours(url := site.value(page, column)):
                yield on(UNLINKED, page, url)
                break


GROUP = SiteChecks("pagination", (NON_200, LOOP, SEQUENCE, UNLINKED, NONINDEXABLE), run)
