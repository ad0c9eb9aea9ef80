"""What goes out of the part of the REST interface that is about documentation sites. Names are those of a site's index.json."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from tadoru.serve.api.models import ResponseModel

STATES = Literal["queued", "running", "paused", "stopped", "finished", "failed"]
KINDS = Literal["added", "changed", "removed"]


class DocsFileOut(ResponseModel):
    """A file that can be downloaded."""

    name: str = Field(examples=["full.md"])
    bytes: int
    url: str = Field(examples=["/api/v1/docs-sites/3/download/full.md"])


class DocsSiteOut(ResponseModel):
    """A documentation site that was made into Markdown."""

    id: int
    name: str = Field(examples=["Kettle handbook"])
    url: str = Field(description="Where its crawl begins.", examples=["https://docs.example/kettle/"])
    title: str = Field(examples=["The Kettle Handbook"])
    pages: int
    tokens: int
    crawled_at: datetime | None = Field(alias="crawledAt", description="When something in it last changed.")
    last_checked: datetime | None = Field(alias="lastChecked", description="When it was last looked at.")
    state: STATES
    error: str = Field(description="Why its last run failed, when it did.", examples=[""])


class DocsSiteDetailOut(DocsSiteOut):
    """The same, with its files."""

    files: list[DocsFileOut]


class DocsSitePageOut(ResponseModel):
    """A part of the list of sites."""

    items: list[DocsSiteOut]
    next: str | None = Field(examples=["/api/v1/docs-sites?cursor=3"])


class DocsEntryOut(ResponseModel):
    """A page of a site, without its text."""

    number: int = Field(description="Its own for ever.")
    url: str = Field(examples=["https://docs.example/kettle/install"])
    title: str = Field(examples=["Install"])
    tokens: int
    crawled_at: datetime | None = Field(alias="crawledAt", description="When it last changed.")
    hash: str = Field(
        description="SHA-256 of its Markdown.", examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"]
    )
    breadcrumbs: list[str] = Field(examples=[["Guide"]])


class DocsEntriesOut(ResponseModel):
    """Pages in reading order."""

    items: list[DocsEntryOut]
    next: str | None = Field(examples=["/api/v1/docs-sites/3/pages?cursor=100"])


class DocsHeadingOut(ResponseModel):
    """A heading of a page."""

    level: int
    path: list[str] = Field(description="The headings above it, and its own.", examples=[["Install", "Windows"]])
    anchor: str | None = Field(description="The fragment the site gives it.", examples=["windows"])


class DocsVersionOut(ResponseModel):
    """What a page said before."""

    id: int
    title: str = Field(examples=["Install"])
    hash: str = Field(examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"])
    since: datetime
    until: datetime | None = Field(description="Null while it says so.")


class DocsPageOut(DocsEntryOut):
    """A page with its Markdown."""

    markdown: str = Field(examples=["# Install\n\nFill the kettle.\n"])
    headings: list[DocsHeadingOut]
    previous: int | None = Field(description="The page that is read before it.")
    next: int | None = Field(description="The page that is read after it.")
    versions: list[DocsVersionOut] = Field(description="What it said before, the newest first.")


class DocsHitOut(ResponseModel):
    """A section that answers a query."""

    site: int
    number: int = Field(description="Of its page.")
    url: str = Field(description="With the fragment of its heading.", examples=["https://docs.example/kettle/install#windows"])
    title: str = Field(examples=["Install"])
    path: list[str] = Field(examples=[["Install", "Windows"]])
    snippet: str = Field(description="Plain text around what was found.", examples=["… fill the kettle with cold water …"])


class DocsHitsOut(ResponseModel):
    """The best first."""

    how: Literal["all", "any", "text"] = Field(description="With all words, with any of them, or looked for as they stand.")
    items: list[DocsHitOut]


class DocsChangeOut(ResponseModel):
    """A page that came, changed or went."""

    kind: KINDS
    number: int | None
    url: str = Field(examples=["https://docs.example/kettle/install"])
    title: str = Field(examples=["Install"])
    diff: str | None = Field(
        description="Where the difference is, when there is one to show.", examples=["/api/v1/docs-sites/3/pages/2/diff"]
    )


class DocsCountsOut(ResponseModel):
    """How many pages."""

    added: int
    changed: int
    removed: int


class DocsRunOut(ResponseModel):
    """What one run found different from the run before."""

    run: int
    at: datetime
    counts: DocsCountsOut
    pages: list[DocsChangeOut] = Field(description="At most 1,000; `counts` has them all.")


class DocsRunsOut(ResponseModel):
    """The runs that changed something, the newest first."""

    items: list[DocsRunOut]
    next: str | None = Field(examples=["/api/v1/docs-sites/3/changes?cursor=4"])


class DocsLineOut(ResponseModel):
    """A line of a difference."""

    kind: Literal[" ", "-", "+"] = Field(description="In both, only before, only after.")
    old: int | None = Field(description="Its number before.")
    new: int | None = Field(description="Its number now.")
    text: str = Field(examples=["Fill the kettle with cold water."])


class DocsHunkOut(ResponseModel):
    """Lines that belong together."""

    old_start: int = Field(alias="oldStart")
    new_start: int = Field(alias="newStart")
    lines: list[DocsLineOut]


class DocsDifferenceOut(ResponseModel):
    """What became of a page since an earlier version of it."""

    number: int
    title: str = Field(examples=["Install"])
    before: DocsVersionOut
    after: DocsVersionOut | None = Field(description="Null when the page is gone.")
    added: int = Field(description="Lines.")
    removed: int = Field(description="Lines.")
    is_cut: bool = Field(alias="isCut", description="Only the first lines were compared.")
    hunks: list[DocsHunkOut]
