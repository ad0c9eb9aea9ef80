"""`tadoru serve users add | list | link | role | revoke`: who may sign in, and what they may do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from tadoru.cli.forms import format_option, stamp_text, write_json
from tadoru.cli.help import CommandGroup
from tadoru.cli.serve import Desk, at_keyboard, link_address
from tadoru.cli.table import Column, clean, write_table
from tadoru.clock import iso
from tadoru.errors import UsageError

ROLE = click.Choice(["viewer", "editor", "admin"])


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
@click.option("--role", type=ROLE, default="viewer", help="What they may. [viewer]")
@click.option("--password-stdin", is_flag=True, help="Read a password from stdin, one line.")
@database_option
@click.pass_obj
def add(desk: Desk, /, name: str, role: str, password_stdin: bool, database: str | None) -> int:
    """Let somebody in. Without a password they sign in by a link, which `tadoru serve users link NAME` prints."""
    password = sys.stdin.readline().rstrip("\r\n") if password_stdin else None
    with desk.store(database, new=True) as store:
        user = store.add_user(name, role, at_keyboard(), password=password)
    hint = "" if password_stdin else f" `tadoru serve users link {clean(user.name)}` prints a link to sign in with."
    sys.stderr.write(f"Added {clean(user.name)}, {user.role}.{hint}\n")
    return 0


@users.command("list", short_help="Who may sign in.", examples=(("tadoru serve users list", "with their roles"),))
@format_option("table", "json")
@database_option
@click.pass_obj
def list_users(desk: Desk, /, form: str, database: str | None) -> int:
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
            "password" if one.has_password else "" if one.revoked_at else "link", stamp_text(one.last_sign_in, zone),
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
def link(desk: Desk, /, name: str, database: str | None) -> int:
    """Print a link that signs NAME in, once, within an hour; earlier ones are void. While there is no admin, a NAME that nobody
    has becomes one."""
    from tadoru.serve.access.hosts import address

    with desk.store(database, new=True) as store:
        known = [user for user in store.users() if user.revoked_at is None]
        if store.user(name) not in known and all(user.role != "admin" for user in known):
            store.add_user(name, "admin", at_keyboard())
        sys.stdout.write(link_address(address(desk.options), store, name) + "\n")
    return 0


@users.command(
    "role", short_help="Let somebody do more, or less.",
    examples=(("tadoru serve users role mia admin", "from her next request on"),),
)  # fmt: skip
@click.argument("name")
@click.argument("role", type=ROLE)
@database_option
@click.pass_obj
def set_role(desk: Desk, /, name: str, role: str, database: str | None) -> int:
    """Let NAME do more, or less: as viewer, editor or admin. It holds at once, for their sessions and keys too. One admin
    stays."""
    with desk.store(database) as store:
        before = store.user(name)
        user = store.set_role(name, role, at_keyboard())
    was = f", was {before.role}" if before is not None and before.role != user.role else ", as before"
    sys.stderr.write(f"{clean(user.name)} is {user.role} now{was}.\n")
    return 0


@users.command("revoke", short_help="Let somebody in no more.", examples=(("tadoru serve users revoke mia", "at once"),))
@click.argument("name")
@database_option
@click.pass_obj
def revoke(desk: Desk, /, name: str, database: str | None) -> int:
    """Let somebody in no more: sessions, keys, links and password are void at once. What they did stays in the histories."""
    with desk.store(database) as store:
        user = store.user(name)
        if user is not None and user.revoked_at is not None:
            raise UsageError(f"{clean(user.name)} was revoked already.")
        revoked = store.revoke_user(name, at_keyboard())
    sys.stderr.write(f"Revoked {clean(revoked.name)}.\n")
    return 0
