"""The text form: the site as a tree, then external URLs, links that do not work, and a summary.

Lines are written as they are made, and the tree is walked with a stack of our own, so that neither the size nor the depth of a
site matters. Of the URLs that were never requested, and may be millions, a reader is shown some below each page and told how
many more there are; the forms that programs read have all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from heapq import nsmallest
from typing import TextIO

from tadoru.jobs.links.broken import format_status
from tadoru.jobs.links.report.figures import LinksFigures, LinksReport
from tadoru.jobs.links.report.tree import SiteTree
from tadoru.jobs.links.result import BrokenKind, BrokenLink, UrlInfo
from tadoru.jobs.reporting.charts import limit_columns
from tadoru.jobs.reporting.escape import clip, printable, readable_url, url_shortener
from tadoru.jobs.reporting.formatting import format_count, format_duration
from tadoru.jobs.reporting.graph_layout import UrlOutcome
from tadoru.jobs.reporting.output import MAX_ANNOTATIONS, workflow_command
from tadoru.jobs.reporting.terminal import Palette

_DEEPEST_INDENT = 24
"""Branches are drawn this far; below, a number says how deep a line is. Else a chain of pages would cost its length squared."""

_PLACES = 10
"""Places that lead to a broken link, of which the text shows so many."""

MAX_UNREAD_BELOW = 200
"""URLs below a page that were not requested, of which the text shows so many."""

_MOST_EXTERNAL = 20_000

_BAR = 32

Say = Callable[[str], None]
"""Writes one line."""


def write_text(report: LinksReport, out: TextIO, *, colour: bool = False) -> None:
    """Writes the whole report; with `colour` in the colours of a terminal."""

    def say(line: str) -> None:
        # A GitHub log takes `##[...]` anywhere in a line for a command; a space makes it words again.
        out.write(line.replace("##[", "## [") + "\n")

    paint = Palette(colour)
    figures = LinksFigures.of(report.result)
    short = url_shortener(figures.site)
    hidden = _write_tree(SiteTree(report.result.internal_urls, figures, MAX_UNREAD_BELOW), figures, short, paint, say)
    if report.show_external:
        hidden += _write_external(report.result.external_urls, figures, paint, say)
    _write_bad_links(report, short, paint, say)
    _write_summary(report, figures, hidden, paint, say)


def _write_tree(tree: SiteTree, figures: LinksFigures, short: Callable[[str], str], paint: Palette, say: Say) -> int:
    """Writes the tree; how many URLs it does not show."""
    # (a URL or how many more there are, the branches drawn before its own, whether it is its parent's last, levels below a root)
    stack: list[tuple[UrlInfo | int, str, bool, int]] = []

    def push(parent: str | None, prefix: str, level: int) -> None:
        below: list[UrlInfo | int] = [*tree.children(parent)]
        if hidden := tree.hidden(parent):
            below.append(hidden)
        last = len(below) - 1
        stack.extend((below[number], prefix, number == last, level) for number in range(last, -1, -1))

    push(None, "", 0)
    while stack:
        item, prefix, last, level = stack.pop()
        branch, below = "", prefix
        if level > _DEEPEST_INDENT:
            branch = f"{prefix}[{level}] "
        elif level > 0:
            branch = prefix + ("└── " if last else "├── ")
            below = prefix + ("    " if last else "│   ")
        if isinstance(item, int):
            say(paint.faint(f"{branch}… {item:,} more, not requested"))
            continue
        name = short(item.url) if level else paint.bold(readable_url(item.url))
        say(f"{paint.faint(branch)}{name}{_remarks(item, figures, short, paint)}")
        push(item.url, below, level + 1)
    return tree.all_hidden


def _remarks(info: UrlInfo, figures: LinksFigures, short: Callable[[str], str], paint: Palette) -> str:
    """What follows the name: how it came out when that is not plainly well, and the title."""
    failed = figures.failed.get(info.url)
    match figures.outcome(info):
        case UrlOutcome.BROKEN:
            words = paint.red("✗ " + _failure_words(info, failed.error_message if failed else ""))
        case UrlOutcome.BLOCKED:
            words = paint.yellow("⊘ " + _failure_words(info, failed.error_message if failed else ""))
        case UrlOutcome.REDIRECT:
            words = paint.cyan(f"{info.status_code} → {short(info.redirect_to)}" if info.redirect_to else str(info.status_code))
        case UrlOutcome.UNREAD:
            words = paint.faint(f"· not requested: {printable(info.not_fetched)}" if info.not_fetched else "· not requested")
        case _:
            words = "" if info.status_code == 200 else paint.faint(str(info.status_code))
    title = paint.faint(clip(printable(info.title), 60))
    return "".join(f"  {piece}" for piece in (words, title) if piece)


def _failure_words(info: UrlInfo, message: str) -> str:
    return format_status(info.status_code) if info.status_code is not None else printable(message) or "no answer"


def _write_external(infos: Collection[UrlInfo], figures: LinksFigures, paint: Palette, say: Say) -> int:
    """Writes the list, by name; how many URLs it does not show."""

    def is_unread(info: UrlInfo) -> bool:
        return figures.outcome(info) is UrlOutcome.UNREAD

    shown = nsmallest(_MOST_EXTERNAL, infos, key=lambda info: (is_unread(info), info.url))
    if shown:
        say(f"\n{paint.bold('External links')} ({len(infos):,})")
    for info in sorted(shown, key=lambda info: info.url):
        # An external URL is requested only for a check; that it was not is nothing to remark on.
        say(f"  {readable_url(info.url)}{'' if is_unread(info) else _remarks(info, figures, readable_url, paint)}")
    hidden = len(infos) - len(shown)
    if hidden:
        say(paint.faint(f"  … {hidden:,} more"))
    return hidden


def _write_bad_links(report: LinksReport, short: Callable[[str], str], paint: Palette, say: Say) -> None:
    headings: tuple[tuple[BrokenKind, str], ...] = (
        ("broken", "Broken links"),
        ("fragment", "Links to missing fragments"),
        ("blocked", "Blocked links, which a visitor may be able to open"),
    )
    for kind, heading in headings:
        links = [link for link in report.broken if link.kind == kind]
        if links:
            say(f"\n{paint.bold(heading)} ({len(links):,})")
        for link in links:
            _write_bad_link(link, short, paint, say)
    if report.checked and not report.broken:
        say(f"\n{report.all_well}.")


def _write_bad_link(link: BrokenLink, short: Callable[[str], str], paint: Palette, say: Say) -> None:
    mark = paint.yellow("⊘") if link.kind == "blocked" else paint.red("✗")
    say(f"{mark} {readable_url(link.url)}  {paint.faint(printable(link.error))}")
    places = list(Counter((source.page_url, source.anchor_text) for source in link.sources).items())
    for (page, anchor), times in places[:_PLACES]:
        text = clip(printable(anchor), 60)
        say(f"    on {short(page)}" + (f"  “{text}”" if text else "") + (f"  {times} times" if times > 1 else ""))
    if len(places) > _PLACES:
        say(paint.faint(f"    and {format_count(len(places) - _PLACES, 'more place')}"))


def _write_summary(report: LinksReport, figures: LinksFigures, hidden: int, paint: Palette, say: Say) -> None:
    result = report.result
    say(f"\n{paint.bold('Summary')}")
    lines = [("URLs", f"{result.total_processed:,} requested of {result.total_found:,} found")]
    if result.external_urls:
        lines.append(("External", f"{len(result.external_urls):,}"))
    if hidden:
        lines.append(("Not shown", f"{format_count(hidden, 'URL')}; the forms json and csv have all of them"))
    lines.append(("Status", "   ".join(f"{label}: {count:,}" for label, count in figures.statuses) or "none"))
    if result.failed_urls:
        lines.append(("Failed", f"{len(result.failed_urls):,}"))
    if report.checked or report.broken:
        lines.append(("Links", _link_counts(report.broken, is_whole=not result.stopped)))
    lines.append(("Time", f"{format_duration(result.crawl_duration)}, {figures.rate:.1f} pages a second"))
    lines.extend(("Trap", f"cut off {printable(' '.join((trap.pattern, trap.reason)))}") for trap in result.traps)
    if result.stopped:
        lines.append(("Stopped", printable(result.stopped)))
    for label, words in lines:
        say(f"  {label:<9} {words}")
    _write_depths(figures.depths, paint, say)


def _link_counts(links: tuple[BrokenLink, ...], *, is_whole: bool) -> str:
    counts = [(sum(link.kind == kind for link in links), kind) for kind in ("broken", "fragment", "blocked")]
    words = {"broken": "broken", "fragment": "to a missing fragment", "blocked": "blocked"}
    return ", ".join(f"{count:,} {words[kind]}" for count, kind in counts if count) or (
        "every one works" if is_whole else "every one that was tried works"
    )


def _write_depths(depths: tuple[tuple[int, int], ...], paint: Palette, say: Say) -> None:
    bars = limit_columns([(str(depth), count) for depth, count in depths])
    most = max((count for _, count in bars), default=0)
    for depth, count in bars:
        bar = "█" * max(1 if count else 0, round(_BAR * count / most))
        say(f"  Depth {depth:<3} {paint.cyan(bar)}{' ' if bar else ''}{count:,}")


_TITLES = {"broken": "Broken link", "blocked": "Blocked link", "fragment": "Missing fragment"}


def write_annotations(links: Iterable[BrokenLink], out: TextIO) -> None:
    """An error for each broken link, a warning for each blocked one, and a notice that counts what GitHub would drop."""
    out.writelines(line + "\n" for line in annotation_commands(links))


def annotation_commands(links: Iterable[BrokenLink]) -> Iterator[str]:
    """The commands, one a line."""
    seen = {"error": 0, "warning": 0}
    for link in links:
        level = "warning" if link.kind == "blocked" else "error"
        seen[level] += 1
        if seen[level] <= MAX_ANNOTATIONS:
            yield workflow_command(level, _TITLES[link.kind], _annotation_message(link))
    hidden = sum(max(0, count - MAX_ANNOTATIONS) for count in seen.values())
    if hidden:
        yield workflow_command(
            "notice", "More links", f"{format_count(hidden, 'more link')} with problems; the report has all of them."
        )


def _annotation_message(link: BrokenLink) -> str:
    message = f"{printable(link.url)}: {printable(link.error)}"
    if link.sources:
        first = link.sources[0]
        text = clip(printable(first.anchor_text), 80)
        message += f"\nlinked from {printable(first.page_url)}" + (f" as “{text}”" if text else "")
        if len(link.sources) > 1:
            message += f" and {format_count(len(link.sources) - 1, 'more place')}"
    return message
