"""`tadoru serve crawls add | list | remove`, and `tadoru serve backup`: the crawls of a service, and all it has."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tadoru.cli.help import CommandGroup, DocumentedCommand
from tadoru.cli.output import format_option, format_time, write_json
from tadoru.cli.serve import ServeContext, command_line_actor
from tadoru.cli.serve.accounts import database_option
from tadoru.cli.table import Column, single_line, write_table
from tadoru.clock import iso


@click.group(
    cls=CommandGroup, short_help="Crawls of the service.",
    examples=(("tadoru serve crawls add site.db", "show a crawl that is there"),),
)  # fmt: skip
def crawls() -> None:
    """The crawls that the service shows and runs. New ones are started on its pages, or over REST."""


@crawls.command(
    "add", short_help="Show a crawl that is there.",
    examples=(("tadoru serve crawls add site.db", "what `tadoru audit` or `tadoru links --state` wrote"),
              ("tadoru serve crawls add .context/docs-python-org", "a site of `tadoru docs`")),
)  # fmt: skip
@click.argument("path", metavar="FILE|DIR")
@click.option("--name", default="", metavar="TEXT", help="What to call it; its start when left out.")
@database_option
@click.pass_obj
def add_crawl(desk: ServeContext, /, path: str, name: str, database: str | None) -> int:
    """Add a crawl by its path: a database, or the folder of a documentation site. Its files stay where they are."""
    from tadoru.serve.crawl_runner.operator_commands import import_crawl

    with desk.store(database, new=True) as store:
        crawl = import_crawl(store, path, command_line_actor(), name)
    sys.stderr.write(f"Added crawl {crawl.id}, {single_line(crawl.name)} ({crawl.job}, {crawl.state.value}).\n")
    return 0


@crawls.command("list", short_help="Which crawls there are.", examples=(("tadoru serve crawls list", "the newest first"),))
@format_option("table", "json")
@database_option
@click.pass_obj
def list_crawls(desk: ServeContext, /, form: str, database: str | None) -> int:
    """Every crawl, the newest first."""
    with desk.store(database) as store:
        found = store.crawls(limit=10_000)
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
        return 0
    zone = desk.options.timezone
    columns = (
        Column("ID", to_right=True), Column("Name", may_shrink=True), Column("Job"), Column("State"),
        Column("Pages", to_right=True), Column("Ended"), Column("Place", may_shrink=True),
    )  # fmt: skip
    rows = (
        (
            str(one.id), one.name, one.job, one.state.value, _count(one.progress.get("pages")),
            format_time(one.ended_at, zone), one.place,
        )
        for one in found
    )  # fmt: skip
    if not write_table(sys.stdout, columns, rows):
        sys.stderr.write("There are no crawls yet: start one on the pages of the service, or add one by its path.\n")
    return 0


@crawls.command(
    "remove", short_help="Forget a crawl.", examples=(("tadoru serve crawls remove 4", "with the files made for it"),)
)
@click.argument("number", type=int, metavar="ID")
@database_option
@click.pass_obj
def remove_crawl(desk: ServeContext, /, number: int, database: str | None) -> int:
    """Forget a crawl that does not run, with the files that the service made for it; what was added by its path stays."""
    from tadoru.serve.crawl_runner.crawl_files import remove_crawl_files

    with desk.store(database) as store:
        crawl = store.remove_crawl(number, command_line_actor())
        remove_crawl_files(store.database, crawl)
    stays = "" if crawl.is_ours else f" Its files stay in {single_line(crawl.place)}."
    sys.stderr.write(f"Removed crawl {crawl.id}, {single_line(crawl.name)}.{stays}\n")
    return 0


@click.command(
    "backup", cls=DocumentedCommand, short_help="Copy everything, while it runs.",
    examples=(("tadoru serve backup backup-2026-08-01", "and RESTORE.txt in it says how to put it back"),),
)  # fmt: skip
@click.argument("folder", metavar="DIR")
@database_option
@click.pass_obj
def backup(desk: ServeContext, /, folder: str, database: str | None) -> int:
    """Copy the service's database, its crawls and documentation sites and the files of events into a new folder."""
    from tadoru.serve.crawl_runner.operator_commands import back_up

    with desk.store(database) as store:
        back_up(store, Path(folder), lambda what: None)
    sys.stderr.write(f"Everything is in {single_line(folder)}; RESTORE.txt there says how to put it back.\n")
    return 0


def _count(number: object) -> str:
    return f"{number:,}" if isinstance(number, int) else ""
