"""A page cannot make the browser connect to an address that is not the public's, by any of the ways browsers have.

In a network namespace the loopback interface carries a public address with the page on it, private ones with listeners, and the
machine's own name servers. `python -m tests.browser.test_no_way_around_the_guard` is what runs inside.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tadoru.fetch.base import BrowserOptions
from tadoru.fetch.browser.browser import Browser
from tadoru.fetch.browser.request_filter import BrowserPolicy
from tadoru.model.web import Failure
from tadoru.rules.address import Exemptions
from tests.browser.pages import kind, render, rendered
from tests.support.namespaces import run_in_namespace
from tests.support.site import Site

EVERYTHING = """<!DOCTYPE html><title>start</title><p>page</p><script>
const hosts = HOSTS;
const add = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
const attempts = {
  fetch: u => fetch(u, {mode: "no-cors"}),
  cors: u => fetch(u, {method: "PUT", headers: {"X-A": "1"}}),
  xhr: u => { const x = new XMLHttpRequest(); x.open("GET", u); x.send(); },
  image: u => add("img", {src: u}),
  script: u => add("script", {src: u}),
  frame: u => add("iframe", {src: u}),
  sandboxed: u => add("iframe", {sandbox: "allow-scripts", srcdoc: `<script src="${u}"><` + `/script>`}),
  object: u => add("object", {data: u}),
  style: u => add("link", {rel: "stylesheet", href: u}),
  imported: u => add("style", {textContent: `@import url(${u}); @font-face { font-family: f; src: url(${u}) }`}),
  prefetch: u => add("link", {rel: "prefetch", href: u}),
  preconnect: u => add("link", {rel: "preconnect", href: u}),
  names: u => add("link", {rel: "dns-prefetch", href: u}),
  module: u => import(u),
  news: u => new EventSource(u),
  beacon: u => navigator.sendBeacon(u, "x"),
  ping: u => { const a = document.createElement("a"); a.href = "#"; a.ping = u; document.body.append(a); a.click(); },
  form: u => { const f = document.createElement("form"); f.action = u; f.method = "post"; f.target = "frame";
               add("iframe", {name: "frame"}); document.body.append(f); f.submit(); },
  redirect: u => fetch("/bad/private/" + u.slice(7), {mode: "no-cors"}),
  moved_frame: u => add("iframe", {src: "/bad/private/" + u.slice(7)}),
  worker: u => new Worker(URL.createObjectURL(new Blob([`fetch("${u}", {mode: "no-cors"})`]))),
  socket: u => new WebSocket(u.replace("http", "ws")),
  secure: u => new WebSocket(u.replace("http", "wss")),
  tls: u => fetch(u.replace("http", "https"), {mode: "no-cors"}),
  window: u => window.open(u),
  ahead: u => add("script", {type: "speculationrules", textContent: JSON.stringify(
    {prerender: [{urls: [u], eagerness: "immediate"}], prefetch: [{urls: [u], eagerness: "immediate"}]})}),
  peer: u => {
    const {hostname, port} = new URL(u);
    const server = `${hostname}:${port || 3478}`;
    const peer = new RTCPeerConnection({iceServers: [{urls: `stun:${server}`},
      {urls: [`turn:${server}`, `turn:${server}?transport=tcp`], username: "a", credential: "b"}]});
    peer.createDataChannel("x");
    peer.createOffer().then(offer => peer.setLocalDescription(offer));
  },
  transport: u => new WebTransport(u.replace("http", "https")),
};
let tried = 0;
for (const host of hosts) for (const name in attempts) {
  try { tried++; Promise.resolve(attempts[name](`http://${host}/${name}`)).catch(() => 0); } catch (refused) {}
}
document.title = "tried " + tried;
</script>"""
WAYS = EVERYTHING.count(": u =>")


def everything(*hosts: str) -> str:
    return EVERYTHING.replace("HOSTS", json.dumps(hosts))


class PacketSink(asyncio.DatagramProtocol):
    """Where packets arrive that are not TCP."""

    def __init__(self, place: str, arrived: list[str]) -> None:
        self._place = place
        self._arrived = arrived

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._arrived.append(f"{self._place} {data[:40]!r}")


async def test_a_page_reaches_no_other_port_of_the_machine(site: Site, elsewhere: Site) -> None:
    site.html("/try", everything(f"127.0.0.1:{elsewhere.port}", f"localhost:{elsewhere.port}"))
    arrived: list[str] = []
    listener = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: PacketSink("here", arrived), ("127.0.0.1", elsewhere.port)
    )
    browser = Browser(user_agent="x", exemptions=Exemptions.for_urls([site.url()]), policy=BrowserPolicy(load_media=True))
    answer = rendered(await render(browser, site.url("/try"), timeout=5))
    await browser.close()
    listener[0].close()
    assert f"<title>tried {2 * WAYS}</title>" in answer.html.decode()
    assert arrived == []
    assert elsewhere.connections == 0
    reached = [path for path in site.paths if "redirect" in path]
    assert len(reached) == 2, "the page did try"


@pytest.mark.parametrize(
    "way",
    ["<script>location.href = 'URL'</script>", "<meta http-equiv=refresh content='0;url=URL'>"],
    ids=["a script", "a refresh"],
)
async def test_a_page_that_leads_there_is_a_failure(site: Site, elsewhere: Site, browser: Browser, way: str) -> None:
    site.html("/leads", f"<p>text{way.replace('URL', elsewhere.url())}")
    answer = await render(browser, site.url("/leads"))
    assert kind(answer) == "blocked_address"
    assert isinstance(answer, Failure)
    assert answer.url == site.url("/leads")
    assert elsewhere.connections == 0


async def test_a_redirect_there_is_a_failure(site: Site, elsewhere: Site, browser: Browser) -> None:
    site.redirect("/there", elsewhere.url("/"))
    assert kind(await render(browser, site.url("/there"))) == "blocked_address"
    assert elsewhere.connections == 0


# -- in a network namespace -------------------------------------------------------------------------------------------

PUBLIC = "93.184.216.34"
PRIVATE = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "192.168.1.1"]
NAMED = "inside.example"
UDP_PORTS = (53, 80, 443, 3478)


def name_servers() -> list[str]:
    lines = Path("/etc/resolv.conf").read_text("utf-8").splitlines()
    found = [line.split()[1] for line in lines if line.startswith("nameserver ")]
    return [server for server in found if ":" not in server]


def test_a_public_page_reaches_no_other_address_by_any_of_the_ways_browsers_have(checkout: Path) -> None:
    seen = run_in_namespace([PUBLIC, *PRIVATE, *name_servers()], "tests.browser.test_no_way_around_the_guard", checkout)
    assert seen["title"] == f"tried {(len(PRIVATE) + 1) * WAYS}"
    assert seen["reached"] == []
    assert seen["packets"] == []
    assert len(seen["unguarded"]) >= 10, "most ways lead to a listener, or the test would prove nothing"


async def inside() -> dict[str, Any]:
    async def resolver(host: str) -> list[str]:
        return [{NAMED: "10.0.0.1"}.get(host, "127.0.0.1")]

    arrived: list[str] = []
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(Site(host=PUBLIC, port=80))
        traps = [await stack.enter_async_context(Site(host=address, port=80)) for address in PRIVATE]
        for address in {*PRIVATE, *name_servers()}:
            for port in UDP_PORTS:
                place = f"{address}:{port}"
                transport, _ = await loop.create_datagram_endpoint(partial(PacketSink, place, arrived), (address, port))
                stack.callback(transport.close)
        site.html("/", everything(*PRIVATE, NAMED))
        title = ""
        for exemptions in (Exemptions(), Exemptions(allow_all=True)):
            browser = Browser(
                user_agent="x",
                exemptions=exemptions,
                policy=BrowserPolicy(load_media=True),
                options=BrowserOptions(pages=1),
                resolver=resolver,
            )
            answer = rendered(await render(browser, f"http://{PUBLIC}/", timeout=5))
            await browser.close()
            reached = sorted({path for trap in traps for path in trap.paths})
            if not exemptions.allow_all:
                title, guarded, packets = answer.html.decode().partition("<title>")[2].partition("<")[0], reached, list(arrived)
                guarded += [f"{trap.base} was connected to" for trap in traps if trap.connections]
        return {"title": title, "reached": guarded, "packets": packets, "unguarded": reached}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(inside())))
