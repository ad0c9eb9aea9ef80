"""`tadoru docs list | refresh | search` and `tadoru mcp`: commands on documentation sites that are already downloaded."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.output import _, format_option, translate_error, write_json
from tadoru.cli.table import table_columns, write_table
from tadoru.errors import TadoruError, UsageError
from tadoru.log import printable

if TYPE_CHECKING:
    from tadoru.jobs.docs.library import SiteSummary
    from tadoru.jobs.docs.mcp import RefreshSite


@click.command(
    "list", cls=DocumentedCommand, examples=(("tadoru docs list", "the sites in .context"),), short_help="List downloaded sites.",
)  # fmt: skip
@click.argument("folders", nargs=-1, metavar="[DIR]...")
@format_option("text", "json", or_json=True)
def docs_list(folders: tuple[str, ...], form: str) -> None:
    """List the downloaded sites below folders; default: .context."""
    cards = _find_sites(folders)
    if form == "json":
        write_json([card.as_json() for card in cards])
        return
    columns = table_columns("Folder", "Pages>", "Tokens>", "Checked", "Title~", "URL~")
    write_table(sys.stdout, columns, map(_site_row, cards))


def _site_row(card: SiteSummary) -> tuple[str, ...]:
    checked = card.last_checked[:16].replace("T", " ") or _("never")
    return str(_relative(card.folder)), f"{card.pages:,}", f"{card.tokens:,}", checked, card.title, card.url


@click.command(
    "refresh", cls=DocumentedCommand, examples=(("tadoru docs refresh .context", "all sites in it, for cron"),),
    short_help="Update downloaded sites.",
)  # fmt: skip
@click.argument("folders", nargs=-1, metavar="[DIR]...")
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def docs_refresh(folders: tuple[str, ...], quiet: bool) -> int:
    """Update the sites below folders, each with the options of its first download; default: .context.

    If a site fails, the others are still updated; the exit code is that of the last failure.
    """
    from tadoru.cli.docs import crawl
    from tadoru.jobs.docs.run import stored_options

    code = 0
    for card in _find_sites(folders):
        try:
            url, options, config = stored_options(_relative(card.folder))
            if not quiet:
                sys.stdout.write(f"{_relative(card.folder)}:\n")
                sys.stdout.flush()
            crawl(options, url, config, quiet=quiet, verbose=0, log_format="text")
        except TadoruError as error:
            sys.stderr.write(f"tadoru: {_relative(card.folder)}: {printable(translate_error(error))}\n")
            code = error.exit_code
            if code == 130:
                break
    return code


def _relative(folder: Path) -> Path:
    """The path of a folder, relative if it is below the working folder."""
    here = Path.cwd()
    return folder.relative_to(here) if folder.is_relative_to(here) else folder


def _find_sites(folders: tuple[str, ...]) -> list[SiteSummary]:
    from tadoru.jobs.docs.library import DocsLibrary

    roots = [Path(folder) for folder in folders or (".context",)]
    for root in roots:
        if not root.is_dir():
            raise UsageError("Folder {folder} not found. Give one that `tadoru docs URL` wrote, or its parent.", folder=root)
    cards = DocsLibrary(roots).sites()
    if not cards:
        raise UsageError(
            "No downloaded site in {folders}. Create one with `tadoru docs URL`.", folders=", ".join(map(str, roots))
        )
    return cards


SEARCH_EXAMPLES = (
    ('tadoru docs search .context/docs-example-com "rate limit"', "the sections on a subject"),
    ("tadoru docs search .context/docs-example-com 設定 -n 3", "words in any script"),
    ('tadoru docs search site "exact phrase" -- -without', "without a word"),
    ("tadoru docs search site install -f json | jq -r .hits[0].file", "as JSON"),
    ('tadoru docs search .context "rate limit"', "in all sites of a folder, in one ranking"),
)


@click.command(
    "search", cls=DocumentedCommand, examples=SEARCH_EXAMPLES, short_help="Search downloaded sites.",
)  # fmt: skip
@click.argument("folder", metavar="DIR")
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
@click.option("-n", "--limit", type=click.IntRange(1, 200), default=10, metavar="N", help="Maximum sections. [10]")
@format_option("text", "json", or_json=True)
def docs_search(folder: str, words: tuple[str, ...], limit: int, form: str) -> None:
    """Find sections of a downloaded site, or of all sites in a folder. Exits with status 0 even if there are none."""
    from tadoru.jobs.docs.library import DocsLibrary

    root = Path(folder)
    if not root.is_dir():
        raise UsageError("Folder {folder} not found. Give one that `tadoru docs URL` wrote, or its parent.", folder=root)
    query = _query(words)
    how, hits = DocsLibrary([root]).find(query, limit=limit)
    files = [str((Path() if one.card.folder == root.resolve() else Path(one.card.name)) / one.hit.file) for one in hits]
    if form == "json":
        rows = [one.hit.as_json() | {"file": file} for one, file in zip(hits, files, strict=True)]
        write_json({"query": query, "how": how, "hits": rows})
        return
    if not hits:
        sys.stderr.write(_("No results. Try fewer or other words.") + "\n")
    elif how == "any":
        sys.stderr.write(_("No section contains all words. Showing partial matches.") + "\n")
    elif how == "meaning":
        sys.stderr.write(_("No section contains the words. Showing sections with a similar meaning.") + "\n")
    for one, file in zip(hits, files, strict=True):
        hit = one.hit
        place = " › ".join(hit.path) or hit.title
        where = printable(", ".join([file, *one.others]))
        sys.stdout.write(f"{printable(place)}\n  {printable(hit.url)}\n  {where}\n  {printable(hit.snippet)}\n\n")


def _query(words: tuple[str, ...]) -> str:
    """The query of several arguments: one with spaces was a phrase in quotes."""
    return words[0] if len(words) == 1 else " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)


MCP_EXAMPLES = (
    ("tadoru mcp .context", "all sites in this folder, over stdio"),
    ("tadoru mcp .context --http --port 8765", "over HTTP on loopback"),
)
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command(
    "mcp", cls=DocumentedCommand, examples=MCP_EXAMPLES, short_help="Serve downloaded documentation to agents (MCP).",
)  # fmt: skip
@click.argument("folders", nargs=-1, metavar="[DIR]...")
@click.option("--http", is_flag=True, help="Use streamable HTTP instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen on with --http. [127.0.0.1]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, metavar="N", help="Port with --http; 0 for any free port. [8765]"
)
def mcp(folders: tuple[str, ...], http: bool, host: str, port: int) -> None:
    """Serve downloaded documentation to agents: list_sites, search_docs, get_page, list_headings, refresh_site.

    Each DIR is the folder of a site, or contains such folders; default: .context.
    """
    from tadoru.jobs.docs.run import refresh_site

    serve_sites([Path(folder) for folder in folders or (".context",)], http=http, host=host, port=port, refresh=refresh_site)


def serve_sites(roots: list[Path], *, http: bool, host: str, port: int, refresh: RefreshSite | None = None) -> None:
    """Serve until the client disconnects or the process is stopped."""
    import asyncio

    from tadoru.jobs.docs.library import DocsLibrary
    from tadoru.jobs.docs.mcp import build_server, serve_http, serve_stdio

    server = build_server(DocsLibrary(roots), refresh)
    if http and host not in LOOPBACK:
        sys.stderr.write(_("Warning: anyone who can reach {host} can read these sites; there is no password.", host=host) + "\n")
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_http(server, host, port) if http else serve_stdio(server))
