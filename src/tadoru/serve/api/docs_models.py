"""Models of documentation sites in the API. Field names are those of a site's index.json."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from tadoru.serve.api.models import ResponseModel, page_model

STATES = Literal["queued", "running", "paused", "stopped", "finished", "failed"]
KINDS = Literal["added", "changed", "removed"]


class DocsFileOut(ResponseModel):
    """A file for download."""

    name: str = Field(examples=["full.md"])
    bytes: int
    url: str = Field(examples=["/api/v1/docs-sites/3/download/full.md"])


class DocsSiteOut(ResponseModel):
    """A documentation site as Markdown."""

    id: int
    name: str = Field(examples=["Kettle handbook"])
    url: str = Field(description="Start URL of its crawl.", examples=["https://docs.example/kettle/"])
    title: str = Field(examples=["The Kettle Handbook"])
    pages: int
    tokens: int
    crawled_at: datetime | None = Field(alias="crawledAt", description="Time of the last change.")
    last_checked: datetime | None = Field(alias="lastChecked", description="Time of the last crawl.")
    state: STATES
    error: str = Field(description="Reason of the last failure.", examples=[""])


class DocsSiteDetailOut(DocsSiteOut):
    """The same, with its files."""

    files: list[DocsFileOut]


DocsSitePageOut = page_model("DocsSitePage", DocsSiteOut, "A page of sites.", examples=["/api/v1/docs-sites?cursor=3"])


class DocsEntryOut(ResponseModel):
    """A page of a site, without its text."""

    number: int = Field(description="Permanent number of the page.")
    url: str = Field(examples=["https://docs.example/kettle/install"])
    title: str = Field(examples=["Install"])
    tokens: int
    crawled_at: datetime | None = Field(alias="crawledAt", description="Time of its last change.")
    hash: str = Field(
        description="SHA-256 of its Markdown.", examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
    )
    breadcrumbs: list[str] = Field(examples=[["Guide"]])


DocsEntriesOut = page_model(
    "DocsEntries",
    DocsEntryOut,
    "A page of the table of contents, in reading order.",
    examples=["/api/v1/docs-sites/3/pages?cursor=100"],
)


class DocsHeadingOut(ResponseModel):
    """A heading of a page."""

    level: int
    path: list[str] = Field(description="The parent headings and its own.", examples=[["Install", "Windows"]])
    anchor: str | None = Field(description="Fragment of the heading on the site.", examples=["windows"])


class DocsVersionOut(ResponseModel):
    """An earlier version of a page."""

    id: int
    title: str = Field(examples=["Install"])
    hash: str = Field(examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"])
    since: datetime
    until: datetime | None = Field(description="Null for the current version.")


class DocsPageOut(DocsEntryOut):
    """A page with its Markdown."""

    markdown: str = Field(examples=["# Install\n\nFill the kettle.\n"])
    headings: list[DocsHeadingOut]
    previous: int | None = Field(description="Previous page in reading order.")
    next: int | None = Field(description="Next page in reading order.")
    versions: list[DocsVersionOut] = Field(description="Earlier versions, newest first.")


class DocsHitOut(ResponseModel):
    """A section that matches a query."""

    site: int
    number: int = Field(description="Number of its page.")
    url: str = Field(
        description="URL with the fragment of the heading.", examples=["https://docs.example/kettle/install#windows"]
    )
    title: str = Field(examples=["Install"])
    path: list[str] = Field(examples=[["Install", "Windows"]])
    snippet: str = Field(description="Plain text around the match.", examples=["… fill the kettle with cold water …"])


class DocsHitsOut(ResponseModel):
    """Search results, best first."""

    how: Literal["all", "any", "text", "meaning"] = Field(
        description="Match with all words, with any word, as exact text, or by meaning only."
    )
    items: list[DocsHitOut]


class DocsChangeOut(ResponseModel):
    """A page that was added, changed or removed."""

    kind: KINDS
    number: int | None
    url: str = Field(examples=["https://docs.example/kettle/install"])
    title: str = Field(examples=["Install"])
    diff: str | None = Field(
        description="URL of the difference, if there is one.", examples=["/api/v1/docs-sites/3/pages/2/diff"]
    )


class DocsCountsOut(ResponseModel):
    """Numbers of pages."""

    added: int
    changed: int
    removed: int


class DocsRunOut(ResponseModel):
    """The changes of one run."""

    run: int
    at: datetime
    counts: DocsCountsOut
    pages: list[DocsChangeOut] = Field(description="At most 1,000; `counts` has all.")


DocsRunsOut = page_model(
    "DocsRuns", DocsRunOut, "Runs with changes, newest first.", examples=["/api/v1/docs-sites/3/changes?cursor=4"]
)


class DocsLineOut(ResponseModel):
    """A line of a difference."""

    kind: Literal[" ", "-", "+"] = Field(description="In both versions, only before, only after.")
    old: int | None = Field(description="Line number before.")
    new: int | None = Field(description="Line number after.")
    text: str = Field(examples=["Fill the kettle with cold water."])


class DocsHunkOut(ResponseModel):
    """A hunk of a difference."""

    old_start: int = Field(alias="oldStart")
    new_start: int = Field(alias="newStart")
    lines: list[DocsLineOut]


class DocsDifferenceOut(ResponseModel):
    """The difference between a page and an earlier version."""

    number: int
    title: str = Field(examples=["Install"])
    before: DocsVersionOut
    after: DocsVersionOut | None = Field(description="Null if the page was removed.")
    added: int = Field(description="Added lines.")
    removed: int = Field(description="Removed lines.")
    is_cut: bool = Field(alias="isCut", description="Only the first lines were compared.")
    hunks: list[DocsHunkOut]
