"""What somebody asks of a crawl: the parameters of its lists and exports, and the filters they stand for. Pure.

A parameter with a slip of the pen is told, not ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tadoru.errors import UsageError
from tadoru.jobs.audit.export.choose import statuses
from tadoru.jobs.audit.reading import LinkFilter, PageFilter
from tadoru.serve.rest.models import LARGEST
from tadoru.store.dump import Selection
from tadoru.store.dump_tables import TABLES
from tadoru.store.places import LONGEST

Severity = Literal["error", "warning", "notice", "info"]
Form = Literal["csv", "jsonl", "parquet", "xlsx", "sitemap", "dot"]
Sort = Literal["url", "depth", "found", "title", "status_code", "response_ms", "size", "inlinks", "link_score"]
Page = Annotated[int, Field(ge=1, le=LARGEST)]
CheckName = Annotated[str, Field(max_length=100)]
_STATUS = Field(
    None, max_length=200, description="What stands or answered so: 404, 4xx, 300..399, skipped.", examples=["4xx,error"]
)
_TABLES: dict[str, Any] = {"items": {"type": "string", "enum": list(TABLES)}}
_WHOSE: dict[str, bool | None] = {"site": True, "others": False, "all": None}


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class _WithStatus(_Asked):
    status: str | None = _STATUS

    @field_validator("status")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        try:
            statuses([value or ""])
        except UsageError as error:
            raise ValueError(str(error).removeprefix("--")) from None
        return value

    def standing(self) -> dict[str, Any]:
        """Ranges of codes and names of states, as filters take them."""
        codes, states = statuses([self.status or ""])
        return {"codes": codes, "statuses": states}


class _List(BaseModel):
    limit: int = Field(50, ge=1, le=200, description="At most so many.")
    cursor: str | None = Field(None, max_length=LONGEST, description="Where the list goes on, as `next` says.")


class PagesAsked(_WithStatus, _List):
    """Which pages, how many, and in what order."""

    of: Literal["site", "others", "all"] = Field("site", description="URLs of the site, of other sites, or all.")
    q: str | None = Field(None, max_length=200, description="With this text in their URL or title.", examples=["about"])
    depth: int | None = Field(None, ge=0, le=1000, description="At this depth; 1000: no link leads there.")
    indexable: bool | None = Field(None, description="What a search engine may show, or may not.")
    content_type: str | None = Field(None, max_length=100, description="How it begins.", examples=["text/html"])
    check: CheckName | None = Field(None, description="With a finding of this check.", examples=["title-missing"])
    sort: Sort = Field("url", description="The order.")
    order: Literal["up", "down"] | None = Field(None, description="The smallest or the largest first.")

    def filter(self) -> PageFilter:
        """What is read."""
        return PageFilter(
            internal=_WHOSE[self.of], q=self.q or "", depth=self.depth, indexable=self.indexable, check=self.check or "",
            content_type=self.content_type or "", **self.standing(),
        )  # fmt: skip


class LinksAsked(_List, _Asked):
    """Which links, and how many."""

    source: Page | None = Field(None, description="From this page.")
    target: Page | None = Field(None, description="To this page.")
    internal: bool | None = Field(None, description="Those that stay on the site, or that leave it.")
    broken: bool = Field(False, description="Only those whose target does not answer, or with an error.")
    nofollow: bool | None = Field(None, description="Those that say nofollow, or do not.")
    q: str | None = Field(None, max_length=200, description="With this text in their target or in their words.")

    def filter(self) -> LinkFilter:
        """What is read."""
        return LinkFilter(
            source=self.source, target=self.target, internal=self.internal, broken=self.broken, nofollow=self.nofollow,
            q=self.q or "",
        )  # fmt: skip


class ExportAsked(_WithStatus):
    """Which form, of what."""

    form: Form = Field(alias="format", description="The form.")
    table: list[str] = Field(
        ["pages"], min_length=1, max_length=len(TABLES), description="Which table; several for xlsx.", json_schema_extra=_TABLES
    )
    severity: Severity | None = Field(None, description="Findings of this severity, or pages that have one.")
    check: CheckName | None = Field(None, description="Findings of this check, or pages that have one.")
    internal: bool | None = Field(None, description="What is of the site, or what is not.")

    def selection(self) -> Selection:
        """What is read."""
        return Selection(
            checks=(self.check,) if self.check else (), severities=(self.severity,) if self.severity else (),
            internal=self.internal, **self.standing(),
        )  # fmt: skip
