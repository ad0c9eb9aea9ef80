"""`tadoru docs list` and `tadoru docs refresh`: the crawled sites below a folder, shown or updated."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tadoru.cli.options import GroupedCommand
from tadoru.errors import TadoruError, UsageError
from tadoru.log import printable

if TYPE_CHECKING:
    from tadoru.jobs.docs.library import SiteCard

_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.command(
    "list", cls=GroupedCommand, examples=(("tadoru docs list", "the sites in .context"),), short_help="List crawled sites.",
    context_settings=_SETTINGS,
)  # fmt: skip
@click.argument("folders", nargs=-1, metavar="[DIR]...")
@click.option("--json", "as_json", is_flag=True, help="One JSON array instead of lines.")
def docs_list(folders: tuple[str, ...], as_json: bool) -> int:
    """List the crawled sites below folders; .context when left out."""
    cards = _cards(folders)
    if as_json:
        sys.stdout.write(json.dumps([card.as_json() for card in cards], ensure_ascii=False, indent=2) + "\n")
        return 0
    for card in cards:
        sys.stdout.write(
            f"{_shown(card.folder)}  {card.pages:,} pages, about {card.tokens:,} tokens, "
            f"checked {card.last_checked[:10] or 'never'}\n"
            f"  {printable(card.title)}  {printable(card.url)}\n"
        )
    return 0


@click.command(
    "refresh", cls=GroupedCommand, examples=(("tadoru docs refresh .context", "every site in it, for cron"),),
    short_help="Update crawled sites.", context_settings=_SETTINGS,
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
        raise UsageError(f"There is no crawled site in {', '.join(map(str, roots))}: make one with tadoru docs URL.")
    return cards
