"""GitHub workflow annotations for links that do not work, for runs where GITHUB_ACTIONS is true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TextIO

from tadoru.jobs.links.result import BrokenLink
from tadoru.jobs.report.escape import clip, printable
from tadoru.jobs.report.words import counted
from tadoru.jobs.report.workflow import SHOWN, command

_TITLES = {"broken": "Broken link", "blocked": "Blocked link", "fragment": "Missing fragment"}


def write_annotations(links: Iterable[BrokenLink], out: TextIO) -> None:
    """An error for each broken link, a warning for each blocked one, and a notice that counts what GitHub would drop."""
    out.writelines(line + "\n" for line in commands(links))


def commands(links: Iterable[BrokenLink]) -> Iterator[str]:
    """The commands, one a line."""
    seen = {"error": 0, "warning": 0}
    for link in links:
        level = "warning" if link.kind == "blocked" else "error"
        seen[level] += 1
        if seen[level] <= SHOWN:
            yield command(level, _TITLES[link.kind], _message(link))
    hidden = sum(max(0, count - SHOWN) for count in seen.values())
    if hidden:
        yield command("notice", "More links", f"{counted(hidden, 'more link')} with problems; the report has all of them.")


def _message(link: BrokenLink) -> str:
    message = f"{printable(link.url)}: {printable(link.error)}"
    if link.sources:
        first = link.sources[0]
        text = clip(printable(first.anchor_text), 80)
        message += f"\nlinked from {printable(first.page_url)}" + (f" as “{text}”" if text else "")
        if len(link.sources) > 1:
            message += f" and {counted(len(link.sources) - 1, 'more place')}"
    return message
