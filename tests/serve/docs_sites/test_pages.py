"""The pages of documentation sites as a program sees them: what they say, where they lead, and what they refuse."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from starlette.testclient import TestClient

from tadoru.serve.auth.authentication import PLAIN_COOKIE
from tadoru.serve.web.docs import highlight
from tadoru.store.served_crawls.schema import CrawlState
from tests.serve.docs_sites.docs_harness import BOOK, BY, COMING, EVIL, DocsHarness
from tests.support.serving import BASE


@pytest.fixture(scope="module")
def reader(docs_harness: DocsHarness) -> TestClient:
    return browsing(docs_harness, "viewer")


def browsing(docs_harness: DocsHarness, role: str) -> TestClient:
    """Somebody with a browser."""
    with_session = TestClient(docs_harness.harness.app, base_url=BASE, headers={"accept": "text/html", "accept-language": "en"})
    user = docs_harness.harness.store.users.add(role, role, BY)
    with_session.cookies.set(PLAIN_COOKIE, docs_harness.harness.store.sessions.start(user, BY))
    with_session.follow_redirects = False
    return with_session


def page(reader: TestClient, path: str, status: int = 200) -> str:
    told = reader.get(path)
    assert told.status_code == status, told.text
    return told.text


def here(docs_harness: DocsHarness, path: str, more: str = "") -> str:
    return f"/manage/docs/{BOOK}/pages/{docs_harness.numbers[path]}{more}"


def test_who_is_not_signed_in_is_led_to_the_door(docs_harness: DocsHarness) -> None:
    told = docs_harness.harness.anybody.get("/manage/docs", headers={"accept": "text/html"})
    assert (told.status_code, told.headers["location"].partition("?")[0]) == (303, "/sign-in")


def test_the_list_leads_to_every_site(reader: TestClient) -> None:
    text = page(reader, "/manage/docs")
    for number in (BOOK, EVIL, COMING):
        assert f'href="/manage/docs/{number}"' in text
    assert "Still to come" in text
    assert "やかんの手引き" in text


def test_a_site_shows_its_contents_its_files_and_no_button_to_who_may_not_press_it(
    reader: TestClient, docs_harness: DocsHarness
) -> None:
    text = page(reader, f"/manage/docs/{BOOK}")
    assert re.findall(r'<a href="(/manage/docs/1/pages/\d+)">', text) == [
        here(docs_harness, path) for path in ("/", "/part-1", "/part-3", "/part-4", "/part-5", "/rich", "/whistle")
    ]
    assert f"/api/v1/docs-sites/{BOOK}/download/full.md" in text
    assert "/refresh" not in text
    assert "Nothing to read yet." in page(reader, f"/manage/docs/{COMING}")


def test_a_page_is_shown_with_links_to_our_pages_and_out(reader: TestClient, docs_harness: DocsHarness) -> None:
    text = page(reader, here(docs_harness, "/rich"))
    assert f'<a href="{here(docs_harness, "/part-1", "#at-detail-1")}" rel="noopener noreferrer nofollow">part one</a>' in text
    assert 'href="https://elsewhere.example/x?a=1&amp;b=2" rel="noopener noreferrer nofollow">elsewhere</a>' in text
    assert '<a href="#at-lid">The lid</a>' in text
    assert '<h2 id="at-lid">The lid</h2>' in text
    assert '<p class="callout-name">Warning</p>' in text
    assert "<li><strong>spout</strong><br>\nWhere it sings.</li>" in text
    assert 'class="picture" rel="noopener noreferrer nofollow">Image: A grip</a>' in text
    assert text.count("<h1>") == 1
    assert f'href="{here(docs_harness, "/part-5")}" rel="prev"' in text
    assert f'href="{here(docs_harness, "/whistle")}" rel="next"' in text
    markdown = reader.get(here(docs_harness, "/rich", "/markdown"))
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert markdown.text == docs_harness.harness.viewer.get(docs_harness.page("/rich")).json()["markdown"]


def test_what_is_found_is_marked_and_leads_to_its_heading(reader: TestClient, docs_harness: DocsHarness) -> None:
    text = page(reader, f"/manage/docs/{BOOK}?q=SPOUT")
    assert f'<a href="{here(docs_harness, "/rich", "#at-lid")}">Everything &amp; more</a>' in text
    assert "<mark>spout</mark>" in text
    assert "No results for “xyzzy”" in page(reader, "/manage/docs?q=xyzzy")
    assert "&lt;script&gt;" in page(reader, "/manage/docs?q=<script>alert(1)</script>")


def test_words_are_marked_in_text_that_is_escaped() -> None:
    assert highlight("<b>Lid & lid</b> b", ["lid", "b>"]) == (
        "&lt;<mark>b&gt;</mark><mark>Lid</mark> &amp; <mark>lid</mark>&lt;/<mark>b&gt;</mark> b"
    )
    assert highlight("a <i>", []) == "a &lt;i&gt;"


def test_changes_lead_to_pages_and_differences_and_say_in_words_what_was_added(
    reader: TestClient, docs_harness: DocsHarness
) -> None:
    text = page(reader, f"/manage/docs/{BOOK}/changes")
    assert "1 added, 1 changed, 1 removed" in text
    assert here(docs_harness, "/part-3", "/diff") in text
    assert here(docs_harness, "/part-2", "/diff") in text
    assert f'href="{here(docs_harness, "/part-2")}"' not in text
    difference = page(reader, here(docs_harness, "/part-3", "/diff"))
    assert '<span class="unseen">removed: </span>' in difference
    assert '<span class="unseen">added: </span>' in difference
    assert "<ins>three</ins>" in difference
    assert "<del>3</del>" in difference
    assert "This page was removed." in page(reader, here(docs_harness, "/part-2", "/diff"))
    assert "No changes yet." in page(reader, f"/manage/docs/{EVIL}/changes")


class PageOutline(HTMLParser):
    """What the main part of a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(text.partition("<main")[2])
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def test_a_page_that_means_harm_is_text(reader: TestClient) -> None:
    for path in (f"/manage/docs/{EVIL}", f"/manage/docs/{EVIL}/pages/1", f"/manage/docs/{EVIL}?q=harm", "/manage/docs?q=cover"):
        told = reader.get(path)
        assert told.status_code == 200
        made = PageOutline(told.text)
        assert made.tags & {"script", "img", "iframe", "style", "link", "base", "meta", "video", "svg", "object"} == set(), path
        assert [name for name, _ in made.attributes if name.startswith("on") or name in ("style", "src", "background")] == []
        assert [value for name, value in made.attributes if name in ("href", "action") and ":" in value[:12]] == [
            value for name, value in made.attributes if name == "href" and value.startswith(("https://", "http://"))
        ]
        assert [value for name, value in made.attributes if name == "id"].count("main") == 0, "nothing takes the place of ours"
        policy = told.headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe-inline" not in policy


@pytest.mark.parametrize(
    "path", ["/99", "/4", "/1/pages/999", "/1/pages/0", "/1/pages/99999999999999999999", "/1/pages/1/diff",
             "/1/pages/1/diff?version=x", "/3/pages/1", "/99/changes"],
)  # fmt: skip
def test_what_is_not_there_is_a_page_that_says_so(reader: TestClient, path: str) -> None:
    told = reader.get(f"/manage/docs{path}")
    assert (told.status_code, told.headers["content-type"]) == (404, "text/html; charset=utf-8")


def test_every_page_is_there_in_japanese(reader: TestClient, docs_harness: DocsHarness) -> None:
    for path in ("", f"/{BOOK}", f"/{BOOK}/changes", f"/{BOOK}?q=kettle"):
        assert "ドキュメント" in page(reader, f"/manage/docs{path}{'&' if '?' in path else '?'}lang=ja")
    assert "警告" in page(reader, here(docs_harness, "/rich", "?lang=ja"))
    assert "<h1>変更内容：Part 3</h1>" in page(reader, here(docs_harness, "/part-3", "/diff?lang=ja"))


def test_a_refresh_is_asked_for_by_a_button_with_the_token_of_its_form(docs_harness: DocsHarness) -> None:
    editor = browsing(docs_harness, "editor")
    form = page(editor, f"/manage/docs/{COMING}")
    token = re.search(rf'action="/manage/docs/{COMING}/refresh"><input type="hidden" name="csrf" value="([^"]+)">', form)
    assert token is not None
    address = f"/manage/docs/{COMING}/refresh"
    assert editor.post(address, data={}).status_code == 403
    assert docs_harness.harness.store.crawls.get(COMING).state is CrawlState.PAUSED
    told = editor.post(address, data={"csrf": token[1]})
    assert (told.status_code, told.headers["location"]) == (303, f"/manage/docs/{COMING}?done=docs_refresh")
    assert docs_harness.harness.store.crawls.get(COMING).state is CrawlState.QUEUED
    waiting = page(editor, told.headers["location"])
    assert "Crawl started." in waiting
    assert f'data-live="crawl/{COMING}" data-live-reload' in waiting
    assert "/refresh" not in waiting
    again = editor.post(address, data={"csrf": token[1]})
    assert (again.status_code, "Crawl 3 is already queued." in again.text) == (409, True)
    [line] = [one for one in docs_harness.harness.store.audit.entries() if one.what == "crawl.run"]
    assert (line.who, line.subject) == ("editor", f"crawl/{COMING}")
