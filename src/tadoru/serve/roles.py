"""Permissions: the roles, the scopes of API keys, and one table of every route with the role that it requires.

The reference documentation is generated from this table, the tests try every role on every row, and the application does not
start if the table and the registered routes differ. Nothing here does I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Role(IntEnum):
    """Each role includes the permissions of the roles before it."""

    PUBLIC = 0
    VIEWER = 1
    EDITOR = 2
    ADMIN = 3

    @property
    def label(self) -> str:
        """The name in files, on pages and in messages."""
        return self.name.lower()


ROLES = {
    Role.PUBLIC: "Anyone, without signing in.",
    Role.VIEWER: "Reads events in any state, sources, runs, reviews and crawls.",
    Role.EDITOR: "Edits events, resolves reviews, manages and runs sources and crawls.",
    Role.ADMIN: "Everything, including users, API keys and the audit log.",
}
USER_ROLES = (Role.VIEWER, Role.EDITOR, Role.ADMIN)
"""The roles that a user can have."""


SCOPES: dict[str, tuple[Role, str]] = {
    "events:read": (Role.VIEWER, "Read events, including hidden ones."),
    "events:write": (Role.EDITOR, "Add, edit and hide events."),
    "sources:read": (Role.VIEWER, "Read sources, their history and their health."),
    "sources:write": (Role.EDITOR, "Add, edit, enable, disable and remove sources."),
    "reviews:read": (Role.VIEWER, "Read the review queue."),
    "reviews:write": (Role.EDITOR, "Resolve reviews, merge events and undo merges."),
    "runs:read": (Role.VIEWER, "Read runs."),
    "runs:start": (Role.EDITOR, "Run a source now."),
    "crawls:read": (Role.VIEWER, "Read crawls and their results."),
    "crawls:write": (Role.EDITOR, "Start, pause, stop, edit and remove crawls."),
    "docs:read": (Role.VIEWER, "Read documentation sites."),
    "admin": (Role.ADMIN, "Read metrics, users, API keys and the audit log."),
}
"""The scopes of API keys: the lowest role that includes the scope, and what it allows."""


def role_for_scopes(scopes: frozenset[str]) -> Role:
    """The role of an API key with these scopes."""
    return max((SCOPES[scope][0] for scope in scopes if scope in SCOPES), default=Role.PUBLIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route of the service and who may call it."""

    method: str
    path: str
    """The path template, as it is registered: `/events/{id}`."""
    role: Role
    scope: str = ""
    """The scope that an API key needs. A route without a scope is public or, if it requires a role, for signed-in users only."""
    what: str
    """A line for the reference documentation."""
    page: bool = False
    """A page for browsers: anonymous visitors are redirected to the sign-in page."""
    loopback: bool = False
    """Also open to requests from this machine."""
    other_scopes: tuple[str, ...] = ()
    """Further scopes that give access; what a key gets depends on which it has."""
    recorded: bool = False
    """The route records its changes in the audit log itself (users, keys, sign-in), or changes nothing."""

    @property
    def scopes(self) -> tuple[str, ...]:
        """Every scope that gives an API key access."""
        return (self.scope, *self.other_scopes)


def _route(method: str, path: str, role: Role, scope: str, what: str, **more: Any) -> Route:
    return Route(method=method, path=path, role=role, scope=scope, what=what, **more)


MONITORING_ROUTES = (
    _route("GET", "/healthz", Role.PUBLIC, "", "Check that the service runs."),
    _route("GET", "/readyz", Role.PUBLIC, "", "Check that the database responds."),
    _route("GET", "/metrics", Role.ADMIN, "admin", "Metrics for Prometheus.", loopback=True),
    _route("GET", "/openapi.json", Role.PUBLIC, "", "The OpenAPI description of the REST API."),
)

# ---- REST -----------------------------------------------------------------------------------------------------------
_API, _ADMIN = "/api/v1", "/api/v1/admin"
API_ROUTES: tuple[Route, ...] = (
    _route("GET", "/events", Role.PUBLIC, "", "List events; a browser gets the page."),
    _route("GET", "/events/{event_id:int}", Role.PUBLIC, "", "Read an event; a browser gets the page."),
    _route("GET", f"{_API}/events", Role.PUBLIC, "", "List events."),
    _route("GET", f"{_API}/events/{{event_id}}", Role.PUBLIC, "", "Read an event."),
    _route("GET", f"{_API}/cities", Role.PUBLIC, "", "List cities."),
    _route("GET", f"{_API}/categories", Role.PUBLIC, "", "List categories."),
    _route("GET", f"{_API}/events/{{event_id}}/story", Role.VIEWER, "events:read", "Read the history of an event."),
    _route("POST", f"{_API}/events", Role.EDITOR, "events:write", "Add an event."),
    _route("PATCH", f"{_API}/events/{{event_id}}", Role.EDITOR, "events:write", "Edit an event."),
    _route("POST", f"{_API}/events/{{event_id}}/hide", Role.EDITOR, "events:write", "Hide an event."),
    _route("POST", f"{_API}/events/{{event_id}}/unhide", Role.EDITOR, "events:write", "Publish a hidden event again."),
    _route("GET", "/admin/sources", Role.VIEWER, "sources:read", "List sources."),
    _route("POST", "/admin/sources", Role.EDITOR, "sources:write", "Add a source."),
    _route("GET", f"{_ADMIN}/sources", Role.VIEWER, "sources:read", "List sources."),
    _route("POST", f"{_ADMIN}/sources", Role.EDITOR, "sources:write", "Add a source."),
    _route("GET", f"{_ADMIN}/sources/{{source_id}}", Role.VIEWER, "sources:read", "Read a source."),
    _route("PATCH", f"{_ADMIN}/sources/{{source_id}}", Role.EDITOR, "sources:write", "Edit a source."),
    _route("DELETE", f"{_ADMIN}/sources/{{source_id}}", Role.EDITOR, "sources:write", "Remove a source; keep its events."),
    _route("POST", f"{_ADMIN}/sources/{{source_id}}/enable", Role.EDITOR, "sources:write", "Enable a source."),
    _route("POST", f"{_ADMIN}/sources/{{source_id}}/disable", Role.EDITOR, "sources:write", "Disable a source."),
    _route("GET", f"{_ADMIN}/sources/{{source_id}}/history", Role.VIEWER, "sources:read", "Read the change history of a source."),
    _route(
        "POST", f"{_ADMIN}/sources/{{source_id}}/test", Role.EDITOR, "sources:write", "Test a source without storing anything."
    ),
    _route("POST", f"{_ADMIN}/sources/{{source_id}}/run", Role.EDITOR, "runs:start", "Run a source now."),
    _route("GET", f"{_ADMIN}/runs", Role.VIEWER, "runs:read", "List runs."),
    _route("GET", f"{_ADMIN}/runs/{{run_id}}", Role.VIEWER, "runs:read", "Read a run."),
    _route("GET", f"{_ADMIN}/status", Role.VIEWER, "runs:read", "Read the health of the sources."),
    _route("GET", f"{_ADMIN}/reviews", Role.VIEWER, "reviews:read", "List the review queue."),
    _route("GET", f"{_ADMIN}/reviews/{{review_id}}", Role.VIEWER, "reviews:read", "Read a review."),
    _route("POST", f"{_ADMIN}/reviews/{{review_id}}/merge", Role.EDITOR, "reviews:write", "Merge the events of a review."),
    _route(
        "POST",
        f"{_ADMIN}/reviews/{{review_id}}/keep-apart",
        Role.EDITOR,
        "reviews:write",
        "Keep the events of a review separate.",
    ),
    _route("POST", f"{_ADMIN}/reviews/{{review_id}}/fix", Role.EDITOR, "reviews:write", "Fill in missing fields and publish."),
    _route("POST", f"{_ADMIN}/reviews/{{review_id}}/retry", Role.EDITOR, "reviews:write", "Re-parse an item."),
    _route("POST", f"{_ADMIN}/reviews/{{review_id}}/dismiss", Role.EDITOR, "reviews:write", "Dismiss a review."),
    _route("POST", f"{_ADMIN}/merges/{{merge_id}}/undo", Role.EDITOR, "reviews:write", "Undo a merge."),
)

# ---- Feeds ----------------------------------------------------------------------------------------------------------
_FEEDS = {
    "ics": "The calendar for calendar apps.", "rss": "The next events for feed readers.",
    "csv": "The events for spreadsheets.", "jsonld": "The events as schema.org JSON-LD.",
}  # fmt: skip
FEED_ROUTES: tuple[Route, ...] = (
    *(_route("GET", f"{under}/events.{name}", Role.PUBLIC, "", what) for name, what in _FEEDS.items() for under in ("", _API)),
    _route("GET", "/events/{event_id}/calendar.ics", Role.PUBLIC, "", "One event for a calendar app."),
)


# ---- Pages ----------------------------------------------------------------------------------------------------------
def _page(method: str, path: str, role: Role, what: str, **more: bool) -> Route:
    return _route(method, path, role, "", what, page=True, **more)


PAGE_ROUTES: tuple[Route, ...] = (
    _page("GET", "/", Role.PUBLIC, "Upcoming events."),
    _page("GET", "/search", Role.PUBLIC, "Search the calendar."),
    _page("GET", "/month", Role.PUBLIC, "The current month."),
    _page("GET", "/month/{month}", Role.PUBLIC, "A month as a table."),
    _page("GET", "/day", Role.PUBLIC, "Today."),
    _page("GET", "/day/{day}", Role.PUBLIC, "A day."),
    _page("GET", "/subscribe", Role.PUBLIC, "Feed URLs."),
    _page("GET", "/about", Role.PUBLIC, "Sources and licences."),
    _page("GET", "/static/{name}", Role.PUBLIC, "Static files."),
    _page("GET", "/robots.txt", Role.PUBLIC, "Rules for crawlers."),
    _page("GET", "/sitemap.xml", Role.PUBLIC, "The sitemap of the calendar."),
    _page("GET", "/theme.css", Role.PUBLIC, "The operator's colours."),
    _page("GET", "/logo", Role.PUBLIC, "The operator's logo."),
    _page("GET", "/sign-in", Role.PUBLIC, "The sign-in form."),
    _page("POST", "/sign-in", Role.PUBLIC, "Sign in.", recorded=True),
    _page("GET", "/welcome", Role.PUBLIC, "Open a one-time sign-in link."),
    _page("POST", "/welcome", Role.PUBLIC, "Set a password with it.", recorded=True),
    _page("POST", "/sign-out", Role.PUBLIC, "Sign out.", recorded=True),
    _page("GET", "/manage", Role.VIEWER, "The overview."),
    _page("GET", "/manage/runs", Role.VIEWER, "The list of runs."),
    _page("GET", "/manage/runs/{run_id}", Role.VIEWER, "One run."),
    _page("GET", "/manage/sources", Role.VIEWER, "Sources and their health."),
    _page("GET", "/manage/sources/new", Role.EDITOR, "The form for a new source."),
    _page("POST", "/manage/sources/new", Role.EDITOR, "Add a source."),
    _page("GET", "/manage/sources/{source_id}", Role.VIEWER, "One source."),
    _page("GET", "/manage/sources/{source_id}/edit", Role.EDITOR, "The form for editing a source."),
    _page("POST", "/manage/sources/{source_id}/edit", Role.EDITOR, "Edit a source."),
    _page(
        "POST", "/manage/sources/{source_id}/preview", Role.EDITOR, "Preview settings with the last saved response of a source."
    ),
    _page("POST", "/manage/sources/{source_id}/test", Role.EDITOR, "Test a source without storing anything."),
    _page("POST", "/manage/sources/{source_id}/run", Role.EDITOR, "Run a source now."),
    _page("POST", "/manage/sources/{source_id}/enable", Role.EDITOR, "Enable a source."),
    _page("POST", "/manage/sources/{source_id}/disable", Role.EDITOR, "Disable a source."),
    _page("POST", "/manage/sources/{source_id}/remove", Role.EDITOR, "Remove a source; keep its events."),
    _page("GET", "/manage/reviews", Role.VIEWER, "The review queue."),
    _page("GET", "/manage/reviews/{review_id}", Role.VIEWER, "One review, side by side."),
    _page("POST", "/manage/reviews/{review_id}/merge", Role.EDITOR, "Merge the events of a review."),
    _page("POST", "/manage/reviews/{review_id}/keep-apart", Role.EDITOR, "Keep the events of a review separate."),
    _page("POST", "/manage/reviews/{review_id}/fix", Role.EDITOR, "Fill in missing fields and publish."),
    _page("POST", "/manage/reviews/{review_id}/retry", Role.EDITOR, "Re-parse an item."),
    _page("POST", "/manage/reviews/{review_id}/dismiss", Role.EDITOR, "Dismiss a review."),
    _page("POST", "/manage/reviews/{review_id}/reopen", Role.EDITOR, "Open a review again that was kept separate or dismissed."),
    _page("POST", "/manage/reviews/resolve", Role.EDITOR, "Give one answer to several reviews."),
    _page("GET", "/manage/merges", Role.VIEWER, "The list of merges."),
    _page("POST", "/manage/merges/{merge_id}/undo", Role.EDITOR, "Undo a merge."),
    _page("GET", "/manage/events", Role.VIEWER, "Events in any state."),
    _page("GET", "/manage/events/new", Role.EDITOR, "The form for a new event."),
    _page("POST", "/manage/events/new", Role.EDITOR, "Add an event."),
    _page("GET", "/manage/events/{event_id}", Role.VIEWER, "An event and its history."),
    _page("POST", "/manage/events/{event_id}", Role.EDITOR, "Edit an event."),
    _page("POST", "/manage/events/{event_id}/hide", Role.EDITOR, "Hide an event."),
    _page("POST", "/manage/events/{event_id}/unhide", Role.EDITOR, "Publish a hidden event again."),
    _page("GET", "/manage/users", Role.ADMIN, "Users."),
    _page("POST", "/manage/users", Role.ADMIN, "Add a user.", recorded=True),
    _page("POST", "/manage/users/{user_id}/link", Role.ADMIN, "Create a one-time sign-in link.", recorded=True),
    _page("POST", "/manage/users/{user_id}/revoke", Role.ADMIN, "Revoke a user.", recorded=True),
    _page("GET", "/manage/keys", Role.ADMIN, "API keys."),
    _page("POST", "/manage/keys", Role.ADMIN, "Create an API key.", recorded=True),
    _page("POST", "/manage/keys/{key_id}/revoke", Role.ADMIN, "Revoke an API key.", recorded=True),
    _page("GET", "/manage/log", Role.ADMIN, "The audit log."),
)

# ---- Live -----------------------------------------------------------------------------------------------------------
LIVE_ROUTES: tuple[Route, ...] = (
    Route(
        method="WS", path="/ws", role=Role.VIEWER, scope="crawls:read", other_scopes=("runs:read", "sources:read"),
        what="Live messages about crawls, runs and sources; an API key gets those of its scopes.",
    ),
)  # fmt: skip

# ---- GraphQL and the API documentation ---------------------------------------------------------------------------------
GRAPHQL_ROUTES: tuple[Route, ...] = (
    _route("GET", "/graphql", Role.PUBLIC, "", "Query with GraphQL; each field needs the permission of its route."),
    _route("POST", "/graphql", Role.PUBLIC, "", "The same with the query in the body; read-only.", recorded=True),
    _page("GET", "/api/docs", Role.PUBLIC, "The REST API documentation with examples."),
)

# ---- Documentation sites ---------------------------------------------------------------------------------------------
_DOCS = f"{_API}/docs-sites"
DOCS_ROUTES: tuple[Route, ...] = (
    _route("GET", _DOCS, Role.VIEWER, "docs:read", "List documentation sites."),
    _route("GET", f"{_DOCS}/search", Role.VIEWER, "docs:read", "Search all documentation sites."),
    _route("GET", f"{_DOCS}/{{site_id}}", Role.VIEWER, "docs:read", "Read a documentation site."),
    _route("GET", f"{_DOCS}/{{site_id}}/pages", Role.VIEWER, "docs:read", "List the pages of a site."),
    _route("GET", f"{_DOCS}/{{site_id}}/pages/{{number}}", Role.VIEWER, "docs:read", "Read a page as JSON or Markdown."),
    _route(
        "GET", f"{_DOCS}/{{site_id}}/pages/{{number}}/diff", Role.VIEWER, "docs:read", "Compare a page with an earlier version."
    ),
    _route("GET", f"{_DOCS}/{{site_id}}/search", Role.VIEWER, "docs:read", "Search a site."),
    _route("GET", f"{_DOCS}/{{site_id}}/changes", Role.VIEWER, "docs:read", "Read the changes that runs made to a site."),
    _route("GET", f"{_DOCS}/{{site_id}}/download/{{file}}", Role.VIEWER, "docs:read", "Download a file of a site."),
    _route("GET", f"{_DOCS}/{{site_id}}/download/chunks/{{number}}", Role.VIEWER, "docs:read", "Download a chunk of a site."),
    _route("POST", f"{_DOCS}/{{site_id}}/refresh", Role.EDITOR, "crawls:write", "Crawl a site again.", recorded=True),
    _page("GET", "/manage/docs", Role.VIEWER, "Documentation sites."),
    _page("GET", "/manage/docs/{site_id}", Role.VIEWER, "The contents of a site."),
    _page("GET", "/manage/docs/{site_id}/changes", Role.VIEWER, "The changes that runs made to a site."),
    _page("GET", "/manage/docs/{site_id}/pages/{number}", Role.VIEWER, "A page of a site."),
    _page("GET", "/manage/docs/{site_id}/pages/{number}/markdown", Role.VIEWER, "The page as Markdown."),
    _page("GET", "/manage/docs/{site_id}/pages/{number}/diff", Role.VIEWER, "The changes of a page."),
    _page("POST", "/manage/docs/{site_id}/refresh", Role.EDITOR, "Crawl a site again.", recorded=True),
)

# ---- Crawls ---------------------------------------------------------------------------------------------------------
_CRAWLS, _ONE_CRAWL = f"{_API}/crawls", f"{_API}/crawls/{{crawl_id}}"
_READ, _WRITE = (Role.VIEWER, "crawls:read"), (Role.EDITOR, "crawls:write")
CRAWL_ROUTES: tuple[Route, ...] = (
    _route("GET", _CRAWLS, *_READ, "List crawls."),
    _route("GET", f"{_API}/crawl-options", *_READ, "List crawl options."),
    _route("POST", _CRAWLS, *_WRITE, "Add a crawl and run it.", recorded=True),
    _route("GET", _ONE_CRAWL, *_READ, "Read a crawl."),
    _route("PATCH", _ONE_CRAWL, *_WRITE, "Edit a crawl's name, schedule, webhook or recipients.", recorded=True),
    _route("DELETE", _ONE_CRAWL, *_WRITE, "Remove a crawl and its results.", recorded=True),
    _route("POST", f"{_ONE_CRAWL}/run", *_WRITE, "Run or resume a crawl.", recorded=True),
    _route("POST", f"{_ONE_CRAWL}/resume", *_WRITE, "Resume a crawl.", recorded=True),
    _route("POST", f"{_ONE_CRAWL}/pause", *_WRITE, "Pause a crawl.", recorded=True),
    _route("POST", f"{_ONE_CRAWL}/stop", *_WRITE, "Stop a crawl; keep its results.", recorded=True),
    _route("GET", f"{_ONE_CRAWL}/runs", *_READ, "List the runs of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/notices", *_READ, "Read the notices of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/overview", *_READ, "Read the overview of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/findings", *_READ, "List the findings of an audit."),
    _route("GET", f"{_ONE_CRAWL}/findings/{{check}}", *_READ, "List the pages that a check applies to."),
    _route("GET", f"{_ONE_CRAWL}/pages", *_READ, "List the pages of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/pages/{{page_id}}", *_READ, "Read one page of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/links", *_READ, "List the links of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/tables/{{table}}", *_READ, "Read a table of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/tables/{{table}}/export", *_READ, "Export a view of a table of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/views", *_READ, "List the named views and segments of a crawl."),
    _route("POST", f"{_ONE_CRAWL}/views", *_WRITE, "Name a view or define a segment of a crawl.", recorded=True),
    _route("DELETE", f"{_ONE_CRAWL}/views/{{view_id}}", *_WRITE, "Remove a view or a segment of a crawl.", recorded=True),
    _route("GET", f"{_ONE_CRAWL}/segments", *_READ, "List the segments of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/priorities", *_READ, "List findings by priority."),
    _route("GET", f"{_ONE_CRAWL}/ignored", *_READ, "List the ignored findings of a crawl."),
    _route("POST", f"{_ONE_CRAWL}/ignored", *_WRITE, "Ignore a finding, with a reason.", recorded=True),
    _route("DELETE", f"{_ONE_CRAWL}/ignored/{{ignored_id}}", *_WRITE, "No longer ignore a finding.", recorded=True),
    _route("GET", f"{_ONE_CRAWL}/shares", *_WRITE, "List the links to the report of a crawl."),
    _route("POST", f"{_ONE_CRAWL}/shares", *_WRITE, "Create a link to the report of a crawl.", recorded=True),
    _route("DELETE", f"{_ONE_CRAWL}/shares/{{share_id}}", *_WRITE, "Revoke a link to a report.", recorded=True),
    _route("GET", f"{_ONE_CRAWL}/graph", *_READ, "Read or draw the link graph of a site."),
    _route("GET", f"{_ONE_CRAWL}/compare", *_READ, "Compare a crawl with another crawl or with its previous run."),
    _route("GET", f"{_ONE_CRAWL}/export", *_READ, "Export a crawl."),
    _route("GET", f"{_ONE_CRAWL}/backup", Role.ADMIN, "admin", "Download a backup of a crawl's database."),
)

# ---- Pages of crawls ---------------------------------------------------------------------------------------------------
_CRAWL = "/manage/crawls/{crawl_id}"
_RUN = f"{_CRAWL}/runs/{{run_id}}"
CRAWL_PAGE_ROUTES: tuple[Route, ...] = (
    _page("GET", "/manage/crawls", Role.VIEWER, "Crawls and their states."),
    _page("GET", "/manage/crawls/new", Role.EDITOR, "The form for a new crawl."),
    _page("POST", "/manage/crawls/new", Role.EDITOR, "Start a crawl.", recorded=True),
    _page("GET", _CRAWL, Role.VIEWER, "One crawl, live while it runs."),
    _page("POST", f"{_CRAWL}/run", Role.EDITOR, "Run or resume a crawl.", recorded=True),
    _page("POST", f"{_CRAWL}/pause", Role.EDITOR, "Pause a crawl.", recorded=True),
    _page("POST", f"{_CRAWL}/stop", Role.EDITOR, "Stop a crawl; keep its results.", recorded=True),
    _page("GET", f"{_CRAWL}/edit", Role.EDITOR, "The form for a crawl's name and interval."),
    _page("POST", f"{_CRAWL}/edit", Role.EDITOR, "Edit a crawl's name and interval.", recorded=True),
    _page("GET", f"{_CRAWL}/remove", Role.EDITOR, "Confirm the removal of a crawl."),
    _page("POST", f"{_CRAWL}/remove", Role.EDITOR, "Remove a crawl and its results.", recorded=True),
    _page("GET", f"{_CRAWL}/findings", Role.VIEWER, "The findings of an audit, with reasons and fixes."),
    _page("GET", f"{_CRAWL}/findings/{{check}}", Role.VIEWER, "One check and the pages it applies to."),
    _page("GET", f"{_CRAWL}/pages", Role.VIEWER, "The pages of a crawl."),
    _page("GET", f"{_CRAWL}/pages/{{page_id}}", Role.VIEWER, "One page with all its data."),
    _page("GET", f"{_CRAWL}/links", Role.VIEWER, "The links of a crawl, broken ones first."),
    _page("GET", f"{_CRAWL}/graph", Role.VIEWER, "The site structure as a drawing."),
    _page("GET", f"{_CRAWL}/compare", Role.VIEWER, "A crawl compared with its previous run or another crawl."),
    _page("GET", f"{_CRAWL}/exports", Role.VIEWER, "The exports of a crawl."),
    _page("GET", _RUN, Role.VIEWER, "One run of a crawl."),
    *(
        _page("GET", f"{_RUN}/{tab}", Role.VIEWER, "The same of one run.")
        for tab in (
            "findings findings/{check} pages pages/{page_id} links redirects resources occurrences graph compare exports "
            "export/{tab}"
        ).split()
    ),
    *(
        _page("GET", f"{_CRAWL}/{tab}", Role.VIEWER, f"The {tab} of a crawl.")
        for tab in ("redirects", "resources", "occurrences")
    ),
    _page("GET", f"{_CRAWL}/export/{{tab}}", Role.VIEWER, "The rows of a view as a file."),
    _page("POST", f"{_CRAWL}/findings/{{check}}/ignore", Role.EDITOR, "Ignore a finding, with a reason.", recorded=True),
    _page("POST", f"{_CRAWL}/findings/{{check}}/reopen", Role.EDITOR, "No longer ignore a finding.", recorded=True),
    _page("GET", f"{_CRAWL}/report", Role.VIEWER, "The HTML report of an audit."),
    _page("GET", f"{_RUN}/report", Role.VIEWER, "The HTML report of one run."),
    _page("GET", f"{_CRAWL}/share", Role.EDITOR, "The links to the report of a crawl."),
    _page("POST", f"{_CRAWL}/share", Role.EDITOR, "Create a link to the report of a crawl.", recorded=True),
    _page("POST", f"{_CRAWL}/share/{{share_id}}/revoke", Role.EDITOR, "Revoke a link to a report.", recorded=True),
    _page("GET", "/shared", Role.PUBLIC, "The report that a link opens, with its key."),
    _page("GET", "/shared/report", Role.PUBLIC, "The HTML report that a link opens, with its key."),
    _page("POST", f"{_CRAWL}/views", Role.EDITOR, "Name a view of a table.", recorded=True),
    _page("POST", f"{_CRAWL}/views/{{view_id}}/remove", Role.EDITOR, "Remove a named view.", recorded=True),
)

# ---- The cluster ----------------------------------------------------------------------------------------------------
CLUSTER_ROUTES: tuple[Route, ...] = (
    _route("GET", f"{_API}/cluster", *_READ, "Read the workers, crawls and queue of the cluster in the same database."),
    _page("GET", "/manage/cluster", Role.VIEWER, "Workers, crawls and queue of the cluster."),
)

# ---- Embedding ------------------------------------------------------------------------------------------------------
EMBED_ROUTES: tuple[Route, ...] = (_page("GET", "/embed", Role.PUBLIC, "The calendar for embedding in other sites."),)

ROUTES: tuple[Route, ...] = (
    MONITORING_ROUTES
    + API_ROUTES
    + FEED_ROUTES
    + PAGE_ROUTES
    + EMBED_ROUTES
    + LIVE_ROUTES
    + GRAPHQL_ROUTES
    + DOCS_ROUTES
    + CRAWL_ROUTES
    + CRAWL_PAGE_ROUTES
    + CLUSTER_ROUTES
)
"""Every route of the service."""
