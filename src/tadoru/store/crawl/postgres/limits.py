"""Keeps a crawl on PostgreSQL within its `BreadthLimits`, in the transaction that would exceed them.

The hosts that a transaction touches are locked by it already, so that two workers never judge one host at the same time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tadoru.rules.scope import registrable_domain
from tadoru.store.crawl.crawl_limits import PUT_OFF
from tadoru.store.crawl.postgres.pool import AsyncLink, together
from tadoru.store.crawl.records import HOST_SPENT, QUEUE_FULL, SUBDOMAINS, TRAPPED_HOST

if TYPE_CHECKING:
    from tadoru.store.crawl.postgres.database import PgDatabase

_NAMED = "UPDATE hosts SET standing = 1 WHERE id = ANY(%s) AND standing IS DISTINCT FROM 1"
_HOSTS = "SELECT id, name, queued, asked, standing FROM hosts WHERE id = ANY(%s) AND queued > 0 ORDER BY id"
_SKIP = """WITH over AS MATERIALIZED (SELECT id FROM pages WHERE {which} AND status = 'queued' AND purpose = 'page'
        ORDER BY depth DESC, id DESC LIMIT %(most)s FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE pages p SET status = 'skipped', skip_reason = %(reason)s, owner = NULL FROM over WHERE p.id = over.id
    RETURNING p.host_id"""
_SKIP_AT_HOST = _SKIP.format(which="host_id = %(host)s")
_SKIP_ANYWHERE = _SKIP.format(which="true")
# One row more, if the domain has fewer hosts than it may have.
_ADMIT = """INSERT INTO traps(key, why, known, refused, example) VALUES (%(key)s, %(why)s, 1, 0, %(example)s)
    ON CONFLICT (key) DO UPDATE SET known = traps.known + 1 WHERE traps.known < %(most)s RETURNING known"""
_STANDING = "UPDATE hosts SET standing = %s WHERE id = %s"
_CUT = "UPDATE traps SET refused = refused + %s, example = %s WHERE key = %s"
_LEAVE_QUEUE = "UPDATE hosts SET queued = queued - %s WHERE id = %s"
_QUEUED = "SELECT coalesce(sum(value), 0) FROM counters WHERE name = 'queued'"
_ALL = 2**40


class _Host(NamedTuple):
    id: int
    name: str
    queued: int
    asked: int
    standing: int | None


async def hold_limits(
    db: PgDatabase, link: AsyncLink, hosts: Collection[int], named: Collection[int], tally: dict[str, int]
) -> None:
    """URLs were queued or answered at these hosts: skip what is too much. Those that a person named belong to the crawl."""
    if named:
        await link.execute(_NAMED, [sorted(named)])
    if not db.bounds or not hosts:
        return
    for row in (await together(link, [(_HOSTS, [sorted(hosts)])]))[0]:
        await _hold_host(db, link, _Host(*row), tally)
    if db.bounds.queued:
        ((total,),) = (await together(link, [(_QUEUED, ())]))[0]
        over = int(total) + tally["queued"] - db.bounds.queued
        if over > 0:
            skipped = await _skip(link, _SKIP_ANYWHERE, {"most": over, "reason": QUEUE_FULL}, tally)
            tally[PUT_OFF] += skipped


async def _hold_host(db: PgDatabase, link: AsyncLink, host: _Host, tally: dict[str, int]) -> None:
    bounds = db.bounds
    if bounds.hosts_per_domain and not (host.standing if host.standing is not None else await _stands(db, link, host)):
        cut = await _skip(link, _SKIP_AT_HOST, {"host": host.id, "most": _ALL, "reason": TRAPPED_HOST}, tally)
        await link.execute(_CUT, [cut, f"https://{host.name}/", _key(host.name)])
    elif bounds.is_spent(host.asked):
        await _skip(link, _SKIP_AT_HOST, {"host": host.id, "most": _ALL, "reason": HOST_SPENT}, tally)
    elif bounds.queued and host.queued > bounds.queued_per_host:
        over = host.queued - bounds.queued_per_host
        tally[PUT_OFF] += await _skip(link, _SKIP_AT_HOST, {"host": host.id, "most": over, "reason": QUEUE_FULL}, tally)


async def _stands(db: PgDatabase, link: AsyncLink, host: _Host) -> bool:
    """Whether a host that was not met before is one of those of its domain that are requested."""
    values = {
        "key": _key(host.name), "why": SUBDOMAINS, "example": f"https://{host.name}/", "most": db.bounds.hosts_per_domain
    }  # fmt: skip
    stands = bool((await together(link, [(_ADMIT, values)]))[0])
    await link.execute(_STANDING, [int(stands), host.id])
    return stands


async def _skip(link: AsyncLink, statement: str, values: Mapping[str, object], tally: dict[str, int]) -> int:
    """Take pages out of the queue; how many."""
    skipped = Counter(host for (host,) in (await together(link, [(statement, values)]))[0])
    for host, number in sorted(skipped.items()):
        await link.execute(_LEAVE_QUEUE, [number, host])
    total = skipped.total()
    tally["queued"] -= total
    tally["skipped"] += total
    return total


def _key(host: str) -> str:
    return f"*.{registrable_domain(host)}"
