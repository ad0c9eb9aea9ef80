"""A page that is sent with nothing in it is judged as what it is: a page without a title and without words."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from tests.acceptance.command import Tadoru
from tests.support.site import Site


def test_a_blank_page_is_judged_and_what_need_not_have_a_body_is_not(tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/blank", "/moved", "/gone", "/nothing.txt"])
    site.reply("/blank", body="", content_type="text/html")
    site.reply("/nothing.txt", body="", content_type="text/plain")
    site.reply("/gone", status=404, body="", content_type="text/html")
    site.redirect("/moved", "/")
    done = tadoru("audit", site.url("/"), "-d", "crawl.db", "--delay", "0", "--processes", "1", "--sitemap", "off", "-q")
    assert done.code == 0, done.err
    with closing(sqlite3.connect(tadoru.folder / "crawl.db")) as sql:
        found = set(sql.execute("SELECT url, check_id FROM findings WHERE check_id IN ('title-missing', 'content-empty')"))
    assert found == {(site.url("/blank"), "title-missing"), (site.url("/blank"), "content-empty")}
