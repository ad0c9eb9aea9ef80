"""`tadoru serve users` and `tadoru serve keys`: who may sign in, and keys for the API."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import click

from tadoru.cli.events.maintenance import DaysType
from tadoru.cli.help import CommandGroup
from tadoru.cli.output import format_option, format_time, write_json
from tadoru.cli.serve import ServeContext, command_line_actor, create_sign_in_link
from tadoru.cli.table import Column, single_line, write_table
from tadoru.clock import iso
from tadoru.errors import UsageError

ROLE_TYPE = click.Choice(["viewer", "editor", "admin"])


def database_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`-d` after the sub-command as well as before it."""
    return click.option("-d", "--database", metavar="FILE|URL", help="The database of the service.")(function)


@click.group(
    cls=CommandGroup, short_help="Who may sign in.",
    examples=(
        ("tadoru serve users link admin", "a link to sign in with, once"),
        ("tadoru serve users add mia --role editor", "somebody else"),
    ),
)  # fmt: skip
def users() -> None:
    """Who may sign in, and what they may do there: a viewer reads, an editor edits, an admin keeps users and keys."""


@users.command(
    "add", short_help="Let somebody in.",
    examples=(("tadoru serve users add mia --role editor", "then give her the link of `tadoru serve users link mia`"),),
)  # fmt: skip
@click.argument("name")
@click.option("--role", type=ROLE_TYPE, default="viewer", help="What they may. [viewer]")
@click.option("--password-stdin", is_flag=True, help="Read a password from stdin, one line.")
@database_option
@click.pass_obj
def add_user(desk: ServeContext, /, name: str, role: str, password_stdin: bool, database: str | None) -> int:
    """Let somebody in. Without a password they sign in by a link, which `tadoru serve users link NAME` prints."""
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
    with desk.store(database, new=True) as store:
        user = store.add_user(name, role, command_line_actor(), password=password)
    hint = "" if password_stdin else f" `tadoru serve users link {single_line(user.name)}` prints a link to sign in with."
    sys.stderr.write(f"Added {single_line(user.name)}, {user.role}.{hint}\n")
    return 0


@users.command("list", short_help="Who may sign in.", examples=(("tadoru serve users list", "with their roles"),))
@format_option("table", "json")
@database_option
@click.pass_obj
def list_users(desk: ServeContext, /, form: str, database: str | None) -> int:
    """Everybody, also those whose access was revoked."""
    with desk.store(database) as store:
        found = store.users()
    if form == "json":
        write_json([
            {
                "name": one.name, "role": one.role, "created_at": iso(one.created_at),
                "last_sign_in": iso(one.last_sign_in) if one.last_sign_in else None, "revoked": one.revoked_at is not None,
            }
            for one in found
        ])  # fmt: skip
        return 0
    columns = (Column("Name", may_shrink=True), Column("Role"), Column("Signs in by"), Column("Last sign-in"))
    zone = desk.options.timezone
    rows = (
        (
            one.name, "revoked" if one.revoked_at else one.role,
            "password" if one.has_password else "" if one.revoked_at else "link", format_time(one.last_sign_in, zone),
        )
        for one in found
    )  # fmt: skip
    if not write_table(sys.stdout, columns, rows):
        sys.stderr.write("There are no users yet: `tadoru serve users link admin` makes the first one.\n")
    return 0


@users.command(
    "link",
    short_help="Print a link to sign in with, once.",
    examples=(("tadoru serve users link mia", "it is valid for an hour"),),
)
@click.argument("name")
@database_option
@click.pass_obj
def print_link(desk: ServeContext, /, name: str, database: str | None) -> int:
    """Print a link that signs NAME in, once, within an hour; earlier ones are void. While there is no admin, a NAME that nobody
    has becomes one."""
    from tadoru.serve.auth.hosts import public_url

    with desk.store(database, new=True) as store:
        known = [user for user in store.users() if user.revoked_at is None]
        if store.user(name) not in known and all(user.role != "admin" for user in known):
            store.add_user(name, "admin", command_line_actor())
        sys.stdout.write(create_sign_in_link(public_url(desk.options), store, name) + "\n")
    return 0


@users.command(
    "role", short_help="Let somebody do more, or less.",
    examples=(("tadoru serve users role mia admin", "from her next request on"),),
)  # fmt: skip
@click.argument("name")
@click.argument("role", type=ROLE_TYPE)
@database_option
@click.pass_obj
def set_role(desk: ServeContext, /, name: str, role: str, database: str | None) -> int:
    """Let NAME do more, or less: as viewer, editor or admin. It holds at once, for their sessions and keys too. One admin
    stays."""
    with desk.store(database) as store:
        before = store.user(name)
        user = store.set_role(name, role, command_line_actor())
    was = f", was {before.role}" if before is not None and before.role != user.role else ", as before"
    sys.stderr.write(f"{single_line(user.name)} is {user.role} now{was}.\n")
    return 0


@users.command("revoke", short_help="Let somebody in no more.", examples=(("tadoru serve users revoke mia", "at once"),))
@click.argument("name")
@database_option
@click.pass_obj
def revoke_user(desk: ServeContext, /, name: str, database: str | None) -> int:
    """Let somebody in no more: sessions, keys, links and password are void at once. What they did stays in the histories."""
    with desk.store(database) as store:
        user = store.user(name)
        if user is not None and user.revoked_at is not None:
            raise UsageError(f"{single_line(user.name)} was revoked already.")
        revoked = store.revoke_user(name, command_line_actor())
    sys.stderr.write(f"Revoked {single_line(revoked.name)}.\n")
    return 0


class LifetimeType(DaysType):
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
@click.option("--expires", type=LifetimeType(), default="365d", metavar="TIME", help="When it ends; or never. [365d]")
@database_option
@click.pass_obj
def add_key(
    desk: ServeContext, /, name: str, scopes: tuple[str, ...], user: str | None, expires: timedelta, database: str | None
) -> int:
    """Make a key and print it. It is shown this once: what is stored is only its hash. Without --user it belongs to the operator:
    no user's revocation ends it."""
    from tadoru.serve.auth.api_keys import create_api_key

    with desk.store(database) as store:
        until = None if expires is timedelta.max else store.now() + expires
        key, whole = create_api_key(store, name, scopes, command_line_actor(), user=user, expires_at=until)
    sys.stdout.write(whole + "\n")
    sys.stderr.write(f"Made the key {single_line(key.name)}. Keep it now: it is not shown again.\n")
    return 0


@keys.command("list", short_help="Which keys there are.", examples=(("tadoru serve keys list", "and when each was last used"),))
@format_option("table", "json")
@database_option
@click.pass_obj
def list_keys(desk: ServeContext, /, form: str, database: str | None) -> int:
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
            "revoked" if one.revoked_at else format_time(one.expires_at, zone) or "never" if one.is_valid(now) else "expired",
            format_time(one.last_used_at, zone),
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
def revoke_key(desk: ServeContext, /, key: str, database: str | None) -> int:
    """End a key, named by what it begins with (tdr_…) or by its number."""
    with desk.store(database) as store:
        ended = store.revoke_key(key, command_line_actor())
    sys.stderr.write(f"Revoked tdr_{ended.prefix} ({single_line(ended.name)}).\n")
    return 0


def _iso(at: datetime | None) -> str | None:
    return iso(at) if at else None
