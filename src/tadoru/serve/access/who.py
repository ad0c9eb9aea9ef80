"""Who calls: nobody known, a person with a session, or a program with a key."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from tadoru.serve.roles import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The one who made a request."""

    role: Role = Role.PUBLIC
    name: str = ""
    """The user's or the key's, for histories; nothing when nobody signed in."""
    user_id: int | None = None
    key_id: int | None = None
    scopes: frozenset[str] = frozenset()
    """Of a key; a person has all that the role has."""

    @property
    def is_key(self) -> bool:
        return self.key_id is not None

    def may(self, role: Role, scope: str = "") -> bool:
        """Has the caller at least this role, and, when it is a key, this scope?"""
        return self.role >= role and (not self.is_key or role is Role.PUBLIC or scope in self.scopes)


NOBODY = Caller()


async def caller(request: Request) -> Caller:
    """A FastAPI dependency. The guard has found out by then."""
    found: Caller = getattr(request.state, "caller", NOBODY)
    return found
