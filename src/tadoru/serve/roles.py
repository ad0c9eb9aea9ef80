"""Who may do what: the roles, the scopes of keys, and one table of every route with the least role that it asks for.

The documentation is generated from this table, the tests try every role on every row of it, and the application does not start
when a route is not in it, or the other way round. Nothing here does I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


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
    Role.VIEWER: "Sees sources, runs and questions; changes nothing.",
    Role.EDITOR: "Edits events, answers questions, keeps sources and runs them.",
    Role.ADMIN: "Keeps users and keys, and reads the audit log.",
}
PEOPLE = (Role.VIEWER, Role.EDITOR, Role.ADMIN)
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
    "admin": (Role.ADMIN, "Read the metrics; keep users and keys; read the audit log."),
}
"""What a key may be limited to: the least role that has it, and what it allows."""


def role_of(scopes: frozenset[str]) -> Role:
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
    recorded: bool = False
    """What it does is in the audit log already, in words of its own: users, keys, signing in and out."""


def _route(method: str, path: str, role: Role, scope: str, what: str, **more: bool) -> Route:
    return Route(method=method, path=path, role=role, scope=scope, what=what, **more)


OPERATING = (
    _route("GET", "/healthz", Role.PUBLIC, "", "Say that the service runs."),
    _route("GET", "/readyz", Role.PUBLIC, "", "Say whether the database answers."),
    _route("GET", "/metrics", Role.ADMIN, "admin", "Numbers for Prometheus.", loopback=True),
    _route("GET", "/openapi.json", Role.PUBLIC, "", "The description of the REST interface."),
)

# ---- REST -----------------------------------------------------------------------------------------------------------
_API, _ADMIN = "/api/v1", "/api/v1/admin"
REST: tuple[Route, ...] = (
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
FEEDS: tuple[Route, ...] = (
    *(_route("GET", f"{under}/events.{name}", Role.PUBLIC, "", what) for name, what in _FEEDS.items() for under in ("", _API)),
    _route("GET", "/events/{event_id}/calendar.ics", Role.PUBLIC, "", "One event for a calendar program."),
)


# ---- Pages ----------------------------------------------------------------------------------------------------------
def _page(method: str, path: str, role: Role, what: str, **more: bool) -> Route:
    return _route(method, path, role, "", what, page=True, **more)


PAGES: tuple[Route, ...] = (
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

ROUTES: tuple[Route, ...] = OPERATING + REST + FEEDS + PAGES
"""Every route of the service."""
