"""What a team keeps about a crawl: views, ignored findings, links to its report; and when it runs again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tadoru.errors import UsageError
from tadoru.store.accounts.audit_log import Actor
from tadoru.store.served_crawls.annotations import MAX_SHARES, MAX_VIEWS, SCHEDULE
from tadoru.store.served_crawls.register import next_run
from tadoru.store.served_crawls.schema import next_scheduled
from tadoru.store.service import ServiceStore
from tests.support.clock import FakeClock

BY = Actor(who="mika")


def crawl_of(store: ServiceStore) -> int:
    return store.crawls.add("Shop", "audit", ["https://shop.example/"], {}, BY).id


def test_a_view_is_replaced_by_one_of_the_same_name_and_goes_with_its_crawl(store: ServiceStore) -> None:
    number = crawl_of(store)
    store.annotations.save_view(number, BY, tab="pages", name="Slow", query="response_ms=%3E500")
    store.annotations.save_view(number, BY, tab="pages", name="Slow", query="response_ms=%3E900")
    store.annotations.save_view(number, BY, tab="links", name="Broken", query="which=broken")
    assert [(one.name, one.query) for one in store.annotations.views(number, "pages")] == [("Slow", "response_ms=%3E900")]
    store.annotations.remove_view(number, store.annotations.views(number, "pages")[0].id, BY)
    assert store.annotations.views(number, "pages") == ()
    store.crawls.stop(number, BY)
    store.crawls.remove(number, BY)
    assert store.annotations.views(number, "links") == ()


def test_a_crawl_has_a_limited_number_of_views(store: ServiceStore) -> None:
    number = crawl_of(store)
    for name in range(MAX_VIEWS):
        store.annotations.save_view(number, BY, tab="pages", name=str(name), query="")
    with pytest.raises(UsageError, match="at most 50"):
        store.annotations.save_view(number, BY, tab="pages", name="one more", query="")


def test_a_finding_is_ignored_for_a_reason_until_it_is_opened_again(store: ServiceStore) -> None:
    number = crawl_of(store)
    store.annotations.ignore(number, BY, check_id="title-missing", subject="", reason="old pages")
    (ignored,) = store.annotations.ignored(number)
    assert (ignored.check_id, ignored.reason, ignored.created_by) == ("title-missing", "old pages", "mika")
    store.annotations.unignore(number, ignored.id, BY)
    assert store.annotations.ignored(number) == ()


def test_a_link_works_until_it_expires_or_is_revoked_and_its_key_is_not_stored(store: ServiceStore, clock: FakeClock) -> None:
    number = crawl_of(store)
    first = store.annotations.share(number, BY, label="client", days=7)
    second = store.annotations.share(number, BY, label="", days=30)
    opened = store.annotations.open_share(first)
    assert opened is not None
    assert (opened.crawl_id, opened.label) == (number, "client")
    with store.db.read() as sql:
        stored = " ".join(map(str, sql.exec_driver_sql("SELECT * FROM crawl_shares").all()))
    assert first not in stored
    assert store.annotations.open_share(first + "x") is None
    clock.advance(timedelta(days=8).total_seconds())
    assert store.annotations.open_share(first) is None
    (newest, _) = store.annotations.shares(number)
    assert store.annotations.open_share(second) is not None
    store.annotations.revoke_share(number, newest.id, BY)
    assert store.annotations.open_share(second) is None


@pytest.mark.parametrize(
    "schedule, after, expected",
    [
        ("daily 03:00 Asia/Tokyo", "2026-08-01T17:59:00", "2026-08-01T18:00:00"),
        ("daily 03:00 Asia/Tokyo", "2026-08-01T18:00:00", "2026-08-02T18:00:00"),
        ("mon 22:30 UTC", "2026-08-01T00:00:00", "2026-08-03T22:30:00"),
        ("sun 09:00 Europe/Berlin", "2026-10-24T12:00:00", "2026-10-25T08:00:00"),
        ("daily 02:30 Europe/Berlin", "2026-03-28T12:00:00", "2026-03-29T01:30:00"),
        ("daily 25:00 UTC", "2026-08-01T00:00:00", None),
        ("daily 03:00 Nowhere/City", "2026-08-01T00:00:00", None),
        ("someday 03:00 UTC", "2026-08-01T00:00:00", None),
        ("daily ../etc /etc/passwd", "2026-08-01T00:00:00", None),
        ("", "2026-08-01T00:00:00", None),
    ],
)
def test_a_schedule_names_its_next_time(schedule: str, after: str, expected: str | None) -> None:
    found = next_scheduled(schedule, datetime.fromisoformat(after).replace(tzinfo=UTC))
    assert (found.replace(tzinfo=None).isoformat() if found else None) == expected


def test_a_crawl_without_a_schedule_runs_again_after_its_interval() -> None:
    now = datetime(2026, 8, 1, tzinfo=UTC)
    assert next_run(3600, "", now) == now + timedelta(hours=1)
    assert next_run(None, "", now) is None
    assert next_run(86400, "daily 12:00 UTC", now) == now + timedelta(hours=12)


def test_reports_by_mail_never_run_out_of_links_and_take_none_from_people(store: ServiceStore) -> None:
    number = crawl_of(store)
    mailed = [store.annotations.share(number, SCHEDULE, label="client", days=30) for _ in range(MAX_SHARES + 1)]
    for _ in range(MAX_SHARES):
        store.annotations.share(number, BY, label="", days=30)
    with pytest.raises(UsageError, match="at most 50"):
        store.annotations.share(number, BY, label="", days=30)
    assert all(store.annotations.open_share(token) for token in mailed)


def test_expired_links_make_room_for_others(store: ServiceStore, clock: FakeClock) -> None:
    number = crawl_of(store)
    for _ in range(MAX_SHARES):
        store.annotations.share(number, BY, label="", days=7)
    clock.advance(8 * 24 * 3600)
    store.annotations.share(number, BY, label="later", days=7)
    assert [one.label for one in store.annotations.shares(number)] == ["later"]
