"""From two names to a written comparison: opening, walking, writing, judging, in the one pass that all of it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from tadoru.clock import Clock
from tadoru.jobs.audit.compare.comparison import Comparison, compare
from tadoru.jobs.audit.compare.gates import CompareGates
from tadoru.jobs.audit.compare.html import write_html
from tadoru.jobs.audit.compare.json_form import JsonForm
from tadoru.jobs.audit.compare.markdown import write_markdown
from tadoru.jobs.audit.compare.sides import Side, open_both, rewriting
from tadoru.jobs.audit.compare.text import write_text
from tadoru.jobs.audit.compare.texts import SENTENCES

FORMS = ("text", "json", "markdown", "html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a comparison shall be."""

    names: Sequence[str]
    """`FILE` or `FILE@RUN`, one or two."""
    maps: Sequence[str] = ()
    form: str = "text"
    lang: str = "en"
    shown: int = 20
    """How many examples of each kind; the JSON form has everything."""
    fail_on: Sequence[str] = ()
    colour: bool = False


class Job:
    """A comparison with everything checked that can be, before a byte is written."""

    def __init__(self, order: Order, before: Side, after: Side, gates: CompareGates, severities: dict[str, str]) -> None:
        self._order = order
        self._sides = before, after
        self._gates = gates
        self._severities = severities
        self._rewrite = rewriting(order.maps)

    @classmethod
    async def open(cls, order: Order, clock: Clock) -> Job:
        """Raises UsageError."""
        rewriting(order.maps)
        before, after = await open_both(order.names, clock)
        try:
            words = {check.id: check for side in (before, after) for check in (await side.store.check_words()).values()}
            gates = CompareGates.parse(order.fail_on, words.values())
        except BaseException:
            await before.close()
            await after.close()
            raise
        return cls(order, before, after, gates, {check.id: check.severity for check in words.values()})

    async def write(self, out: TextIO) -> list[str]:
        """Compare, and write it; the sentences of the gates that were exceeded."""
        result = await (self._write_json(out) if self._order.form == "json" else self._write_summary(out))
        return self._gates.exceeded(result)

    async def close(self) -> None:
        for side in self._sides:
            await side.close()

    async def _write_json(self, out: TextIO) -> Comparison:
        form = JsonForm(*self._sides, self._severities, out)
        result = await compare(*self._sides, rewrite=self._rewrite, shown=0, sink=form.change)
        form.end(result, SENTENCES[self._order.lang])
        return result

    async def _write_summary(self, out: TextIO) -> Comparison:
        result = await compare(*self._sides, rewrite=self._rewrite, shown=self._order.shown)
        say = SENTENCES[self._order.lang]
        if self._order.form == "html":
            write_html(result, say, out)
        elif self._order.form == "markdown":
            write_markdown(result, say, out)
        else:
            write_text(result, say, out, colour=self._order.colour)
        return result
