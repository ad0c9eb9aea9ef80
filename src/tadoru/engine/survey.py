"""The survey: what a job asks a site before it crawls it. One worker asks, once; the others wait for what it learnt.

Done before any page is read, so that every page is read by the same rules whichever comes first. What was learnt is kept with the
crawl: a later run goes by it, and asks nothing again.
"""

from __future__ import annotations

import json

from tadoru.engine.job import Surveyor
from tadoru.engine.share import Share
from tadoru.engine.visit import Visit

CHORE = META = "survey"
POLL = 0.05


class Survey:
    """Asks for a job."""

    def __init__(self, share: Share, visit: Visit) -> None:
        self._share = share
        self._store = share.store
        self._visit = visit

    async def run(self, job: Surveyor) -> None:
        """Let the job know its site, from the store or from the site itself."""
        while not (known := await self._store.get_meta(META)):
            if await self._store.claim_chore(self._share.worker, CHORE):
                await self._store.set_meta(META, json.dumps(await self._ask(job), ensure_ascii=False))
                await self._store.finish_chore(CHORE)
            else:
                await self._share.clock.sleep(POLL)
        surveyed = job.surveyed(json.loads(known))
        self._share.job = surveyed
        if isinstance(surveyed, Surveyor):
            self._share.gate.refuse_with(surveyed.refusal)
            await self._store.add([self._share.gate.named(url) for url in surveyed.extra()], seed=False, depth=1)

    async def _ask(self, job: Surveyor) -> dict[str, object]:
        flow = job.survey()
        try:
            ask = next(flow)
            while True:
                ask = flow.send(await self._visit.ask(ask))
        except StopIteration as end:
            found: dict[str, object] = end.value
            return found
