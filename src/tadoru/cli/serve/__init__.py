"""`tadoru serve`: runs the web service; users, API keys and crawls are managed by its subcommands."""

from __future__ import annotations

import gc
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.events import current_user
from tadoru.cli.help import CommandGroup
from tadoru.cli.inputs import check_database_name
from tadoru.cli.options import events_options, job_options, print_config, resolve_options
from tadoru.cli.output import _
from tadoru.config import resolve
from tadoru.config.options import CRAWL_JOBS, JOB_SETTINGS, OPERATOR_SETTINGS, ServeOptions
from tadoru.errors import UsageError, without_passwords
from tadoru.extras import not_installed
from tadoru.parse.gc_pause import paused_gc

if TYPE_CHECKING:
    from tadoru.store.accounts.audit_log import Actor
    from tadoru.store.service import ServiceStore

COMMANDS: dict[str, tuple[str, str]] = {
    "users": ("tadoru.cli.serve.accounts:users", "Manage users: add, list, link, role, revoke."),
    "keys": ("tadoru.cli.serve.accounts:keys", "Manage API keys: add, list, revoke."),
    "crawls": ("tadoru.cli.serve.crawls:crawls", "Manage crawls: add, list, remove."),
    "backup": ("tadoru.cli.serve.crawls:backup", "Back up everything into a folder."),
}

SERVICE_START = "service.start"
"""The entry of the audit log with the URL of the service, which sign-in links use."""
MOST_USED = (
    "database", "host", "port", "workers", "base_url", "trusted_proxy", "rate_limit", "site_name", "timezone", "lang",
    "config_file", "quiet",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServeContext:
    """The options before the subcommand."""

    options: ServeOptions

    @contextmanager
    def store(self, database: str | None, *, new: bool = False) -> Iterator[ServiceStore]:
        """The database, which must exist unless `new`: a typo in its name must not create one."""
        from tadoru.store.calendar.database import is_postgresql
        from tadoru.store.service import open_service

        place = database or self.options.database
        if not new and not is_postgresql(place) and not Path(place).is_file():
            raise UsageError("Database {database} not found. Name it with `tadoru serve -d FILE …`.", database=place)
        with closing(open_service(place)) as store:
            yield store


def command_line_actor() -> Actor:
    """The user of the command line, for the audit log."""
    from tadoru.store.accounts.audit_log import Actor

    return Actor(who=f"{current_user()} (command line)")


@click.group(
    cls=CommandGroup, lazy_commands=COMMANDS, groups=JOB_SETTINGS["serve"], most_used=MOST_USED, invoke_without_command=True,
    short_help="Run the web service.",
    examples=(
        ("tadoru serve", "on http://127.0.0.1:8000"),
        ("tadoru serve --base-url https://events.example", "behind a proxy"),
        ("tadoru serve users link admin", "print a one-time sign-in link"),
        ("tadoru serve keys add ci --scope events:read", "create an API key"),
    ),
)  # fmt: skip
@job_options("serve")
@click.option("--config", "config_file", metavar="FILE", help="Configuration file.")
@click.option("--show-config", is_flag=True, help="Print the resolved configuration, secrets hidden.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="Format of log lines.")
@click.option("-q", "--quiet", is_flag=True, help="No access log.")
@click.pass_context
def serve(
    ctx: click.Context, /, config_file: str | None, show_config: bool, log_format: str, quiet: bool, **given: Any
) -> int | None:
    """Run the web service: public calendar pages, feeds and API; sources, reviews, crawls and settings after sign-in.

    The first start shows a sign-in link, on a terminal only; `tadoru serve users link admin` prints one at any time.
    """
    options, settled = resolve_options("serve", ServeOptions, given, config_file)
    check_database_name(options.database)
    if ctx.invoked_subcommand is not None:
        ctx.obj = ServeContext(options)
        return None
    if show_config:
        return print_config("serve", options, settled)
    _run_service(options, config_file, log_format, "warning" if quiet else "info")
    return 0


def _crawl_defaults(config_file: str | None) -> dict[str, dict[str, Any]]:
    """Default options of crawls that the service runs; without start URLs, files and credentials."""
    file = Path(config_file) if config_file else None
    found = {job: resolve.resolve_config(job, {}, os.environ, file, Path.cwd()).values for job in CRAWL_JOBS}
    return {job: {name: value for name, value in values.items() if name in OPERATOR_SETTINGS} for job, values in found.items()}


def _run_service(options: ServeOptions, config_file: str | None, log_format: str, level: str) -> None:
    try:
        with paused_gc():  # What is imported stays: looking for garbage in it takes a seventh of the start.
            from tadoru.serve.auth.http_security import public_url
            from tadoru.serve.server import CollectorConfig, ServerConfig, open_socket, run_server, running_collector
        gc.freeze()
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "tadoru":
            raise
        raise UsageError(not_installed("the service", "serve")) from None
    from tadoru.store.service import open_service

    with closing(open_socket(options)) as listening:
        port = listening.getsockname()[1]
        here = public_url(options, port)
        with closing(open_service(options.database)) as store:  # Before the service is announced.
            store.audit.record(command_line_actor(), SERVICE_START, here)
            sys.stderr.write(_("Serving on {url}/ (press Ctrl-C to stop)", url=here) + "\n")
            _report_first_sign_in(store, options.database, here)
        sys.stderr.flush()
        start = ServerConfig(
            options=replace(options, port=port), events=events_options(options.database, config_file),
            crawl_defaults=_crawl_defaults(config_file), log_format=log_format, log_level=level,
        )  # fmt: skip
        collector = CollectorConfig(
            events=start.events, private=options.crawl_private, log_format=log_format, log_level=level
        )  # fmt: skip
        with running_collector(collector, options):
            run_server(start, listening)


def _report_first_sign_in(store: ServiceStore, database: str, here: str) -> None:
    """Show how to sign in, as long as nobody has."""
    known = [user for user in store.users.list() if user.revoked_at is None]
    if any(user.has_password or user.last_sign_in for user in known):
        return
    if not sys.stderr.isatty():
        place = "" if database == ServeOptions().database else f"-d {shlex.quote(without_passwords(database))} "
        text = _(
            "No administrator yet. Run `{command}` to print a one-time sign-in link.",
            command=f"tadoru serve {place}users link admin",
        )
        sys.stderr.write(text + "\n")
        return
    admin = next((user for user in known if user.role == "admin"), None) or store.users.add(
        "admin", "admin", command_line_actor()
    )
    link = create_sign_in_link(here, store, admin.name)
    sys.stderr.write(_("To sign in as {user}, open this one-time link within an hour:", user=admin.name) + f"\n  {link}\n")


def service_url(options: ServeOptions, store: ServiceStore) -> str:
    """The URL of the service: as configured, or where it was started last."""
    from tadoru.serve.auth.http_security import public_url

    default = ServeOptions()
    is_configured = options.base_url or (options.host, options.port) != (default.host, default.port)
    return public_url(options) if is_configured else store.audit.last_subject(SERVICE_START) or public_url(options)


def create_sign_in_link(here: str, store: ServiceStore, name: str) -> str:
    """A new one-time sign-in link for a user."""
    return f"{here}/welcome?token={store.users.make_link(name, command_line_actor())}"
