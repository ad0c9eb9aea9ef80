"""Shapes of pages, feeds and answers of public bodies: each can be read with settings, without code of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from tadoru.errors import ConfigError
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
    "a date that spans several rows": PageShape(
        "html",
        "<table><tr><td rowspan=2>8月5日<td>工作<td>児童館</tr><tr><td>寄席<td>公民館</tr>"
        "<tr><td>8月7日<td>体操<td>体育館</tr></table>",
        {
            "item": "tr",
            "fields": {
                "title": "td:nth-last-child(2)",
                "start": {"selector": "td:nth-last-child(3)", "above": True},
                "venue": "td:last-child",
            },
        },
        ["工作 08-05 児童館", "寄席 08-05 公民館", "体操 08-07 体育館"],
    ),
    "a heading with the month and days below it": PageShape(
        "html",
        "<h2>令和8年8月</h2><ul><li>1日（土）夏祭り</li></ul><h2>令和8年9月</h2><ul><li>6日（日）敬老会</li></ul>",
        {
            "item": "li",
            "fields": {
                "title": {"pattern": "）(.+)"},
                "start": {
                    "year": {"selector": "h2", "above": "true", "pattern": "(.+?)年"},
                    "month": {"selector": "h2", "above": "true", "pattern": r"(\d+)月"},
                    "day": {"pattern": r"(\d+)日"},
                },
            },
        },
        ["夏祭り 08-01", "敬老会 09-06"],
    ),
    "a term with several descriptions": PageShape(
        "html",
        "<dl><dt>8月1日<dd>朝市<dd>夜市<dt>8月2日<dd>音楽会</dl>",
        {"item": "dd", "fields": {"title": ".", "start": {"selector": "dt", "above": True}}},
        ["朝市 08-01", "夜市 08-01", "音楽会 08-02"],
    ),
    "a month as a grid with the date on the cell": PageShape(
        "html",
        "<table><tr><td data-date=2026-08-01><ul><li>朝市<li>夜市</ul>"
        "<td data-date=2026-08-02><td data-date=2026-08-03><ul><li>囲碁</ul></table>",
        {"item": "td li", "fields": {"title": ".", "start": {"selector": "td", "attribute": "data-date", "above": True}}},
        ["朝市 08-01", "夜市 08-01", "囲碁 08-03"],
    ),
    "lines of a cell beside its date": PageShape(
        "html",
        "<table><tr><th>8月1日<td>10:00 体操<br>13:00 将棋</tr><tr><th>8月2日<td>10:00 絵手紙</tr></table>",
        {
            "item": "td",
            "split": "br",
            "fields": {
                "title": {"pattern": r"\d (.+)"},
                "start_time": {"pattern": r"\d+:\d+"},
                "start": {"selector": "th", "above": True},
            },
        },
        ["体操 08-01 10:00", "将棋 08-01 13:00", "絵手紙 08-02 10:00"],
    ),
    "a sign for the same day": PageShape(
        "html",
        "<table><tr><td>8月1日<td>朝市</tr><tr><td>〃<td>夜市</tr></table>",
        {"item": "tr", "fields": {"title": "td:last-child", "start": {"selector": "td:first-child", "above": True}}},
        ["朝市 08-01", "夜市 08-01"],
    ),
    "headings and paragraphs in one element": PageShape(
        "html",
        "<div class=t><div><p>案内<h3>古本市</h3><p>9月12日<p>ところ：図書館"
        "<h3>句会</h3>9月19日13時<p>ところ：文学館</div></div>",
        {
            "item": ".t",
            "split": "css:h3",
            "fields": {
                "title": "h3",
                "start": {"pattern": r"\d+月\d+日(?:\d+時)?"},
                "venue": {"selector": "p:last-of-type", "pattern": "ところ：(.+)"},
            },
        },
        ["古本市 09-12 図書館", "句会 09-19 13:00 文学館"],
    ),
    "several rows for each event": PageShape(
        "html",
        "<table><tr class=h><td colspan=2>寄席</tr><tr><td>日時<td>10月4日 14時</tr><tr><td>会場<td>演芸場</tr>"
        "<tr class=h><td colspan=2>教室</tr><tr><td>日時<td>10月11日 10時</tr></table>",
        {
            "item": "table",
            "split": "css:tr.h",
            "fields": {"title": ".h", "start": 'td:contains("日時") + td', "venue": 'td:contains("会場") + td'},
        },
        ["寄席 10-04 14:00 演芸場", "教室 10-11 10:00"],
    ),
    "a line with the date of the lines below it": PageShape(
        "html",
        "<div class=x>10月3日（土）<br>10:00 開会式<br>13:00 ライブ<br>10月4日（日）<br>9:00 朝市</div>",
        {
            "item": ".x",
            "split": "br",
            "fields": {
                "title": {"pattern": r"\d:\d\d (.+)"},
                "start_time": {"pattern": r"\d+:\d\d"},
                "start": {"pattern": r"\d+月\d+日", "above": True},
            },
        },
        ["開会式 10-03 10:00", "ライブ 10-03 13:00", "朝市 10-04 09:00"],
    ),
    "rows with labels": PageShape(
        "html",
        "<div class=e><h3>陶芸</h3><table><tr><th>日時<td>8月22日 10時<tr><th>会場<td>青年の家</table></div>",
        {
            "item": ".e",
            "fields": {"title": "h3", "start": 'th:contains("日時") + td', "venue": 'th:contains("会場") + td'},
        },
        ["陶芸 08-22 10:00 青年の家"],
    ),
    "local seconds in an attribute": PageShape(
        "html",
        "<ul><li data-at=1785574800>朝市<li data-at=99999999999999>ずっと先</ul>",
        {
            "item": "li",
            "fields": {"title": ".", "start": {"attribute": "data-at"}},
            "epoch": "local_seconds",
            "skip_undated": True,
        },
        ["朝市 08-01 09:00"],
    ),
    "a list in a script": PageShape(
        "api",
        "<script>lib({a: [1]})</script>"
        "<script>var cal = [{title:'盆踊り', start:'2026-08-14T18:00'}]; show({events: cal});</script>",
        {"after": "var cal =", "fields": {"title": "title", "start": "start"}},
        ["盆踊り 08-14 18:00"],
    ),
    "an answer in an element": PageShape(
        "api",
        '<script id=data type="application/json">{"events":[{"name":"朝市","at":"2026-08-01"}]}</script>',
        {"embedded": "script#data", "items": "events", "fields": {"title": "name", "start": "at"}},
        ["朝市 08-01"],
    ),
    "an answer in an attribute": PageShape(
        "api",
        """<div data-events='[{"name":"朝市","at":"2026-08-01"}]'></div>""",
        {"embedded": "div::attr(data-events)", "fields": {"title": "name", "start": "at"}},
        ["朝市 08-01"],
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


def test_a_page_without_events_names_the_feeds_and_calendars_that_it_links_to() -> None:
    body = (
        "<link rel=alternate type='application/rss+xml' href=/news.rss><a href='webcal://city.example/all.ics'>購読</a>"
        "<a href='/open/events.csv'>CSV</a><a href='/list?format=ical'>iCal</a><a href='/about'>About</a>"
        "<a type=text/calendar href=/abo>Abo</a><a href='/x?tx_cal[view]=ics'>X</a>"
        "<iframe src='https://calendar.google.com/calendar/embed?ctz=UTC&amp;src=town%40city.example'></iframe>"
    )
    settings = parse_source_settings(SourceType.HTML, {})
    [problem] = settings.reader.read(document_of("html", body), settings.own).problems
    for part in (
        "/news.rss (rss)",
        "https://city.example/all.ics (ics)",
        "/open/events.csv (csv)",
        "format=ical (ics)",
        "/abo (ics)",
        "=ics (ics)",
        "https://calendar.google.com/calendar/ical/town%40city.example/public/basic.ics (ics)",
    ):
        assert part in problem.reason
    assert "/about" not in problem.reason


def test_a_page_of_pdf_files_says_that_they_are_not_read() -> None:
    settings = parse_source_settings(SourceType.HTML, {})
    body = "<a href=/8.pdf>8月</a><a href=/9.PDF>9月</a>"
    [problem] = settings.reader.read(document_of("html", body), settings.own).problems
    assert "PDF files (2), which are not read" in problem.reason


@pytest.mark.parametrize("kind", [SourceType.HTML, SourceType.RSS, SourceType.ICS, SourceType.CSV])
def test_a_pdf_file_is_refused(kind: SourceType) -> None:
    settings = parse_source_settings(kind, {})
    [problem] = settings.reader.read(document_of("html", "%PDF-1.7 催し"), settings.own).problems
    assert problem.reason.startswith("This is a PDF file, which is not read.")


@pytest.mark.parametrize("kind", [SourceType.RSS, SourceType.ICS, SourceType.CSV])
def test_a_page_that_was_added_as_another_type_names_what_it_links_to(kind: SourceType) -> None:
    settings = parse_source_settings(kind, {})
    document = document_of("html", "<!doctype html><a href=/all.ics>Calendar</a>")
    assert [one.reason for one in settings.reader.read(document, settings.own).problems][:1] == [
        "This is a web page. It links to: https://city.example/all.ics (ics)."
    ]


@pytest.mark.parametrize(
    "kind, settings, words",
    [
        (
            "html",
            {"item": "//li", "fields": {"title": ".", "start": {"selector": ".", "above": True}}},
            "fields.start.above needs",
        ),
        ("html", {"item": "li", "split": "css:h3[", "fields": {"title": "a"}}, "split"),
        ("api", {"embedded": "script[", "fields": {"title": "a"}}, "embedded"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(kind: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        parse_source_settings(SourceType(kind), settings)


def test_a_page_without_its_json_says_what_was_looked_for() -> None:
    settings = parse_source_settings(SourceType.API, {"after": "var cal =", "fields": {"title": "title"}})
    [problem] = settings.reader.read(document_of("api", "<script>var other = 1</script>"), settings.own).problems
    assert "no script with “var cal =”" in problem.reason


@pytest.mark.parametrize("page, following", [(1, "https://city.example/events/?p=2"), (2, None)])
def test_a_feed_is_followed_as_far_as_the_setting_allows(page: int, following: str | None) -> None:
    settings = parse_source_settings(SourceType.RSS, {"most_pages": 2})
    body = "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='next' href='?p=2'/></feed>"
    assert settings.reader.read(replace(document_of("rss", body), page=page), settings.own).next_url == following
