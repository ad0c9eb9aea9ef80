"""Every URL of a crawl in arrays: type, status, targets; read in one pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tadoru.model.web import FailureKind
from tadoru.rules.minhash import BINS
from tadoru.rules.url import host_key
from tadoru.store.crawl.connection import SqlConnection, SqlDialect
from tadoru.store.crawl.site.arrays import REFUSED_CODES, Bytes, Flags, Floats, Ids, Numbers, UrlState, UrlVerdict
from tadoru.store.crawl.site.paths import ChainEnds, ends

AT_A_TIME = 4_000
_READ_IN_PART = (FailureKind.TOO_LARGE, FailureKind.UNPARSABLE)
FEWEST_WORDS = 20
"""Pages of fewer words are alike by chance, or because a script has not filled them yet."""

_MOST_UNSEEN = 0.02
"""The share of pages that a judgement about missing links may ignore. With fewer than 50 pages, that is none."""

# In a crawl that a robots.txt cut short the reason begins with its name. The page's own nofollow is looked for in its
# directives only when a cheaper look says that there may be one.
_PAGES = """SELECT p.id, CASE WHEN p.purpose = 'check' THEN 2 WHEN p.internal AND p.purpose = 'page' THEN 1 ELSE 0 END,
    CASE p.status WHEN 'completed' THEN 1 WHEN 'error' THEN 2 WHEN 'discovered' THEN 0
        WHEN 'skipped' THEN CASE WHEN substr(p.skip_reason, 1, 10) = 'robots.txt' THEN 3 ELSE 4 END ELSE 5 END,
    coalesce(p.status_code, 0), coalesce(p.redirect_id, 0), p.depth, p.is_seed AND p.hops = 0, p.is_seed,
    coalesce(d.indexable, false), CASE d.indexability WHEN 'noindex' THEN 2 WHEN 'canonicalised' THEN 3 WHEN 'redirected' THEN 4
        ELSE 0 END,
    d.word_count IS NOT NULL, p.last_error_type,
    CASE WHEN coalesce(p.canonical_url, d.canonical_http) <> p.url THEN coalesce(c.id, -1) ELSE 0 END,
    CASE WHEN d.next_url <> p.url THEN coalesce(n.id, -1) ELSE 0 END,
    CASE WHEN d.prev_url <> p.url THEN coalesce(b.id, -1) ELSE 0 END,
    CASE WHEN p.meta_robots {like} '%no%' OR d.x_robots_tag {like} '%no%' THEN EXISTS (SELECT 1 FROM {json_list}(d.directives) v
        WHERE {agent} IN ({bots}) AND {directive} IN ('nofollow', 'none')) ELSE false END,
    p.ttfb_ms, p.ttfb_ms + coalesce(p.download_time_ms, 0), coalesce(p.response_size_bytes, 0), coalesce(d.word_count, 0),
    p.title, p.meta_description, d.h1, p.content_hash, lower(d.language), d.sketch, p.url,
    nullif(coalesce(p.canonical_url, d.canonical_http), p.url)
    FROM pages p LEFT JOIN page_details d ON d.page_id = p.id
    LEFT JOIN pages c ON c.url = nullif(coalesce(p.canonical_url, d.canonical_http), p.url)
    LEFT JOIN pages n ON n.url = nullif(d.next_url, p.url) LEFT JOIN pages b ON b.url = nullif(d.prev_url, p.url)"""


class ContentSketches(NamedTuple):
    """The sketches of indexable pages, one row each; only needed to find near duplicates."""

    rows: NDArray[np.uint8]
    pages: Ids
    """Whose they are."""


@dataclass(frozen=True)
class SitePages:
    """One array per fact, indexed by page id; 0 is no page."""

    internal: Flags
    """Pages of the site."""
    tried: Flags
    """External links that were requested to see whether they answer."""
    state: Bytes
    status: NDArray[np.int16]
    redirect: Ids
    depth: Ids
    root: Flags
    """Where the crawl was told to begin."""
    seed: Flags
    """The same, and where these redirect to."""
    indexable: Flags
    why: Bytes
    """Why it is not indexable: NOINDEX, CANONICALISED or REDIRECT of `UrlVerdict`, or 0."""
    html: Flags
    """It was read as HTML, whatever its answer called it."""
    reached_error: Flags
    """There was an answer, only too much or too odd to read."""
    cut_off: Flags
    """It redirects, and so many redirects led there that it is not followed."""
    guarded: Flags
    """Our own address guard refused it."""
    canonical: Ids
    """The page it names as its canonical, if that is another one; -1 when that is not known to the crawl."""
    canonical_away: Flags
    """The canonical is on another host, www aside."""
    next: Ids
    prev: Ids
    nofollow: Flags
    """The whole page asks not to follow its links."""
    ttfb: Floats
    """Milliseconds; NaN where there was no answer."""
    took: Floats
    size: Numbers
    words: Ids
    title: Numbers
    """Hashes of texts, with the language of the page; 0 where there is none. The same holds for the next three."""
    description: Numbers
    h1: Numbers
    content: Numbers
    address: Numbers
    """A hash of the URL without its scheme and `www.`."""
    secure: Flags
    www: Flags
    with_query: Flags
    place: Ids
    """The place of each page when all are put in the order of their URLs: other than its id, the same in every crawl."""
    by_place: Ids

    def __len__(self) -> int:
        return len(self.state)

    @cached_property
    def answered(self) -> Flags:
        """Pages of the site that were answered with success."""
        found: Flags = self.internal & (self.state == UrlState.COMPLETED) & (self.status >= 200) & (self.status < 300)
        return found

    @cached_property
    def documents(self) -> Flags:
        """Those of them that are HTML and do not send their visitors on."""
        found: Flags = self.answered & self.html & (self.why != UrlVerdict.REDIRECT)
        return found

    @cached_property
    def candidates(self) -> Flags:
        """HTML pages that search engines may show."""
        return self.documents & self.indexable

    @cached_property
    def unseen(self) -> Flags:
        """Known pages of the site that were not requested, though robots.txt does not forbid it."""
        states = (UrlState.UNASKED, UrlState.SKIPPED, UrlState.WAITING)
        found: Flags = self.internal & np.isin(self.state, states)
        return found

    @cached_property
    def is_complete(self) -> bool:
        """Whether so few pages are unseen that a link which was not found is most likely not there."""
        return bool(self.unseen.sum() <= _MOST_UNSEEN * self.documents.sum())

    @cached_property
    def redirects(self) -> ChainEnds:
        """Where redirects end."""
        return ends(self.redirect)

    @cached_property
    def verdict(self) -> Bytes:
        """A `UrlVerdict` for each page, its own redirect not followed."""
        found = np.zeros(len(self), np.uint8)
        completed = self.state == UrlState.COMPLETED
        code = self.status
        found[completed & (code < 400)] = UrlVerdict.GOOD
        found[completed & (code >= 400)] = UrlVerdict.BROKEN
        found[completed & np.isin(code, REFUSED_CODES)] = UrlVerdict.REFUSED
        good = found == UrlVerdict.GOOD
        found[good & (self.why > 0)] = self.why[good & (self.why > 0)]
        found[good & (self.redirect > 0)] = UrlVerdict.REDIRECT
        error = self.state == UrlState.ERROR
        found[error] = UrlVerdict.BROKEN
        found[error & self.reached_error] = UrlVerdict.UNKNOWN
        found[error & self.guarded] = UrlVerdict.REFUSED
        found[self.state == UrlState.FORBIDDEN] = UrlVerdict.FORBIDDEN
        return found

    @cached_property
    def final_verdict(self) -> Bytes:
        """The verdict at the end of all redirects; a loop is broken."""
        found = self.verdict[self.redirects.end]
        found[self.redirects.looping] = UrlVerdict.BROKEN
        return found


def read_pages(sql: SqlConnection, dialect: SqlDialect, bots: Collection[str]) -> tuple[SitePages, ContentSketches]:
    """All of them. `bots`: the names of crawlers whose robots directives count."""
    size: int = sql.execute("SELECT coalesce(max(id), 0) + 1 FROM pages").fetchone()[0]
    by_place = np.fromiter((row[0] for row in sql.execute("SELECT id FROM pages ORDER BY url")), np.int32)
    place = np.zeros(size, np.int32)
    place[by_place] = np.arange(len(by_place), dtype=np.int32)
    columns = _Columns(size)
    agent, directive = dialect.json_item("v.value", 1), dialect.json_item("v.value", 2)
    query = _PAGES.format(
        like=dialect.like, json_list=dialect.json_list, agent=agent, directive=directive, bots=", ".join("?" * len(bots))
    )
    cursor = sql.execute(query, tuple(bots))
    while rows := list(islice(cursor, AT_A_TIME)):
        columns.add(rows)
    return columns.pages(place, by_place), columns.sketches()


def _bare_host(url: str) -> str:
    """The host of a URL; a site is the same with and without www."""
    return host_key(url).removeprefix("www.")


class _Columns:
    """The arrays while they are filled."""

    def __init__(self, size: int) -> None:
        names: dict[type[np.generic], str] = {
            np.bool_: "internal tried root seed indexable html reached_error cut_off guarded nofollow canonical_away "
            "secure www with_query",
            np.int32: "redirect depth canonical next prev words",
            np.int64: "size title description h1 content address",
            np.float64: "ttfb took",
            np.uint8: "state why",
            np.int16: "status",
        }
        self._columns: dict[str, NDArray[Any]] = {
            name: np.zeros(size, kind) for kind, listed in names.items() for name in listed.split()
        }
        # Rows that are never written to take no memory.
        self._sketches = np.zeros((size, BINS), np.uint8)
        self._sketched = np.zeros(size, np.int32)
        self._drawn = 0

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        (
            ids, kinds, states, codes, redirects, depths, roots, seeds, indexable, why, html, errors, canonicals, nexts, prevs,
            nofollow, ttfb, took, sizes, words, titles, descriptions, h1s, contents, languages, sketches, urls, canonical_urls,
        ) = zip(*rows, strict=True)  # fmt: skip
        kind = np.array(kinds)
        self._put(
            ids, internal=kind == 1, tried=kind == 2, state=states, status=codes, redirect=redirects, depth=depths, root=roots,
            seed=seeds, indexable=indexable, why=why, html=html,
            reached_error=[one in _READ_IN_PART for one in errors],
            cut_off=[one == FailureKind.TOO_MANY_REDIRECTS for one in errors],
            guarded=[one in (FailureKind.BLOCKED_ADDRESS, FailureKind.BOT_BLOCKED) for one in errors],
            canonical=canonicals, next=nexts, prev=prevs,
            nofollow=nofollow, ttfb=np.array(ttfb, np.float64), took=np.array(took, np.float64), size=sizes, words=words,
            title=_hashes(titles, languages), description=_hashes(descriptions, languages), h1=_hashes(h1s, languages),
            content=[hash(text) if text else 0 for text in contents],
            canonical_away=[
                target is not None and _bare_host(target) != _bare_host(url)
                for url, target in zip(urls, canonical_urls, strict=True)
            ],
        )  # fmt: skip
        self._put_addresses(ids, urls)
        self._put_sketches(ids, sketches, indexable)

    def _put(self, ids: Sequence[int], **columns: Any) -> None:
        at = np.array(ids, np.int64)
        for name, values in columns.items():
            self._columns[name][at] = values

    def _put_addresses(self, ids: Sequence[int], urls: Sequence[str]) -> None:
        rest = [url.partition("://")[2] for url in urls]
        www = [one.startswith("www.") for one in rest]
        self._put(
            ids, secure=[url.startswith("https:") for url in urls], www=www, with_query=["?" in one for one in rest],
            address=[hash(one[4:] if has else one) for one, has in zip(rest, www, strict=True)],
        )  # fmt: skip

    def _put_sketches(self, ids: Sequence[int], sketches: Sequence[bytes | None], indexable: Sequence[int]) -> None:
        for page, one, good in zip(ids, sketches, indexable, strict=True):
            if good and one and len(one) == BINS:
                self._sketched[self._drawn] = page
                self._sketches[self._drawn] = np.frombuffer(one, np.uint8)
                self._drawn += 1

    def pages(self, place: Ids, by_place: Ids) -> SitePages:
        columns: dict[str, Any] = dict(self._columns)
        return SitePages(**columns, place=place, by_place=by_place)

    def sketches(self) -> ContentSketches:
        return ContentSketches(self._sketches[: self._drawn], self._sketched[: self._drawn])


def _hashes(texts: Sequence[str | None], languages: Sequence[str | None]) -> list[int]:
    return [hash((text, language)) if text else 0 for text, language in zip(texts, languages, strict=True)]
