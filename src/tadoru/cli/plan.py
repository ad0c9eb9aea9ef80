"""`--dry-run`: the plan in words. Nothing is requested."""

from __future__ import annotations

from typing import TextIO

from tadoru.jobs.launch import pick_processes
from tadoru.jobs.links.run import build_scope
from tadoru.options import LinksOptions
from tadoru.rules.url import host_key, typed

SCOPES = {
    "host": "pages of {site}",
    "domain": "pages of the whole domain of {site}",
    "path": "pages of {site} below the start's path",
}


def print_plan(options: LinksOptions, urls: tuple[str, ...], out: TextIO) -> int:
    """Say what a crawl with these options would do."""
    starts = [typed(url) for url in urls]
    for label, words in _plan(options, starts):
        out.write(f"{label:<12} {words}\n")
    out.write("Nothing was requested.\n")
    return 0


def _plan(options: LinksOptions, starts: list[str]) -> list[tuple[str, str]]:
    scope = build_scope(options, starts)
    rows = [("start", start) for start in starts] or [("resume", str(options.state))]
    if options.list:
        rows.append(("requests", "exactly these URLs; nothing is followed"))
    else:
        rows.append(("requests", SCOPES[scope.mode].format(site=host_key(starts[0]) if starts else "the stored site")))
        rows.append(("depth", "no limit" if options.depth is None else f"at most {options.depth} links from the start"))
    rows += [("only", f"URLs that match {pattern}") for pattern in options.include]
    rows += [("never", f"URLs that match {pattern}") for pattern in options.exclude]
    rows.append(("limit", f"{options.limit} pages" if options.limit else "no limit"))
    rows.append(("pace", _pace(options)))
    rows.append(("robots.txt", "ignored" if options.ignore_robots else "obeyed, as Tadoru"))
    rows.append(("external", "requested once each, to see that they answer" if options.check else "recorded, not requested"))
    rows.append(("result", f"{options.format} to {options.output or 'stdout'}"))
    if options.state:
        rows.append(("state", f"kept in {options.state}"))
    return rows


def _pace(options: LinksOptions) -> str:
    count = pick_processes(options.processes, options.delay)
    processes = f", {count} processes" if count > 1 else ""
    if not options.delay:
        return f"no delay, {options.concurrency} requests in flight{processes}"
    words = f"a request every {options.delay:g} s to a host, {options.concurrency} in flight at most{processes}"
    if options.limit:
        words += f"; at least {options.limit * options.delay / 60:.1f} min for all {options.limit} pages"
    return words
