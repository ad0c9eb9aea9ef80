"""Creation of API keys: only known scopes, and none beyond the role of the owner. Free of FastAPI, for the command line."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from tadoru.errors import UsageError, quoted
from tadoru.serve.roles import SCOPES, Role, role_for_scopes
from tadoru.store.accounts.audit_log import Actor, ApiKey
from tadoru.store.service import ServiceStore


def create_api_key(
    store: ServiceStore,
    name: str,
    scopes: Iterable[str],
    by: Actor,
    *,
    user: str | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new API key, and its full text, which is shown only once. Raises UsageError."""
    wanted = tuple(scopes)
    for scope in wanted:
        if scope not in SCOPES:
            raise UsageError("Unknown scope {scope}. Use one of {scopes}.", scope=quoted(scope), scopes=", ".join(SCOPES))
    owner = store.user(user) if user is not None else None
    if owner is not None and role_for_scopes(frozenset(wanted)) > Role[owner.role.upper()]:
        raise UsageError(
            "The role of {user} ({role}) does not include all of these scopes. Choose fewer.", user=owner.name, role=owner.role
        )
    return store.add_key(name, wanted, by, user=user, expires_at=expires_at)
