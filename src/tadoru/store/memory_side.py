"""The memory store's side work: chores, sitemaps, resources. What an audit keeps of a page is for stores that can be queried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tadoru.clock import Clock
from tadoru.store.records import ResourceUse
from tadoru.store.values import ResourceLease, ResourceResult, Validators


@dataclass(slots=True)
class _Resource:
    number: int
    use: ResourceUse
    status: str
    owner: int | None = None
    not_before: float = 0.0
    retries: int = 0


class MemorySideWork:
    """What is done beside the pages."""

    clock: Clock

    def __init__(self) -> None:
        self._chores: dict[str, int | None] = {}
        self._done: set[str] = set()
        self._resources: dict[str, _Resource] = {}

    async def claim_chore(self, worker: int, name: str) -> bool:
        if name in self._done or self._chores.setdefault(name, worker) not in (None, worker):
            return False
        self._chores[name] = worker
        return True

    async def finish_chore(self, name: str) -> None:
        self._done.add(name)

    async def is_chore_done(self, name: str) -> bool:
        return name in self._done

    async def validators(self, page_id: int) -> Validators:
        return Validators(None, None)

    def use_resources(self, uses: Sequence[ResourceUse]) -> None:
        for use in uses:
            status = "queued" if use.wanted else "discovered"
            self._resources.setdefault(use.url, _Resource(len(self._resources) + 1, use, status))

    async def lease_resources(self, worker: int, count: int, *, budget: int) -> list[ResourceLease]:
        room = min(count, budget - self._taken())
        waiting = [one for one in self._waiting() if one.not_before <= self.clock.now()][: max(0, room)]
        for one in waiting:
            one.status, one.owner = "processing", worker
        return [ResourceLease(one.number, one.use.url, one.use.host, one.retries) for one in waiting]

    async def finish_resources(self, worker: int, results: Sequence[ResourceResult]) -> None:
        by_number = {one.number: one for one in self._resources.values()}
        for result in results:
            one = by_number[result.resource_id]
            if one.owner != worker:
                continue
            one.owner = None
            if result.again_after is not None:
                one.status, one.retries, one.not_before = "queued", one.retries + 1, self.clock.now() + result.again_after
            else:
                one.status = result.status

    async def resources_wait(self, *, budget: int) -> float | None:
        if any(one.owner is not None for one in self._resources.values()):
            return 0.05
        waiting = self._waiting()
        if not waiting or self._taken() >= budget:
            return None
        return max(0.0, min(one.not_before for one in waiting) - self.clock.now())

    def drop_side_work(self, worker: int) -> None:
        """A worker is gone: what it had is free again."""
        for name, owner in self._chores.items():
            if owner == worker:
                self._chores[name] = None
        for one in self._resources.values():
            if one.owner == worker:
                one.status, one.owner = "queued", None

    def _taken(self) -> int:
        return sum(one.status not in ("queued", "discovered") for one in self._resources.values())

    def _waiting(self) -> list[_Resource]:
        return [one for one in self._resources.values() if one.status == "queued"]
