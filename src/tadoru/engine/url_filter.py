"""The URL filter: decides about each URL that is found by scope, shape and traps, without network use. robots.txt comes later."""

from __future__ import annotations

from collections.abc import Callable

from tadoru.model.web import Link
from tadoru.rules import traps
from tadoru.rules.scope import Admission, Scope
from tadoru.rules.url import MAX_CACHED_LENGTH, host_key
from tadoru.store.crawl.caches import BoundedCache, TextCache
from tadoru.store.crawl.records import LinkTarget, PageStatus, ResourceUse, UrlPurpose


class UrlFilter:
    """Turns a URL into a `LinkTarget`. Caches recent decisions: most links of a page are also on other pages."""

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
        """`refuse_by` is the data that `refuse` depends on, as JSON."""
        self.scope = scope
        self._check_external = check_external
        self._follow = follow
        self._trap_cap = trap_cap
        self._refuse = refuse
        self._refuse_by = refuse_by
        self._recent: TextCache[LinkTarget] = TextCache(100_000)
        self._resources: BoundedCache[tuple[str, str], ResourceUse] = BoundedCache(10_000)

    def change_scope(self, scope: Scope) -> None:
        """Use another scope and forget earlier decisions."""
        self.scope = scope
        self.forget()

    def forget(self) -> None:
        """Forget earlier decisions, which are made again."""
        self._recent.clear()
        self._resources.clear()

    def set_refusal(self, refuse: Callable[[str], str | None]) -> None:
        """Use another function for the URLs that the job skips."""
        self._refuse = refuse
        self._recent.clear()

    @property
    def rules(self) -> dict[str, object]:
        """The rules that decisions depend on, without the sites."""
        scope = {name: value for name, value in self.scope.to_dict().items() if name != "sites"}
        job_rules = {"unwanted": self._refuse_by} if self._refuse_by is not None else {}
        return {**scope, "check_external": self._check_external, "follow": self._follow, **job_rules}

    def target(self, url: str) -> LinkTarget:
        """The decision about a URL found on a page."""
        target = self._recent.get(url)
        if target is None:
            target = self._recent[url] = self._decide(url)
        return target

    def style_target(self, url: str) -> LinkTarget:
        """The decision about a style sheet of a page."""
        target = self.target(url)
        is_page = target.status is PageStatus.QUEUED and target.purpose is UrlPurpose.PAGE
        return target._replace(purpose=UrlPurpose.STYLE, trap=None) if is_page else target

    def start_target(self, url: str) -> LinkTarget:
        """The decision about a start URL: in scope by definition, unless excluded."""
        decision = self.scope.decide_start(url)
        if decision.admission in (Admission.REFUSED, Admission.OUTSIDE):
            return LinkTarget(url, host_key(url), PageStatus.SKIPPED, decision.reason)
        return LinkTarget(url, host_key(url), PageStatus.QUEUED)

    def decide_again(self, url: str, seed: bool) -> LinkTarget:
        """The decision about a URL that is already known."""
        return self.start_target(url) if seed else self.target(url)

    def sitemap_target(self, url: str) -> LinkTarget:
        """The decision about a URL in a sitemap: as if a page linked to it, also in list mode."""
        found = self.target(url)
        if found.status is PageStatus.DISCOVERED and found.internal:
            return LinkTarget(url, found.host, PageStatus.QUEUED)
        return found

    def resource(self, link: Link) -> ResourceUse:
        """The decision about a resource of a page. Those of other sites are checked only if external links are."""
        url, kind, *_ = link
        found = self._resources.get((url, kind))
        if found is None:
            internal = self.scope.is_internal(url)
            wanted = (internal or self._check_external) and self.scope.exclusion(url) is None
            found = ResourceUse(url, host_key(url), kind, internal, wanted)
            if len(url) <= MAX_CACHED_LENGTH:
                self._resources[url, kind] = found
        return found

    def _decide(self, url: str) -> LinkTarget:
        decision, host = self.scope.decide(url), host_key(url)
        if self._check_external and decision.admission in (Admission.EXTERNAL, Admission.OUTSIDE):
            return LinkTarget(url, host, PageStatus.QUEUED, decision.reason, UrlPurpose.CHECK, internal=False)
        if decision.admission in (Admission.REFUSED, Admission.OUTSIDE):
            return LinkTarget(url, host, PageStatus.SKIPPED, decision.reason, internal=self.scope.is_internal(url))
        if decision.admission is Admission.EXTERNAL:
            return LinkTarget(url, host, PageStatus.DISCOVERED, decision.reason, internal=False)
        if not self._follow:
            return LinkTarget(url, host, PageStatus.DISCOVERED, "list mode: only the given URLs are requested")
        reason = self._refuse(url) if self._refuse is not None else None
        if reason is not None:
            return LinkTarget(url, host, PageStatus.SKIPPED, reason)
        if self._trap_cap:
            shape = traps.shape_refusal(url)
            if shape is not None:
                return LinkTarget(url, host, PageStatus.SKIPPED, f"trap: {shape}")
            return LinkTarget(url, host, PageStatus.QUEUED, trap=traps.pattern(url, self._trap_cap))
        return LinkTarget(url, host, PageStatus.QUEUED)
