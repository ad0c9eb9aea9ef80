"""The formats for builds: SARIF, JUnit, GitLab's code quality report, Markdown, and annotations of a GitHub workflow.

SARIF, JUnit and code quality have one result for each place of a link that does not work: a page, or a line of a local file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from tadoru.i18n.translation import N_, Translator, translator
from tadoru.jobs.links.report.figures import BAD_LINK_KINDS, HostFigures, LinksFigures, LinksReport, format_place
from tadoru.jobs.links.result import BrokenKind, BrokenLink, LinkSource
from tadoru.jobs.reporting import build_formats
from tadoru.jobs.reporting.escape import (
    below_folder,
    clip,
    escape_markdown,
    markdown_link,
    printable,
    readable_url,
    url_host,
    url_shortener,
)
from tadoru.jobs.reporting.formatting import format_duration
from tadoru.jobs.reporting.output import limit_annotations, workflow_command

MAX_CHARACTERS = 45_000
"""Maximum size of the lists in Markdown: a comment on a pull request may have 65,536 characters."""
_MAX_SOURCES = 5
"""Places of a link that Markdown lists."""
_MAX_HOSTS = 20


class LinkRule(NamedTuple):
    """A kind of link that does not work, as build servers know it."""

    id: str
    title: str
    help: str
    level: str
    """Of SARIF and GitHub: `error` or `warning`."""
    severity: str
    """Of GitLab."""


RULES: dict[BrokenKind, LinkRule] = {
    "broken": LinkRule(
        "broken-link", N_("Broken link"), N_("The target of the link cannot be opened. Correct the link or remove it."),
        "error", "major",
    ),
    "fragment": LinkRule(
        "missing-fragment", N_("Missing fragment"),
        N_("The page exists, but no element has the ID after #. Correct the fragment, or add the ID to the page."),
        "error", "minor",
    ),
    "blocked": LinkRule(
        "blocked-link", N_("Blocked link"),
        N_("The server blocks crawlers, so that the link could not be checked. Open it in a browser."),
        "warning", "info",
    ),
}  # fmt: skip
_HEADINGS: dict[BrokenKind, str] = {
    "broken": N_("Broken links"),
    "fragment": N_("Links to missing fragments"),
    "blocked": N_("Blocked links"),
}
_SIGNS: dict[BrokenKind, str] = {"broken": "🔴", "fragment": "🟠", "blocked": "🟣"}


class LinkOccurrence(NamedTuple):
    """One place of a link that does not work."""

    link: BrokenLink
    source: LinkSource | None
    """None for a start URL, which nothing links to."""
    number: int
    """How many places before it have the same link, page and text."""

    @property
    def rule(self) -> LinkRule:
        return RULES[self.link.kind]

    @property
    def place(self) -> build_formats.ResultPlace:
        if self.source is None:
            return build_formats.ResultPlace(self.link.url)
        return build_formats.ResultPlace(self.source.file or self.source.page_url, self.source.line, self.source.column)

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies it across runs: not the line, which changes with every edit above it."""
        text = self.source.anchor_text if self.source is not None else ""
        return self.rule.id, _portable(self.link.url), _portable(self.place.uri), text, str(self.number)

    def message(self, _: Translator) -> str:
        """What is wrong, in one line."""
        text = f"{_(self.rule.title)}: {readable_url(_portable(self.link.url))} ({printable(_.text(self.link.error))})"
        anchor = clip(printable(self.source.anchor_text), 80) if self.source is not None else ""
        return f"{text} “{anchor}”" if anchor else text


def _portable(url: str) -> str:
    """The URL, or the path of a local file relative to this folder: the same on every machine."""
    return below_folder(url, Path.cwd().as_uri()) or url


def link_occurrences(links: Iterable[BrokenLink]) -> Iterator[LinkOccurrence]:
    """Every place of every link, in the order of the report."""
    for link in links:
        seen: Counter[tuple[str, str]] = Counter()
        for source in link.sources:
            key = (source.file or source.page_url, source.anchor_text)
            yield LinkOccurrence(link, source, seen[key])
            seen[key] += 1
        if not link.sources:
            yield LinkOccurrence(link, None, 0)


def write_sarif(report: LinksReport, out: TextIO) -> None:
    """Writes a SARIF log with a rule for each kind of problem."""
    _, result = report.translate, report.result
    run = build_formats.SarifRun(
        id=f"links/{result.start_url}",
        lang=report.lang,
        rules=[_sarif_rule(rule, _) for rule in RULES.values()],
        invocation={"executionSuccessful": result.stopped is None},
        properties={"requested": result.total_processed, "found": result.total_found},
    )
    indexes = {rule.id: index for index, rule in enumerate(RULES.values())}
    results = (
        build_formats.sarif_result(each.rule.id, indexes[each.rule.id], each.rule.level, each.message(_), each.place, each.key)
        for each in link_occurrences(report.broken)
    )
    build_formats.write_sarif_log(run, results, out)


def _sarif_rule(rule: LinkRule, _: Translator) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.id.title().replace("-", ""),
        "shortDescription": {"text": _(rule.title)},
        "fullDescription": {"text": _(rule.help)},
        "help": {"text": _(rule.help), "markdown": _(rule.help)},
        "defaultConfiguration": {"level": rule.level},
        "properties": {"tags": ["links"]},
    }


def write_code_quality(report: LinksReport, out: TextIO) -> None:
    """Writes GitLab's code quality report."""
    _ = report.translate
    issues = (
        build_formats.code_quality_issue(each.rule.id, each.rule.severity, each.message(_), each.place, each.key)
        for each in link_occurrences(report.broken)
    )
    build_formats.write_json_list(issues, out)
    out.write("\n")


def write_junit(report: LinksReport, out: TextIO) -> None:
    """Writes a test suite with a failed case for each place of a link that does not work; blocked links are skipped cases."""
    _, result, figures = report.translate, report.result, LinksFigures.of(report.result)
    site = url_host(result.start_url)
    cases = [_junit_case(each, _) for each in link_occurrences(report.broken)]
    suite = build_formats.JunitSuite(
        name=_("Links of {site}", site=site),
        timestamp=f"{figures.first_seen:%Y-%m-%dT%H:%M:%S}" if figures.first_seen else "1970-01-01T00:00:00",
        hostname=site,
        properties={"start_url": result.start_url, "requested": result.total_processed, "found": result.total_found},
        cases=cases or [build_formats.JunitCase(name=report.describe_success(), class_name=site)],
    )
    build_formats.write_junit_suites("tadoru links", [suite], out)


def _junit_case(each: LinkOccurrence, _: Translator) -> build_formats.JunitCase:
    link, place = each.link, each.place
    shown = format_place(each.source) if each.source is not None else readable_url(link.url)
    return build_formats.JunitCase(
        name=f"{_(each.rule.title)}: {readable_url(_portable(link.url))}",
        class_name=place.uri,
        outcome="skipped" if link.kind == "blocked" else "failed",
        message=printable(_.text(link.error)),
        type=each.rule.id,
        lines=(f"{shown}\n{each.message(_)}\n{_(each.rule.help)}\n",),
        place=place if each.source is not None and each.source.file is not None else None,
    )


def write_markdown(report: LinksReport, out: TextIO) -> None:
    """Writes Markdown for a pull request or the summary of a workflow: figures, links that do not work, and external hosts."""
    _, result = report.translate, report.result
    figures = LinksFigures.of(result)
    out.write(f"## {escape_markdown(_('Links of {site}', site=url_host(result.start_url)))}\n\n")
    requested, found = _.number(result.total_processed), _.number(result.total_found)
    text = _("{requested} requested of {found} found", requested=requested, found=found)
    out.write(f"{text}, {format_duration(result.crawl_duration, _)}.\n")
    if report.checked and not report.broken:
        out.write(f"\n✅ {report.describe_success()}\n")
    available = MAX_CHARACTERS
    for kind in BAD_LINK_KINDS:
        available = _write_markdown_links(kind, [link for link in report.broken if link.kind == kind], figures, available, _, out)
    if hosts := report.hosts():
        out.writelines(_markdown_hosts(hosts, _))


def _write_markdown_links(
    kind: BrokenKind, links: list[BrokenLink], figures: LinksFigures, available: int, _: Translator, out: TextIO
) -> int:
    """Writes the links of a kind as far as they fit. Returns the characters that are left."""
    if not links:
        return available
    is_open = " open" if kind != "blocked" else ""
    heading = escape_markdown(f"{_(_HEADINGS[kind])} ({_.number(len(links))})")
    out.write(f"\n<details{is_open}><summary>{_SIGNS[kind]} {heading}</summary>\n\n")
    for number, link in enumerate(links):
        block = "".join(_markdown_link_lines(link, figures, _))
        if len(block) > available:
            more = _.ngettext("{count} more link", "{count} more links", len(links) - number)
            out.write(f"\n… {more}\n")
            break
        available -= len(block)
        out.write(block)
    out.write("\n</details>\n")
    return available


def _markdown_link_lines(link: BrokenLink, figures: LinksFigures, _: Translator) -> Iterator[str]:
    short = url_shortener(figures.site)
    yield f"- {markdown_link(link.url, readable_url(_portable(link.url)))} – {escape_markdown(_.text(link.error))}\n"
    for source in link.sources[:_MAX_SOURCES]:
        text = escape_markdown(clip(printable(source.anchor_text), 80))
        page = escape_markdown(format_place(source)) if source.file else markdown_link(source.page_url, short(source.page_url))
        yield "  - " + _("on {page}", page=page) + (f" “{text}”\n" if text else "\n")
    hidden = len(link.sources) - _MAX_SOURCES
    if hidden > 0:
        yield "  - " + _.ngettext("and {count} more place", "and {count} more places", hidden) + "\n"


def _markdown_hosts(hosts: list[HostFigures], _: Translator) -> Iterator[str]:
    heads = (_("Host"), _("Checked"), _("Broken"), _("Blocked"), _("Redirects"))
    yield f"\n<details><summary>{_('External hosts')} ({_.number(len(hosts))})</summary>\n\n"
    yield f"| {' | '.join(heads)} |\n|---|---:|---:|---:|---:|\n"
    for host in hosts[:_MAX_HOSTS]:
        counts = (host.checked, host.broken, host.blocked, host.redirects)
        yield f"| {escape_markdown(host.host)} | {' | '.join(map(_.number, counts))} |\n"
    if len(hosts) > _MAX_HOSTS:
        yield f"\n… {_('{count} more', count=_.number(len(hosts) - _MAX_HOSTS))}\n"
    yield "\n</details>\n"


def write_annotations(links: Iterable[BrokenLink], out: TextIO, *, lang: str = "en") -> None:
    """Writes GitHub annotations: an error for each broken link, a warning for each blocked one, and the number of hidden ones."""
    out.writelines(line + "\n" for line in annotation_commands(links, translator(lang)))


def annotation_commands(links: Iterable[BrokenLink], _: Translator) -> Iterator[str]:
    """The workflow commands, one a line; those of local files appear at their lines."""

    def more(count: int) -> str:
        message = _.ngettext(
            "{count} more link with problems. The report lists all of them.",
            "{count} more links with problems. The report lists all of them.",
            count,
        )
        return workflow_command("notice", _("More links"), message)

    return limit_annotations(((RULES[link.kind].level, _annotation(link, _)) for link in links), more)


def _annotation(link: BrokenLink, _: Translator) -> str:
    first = link.sources[0] if link.sources and link.sources[0].file else None
    place = {"file": first.file, "line": first.line, "col": first.column} if first is not None else {}
    return workflow_command(RULES[link.kind].level, _(RULES[link.kind].title), _annotation_message(link, _), **place)


def _annotation_message(link: BrokenLink, _: Translator) -> str:
    message = f"{printable(_portable(link.url))}: {printable(_.text(link.error))}"
    if link.sources:
        first = link.sources[0]
        text = clip(printable(first.anchor_text), 80)
        page = printable(format_place(first) if first.file else first.page_url)
        message += "\n" + _("linked from {page}", page=page) + (f" “{text}”" if text else "")
        if len(link.sources) > 1:
            message += " " + _.ngettext("and {count} more place", "and {count} more places", len(link.sources) - 1)
    return message
