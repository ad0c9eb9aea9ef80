"""How a crawling job begins and ends: what this run and the stored crawl agree on, the policy, what became of the starts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from tadoru.clock import SystemClock
from tadoru.engine.crawl import Ended
from tadoru.engine.gate import Gate
from tadoru.engine.job import Policy
from tadoru.fetch.guard import Names, named_privately
from tadoru.options import CrawlOptions
from tadoru.rules.address import Exemptions
from tadoru.rules.bounds import Bounds
from tadoru.rules.budget import Budget
from tadoru.rules.scope import Scope
from tadoru.rules.url import host_key, is_address, split_port
from tadoru.store.base import CrawlStore, PageStatus, Target
from tadoru.store.runs import RunOutcome

MOST_SITES = 100
"""Starts that the scope names when every host is in it: of more than these nothing depends on it, and every worker holds it."""
MANY_HOSTS = 1_000
"""More than a person has looked at one by one."""
STARTS_AT_A_TIME = 2_000
"""Starts made known in one transaction: others want to write too."""


def policy_for(options: CrawlOptions) -> Policy:
    """How to crawl, as every job understands it."""
    return Policy(
        delay=options.delay,
        concurrency=options.concurrency,
        timeout=options.timeout,
        max_bytes=options.max_response_size,
        budget=Budget(limit=options.limit, max_depth=options.depth, max_time=options.max_time),
        obey_robots=not options.ignore_robots,
        trap_cap=options.trap_limit,
    )


async def agreed_exemptions(store: CrawlStore, new_starts: Sequence[str], allowed: Exemptions | None = None) -> Exemptions:
    """Decided once, when a start is first named: a name that was public then is not let through as a private one later.

    With `allowed` it was nobody at this machine who named the starts: then exactly that is let through, and nothing is kept.
    """
    if allowed is not None:
        return allowed
    exemptions = Exemptions.from_list(json.loads(await store.get_meta("exemptions") or "[]"))
    if new_starts:
        names = Names(SystemClock())
        try:
            exemptions |= await named_privately(_known_by_hand(new_starts), names)
        finally:
            await names.close()
    await store.set_meta("exemptions", json.dumps(exemptions.to_list()))
    return exemptions


def _known_by_hand(starts: Sequence[str]) -> Sequence[str]:
    """The starts that may be let through to private addresses: of a long list only those that say themselves that they are."""
    keys = {url: split_port(host_key(url))[0] for url in starts}
    return starts if len(set(keys.values())) <= MANY_HOSTS else [url for url, host in keys.items() if is_address(host)]


async def agreed_scope(store: CrawlStore, scope: Scope, new_starts: Sequence[str] = ()) -> Scope:
    """The scope of this run, on the sites that the starts turned out to be."""

    def agreed(text: str | None) -> str:
        sites = Scope.from_dict(json.loads(text)).sites if text is not None else scope.sites
        all_sites = tuple(dict.fromkeys((*sites, *new_starts)))
        return json.dumps(replace(scope, sites=all_sites[:MOST_SITES] if scope.mode == "all" else all_sites).to_dict())

    return Scope.from_dict(json.loads(await store.change_meta("scope", agreed)))


async def apply_rules(store: CrawlStore, gate: Gate, max_depth: int | None) -> bool:
    """When other rules hold than in the last run, decide anew about every URL that was not requested; whether they do."""
    rules, sites = json.dumps(gate.rules), json.dumps(gate.scope.sites)
    were, there = await store.get_meta("rules"), await store.get_meta("rules_sites")
    if (were, there) == (rules, sites):
        return False

    def decide(url: str, seed: bool) -> Target | None:
        target = gate.anew(url, seed)
        # A site that only moved is still asked at its old place: what became of it is worth knowing.
        return target if target.internal or were != rules else None

    await store.reconsider(decide, max_depth=max_depth)
    # Last: a process that is killed before does it again.
    await store.set_meta("rules", rules)
    await store.set_meta("rules_sites", sites)
    return True


async def add_starts(store: CrawlStore, new: Sequence[str]) -> tuple[str, ...]:
    """The starts of the crawl with new ones among them."""

    def added(text: str | None) -> str:
        return json.dumps(list(dict.fromkeys((*json.loads(text or "[]"), *new))))

    return tuple(json.loads(await store.change_meta("starts", added)))


async def put_starts(store: CrawlStore, gate: Gate, starts: Sequence[str], new: Sequence[str]) -> None:
    """Ask for new starts, and for all of them as long as none was answered: what was down may be up by now."""
    if not await store.has_answered_seeds():
        await store.forget_failed_robots()
        new = starts
    for first in range(0, len(new), STARTS_AT_A_TIME):
        await store.add([gate.seed(url) for url in new[first : first + STARTS_AT_A_TIME]], seed=True)


async def keep_within(store: CrawlStore, bounds: Bounds, *, anew: bool) -> None:
    """Hold the crawl within bounds. When they are others than in the last run, or it begins anew, what was skipped for one of
    them is decided again."""
    store.bound(bounds)
    text = json.dumps(asdict(bounds))
    if anew or text != (await store.get_meta("bounds") or json.dumps(asdict(Bounds()))):
        await store.take_up()
        await store.set_meta("bounds", text)


def outcome_of(ended: Ended) -> RunOutcome:
    """How a run ended, as the store keeps it."""
    if ended.stopped:
        return RunOutcome.TIME if ended.out_of_time else RunOutcome.INTERRUPTED
    return RunOutcome.LIMIT if ended.limit_reached else RunOutcome.COMPLETE


@dataclass(frozen=True, slots=True, kw_only=True)
class StartState:
    """What became of the start URLs."""

    url: str
    status: str
    reason: str
    error_type: str | None


async def start_state(store: CrawlStore) -> StartState | None:
    """Why there is nothing, when every start failed or was refused; None when at least one was answered.

    A start that redirects is what waits at the end of that: a page of the same depth.
    """
    worst: StartState | None = None
    async for row in store.pages():
        if row.depth > 0:
            break
        if row.redirect_url is not None and row.status == PageStatus.COMPLETED:
            continue
        if row.status not in (PageStatus.ERROR, PageStatus.SKIPPED):
            return None
        reason = row.error_message or row.skip_reason or ""
        worst = worst or StartState(url=row.url, status=row.status, reason=reason, error_type=row.error_type)
    return worst
