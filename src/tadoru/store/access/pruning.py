"""What is over is not kept: old lines of the audit log, sessions that ended, links that nobody used."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import delete, func, or_, select, update

from tadoru.store.access.audit import AuditLog
from tadoru.store.access.schema import audit_log, sessions, users
from tadoru.store.access.sessions import IDLE
from tadoru.store.access.values import By

SERVICE = By(who="service")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How much was taken away."""

    lines: int = 0
    sessions: int = 0
    links: int = 0


class Pruning(AuditLog):
    """Taking away."""

    def prune_access(self, keep: timedelta | None) -> Pruned:
        """Take away what is over; of the audit log what is older than so long, unless it is kept for ever. That lines went is a
        line itself."""
        now = self.now()
        ended = or_(sessions.c.expires_at <= now, sessions.c.last_seen_at <= now - IDLE)
        unused = users.c.link_until <= now
        old = audit_log.c.at < now - keep if keep is not None else None
        with self.read() as sql:  # Mostly there is nothing to do, and nobody has to wait for it.
            wanted = [select(func.count()).select_from(sessions).where(ended), select(func.count()).where(unused)]
            if old is not None:
                wanted.append(select(func.count()).select_from(audit_log).where(old))
            if not any(sql.execute(query).scalar_one() for query in wanted):
                return Pruned()
        with self.write() as sql:
            gone = sql.execute(delete(sessions).where(ended)).rowcount
            links = sql.execute(update(users).where(unused).values(link_hash=None, link_until=None)).rowcount
            lines = sql.execute(delete(audit_log).where(old)).rowcount if old is not None else 0
            if lines:
                self.recorded(sql, SERVICE, "audit.prune", "", lines=lines)
        return Pruned(lines=lines, sessions=gone, links=links)
