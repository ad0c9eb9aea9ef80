"""What goes out of the part of the REST interface that is about documentation sites. Names are those of a site's index.json."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from tadoru.serve.rest.models import Out

STATES = Literal["queued", "running", "paused", "stopped", "finished", "failed"]
KINDS = Literal["added", "changed", "removed"]


class DocsFile(Out):
    """A file that can be downloaded."""

    name: str = Field(examples=["full.md"])
    bytes: int
    url: str = Field(examples=["/api/v1/docs-sites/3/download/full.md"])


class DocsSite(Out):
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


class DocsSiteDetail(DocsSite):
    """The same, with its files."""

    files: list[DocsFile]


class DocsSitePage(Out):
    """A part of the list of sites."""

    items: list[DocsSite]
    next: str | None = Field(examples=["/api/v1/docs-sites?cursor=3"])


class DocsEntry(Out):
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


class DocsEntries(Out):
    """Pages in reading order."""

    items: list[DocsEntry]
    next: str | None = Field(examples=["/api/v1/docs-sites/3/pages?cursor=100"])


class DocsHeading(Out):
    """A heading of a page."""

    level: int
    path: list[str] = Field(description="The headings above it, and its own.", examples=[["Install", "Windows"]])
    anchor: str | None = Field(description="The fragment the site gives it.", examples=["windows"])


class DocsVersion(Out):
    """What a page said before."""

    id: int
    title: str = Field(examples=["Install"])
    hash: str = Field(examples=["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"])
    since: datetime
    until: datetime | None = Field(description="Null while it says so.")


class DocsPage(DocsEntry):
    """A page with its Markdown."""

    markdown: str = Field(examples=["# Install\n\nFill the kettle.\n"])
    headings: list[DocsHeading]
    previous: int | None = Field(description="The page that is read before it.")
    next: int | None = Field(description="The page that is read after it.")
    versions: list[DocsVersion] = Field(description="What it said before, the newest first.")


class DocsHit(Out):
    """A section that answers a query."""

    site: int
    number: int = Field(description="Of its page.")
    url: str = Field(description="With the fragment of its heading.", examples=["https://docs.example/kettle/install#windows"])
    title: str = Field(examples=["Install"])
    path: list[str] = Field(examples=[["Install", "Windows"]])
    snippet: str = Field(description="Plain text around what was found.", examples=["… fill the kettle with cold water …"])


class DocsHits(Out):
    """The best first."""

    how: Literal["all", "any", "text"] = Field(description="With all words, with any of them, or looked for as they stand.")
    items: list[DocsHit]


class DocsChange(Out):
    """A page that came, changed or went."""

    kind: KINDS
    number: int | None
    url: str = Field(examples=["https://docs.example/kettle/install"])
    title: str = Field(examples=["Install"])
    diff: str | None = Field(
        description="Where the difference is, when there is one to show.", examples=["/api/v1/docs-sites/3/pages/2/diff"]
    )


class DocsCounts(Out):
    """How many pages."""

    added: int
    changed: int
    removed: int


class DocsRun(Out):
    """What one run found different from the run before."""

    run: int
    at: datetime
    counts: DocsCounts
    pages: list[DocsChange] = Field(description="At most 1,000; `counts` has them all.")


class DocsRuns(Out):
    """The runs that changed something, the newest first."""

    items: list[DocsRun]
    next: str | None = Field(examples=["/api/v1/docs-sites/3/changes?cursor=4"])


class DocsLine(Out):
    """A line of a difference."""

    kind: Literal[" ", "-", "+"] = Field(description="In both, only before, only after.")
    old: int | None = Field(description="Its number before.")
    new: int | None = Field(description="Its number now.")
    text: str = Field(examples=["Fill the kettle with cold water."])


class DocsHunk(Out):
    """Lines that belong together."""

    old_start: int = Field(alias="oldStart")
    new_start: int = Field(alias="newStart")
    lines: list[DocsLine]


class DocsDifference(Out):
    """What became of a page since an earlier version of it."""

    number: int
    title: str = Field(examples=["Install"])
    before: DocsVersion
    after: DocsVersion | None = Field(description="Null when the page is gone.")
    added: int = Field(description="Lines.")
    removed: int = Field(description="Lines.")
    is_cut: bool = Field(alias="isCut", description="Only the first lines were compared.")
    hunks: list[DocsHunk]
