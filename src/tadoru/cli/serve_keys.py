"""`tadoru serve keys add | list | revoke`: keys for programs."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from typing import Any

import click

from tadoru.cli.events_keep import Days
from tadoru.cli.forms import format_option, stamp_text, write_json
from tadoru.cli.help import CommandGroup
from tadoru.cli.serve import Desk, at_keyboard
from tadoru.cli.serve_users import database_option
from tadoru.cli.table import Column, clean, write_table
from tadoru.clock import iso


class Lifetime(Days):
    """The same as days, or `never`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        return timedelta.max if str(value).lower() == "never" else super().convert(value, param, ctx)


@click.group(
    cls=CommandGroup, short_help="Keys for programs.",
    examples=(("tadoru serve keys add ci --scope events:read", "prints it, this once"),),
)  # fmt: skip
def keys() -> None:
    """Keys for programs: each may do what its scopes say, and no more."""


@keys.command(
    "add", short_help="Make a key.",
    examples=(("tadoru serve keys add ci --scope events:read --scope sources:read --expires 90d", "for reading, for a season"),),
)  # fmt: skip
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, metavar="SCOPE", help="What it may do, such as events:read (repeatable).")
@click.option("--user", metavar="NAME", help="Whose it is: it can do no more than they, and ends with them.")
@click.option("--expires", type=Lifetime(), default="365d", metavar="TIME", help="When it ends; or never. [365d]")
@database_option
@click.pass_obj
def add(desk: Desk, /, name: str, scopes: tuple[str, ...], user: str | None, expires: timedelta, database: str | None) -> int:
    """Make a key and print it. It is shown this once: what is stored is only its hash. Without --user it belongs to the operator:
    no user's revocation ends it."""
    from tadoru.serve.access.keys import make_key

    with desk.store(database) as store:
        until = None if expires is timedelta.max else store.now() + expires
        key, whole = make_key(store, name, scopes, at_keyboard(), user=user, expires_at=until)
    sys.stdout.write(whole + "\n")
    sys.stderr.write(f"Made the key {clean(key.name)}. Keep it now: it is not shown again.\n")
    return 0


@keys.command("list", short_help="Which keys there are.", examples=(("tadoru serve keys list", "and when each was last used"),))
@format_option("table", "json")
@database_option
@click.pass_obj
def list_keys(desk: Desk, /, form: str, database: str | None) -> int:
    """Every key, the newest first, without its secret."""
    with desk.store(database) as store:
        found, now = store.keys(), store.now()
    if form == "json":
        write_json([
            {
                "id": one.id, "name": one.name, "prefix": f"tdr_{one.prefix}", "scopes": list(one.scopes),
                "user": one.user_name or None,
                "created_at": iso(one.created_at), "expires_at": _iso(one.expires_at),
                "last_used_at": _iso(one.last_used_at),
                "revoked": one.revoked_at is not None, "valid": one.is_valid(now),
            }
            for one in found
        ])  # fmt: skip
        return 0
    zone = desk.options.timezone
    columns = (
        Column("Key"), Column("Name", may_shrink=True), Column("Scopes", may_shrink=True), Column("User"), Column("Ends"),
        Column("Last use"),
    )  # fmt: skip
    rows = (
        (
            f"tdr_{one.prefix}", one.name, " ".join(one.scopes), one.user_name or "(operator)",
            "revoked" if one.revoked_at else stamp_text(one.expires_at, zone) or "never" if one.is_valid(now) else "expired",
            stamp_text(one.last_used_at, zone),
        )
        for one in found
    )  # fmt: skip
    if not write_table(sys.stdout, columns, rows):
        sys.stderr.write("There are no keys yet: `tadoru serve keys add NAME --scope events:read` makes one.\n")
    return 0


@keys.command("revoke", short_help="End a key.", examples=(("tadoru serve keys revoke tdr_4f9c", "by what it begins with"),))
@click.argument("key")
@database_option
@click.pass_obj
def revoke(desk: Desk, /, key: str, database: str | None) -> int:
    """End a key, named by what it begins with (tdr_…) or by its number."""
    with desk.store(database) as store:
        ended = store.revoke_key(key, at_keyboard())
    sys.stderr.write(f"Revoked tdr_{ended.prefix} ({clean(ended.name)}).\n")
    return 0


def _iso(at: datetime | None) -> str | None:
    return iso(at) if at else None
