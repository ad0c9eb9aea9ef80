"""Sends notices about sources: failing, recovered, gone, or many events missing at once. Each notice is sent once.

The notices are in the database (`store.calendar.run_notifications`); any worker may send them. apprise sends them to mail, Slack,
webhooks and many other services by URL. These URLs come from the configuration, so private addresses are allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tadoru.errors import UsageError
from tadoru.extras import not_installed
from tadoru.store.calendar.records import Incident
from tadoru.store.calendar.store import CalendarStore

Send = Callable[[str, str, str], bool]
"""Sends a title and a text of a kind (`failure`, `success`, `warning`); returns whether all recipients got it."""


def create_sender(addresses: Sequence[str]) -> Send | None:
    """A function that sends to these URLs; None without URLs. Raises UsageError."""
    if not addresses:
        return None
    try:
        import apprise
    except ImportError as error:
        raise UsageError(not_installed("notifications", "notify")) from error
    everybody = apprise.Apprise()
    for number, address in enumerate(addresses, start=1):
        if not everybody.add(address):
            # Not the URL itself: it contains a password or a token.
            raise UsageError("Invalid --notify URL (number {number}). Use an Apprise URL, such as mailto://….", number=number)

    def send(title: str, text: str, kind: str) -> bool:
        return bool(everybody.notify(title=title, body=text, notify_type=kind))

    return send


def send_notices(store: CalendarStore, send: Send, log_stage: Callable[..., None]) -> int:
    """Send the due notices; returns how many were sent. Failed ones are retried later."""
    sent = 0
    for incident in store.incidents.claim_notices():
        title, text, kind = format_notice(store, incident)
        try:
            is_sent = send(title, text, kind)
        except Exception as error:  # Whatever a library for many services raises, collecting continues.
            log_stage("notify", source_id=incident.source_id, error=f"{type(error).__name__}: {error}")
            is_sent = False
        if is_sent:
            store.incidents.mark_notified(incident)
            sent += 1
        else:
            log_stage("notify", source_id=incident.source_id, error="Could not send the notice; it is retried later.")
            store.incidents.release_notice(incident)
    return sent


def format_notice(store: CalendarStore, incident: Incident) -> tuple[str, str, str]:
    """Title, text and kind of a notice."""
    name = _name(store, incident.source_id)
    detail: Any = incident.detail
    where = f"Source {incident.source_id}, {name}."
    if incident.closed_at is not None:
        titles = {"drop": f"{name}: missing events are back"}
        return titles.get(incident.kind, f"{name}: recovered"), f"{where} Collecting works again.", "success"
    match incident.kind:
        case "drop":
            text = f"{where} {detail.get('missing')} of {detail.get('known')} upcoming events are missing. Nothing was "
            text += f"removed. If this is correct, run `tadoru events run --source {incident.source_id} --accept-drop`."
            return f"{name}: many events are missing", text, "warning"
        case "gone":
            text = f"{where} The server returned status 410 (gone permanently). The source was disabled; its events stay."
            return f"{name}: gone, disabled", text, "failure"
    return (
        f"{name}: collecting failed",
        f"{where} {detail.get('error', '')} It is retried at increasing intervals.",
        "failure",
    )


def _name(store: CalendarStore, source_id: int) -> str:
    try:
        return store.sources.get(source_id).name
    except UsageError:
        return "removed source"
