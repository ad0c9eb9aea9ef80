"""Shapes of pages, feeds and answers of public bodies: each can be read with settings, without code of its own."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from tadoru.jobs.events.collect.readers import SourceDocument
from tadoru.jobs.events.collect.source_settings import parse_source_settings
from tadoru.jobs.events.normalise.normaliser import SourceRules, normalise
from tadoru.model.event import EventDraft, SourceType

NOW = datetime(2026, 7, 1, tzinfo=UTC)
TYPES = {"html": "text/html; charset=utf-8", "rss": "application/rss+xml", "api": "application/json", "csv": "text/csv"}


class PageShape(NamedTuple):
    """A document, the settings that read it, and the events in it."""

    kind: str
    body: str
    settings: dict[str, Any]
    events: list[str]


def document_of(kind: str, body: str) -> SourceDocument:
    return SourceDocument(
        url="https://city.example/events/",
        body=body.encode(),
        content_type=TYPES[kind],
        headers=(),
        page=1,
        is_detail=False,
        now=NOW,
        zone="Asia/Tokyo",
    )


def read(shape: PageShape) -> list[str]:
    settings = parse_source_settings(SourceType(shape.kind), shape.settings)
    document = document_of(shape.kind, shape.body)
    rules = SourceRules(zone="Asia/Tokyo", now=NOW, order=settings.order)
    found = []
    for raw in filter(settings.items.is_wanted, settings.reader.read(document, settings.own).events):
        outcome = normalise(settings.items.completed(raw), rules)
        if isinstance(outcome, EventDraft):
            found.append(shown(settings.items.timed(outcome)))
        elif not settings.items.skip_undated:
            found.append(f"{raw.title}: {outcome.reason}")
    return found


def shown(draft: EventDraft) -> str:
    item = draft.occurrence
    start = f"{item.starts_at:%m-%d %H:%M}" if item.has_time else f"{item.starts_at:%m-%d}"
    end = f"–{item.ends_at:%H:%M}" if item.ends_at and item.has_time else f"–{item.ends_at:%m-%d}" if item.ends_at else ""
    return " ".join(filter(None, (f"{draft.title} {start}{end}", draft.venue, draft.price)))


def rss(*items: str) -> str:
    entries = "".join(
        f"<item><title>{t}</title><description>{d}</description></item>" for t, _, d in (i.partition("|") for i in items)
    )
    return f"<rss version='2.0'><channel><title>City</title>{entries}</channel></rss>"


LIST = {"item": "li", "fields": {"title": "a", "start": ".date"}}
SHAPES = {
    "a list with dates": PageShape(
        "html", "<ul><li><span class=date>2026年8月1日(土)</span><a href=/1>朝市</a></li></ul>", LIST, ["朝市 08-01"]
    ),
    "a table row for each event": PageShape(
        "html",
        "<table><tr><th>日時<th>催し<th>会場</tr><tr><td>8月1日 10時～12時<td>朝市<td>港</tr></table>",
        {"item": "tr:has(td)", "fields": {"title": "td:nth-child(2)", "start": "td:nth-child(1)", "venue": "td:nth-child(3)"}},
        ["朝市 08-01 10:00–12:00 港"],
    ),
    "lines of one paragraph between line breaks": PageShape(
        "html",
        "<p class=e>8月1日 朝市<br>8月2日 音楽会<br>問い合わせ 市役所</p>",
        {
            "item": "p.e",
            "split": "br",
            "fields": {"title": {"pattern": r"日 (.+)"}, "start": {"pattern": r"\d+月\d+日"}},
            "skip_undated": True,
        },
        ["朝市 08-01", "音楽会 08-02"],
    ),
    "several events of several lines in one element": PageShape(
        "html",
        "<div class=e>■朝市<br>8月1日 9時<br>港<br>■音楽会<br>8月2日 14時<br>市民会館</div>",
        {
            "item": ".e",
            "split": "^■",
            "fields": {"title": {"line": 1, "pattern": "■(.+)"}, "start": {"line": 2}, "venue": {"line": 3}},
        },
        ["朝市 08-01 09:00 港", "音楽会 08-02 14:00 市民会館"],
    ),
    "fields on their own lines": PageShape(
        "html",
        "<div class=e><b>朝市</b><br>2026/8/1<br>港の広場<br>無料</div>",
        {"item": ".e", "fields": {"title": "b", "start": {"line": 2}, "venue": {"line": 3}, "price": {"line": -1}}},
        ["朝市 08-01 港の広場 無料"],
    ),
    "labels in front of values": PageShape(
        "html",
        "<div class=e><h3>朝市</h3><p>日時：8月1日 9時～11時<br>場所：港<br>料金：100円</p></div>",
        {
            "item": ".e",
            "fields": {
                "title": "h3",
                "start": {"selector": "p", "pattern": "日時：(.+?)場所"},
                "venue": {"selector": "p", "pattern": "場所：(.+?)料金"},
                "price": {"selector": "p", "pattern": "料金：(.+)"},
            },
        },
        ["朝市 08-01 09:00–11:00 港 100円"],
    ),
    "a definition list": PageShape(
        "html",
        "<dl><dt>8月1日</dt><dd>朝市</dd><dt>8月2日</dt><dd>音楽会</dd></dl>",
        {"item": "xpath://dd", "fields": {"title": "xpath:.", "start": "xpath:./preceding-sibling::dt[1]"}},
        ["朝市 08-01", "音楽会 08-02"],
    ),
    "the month in a heading": PageShape(
        "html",
        "<section><h2>2026年8月</h2><ul><li><b>1</b>朝市</li></ul></section>",
        {
            "item": "xpath://li",
            "fields": {
                "title": "xpath:./text()",
                "start": {
                    "year": {"selector": "xpath:./ancestor::section/h2", "pattern": r"(\d+)年"},
                    "month": {"selector": "xpath:./ancestor::section/h2", "pattern": r"(\d+)月"},
                    "day": "xpath:./b",
                },
            },
        },
        ["朝市 08-01"],
    ),
    "times that are those of the entry": PageShape(
        "html",
        "<ul><li><time class=date datetime='2026-08-01T09:00'>8/1</time><a>朝市</a></li></ul>",
        {"item": "li", "fields": {"title": "a", "start": {"selector": "time", "attribute": "datetime"}}, "all_day": True},
        ["朝市 08-01–08-02"],
    ),
    "events without an end": PageShape(
        "html",
        "<ul><li><span class=date>8月1日 14時</span><a>講演会</a></li></ul>",
        LIST | {"duration": 90},
        ["講演会 08-01 14:00–15:30"],
    ),
    "news among the events": PageShape(
        "html",
        "<ul><li><span class=date></span><a>窓口の休み</a></li><li><span class=date>8月1日</span><a>朝市</a></li></ul>",
        LIST | {"skip_undated": True},
        ["朝市 08-01"],
    ),
    "only some categories": PageShape(
        "html",
        "<ul><li><span class=date>8月1日</span><a>朝市</a></li><li><span class=date>8月2日</span><a>市議会 本会議</a></li></ul>",
        LIST | {"exclude": "市議会,入札"},
        ["朝市 08-01"],
    ),
    "only items with a word": PageShape(
        "html",
        "<ul><li><span class=date>8月1日</span><a>【催し】朝市</a></li><li><span class=date>8月2日</span><a>工事</a></li></ul>",
        LIST | {"include": ["【催し】"]},
        ["【催し】朝市 08-01"],
    ),
    "texts of several elements together": PageShape(
        "html",
        "<ul><li><i>8</i><i>1</i><a>朝市</a></li></ul>",
        {"item": "li", "fields": {"title": "a", "start": {"month": "i:nth-child(1)", "day": "i:nth-child(2)"}}},
        ["朝市 08-01"],
    ),
    "an attribute with the date": PageShape(
        "html",
        "<div class=e data-day='20260801' title='朝市'></div>",
        {"item": ".e", "fields": {"title": {"attribute": "title"}, "start": {"attribute": "data-day"}}},
        ["朝市 08-01"],
    ),
    "the same venue for all": PageShape(
        "html",
        "<ul><li><span class=date>8月1日</span><a>展示</a></li></ul>",
        LIST | {"constants": {"venue": "市立図書館"}},
        ["展示 08-01 市立図書館"],
    ),
    "day first": PageShape(
        "html", "<ul><li><span class=date>02.08.2026</span><a>Markt</a></li></ul>", LIST | {"date_order": "day"}, ["Markt 08-02"]
    ),
    "structured data": PageShape(
        "html",
        '<script type="application/ld+json">{"@type":"Event","name":"朝市","startDate":"2026-08-01T09:00+09:00"}</script>',
        {},
        ["朝市 08-01 09:00"],
    ),
    "a feed with labels": PageShape(
        "rss",
        rss("朝市|とき：8月1日 9時から&lt;br&gt;ところ：港&lt;br&gt;参加費：500円"),
        {"patterns": {"venue": "ところ：(.+)", "price": "参加費：(.+)", "start": "とき：(.+)"}},
        ["朝市 08-01 09:00 港 500円"],
    ),
    "a feed with the time elsewhere": PageShape(
        "rss",
        rss("8月1日 朝市|開始時刻は午前9時です。会場は港。"),
        {"patterns": {"start_time": "開始時刻は(.+?)です", "venue": "会場は(.+?)。"}},
        ["8月1日 朝市 08-01 09:00 港"],
    ),
    "a feed of news and events": PageShape(
        "rss", rss("イベント：朝市 8月1日|", "入札の結果 8月3日|"), {"include": "イベント"}, ["イベント：朝市 8月1日 08-01"]
    ),
    "an answer in local time": PageShape(
        "api",
        json.dumps([{"name": "朝市", "at": 1785574800}]),
        {"fields": {"title": "name", "start": "at"}, "epoch": "local_seconds"},
        ["朝市 08-01 09:00"],
    ),
    "an answer in milliseconds": PageShape(
        "api",
        json.dumps({"data": [{"name": "朝市", "at": 1785542400000}]}),
        {"items": "data", "fields": {"title": "name", "start": "at"}, "epoch": "milliseconds", "duration": "60"},
        ["朝市 08-01 09:00–10:00"],
    ),
    "an answer with several dates of an item": PageShape(
        "api",
        json.dumps([{"name": "映画", "dates": ["2026-08-01", "2026-08-02"]}]),
        {"each": "dates", "fields": {"title": "name", "start": "each"}},
        ["映画 08-01", "映画 08-02"],
    ),
    "a table with its own headings": PageShape(
        "csv",
        "催し,いつ,どこ\n朝市,2026-08-01,港\n",
        {"columns": {"title": "催し", "start": "いつ", "venue": "どこ"}},
        ["朝市 08-01 港"],
    ),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_settings_reach_every_shape(shape: PageShape) -> None:
    assert read(shape) == shape.events


def test_there_are_as_many_shapes_as_the_evaluation_had() -> None:
    assert len(SHAPES) >= 25


def test_a_page_without_events_names_the_feeds_and_calendars_that_it_links_to() -> None:
    body = (
        "<link rel=alternate type='application/rss+xml' href=/news.rss><a href='webcal://city.example/all.ics'>購読</a>"
        "<a href='/open/events.csv'>CSV</a><a href='/list?format=ical'>iCal</a><a href='/about'>About</a>"
    )
    settings = parse_source_settings(SourceType.HTML, {})
    [problem] = settings.reader.read(document_of("html", body), settings.own).problems
    for part in ("/news.rss (rss)", "https://city.example/all.ics (ics)", "/open/events.csv (csv)", "format=ical (ics)"):
        assert part in problem.reason
    assert "/about" not in problem.reason
