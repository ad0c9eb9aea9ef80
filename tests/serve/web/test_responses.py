"""What the pages answer, asked without a browser: who sees what, what is refused, and what is remembered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from markupsafe import Markup

from tadoru.jobs.events.dedupe.matcher import EventMatcher
from tadoru.jobs.events.event_input import parse_new_event
from tadoru.model.event import EventDraft
from tadoru.serve.web.calendar.pages import render_description
from tests.serve.web.web_harness import BY, EVIL, WebHarness

ENGLISH = {"accept": "text/html", "accept-language": "en"}


@pytest.fixture
def editor(web_harness: WebHarness) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=web_harness.address, headers=ENGLISH, cookies={"tadoru": web_harness.cookie("editor")}) as one:
        yield one


def token(client: httpx.Client, path: str = "/manage") -> dict[str, str]:
    """The token that a page's forms carry."""
    found = re.search(r'name="csrf" value="([0-9a-f]+)"', client.get(path).text)
    assert found is not None
    return {"csrf": found[1]}


def test_a_hidden_event_is_nobodys_but_those_who_look_after_it(
    web_harness: WebHarness, client: httpx.Client, editor: httpx.Client
) -> None:
    event = web_harness.event_id("盆踊り")
    assert client.get(f"/events/{event}").status_code == 200
    assert editor.post(f"/manage/events/{event}/hide", data=token(editor)).headers["location"].endswith("done=event_hidden")
    hidden = client.get(f"/events/{event}")
    assert (hidden.status_code, "盆踊り" in hidden.text) == (404, False)
    assert "盆踊り" not in client.get("/day/2026-08-14").text
    shown = editor.get(f"/events/{event}")
    assert shown.status_code == 200
    assert "application/ld+json" not in shown.text, "what is not public is not offered to search engines"
    editor.post(f"/manage/events/{event}/unhide", data=token(editor))
    assert client.get(f"/events/{event}").status_code == 200


def test_an_absorbed_event_leads_to_the_one_it_is_a_part_of(web_harness: WebHarness, client: httpx.Client) -> None:
    kept, absorbed = web_harness.event_id("第30回"), web_harness.event_id("第31回")
    web_harness.store.merges.merge(kept, absorbed, EventMatcher(), "test")
    assert client.get(f"/events/{absorbed}").headers["location"] == f"/events/{kept}"


def test_the_data_block_of_an_event_says_what_was_written_and_can_not_be_closed(
    web_harness: WebHarness, client: httpx.Client
) -> None:
    event = web_harness.store.edits.create(_evil(web_harness), EventMatcher(), "test")
    text = client.get(f"/events/{event.id}").text
    block = re.search(r'<script type="application/ld\+json">(.*?)</script>', text, re.DOTALL)
    assert block is not None
    assert json.loads(block[1])["name"] == "1 </ 2 & <3 祭り"
    assert "<" not in block[1]
    assert "onerror" not in text


def _evil(web_harness: WebHarness) -> EventDraft:
    values = {"title": "1 </ 2 & <3 祭り", "starts": "2026-08-21 10:00", "description": f"<p>Hello</p>{EVIL}"}
    return parse_new_event(values, "Asia/Tokyo", web_harness.store.db.now())


def test_a_description_that_got_into_the_database_unclean_is_cleaned_on_its_way_out() -> None:
    assert (
        render_description(f"<p onclick=x>ok</p>{EVIL}<a href='javascript:x'>y</a>")
        == '<p>ok</p><a rel="noopener noreferrer nofollow ugc">y</a>'
    )
    assert render_description("1 < 2 & 3") == "1 < 2 & 3"
    assert not isinstance(render_description("1 < 2 & 3"), Markup), "a text is escaped like any other"


@pytest.mark.parametrize("path", ["/month/2026-13", "/month/x", "/day/2026-02-30", "/day/9999-12-31", "/static/../roles.py",
                                  "/static/nothing", "/events/999999", "/nowhere"])  # fmt: skip
def test_what_is_not_there_is_a_page_that_says_so(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Page not found" in answer.text


@pytest.mark.parametrize(
    "path", ["/?from=x", "/?to=2026-99-99", "/?cursor=zzz", "/?from=2026-08-02&to=2026-08-01", "/search?q=a&cursor=%00"]
)
def test_a_filter_that_can_not_be_read_is_said_on_the_page(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text


@pytest.mark.parametrize(
    "q", ["%", "_", "' OR 1=1 --", "\0", "ヨガ" * 300, "🎆", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")]
)
def test_any_words_can_be_searched_for(client: httpx.Client, q: str) -> None:
    assert client.get("/search", params={"q": q}).status_code == 200


def test_pages_turn_until_everything_was_seen(web_harness: WebHarness, client: httpx.Client) -> None:
    seen: list[str] = []
    path: str | None = "/?q=ヨガ"
    while path:
        text = client.get(path).text
        seen += re.findall(r'<a href="/events/(\d+)">', text)
        found = re.search(r'href="([^"]+)" rel="next"', text)
        path = found[1].replace("&amp;", "&") if found else None
    assert len(seen) == len(set(seen)) >= 38


def test_the_language_is_the_browsers_until_somebody_chooses(client: httpx.Client) -> None:
    assert '<html lang="en">' in client.get("/").text
    assert '<html lang="ja">' in client.get("/", headers={"accept-language": "ja,en;q=0.5"}).text
    assert '<html lang="ja">' in client.get("/?lang=ja").text
    assert '<html lang="ja">' in client.get("/about").text, "the cookie keeps it"
    assert '<html lang="ja">' in client.get("/?lang=xx").text


def test_a_static_file_is_kept_for_ever_under_an_address_that_changes_with_it(client: httpx.Client) -> None:
    found = re.search(r'href="(/static/style\.css\?v=\w+)"', client.get("/").text)
    assert found is not None
    first = client.get(found[1])
    assert "immutable" in first.headers["cache-control"]
    assert first.headers["content-type"] == "text/css; charset=utf-8"
    assert client.get("/static/style.css").headers["cache-control"] == "no-cache"
    assert client.get(found[1], headers={"if-none-match": first.headers["etag"]}).status_code == 304


def test_pages_of_somebody_who_signed_in_are_kept_nowhere(editor: httpx.Client, client: httpx.Client) -> None:
    assert "no-store" in editor.get("/manage").headers["cache-control"]
    assert client.get("/").headers["cache-control"] == "no-cache"
    assert {"Accept-Language", "Cookie"} <= {one.strip() for one in client.get("/").headers["vary"].split(",")}


def test_no_page_has_a_script_or_a_style_of_its_own(web_harness: WebHarness, editor: httpx.Client) -> None:
    for path in (
        "/",
        "/month/2026-08",
        f"/events/{web_harness.event_id('花火')}",
        "/manage",
        "/manage/sources/1",
        "/manage/reviews/2",
    ):
        text = editor.get(path).text
        assert (
            re.findall(
                r"<script(?! type=\"application/ld\+json\"| src=\"/static/(?:live|calendar)\.js)|\son\w+=|\sstyle=|<style", text
            )
            == []
        ), path


def test_a_form_without_its_token_changes_nothing(web_harness: WebHarness, editor: httpx.Client) -> None:
    assert editor.post("/manage/sources/1/disable").status_code == 403
    assert editor.post("/manage/sources/1/disable", data={"csrf": "0" * 64}).status_code == 403
    assert web_harness.store.sources.get(1).enabled


def test_a_source_is_switched_off_and_on_and_its_history_says_who(web_harness: WebHarness, editor: httpx.Client) -> None:
    editor.post("/manage/sources/2/disable", data=token(editor))
    assert not web_harness.store.sources.get(2).enabled
    editor.post("/manage/sources/2/enable", data=token(editor))
    assert web_harness.store.sources.get(2).enabled
    assert [one.by for one in web_harness.store.sources.history(2)][-2:] == ["editor", "editor"]


def test_a_source_form_comes_back_with_what_was_typed_and_why(web_harness: WebHarness, editor: httpx.Client) -> None:
    typed = {"name": "New", "type": "ics", "url": "https://n.example/", "frequency": "normal", "settings": "nonsense"}
    answer = editor.post("/manage/sources/new", data=token(editor) | typed)
    assert answer.status_code == 400
    assert "Invalid setting “nonsense”. Write it as key=value" in answer.text
    assert 'value="https://n.example/"' in answer.text
    for change in (
        {"settings": "", "priority": "many"},
        {"settings": "[1"},
        {"settings": "{}", "timezone": "Moon/Sea"},
        {"name": ""},
    ):
        assert editor.post("/manage/sources/new", data=token(editor) | typed | change).status_code == 400
    assert all(one.name != "New" for one in web_harness.store.sources.list())


def test_a_source_whose_address_was_permitted_at_the_machine_keeps_it_through_the_form(
    web_harness: WebHarness, editor: httpx.Client
) -> None:
    number = web_harness.store.sources.add(
        {"name": "At home", "type": "ics", "url": "http://127.0.0.1:9/x.ics", "named_host": "127.0.0.1:9"}, "test"
    ).id
    typed = {"name": "At home too", "type": "ics", "url": "http://127.0.0.1:9/x.ics", "frequency": "low", "low_hours": "48"}
    assert editor.post(f"/manage/sources/{number}/edit", data=token(editor) | typed).status_code == 303
    after = web_harness.store.sources.get(number)
    assert (after.name, after.named_host, after.low_hours) == ("At home too", "127.0.0.1:9", 48)
    editor.post(f"/manage/sources/{number}/remove", data=token(editor))
    assert all(one.id != number for one in web_harness.store.sources.list())


def test_a_viewer_sees_no_values_of_headers_and_an_editor_keeps_them_through_the_form(
    web_harness: WebHarness, editor: httpx.Client
) -> None:
    settings = {"headers": {"X-Api-Key": "sesame"}}
    given = {"name": "Closed", "type": "ics", "url": "https://closed.example/x.ics", "settings": settings}
    number = web_harness.store.sources.add(given, "test").id
    web_harness.store.sources.edit(number, {"settings": {"headers": {"X-Api-Key": "sesame-2"}}}, "test")
    page = f"/manage/sources/{number}"
    with httpx.Client(base_url=web_harness.address, headers=ENGLISH, cookies={"tadoru": web_harness.cookie("viewer")}) as viewer:
        shown = viewer.get(page).text
    assert ("sesame" in shown, "headers.X-Api-Key=***" in shown) == (False, True)
    form = editor.get(f"{page}/edit").text
    assert "headers.X-Api-Key=sesame-2" in form
    for typed in ("headers.X-Api-Key=sesame-2", "headers.X-Api-Key=***"):
        fields = {name: given[name] for name in ("name", "type", "url")} | {"frequency": "low", "settings": typed}
        assert editor.post(f"{page}/edit", data=token(editor) | fields).status_code == 303
        assert web_harness.store.sources.get(number).settings == {"headers": {"X-Api-Key": "sesame-2"}}
    editor.post(f"{page}/remove", data=token(editor))


def test_a_key_is_shown_once(web_harness: WebHarness) -> None:
    with httpx.Client(base_url=web_harness.address, headers=ENGLISH, cookies={"tadoru": web_harness.cookie("admin")}) as admin:
        assert admin.post("/manage/keys", data=token(admin) | {"name": "k"}).status_code == 400
        made = admin.post("/manage/keys", data=token(admin) | {"name": "k", "scopes": "events:read", "days": "30"})
        found = re.search(r"tdr_\w+_[\w-]+", made.text)
        assert found is not None
        assert found[0] not in admin.get("/manage/keys").text
        number = web_harness.store.keys.list()[0].id
        assert admin.post(f"/manage/keys/{number}/revoke", data=token(admin)).status_code == 303
        assert web_harness.store.keys.list()[0].revoked_at is not None
        log = admin.get("/manage/log").text
        assert "key.revoke" in log
        assert found[0] not in log


def test_a_key_belongs_to_whoever_makes_it_and_ends_with_them(web_harness: WebHarness) -> None:
    cookie = web_harness.cookie("admin")
    second = web_harness.store.users.add("second", "admin", BY)
    with httpx.Client(
        base_url=web_harness.address, headers=ENGLISH, cookies={"tadoru": web_harness.store.sessions.start(second, BY)}
    ) as other:
        form = other.get("/manage/keys").text
        assert 'name="days" type="number" value="365"' in form
        made = other.post("/manage/keys", data=token(other) | {"name": "theirs", "scopes": "admin", "days": ""})
        found = re.search(r"tdr_\w+_[\w-]+", made.text)
        assert found is not None
        assert ">second</td>" in made.text
    key = web_harness.store.keys.list()[0]
    assert (key.user_name, key.expires_at) == ("second", None)
    headers = {"authorization": f"Bearer {found[0]}", "x-forwarded-for": "198.51.100.1"}
    metrics = httpx.get(f"{web_harness.address}/metrics", headers=headers)
    assert metrics.status_code == 200
    for name in ("last_run_fetched", "last_run_parsed", "publishing_delay_seconds"):
        assert f"# TYPE tadoru_source_{name} gauge" in metrics.text
    web_harness.store.users.set_role("second", "viewer", BY)
    assert httpx.get(f"{web_harness.address}/metrics", headers=headers).status_code == 403
    web_harness.store.users.set_role("second", "admin", BY)
    with httpx.Client(base_url=web_harness.address, headers=ENGLISH, cookies={"tadoru": cookie}) as admin:
        assert admin.post(f"/manage/users/{second.id}/revoke", data=token(admin)).status_code == 303
        assert httpx.get(f"{web_harness.address}/metrics", headers=headers).status_code == 401


def test_a_key_without_an_owner_is_shown_as_the_operators(web_harness: WebHarness) -> None:
    key, _ = web_harness.store.keys.add("at the machine", ("events:read",), BY)
    with httpx.Client(base_url=web_harness.address, headers=ENGLISH, cookies={"tadoru": web_harness.cookie("admin")}) as admin:
        assert ">Operator</td>" in admin.get("/manage/keys").text
    web_harness.store.keys.revoke(key.id, BY)


def test_an_admin_can_not_revoke_themselves(web_harness: WebHarness) -> None:
    with httpx.Client(base_url=web_harness.address, headers=ENGLISH, cookies={"tadoru": web_harness.cookie("admin")}) as admin:
        own = web_harness.store.users.get("admin")
        assert own is not None
        assert admin.post(f"/manage/users/{own.id}/revoke", data=token(admin)).status_code == 400
        assert web_harness.store.users.get("admin").revoked_at is None  # type: ignore[union-attr]


def test_a_wrong_password_says_nothing_about_who_exists(web_harness: WebHarness, client: httpx.Client) -> None:
    web_harness.cookie("viewer")
    answers = [client.post("/sign-in", data={"name": name, "password": "x"}) for name in ("viewer", "nobody")]
    texts = [one.text.replace(name, "") for one, name in zip(answers, ("viewer", "nobody"), strict=True)]
    assert [one.status_code for one in answers] == [401, 401]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_signing_in_leads_nowhere_else(client: httpx.Client, target: str) -> None:
    text = client.get("/sign-in", params={"next": target}).text
    assert 'name="next" value="/manage"' in text


def test_a_retry_that_still_lacks_something_says_what(web_harness: WebHarness, editor: httpx.Client) -> None:
    answer = editor.post("/manage/reviews/1/retry", data=token(editor))
    assert answer.status_code == 400
    assert "The item is still incomplete." in answer.text
    assert web_harness.store.reviews.get(1).resolved_at is None


def test_an_answer_that_comes_too_late_is_said_on_the_page(web_harness: WebHarness, editor: httpx.Client) -> None:
    assert editor.post("/manage/reviews/2/keep-apart", data=token(editor)).status_code == 303
    late = editor.post("/manage/reviews/2/dismiss", data=token(editor))
    assert late.status_code == 400
    assert "Review 2 is already resolved" in late.text
    assert "kept separate" in editor.get("/manage/reviews?which=answered&lang=en").text


def test_a_review_is_opened_again_and_several_get_one_answer(web_harness: WebHarness, editor: httpx.Client) -> None:
    reviews = web_harness.store.reviews
    assert 'name="review" value="1"' in editor.get("/manage/reviews").text
    several = token(editor) | {"review": ["1", "999"], "resolution": "dismiss"}
    assert editor.post("/manage/reviews/resolve", data=several).status_code == 303
    assert reviews.get(1).resolution == "dismiss"
    assert "Open again" in editor.get("/manage/reviews/1?lang=en").text
    assert editor.post("/manage/reviews/1/reopen", data=token(editor)).status_code == 303
    assert reviews.get(1).resolved_at is None
    assert editor.post("/manage/reviews/resolve", data=token(editor) | {"resolution": "forget"}).status_code == 404


def test_reviews_are_filtered_by_reason_and_selected_at_once(editor: httpx.Client) -> None:
    page = editor.get("/manage/reviews?reason=missing_required&select=all&lang=en").text
    assert "Possible duplicate</span>" not in page
    assert 'name="review" value="1" checked' in page
    assert 'name="reason" value="missing_required"' in page
    answer = editor.post("/manage/reviews/resolve", data=token(editor) | {"resolution": "merge", "reason": "missing_required"})
    assert answer.headers["location"] == "/manage/reviews?reason=missing_required&done=resolved_none"
    assert "checked" not in editor.get("/manage/reviews?reason=nonsense").text


@pytest.fixture
def open_reviews(web_harness: WebHarness) -> list[int]:
    """The reviews, open again if other tests answered them."""
    reviews = web_harness.store.reviews
    for one in reviews.list(is_open=False):
        if one.resolution in {"keep-apart", "dismiss"}:
            reviews.reopen(one.id)
    return [one.id for one in reviews.list()]


def test_the_next_open_review_follows_an_answer(open_reviews: list[int], editor: httpx.Client) -> None:
    first, second = open_reviews[:2]
    answer = editor.post(f"/manage/reviews/{first}/dismiss", data=token(editor))
    assert answer.headers["location"] == f"/manage/reviews/{second}?done=dismissed"
    assert editor.post(f"/manage/reviews/{first}/reopen", data=token(editor)).status_code == 303
    assert "Next open review" not in editor.get(f"/manage/reviews/{open_reviews[-1]}?lang=en").text
    assert "Next open review" in editor.get(f"/manage/reviews/{first}?lang=en").text


@pytest.mark.usefixtures("open_reviews")
def test_a_list_of_reviews_says_what_differs(editor: httpx.Client) -> None:
    page = editor.get("/manage/reviews?reason=dedupe_conflict&lang=en").text
    assert "Both start on" not in page
    assert " · Probability that both are one event" in page


def test_an_event_of_a_persons_own_is_added_and_what_is_missing_is_said(web_harness: WebHarness, editor: httpx.Client) -> None:
    assert editor.post("/manage/events/new", data=token(editor) | {"title": "朝の会"}).status_code == 400
    typed = {"title": "朝の会", "starts": "2026-08-22", "all_day": "yes", "timezone": "Asia/Tokyo", "city": "盛岡市"}
    added = editor.post("/manage/events/new", data=token(editor) | typed)
    assert added.status_code == 303
    number = int(added.headers["location"].partition("?")[0].rpartition("/")[2])
    form = editor.get(f"/manage/events/{number}").text
    fields = dict(re.findall(r'<input id="f-\w+" name="(\w+)" type="\w+" value="([^"]*)"', form))
    same = token(editor) | fields | {"all_day": "yes", "description": ""}
    assert editor.post(f"/manage/events/{number}", data=same).headers["location"].endswith("done=event_same")
    moved = editor.post(f"/manage/events/{number}", data=same | {"starts": "2026-08-23"})
    assert moved.headers["location"].endswith("done=event_saved")
    assert str(web_harness.store.events.get(number).local_date) == "2026-08-23"


def test_a_word_about_what_was_done_is_one_of_ours(client: httpx.Client) -> None:
    just_now = {"cookie": "tadoru-done=1"}
    shown = client.get("/?done=signed_out", headers=just_now)
    assert "Signed out." in shown.text
    assert 'tadoru-done="";' in shown.headers["set-cookie"], "it is shown once"
    assert "Signed out." not in client.get("/?done=signed_out").text
    assert "pwned" not in client.get("/?done=pwned<b>", headers=just_now).text
