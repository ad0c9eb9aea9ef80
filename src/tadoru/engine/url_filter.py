"""The URL filter: what becomes of each URL that turns up, decided before any network use. Scope, shape and traps; robots come later."""

from __future__ import annotations

from collections.abc import Callable

from tadoru.model.web import Link
from tadoru.rules import traps
from tadoru.rules.scope import Admission, Scope
from tadoru.rules.url import MAX_CACHED_LENGTH, host_key
from tadoru.store.crawl.caches import BoundedCache, TextCache
from tadoru.store.crawl.interface import LinkTarget, PageStatus, UrlPurpose
from tadoru.store.crawl.records import ResourceUse


class UrlFilter:
    """Turns a URL into a `LinkTarget`. Remembers recent decisions: most links of a page were seen on the page before."""

    def __init__(
        self,
        scope: Scope,
        *,
        check_external: bool,
        follow: bool,
        trap_cap: int,
        refuse: Callable[[str], str | None] | None = None,
        refuse_by: object = None,
    ) -> None:
        """`refuse_by` is what `refuse` decides by, as JSON."""
        self.scope = scope
        self._check_external = check_external
        self._follow = follow
        self._trap_cap = trap_cap
        self._refuse = refuse
        self._refuse_by = refuse_by
        self._recent: TextCache[LinkTarget] = TextCache(100_000)
        self._resources: BoundedCache[tuple[str, str], ResourceUse] = BoundedCache(10_000)

    def change_scope(self, scope: Scope) -> None:
        """The site moved: earlier decisions no longer hold."""
        self.scope = scope
        self._recent.clear()
        self._resources.clear()

    def set_refusal(self, refuse: Callable[[str], str | None]) -> None:
        """The job knows better now what it does not want."""
        self._refuse = refuse
        self._recent.clear()

    @property
    def rules(self) -> dict[str, object]:
        """What decisions depend on, the sites themselves left out."""
        scope = {name: value for name, value in self.scope.to_dict().items() if name != "sites"}
        chosen = {"unwanted": self._refuse_by} if self._refuse_by is not None else {}
        return {**scope, "check_external": self._check_external, "follow": self._follow, **chosen}

    def target(self, url: str) -> LinkTarget:
        """The decision about a URL found on a page."""
        found = self._recent.get(url)
        if found is None:
            found = self._recent[url] = self._decide(url)
        return found

    def seed(self, url: str) -> LinkTarget:
        """The decision about a URL the person named: in scope by definition, unless excluded."""
        verdict = self.scope.decide_start(url)
        if verdict.admission is Admission.REFUSED:
            return LinkTarget(url, host_key(url), PageStatus.SKIPPED, verdict.reason)
        return LinkTarget(url, host_key(url), PageStatus.QUEUED)

    def anew(self, url: str, seed: bool) -> LinkTarget:
        """The decision about a URL that is known already."""
        return self.seed(url) if seed else self.target(url)

    def named(self, url: str) -> LinkTarget:
        """The decision about a URL that a sitemap names: as if a page led to it, also where pages are not followed."""
        found = self.target(url)
        if found.status is PageStatus.DISCOVERED and found.internal:
            return LinkTarget(url, found.host, PageStatus.QUEUED)
        return found

    def resource(self, link: Link) -> ResourceUse:
        """The decision about something a page is made of. Those of other sites are tried only where external links are."""
        url, kind, *_ = link
        found = self._resources.get((url, kind))
        if found is None:
            internal = self.scope.is_internal(url)
            found = ResourceUse(url, host_key(url), kind, internal, internal or self._check_external)
            if len(url) <= MAX_CACHED_LENGTH:
                self._resources[url, kind] = found
        return found

    def _decide(self, url: str) -> LinkTarget:
        verdict, host = self.scope.decide(url), host_key(url)
        if verdict.admission is Admission.REFUSED:
            return LinkTarget(url, host, PageStatus.SKIPPED, verdict.reason)
        if verdict.admission is Admission.EXTERNAL:
            if self._check_external:
                return LinkTarget(url, host, PageStatus.QUEUED, verdict.reason, UrlPurpose.CHECK, internal=False)
            return LinkTarget(url, host, PageStatus.DISCOVERED, verdict.reason, internal=False)
        if not self._follow:
            return LinkTarget(url, host, PageStatus.DISCOVERED, "list mode: only the given URLs are requested")
        unwanted = self._refuse(url) if self._refuse is not None else None
        if unwanted is not None:
            return LinkTarget(url, host, PageStatus.SKIPPED, unwanted)
        if self._trap_cap:
            shape = traps.shape_refusal(url)
            if shape is not None:
                return LinkTarget(url, host, PageStatus.SKIPPED, f"trap: {shape}")
            return LinkTarget(url, host, PageStatus.QUEUED, trap=traps.pattern(url, self._trap_cap))
        return LinkTarget(url, host, PageStatus.QUEUED)
