"""What an export is asked for, and whether that makes sense: tables, filters and options, before a database is opened.

A filter that a table can not understand is refused: one that silently did nothing would be taken for an answer.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.dot import NODES
from tadoru.store.dump import Selection, unused_filters
from tadoru.store.dump_tables import TABLES
from tadoru.store.values import PageStatus

_CODES = re.compile(r"(?P<one>[1-9]\d\d)(?:\.\.(?P<last>[1-9]\d\d))?|(?P<hundred>[1-9])xx", re.IGNORECASE)


class Form(NamedTuple):
    """A form of export."""

    suffix: str
    of_tables: bool
    is_text: bool
    """Can be one stream of text, and compressed by gzip."""
    own: tuple[str, ...] = ()
    """The options that mean something to this form only."""


FORMS: dict[str, Form] = {
    "csv": Form(".csv", of_tables=True, is_text=True, own=("raw", "bom")),
    "jsonl": Form(".jsonl", of_tables=True, is_text=True),
    "parquet": Form(".parquet", of_tables=True, is_text=False),
    "xlsx": Form(".xlsx", of_tables=True, is_text=False),
    "sitemap": Form(".xml", of_tables=False, is_text=True, own=("base_url",)),
    "warc": Form(".warc.gz", of_tables=False, is_text=False),
    "dot": Form(".dot", of_tables=False, is_text=True, own=("limit_nodes",)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One export."""

    form: str
    tables: tuple[str, ...] = ("pages",)
    chosen: Selection = field(default_factory=Selection)
    output: str | None = None
    gzip: bool = False
    raw: bool = False
    bom: bool = False
    base_url: str | None = None
    limit_nodes: int = NODES

    @property
    def compressed(self) -> bool:
        """By gzip: asked for, or by the name of the file."""
        return FORMS[self.form].is_text and (self.gzip or (self.output or "").endswith(".gz"))

    @property
    def to_stdout(self) -> bool:
        return self.output in (None, "-")

    def check(self) -> None:
        """Raises UsageError."""
        form = FORMS[self.form]
        for name, other in FORMS.items():
            for option in other.own if name != self.form else ():
                if getattr(self, option) != Order.__dataclass_fields__[option].default:
                    flag = option.replace("_", "-")
                    raise UsageError(f"--{flag} means nothing to --format {self.form}: it belongs to --format {name}.")
        if self.gzip and not form.is_text:
            raise UsageError(f"--gzip means nothing to --format {self.form}, which is compressed as it is: leave it out.")
        if self.to_stdout and not form.is_text:
            raise UsageError(f"--format {self.form} is not text: give -o and the name of a file, such as crawl{form.suffix}.")
        self._check_tables()

    def _check_tables(self) -> None:
        if not FORMS[self.form].of_tables:
            if self.tables != ("pages",) or self.chosen != Selection():
                raise UsageError(f"--format {self.form} writes what it is made of: leave out --table and the filters.")
            return
        if len(self.tables) > 1 and self.to_stdout:
            raise UsageError("Several tables are several files: give -o and the name of a folder, or one --table.")
        for table in self.tables:
            for flag in unused_filters(table, self.chosen):
                raise UsageError(f"{flag} means nothing to the table {table}: leave it out, or choose other tables by --table.")


def tables(words: Iterable[str]) -> tuple[str, ...]:
    """Table names, separated by commas or given one by one; `all`. Raises UsageError."""
    names = [name for word in words for name in word.split(",") if name]
    if "all" in names:
        return tuple(TABLES)
    for name in names:
        if name not in TABLES:
            raise UsageError(f"There is no table {_hint(name, [*TABLES, 'all'])}.")
    return tuple(dict.fromkeys(names)) or ("pages",)


def statuses(words: Iterable[str]) -> tuple[tuple[tuple[int, int], ...], tuple[str, ...]]:
    """`404`, `4xx`, `300..399`, `skipped`: ranges of status codes, and names of states. Raises UsageError."""
    codes: list[tuple[int, int]] = []
    states: list[str] = []
    for part in (part.strip() for word in words for part in word.split(",") if part.strip()):
        if match := _CODES.fullmatch(part):
            low = int(match["one"] or match["hundred"] + "00")
            codes.append((low, low + 99 if match["hundred"] else int(match["last"] or low)))
        elif part in tuple(PageStatus):
            states.append(part)
        else:
            known = ", ".join(PageStatus)
            raise UsageError(f"--status takes codes such as 404, 4xx or 300..399, and {known}; “{part}” is none of them.")
    return tuple(codes), tuple(states)


def check_names(names: Iterable[str], known: list[str]) -> None:
    """Whether the crawl was judged by these checks. Raises UsageError."""
    for name in names:
        if name not in known:
            if not known:
                raise UsageError("This crawl was not audited, so that there are no checks to choose by: leave out --check.")
            raise UsageError(f"There is no check {_hint(name, known)}.")


def _hint(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"“{name}”: did you mean “{near[0]}”?" if near else f"“{name}”: choose one of {', '.join(known)}"
