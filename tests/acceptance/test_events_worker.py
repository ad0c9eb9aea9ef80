"""`tadoru events worker`: it collects what is due, tells people once, and ends when it is asked to."""

from __future__ import annotations

import http.server
import json
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.acceptance.calendar import Calendar, ics, meeting
from tests.acceptance.command import finished
from tests.support.site import Site


class WebhookReceiver:
    """A webhook that keeps what it gets."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.status = 200
        inbox = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if inbox.status == 200:
                    inbox.messages.append(json.loads(body))
                self.send_response(inbox.status)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"json://127.0.0.1:{self.server.server_port}/"

    @property
    def titles(self) -> list[str]:
        return [message["title"] for message in self.messages]


@pytest.fixture
def inbox() -> Iterator[WebhookReceiver]:
    made = WebhookReceiver()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_failure_and_recovery_are_told_once_each(calendar: Calendar, site: Site, inbox: WebhookReceiver) -> None:
    site.reply("/a.ics", status=404, times=2)
    site.reply("/a.ics", body=ics(meeting(1)), content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics", name="Town")
    for _ in range(4):
        calendar.run("--notify", inbox.address)
    assert inbox.titles == ["Town: collecting failed", "Town: recovered"]
    assert "The server returned status 404." in inbox.messages[0]["message"]


def test_a_sudden_drop_is_told_once_and_so_is_its_end(calendar: Calendar, site: Site, inbox: WebhookReceiver) -> None:
    whole = ics(*map(meeting, range(20)))
    site.reply("/a.ics", body=whole, content_type="text/calendar", times=1)
    site.reply("/a.ics", body=ics(*map(meeting, range(3))), content_type="text/calendar", times=2)
    site.reply("/a.ics", body=whole, content_type="text/calendar")
    calendar.add(site.url("/a.ics"), "ics", name="Town")
    for _ in range(5):
        calendar.run("--notify", inbox.address)
    assert inbox.titles == ["Town: many events are missing", "Town: missing events are back"]
    assert "17 of 20" in inbox.messages[0]["message"]


def test_a_notice_that_could_not_be_sent_is_sent_the_next_time(calendar: Calendar, site: Site, inbox: WebhookReceiver) -> None:
    site.reply("/a.ics", status=404)
    calendar.add(site.url("/a.ics"), "ics", name="Town")
    inbox.status = 500
    done = calendar.run("--notify", inbox.address)
    assert "Could not send the notice" in done.err
    inbox.status = 200
    calendar.run("--notify", inbox.address)
    calendar.run("--notify", inbox.address)
    assert inbox.titles == ["Town: collecting failed"]


def test_an_address_that_apprise_does_not_know_is_refused_without_being_shown(calendar: Calendar, site: Site) -> None:
    calendar.add(site.url("/a.ics"), "ics")
    done = calendar.run("--notify", "nonsense-s3cret")
    assert done.code == 2
    assert "--notify" in done.sentence
    assert "s3cret" not in done.err


def test_a_worker_collects_what_is_due_and_what_is_added_and_ends_when_asked(calendar: Calendar, site: Site) -> None:
    for number in range(3):
        site.reply(f"/{number}.ics", body=ics(meeting(number)), content_type="text/calendar")
        calendar.add(site.url(f"/{number}.ics"), "ics")
    process = calendar.tadoru.start("events", "-d", calendar.database, "worker", "--delay", "0", "--log-format", "json", "-vv")
    assert process.stderr is not None
    lines: list[dict[str, Any]] = []
    while sum(line.get("event", "").startswith("collected") for line in lines) < 3:
        text = process.stderr.readline()
        assert text, "the worker ended by itself"
        if text.startswith("{"):
            lines.append(json.loads(text))
    process.send_signal(signal.SIGTERM)
    done = finished(process)
    assert done.code == 0
    assert len(calendar.titles()) == 3
    stages = [line for line in lines if "stage" in line and line["stage"] in ("fetch", "normalise", "store")]
    assert {"source_id", "run_id", "stage", "duration", "error"} <= stages[0].keys()
    with calendar.store() as store:
        assert all(store.schedule.state(one.id).lease_worker is None for one in store.sources.list())
