"""Cities and categories are remembered while nothing changes, and never longer."""

from __future__ import annotations

from sqlalchemy import event

from tadoru.store.calendar.listing import CACHE_SECONDS
from tadoru.store.calendar.store import CalendarStore
from tests.contract.events.matching import PlainMatcher, draft
from tests.support.clock import FakeClock


def test_names_are_read_once_and_anew_after_every_kind_of_change(
    store: CalendarStore, matcher: PlainMatcher, clock: FakeClock
) -> None:
    asked: list[str] = []
    event.listen(store.db.engine, "before_cursor_execute", lambda *told: asked.append(told[2]))

    def names() -> tuple[tuple[str, ...], tuple[str, ...]]:
        return store.events.cities(), store.events.categories()

    def reads() -> int:
        count = sum("DISTINCT" in text for text in asked)
        asked.clear()
        return count

    assert names() == ((), ())
    assert (names(), reads()) == (((), ()), 2)
    one = store.edits.create(draft("朝市", city="盛岡市", category="market"), matcher, "mia")
    assert (names(), names(), reads()) == ((("盛岡市",), ("market",)), (("盛岡市",), ("market",)), 2)
    store.edits.edit(one.id, {"category": "food"}, matcher, "mia")
    assert (names(), reads()) == ((("盛岡市",), ("food",)), 2)
    store.edits.hide(one.id, "mia")
    assert (names(), reads()) == ((("盛岡市",), ()), 2)
    store.edits.unhide(one.id, "mia")
    assert (names(), reads()) == ((("盛岡市",), ("food",)), 2)
    clock.advance(CACHE_SECONDS)
    assert (names(), reads()) == ((("盛岡市",), ("food",)), 2)
