"""Gates: what makes `--fail-on` end a command with exit code 10.

`--fail-on broken` is any broken link; `--fail-on "broken>5,blocked"` is more than five, or any blocked one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tadoru.errors import UsageError
from tadoru.jobs.links.result import CrawlResult

_NAMES = {
    "broken": ("broken link", "broken links"),
    "blocked": ("blocked link", "blocked links"),
    "fragment": ("link to a missing fragment", "links to missing fragments"),
    "redirects": ("redirect", "redirects"),
    "errors": ("failed URL", "failed URLs"),
    "any": ("link that does not work", "links that do not work"),
}


@dataclass(frozen=True, slots=True)
class Gate:
    """More than `limit` of `name` is too many."""

    name: str
    limit: int = 0

    def exceeded(self, result: CrawlResult) -> str | None:
        count = count_of(self.name, result)
        if count <= self.limit:
            return None
        one, many = _NAMES[self.name]
        allowed = f"at most {self.limit} allowed" if self.limit else "none allowed"
        return f"{count:,} {one if count == 1 else many}, {allowed}."


@dataclass(frozen=True, slots=True)
class Gates:
    """Every gate of one `--fail-on`."""

    gates: tuple[Gate, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Gates:
        """Reads `broken>5,blocked`. Raises UsageError."""
        return cls(tuple(_parse_gate(part.strip()) for part in text.split(",")))

    def exceeded(self, result: CrawlResult) -> list[str]:
        """One sentence for each gate that was passed; empty when all is well."""
        return [sentence for gate in self.gates if (sentence := gate.exceeded(result))]


def count_of(name: str, result: CrawlResult) -> int:
    """How many there are of what a gate counts. `any` is every link that does not work; a redirect is none."""
    match name:
        case "broken" | "fragment":
            return sum(link.kind == name for link in result.broken_links)
        case "blocked":
            return len(result.blocked_links)
        case "redirects":
            return len(result.redirects)
        case "errors":
            return len(result.failed_urls)
        case _:
            return len(result.bad_links)


def _parse_gate(part: str) -> Gate:
    match = re.fullmatch(r"([a-z]+)\s*(?:(>=?)\s*([0-9]{1,9}))?", part, re.ASCII)
    if match is None or match[1] not in _NAMES:
        names = ", ".join(_NAMES)
        raise UsageError(f"--fail-on takes {names}, each with a limit if you like (broken>5); “{part}” is none of them.")
    if match[2] is None:
        return Gate(match[1])
    limit = int(match[3]) - (match[2] == ">=")
    if limit < 0:
        raise UsageError(f"--fail-on {part} would always fail; write {match[1]}>0.")
    return Gate(match[1], limit)
