"""The text format: the site as a tree, external URLs, links that do not work, and a summary.

Lines are streamed, and the tree is walked without recursion, so that neither the size nor the depth of a site matters. Of URLs
that were not requested, which may be millions, some are shown below each page, and the rest is counted; the formats JSON and CSV
have all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from heapq import nsmallest
from typing import TextIO

from tadoru.errors import Message
from tadoru.i18n.stored_texts import translate_reason
from tadoru.i18n.translation import N_, Translator
from tadoru.jobs.links.broken import format_status
from tadoru.jobs.links.report.figures import BAD_LINK_KINDS, HostFigures, LinksFigures, LinksReport, SiteTree, format_place
from tadoru.jobs.links.result import BrokenKind, BrokenLink, LinkSource, SkippedTrap, UrlInfo
from tadoru.jobs.reporting.charts import limit_columns
from tadoru.jobs.reporting.escape import clip, printable, readable_url, url_origin, url_shortener
from tadoru.jobs.reporting.formatting import Palette, display_width, format_duration, pad_text
from tadoru.jobs.reporting.graph_svg import UrlOutcome

MAX_UNREAD_BELOW = 200
"""URLs below a page that were not requested and are shown."""
_MAX_INDENT = 24
"""Levels that are indented. Below, a number shows the level; else the output of a chain of pages would grow with its square."""
_MAX_SOURCES = 10
"""Pages shown that link to a broken link."""
_MAX_EXTERNAL = 20_000
_MAX_HOSTS = 20
_BAR = 32
_LABEL = 9
_HEADINGS: dict[BrokenKind, str] = {
    "broken": N_("Broken links"),
    "fragment": N_("Links to missing fragments"),
    "blocked": N_("Blocked links (visitors may be able to open them)"),
}

WriteLine = Callable[[str], None]


def write_text(report: LinksReport, out: TextIO, *, colour: bool = False) -> None:
    """Writes the whole report; with `colour` in terminal colours."""

    def write_line(line: str) -> None:
        # A GitHub log takes `##[...]` anywhere in a line for a command, unless there is a space in it.
        out.write(line.replace("##[", "## [") + "\n")

    figures = LinksFigures.of(report.result)
    writer = _TextWriter(figures, report.translate, Palette(colour), write_line)
    writer.write_tree(SiteTree(report.result.internal_urls, figures, MAX_UNREAD_BELOW))
    if report.show_external:
        writer.write_external(report.result.external_urls)
    writer.write_hosts(report.hosts())
    writer.write_bad_links(report)
    writer.write_summary(report)


class _TextWriter:
    """Writes the parts of a report, and counts the URLs that they leave out."""

    def __init__(self, figures: LinksFigures, translate: Translator, paint: Palette, write_line: WriteLine) -> None:
        self._figures, self._translate, self._paint, self._write_line = figures, translate, paint, write_line
        self._short = url_shortener(figures.site)
        self._hidden = 0

    def write_tree(self, tree: SiteTree) -> None:
        """Writes the internal URLs as a tree."""
        _, paint = self._translate, self._paint
        # (a URL or the number of hidden ones, the branches before its own, whether it is the last child, levels below a root)
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
            if level > _MAX_INDENT:
                branch = f"{prefix}[{level}] "
            elif level > 0:
                branch = prefix + ("└── " if last else "├── ")
                below = prefix + ("    " if last else "│   ")
            if isinstance(item, int):
                more = _("{count} more, not requested", count=_.number(item))
                self._write_line(paint.faint(f"{branch}… {more}"))
                continue
            name = self._short(item.url) if level else paint.bold(readable_url(item.url))
            self._write_line(f"{paint.faint(branch)}{name}{self._remarks(item, url_shortener(url_origin(item.url)))}")
            push(item.url, below, level + 1)
        self._hidden += tree.all_hidden

    def _remarks(self, info: UrlInfo, short: Callable[[str], str]) -> str:
        """The outcome of a URL unless it is plainly OK, and its title."""
        _, paint = self._translate, self._paint
        failed = self._figures.failed.get(info.url)
        match self._figures.outcome(info):
            case UrlOutcome.BROKEN:
                text = paint.red("✗ " + self._failure(info, failed.error_message if failed else ""))
            case UrlOutcome.BLOCKED:
                text = paint.yellow("⊘ " + self._failure(info, failed.error_message if failed else ""))
            case UrlOutcome.REDIRECT:
                target = f" → {short(info.redirect_to)}" if info.redirect_to else ""
                text = paint.cyan(f"{info.status_code}{target}")
            case UrlOutcome.UNREAD:
                text = paint.faint(f"· {describe_not_requested(info, _)}")
            case _:
                text = "" if info.status_code == 200 else paint.faint(str(info.status_code))
        title = clip(printable(info.title), 60)
        if title in text:  # Many error pages are titled “404 Not Found”.
            title = ""
        return "".join(f"  {part}" for part in (text, paint.faint(title)) if part)

    def _failure(self, info: UrlInfo, message: str) -> str:
        _ = self._translate
        is_status = info.status_code is not None and not isinstance(message, Message)
        return format_status(info.status_code) if is_status else printable(_.text(message)) or _("no response")

    def write_external(self, infos: Collection[UrlInfo]) -> None:
        """Writes the external URLs in alphabetical order."""
        _, paint = self._translate, self._paint

        def is_unread(info: UrlInfo) -> bool:
            return self._figures.outcome(info) is UrlOutcome.UNREAD

        shown = nsmallest(_MAX_EXTERNAL, infos, key=lambda info: (is_unread(info), info.url))
        if shown:
            self._write_line("\n" + paint.bold(_("External URLs")) + f" ({_.number(len(infos))})")
        for info in sorted(shown, key=lambda info: info.url):
            # External URLs are requested only by a check, so that it is not worth mentioning that one was not.
            self._write_line(f"  {readable_url(info.url)}{'' if is_unread(info) else self._remarks(info, readable_url)}")
        hidden = len(infos) - len(shown)
        if hidden:
            self._write_line(paint.faint("  … " + _("{count} more", count=_.number(hidden))))
        self._hidden += hidden

    def write_hosts(self, hosts: list[HostFigures]) -> None:
        """Writes how the checked URLs of each external host responded."""
        _, paint = self._translate, self._paint
        if hosts:
            self._write_line(f"\n{paint.bold(_('External hosts'))} ({_.number(len(hosts))})")
        width = max((display_width(printable(host.host)) for host in hosts[:_MAX_HOSTS]), default=0)
        for host in hosts[:_MAX_HOSTS]:
            parts = [_("{count} checked", count=_.number(host.checked))]
            if host.broken:
                parts.append(paint.red(_("{count} broken", count=_.number(host.broken))))
            if host.blocked:
                parts.append(paint.yellow(_("{count} blocked", count=_.number(host.blocked))))
            if host.redirects:
                parts.append(_.ngettext("{count} redirect", "{count} redirects", host.redirects))
            self._write_line(f"  {pad_text(printable(host.host), width)}  {', '.join(parts)}")
        if len(hosts) > _MAX_HOSTS:
            self._write_line(paint.faint("  … " + _("{count} more", count=_.number(len(hosts) - _MAX_HOSTS))))

    def write_bad_links(self, report: LinksReport) -> None:
        """Writes the links that do not work, with the pages that contain them."""
        _, paint = self._translate, self._paint
        for kind in BAD_LINK_KINDS:
            links = [link for link in report.broken if link.kind == kind]
            if links:
                self._write_line(f"\n{paint.bold(_(_HEADINGS[kind]))} ({_.number(len(links))})")
            for link in links:
                self._write_bad_link(link)
        if report.checked and not report.broken:
            self._write_line(f"\n{report.describe_success()}")

    def _write_bad_link(self, link: BrokenLink) -> None:
        _, paint = self._translate, self._paint
        mark = paint.yellow("⊘") if link.kind == "blocked" else paint.red("✗")
        self._write_line(f"{mark} {readable_url(link.url)}  {paint.faint(printable(_.text(link.error)))}")
        sources = list(Counter((self._place(source), source.anchor_text) for source in link.sources).items())
        for (place, anchor), times in sources[:_MAX_SOURCES]:
            text = clip(printable(anchor), 60)
            line = "    " + _("on {page}", page=place) + (f"  “{text}”" if text else "")
            self._write_line(line + ("  " + _("{count} times", count=_.number(times)) if times > 1 else ""))
        if len(sources) > _MAX_SOURCES:
            more = _.ngettext("and {count} more place", "and {count} more places", len(sources) - _MAX_SOURCES)
            self._write_line(paint.faint(f"    {more}"))

    def _place(self, source: LinkSource) -> str:
        return format_place(source) if source.file else self._short(source.page_url)

    def write_summary(self, report: LinksReport) -> None:
        """Writes the figures."""
        _ = self._translate
        self._write_line("\n" + self._paint.bold(_("Summary")))
        lines = list(self._summary_lines(report))
        width = max(_LABEL, *(display_width(label) for label, text in lines))
        for label, text in lines:
            self._write_line(f"  {pad_text(label, width)} {text}")
        bars = limit_columns([(str(depth), count) for depth, count in self._figures.depths])
        largest = max((count for label, count in bars), default=0)
        for depth, count in bars:
            bar = "█" * max(1 if count else 0, round(_BAR * count / largest))
            label = pad_text(_("Depth {depth}", depth=f"{depth:<3}"), width)
            self._write_line(f"  {label} {self._paint.cyan(bar)}{' ' if bar else ''}{_.number(count)}")

    def _summary_lines(self, report: LinksReport) -> Iterator[tuple[str, str]]:
        _, result = self._translate, report.result
        requested, found = _.number(result.total_processed), _.number(result.total_found)
        yield _("URLs"), _("{requested} requested of {found} found", requested=requested, found=found)
        if result.external_urls:
            yield _("External"), _.number(len(result.external_urls))
        if self._hidden:
            text = _.ngettext(
                "{count} URL; the formats json and csv have all of them",
                "{count} URLs; the formats json and csv have all of them",
                self._hidden,
            )
            yield _("Not shown"), text
        yield _("Status"), "   ".join(f"{_(name)}: {_.number(count)}" for name, count in self._figures.statuses) or _("none")
        if result.failed_urls:
            yield _("Failed"), _.number(len(result.failed_urls))
        if report.checked or report.broken:
            yield _("Links"), _link_counts(report, _)
        duration, rate = format_duration(result.crawl_duration, _), f"{self._figures.rate:.1f}"
        yield _("Duration"), _("{duration}, {rate} pages per second", duration=duration, rate=rate)
        for trap in result.traps:
            yield _("Trap"), describe_trap(trap, _)
        if result.stopped:
            yield _("Stopped"), printable(translate_stop(result.stopped, _))


def describe_trap(trap: SkippedTrap, _: Translator) -> str:
    """The pattern of an endless URL space, and why it was skipped."""
    return printable(f"{trap.pattern} ({translate_reason(trap.reason, _)})" if trap.reason else trap.pattern)


def describe_not_requested(info: UrlInfo, _: Translator) -> str:
    """That a URL was not requested, and why."""
    if not info.not_fetched:
        return _("not requested")
    return _("not requested: {reason}", reason=printable(translate_reason(info.not_fetched, _)))


def translate_stop(reason: str, _: Translator) -> str:
    """The reason why a crawl stopped; a stored reason is translated if it is a message."""
    translated = _.text(reason)
    return _(reason) if translated == reason else translated


def _link_counts(report: LinksReport, _: Translator) -> str:
    counts = {kind: sum(link.kind == kind for link in report.broken) for kind in BAD_LINK_KINDS}
    parts = []
    if counts["broken"]:
        parts.append(_("{count} broken", count=_.number(counts["broken"])))
    if counts["fragment"]:
        parts.append(_("{count} to a missing fragment", count=_.number(counts["fragment"])))
    if counts["blocked"]:
        parts.append(_("{count} blocked", count=_.number(counts["blocked"])))
    return ", ".join(parts) or (_("all checked links work") if report.result.stopped else _("all work"))
