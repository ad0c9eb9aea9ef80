"""Telling people: a source fails, is well again, is gone, or lost many of its events at once. Each is told once.

What is to be told is in the database (`store.calendar.run_notifications`); any worker may tell it. The only room that knows apprise, which
knows mail, Slack, webhooks and many more by their addresses. A person configured those addresses, so that private ones are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tadoru.errors import UsageError
from tadoru.extras import not_installed
from tadoru.store.calendar.records import Incident
from tadoru.store.calendar.store import CalendarStore

Send = Callable[[str, str, str], bool]
"""Sends a title and a text of a kind (`failure`, `success`, `warning`); whether everybody got it."""


def create_sender(addresses: Sequence[str]) -> Send | None:
    """What sends to these addresses; None when there are none. Raises UsageError."""
    if not addresses:
        return None
    try:
        import apprise
    except ImportError as error:
        raise UsageError(not_installed("notifications", "notify")) from error
    everybody = apprise.Apprise()
    for number, address in enumerate(addresses, start=1):
        if not everybody.add(address):
            # Not the address itself: it holds a password or a token.
            raise UsageError(f"The {number}. address of --notify cannot be used: write it as apprise does, such as mailto://….")

    def send(title: str, text: str, kind: str) -> bool:
        return bool(everybody.notify(title=title, body=text, notify_type=kind))

    return send


def send_notices(store: CalendarStore, send: Send, say: Callable[..., None]) -> int:
    """Send what is to be told; how much was. What cannot be sent is tried again later."""
    sent = 0
    for incident in store.claim_notices():
        title, text, kind = format_notice(store, incident)
        try:
            is_sent = send(title, text, kind)
        except Exception as error:  # Whatever a library of many services raises, collecting goes on.
            say("notify", source_id=incident.source_id, error=f"{type(error).__name__}: {error}")
            is_sent = False
        if is_sent:
            store.mark_notified(incident)
            sent += 1
        else:
            say("notify", source_id=incident.source_id, error="The notice could not be sent; it is tried again later.")
            store.release_notice(incident)
    return sent


def format_notice(store: CalendarStore, incident: Incident) -> tuple[str, str, str]:
    """Title, text and kind of a notice."""
    name = _name(store, incident.source_id)
    detail: Any = incident.detail
    where = f"Source {incident.source_id}, {name}."
    if incident.closed_at is not None:
        titles = {"drop": f"{name}: the events are back"}
        return titles.get(incident.kind, f"{name}: collected again"), f"{where} It is well again.", "success"
    match incident.kind:
        case "drop":
            text = f"{where} {detail.get('missing')} of {detail.get('known')} coming events are no longer in it. Nothing was "
            text += f"removed; if that is right, run `tadoru events run --source {incident.source_id} --accept-drop`."
            return f"{name}: many events are gone at once", text, "warning"
        case "gone":
            text = f"{where} The server answered 410: it is gone for good. The source was disabled; its events stay."
            return f"{name}: gone, and disabled", text, "failure"
    return (
        f"{name}: cannot be collected",
        f"{where} {detail.get('error', '')} It is tried again, less and less often.",
        "failure",
    )


def _name(store: CalendarStore, source_id: int) -> str:
    try:
        return store.source(source_id).name
    except UsageError:
        return "a source that was removed"
