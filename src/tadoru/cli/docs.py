"""`tadoru docs URL`: downloads a documentation site; `docs search | list | refresh` and `tadoru mcp` use what was downloaded."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tadoru.cli.help import DocumentedCommand
from tadoru.cli.options import (
    STORED,
    config_path,
    describe_stored_options,
    job_options,
    print_config,
    resolve_options,
    run_options,
)
from tadoru.cli.output import _, format_option, ngettext, translate_error, write_json
from tadoru.cli.table import table_columns, write_table
from tadoru.config.options import JOB_SETTINGS, DocsOptions
from tadoru.config.resolve import check_discovered_url, find_start_url, shown_values
from tadoru.errors import BrowserMissing, Interrupted, TadoruError, UsageError
from tadoru.log import printable

if TYPE_CHECKING:
    from tadoru.cli.progress import CrawlProgress
    from tadoru.jobs.crawl_setup import PreparedCrawl
    from tadoru.jobs.docs.bundle.model import BundleSummary, DocChanges
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


EXAMPLES = (
    ("tadoru docs https://docs.example.com", "into .context/docs-example-com"),
    ("tadoru docs https://docs.example.com --diff", "later: only changes"),
    ("tadoru docs https://example.com/docs/ --scope path -d 5", "only below /docs/, five links deep"),
    ('tadoru docs search .context/docs-example-com "rate limit"', "search it"),
)
MOST_USED = (
    "depth", "limit", "scope", "include", "exclude", "delay", "ignore_robots", "render", "output", "diff", "pages",
    "merge", "chunk_tokens", "config_file", "verbose", "quiet",
)  # fmt: skip
SUBCOMMANDS = {"search": docs_search, "list": docs_list, "refresh": docs_refresh}
MAX_LISTED_CHANGES = 20


class DocsCommand(DocumentedCommand):
    """Takes a URL, or one of the subcommands `search`, `list` and `refresh`."""

    subcommands: Mapping[str, click.Command] = SUBCOMMANDS

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        other = SUBCOMMANDS.get(args[0]) if args else None
        if other is not None:
            return other.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        if args and args[0].isalpha() and args[0] != "localhost":  # Neither a URL nor a host name.
            from tadoru.cli.usage_errors import closest_match, no_such_command

            if closest_match(args[0], SUBCOMMANDS) is not None:
                raise no_such_command("tadoru docs", args[0], SUBCOMMANDS)
        return super().make_context(info_name, args, parent, **extra)

    def command_rows(self, ctx: click.Context) -> Sequence[tuple[str, str]]:
        return [(name, command.get_short_help_str(limit=90)) for name, command in SUBCOMMANDS.items()]


def _complete_subcommand(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Completions in the place of a URL."""
    return [name for name in SUBCOMMANDS if name.startswith(incomplete)]


@click.command(
    cls=DocsCommand,
    groups=JOB_SETTINGS["docs"],
    most_used=MOST_USED,
    examples=EXAMPLES,
    short_help="Download a documentation site as Markdown.",
)
@click.argument("url", metavar="URL | search | list | refresh", required=False, shell_complete=_complete_subcommand)
@job_options("docs")
@run_options
def docs(url: str | None, dry_run: bool, config_file: str | None, show_config: bool, **values: Any) -> int:
    """Download a documentation site into a folder as Markdown, for people and language models.

    Rerun the command to resume or to download the site again; --diff downloads only changes.
    """
    start = _configured_start(config_file) if url is None else url
    options, settled = resolve_options("docs", DocsOptions, values, config_file, lambda options: _stored_crawl(options, start))
    if url is None:
        check_discovered_url(settled)
    given = {name for name, source in settled.sources.items() if source != STORED}
    if "depth" in given and "sitemap" not in given:
        options = replace(options, sitemap="off")  # --depth limits the pages to those within so many links.
    if show_config:
        return print_config("docs", options, settled)
    _check(options, start)
    if dry_run:
        from tadoru.cli.dry_run import print_plan

        return print_plan(options, [start], sys.stdout)
    config, again = shown_values(options, "docs"), describe_stored_options("docs", settled)
    return crawl(
        options, start, config, again=again, quiet=values["quiet"], verbose=values["verbose"], log_format=values["log_format"]
    )


def _configured_start(config_file: str | None) -> str:
    """The start URL of the configuration; a usage error if it has none."""
    if found := find_start_url(config_path(config_file), Path.cwd()):
        return found
    context = click.get_current_context()
    raise click.MissingParameter(ctx=context, param=next(one for one in context.command.params if one.name == "url"))


def _stored_crawl(options: DocsOptions, url: str) -> str:
    """The database of the crawl in the folder of the site."""
    from tadoru.jobs.docs.bundle.output_folder import crawl_database_path
    from tadoru.jobs.docs.run import site_folder
    from tadoru.rules.url import parse_typed_url

    return str(crawl_database_path(site_folder(options, parse_typed_url(url))))


def _check(options: DocsOptions, url: str) -> None:
    """Validate options and arguments before any request."""
    from tadoru.jobs.crawl_setup import access_for, build_scope
    from tadoru.jobs.docs.bundle.output_folder import check_folder
    from tadoru.jobs.docs.bundle.tokens import token_counter
    from tadoru.jobs.docs.run import site_folder
    from tadoru.rules.address import Exemptions
    from tadoru.rules.url import parse_typed_url

    start = parse_typed_url(url)
    build_scope(options, [start])
    access_for(options, Exemptions(), [start])
    token_counter(options.tokenizer)
    check_folder(site_folder(options, start))


def crawl(
    options: DocsOptions, url: str, config: dict[str, Any], *, quiet: bool, verbose: int, log_format: str, again: str = ""
) -> int:
    """Crawl the site and write its files; `again` says which options are used again. Raises TadoruError."""
    from tadoru.cli.progress import CrawlProgress, check_start_urls, run_with_progress
    from tadoru.jobs.docs.run import DocsCrawl

    display = CrawlProgress(options, quiet=quiet, verbose=verbose, log_format=log_format)
    site = DocsCrawl(options, url, config)
    finished = run_with_progress(site, display, lambda prepared: _report_start(options, prepared, again, display))
    if finished.is_interrupted:
        raise Interrupted("Stopped. To resume, rerun the command (the crawl is in {database}).", database=site.folder)
    check_start_urls(finished.start)
    if finished.result.written is None:
        display.note(_("Another process is still crawling into {folder} and will write the files.", folder=site.folder))
        return 0
    if not quiet:
        print_summary(finished.result.written, site.folder, diff=options.diff)
        if deeper := finished.result.deeper:
            text = ngettext(
                "{count} known page lies deeper than --depth {depth} and was not downloaded.",
                "{count} known pages lie deeper than --depth {depth} and were not downloaded.",
                deeper,
                depth=options.depth,
            )
            sys.stdout.write(text + "\n")
        _print_failed(finished.result.failed)
    if finished.result.missing:
        raise BrowserMissing(finished.result.missing)
    return 0


def _report_start(options: DocsOptions, prepared: PreparedCrawl, again: str, display: CrawlProgress) -> None:
    if prepared.recrawl:
        text = (
            _("Looking for changes in {url}.", url=prepared.starts[0])
            if options.diff
            else _("Downloading {url} again.", url=prepared.starts[0])
        )
        display.note(text)
    elif prepared.resumed:
        display.note(_("Resuming the crawl of {url}.", url=prepared.starts[0]))
    if again:
        display.note(again)


def print_summary(written: BundleSummary, root: Path, *, diff: bool) -> None:
    """Print what was written, on stdout."""
    parts = [ngettext("{count} page", "{count} pages", written.pages)]
    if written.specs:
        parts.append(ngettext("{count} API specification", "{count} API specifications", written.specs))
    parts.append(_("about {count} tokens", count=f"{written.tokens:,}"))
    sys.stdout.write(_("{parts}, in {folder}", parts=", ".join(parts), folder=root) + "\n")
    if written.left_out:
        text = ngettext(
            "{count} page did not fit into full.md; its end lists what is missing.",
            "{count} pages did not fit into full.md; its end lists what is missing.",
            written.left_out,
        )
        sys.stdout.write(text + "\n")
    if diff:
        _print_changes(written.changes, root)


def _print_failed(failed: Sequence[tuple[str, str]]) -> None:
    if not failed:
        return
    text = ngettext(
        "{count} page could not be downloaded; its earlier version is kept:",
        "{count} pages could not be downloaded; their earlier versions are kept:",
        len(failed),
    )
    sys.stdout.write(text + "\n")
    for url, cause in failed[:MAX_LISTED_CHANGES]:
        sys.stdout.write(f"  {printable(url)} ({cause})\n")


def _print_changes(changes: DocChanges, root: Path) -> None:
    counts = {word: len(getattr(changes, word)) for word in ("added", "changed", "removed")}
    if changes:
        sys.stdout.write(_("{added} added, {changed} changed, {removed} removed.", **counts) + "\n")
    else:
        sys.stdout.write(_("No changes.") + "\n")
    labels = {"added": _("added"), "changed": _("changed"), "removed": _("removed")}
    rows = [(label, change) for word, label in labels.items() for change in getattr(changes, word)]
    for label, change in rows[:MAX_LISTED_CHANGES]:
        sys.stdout.write(f"  {label:<8} {printable(change.url)}\n")
    if len(rows) > MAX_LISTED_CHANGES:
        more = len(rows) - MAX_LISTED_CHANGES
        sys.stdout.write(_("  … {count} more in {file}", count=more, file=root / "changes.md") + "\n")
