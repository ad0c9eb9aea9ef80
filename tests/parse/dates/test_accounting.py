"""All of a text is accounted for: what looks like a date or a time and is not understood is said, not left out."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tadoru.parse.dates import ParsedDate, UnreadableDate, read_when
from tests.parse.dates.test_prose_labels import shown
from tests.parse.dates.test_written_forms import TOKYO

NOW = datetime(2026, 7, 1, tzinfo=UTC)

REFUSED = [
    ("平成20年4月1日以前に生まれた方", "date of birth"),
    ("令和8年4月1日現在、12歳以上の方", "day of reference"),
    ("広報9月15日号でお知らせします", "edition"),
    ("毎年8月15日に行われる例祭", "every year"),
    ("当初、8月1日開催予定でした", "changed"),
    ("8月12日から16日は休館です", "not a date"),
    ("8月1日(土)は休講です", "not a date"),
    ("(2026/08/01掲載)", "published"),
    ("8/1.2.3のつどい", "has no place"),
    ("8月1日(土)のみ休館で、ほかは営業します", "closed"),
    ("昭和46年8月1日に市制が施行されました", "the past"),
    ("8月23日の記念日にちなみ、資料を展示します", "day of reference"),
    ("初日は8月1日、最終日は8月9日", "“初日” has no place"),
    ("7月20日に種をまき、8月20日までの間、観察します", "does not say that something takes place"),
    ("2月9日開催、12月24日受付開始", "different things"),
    ("8月5日はこの地域の読書の日、8月5日~12日はこどもの週間です", "“はこの地域の読書の日” has no place"),
    ("8月1日から電話で(午前8時30分~午後5時)", "how to take part"),
    ("抽選日は8月1日です", "how to take part"),
    ("8月1日に結果を発表します", "how to take part"),
    ("8月1日以降に発送します", "no day that is certain"),
    ("8月1日頃から", "no day that is certain"),
    ("前回は8月1日に開催しました", "the past"),
    ("8月1日(土)をもって終了します", "closed"),
    ("8月1日(土)または2日(日)", "leaves open"),
    ("8月1日(月)", "fits no year"),
    ("8月1日(土)10時~12時 観覧券の販売は9時から", "“観覧券の販売は” has no place"),
    ("8月1日(土)ほか", "more dates than those that are written"),
    ("8月1日(土)~(全6回)", "says 6 times, and 1 could be read"),
    ("8月1日(土)開講 毎週日曜日", "only one date of 毎週日曜日"),
    ("8月1日～31日 毎週土曜日(休館日を除く)", "The rule 毎週土曜日 is not expanded: it has an exception (休館)"),
    ("8月1日(土)午後5時まで", "only when it ends"),
    ("vom 5. bis 27. August 2026, täglich 10-18 Uhr, nicht in den Schulferien", "“nicht in” has no place"),
    ("Anmeldeschluss: 15. Juni 2026", "not a date"),
    ("雨天中止の場合、8日(土)に開催", "not a date"),
    ("8月1日(土)日没後~21時", "“日没後” has no place"),
    ("Die Ausstellung wurde am 1. August eröffnet", "the past"),
    ("Report du 1er août au 8 août 2026", "changed"),
    ("Dienstag bis Samstag, 10-14 Uhr", "says how often"),
    ("8月3日(月)~7日(金)のうち3日間", "“のうち” has no place"),
    ("8月1日から図書館の開館時間が変わります", "does not say that something takes place"),
    ("8月1日(土)に開催された夏祭りの写真", "the past"),
    ("毎月10日(土日祝の場合は翌平日)", "says how often"),
    ("参加者の交流を深める場を毎月開催します", "not a date"),
    ("Inscripciones hasta el 20 de mayo de 2026", "not a date"),
    ("Sabato 10 ottobre 2026, ritrovo 21", "“21” has no place"),
    ("bis zum 5. August 2026", "only when it ends"),
    ("until 5 August 2026", "only when it ends"),
    ("until 8pm on 5 August 2026", "only when it ends"),
    ("5 August 2026 until 10pm", "only when it ends"),
    ("Registration is open until 5 August 2026", "only when it ends"),
    ("Bewerbungen noch bis 5. August 2026", "only when it ends"),
    ("申込締切を8月1日に延期しました。", "changed"),
    ("8月1日(土)は休館日です", "closed"),
    ("9月の第5土曜日", "not a date"),
    ("120年8月1日", "not a year that can be meant"),
    ("100年前の8月1日", "the past"),
    ("8月1日~31日 10時~17時 開館日:土日", "“開館日:” has no place"),
    ("8月1日(土)10時~12時。 講演は13時から15時。", "“。 講演は” has no place"),
    ("毎月第2土曜日の翌日 10時", "says how often"),
    ("8月1日(土)10時チケット発売", "before or after"),
    ("8月1日は市民の日", "day of reference"),
    ("Nominations open until 5 August 2026", "only when it ends"),
    ("1. August 2026 Aufbau\n2. August 2026 Messe", "“Aufbau” has no place"),
]


@pytest.mark.parametrize("text, reason", REFUSED, ids=[text for text, _ in REFUSED])
def test_a_text_that_says_more_than_can_be_read_is_refused_with_the_reason(text: str, reason: str) -> None:
    zone = TOKYO if any(ord(sign) > 0x3000 for sign in text) else ZoneInfo("Europe/Berlin")
    found = read_when(text, now=NOW, zone=zone)
    assert isinstance(found, UnreadableDate)
    assert reason in found.reason


READ = [
    ("日時:8/1(土)10:00~12:00", "0801 10:00-12:00"),
    ("開催日:8月1日(土) 時間:19:00~21:00(開場18:50)", "0801 19:00-21:00"),
    ("8月1日(土)午前10時~午後3時(正午~午後1時を除く)", "0801 10:00-15:00"),
    ("8月1日~22日の土曜日、全4回", "0801,0808,0815,0822"),
    ("8月1日(土)~2日(日)午前9時~午後4時(最終日は午後1時まで)", "0801 09:00-16:00,0802 09:00-13:00"),
    ("8月3日から7日の平日午前9時から正午まで(8月4日~6日は除く)", "0803 09:00-12:00,0807 09:00-12:00"),
    ("8月1日から10日まで(土・日曜日を除く)", "0803-0807,0810"),
    ("8月1日(土)開催。7月10日(金)から電話で申し込み", "0801"),
    ("8月1日(土)10時~12時 要予約", "0801 10:00-12:00"),
    ("8月1日(土)・2日(日) 1日は15:00~21:00、2日は10:00~20:00", "0801 15:00-21:00,0802 10:00-20:00"),
    ("8月1日(土)、8日(土)は10時から、15日(土)は13時から", "0801 10:00,0808 10:00,0815 13:00"),
    ("8月の毎週木曜(6・13・20・27日)19時~20時", "0806 19:00-20:00,0813 19:00-20:00,0820 19:00-20:00,0827 19:00-20:00"),
    ("8月1日(土) 受付12:30~ 式典13:00~13:40", "0801 13:00-13:40"),
    ("8月1日(土) 集合:8時45分 市役所北側駐車場 解散:午後3時頃", "0801 08:45-15:00"),
    ("雨天中止の場合、翌2日(日)に開催\n開始日: 2026/8/1\n終了日: 2026/8/1", "0801"),
    ("(1)午前9時(2)正午(3)午後1時半(各回1時間)\n開始日: 2026/8/1\n開始時刻: 9:00", "0801 09:00,0801 12:00,0801 13:30"),
    ("8月1日(土)から毎週土曜日 全3回", "0801,0808,0815"),
    ("8月1日(土)、市民会館で午後1時半からと6時半からの2回", "0801 13:30,0801 18:30"),
    ("8月1日から8月12日 休館日は月曜日と、8月5日です", "0801-0802,0804,0806-0809,0811-0812"),
    ("8月1日(土)~12日(水)9時~17時 休館日:毎週月曜日(但し8/10は開館)、8/4", "0801 09:00-17:00"),
    ("毎週水曜日 14時~15時", "0701 14:00-15:00"),
    ("毎週水曜日 14時~15時(7月15日まで)", "0701 14:00-15:00,0708 14:00-15:00,0715 14:00-15:00"),
    ("講座日程 第1回8/1 第2回8/8 時間はいずれも18:30~20:00", "0801 18:30-20:00,0808 18:30-20:00"),
    ("8月1日(土)8:30受付 9:00開会式 9:30競技開始 15:00閉会式", "0801 09:30-15:00"),
    ("8月1日(土)10時~12時、申込みは7月10日(金)9時から電話で", "0801 10:00-12:00"),
    ("2026/08/01 08:30~2026/08/21 17:00", "0801 08:30-0821 17:00"),
    ("8月1日(土)・2日(日)11:00-20:00(2日は-19:00)", "0801 11:00-20:00,0802 11:00-19:00"),
    ("8月1日(土)、五日市街道で開催", "0801"),
    ("8月1日(土)、旭町2-7-16の会場で", "0801"),
    ("8月1日(土) 11時開場開演", "0801 11:00"),
    ("8月1日(土)開場 16:30 / 配信開始 17:30 / 開演 18:00", "0801 18:00"),
    ("8月1日(土)9時~9時30分受付 10時開始 15時終了", "0801 10:00-15:00"),
    ("8月1日(土)から3日間 10時~17時", "0801 10:00-17:00,0802 10:00-17:00,0803 10:00-17:00"),
    ("8月1日~5日、8月8日~11日 月曜休館", "0801-0802,0804-0805,0808-0809,0811"),
    ("8月2日~4日 10時~17時 月曜休館、8月8日 10時~12時", "0802 10:00-17:00,0804 10:00-17:00,0808 10:00-12:00"),
    ("8月1日(土)~2日(日)10時~15時 1泊2日", "0801 10:00-0802 15:00"),
    ("8月1日(土) 8月2日(日)は雨天予備日", "0801"),
    ("8月1日(土)A班10時~ B班13時~", "0801 10:00,0801 13:00"),
    ("8月1日(土)から90日間有効", "0801"),
    ("8月1日(土)13時~13時30分開場 14時開演", "0801 14:00"),
    ("8月1日(土)~ 8月3日(月)10時~", "0801 10:00,0802 10:00,0803 10:00"),
    ("釣り教室 8月1日(土)1時30分~3時", "0801 13:30-15:00"),
    ("8月1日(土)~ 2日間開催 10時~", "0801 10:00,0802 10:00"),
    ("8月1日(土)前夜祭 18時~ 2日(日)本祭 10時~", "0801 18:00,0802 10:00"),
    ("7月20日 先行抽選\n8月1日 コンサート", "0801"),
    ("7月31日 搬入\n8月1日~5日 展覧会", "0801-0805"),
    ("8月1日 4時30分~6時30分 早朝探鳥会", "0801 04:30-06:30"),
]


@pytest.mark.parametrize("text, expected", READ, ids=[text for text, _ in READ])
def test_what_stands_beside_a_date_is_read_or_known_to_be_no_part_of_it(text: str, expected: str) -> None:
    found = read_when(text, now=NOW, zone=TOKYO)
    assert isinstance(found, ParsedDate)
    assert shown(found) == expected or shown(found).startswith(f"{expected},")


WESTERN = [
    ("5. August 2026, 19.30 Uhr, Einlass 18.30 Uhr", "0805 19:30"),
    ("5. August 2026. Konzert ab 19 Uhr.", "0805 19:00"),
    ("5 août 2026\nConcert à partir de 20h", "0805 20:00"),
    ("5-7 August 2026, Tue-Sun 10am-5pm, Thu until 8pm", "0805 10:00-17:00,0806 10:00-20:00,0807 10:00-17:00"),
    ("vom 5. bis 7. August 2026, Di-So 10-17 Uhr, Do bis 20 Uhr", "0805 10:00-17:00,0806 10:00-20:00,0807 10:00-17:00"),
    ("am Samstag, 29.08., von 16 bis 17 Uhr", "0829 16:00-17:00"),
    ("samedi 29 août 2026 à 20h30, ouverture des portes 19h", "0829 20:30"),
    ("5.30pm - 8pm on 24 July, 28 August and 25 September 2026", "0724 17:30-20:00,0828 17:30-20:00,0925 17:30-20:00"),
    ("5 August 2026 (postponed from 1 July 2026)", "0805"),
    ("samedi 29 août 2026 de 20h à minuit", "0829 20:00"),
    ("Saturday 29 August from 10am till 4pm", "0829 10:00-16:00"),
    ("Sa/So 29./30. August, 11 bis 19 Uhr", "0829 11:00-19:00,0830 11:00-19:00"),
    ("mar. 4 août 2026, 12h30 – 13h30", "0804 12:30-13:30"),
    ("Sáb. 29 ago., 11 y 13 h", "0829 11:00,0829 13:00"),
    ("dal 29 agosto al 30 agosto, dalle 10 alle 19", "0829 10:00-19:00,0830 10:00-19:00"),
    ("Sat 29 Aug - Sun 6 Sept, weekends only, 10am-4pm", "0829 10:00-16:00,0830 10:00-16:00,0905 10:00-16:00,0906 10:00-16:00"),
]


@pytest.mark.parametrize("text, expected", WESTERN, ids=[text for text, _ in WESTERN])
def test_western_labels_and_hours_are_read(text: str, expected: str) -> None:
    found = read_when(text, now=NOW, zone=ZoneInfo("Europe/Berlin"))
    assert isinstance(found, ParsedDate)
    assert shown(found).startswith(expected)


@pytest.mark.parametrize(
    "columns, expected",
    [
        ({"start_time": "13:00", "end": "2026-08-01", "end_time": "12:00"}, "0801 13:00"),
        ({"start_time": "22:00", "end": "2026-08-01", "end_time": "5:00"}, "0801 22:00-0802 05:00"),
        ({"start_time": "00:00", "end": "2026-08-01", "end_time": "00:00"}, "0801"),
        ({"end": "2026-08-30", "note": "8/1、8、15、22 全4回"}, "0801,0808,0815,0822"),
        (
            {"start_time": "10:00", "end": "2026-08-02", "end_time": "16:00", "note": "1日目 10:00~16:00、2日目 9:00~15:00"},
            "0801 10:00-16:00,0802 09:00-15:00",
        ),
        ({"start_time": "10:00", "end": "2026-08-30", "end_time": "16:00", "note": "開館日に開催"}, "0801 10:00-0830 16:00"),
        (
            {"start_time": "10:00", "end": "2026-08-30", "end_time": "12:00", "note": "第1、第3土曜日 ※9月は第2"},
            "0801 10:00-0830 12:00",
        ),
        ({"end": "2026-08-30", "note": "午前10時から11時、午後2時から3時"}, "0801-0830"),
        ({"start_time": "0:00"}, "0801"),
        ({"start_time": "4時", "title": "港の朝市"}, "0801 04:00"),
        ({"end": "2026-08-20", "note": "お問い合わせは平日9時~17時"}, "0801-0820"),
        ({"end": "2026-08-04", "note": "問合せ 平日9時~17時"}, "0801-0804"),
        ({"end": "2026-08-20", "note": "電話 月～金 9:00～17:00"}, "0801-0820"),
        ({"start_time": "10:00", "end": "2026-08-29", "end_time": "12:00", "note": "土曜日を除く"}, "0801 10:00-0829 12:00"),
        (
            {"start_time": "10:00", "end": "2026-08-29", "end_time": "12:00", "note": "ただし土曜日は休館"},
            "0801 10:00-0829 12:00",
        ),
        ({"start_time": "10:00", "end": "2026-08-29", "end_time": "12:00", "note": "土曜日に混みます"}, "0801 10:00-0829 12:00"),
        ({"start_time": "10:00", "end": "2026-08-02", "end_time": "15:00", "note": "1泊2日"}, "0801 10:00-0802 15:00"),
        ({"start_time": "10:00", "end": "2026-08-02", "end_time": "15:00", "title": "林間学校"}, "0801 10:00-0802 15:00"),
        ({"note": "18時点灯、22時消灯"}, "0801 18:00-22:00"),
        ({"end": "2026-08-02", "note": "13:00~翌日12:00"}, "0801 13:00-0802 12:00"),
        ({"end": "2026-08-30", "note": "9:00~17:00 ※8月中は18:00まで"}, "0801 09:00-0830 17:00"),
        (
            {"start_time": "13:00", "end": "2026-08-22", "end_time": "15:00", "note": "毎週土曜、8/15のみ14時開始"},
            "0801 13:00-15:00,0808 13:00-15:00,0815 14:00-15:00,0822 13:00-15:00",
        ),
        (
            {"start_time": "10:00", "end": "2026-08-08", "end_time": "11:30", "note": "8月1日(土)10時~、8月8日(土)13時~"},
            "0801 10:00-11:30,0808 13:00",
        ),
    ],
)
def test_columns_hold_where_a_note_cannot_be_placed(columns: dict[str, str], expected: str) -> None:
    found = read_when("2026-08-01", now=NOW, zone=TOKYO, **columns)  # type: ignore[arg-type]
    assert isinstance(found, ParsedDate)
    assert shown(found) == expected


def test_days_of_a_note_that_are_not_the_events_are_noted() -> None:
    found = read_when("2026-08-01", now=NOW, zone=TOKYO, end="2026-08-01", note="8月1日 10時から11時・8月2日 9時から10時")
    assert isinstance(found, ParsedDate)
    assert "The note names other days, which were not read: 8月2日." in found.notes
