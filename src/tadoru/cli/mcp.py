"""`tadoru mcp DIR...`: the command around the MCP server over crawled sites."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tadoru.cli.help import GroupedCommand

if TYPE_CHECKING:
    from tadoru.jobs.docs.mcp import Refresh

EXAMPLES = (
    ("tadoru mcp .context", "every site crawled into this folder, over stdio"),
    ("tadoru mcp .context --http --port 8765", "over HTTP, for this machine only"),
)
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command(
    "mcp", cls=GroupedCommand, examples=EXAMPLES, short_help="Answer an agent's questions from crawled sites (MCP).",
)  # fmt: skip
@click.argument("folders", nargs=-1, metavar="[DIR]...")
@click.option("--http", is_flag=True, help="Streamable HTTP instead of stdin and stdout.")
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", help="Where to listen with --http. [127.0.0.1]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, metavar="N", help="The port with --http; 0: a free one. [8765]"
)
def mcp(folders: tuple[str, ...], http: bool, host: str, port: int) -> int:
    """Serve crawled documentation to agents: list_sites, search_docs, get_page, list_headings, refresh_site.

    Each DIR is the folder of a site, or holds such folders; .context when left out.
    """
    from tadoru.jobs.docs.refresh import refresh_site

    serve([Path(folder) for folder in folders or (".context",)], http=http, host=host, port=port, refresh=refresh_site)
    return 0


def serve(roots: list[Path], *, http: bool, host: str, port: int, refresh: Refresh | None = None) -> None:
    """Serve until the client leaves or somebody stops it."""
    from tadoru.jobs.docs.library import Library
    from tadoru.jobs.docs.mcp import build_server, serve_http, serve_stdio

    server = build_server(Library(roots), refresh)
    if http and host not in LOOPBACK:
        sys.stderr.write(f"Anybody who can reach {host} can read these sites: there is no password.\n")
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_http(server, host, port) if http else serve_stdio(server))
