"""Large documents of a source are parsed in a process of their own, with the same result as small ones, and not for ever."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tadoru.jobs.events.collect.reader_process import LARGE_DOCUMENT, ReaderProcess, ReaderTimeout
from tadoru.jobs.events.collect.readers import SourceDocument
from tadoru.jobs.events.collect.source_settings import parse_source_settings
from tadoru.model.event import SourceType

EVENT = b"BEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Fair\r\nDTSTART:20270501\r\nEND:VEVENT\r\n"


def calendar(size: int) -> SourceDocument:
    comment = b"X-COMMENT:" + b"x" * size + b"\r\n"
    return SourceDocument(
        body=b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n" + comment + EVENT + b"END:VCALENDAR\r\n",
        content_type="text/calendar",
        url="https://town.test/calendar.ics",
        headers=(),
        page=1,
        is_detail=False,
        now=datetime(2027, 1, 1, tzinfo=UTC),
        zone="Asia/Tokyo",
    )


def reader(seconds: float) -> ReaderProcess:
    return ReaderProcess(SourceType.ICS, parse_source_settings(SourceType.ICS, {}), seconds)


def test_a_large_document_has_the_events_of_a_small_one() -> None:
    small, large = (reader(60.0).read(calendar(size)) for size in (10, LARGE_DOCUMENT))
    assert [event.title for event in large.events] == ["Fair"]
    assert large.events == small.events


def test_a_large_document_that_takes_too_long_is_given_up() -> None:
    assert reader(0.0).read(calendar(10)).events
    with pytest.raises(ReaderTimeout, match=r"Parsing https://town.test/calendar.ics took more than 0 seconds. Raise --timeout."):
        reader(0.0).read(calendar(LARGE_DOCUMENT))
