"""`tadoru serve` as people start it: who is let in first, what it says, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import socket
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.acceptance.command import PATIENCE, CommandResult, Tadoru, finished
from tests.acceptance.serving import RunningService, announced, read, serving
from tests.support.postgres import server

FORM = {"content_type": "application/x-www-form-urlencoded"}


def test_it_answers_and_ends_when_it_is_asked_to(tadoru: Tadoru) -> None:
    with serving(tadoru) as service:
        assert service.ask("/healthz").data == {"status": "ok"}
        assert service.ask("/readyz").data == {"status": "ready"}
        assert service.ask("/openapi.json").data["info"]["title"] == "Tadoru"
        assert service.ask("/admin/sources").status == 401
        assert service.ask("/nothing-here").headers["content-type"] == "application/problem+json"
        metrics = service.ask("/metrics")
        assert 'tadoru_events{status="active"} 0.0' in metrics.text.splitlines()
        assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
        done = service.stop()
    assert (done.code, done.out) == (0, "")
    assert {line.partition(" ms=")[0] for line in done.err.splitlines()} == {
        "No administrator yet. Run `tadoru serve -d events.db users link admin` to print a one-time sign-in link.",
        "request method=GET path=/openapi.json status=200",
        "request method=GET path=/admin/sources status=401",
        "request method=GET path=/nothing-here status=404",
        "request method=GET path=/metrics status=200",
    }


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_that_is_under_way_is_answered_before_it_ends(tadoru: Tadoru, number: signal.Signals) -> None:
    body = urlencode({"name": "nobody", "password": "nothing at all"}).encode()
    with serving(tadoru) as service, closing(service.connect()) as connection:
        connection.putrequest("POST", "/sign-in")
        connection.putheader("Content-Length", str(len(body)))
        connection.putheader("Content-Type", FORM["content_type"])
        connection.putheader("Expect", "100-continue")
        connection.endheaders(body[:5])
        assert connection.sock.recv(100).startswith(b"HTTP/1.1 100")  # The route waits for the rest.
        service.process.send_signal(number)
        with closing(service.connect()) as other:
            wait_until_refused(other)
        connection.send(body[5:])
        assert read(connection).status == 401
        assert service.process.wait(PATIENCE) == 0


def wait_until_refused(connection: object) -> None:
    """Until the service listens no more. Each try waits for an answer, so that this is no busy loop."""
    for _ in range(1000):
        try:
            connection.request("GET", "/healthz")  # type: ignore[attr-defined]
            connection.getresponse().read()  # type: ignore[attr-defined]
        except (ConnectionError, OSError):
            return
        finally:
            connection.close()  # type: ignore[attr-defined]
    raise AssertionError("It still listens.")


def test_the_first_link_is_shown_on_a_terminal_and_opens_once(tadoru: Tadoru) -> None:
    with on_terminal(tadoru) as (service, shown):
        link = re.search(r"http://127\.0\.0\.1:\d+/welcome\?token=([\w-]+)", shown)
        assert link is not None, shown
        assert "To sign in as admin, open this one-time link within an hour:" in shown
        data = urlencode({"token": link[1], "password": "correct horse battery", "again": "correct horse battery"})
        assert service.ask(f"/welcome?token={link[1]}", accept="text/html").status == 200
        told = service.ask("/welcome", "POST", data, **FORM)
        assert told.status == 303, told.text
        cookie = told.headers["set-cookie"].partition(";")[0]
        assert service.ask("/admin/sources", cookie=cookie).status == 200
        assert service.ask("/welcome", "POST", data, **FORM).status != 303
        service.process.send_signal(signal.SIGINT)
        assert service.process.wait(PATIENCE) == 0
    users = json.loads(tadoru("serve", "-d", "events.db", "users", "list", "--format", "json").out)
    assert [(one["name"], one["role"]) for one in users] == [("admin", "admin")]
    with on_terminal(tadoru) as (_, shown):
        assert "welcome" not in shown


class on_terminal:  # noqa: N801 - reads as a sentence
    """The command with a terminal for its stderr; gives the service, and what was shown at its start."""

    def __init__(self, tadoru: Tadoru) -> None:
        self._ours, theirs = pty.openpty()
        self._process = tadoru.start("serve", "-d", "events.db", "--port", "0", "--quiet", stderr=theirs)
        os.close(theirs)

    def __enter__(self) -> tuple[RunningService, str]:
        shown = self._line()
        port = int(re.search(r"Serving on http://[\w.]+:(\d+)/ ", shown)[1])  # type: ignore[index]
        service = RunningService(self._process, port)
        assert service.ask("/readyz").status == 200
        os.set_blocking(self._ours, False)
        with suppress(BlockingIOError):
            shown += os.read(self._ours, 65536).decode()
        return service, shown

    def _line(self) -> str:
        shown = b""
        while b"\n" not in shown:
            shown += os.read(self._ours, 1)
        return shown.decode()

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        os.close(self._ours)


def test_a_link_of_the_command_makes_the_first_admin(tadoru: Tadoru) -> None:
    done = tadoru("serve", "-d", "events.db", "--base-url", "https://events.example/", "users", "link", "Mia")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"https://events\.example/welcome\?token=[\w-]{43}\n", done.out)
    assert "User ben not found" in tadoru("serve", "users", "link", "ben", "-d", "events.db").sentence
    listed = tadoru("serve", "-d", "events.db", "users", "list").out.splitlines()
    assert [line.split() for line in listed] == [
        ["Name", "Role", "Sign-in", "Last", "sign-in"],
        ["mia", "admin", "link"],
    ]


def test_while_there_is_no_admin_a_link_for_somebody_new_makes_one(tadoru: Tadoru) -> None:
    """The service says so at its start, also when editors are there already."""
    assert tadoru("serve", "users", "add", "mia", "--role", "editor", "-d", "events.db").code == 0
    assert tadoru("serve", "users", "link", "mia", "-d", "events.db").code == 0
    assert "/welcome?token=" in tadoru("serve", "users", "link", "admin", "-d", "events.db").out
    assert "User ben not found" in tadoru("serve", "users", "link", "ben", "-d", "events.db").sentence
    lines = tadoru("serve", "users", "list", "-d", "events.db").out.splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["admin", "admin"], ["mia", "editor"]]


def test_users_and_keys_come_and_go(tadoru: Tadoru) -> None:
    def serve(*arguments: str, stdin: str | None = None) -> CommandResult:
        return tadoru("serve", "-d", "events.db", *arguments, stdin=stdin)

    assert "Database events.db not found" in serve("users", "list").sentence
    serve("users", "link", "root")
    assert serve("users", "add", "mia", "--role", "viewer", "--password-stdin", stdin="correct horse\n").code == 0
    assert "at least 10 characters" in serve("users", "add", "x", "--password-stdin", stdin="short\n").err
    assert "root is the only admin" in serve("users", "revoke", "root").sentence
    assert "root is the only admin" in serve("users", "role", "root", "editor").sentence
    assert "User ben not found" in serve("users", "role", "ben", "editor").sentence
    assert serve("users", "role", "Mia", "editor").err == "Changed the role of mia from viewer to editor.\n"
    assert serve("users", "role", "mia", "viewer").code == 0
    refused = serve("keys", "add", "ci", "--scope", "events:write", "--user", "mia")
    assert (refused.code, "The role of mia (viewer) does not include" in refused.sentence) == (2, True)
    assert "Unknown scope “all”" in serve("keys", "add", "ci", "--scope", "all").sentence
    made = serve("keys", "add", "ci", "--scope", "sources:read", "--user", "mia", "--expires", "90d")
    key = made.out.strip()
    assert re.fullmatch(r"tdr_[a-z0-9]{8}_[\w-]{43}", key)
    assert made.err == "Created the key ci. Save it now: it is not shown again.\n"
    with serving(tadoru) as service:
        bearer = {"authorization": f"Bearer {key}"}
        assert service.ask("/admin/sources", **bearer).status == 200
        assert service.ask("/api/v1/admin/runs", **bearer).status == 403
        (told,) = json.loads(serve("keys", "list", "--format", "json").out)
        assert (told["prefix"], told["scopes"], told["user"], told["valid"]) == (key[:12], ["sources:read"], "mia", True)
        assert told["last_used_at"] is not None
        assert serve("keys", "revoke", key[:12]).code == 0
        assert service.ask("/admin/sources", **bearer).status == 401
        done = service.stop()
    assert key[13:] not in done.err
    assert "revoked" in serve("keys", "list").out
    assert serve("users", "revoke", "mia").err == "Revoked mia.\n"
    assert "mia is already revoked" in serve("users", "revoke", "mia").sentence
    with closing(sqlite3.connect(tadoru.folder / "events.db")) as sql:
        what = [row[0] for row in sql.execute("SELECT what FROM audit_log ORDER BY id")]
        assert what == [
            "user.add",
            "user.link",
            "user.add",
            "user.role",
            "user.role",
            "key.add",
            "service.start",
            "key.revoke",
            "user.revoke",
        ]
        assert not any(key[13:] in str(row) or "correct horse" in str(row) for row in sql.execute("SELECT * FROM audit_log"))


def test_several_processes_answer_on_one_port(tadoru: Tadoru) -> None:
    with serving(tadoru, "--workers", "2", "--log-format", "json") as service:
        assert service.ask("/readyz").status == 200
        with ThreadPoolExecutor(8) as pool:
            assert {one.status for one in pool.map(lambda _: service.ask("/openapi.json"), range(60))} == {200}
        done = service.stop()
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in done.err.splitlines() if line.startswith("{")]
    assert {line["event"] for line in lines} == {"request"}
    assert len(lines) == 60


def test_a_port_that_is_taken_is_one_sentence(tadoru: Tadoru) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = tadoru("serve", "-d", "events.db", "--port", str(port))
    assert done.code == 2
    assert done.sentence == f"Cannot listen on 127.0.0.1, port {port}: Address already in use. Choose another --port or --host."
    assert not (tadoru.folder / "events.db").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_database_that_can_not_be_used_is_one_sentence(tadoru: Tadoru, workers: str) -> None:
    (tadoru.folder / "notes.txt").write_text("These are notes, and no database at all. " * 100)
    done = tadoru("serve", "-d", "notes.txt", "--port", "0", "--workers", workers)
    assert done.code == 1
    assert done.err.splitlines()[-1] == "tadoru: notes.txt is not a SQLite database. Choose another file, or remove this one."
    (tadoru.folder / "file").write_text("")
    done = tadoru("serve", "-d", "file/events.db", "--port", "0", "--workers", workers)
    assert (done.code, "Cannot create the folder of file/events.db" in done.err) == (1, True)


def test_what_can_not_be_meant_is_refused(tadoru: Tadoru) -> None:
    for arguments, words in (
        (("--port", "70000"), "--port must be a whole number from 0 to 65,535"),
        (("--base-url", "events.example/path"), "--base-url must be a URL without a path, such as https://events.example"),
        (("--timezone", "Nowhere"), "--timezone must be a time zone such as Asia/Tokyo or UTC"),
        (("--host", "999.1.1.1"), "Cannot listen on 999.1.1.1"),
        (("nothing",), "Unknown command “tadoru serve nothing”"),
    ):
        done = tadoru("serve", "-d", "events.db", *arguments)
        assert (done.code, words in done.sentence) == (2, True), done.err


def test_options_come_from_a_file_too(tadoru: Tadoru) -> None:
    (tadoru.folder / "tadoru.yml").write_text("serve:\n  port: 8123\n  cors: [https://town.example]\n  rate_limit: 7\n")
    shown = json.loads(tadoru("serve", "--show-config").out)["serve"]
    assert (shown["port"]["value"], shown["cors"]["value"], shown["rate_limit"]["value"]) == (8123, ["https://town.example"], 7)


def test_it_stands_on_postgresql_as_well(tadoru: Tadoru) -> None:
    database = server().new_database()
    process = tadoru.start("serve", "-d", database, "--port", "0", "--workers", "2")
    try:
        service = announced(process)
        assert service.ask("/readyz").status == 200
        assert service.ask("/api/v1/events").data["items"] == []
        assert service.stop().code == 0
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
        server().drop(database)


def test_a_worker_that_dies_is_replaced(tadoru: Tadoru) -> None:
    with serving(tadoru, "--workers", "2", "--log-format", "json") as service:
        assert service.ask("/openapi.json").status == 200
        children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text().split()
        for child in children:
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                os.kill(int(child), signal.SIGKILL)
        assert service.ask("/openapi.json").status == 200
        assert service.stop().code == 0


def test_the_log_is_quiet_when_asked(tadoru: Tadoru) -> None:
    with serving(tadoru, "--quiet") as service:
        assert service.ask("/openapi.json").status == 200
        done = service.stop()
    assert "request" not in done.err


def test_a_query_that_is_not_encoded_is_understood(tadoru: Tadoru) -> None:
    head = "Host: 127.0.0.1\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
    with serving(tadoru) as service:
        for parts in (
            [f"GET /?city=盛岡&lang=en HTTP/1.1\r\n{head}"],
            ["GET /?city=盛", f"岡&lang=en HTTP/1.1\r\n{head}"],
        ):
            with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as raw:
                raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for part in parts:
                    raw.sendall(part.encode())
                text = b"".join(iter(lambda: raw.recv(65536), b"")).decode()
            assert text.startswith("HTTP/1.1 200"), text[:200]
            assert 'value="盛岡"' in text
        body = urlencode({"name": "nobody", "password": "x"}) + "&again=盛岡"
        assert service.ask("/sign-in", "POST", body.encode(), **FORM).status == 401  # type: ignore[arg-type]


def test_the_link_of_a_user_leads_to_the_port_of_the_service(tadoru: Tadoru) -> None:
    with serving(tadoru) as service:
        link = tadoru("serve", "-d", "events.db", "users", "link", "admin").out
        assert link.startswith(f"http://127.0.0.1:{service.port}/welcome?token=")
        assert service.ask(link.strip().partition(f":{service.port}")[2], accept="text/html").status == 200
        given = tadoru("serve", "-d", "events.db", "--port", "9000", "users", "link", "admin").out
        assert given.startswith("http://127.0.0.1:9000/welcome")


def test_garbage_on_the_socket_stops_nothing(tadoru: Tadoru) -> None:
    with serving(tadoru, "--log-format", "json") as service:
        for garbage in (
            b"\x16\x03\x01\x02\x00",
            b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            b"GET /" + b"a" * 100_000,
            b"\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", service.port), timeout=PATIENCE) as raw:
                raw.sendall(garbage)
                raw.shutdown(socket.SHUT_WR)
                assert b"200 OK" not in raw.recv(65536)
        assert service.ask("/healthz").status == 200
        done = service.stop()
    assert done.code == 0
    assert all(line.startswith(("{", "No administrator")) for line in done.err.splitlines()), done.err


def test_a_copy_of_the_service_without_its_packages_says_what_to_install(tadoru: Tadoru) -> None:
    program = "import sys; sys.modules['fastapi'] = None; from tadoru.cli.main import main; main(['serve', '--port', '0'])"
    done = tadoru.python(program)
    assert done.code == 2
    assert "Packages for the service are not installed. Install them with `" in done.sentence
    assert "[serve]'`." in done.sentence


def test_processes_end_when_the_one_that_started_them_is_killed(tadoru: Tadoru) -> None:
    with serving(tadoru, "--workers", "2") as service:
        assert service.ask("/readyz").status == 200
        service.process.kill()
        # Its output ends when the last of those who can write to it has ended.
        assert finished(service.process).code == -signal.SIGKILL
