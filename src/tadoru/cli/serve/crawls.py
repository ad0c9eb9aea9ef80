"""`tadoru serve crawls add | list | remove` and `tadoru serve backup`: manages the crawls of the service, and backs it up."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tadoru.cli.help import CommandGroup, DocumentedCommand
from tadoru.cli.output import _, format_option, format_time, write_json
from tadoru.cli.serve import ServeContext, command_line_actor
from tadoru.cli.serve.accounts import database_option
from tadoru.cli.table import single_line, table_columns, write_table
from tadoru.clock import iso


@click.group(
    cls=CommandGroup, short_help="Manage crawls.",
    examples=(("tadoru serve crawls add site.db", "add an existing crawl"),),
)  # fmt: skip
def crawls() -> None:
    """Manage the crawls of the service. New crawls are started on its pages or with the API."""


@crawls.command(
    "add", short_help="Add an existing crawl.",
    examples=(("tadoru serve crawls add site.db", "of `tadoru audit` or `tadoru links --state`"),
              ("tadoru serve crawls add .context/docs-python-org", "of `tadoru docs`")),
)  # fmt: skip
@click.argument("path", metavar="FILE|DIR")
@click.option("--name", default="", metavar="TEXT", help="Name of the crawl; default: its start URL.")
@database_option
@click.pass_obj
def add_crawl(desk: ServeContext, /, path: str, name: str, database: str | None) -> None:
    """Add an existing crawl: a database, or the folder of a documentation site. Its files are not moved."""
    from tadoru.serve.crawl_runner.control import import_crawl

    with desk.store(database, new=True) as store:
        crawl = import_crawl(store, path, command_line_actor(), name)
    text = _(
        "Added crawl {id}: {name} ({job}, {state}).",
        id=crawl.id,
        name=single_line(crawl.name),
        job=crawl.job,
        state=crawl.state.value,
    )
    sys.stderr.write(text + "\n")


@crawls.command("list", short_help="List crawls.", examples=(("tadoru serve crawls list", "newest first"),))
@format_option("table", "json")
@database_option
@click.pass_obj
def list_crawls(desk: ServeContext, /, form: str, database: str | None) -> None:
    """List crawls, newest first."""
    with desk.store(database) as store:
        found = store.crawls.list(limit=10_000)
    if form == "json":
        write_json([
            {
                "id": one.id, "name": one.name, "job": one.job, "starts": list(one.starts), "state": one.state.value,
                "pages": one.progress.get("pages"), "place": one.place, "every": one.every, "error": one.error or None,
                "created_at": iso(one.created_at),
                "ended_at": iso(one.ended_at) if one.ended_at else None,
            }
            for one in found
        ])  # fmt: skip
        return
    zone = desk.options.timezone
    columns = table_columns("ID>", "Name~", "Job", "State", "Pages>", "Ended", "Location~")
    rows = (
        (
            str(one.id), one.name, one.job, one.state.value, _count(one.progress.get("pages")),
            format_time(one.ended_at, zone), one.place,
        )
        for one in found
    )  # fmt: skip
    if not write_table(sys.stdout, columns, rows):
        sys.stderr.write(_("No crawls yet. Start one on the pages of the service, or add one by its path.") + "\n")


@crawls.command("remove", short_help="Remove a crawl.", examples=(("tadoru serve crawls remove 4", "and its files"),))
@click.argument("number", type=int, metavar="ID")
@database_option
@click.pass_obj
def remove_crawl(desk: ServeContext, /, number: int, database: str | None) -> None:
    """Remove a crawl that is not running, with the files that the service created for it; files that were added are kept."""
    from tadoru.serve.crawl_runner.crawl_files import remove_crawl_files

    with desk.store(database) as store:
        crawl = store.crawls.remove(number, command_line_actor())
        remove_crawl_files(store.db.database, crawl)
    kept = "" if crawl.is_ours else " " + _("Its files are kept in {folder}.", folder=single_line(crawl.place))
    sys.stderr.write(_("Removed crawl {id}: {name}.", id=crawl.id, name=single_line(crawl.name)) + f"{kept}\n")


@click.command(
    "backup", cls=DocumentedCommand, short_help="Back up everything into a folder.",
    examples=(("tadoru serve backup backup-2026-08-01", "RESTORE.txt in it explains how to restore"),),
)  # fmt: skip
@click.argument("folder", metavar="DIR")
@database_option
@click.pass_obj
def backup(desk: ServeContext, /, folder: str, database: str | None) -> None:
    """Back up the database of the service, its crawls, documentation sites and event files into a new folder, while it runs."""
    from tadoru.serve.crawl_runner.control import back_up

    with desk.store(database) as store:
        back_up(store, Path(folder), lambda what: None)
    sys.stderr.write(_("Backed up to {folder}. RESTORE.txt in it explains how to restore.", folder=single_line(folder)) + "\n")


def _count(number: object) -> str:
    return f"{number:,}" if isinstance(number, int) else ""
