"""A service with a small calendar: two sources in two cities, a series, something hidden, something that lacks its date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.api.crawl_harness import CrawlHarness
from tests.support.calendar import row
from tests.support.serving import ServiceHarness

TITLES = ["星まつり", "朝市", "写真展", "音楽会", "夜の音楽会"]


def fill(harness: ServiceHarness) -> None:
    """What the tests know: events 1 to 5 are active (3 lasts four days), 6 is hidden, 7 is in quarantine."""
    calendar = harness.calendar
    town = calendar.source("盛岡市", licence="CC BY 4.0", terms_url="https://town.example/terms")
    other = calendar.source("花巻市", city="花巻市", url="https://other.example/feed")
    calendar.say(
        town,
        row("星まつり", "2050-08-01 10:00", end="2050-08-01 12:00", uid="a", latitude=39.70, longitude=141.15, category="祭り"),
        row("朝市", "2050-08-02 06:00", uid="b", venue="駅前広場", description="<p>野菜と<b>魚</b></p>", price="無料"),
        row("写真展", "2050-08-02", end="2050-08-05", uid="c", venue="美術館", category="展示"),
    )
    calendar.say(
        other,
        row("音楽会", "2050-08-10 18:00", uid="d", venue="花巻ホール", category="music"),
        row("夜の音楽会", "2050-09-01 19:00", uid="e", venue="花巻ホール", category="music"),
        row("内覧会", "2050-08-03 19:00", uid="f", venue="花巻ホール"),
        row("日時のない会", "", uid="g", venue="花巻ホール"),
    )
    hidden = next(one.event.id for one in harness.store.events.list(limit=50).items if one.event.title == "内覧会")
    harness.store.edits.hide(hidden, "test")


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[ServiceHarness]:
    harness = ServiceHarness(tmp_path / "events.db")
    fill(harness)
    yield harness
    harness.close()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceHarness]:
    """The same for tests that only read."""
    harness = ServiceHarness(tmp_path_factory.mktemp("shown") / "events.db")
    fill(harness)
    yield harness
    harness.close()


@pytest.fixture
def near_desk(tmp_path: Path) -> Iterator[ServiceHarness]:
    """One that may collect from this machine, without events."""
    harness = ServiceHarness(tmp_path / "events.db", private=True)
    yield harness
    harness.close()


@pytest.fixture
def crawl_harness(tmp_path: Path, audited: Path, linked: Path) -> Iterator[CrawlHarness]:
    """A service with crawls."""
    harness = CrawlHarness(tmp_path, audited, linked)
    yield harness
    harness.close()


@pytest.fixture(scope="module")
def read_desk(tmp_path_factory: pytest.TempPathFactory, audited: Path, linked: Path) -> Iterator[CrawlHarness]:
    """The same for tests that only read."""
    harness = CrawlHarness(tmp_path_factory.mktemp("read"), audited, linked)
    yield harness
    harness.close()
