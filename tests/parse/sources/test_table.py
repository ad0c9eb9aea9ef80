"""Tables of events: the layouts of municipalities, columns by their names, and what a row becomes."""

from __future__ import annotations

from typing import Any

import pytest

from tadoru.errors import ConfigError
from tadoru.model.event import ParsedSource, RawEvent
from tadoru.parse.sources.table import TableSettings, read_csv

URL = "https://town.test/open/events.csv"


def read(text: str, **settings: Any) -> ParsedSource:
    return read_csv(text.encode(), "text/csv", URL, TableSettings.from_mapping(settings))


def only(reading: ParsedSource) -> RawEvent:
    assert not reading.problems
    [event] = reading.events
    return event


def test_the_recommended_data_set_is_read_without_settings() -> None:
    text = (
        "都道府県コード又は市区町村コード,NO,都道府県名,市区町村名,イベント名,イベント名_カナ,イベント名_英語,開始日,終了日,開始時間,終了時間,"
        "開始日時特記事項,説明,料金(基本),料金(詳細),連絡先名称,連絡先電話番号,連絡先内線番号,主催者,場所名称,住所,方書,"
        "緯度,経度,"
        "アクセス方法,駐車場情報,定員,参加申込終了日,参加申込終了時間,参加申込方法,URL,備考\n"
        "131016,7,東京都,千代田区,星まつり,ホシマツリ,Star Festival,2026-08-01,2026-08-02,17:00,21:00,雨天順延,"
        "街灯を消します,500,小学生は無料,観光課,03-0000-0000,,星の会,役場前広場,東京都千代田区中央1-1,一階,35.69,139.75,駅前,あり,100,"
        "2026-07-20,,電話,star.html,=SUM(A1)\n"
    )
    assert only(read(text)) == RawEvent(
        position="row 2",
        title="星まつり",
        start="2026-08-01",
        end="2026-08-02",
        start_time="17:00",
        end_time="21:00",
        when_note="雨天順延",
        description="街灯を消します",
        price="500円 小学生は無料",
        organizer="星の会",
        venue="役場前広場",
        address="東京都千代田区中央1-1 一階",
        city="千代田区",
        latitude="35.69",
        longitude="139.75",
        url="https://town.test/open/star.html",
        timezone="Asia/Tokyo",
        extra={
            "都道府県コード又は市区町村コード": "131016",
            "NO": "7",
            "都道府県名": "東京都",
            "イベント名_カナ": "ホシマツリ",
            "イベント名_英語": "Star Festival",
            "連絡先名称": "観光課",
            "連絡先電話番号": "03-0000-0000",
            "アクセス方法": "駅前",
            "駐車場情報": "あり",
            "定員": "100",
            "参加申込終了日": "2026-07-20",
            "参加申込方法": "電話",
            "備考": "=SUM(A1)",
        },
    )


def test_the_base_registry_is_read_without_settings() -> None:
    text = (
        "NO,都道府県コード又は市区町村コード,名称,概要,説明,イベント種類,URL,状態,開始日,開始時刻,日時備考,場所名称,集合場所,"
        "住所都道府県,住所市区町村,住所町名,住所丁目以下,建物名等,料金(基本)\n"
        "1,131016,茶会,短く,長く,文化,https://town.test/tea,中止,2026/8/2,10時,毎月第1日曜日,,公民館,東京都,千代田区,中央,1-1,二階,0\n"
    )
    event = only(read(text))
    assert (event.title, event.venue, event.address, event.city) == ("茶会", "公民館", "東京都千代田区中央1-1 二階", "千代田区")
    assert (event.is_cancelled, event.extra["状態"], event.price, event.category) == (True, "中止", "無料", "文化")
    assert (event.description, event.extra["概要"]) == ("長く", "短く")


def test_the_standard_data_set_is_read_without_settings() -> None:
    text = (
        "全国地方公共団体コード,ID,地方公共団体名,イベント名,開始日,終了日,開始時間,所在地_連結表記,建物名等(方書),料金（基本）\n"
        "131016,ab-1,東京都千代田区,星まつり,2026-08-01,,17:00,東京都千代田区中央1-1,役場前広場,千円\n"
    )
    event = only(read(text))
    assert (event.uid, event.city, event.venue) == ("ab-1", "千代田区", "役場前広場")
    assert (event.address, event.price) == ("東京都千代田区中央1-1", "千円")


@pytest.mark.parametrize(
    "header, row, city",
    [
        ("市区町村コード", "131016", "千代田区"),
        ("市区町村コード", "13101", "千代田区"),
        ("市区町村コード", "１３１０１６", "千代田区"),
        ("市区町村コード", "11002", "札幌市"),  # a spreadsheet took the first zero away
        ("市区町村コード", "130001", None),  # a prefecture
        ("市区町村コード", "999999", None),
        ("市区町村コード", "", None),
        ("地方公共団体名", "東京都千代田区", "千代田区"),
        ("地方公共団体名", "千代田区", "千代田区"),
        ("地方公共団体名", "東京都", None),
    ],
)
def test_the_city_is_known_by_its_code_or_its_government(header: str, row: str, city: str | None) -> None:
    assert only(read(f"イベント名,開始日,{header}\n祭,2026-08-01,{row}\n")).city == city


def test_english_names_are_columns_too_and_their_zone_is_not_guessed() -> None:
    event = only(read("Event Name,Start Date,start_time,Venue,Room\nStar Night,2026-08-01,5 pm,Town Hall,2\n"))
    assert (event.title, event.start, event.start_time, event.venue) == ("Star Night", "2026-08-01", "5 pm", "Town Hall")
    assert (event.timezone, event.extra) == (None, {"Room": "2"})


def test_columns_and_constants_are_what_the_person_says() -> None:
    settings = {
        "columns": {"title": "見出し", "start": ["日", "予備日"], "venue": 4, "extra": {"room": "部屋"}},
        "constants": {"city": "星町", "venue": "本庁", "extra": {"terms": "CC0"}},
        "timezone": "Asia/Tokyo",
    }
    first, second = read("見出し,日,予備日,x,部屋\n祭,,8/1,広場,2\n市,8/3,8/4,,\n", **settings).events
    assert (first.title, first.start, first.venue, first.city) == ("祭", "8/1", "広場", "星町")
    assert (first.timezone, first.extra) == ("Asia/Tokyo", {"room": "2", "terms": "CC0"})
    assert (second.start, second.venue, second.extra) == ("8/3", "本庁", {"予備日": "8/4", "terms": "CC0"})


def test_a_table_without_a_header_is_read_by_numbers() -> None:
    event = only(read("祭,2026-08-01,広場\n", header=0, columns={"title": 1, "start": "2"}))
    assert (event.position, event.title, event.start, event.extra) == ("row 1", "祭", "2026-08-01", {"3": "広場"})


@pytest.mark.parametrize("number", ["0000021", "9" * 5000, "0"])
def test_a_number_that_no_column_has_names_none(number: str) -> None:
    assert only(read("祭,2026-08-01\n", header=0, columns={"title": 1, "start": 2, "venue": number})).venue is None


@pytest.mark.parametrize("above", ["令和8年度 イベント一覧\n", "\n\n", "イベント一覧,,\n作成日,2026-04-01,\n\n"])
def test_titles_above_the_header_are_passed_over(above: str) -> None:
    event = only(read(f"{above}イベント名,開始日,会場\n祭,2026-08-01,広場\n"))
    assert event.position == f"row {above.count(chr(10)) + 2}"
    assert event.title == "祭"


def test_the_row_of_the_header_can_be_said() -> None:
    text = "title,start,venue\nイベント名,開始日,会場\n祭,2026-08-01,広場\n"
    assert only(read(text, header=2)).title == "祭"
    assert len(read(text).events) == 2


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param("", "The table is empty.", id="empty"),
        pytest.param(" \r\n\r\n", "The table is empty.", id="only line ends"),
        pytest.param("祭,2026-08-01\n市,2026-08-02\n", "columns.title", id="no header"),
        pytest.param("開始日,会場,住所\n2026-08-01,広場,中央\n", "columns.title", id="no title"),
        pytest.param("<html><title>Not Found</title><h1>404</h1></html>", "columns.title", id="a page of an error"),
        pytest.param('{"events": []}', "columns.title", id="an answer in JSON"),
    ],
)
def test_a_table_without_a_title_is_one_problem(text: str, words: str) -> None:
    reading = read(text)
    [problem] = reading.problems
    assert (reading.events, problem.position) == ((), "table")
    assert words in problem.reason


def test_every_row_is_an_event_or_a_problem_with_a_reason() -> None:
    text = (
        "イベント名,開始日,会場\n"
        "祭,2026-08-01,広場\n"
        ",,\n"  # nothing is in it
        ",2026-08-02,\n"  # no title: the normaliser says so
        "イベント名,開始日,会場\n"
        "市,2026-08-03,広場,,\n"  # empty cells too many
        "雪,2026-08-04,広場,二階\n"  # a cell too many, all in place
        "月\n"  # a cell only
        "注,意,広場,x\n"  # a comma within a text: nothing is where it should be
    )
    reading = read(text)
    assert [(event.position, event.title) for event in reading.events] == [
        ("row 2", "祭"),
        ("row 4", None),
        ("row 6", "市"),
        ("row 7", "雪"),
        ("row 8", "月"),
    ]
    assert reading.events[3].extra == {"column 4": "二階"}
    assert [(problem.position, problem.reason) for problem in reading.problems] == [
        ("row 5", "The row repeats the column names."),
        ("row 7", "The row has 4 cells and the table 3 columns."),
        ("row 8", "The row has 1 cells and the table 3 columns."),
        ("row 9", "The row has 4 cells and the table 3 columns."),
    ]


def test_columns_of_one_name_are_all_kept() -> None:
    event = only(read("イベント名,開始日,備考,備考,\n祭,2026-08-01,一,二,三\n".replace("備考,\n", "備考,x\n")))
    assert event.extra == {"備考": "一", "備考 (2)": "二", "x": "三"}


@pytest.mark.parametrize("cell", ["=HYPERLINK(1)", "+81-3-0000", "-1", "@SUM(A1)", "\t=1", "'=1"])
def test_a_formula_is_a_text_like_any_other(cell: str) -> None:
    event = only(read(f"イベント名,開始日,備考\n{cell},2026-08-01,{cell}\n"))
    assert (event.title, event.extra["備考"]) == (cell.strip(), cell.strip())


@pytest.mark.parametrize(
    "text, price", [("0", "無料"), ("1,500", "1,500円"), ("５００", "５００円"), ("一人500円", "一人500円"), ("", None)]
)
def test_a_bare_number_is_yen(text: str, price: str | None) -> None:
    assert only(read(f'イベント名,開始日,料金\n祭,2026-08-01,"{text}"\n')).price == price


@pytest.mark.parametrize(
    "mapping, words",
    [
        pytest.param({"columns": {"titel": "a"}}, "columns.titel names no field", id="no such field"),
        pytest.param({"columns": {"title": {"a": 1}}}, "columns.title is “{'a': 1}”; it must be a text or a list", id="no name"),
        pytest.param({"columns": "title"}, "columns is “title”; it must be a mapping", id="no mapping"),
        pytest.param({"constants": {"town": "x"}}, "constants.town names no field", id="constant of no field"),
        pytest.param({"encoding": "sjsi"}, "encoding is “sjsi”, which is no charset; try utf-8, shift_jis", id="no charset"),
        pytest.param({"delimiter": "|"}, "delimiter is “|”; it must be one of comma, tab, semicolon", id="delimiter"),
        pytest.param({"header": "first"}, "header is “first”; it must be a whole number from 0 to 1000", id="header"),
        pytest.param({"header": 0}, "columns.title is missing", id="no header and no columns"),
        pytest.param({"timezone": "Tokyo"}, "timezone is “Tokyo”; it must be the name of a time zone", id="zone"),
        pytest.param({"colums": {}}, "colums is not known; there are columns,", id="unknown key"),
    ],
)
def test_a_setting_that_does_not_fit_is_named(mapping: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        TableSettings.from_mapping(mapping)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
