"""A name that is public when somebody gives it to the service and private when it is connected to leads nowhere.

The system's resolver is stood in for: it answers for names below `.example` what a hostile name server would, another thing each
time. What counts is the connection: a listener on loopback, which nobody allowed, hears of none.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_options import JOBS
from tadoru.store.served_crawls.schema import CrawlState
from tests.serve.crawl_runner.runner import BY, FAST, RunnerHarness
from tests.support.serving import ServiceHarness
from tests.support.site import Site

PUBLIC, LOOPBACK = "93.184.215.14", "127.0.0.1"
NAME = "rebind.example"


class NameServer:
    """What a name resolves to, and how often it was asked for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answer, self.asked = PUBLIC, 0
        self._real = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._look_up)

    def _look_up(self, host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != NAME:
            return self._real(host, port, *rest, **more)
        self.asked += 1
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (self.answer, port or 0))]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> NameServer:
    return NameServer(monkeypatch)


@pytest.fixture
def other() -> Iterator[Site]:
    """Another service of this machine, which nobody allowed."""
    with Site() as site:
        site.page("/", body="<p>secret</p>")
        yield site


@pytest.mark.parametrize("job", JOBS)
def test_a_start_that_becomes_private_is_refused_at_the_connection(
    strict: RunnerHarness, names: NameServer, other: Site, job: str
) -> None:
    url = f"http://{NAME}:{other.port}/"
    assert socket.getaddrinfo(NAME, None)[0][4][0] == PUBLIC
    crawl = control.add(strict.service, BY, name="x", job=job, starts=[url], options={})
    names.answer, before = LOOPBACK, names.asked
    strict.run_here(crawl.id)
    found = strict.store.crawls.get(crawl.id)
    assert (found.state, "is a loopback address" in found.error) == (CrawlState.FAILED, True)
    assert names.asked > before
    assert (other.requests, other.connections) == ([], 0)


@pytest.mark.parametrize("way", ["link", "redirect", "sitemap"])
def test_a_page_can_not_lead_to_a_name_that_becomes_private(
    runner: RunnerHarness, site: Site, names: NameServer, other: Site, way: str
) -> None:
    secret = f"http://{NAME}:{other.port}/"
    names.answer = LOOPBACK
    site.page("/", links=[secret] if way == "link" else ["/on"], body="<p>Words.</p>")
    site.redirect("/on", secret) if way == "redirect" else site.page("/on", body="<p>Words.</p>")
    site.robots(f"User-agent: *\nSitemap: {secret if way == 'sitemap' else site.url('/sitemap.xml')}\n")
    number = runner.add("audit", site.url("/"), check_external=True).id
    runner.run_here(number)
    assert runner.state(number) is CrawlState.FINISHED
    assert (other.requests, other.connections) == ([], 0)


def test_a_source_that_was_public_when_it_was_added_is_refused_when_it_is_collected(
    tmp_path: Path, names: NameServer, other: Site
) -> None:
    harness = ServiceHarness(tmp_path / "events.db")
    given = {"name": "町", "type": "ics", "url": f"http://{NAME}:{other.port}/events.ics"}
    names.answer = LOOPBACK
    assert harness.editor.post("/api/v1/admin/sources", json=given).status_code == 422
    names.answer = PUBLIC
    made = harness.editor.post("/api/v1/admin/sources", json=given)
    assert made.status_code == 201, made.text
    names.answer, before = LOOPBACK, names.asked
    trial = harness.editor.post(f"/api/v1/admin/sources/{made.json()['id']}/test").json()
    assert "loopback" in trial["error"]
    assert names.asked > before
    assert other.connections == 0
    harness.close()


def test_an_exception_for_one_host_holds_for_no_name_that_leads_there(
    runner: RunnerHarness, site: Site, names: NameServer
) -> None:
    """The operator allowed an address; a stranger's name for it is another host."""
    names.answer = LOOPBACK
    site.page("/", body="<p>Words.</p>")
    number = runner.add("audit", f"http://{NAME}:{site.port}/", **FAST).id
    runner.run_here(number)
    assert runner.state(number) is CrawlState.FAILED
    assert site.connections == 0
