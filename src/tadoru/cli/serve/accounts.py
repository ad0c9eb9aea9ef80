"""`tadoru serve users` and `tadoru serve keys`: manages users and API keys."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events.maintenance import DaysType
from tadoru.cli.help import CommandGroup
from tadoru.cli.output import _, format_option, format_time, write_json
from tadoru.cli.serve import ServeContext, command_line_actor, create_sign_in_link, service_url
from tadoru.cli.table import single_line, table_columns, write_table
from tadoru.clock import iso
from tadoru.errors import UsageError

if TYPE_CHECKING:
    from tadoru.store.accounts.audit_log import ApiKey

ROLE_TYPE = click.Choice(["viewer", "editor", "admin"])


def database_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`-d` after the subcommand as well as before it."""
    return click.option("-d", "--database", metavar="FILE|URL", help="Database of the service.")(function)


@click.group(
    cls=CommandGroup, short_help="Manage users.",
    examples=(
        ("tadoru serve users link admin", "print a one-time sign-in link"),
        ("tadoru serve users add mia --role editor", "add an editor"),
    ),
)  # fmt: skip
def users() -> None:
    """Manage users. A viewer can read, an editor can edit, an admin can do everything."""


@users.command(
    "add", short_help="Add a user.",
    examples=(("tadoru serve users add mia --role editor", "add mia as an editor"),),
)  # fmt: skip
@click.argument("name")
@click.option("--role", type=ROLE_TYPE, default="viewer", help="Role. [viewer]")
@click.option("--password-stdin", is_flag=True, help="Read a password from stdin, one line.")
@database_option
@click.pass_obj
def add_user(desk: ServeContext, /, name: str, role: str, password_stdin: bool, database: str | None) -> None:
    """Add a user. Without a password, they sign in with the link that `tadoru serve users link NAME` prints."""
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
    with desk.store(database, new=True) as store:
        user = store.users.add(name, role, command_line_actor(), password=password)
    command = f"tadoru serve users link {single_line(user.name)}"
    hint = "" if password_stdin else " " + _("`{command}` prints a sign-in link.", command=command)
    sys.stderr.write(_("Added {user}, {role}.", user=single_line(user.name), role=user.role) + f"{hint}\n")


@users.command("list", short_help="List users.", examples=(("tadoru serve users list", "with their roles"),))
@format_option("table", "json")
@database_option
@click.pass_obj
def list_users(desk: ServeContext, /, form: str, database: str | None) -> None:
    """List all users, including revoked ones."""
    with desk.store(database) as store:
        found = store.users.list()
    if form == "json":
        write_json([
            {
                "name": one.name, "role": one.role, "created_at": iso(one.created_at),
                "last_sign_in": iso(one.last_sign_in) if one.last_sign_in else None, "revoked": one.revoked_at is not None,
            }
            for one in found
        ])  # fmt: skip
        return
    columns = table_columns("Name~", "Role", "Sign-in", "Last sign-in")
    zone = desk.options.timezone
    rows = (
        (
            one.name, _("revoked") if one.revoked_at else one.role,
            _("password") if one.has_password else "" if one.revoked_at else _("link"), format_time(one.last_sign_in, zone),
        )
        for one in found
    )  # fmt: skip
    if not write_table(sys.stdout, columns, rows):
        sys.stderr.write(_("No users yet: `tadoru serve users link admin` creates the first one.") + "\n")


@users.command(
    "link",
    short_help="Print a one-time sign-in link.",
    examples=(("tadoru serve users link mia", "valid for an hour"),),
)
@click.argument("name")
@database_option
@click.pass_obj
def print_link(desk: ServeContext, /, name: str, database: str | None) -> None:
    """Print a one-time sign-in link for NAME, valid for an hour; earlier links expire. If there is no admin yet, NAME is created
    as one."""
    with desk.store(database, new=True) as store:
        known = [user for user in store.users.list() if user.revoked_at is None]
        if store.users.get(name) not in known and all(user.role != "admin" for user in known):
            store.users.add(name, "admin", command_line_actor())
        sys.stdout.write(create_sign_in_link(service_url(desk.options, store), store, name) + "\n")


@users.command(
    "role", short_help="Change the role of a user.",
    examples=(("tadoru serve users role mia admin", "effective immediately"),),
)  # fmt: skip
@click.argument("name")
@click.argument("role", type=ROLE_TYPE)
@database_option
@click.pass_obj
def set_role(desk: ServeContext, /, name: str, role: str, database: str | None) -> None:
    """Change the role of NAME to viewer, editor or admin. It applies immediately, to sessions and API keys too. The last admin
    keeps the role."""
    with desk.store(database) as store:
        before = store.users.get(name)
        user = store.users.set_role(name, role, command_line_actor())
    if before is not None and before.role != user.role:
        text = _("Changed the role of {user} from {old} to {new}.", user=single_line(user.name), old=before.role, new=user.role)
    else:
        text = _("The role of {user} is unchanged: {role}.", user=single_line(user.name), role=user.role)
    sys.stderr.write(text + "\n")


@users.command("revoke", short_help="Revoke a user.", examples=(("tadoru serve users revoke mia", "effective immediately"),))
@click.argument("name")
@database_option
@click.pass_obj
def revoke_user(desk: ServeContext, /, name: str, database: str | None) -> None:
    """Revoke a user: sessions, API keys, links and password become invalid immediately. Histories are kept."""
    with desk.store(database) as store:
        user = store.users.get(name)
        if user is not None and user.revoked_at is not None:
            raise UsageError("{user} is already revoked.", user=single_line(user.name))
        revoked = store.users.revoke(name, command_line_actor())
    sys.stderr.write(_("Revoked {name}.", name=single_line(revoked.name)) + "\n")


class LifetimeType(DaysType):
    """A duration in days, or `never`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        return timedelta.max if str(value).lower() == "never" else super().convert(value, param, ctx)


@click.group(
    cls=CommandGroup, short_help="Manage API keys.",
    examples=(("tadoru serve keys add ci --scope events:read", "create a key"),),
)  # fmt: skip
def keys() -> None:
    """Manage API keys. A key can do what its scopes allow."""


@keys.command(
    "add", short_help="Create an API key.",
    examples=(("tadoru serve keys add ci --scope events:read --scope sources:read --expires 90d", "read-only, for 90 days"),),
)  # fmt: skip
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, metavar="SCOPE", help="Scope, such as events:read (repeatable).")
@click.option("--user", metavar="NAME", help="Owner: limits the key to the role of the user.")
@click.option("--expires", type=LifetimeType(), default="365d", metavar="TIME", help="Expires after this time, or never. [365d]")
@database_option
@click.pass_obj
def add_key(
    desk: ServeContext, /, name: str, scopes: tuple[str, ...], user: str | None, expires: timedelta, database: str | None
) -> None:
    """Create an API key and print it. It is shown only once: the database has only its hash. Without --user it belongs to the
    operator, and revoking a user does not affect it."""
    from tadoru.serve.auth.authentication import create_api_key

    with desk.store(database) as store:
        until = None if expires is timedelta.max else store.db.now() + expires
        key, whole = create_api_key(store, name, scopes, command_line_actor(), user=user, expires_at=until)
    sys.stdout.write(whole + "\n")
    sys.stderr.write(_("Created the key {name}. Save it now: it is not shown again.", name=single_line(key.name)) + "\n")


@keys.command("list", short_help="List API keys.", examples=(("tadoru serve keys list", "with their last use"),))
@format_option("table", "json")
@database_option
@click.pass_obj
def list_keys(desk: ServeContext, /, form: str, database: str | None) -> None:
    """List API keys without their secrets, newest first."""
    with desk.store(database) as store:
        found, now = store.keys.list(), store.db.now()
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
        return
    zone = desk.options.timezone
    columns = table_columns("Key", "Name~", "Scopes~", "User", "Expires", "Last use")
    rows = (
        (
            f"tdr_{one.prefix}", one.name, " ".join(one.scopes), one.user_name or _("(operator)"),
            _format_expiry(one, now, zone),
            format_time(one.last_used_at, zone),
        )
        for one in found
    )  # fmt: skip
    if not write_table(sys.stdout, columns, rows):
        sys.stderr.write(_("No API keys yet. Create one with `tadoru serve keys add NAME --scope events:read`.") + "\n")


@keys.command("revoke", short_help="Revoke an API key.", examples=(("tadoru serve keys revoke tdr_4f9c", "by its prefix"),))
@click.argument("key")
@database_option
@click.pass_obj
def revoke_key(desk: ServeContext, /, key: str, database: str | None) -> None:
    """Revoke an API key by its prefix (tdr_…) or its ID."""
    with desk.store(database) as store:
        ended = store.keys.revoke(key, command_line_actor())
    sys.stderr.write(_("Revoked {name}.", name=f"tdr_{ended.prefix} ({single_line(ended.name)})") + "\n")


def _format_expiry(key: ApiKey, now: datetime, zone: str) -> str:
    if key.revoked_at:
        return _("revoked")
    return format_time(key.expires_at, zone) or _("never") if key.is_valid(now) else _("expired")


def _iso(at: datetime | None) -> str | None:
    return iso(at) if at else None
