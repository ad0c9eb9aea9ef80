"""Who may do what: the roles, the scopes of keys, and one table of every route with the least role that it asks for.

The documentation is generated from this table, the tests try every role on every row of it, and the application does not start
when a route is not in it, or the other way round. Nothing here does I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Role(IntEnum):
    """Each may do all that those before it may."""

    PUBLIC = 0
    VIEWER = 1
    EDITOR = 2
    ADMIN = 3

    @property
    def label(self) -> str:
        """As files and people write it."""
        return self.name.lower()


ROLES = {
    Role.PUBLIC: "Anybody, without signing in.",
    Role.VIEWER: "Sees events in any state, sources, runs and questions; changes nothing.",
    Role.EDITOR: "Edits events, answers questions, keeps sources and runs them.",
    Role.ADMIN: "Keeps users and keys, and reads the audit log.",
}
USER_ROLES = (Role.VIEWER, Role.EDITOR, Role.ADMIN)
"""The roles that a user can have."""


SCOPES: dict[str, tuple[Role, str]] = {
    "events:read": (Role.VIEWER, "Read events, also those that are hidden."),
    "events:write": (Role.EDITOR, "Add, edit and hide events."),
    "sources:read": (Role.VIEWER, "Read sources, their history and their health."),
    "sources:write": (Role.EDITOR, "Add, edit, switch and remove sources."),
    "reviews:read": (Role.VIEWER, "Read the questions for people."),
    "reviews:write": (Role.EDITOR, "Answer the questions for people, merge and take back."),
    "runs:read": (Role.VIEWER, "Read the log of collecting."),
    "runs:start": (Role.EDITOR, "Collect a source now."),
    "crawls:read": (Role.VIEWER, "Read crawls and what they found."),
    "crawls:write": (Role.EDITOR, "Start, pause, stop, change and remove crawls."),
    "docs:read": (Role.VIEWER, "Read documentation sites."),
    "admin": (Role.ADMIN, "Read the metrics; keep users and keys; read the audit log."),
}
"""What a key may be limited to: the least role that has it, and what it allows."""


def role_for_scopes(scopes: frozenset[str]) -> Role:
    """The role that a key with these scopes acts in."""
    return max((SCOPES[scope][0] for scope in scopes if scope in SCOPES), default=Role.PUBLIC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One way to call the service."""

    method: str
    path: str
    """The template, as it is registered: `/events/{id}`."""
    role: Role
    scope: str = ""
    """What a key must have. Without one a route is for anybody, or, when it asks for a role, for people only."""
    what: str
    """A line for the documentation."""
    page: bool = False
    """It is made for a browser: who is not signed in is led to the sign-in page."""
    loopback: bool = False
    """Open to this machine itself as well."""
    other_scopes: tuple[str, ...] = ()
    """Each of these lets a key in as well: what it gets there depends on which it has."""
    recorded: bool = False
    """What it does is in the audit log already, in words of its own (users, keys, signing in and out), or it changes nothing."""

    @property
    def scopes(self) -> tuple[str, ...]:
        """Each scope that lets a key in."""
        return (self.scope, *self.other_scopes)


def _route(method: str, path: str, role: Role, scope: str, what: str, **more: Any) -> Route:
    return Route(method=method, path=path, role=role, scope=scope, what=what, **more)


MONITORING_ROUTES = (
    _route("GET", "/healthz", Role.PUBLIC, "", "Say that the service runs."),
    _route("GET", "/readyz", Role.PUBLIC, "", "Say whether the database answers."),
    _route("GET", "/metrics", Role.ADMIN, "admin", "Numbers for Prometheus.", loopback=True),
    _route("GET", "/openapi.json", Role.PUBLIC, "", "The description of the REST interface."),
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
    _route("GET", f"{_API}/events/{{event_id}}/story", Role.VIEWER, "events:read", "Read where an event is from."),
    _route("POST", f"{_API}/events", Role.EDITOR, "events:write", "Add an event."),
    _route("PATCH", f"{_API}/events/{{event_id}}", Role.EDITOR, "events:write", "Change an event."),
    _route("POST", f"{_API}/events/{{event_id}}/hide", Role.EDITOR, "events:write", "Take an event out of the calendar."),
    _route("POST", f"{_API}/events/{{event_id}}/unhide", Role.EDITOR, "events:write", "Put an event back."),
    _route("GET", "/admin/sources", Role.VIEWER, "sources:read", "List sources."),
    _route("POST", "/admin/sources", Role.EDITOR, "sources:write", "Add a source."),
    _route("GET", f"{_ADMIN}/sources", Role.VIEWER, "sources:read", "List sources."),
    _route("POST", f"{_ADMIN}/sources", Role.EDITOR, "sources:write", "Add a source."),
    _route("GET", f"{_ADMIN}/sources/{{source_id}}", Role.VIEWER, "sources:read", "Read a source."),
    _route("PATCH", f"{_ADMIN}/sources/{{source_id}}", Role.EDITOR, "sources:write", "Change a source."),
    _route("DELETE", f"{_ADMIN}/sources/{{source_id}}", Role.EDITOR, "sources:write", "Remove a source; its events stay."),
    _route("POST", f"{_ADMIN}/sources/{{source_id}}/enable", Role.EDITOR, "sources:write", "Collect a source again."),
    _route("POST", f"{_ADMIN}/sources/{{source_id}}/disable", Role.EDITOR, "sources:write", "Leave a source alone."),
    _route("GET", f"{_ADMIN}/sources/{{source_id}}/history", Role.VIEWER, "sources:read", "Read who changed a source."),
    _route("POST", f"{_ADMIN}/sources/{{source_id}}/test", Role.EDITOR, "sources:write", "Fetch a source without storing it."),
    _route("POST", f"{_ADMIN}/sources/{{source_id}}/run", Role.EDITOR, "runs:start", "Collect a source now."),
    _route("GET", f"{_ADMIN}/runs", Role.VIEWER, "runs:read", "List runs."),
    _route("GET", f"{_ADMIN}/runs/{{run_id}}", Role.VIEWER, "runs:read", "Read a run."),
    _route("GET", f"{_ADMIN}/status", Role.VIEWER, "runs:read", "Read how the sources do."),
    _route("GET", f"{_ADMIN}/reviews", Role.VIEWER, "reviews:read", "List questions for people."),
    _route("GET", f"{_ADMIN}/reviews/{{review_id}}", Role.VIEWER, "reviews:read", "Read a question."),
    _route("POST", f"{_ADMIN}/reviews/{{review_id}}/merge", Role.EDITOR, "reviews:write", "Answer: they are one event."),
    _route("POST", f"{_ADMIN}/reviews/{{review_id}}/keep-apart", Role.EDITOR, "reviews:write", "Answer: they are different."),
    _route("POST", f"{_ADMIN}/reviews/{{review_id}}/fix", Role.EDITOR, "reviews:write", "Answer: say what a row lacks."),
    _route("POST", f"{_ADMIN}/reviews/{{review_id}}/retry", Role.EDITOR, "reviews:write", "Answer: read a row again."),
    _route("POST", f"{_ADMIN}/reviews/{{review_id}}/dismiss", Role.EDITOR, "reviews:write", "Answer: leave it as it is."),
    _route("POST", f"{_ADMIN}/merges/{{merge_id}}/undo", Role.EDITOR, "reviews:write", "Take a merge back."),
)

# ---- Feeds ----------------------------------------------------------------------------------------------------------
_FEEDS = {
    "ics": "The calendar for calendar programs.", "rss": "The next events for feed readers.",
    "csv": "The events for spreadsheets.", "jsonld": "The events in the words of schema.org.",
}  # fmt: skip
FEED_ROUTES: tuple[Route, ...] = (
    *(_route("GET", f"{under}/events.{name}", Role.PUBLIC, "", what) for name, what in _FEEDS.items() for under in ("", _API)),
    _route("GET", "/events/{event_id}/calendar.ics", Role.PUBLIC, "", "One event for a calendar program."),
)


# ---- Pages ----------------------------------------------------------------------------------------------------------
def _page(method: str, path: str, role: Role, what: str, **more: bool) -> Route:
    return _route(method, path, role, "", what, page=True, **more)


PAGE_ROUTES: tuple[Route, ...] = (
    _page("GET", "/", Role.PUBLIC, "Coming events."),
    _page("GET", "/search", Role.PUBLIC, "Search the calendar."),
    _page("GET", "/month", Role.PUBLIC, "The month it is."),
    _page("GET", "/month/{month}", Role.PUBLIC, "A month as a table."),
    _page("GET", "/day", Role.PUBLIC, "The day it is."),
    _page("GET", "/day/{day}", Role.PUBLIC, "A day."),
    _page("GET", "/subscribe", Role.PUBLIC, "Addresses of feeds."),
    _page("GET", "/about", Role.PUBLIC, "Sources and licences."),
    _page("GET", "/static/{name}", Role.PUBLIC, "Files of the pages."),
    _page("GET", "/sign-in", Role.PUBLIC, "The form to sign in."),
    _page("POST", "/sign-in", Role.PUBLIC, "Sign in.", recorded=True),
    _page("GET", "/welcome", Role.PUBLIC, "Open a link that works once."),
    _page("POST", "/welcome", Role.PUBLIC, "Choose a password with it.", recorded=True),
    _page("POST", "/sign-out", Role.PUBLIC, "Sign out.", recorded=True),
    _page("GET", "/manage", Role.VIEWER, "The overview."),
    _page("GET", "/manage/runs", Role.VIEWER, "The log of collecting."),
    _page("GET", "/manage/runs/{run_id}", Role.VIEWER, "One run."),
    _page("GET", "/manage/sources", Role.VIEWER, "Sources and how they do."),
    _page("GET", "/manage/sources/new", Role.EDITOR, "The form of a new source."),
    _page("POST", "/manage/sources/new", Role.EDITOR, "Add a source."),
    _page("GET", "/manage/sources/{source_id}", Role.VIEWER, "One source."),
    _page("GET", "/manage/sources/{source_id}/edit", Role.EDITOR, "The form of a source."),
    _page("POST", "/manage/sources/{source_id}/edit", Role.EDITOR, "Change a source."),
    _page("POST", "/manage/sources/{source_id}/test", Role.EDITOR, "Fetch a source without storing it."),
    _page("POST", "/manage/sources/{source_id}/run", Role.EDITOR, "Collect a source now."),
    _page("POST", "/manage/sources/{source_id}/enable", Role.EDITOR, "Collect a source again."),
    _page("POST", "/manage/sources/{source_id}/disable", Role.EDITOR, "Leave a source alone."),
    _page("POST", "/manage/sources/{source_id}/remove", Role.EDITOR, "Remove a source; its events stay."),
    _page("GET", "/manage/reviews", Role.VIEWER, "Questions for people."),
    _page("GET", "/manage/reviews/{review_id}", Role.VIEWER, "One question, side by side."),
    _page("POST", "/manage/reviews/{review_id}/merge", Role.EDITOR, "Answer: they are one event."),
    _page("POST", "/manage/reviews/{review_id}/keep-apart", Role.EDITOR, "Answer: they are different."),
    _page("POST", "/manage/reviews/{review_id}/fix", Role.EDITOR, "Answer: say what a row lacks."),
    _page("POST", "/manage/reviews/{review_id}/retry", Role.EDITOR, "Answer: read a row again."),
    _page("POST", "/manage/reviews/{review_id}/dismiss", Role.EDITOR, "Answer: leave it as it is."),
    _page("GET", "/manage/merges", Role.VIEWER, "What was merged."),
    _page("POST", "/manage/merges/{merge_id}/undo", Role.EDITOR, "Take a merge back."),
    _page("GET", "/manage/events", Role.VIEWER, "Events in any state."),
    _page("GET", "/manage/events/new", Role.EDITOR, "The form of a new event."),
    _page("POST", "/manage/events/new", Role.EDITOR, "Add an event."),
    _page("GET", "/manage/events/{event_id}", Role.VIEWER, "An event, and where it is from."),
    _page("POST", "/manage/events/{event_id}", Role.EDITOR, "Change an event."),
    _page("POST", "/manage/events/{event_id}/hide", Role.EDITOR, "Take an event out of the calendar."),
    _page("POST", "/manage/events/{event_id}/unhide", Role.EDITOR, "Put an event back."),
    _page("GET", "/manage/users", Role.ADMIN, "Who may sign in."),
    _page("POST", "/manage/users", Role.ADMIN, "Add a user.", recorded=True),
    _page("POST", "/manage/users/{user_id}/link", Role.ADMIN, "A link that signs a user in once.", recorded=True),
    _page("POST", "/manage/users/{user_id}/revoke", Role.ADMIN, "Revoke a user.", recorded=True),
    _page("GET", "/manage/keys", Role.ADMIN, "Keys of programs."),
    _page("POST", "/manage/keys", Role.ADMIN, "Make a key.", recorded=True),
    _page("POST", "/manage/keys/{key_id}/revoke", Role.ADMIN, "Revoke a key.", recorded=True),
    _page("GET", "/manage/log", Role.ADMIN, "Who changed what."),
)

# ---- Live -----------------------------------------------------------------------------------------------------------
LIVE_ROUTES: tuple[Route, ...] = (
    Route(
        method="WS", path="/ws", role=Role.VIEWER, scope="crawls:read", other_scopes=("runs:read", "sources:read"),
        what="Hear of crawls, runs and sources while they happen; what a key hears depends on its scopes.",
    ),
)  # fmt: skip

# ---- GraphQL, and the description of the interface for people ----------------------------------------------------------
GRAPHQL_ROUTES: tuple[Route, ...] = (
    _route("GET", "/graphql", Role.PUBLIC, "", "Ask with GraphQL; each field asks for the right of its route."),
    _route("POST", "/graphql", Role.PUBLIC, "", "The same with the query in the body; nothing is changed.", recorded=True),
    _page("GET", "/api/docs", Role.PUBLIC, "The REST interface, explained with examples."),
)

# ---- Documentation sites ---------------------------------------------------------------------------------------------
_DOCS = f"{_API}/docs-sites"
DOCS_ROUTES: tuple[Route, ...] = (
    _route("GET", _DOCS, Role.VIEWER, "docs:read", "List documentation sites."),
    _route("GET", f"{_DOCS}/search", Role.VIEWER, "docs:read", "Search all documentation sites."),
    _route("GET", f"{_DOCS}/{{site_id}}", Role.VIEWER, "docs:read", "Read a documentation site."),
    _route("GET", f"{_DOCS}/{{site_id}}/pages", Role.VIEWER, "docs:read", "List the pages of a site."),
    _route("GET", f"{_DOCS}/{{site_id}}/pages/{{number}}", Role.VIEWER, "docs:read", "Read a page as JSON or Markdown."),
    _route("GET", f"{_DOCS}/{{site_id}}/pages/{{number}}/diff", Role.VIEWER, "docs:read", "Compare a page with what it was."),
    _route("GET", f"{_DOCS}/{{site_id}}/search", Role.VIEWER, "docs:read", "Search a site."),
    _route("GET", f"{_DOCS}/{{site_id}}/changes", Role.VIEWER, "docs:read", "Read what runs changed about a site."),
    _route("GET", f"{_DOCS}/{{site_id}}/download/{{file}}", Role.VIEWER, "docs:read", "Download a file of a site."),
    _route("GET", f"{_DOCS}/{{site_id}}/download/chunks/{{number}}", Role.VIEWER, "docs:read", "Download a chunk of a site."),
    _route("POST", f"{_DOCS}/{{site_id}}/refresh", Role.EDITOR, "crawls:write", "Crawl a site again.", recorded=True),
    _page("GET", "/manage/docs", Role.VIEWER, "Documentation sites."),
    _page("GET", "/manage/docs/{site_id}", Role.VIEWER, "The contents of a site."),
    _page("GET", "/manage/docs/{site_id}/changes", Role.VIEWER, "What runs changed about a site."),
    _page("GET", "/manage/docs/{site_id}/pages/{number}", Role.VIEWER, "A page of a site."),
    _page("GET", "/manage/docs/{site_id}/pages/{number}/markdown", Role.VIEWER, "The page as Markdown."),
    _page("GET", "/manage/docs/{site_id}/pages/{number}/diff", Role.VIEWER, "What changed about a page."),
    _page("POST", "/manage/docs/{site_id}/refresh", Role.EDITOR, "Crawl a site again.", recorded=True),
)

# ---- Crawls ---------------------------------------------------------------------------------------------------------
_CRAWLS, _ONE_CRAWL = f"{_API}/crawls", f"{_API}/crawls/{{crawl_id}}"
_READ, _WRITE = (Role.VIEWER, "crawls:read"), (Role.EDITOR, "crawls:write")
CRAWL_ROUTES: tuple[Route, ...] = (
    _route("GET", _CRAWLS, *_READ, "List crawls."),
    _route("GET", f"{_API}/crawl-options", *_READ, "List what may be chosen for a crawl."),
    _route("POST", _CRAWLS, *_WRITE, "Add a crawl and run it.", recorded=True),
    _route("GET", _ONE_CRAWL, *_READ, "Read a crawl."),
    _route("PATCH", _ONE_CRAWL, *_WRITE, "Change a crawl's name, rhythm or webhook.", recorded=True),
    _route("DELETE", _ONE_CRAWL, *_WRITE, "Remove a crawl with what it found.", recorded=True),
    _route("POST", f"{_ONE_CRAWL}/run", *_WRITE, "Run a crawl, or go on with it.", recorded=True),
    _route("POST", f"{_ONE_CRAWL}/resume", *_WRITE, "Go on with a crawl.", recorded=True),
    _route("POST", f"{_ONE_CRAWL}/pause", *_WRITE, "Pause a crawl.", recorded=True),
    _route("POST", f"{_ONE_CRAWL}/stop", *_WRITE, "Stop a crawl; what it found stays.", recorded=True),
    _route("GET", f"{_ONE_CRAWL}/runs", *_READ, "List the runs of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/notices", *_READ, "Read what a crawl said about itself."),
    _route("GET", f"{_ONE_CRAWL}/overview", *_READ, "Read a crawl in figures."),
    _route("GET", f"{_ONE_CRAWL}/findings", *_READ, "List what an audit found."),
    _route("GET", f"{_ONE_CRAWL}/findings/{{check}}", *_READ, "List the pages that a check applies to."),
    _route("GET", f"{_ONE_CRAWL}/pages", *_READ, "List the pages of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/pages/{{page_id}}", *_READ, "Read one page of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/links", *_READ, "List the links of a crawl."),
    _route("GET", f"{_ONE_CRAWL}/graph", *_READ, "Read or draw how the pages of a site link to each other."),
    _route("GET", f"{_ONE_CRAWL}/compare", *_READ, "Compare a crawl with another one, or with its run before."),
    _route("GET", f"{_ONE_CRAWL}/export", *_READ, "Take a crawl away in another form."),
    _route("GET", f"{_ONE_CRAWL}/backup", Role.ADMIN, "admin", "Take a copy of a crawl's database."),
)

# ---- Pages of crawls ---------------------------------------------------------------------------------------------------
_CRAWL = "/manage/crawls/{crawl_id}"
CRAWL_PAGE_ROUTES: tuple[Route, ...] = (
    _page("GET", "/manage/crawls", Role.VIEWER, "Crawls and how they stand."),
    _page("GET", "/manage/crawls/new", Role.EDITOR, "The form of a new crawl."),
    _page("POST", "/manage/crawls/new", Role.EDITOR, "Start a crawl.", recorded=True),
    _page("GET", _CRAWL, Role.VIEWER, "One crawl, live while it runs."),
    _page("POST", f"{_CRAWL}/run", Role.EDITOR, "Run a crawl, or go on with it.", recorded=True),
    _page("POST", f"{_CRAWL}/pause", Role.EDITOR, "Pause a crawl.", recorded=True),
    _page("POST", f"{_CRAWL}/stop", Role.EDITOR, "Stop a crawl; what it found stays.", recorded=True),
    _page("GET", f"{_CRAWL}/edit", Role.EDITOR, "The form of a crawl's name and rhythm."),
    _page("POST", f"{_CRAWL}/edit", Role.EDITOR, "Change a crawl's name and rhythm.", recorded=True),
    _page("GET", f"{_CRAWL}/remove", Role.EDITOR, "Ask whether a crawl is to go."),
    _page("POST", f"{_CRAWL}/remove", Role.EDITOR, "Remove a crawl with what it found.", recorded=True),
    _page("GET", f"{_CRAWL}/findings", Role.VIEWER, "What an audit found, with why and how to fix it."),
    _page("GET", f"{_CRAWL}/findings/{{check}}", Role.VIEWER, "One check and the pages it applies to."),
    _page("GET", f"{_CRAWL}/pages", Role.VIEWER, "The pages of a crawl."),
    _page("GET", f"{_CRAWL}/pages/{{page_id}}", Role.VIEWER, "One page with everything that is known of it."),
    _page("GET", f"{_CRAWL}/links", Role.VIEWER, "The links of a crawl, broken ones first."),
    _page("GET", f"{_CRAWL}/graph", Role.VIEWER, "The site as a picture."),
    _page("GET", f"{_CRAWL}/compare", Role.VIEWER, "A crawl beside its run before, or another crawl."),
    _page("GET", f"{_CRAWL}/exports", Role.VIEWER, "A crawl as files."),
)

# ---- The cluster ----------------------------------------------------------------------------------------------------
CLUSTER_ROUTES: tuple[Route, ...] = (
    _route("GET", f"{_API}/cluster", *_READ, "Read the workers, crawls and queue of the cluster in the same database."),
    _page("GET", "/manage/cluster", Role.VIEWER, "Workers, crawls and queue of the cluster."),
)

# ---- In a frame on another site -------------------------------------------------------------------------------------
EMBED_ROUTES: tuple[Route, ...] = (_page("GET", "/embed", Role.PUBLIC, "The calendar for a frame on another site."),)

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
