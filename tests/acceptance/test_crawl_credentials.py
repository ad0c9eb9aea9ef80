"""Credentials of a crawl stay at the origin that was typed, whatever follow-up request a page, header or file asks for."""

from __future__ import annotations

import pytest

from tests.acceptance.command import Tadoru
from tests.support.handbook import PROSE, doc
from tests.support.programs import needs_browser
from tests.support.site import Site

SIGN_IN = ("--auth-type", "bearer", "--auth-token", "s3cret", "-H", "X-Key: s3cret")


def publish_follow_ups(site: Site, elsewhere: Site) -> None:
    """A site whose every kind of follow-up request leads to the other origin."""
    site.robots(f"User-agent: *\nDisallow:\nSitemap: {elsewhere.url('/sitemap')}\nSitemap: {site.url('/index.xml')}\n")
    site.sitemap("/index.xml", [elsewhere.url("/sitemap-of-index")], index=True)
    site.html("/", f"""<html><head><title>Start of the site</title><link rel=stylesheet href="{elsewhere.url("/style")}">
        <link rel=canonical href="{elsewhere.url("/canonical")}"></head><body><main><h1>Start</h1><p>{PROSE * 3}</p>
        <a href="/moved">moved</a> <a href="{elsewhere.url("/link")}">link</a> <a href="/guide">guide</a>
        <a href="/refresh">refresh</a> <img src="{elsewhere.url("/image")}"><img src="/image-moved">
        <script src="{elsewhere.url("/script")}"></script><iframe src="{elsewhere.url("/frame")}"></iframe>
        <script>fetch("{elsewhere.url("/fetched")}"); fetch("/fetch-moved")</script></main></body></html>""")  # fmt: skip
    site.html("/guide", doc("Guide", f"<p>{PROSE * 3}</p>", [elsewhere.url("/link-of-guide")]),
              headers={"Link": f'<{elsewhere.url("/link-header")}>; rel="next"'})  # fmt: skip
    site.html("/refresh", f'<meta http-equiv="refresh" content="0; url={elsewhere.url("/refreshed")}">')
    for path in ("/moved", "/image-moved", "/fetch-moved", "/llms.txt", "/llms-full.txt", "/guide.md", "/index.md",
                 "/sitemap.xml", "/openapi.json"):  # fmt: skip
        site.redirect(path, elsewhere.url(f"{path}-target"))


JOBS = {
    "links": (("links", "--check", "--depth", "5"), {"/link", "/moved-target", "/robots.txt"}),
    "audit": (
        ("audit", "--check-external", "--resources", "50"),
        {"/link", "/moved-target", "/sitemap", "/image", "/script", "/style", "/image-moved-target", "/robots.txt"},
    ),
    "docs": (("docs", "-o", "out", "-d", "3", "--no-same-domain", "--render", "never"), {"/link", "/moved-target"}),
    "browser": (("audit", "--render", "always", "--resources", "50"), {"/script", "/fetched", "/fetch-moved-target"}),
}


@pytest.mark.parametrize("job", [pytest.param(name, marks=needs_browser if name == "browser" else ()) for name in JOBS])
def test_no_follow_up_request_of_a_crawl_takes_a_credential_to_another_origin(
    tadoru: Tadoru, site: Site, elsewhere: Site, job: str
) -> None:
    publish_follow_ups(site, elsewhere)
    command, expected = JOBS[job]
    done = tadoru(command[0], site.url("/"), *command[1:], *SIGN_IN, "--allow-private", "--delay", "0")
    assert expected <= set(elsewhere.paths), done.err
    assert [seen.path for seen in elsewhere.requests if "s3cret" in str(seen.headers)] == []
    own = [seen for seen in site.requests if seen.path in ("/", "/guide")]
    assert {(seen.headers.get("authorization"), seen.headers.get("x-key")) for seen in own} == {("Bearer s3cret", "s3cret")}
