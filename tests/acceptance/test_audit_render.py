"""Pages that scripts make, read with the real browser: what it changes is kept; without one, the rest is finished."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from importlib.util import find_spec
from typing import Any

import pytest

from tadoru.fetch.browser.browser import PROGRAM_NAMES
from tests.acceptance.command import Tadoru
from tests.support.programs import needs_browser
from tests.support.site import Site

SHELL = """<!doctype html><html lang="en"><head><title>Loading</title></head><body><div id="root"></div><script>
document.title = "The bread of the day";
document.getElementById("root").innerHTML = "<h1>Bread</h1><p>" + "Rye is on the shelf today. ".repeat(12) + "</p>"
    + '<a href="/made-by-script">More of it</a>';
</script></body></html>"""
PLAIN = """<!doctype html><html lang="en"><head><title>Plain</title></head><body><h1>Plain</h1><p>As it is sent.</p>
<a href="/shell">The shell</a><script>document.title = "Changed by a script";</script></body></html>"""


@pytest.fixture
def shop(site: Site) -> Site:
    site.html("/", PLAIN)
    site.html("/shell", SHELL)
    site.page("/made-by-script")
    return site


def audit(tadoru: Tadoru, site: Site, *arguments: str, **options: Any) -> Any:
    return tadoru("audit", site.url("/"), "-d", "crawl.db", "--delay", "0", "--sitemap", "off", *arguments, **options)


def select(tadoru: Tadoru, site: Site, what: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(tadoru.folder / "crawl.db")) as sql:
        rows = sql.execute(f"SELECT {what}").fetchall()
    return [tuple(one.replace(site.base, "") if isinstance(one, str) else one for one in row) for row in rows]


def rendering(tadoru: Tadoru, site: Site) -> dict[str, Any]:
    rows = select(tadoru, site, "p.url, d.rendering FROM page_details d JOIN pages p ON p.id = d.page_id")
    return {url: text and json.loads(text) for url, text in rows}


@needs_browser
def test_only_shells_are_given_to_the_browser_when_it_decides(tadoru: Tadoru, shop: Site) -> None:
    done = audit(tadoru, shop, "--render", "auto", "-q")
    assert done.code == 0, done.err
    found = rendering(tadoru, shop)
    assert (found["/"], found["/made-by-script"]) == (None, None)
    changes = found["/shell"]["differences"]
    assert changes["title"] == {"raw": "Loading", "rendered": "The bread of the day"}
    assert changes["h1"] == {"raw": [], "rendered": ["Bread"]}
    assert changes["words"]["raw"] < 5 < changes["words"]["rendered"]
    assert [link.removeprefix(shop.base) for link in changes["links"]["added"]] == ["/made-by-script"]
    assert dict(select(tadoru, shop, "url, title FROM completed_pages"))["/shell"] == "The bread of the day"
    assert shop.hits("/made-by-script") == 1, "what the scripts link to is followed"
    assert shop.hits("/") == 1


@needs_browser
def test_every_page_is_rendered_on_request(tadoru: Tadoru, shop: Site) -> None:
    done = audit(tadoru, shop, "--render", "always", "-q")
    assert done.code == 0, done.err
    found = rendering(tadoru, shop)
    assert found["/"]["differences"] == {"title": {"raw": "Plain", "rendered": "Changed by a script"}}
    assert found["/made-by-script"]["differences"] == {}
    assert set(found) == {"/", "/shell", "/made-by-script"}


def test_without_rendering_no_browser_is_asked(tadoru: Tadoru, shop: Site) -> None:
    done = audit(tadoru, shop, "-q", env={"TADORU_CHROMIUM": "/no/such/browser"})
    assert done.code == 0, done.err
    assert set(rendering(tadoru, shop).values()) == {None}
    assert "/shell" in dict(select(tadoru, shop, "url, check_id FROM findings WHERE check_id = 'content-needs-javascript'"))


def test_a_missing_browser_is_exit_3_and_the_rest_is_finished(tadoru: Tadoru, shop: Site) -> None:
    done = audit(tadoru, shop, "--render", "auto", "-q", env={"TADORU_CHROMIUM": "/no/such/browser"})
    assert (done.code, done.out) == (3, "")
    assert "/no/such/browser" in done.sentence
    assert shop.url("/shell") in done.sentence, "the pages that needed it are named"
    assert shop.url("/ ") not in done.sentence
    assert dict(select(tadoru, shop, "url, status FROM pages")) == {"/": "completed", "/shell": "completed"}
    assert rendering(tadoru, shop)["/shell"]["browser_missing"]
    assert select(tadoru, shop, "outcome FROM runs") == [("complete",)]
    if find_spec("playwright") and any(map(shutil.which, PROGRAM_NAMES)):
        again = audit(tadoru, shop, "--render", "auto", "-q", "--recrawl")
        assert again.code == 0, again.err
        assert shop.hits("/made-by-script") == 1
