"""The bakery, `https://bakery.example/`: one page for every page check. The faults between pages are in `planted_site`."""

from __future__ import annotations

from dataclasses import replace

from tests.jobs.audit_pages import URL, Change
from tests.jobs.audit_triggers import CANONICAL, COMPANIONS, HOST, TRIGGERS
from tests.support.planted import PlantedPage, page

# These need a world of their own (`planted_sites`), or are made by what a server does and not by what it says.
ELSEWHERE = frozenset({
    "url-http", "form-on-http-page", "password-on-http-page", "links-too-many", "redirect-chain-too-long",
})  # fmt: skip
FAILING = {"response-missing": "long-header", "redirect-broken": "no-location"}
"""What is wrong is not in a page: how the server misbehaves."""

# Found in the light of other pages, beside what the page itself shows.
WITH_SITE: dict[str, set[str]] = {
    "html-too-large": {"page-large-for-site"},
    "ttfb-slow": {"response-slow-for-site"},
    "link-to-http": {"link-to-redirect"},
    "redirect-to-http": {"redirect-chain"},
    "hreflang-missing-self": {"hreflang-missing-return"},
    "hreflang-invalid-code": {"hreflang-inconsistent-language"},
    "pagination-multiple": {"pagination-sequence-error"},
    "pagination-not-in-anchor": {"pagination-unlinked", "pagination-to-error"},
    "canonical-to-http": {"canonical-unlinked", "canonical-to-redirect"},
}
BROKEN = frozenset({"response-client-error", "response-server-error", "response-missing", "redirect-broken"})
"""Linked from a page of their own."""
MOVED = frozenset({"redirect-to-http"})
NOT_INDEXED = BROKEN | MOVED | {
    "canonical-header-mismatch", "canonical-to-http", "canonical-to-other-host", "canonical-with-noindex", "canonicalised",
    "directive-conflicting", "directive-noindex", "directive-none", "hreflang-not-canonical", "redirect-meta-refresh",
    "redirect-temporary", "response-forbidden", "response-blocked-by-robots",
}  # fmt: skip
"""Left out of the sitemap, as it should be."""
SLOW = 2.5
"""Seconds that one page takes; the thresholds are set below it, and far above what others take on a busy machine."""


def url_of(check_id: str) -> str:
    """Where the page is that shows a fault."""
    if check_id == "response-blocked-by-robots":
        return f"{HOST}/private/{check_id}"
    url = TRIGGERS[check_id].url
    return f"{HOST}/bread/{check_id}" if url == URL else url


def german_of(check_id: str) -> str:
    return f"{HOST}/de/{check_id}"


def page_plants(mended: bool) -> list[PlantedPage]:
    """A page for each page check; mended, at addresses that nobody minds."""
    if mended:
        return [_mended(check_id) for check_id in TRIGGERS]
    return [_plant(check_id, change) for check_id, change in TRIGGERS.items() if check_id not in ELSEWHERE]


def _mended(check_id: str) -> PlantedPage:
    url = f"{HOST}/bread/{check_id}"
    return PlantedPage(url=url, reply=page(url, german=german_of(check_id) if check_id.startswith("hreflang") else ""))


def _plant(check_id: str, change: Change) -> PlantedPage:
    url = url_of(check_id)
    own = {
        "response-server-error": replace(change, status=501),  # A 503 would slow the whole crawl down.
        "canonical-relative": Change(CANONICAL, f'<link rel="canonical" href="/bread/{check_id}">'),
        "canonical-to-http": Change(CANONICAL, f'<link rel="canonical" href="http{url[5:]}">'),
    }
    return PlantedPage(
        url=url,
        finds=frozenset({check_id} | COMPANIONS.get(check_id, set()) | WITH_SITE.get(check_id, set())),
        reply=page(
            url,
            own.get(check_id, change),
            german=german_of(check_id) if check_id.startswith("hreflang") else "",
            series=check_id.startswith("pagination"),
        ),
        listed=check_id not in NOT_INDEXED,
        linked=check_id not in BROKEN | MOVED,
        misbehaves=FAILING.get(check_id, ""),
        takes=SLOW if check_id == "ttfb-slow" else 0.0,
    )
