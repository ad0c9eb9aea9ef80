"""The probe of a site: made once, before any page, by one worker, and stored with the crawl; repeated if it found nothing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.errors import NothingToCrawl
from tadoru.jobs.docs.bundle.output_folder import crawl_database_path
from tests.support.handbook import Handbook, entries, read
from tests.support.site import Site


def learnt(out: Path) -> dict[str, object]:
    with closing(sqlite3.connect(crawl_database_path(out))) as sql:
        found: dict[str, object] = json.loads(sql.execute("SELECT value FROM crawl_meta WHERE key = 'survey'").fetchone()[0])
    return found


def test_it_is_over_before_the_first_page_is_asked_for(tmp_path: Path) -> None:
    with Site() as site:
        Handbook(site).write(4)
        read(site, tmp_path / "out", sitemap="off")
        assert site.paths[:6] == ["/robots.txt", "/", "/index.md", "/part-1.md", "/part-2.md", "/llms.txt"]
        assert site.paths[6] == "/llms-full.txt"
        assert [seen.method for seen in site.requests[5:7]] == ["HEAD", "HEAD"]
        assert set(site.paths[7:]) == {"/", "/part-1", "/part-2", "/part-3"}
        assert learnt(tmp_path / "out") == {"own": "", "version": None, "language": "en", "files": [], "answered": True}


def test_two_processes_ask_once_and_go_by_the_same_answer(tmp_path: Path) -> None:
    with Site() as site:
        book = Handbook(site)
        book.write(12)
        book.file("/part-1.md", "# Part 1\n\nBy hand.\n", "text/markdown")
        read(site, tmp_path / "out", processes=2, sitemap="off")
        assert site.hits("/index.md") <= 2, "once by the probe, once for the page itself"
        assert site.hits("/llms.txt") == 1
        assert all(site.hits(f"/part-{number}.md") >= 1 for number in range(1, 12)), "every page is asked for its Markdown"
        assert len(entries(tmp_path / "out", site)) == 12


def test_an_update_goes_by_what_was_learnt_and_reading_anew_asks_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with Site() as site:
        book = Handbook(site)
        book.write(3)
        read(site, out, sitemap="off")
        book.forget()
        read(site, out, sitemap="off", diff=True)
        assert sorted(site.paths) == ["/", "/part-1", "/part-2", "/robots.txt"]
        book.file("/llms.txt", "# Site\n\n- [Part 9](/part-9)\n", "text/plain")
        book.page("/part-9", "Part 9")
        read(site, out, sitemap="off")
        assert learnt(out)["files"] == [site.url("/llms.txt")]
        assert "/part-9" in entries(out, site)


@pytest.mark.parametrize("how", ["forbidden", "gone"])
def test_a_start_that_does_not_answer_is_asked_nothing_else(how: str, tmp_path: Path) -> None:
    with Site() as site:
        if how == "forbidden":
            site.robots("User-agent: *\nDisallow: /\n")
        with pytest.raises(NothingToCrawl):
            read(site, tmp_path / "out", sitemap="off")
        assert set(site.paths) == ({"/robots.txt"} if how == "forbidden" else {"/robots.txt", "/"})
        assert learnt(tmp_path / "out")["answered"] is False
