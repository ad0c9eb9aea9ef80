"""A crawl that repeats itself finds a site worse than before, and well again: each is told once, to people and to a webhook."""

from __future__ import annotations

import email
import hashlib
import hmac
import json
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tadoru.jobs.audit.trend import count_problems, mark_recovery
from tadoru.jobs.service_crawl import docs_changes, links_changes
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.notifier import SIGNATURE_HEADER, TIMESTAMP_HEADER, WebhookNotifier, post_webhook, webhook_message
from tadoru.serve.problems import HttpProblem
from tadoru.store.crawl.workers import current, machine_name
from tadoru.store.served_crawls.schema import CrawlState
from tests.serve.crawl_runner.runner import BY, RunnerHarness
from tests.support.clock import FakeClock
from tests.support.exchange import Exchange, Reply
from tests.support.site import Site


class WebhookReceiver:
    """A webhook that keeps what it is told."""

    def __init__(self, site: Site, path: str = "/hook") -> None:
        self.statuses: list[int] = []
        """What it answers, one after the other; 204 when there is nothing more."""
        self.site, self.path, self.url = site, path, site.url(path)
        site.handle(path, self._answer)

    async def _answer(self, exchange: Exchange, _: str) -> None:
        await exchange.send(Reply(self.statuses.pop(0) if self.statuses else 204))

    @property
    def calls(self) -> int:
        return self.site.hits(self.path)


@pytest.fixture
def hooks() -> Iterator[Site]:
    with Site() as site:
        yield site


def told(runner: RunnerHarness) -> None:
    """Tell what there is to tell, and wait until that is done."""
    notifier = WebhookNotifier(runner.service, backoff=(0.0, 0.0))
    notifier.poll()
    notifier._threads.shutdown()


def shop(site: Site) -> None:
    site.page("/", links=["/a", "/b"], title="A shop with a title that is long enough")
    for path in ("/a", "/b"):
        site.page(path, links=["/"], title=f"A page {path} with a title that is long enough")


def test_an_audit_is_told_when_it_finds_the_site_worse_and_when_it_is_well_again(tmp_path: Path, site: Site, hooks: Site) -> None:
    runner = RunnerHarness(tmp_path, site, hooks)
    hook = WebhookReceiver(hooks)
    try:
        shop(site)
        number = runner.add("audit", site.url("/"), webhook=hook.url).id
        runs = [runner.run_here(number)]
        site.reply("/b", status=500)
        runs.append(runner.run_again(number))
        told(runner)
        told(runner)
        assert hook.calls == 1, "once, whoever looks"
        runs.append(runner.run_again(number))  # Neither better nor worse.
        told(runner)
        assert hook.calls == 1
        site.page("/b", links=["/"], title="A page /b with a title that is long enough")
        runs.append(runner.run_again(number))
        told(runner)
        runs.append(runner.run_again(number))
        told(runner)
        assert hook.calls == 2
    finally:
        runner.close()
    assert [bool(run.changes.get("regression")) for run in runs] == [False, True, False, False, False]
    assert [bool(run.changes.get("recovered")) for run in runs] == [False, False, False, True, False]
    assert runs[1].changes["reasons"][:1] == ["1 page broke."]
    assert runs[1].changes["new"] > 0
    assert runs[3].changes["fixed"] >= runs[1].changes["new"]
    assert [run.figures["status.5xx"] for run in runs] == [0, 1, 1, 0, 0]
    assert [run.figures["broken_links"] for run in runs] == [0, 1, 1, 0, 0]
    assert runs[0].figures["score"] > runs[1].figures["score"]


def run_of(runner: RunnerHarness, changes: dict[str, Any], webhook: str) -> int:
    """A crawl whose run came to that."""
    number = runner.add("audit", "https://example.com/", webhook=webhook).id
    runner.store.claims.claim(current(), at_once=99)
    runner.store.claims.end(number, current(), CrawlState.FINISHED, figures={"pages": 3}, changes=changes)
    return number


WORSE = {"regression": True, "reasons": ["1 page broke."], "before": 0}


def test_a_message_says_what_it_is_about_and_is_signed(tmp_path: Path, hooks: Site) -> None:
    runner = RunnerHarness(tmp_path, hooks, webhook_secret="a secret", base_url="https://tadoru.example")
    hook = WebhookReceiver(hooks)
    try:
        number = run_of(runner, WORSE, hook.url)
        told(runner)
        (seen,) = [one for one in hooks.requests if one.path == "/hook"]
        assert seen.method == "POST"
        assert seen.headers["content-type"] == "application/json"
        moment, signature = seen.headers[TIMESTAMP_HEADER.lower()], seen.headers[SIGNATURE_HEADER.lower()]
        message = webhook_message(runner.service, runner.store.crawls.get(number), runner.store.crawls.runs(number)[0])
        body = json.dumps(message, ensure_ascii=False).encode()
        assert signature == "sha256=" + hmac.new(b"a secret", moment.encode() + b"." + body, hashlib.sha256).hexdigest()
        assert (message["event"], message["reasons"]) == ("crawl.regression", ["1 page broke."])
        assert message["url"] == f"https://tadoru.example/manage/crawls/{number}"
        assert runner.notices(number) == ["Webhook notified."]
    finally:
        runner.close()


@pytest.mark.parametrize(
    "statuses, calls, words",
    [
        ([503, 429], 3, "Webhook notified."),
        ([500, 500, 500], 3, "The webhook could not be notified: status 500."),
        ([404], 1, "The webhook could not be notified: status 404."),
        ([302], 1, "The webhook could not be notified: status 302."),
    ],
)  # fmt: skip
def test_a_webhook_that_fails_is_tried_again_where_that_may_help(
    tmp_path: Path, hooks: Site, statuses: list[int], calls: int, words: str
) -> None:
    runner = RunnerHarness(tmp_path, hooks)
    hook = WebhookReceiver(hooks)
    hook.statuses = list(statuses)
    try:
        number = run_of(runner, WORSE, hook.url)
        told(runner)
        assert (hook.calls, runner.notices(number)) == (calls, [words])
        assert runner.store.claims.unnotified_runs() == ()
    finally:
        runner.close()


def test_what_waits_to_be_tried_again_is_left_to_the_next_start(tmp_path: Path, hooks: Site) -> None:
    runner = RunnerHarness(tmp_path, hooks)
    hook = WebhookReceiver(hooks)
    hook.statuses = [503]
    try:
        run_of(runner, WORSE, hook.url)
        notifier = WebhookNotifier(runner.service, backoff=(3600.0,))
        notifier.poll()
        hooks.wait_for(lambda site: site.hits("/hook") == 1)
        notifier.stop()
        assert len(runner.store.claims.unnotified_runs()) == 1
        told(runner)
        assert (hook.calls, runner.store.claims.unnotified_runs()) == (2, ())
    finally:
        runner.close()


def test_a_webhook_can_not_be_used_to_reach_this_machine(strict: RunnerHarness, hooks: Site) -> None:
    hook = WebhookReceiver(hooks)
    for address in (hook.url, "http://localhost/x", "http://[::1]/", "http://169.254.169.254/", "ftp://example.com/", "x"):
        with pytest.raises(HttpProblem) as refused:
            control.add(strict.service, BY, name="x", job="audit", starts=["https://example.com/"], options={}, webhook=address)
        assert refused.value.status_code == 422
        assert address not in refused.value.detail or address == "x"
    for host in ("127.0.0.1", "localhost"):
        is_final, why = post_webhook(strict.service, f"http://{host}:{hooks.port}/hook?token=secret", {})
        assert is_final
        assert "blocked address" in why
        assert "secret" not in why
    assert hooks.connections == 0
    number = run_of(strict, WORSE, f"http://localhost:{hooks.port}/hook?token=secret")
    told(strict)
    assert strict.notices(number) == ["The webhook could not be notified: no response from localhost (blocked address)."]
    assert "secret" not in strict.said.getvalue()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Of the library that sends, while it is imported.
def test_people_are_notified_by_the_addresses_of_the_operator(tmp_path: Path, hooks: Site) -> None:
    hook = WebhookReceiver(hooks, "/people")
    hook.statuses = [200, 500]
    runner = RunnerHarness(tmp_path, notify=(hook.url.replace("http://", "json://"),))
    try:
        first, second = run_of(runner, WORSE, ""), run_of(runner, {"recovered": True}, "")
        told(runner)
        assert hook.calls == 2
        notices = runner.notices(first) + runner.notices(second)
        assert sorted(notices) == ["Notification sent.", "The notification could not be sent."]
    finally:
        runner.close()


class MailServer(socketserver.ThreadingTCPServer):
    """A mail server on loopback that accepts every message and keeps it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), MailSession)
        self.messages: list[str] = []


class MailSession(socketserver.StreamRequestHandler):
    """One connection with the mail server."""

    server: MailServer

    def handle(self) -> None:
        self.wfile.write(b"220 mail.example\r\n")
        while line := self.rfile.readline():
            command = line[:4].upper()
            if command == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = iter(self.rfile.readline, b".\r\n")
                self.server.messages.append(b"".join(lines).decode())
            self.wfile.write(b"221 bye\r\n" if command == b"QUIT" else b"250 ok\r\n")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Of the library that sends, while it is imported.
def test_the_report_of_a_scheduled_run_is_mailed_with_a_link_that_opens_it(tmp_path: Path) -> None:
    with MailServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        mail = f"mailto://127.0.0.1:{server.server_address[1]}?from=tadoru@example.com"
        runner = RunnerHarness(tmp_path, notify=(mail,), port=8123)
        try:
            number = runner.store.crawls.add(
                "Shop", "audit", ["https://shop.example/"], {}, BY, every=86400, report_to="client@example.com"
            ).id
            runner.store.claims.claim(current(), at_once=99)
            runner.store.claims.end(number, current(), CrawlState.FINISHED, figures={"pages": 3, "score": 91.5}, changes={})
            told(runner)
            assert runner.notices(number) == ["Report sent."]
            [message] = [email.message_from_string(one) for one in server.messages]
            parts = [part.get_payload(decode=True) for part in message.walk() if part.get_content_type() == "text/plain"]
            text = b"".join(part for part in parts if isinstance(part, bytes)).decode()
            assert (message["To"], "Health score: 91.5 of 100" in text) == ("client@example.com", True)
            link = text[text.index("http://127.0.0.1:8123/shared?key=") :].split()[0]
            shared = runner.store.annotations.open_share(unquote(link.partition("key=")[2]))
            assert shared is not None
            assert shared.crawl_id == number
        finally:
            runner.close()
            server.shutdown()


def test_a_crawl_is_run_again_when_its_time_has_come_and_missed_times_once(tmp_path: Path, site: Site) -> None:
    clock = FakeClock()
    runner = RunnerHarness(tmp_path, site, clock=clock)
    try:
        site.page("/", links=[])
        number = runner.add("links", site.url("/"), every=3600).id
        runner.run_here(number)
        assert runner.store.crawls.get(number).next_at is not None
        assert runner.store.claims.queue_due(machine_name()) == 0
        clock.advance(100 * 3600)
        assert runner.store.claims.queue_due(machine_name()) == 1
        runner.run_here(number)
        assert site.hits("/") == 2, "a crawl of links begins anew"
        assert runner.store.claims.queue_due(machine_name()) == 0
        assert len(runner.store.crawls.runs(number)) == 2
    finally:
        runner.close()


def test_a_site_that_is_gone_is_told_once_and_its_return_too(runner: RunnerHarness, site: Site) -> None:
    site.page("/", links=[])
    number = runner.add("links", site.url("/")).id
    runner.run_here(number)
    site.robots("User-agent: *\nDisallow: /\n")
    runs = [runner.run_again(number)]
    assert "robots.txt" in runner.store.crawls.get(number).error
    runs.append(runner.run_again(number))
    site.robots("")
    runs.append(runner.run_again(number))
    assert [run.outcome for run in runs] == ["failed", "failed", "finished"]
    assert [bool(run.changes.get("regression")) for run in runs] == [True, False, False]
    assert [bool(run.changes.get("recovered")) for run in runs] == [False, False, True]


def test_documentation_that_loses_many_pages_at_once_is_a_regression(runner: RunnerHarness, site: Site) -> None:
    assert not docs_changes({"pages": 20, "added": 3, "changed": 9, "removed": 5})["regression"]
    assert docs_changes({"pages": 20, "added": 0, "changed": 0, "removed": 6})["regression"]
    assert not docs_changes({"pages": 100, "added": 0, "changed": 0, "removed": 20})["regression"]
    paths = [f"/{number}" for number in range(8)]
    site.page("/", links=paths, body="<p>Words to begin with.</p>")
    for path in paths:
        site.page(path, body=f"<p>Words of {path}, which are its own.</p>")
    number = runner.add("docs", site.url("/")).id
    assert runner.run_here(number).figures["pages"] == 9
    site.page("/", links=paths[:2], body="<p>Words to begin with, changed.</p>")
    for path in paths[2:]:
        site.reply(path, status=404)
    run = runner.run_again(number)
    assert (run.figures["changed"], run.figures["removed"]) == (1, 6)
    assert run.changes["reasons"] == ["6 of 9 pages are gone."]


def test_more_broken_links_than_before_are_a_regression() -> None:
    assert links_changes({"broken_links": 3}, {"broken_links": 1})["reasons"] == ["3 broken links; 1 before."]
    assert links_changes({"broken_links": 1}, {"broken_links": 3}) == {
        "regression": False, "reasons": [], "reason_codes": [], "new": 0, "fixed": 2,
    }  # fmt: skip


def test_a_regression_is_over_when_the_site_is_as_good_as_before_it() -> None:
    good, bad = {"errors": 1, "findings.error": 2}, {"errors": 4, "findings.error": 2}
    first = mark_recovery({"regression": True}, bad, [("finished", good, {})])
    assert first["before"] == count_problems(good) == 3
    earlier = [("finished", bad, first), ("finished", good, {})]
    assert "recovered" not in mark_recovery({"regression": False}, bad, earlier)
    assert mark_recovery({"regression": False}, good, [("finished", bad, {}), *earlier])["recovered"]
    worse = mark_recovery({"regression": True}, {"errors": 9}, earlier)
    assert worse["before"] == 3, "what it was like before the first of them"
    died = [("failed", {}, {"regression": True}), ("finished", good, {})]
    assert mark_recovery({}, good, died)["recovered"], "what it was like before is known by the run before"
    assert "recovered" not in mark_recovery({}, bad, died)
    recovered = [("finished", good, {"recovered": True}), *earlier]
    assert "recovered" not in mark_recovery({"regression": False}, good, recovered)
    assert "recovered" not in mark_recovery({}, {}, earlier), "a run that says nothing about the site says nothing about this"
