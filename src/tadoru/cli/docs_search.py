"""`tadoru docs search DIR QUERY`: the command around searching a crawled site."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tadoru.cli.forms import format_option, write_json
from tadoru.cli.help import GroupedCommand
from tadoru.errors import UsageError
from tadoru.log import printable

EXAMPLES = (
    ('tadoru docs search .context/docs-example-com "rate limit"', "the sections about it"),
    ("tadoru docs search .context/docs-example-com 設定 -n 3", "words of any script"),
    ('tadoru docs search site "exact phrase" -- -without', "a word that must not be there"),
    ("tadoru docs search site install -f json | jq -r .hits[0].file", "for scripts"),
)


@click.command(
    "search", cls=GroupedCommand, examples=EXAMPLES, short_help="Search a crawled site.",
)  # fmt: skip
@click.argument("folder", metavar="DIR")
@click.argument("words", nargs=-1, required=True, metavar="QUERY")
@click.option("-n", "--limit", type=click.IntRange(1, 200), default=10, metavar="N", help="How many sections at most. [10]")
@format_option("text", "json", or_json=True)
def docs_search(folder: str, words: tuple[str, ...], limit: int, form: str) -> int:
    """Find the sections of a crawled site that say something about a subject. Exits 0 also when there are none."""
    from tadoru.jobs.docs.search import search_site

    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"There is no folder {folder}: give the one that `tadoru docs URL` wrote.")
    found = search_site(root, _query(words), limit)
    if form == "json":
        write_json({"query": found.query, "how": found.how, "hits": [hit.as_json() for hit in found.hits]})
        return 0
    if not found.hits:
        sys.stderr.write("Nothing found: try fewer or other words.\n")
    for hit in found.hits:
        place = " › ".join(hit.path) or hit.title
        sys.stdout.write(f"{printable(place)}\n  {printable(hit.url)}\n  {hit.file}\n  {printable(hit.snippet)}\n\n")
    return 0


def _query(words: tuple[str, ...]) -> str:
    """What a shell took apart, together again: an argument with spaces was a phrase if there were others beside it."""
    return words[0] if len(words) == 1 else " ".join(f'"{word}"' if " " in word and '"' not in word else word for word in words)
