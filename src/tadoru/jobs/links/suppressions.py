r"""The suppression file: known links that do not work and are not reported, each with its reason.

    # one entry a line; a line that starts with a hash is a comment
    https://example.com/gone                                  # kept for history, ticket 12
    /^https://intranet\./                                     # only reachable from the office
    https://example.com/old   from=/archive/                  # the archive is not edited any more

An entry is a URL as in `jobs.suppressions`. `from=` limits it to links found on pages whose URL matches that regular expression.
Entries that match nothing are reported, so that they can be removed. `--write-suppressions` adds entries, each with a reason to
fill in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from tadoru.jobs.links.result import BrokenLink
from tadoru.jobs.reporting.escape import below_folder, printable
from tadoru.jobs.reporting.output import open_output
from tadoru.jobs.suppressions import SuppressionLine, parse_suppressions, read_suppression_file, url_pattern

UNFILLED = "reason?"
"""Stands for a reason that nobody has filled in yet."""


@dataclass(frozen=True, slots=True)
class LinkSuppression:
    """One line of the file."""

    line: int
    text: str
    target: re.Pattern[str]
    page: re.Pattern[str] | None
    reason: str

    @property
    def lacks_reason(self) -> bool:
        """Whether it was written by the command and nobody has filled in its reason."""
        return self.reason.startswith(UNFILLED)

    def covers(self, link: BrokenLink) -> bool:
        """Whether the target matches, whatever page it is linked from."""
        return self.target.search(link.url) is not None


@dataclass(frozen=True, slots=True)
class SuppressionResult:
    """The links that remain, and what was suppressed."""

    kept: tuple[BrokenLink, ...]
    suppressed: int
    """Links that are suppressed on all pages."""
    unused: tuple[LinkSuppression, ...]


@dataclass(frozen=True, slots=True)
class LinkSuppressions:
    """The entries of a file."""

    entries: tuple[LinkSuppression, ...] = ()

    @classmethod
    def parse(cls, text: str, name: str = "the suppression file") -> LinkSuppressions:
        """Parses the text of a file. Raises UsageError with the line number."""
        return cls(parse_suppressions(text, name, _parse_entry))

    def apply(self, links: Iterable[BrokenLink]) -> SuppressionResult:
        """Removes what the entries match: a whole link, or only the pages of `from=`."""
        kept, suppressed = [], 0
        used: set[int] = set()
        for link in links:
            left = self._reduce(link, used)
            if left is None:
                suppressed += 1
            else:
                kept.append(left)
        unused = tuple(entry for entry in self.entries if entry.line not in used)
        return SuppressionResult(tuple(kept), suppressed, unused)

    def _reduce(self, link: BrokenLink, used: set[int]) -> BrokenLink | None:
        sources, whole = link.sources, False
        for entry in self.entries:
            if not entry.covers(link):
                continue
            if entry.page is None:
                used.add(entry.line)
                whole = True
                continue
            page = entry.page
            if any(page.search(source.page_url) for source in link.sources):
                used.add(entry.line)
                sources = tuple(source for source in sources if not page.search(source.page_url))
        if whole or (link.sources and not sources):
            return None
        return replace(link, sources=sources)


def _parse_entry(line: SuppressionLine) -> LinkSuppression:
    target, found, page = (part.strip() for part in line.body.partition(" from="))
    if found and not page:
        raise ValueError("after from= comes a regular expression for the page")
    return LinkSuppression(line.number, line.text, url_pattern(target), re.compile(page) if found else None, line.reason)


def add_suppressions(name: str, links: Iterable[BrokenLink]) -> int:
    """Adds an entry to a file for each link that none of its entries covers on all pages. Returns how many. Raises UsageError."""
    known = read_suppression_file(name) if Path(name).is_file() else ""
    entries = [entry for entry in LinkSuppressions.parse(known, name).entries if entry.page is None]
    new = [link for link in links if not any(entry.covers(link) for entry in entries)]
    if new:
        with open_output(name) as out:
            out.write(known if known.endswith("\n") or not known else f"{known}\n")
            out.writelines(f"{_entry_of(link.url)}  # {UNFILLED} {printable(link.error)}\n" for link in new)
    return len(new)


def _entry_of(url: str) -> str:
    """The URL, or a regular expression for a link that is no URL or would be read otherwise.

    Of a local file it has the path in this folder, which is the same on every machine.
    """
    path = below_folder(url, Path.cwd().as_uri())
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s*]+", url) and url.isprintable():
        return url if path is None else f"file://*/{path}"
    return "/^" + "".join(re.escape(sign) if sign.isprintable() and sign != " " else r"[\s\S]" for sign in url) + "$/"
