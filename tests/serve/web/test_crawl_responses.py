"""What the pages of crawls answer, asked without a browser: who may do what, what is refused, and what stands in the log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest

from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_options import CRAWL_OPTIONS, JOBS
from tadoru.store.served_crawls.schema import CrawlState, ServedCrawl
from tests.serve.web.crawl_harness import ATTACK, crawled
from tests.serve.web.test_responses import ENGLISH, token
from tests.serve.web.web_harness import BY, EVIL, WebHarness

TABS = ("findings", "pages", "links", "graph", "compare", "exports")
FOLDED = re.compile(r"<details(?P<open> open)?><summary>Advanced")


@pytest.fixture(scope="module")
def audit(shop: WebHarness) -> ServedCrawl:
    return crawled(shop, name=f"Shop {EVIL}")


@pytest.fixture
def editor(shop: WebHarness) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shop.address, headers=ENGLISH, cookies={"tadoru": shop.cookie("editor")}) as one:
        yield one


@pytest.fixture
def viewer(shop: WebHarness) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=shop.address, headers=ENGLISH, cookies={"tadoru": shop.cookie("viewer")}) as one:
        yield one


@pytest.fixture
def resting(shop: WebHarness) -> Iterator[ServedCrawl]:
    """A crawl that never began."""
    crawl = shop.store.crawls.add("Not begun", "audit", [shop.site.url("/")], {}, BY, state=CrawlState.STOPPED)
    yield crawl
    if any(one.id == crawl.id for one in shop.store.crawls.list()):
        shop.store.crawls.remove(crawl.id, BY)


def test_every_page_of_a_crawl_answers(audit: ServedCrawl, viewer: httpx.Client) -> None:
    for tab in ("", *(f"/{one}" for one in TABS)):
        answer = viewer.get(f"/manage/crawls/{audit.id}{tab}")
        assert answer.status_code == 200, tab
        assert EVIL not in answer.text, tab
        assert ATTACK in answer.text or "&lt;img src=x onerror=" in answer.text, "the name of the crawl is shown as text"


def test_the_overview_says_what_was_found(audit: ServedCrawl, viewer: httpx.Client) -> None:
    text = viewer.get(f"/manage/crawls/{audit.id}").text
    assert "Health score" in text
    assert 'href="/manage/crawls/1/findings/link-broken">Broken internal link</a>' in text
    assert f'href="/manage/crawls/{audit.id}/pages?answer=4xx">4xx</a>' in text


def test_findings_can_be_chosen_by_severity(audit: ServedCrawl, viewer: httpx.Client) -> None:
    everything = viewer.get(f"/manage/crawls/{audit.id}/findings").text
    errors = viewer.get(f"/manage/crawls/{audit.id}/findings?severity=error").text
    assert "Missing viewport" in everything
    assert "Broken internal link" in errors
    assert "Missing viewport" not in errors
    assert "Missing viewport" in viewer.get(f"/manage/crawls/{audit.id}/findings?severity=nonsense").text


def test_pages_can_be_searched_chosen_and_ordered(audit: ServedCrawl, viewer: httpx.Client) -> None:
    def found(query: str) -> list[str]:
        text = viewer.get(f"/manage/crawls/{audit.id}/pages?{query}").text
        return [unescape(one) for one in re.findall(r'<th scope="row"><a href="[^"]+">([^<]*)</a>', text)]

    assert found("q=shoes") == ["/shoes", "/shoes/blue", "/shoes/red"]
    assert found("q=Hats") == ["/hats"], "in the title"
    assert found("answer=4xx") == ["/gone"]
    assert found("answer=5xx") == ["/error"]
    assert found("depth=0") == ["/"]
    assert found("q=shoes&sort=depth&depth=2..3&order=down") == ["/shoes/blue", "/shoes/red"]
    assert found("q=100%25_nothing") == []
    assert found("depth=x&answer=nonsense&sort=nonsense")[0] == "/", "what makes no sense is left out"


def test_signs_that_turn_the_text_around_are_not_handed_on(audit: ServedCrawl, viewer: httpx.Client) -> None:
    text = viewer.get(f"/manage/crawls/{audit.id}/pages?q=/shoes/red").text
    assert "Red \ufffdshoes" in text
    assert "\u202e" not in text + viewer.get(f"/manage/crawls/{audit.id}/pages/{_id(text)}").text


def _id(text: str) -> str:
    found = re.search(r'/pages/(\d+)">/shoes/red</a>', text)
    assert found is not None
    return found[1]


def test_links_begin_with_the_broken_ones(audit: ServedCrawl, viewer: httpx.Client) -> None:
    broken = viewer.get(f"/manage/crawls/{audit.id}/links").text
    assert broken.count(">404</span>") == 2
    assert broken.count(">500</span>") == 1
    assert "other.example" not in broken
    assert "other.example" in viewer.get(f"/manage/crawls/{audit.id}/links?which=external").text


@pytest.mark.parametrize(
    "path",
    [
        "/manage/crawls/999", "/manage/crawls/0", "/manage/crawls/99999999999999999999", "/manage/crawls/999/findings",
        "/manage/crawls/1/pages/9999", "/manage/crawls/1/pages/0", "/manage/crawls/1/findings/no-such-check",
        "/manage/crawls/1/findings/..%2f..%2fetc", "/manage/crawls/999/remove", "/manage/crawls/1/secrets",
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found(audit: ServedCrawl, editor: httpx.Client, path: str) -> None:
    assert editor.get(path).status_code == 404


@pytest.mark.parametrize("where", ["findings/link-broken", "pages", "links"])
def test_a_cursor_of_somebody_elses_is_refused(audit: ServedCrawl, viewer: httpx.Client, where: str) -> None:
    answer = viewer.get(f"/manage/crawls/{audit.id}/{where}?cursor=nonsense")
    assert answer.status_code == 400
    assert "<h1>" in answer.text


def test_a_list_goes_on_where_it_ended(
    shop: WebHarness, audit: ServedCrawl, viewer: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tadoru.serve.web.crawls.results.PAGE_SIZE", 3)
    seen: list[str] = []
    address = f"/manage/crawls/{audit.id}/pages?sort=depth"
    while address:
        text = viewer.get(address).text
        seen += re.findall(r'<th scope="row"><a href="([^"]+)">', text)
        after = re.search(r'href="([^"]+)" rel="next"', text)
        address = unescape(after[1]) if after else ""
    assert len(seen) == len(set(seen)) == 9


def test_a_crawl_that_has_not_begun_says_so_everywhere(resting: ServedCrawl, viewer: httpx.Client) -> None:
    for tab in ("findings", "pages", "pages/1", "links", "graph", "compare", "findings/link-broken"):
        answer = viewer.get(f"/manage/crawls/{resting.id}/{tab}")
        assert (answer.status_code, "the crawl has not started" in answer.text) == (200, True), tab
    assert "Not run yet." in viewer.get(f"/manage/crawls/{resting.id}").text


def test_a_crawl_whose_file_is_no_crawl_is_told_without_its_path(
    shop: WebHarness, viewer: httpx.Client, editor: httpx.Client, tmp_path: Path
) -> None:
    broken = tmp_path / "secret-place.db"
    broken.write_bytes(b"SQLite format 3\0" + b"nonsense" * 100)
    crawl = shop.store.crawls.add("Broken", "audit", ["https://x.example/"], {}, BY, place=str(broken), state=CrawlState.FINISHED)
    answer = viewer.get(f"/manage/crawls/{crawl.id}/pages")
    assert answer.status_code == 503
    assert "The files of this crawl cannot be read." in answer.text
    assert "secret-place" not in answer.text
    assert viewer.get(f"/manage/crawls/{crawl.id}").status_code == 200
    assert "were created elsewhere and are kept" in editor.get(f"/manage/crawls/{crawl.id}/remove").text
    control.remove(shop.service, BY, crawl.id)
    assert broken.exists(), "what an operator named stays on the disk"


def test_links_and_documentation_have_the_pages_that_make_sense(shop: WebHarness, viewer: httpx.Client) -> None:
    for job, missing in (("links", ("findings", "compare")), ("docs", ("findings", "links", "graph", "compare", "exports"))):
        crawl = shop.store.crawls.add(job, job, [shop.site.url("/")], {}, BY, state=CrawlState.FINISHED)
        text = viewer.get(f"/manage/crawls/{crawl.id}").text
        for tab in missing:
            assert f"/manage/crawls/{crawl.id}/{tab}" not in text
            assert viewer.get(f"/manage/crawls/{crawl.id}/{tab}").status_code == 404
        assert (f'href="/manage/docs/{crawl.id}"' in text) == (job == "docs")
        shop.store.crawls.remove(crawl.id, BY)


def test_a_viewer_sees_and_changes_nothing(shop: WebHarness, audit: ServedCrawl, viewer: httpx.Client) -> None:
    text = viewer.get(f"/manage/crawls/{audit.id}").text
    assert f'action="/manage/crawls/{audit.id}/run"' not in text
    assert f"/manage/crawls/{audit.id}/remove" not in text
    assert "New crawl" not in viewer.get("/manage/crawls").text
    form = token(viewer)
    for path in ("run", "pause", "stop", "edit", "remove"):
        assert viewer.post(f"/manage/crawls/{audit.id}/{path}", data=form).status_code == 403, path
    assert viewer.get("/manage/crawls/new").status_code == 403
    assert viewer.post("/manage/crawls/new", data=form).status_code == 403
    assert shop.store.crawls.get(audit.id).state is CrawlState.FINISHED


def test_nothing_is_changed_without_the_token_of_a_form(shop: WebHarness, audit: ServedCrawl, editor: httpx.Client) -> None:
    for path in ("new", f"{audit.id}/run", f"{audit.id}/pause", f"{audit.id}/stop", f"{audit.id}/edit", f"{audit.id}/remove"):
        assert editor.post(f"/manage/crawls/{path}", data={"csrf": "0" * 64}).status_code == 403, path
    assert shop.store.crawls.get(audit.id).state is CrawlState.FINISHED


@pytest.mark.parametrize("job", JOBS)
def test_the_form_has_a_field_for_every_choice_of_its_job(shop: WebHarness, editor: httpx.Client, job: str) -> None:
    with httpx.Client(base_url=shop.address, headers=ENGLISH, cookies={"tadoru": shop.cookie("admin")}) as admin:
        text, of_admin = (one.get(f"/manage/crawls/new?job={job}").text for one in (editor, admin))
    fields = set(re.findall(r'id="f-([a-z_]+)"', of_admin))
    assert {choice.name for choice in CRAWL_OPTIONS[job]} <= fields
    assert 'id="f-ignore_robots"' not in text, "what only an admin may choose is not offered to others"
    found = FOLDED.search(text)
    assert found is not None
    assert found["open"] is None


def test_what_can_not_be_taken_is_said_beside_its_field_and_what_was_typed_stays(shop: WebHarness, editor: httpx.Client) -> None:
    before = len(shop.store.crawls.list())
    typed = {
        "job": "audit", "starts": f"http://169.254.169.254/\n{EVIL}", "name": EVIL, "limit": "0", "delay": "many",
        "include": "([", "every": "86400", "webhook": "https://hooks.example/x",
    }  # fmt: skip
    answer = editor.post("/manage/crawls/new", data=typed | token(editor))
    assert answer.status_code == 400
    assert set(re.findall(r'id="p-([a-z_]+)"', answer.text)) == {"starts", "limit", "delay", "include"}
    assert "Enter a number from 1 to 1,000,000." in answer.text
    assert EVIL not in answer.text
    assert ATTACK.replace("&#x27;", "'") in answer.text.replace("&#34;", "&quot;")
    assert 'value="many"' in answer.text
    assert "([</textarea>" in answer.text
    assert '<option value="86400" selected>' in answer.text
    found = FOLDED.search(answer.text)
    assert found is not None
    assert found["open"], "a field with a problem is not folded away"
    assert len(shop.store.crawls.list()) == before


@pytest.mark.parametrize(
    "start,why",
    [
        ("http://127.0.0.1:1/", "Cannot crawl"), ("http://2130706433/", "Cannot crawl"),
        ("http://[::ffff:10.0.0.1]/", "Cannot crawl"), ("ftp://example.com/", ""), ("", "Enter a start URL"),
    ],
)  # fmt: skip
def test_a_start_that_is_not_ours_to_ask_is_refused(shop: WebHarness, editor: httpx.Client, start: str, why: str) -> None:
    answer = editor.post("/manage/crawls/new", data={"job": "audit", "starts": start} | token(editor))
    assert answer.status_code == 400
    assert 'id="p-starts"' in answer.text
    assert why in unescape(answer.text)


def test_a_webhook_at_a_private_address_is_refused_beside_its_field(shop: WebHarness, editor: httpx.Client) -> None:
    typed = {"job": "audit", "starts": shop.site.url("/"), "webhook": "http://10.0.0.1/hook"}
    answer = editor.post("/manage/crawls/new", data=typed | token(editor))
    assert answer.status_code == 422
    assert 'id="p-webhook"' in answer.text
    assert 'value="http://10.0.0.1/hook"' in answer.text


def test_an_editor_can_not_slip_in_what_only_an_admin_may_choose(shop: WebHarness, editor: httpx.Client) -> None:
    typed = {"job": "audit", "starts": "https://shop.example/", "ignore_robots": "yes", "proxy": "http://evil.example/"}
    answer = editor.post("/manage/crawls/new", data=typed | token(editor))
    number = int(answer.headers["location"].split("/")[3].partition("?")[0])
    crawl = shop.store.crawls.get(number)
    assert not crawl.options.get("ignore_robots")
    assert "proxy" not in crawl.options


def test_a_name_and_a_rhythm_are_changed_and_stand_in_the_log(
    shop: WebHarness, resting: ServedCrawl, editor: httpx.Client
) -> None:
    path = f"/manage/crawls/{resting.id}/edit"
    assert 'value="Not begun"' in editor.get(path).text
    answer = editor.post(path, data={"name": "Renamed", "every": "604800"} | token(editor))
    assert answer.headers["location"].endswith("done=crawl_changed")
    changed = shop.store.crawls.get(resting.id)
    assert (changed.name, changed.every) == ("Renamed", 604800)
    assert "every 7 days" in editor.get(f"/manage/crawls/{resting.id}").text
    editor.post(path, data={"name": "Renamed", "every": ""} | token(editor))
    assert shop.store.crawls.get(resting.id).every is None
    hook = {"name": "Renamed", "webhook": "https://hooks.example/secret-token"}
    editor.post(path, data=hook | token(editor))
    assert shop.store.crawls.get(resting.id).webhook == "https://hooks.example/secret-token"
    for shown in (editor.get(path).text, editor.get(f"/manage/crawls/{resting.id}").text):
        assert "hooks.example" in shown
        assert "secret-token" not in shown
    editor.post(path, data={"name": "Renamed", "no_webhook": "yes"} | token(editor))
    assert shop.store.crawls.get(resting.id).webhook == ""
    refused = editor.post(path, data={"name": " ", "every": ""} | token(editor))
    assert refused.status_code == 422
    assert "The name must have 1 to" in refused.text
    assert [one.what for one in shop.store.audit.entries(limit=2)] == ["crawl.change"] * 2


def test_a_crawl_is_removed_after_it_was_asked_whether(shop: WebHarness, resting: ServedCrawl, editor: httpx.Client) -> None:
    path = f"/manage/crawls/{resting.id}/remove"
    assert "It cannot be undone." in editor.get(path).text
    assert shop.store.crawls.get(resting.id).id == resting.id
    assert editor.post(path, data=token(editor)).headers["location"] == "/manage/crawls?done=crawl_removed"
    assert editor.get(f"/manage/crawls/{resting.id}").status_code == 404


def test_what_can_not_be_done_now_is_said_on_the_page(shop: WebHarness, audit: ServedCrawl, editor: httpx.Client) -> None:
    answer = editor.post(f"/manage/crawls/{audit.id}/pause", data=token(editor))
    assert answer.status_code == 409
    assert 'role="alert"' in answer.text


def test_the_list_is_chosen_by_job_and_goes_on(shop: WebHarness, audit: ServedCrawl, viewer: httpx.Client) -> None:
    made = [
        shop.store.crawls.add(f"Map {number}", "links", ["https://x.example/"], {}, BY, state=CrawlState.STOPPED)
        for number in range(52)
    ]
    first = viewer.get("/manage/crawls?job=links").text
    assert "Map 51" in first
    assert "Map 1<" not in first
    assert f'/manage/crawls/{audit.id}"' not in first
    after = re.search(r'href="(/manage/crawls\?before=[^"]+)" rel="next"', first)
    assert after is not None
    assert "Map 1<" in viewer.get(unescape(after[1])).text
    assert viewer.get("/manage/crawls?job=nonsense&before=x").status_code == 200
    for one in made:
        shop.store.crawls.remove(one.id, BY)


def test_the_exports_lead_to_files(audit: ServedCrawl, viewer: httpx.Client) -> None:
    text = viewer.get(f"/manage/crawls/{audit.id}/exports").text
    links = [unescape(one) for one in re.findall(r'href="(/api/v1/crawls/[^"]+)"', text)]
    assert len(links) >= 3 * 2 + 2
    for link in links:
        assert viewer.get(link).status_code == 200, link


def test_a_format_is_offered_only_if_its_library_is_installed(audit: ServedCrawl, viewer: httpx.Client) -> None:
    text = viewer.get(f"/manage/crawls/{audit.id}/exports").text
    for form, library in (("parquet", "pyarrow"), ("xlsx", "xlsxwriter")):
        assert (f"format={form}" in text) == (find_spec(library) is not None)


def test_the_overview_of_everything_shows_what_was_crawled(audit: ServedCrawl, viewer: httpx.Client) -> None:
    text = viewer.get("/manage").text
    assert re.search(r"Pages crawled in the last 30 days: Pages: \d+, runs: \d+", text)
    assert 'href="/manage/crawls"' in text
