"""Events for property tests: few words, days and places, so that any two of them often have something in common."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from tadoru.model.event import EventDraft, Occurrence
from tests.jobs.events.dedupe.event_drafts import draft

WORDS = st.sampled_from(
    "春の 星空 観察会 おはなし会 コンサート 教室 (初級) (0・1歳) 第3回 令和8年度 ~月と木星~ 市民会館 図書館 北 "
    "vol.2 ABC ｶﾅ ① 【無料】 のお知らせ "
    "8/1(土) 8月2日 ・壱 その弐 in 1/2".split()
)
TITLES = st.one_of(st.lists(WORDS, min_size=1, max_size=5).map("".join), st.text(min_size=1, max_size=20))
VENUES = [
    "",
    "市民会館",
    "みどり市民会館 第1会議室",
    "みどり市立図書館(ほんのもり)",
    "公民館2階",
    "会場:みどり図書館",
    "山田記念 みどり市立図書館",
    "館「第2会議室」",
]
STARTS = st.sampled_from([datetime(2026, 8, 1, tzinfo=UTC) + timedelta(minutes=30 * n) for n in range(60)])
OCCURRENCES = st.builds(
    lambda start, length, timed: Occurrence(starts_at=start, ends_at=start + length if length else None, has_time=timed),
    STARTS,
    st.sampled_from([None, timedelta(hours=2), timedelta(days=3)]),
    st.booleans(),
)


@st.composite
def events(draw: st.DrawFn) -> EventDraft:
    """Any event."""
    first = draw(OCCURRENCES)
    more = draw(st.lists(OCCURRENCES, max_size=3))
    return draft(
        draw(TITLES),
        first,
        occurrences=(first, *more) if more else (),
        venue=draw(st.sampled_from(VENUES)),
        city=draw(st.sampled_from(["", "みどり市", "東京都府中市"])),
        url=draw(st.sampled_from(["", "https://a.example/event/1234.html", "https://a.example/"])),
        latitude=draw(st.sampled_from([None, 35.0])),
        longitude=139.0,
        price=draw(st.sampled_from(["", "無料", "500円"])),
        description=draw(st.sampled_from(["", "星を見ます。"])),
        is_cancelled=draw(st.booleans()),
        extra=draw(st.sampled_from([{}, {"定員": "20名"}])),
    )
