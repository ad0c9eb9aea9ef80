"""`tadoru docs list` and `tadoru docs refresh`: the crawled sites below a folder, shown or updated."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tadoru.cli.forms import format_option, write_json
from tadoru.cli.help import GroupedCommand
from tadoru.cli.table import Column, write_table
from tadoru.errors import TadoruError, UsageError
from tadoru.log import printable

if TYPE_CHECKING:
    from tadoru.jobs.docs.library import SiteCard


@click.command(
    "list", cls=GroupedCommand, examples=(("tadoru docs list", "the sites in .context"),), short_help="List crawled sites.",
)  # fmt: skip
@click.argument("folders", nargs=-1, metavar="[DIR]...")
@format_option("text", "json", or_json=True)
def docs_list(folders: tuple[str, ...], form: str) -> int:
    """List the crawled sites below folders; .context when left out."""
    cards = _cards(folders)
    if form == "json":
        write_json([card.as_json() for card in cards])
        return 0
    columns = (
        Column("Folder"), Column("Pages", to_right=True), Column("Tokens", to_right=True), Column("Checked"),
        Column("Title", may_shrink=True), Column("URL", may_shrink=True),
    )  # fmt: skip
    write_table(sys.stdout, columns, map(_row, cards))
    return 0


def _row(card: SiteCard) -> tuple[str, ...]:
    checked = card.last_checked[:16].replace("T", " ") or "never"
    return str(_shown(card.folder)), f"{card.pages:,}", f"{card.tokens:,}", checked, card.title, card.url


@click.command(
    "refresh", cls=GroupedCommand, examples=(("tadoru docs refresh .context", "every site in it, for cron"),),
    short_help="Update crawled sites.",
)  # fmt: skip
@click.argument("folders", nargs=-1, metavar="[DIR]...")
@click.option("-q", "--quiet", is_flag=True, help="Say only what went wrong.")
def docs_refresh(folders: tuple[str, ...], quiet: bool) -> int:
    """Ask the sites below folders for what changed, each with the options it was crawled with; .context when left out.

    A site that fails does not keep the others from being updated; the exit code is then that of the last failure.
    """
    from tadoru.cli.docs import crawl
    from tadoru.jobs.docs.refresh import stored_options

    code = 0
    for card in _cards(folders):
        try:
            url, options, config = stored_options(_shown(card.folder))
            if not quiet:
                sys.stdout.write(f"{_shown(card.folder)}:\n")
                sys.stdout.flush()
            crawl(options, url, config, quiet=quiet, verbose=0, log_format="text")
        except TadoruError as error:
            sys.stderr.write(f"tadoru: {_shown(card.folder)}: {printable(str(error))}\n")
            code = error.exit_code
            if code == 130:
                break
    return code


def _shown(folder: Path) -> Path:
    """A folder as a person would name it from here."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _cards(folders: tuple[str, ...]) -> list[SiteCard]:
    from tadoru.jobs.docs.library import Library

    roots = [Path(folder) for folder in folders or (".context",)]
    for root in roots:
        if not root.is_dir():
            raise UsageError(f"There is no folder {root}: give one that `tadoru docs URL` wrote, or the folder above it.")
    cards = Library(roots).sites()
    if not cards:
        raise UsageError(f"There is no crawled site in {', '.join(map(str, roots))}: make one with `tadoru docs URL`.")
    return cards
