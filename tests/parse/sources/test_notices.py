"""Titles that are notices about an event, and titles that only look so."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from tadoru.parse.sources.cancellation import NoticeKind, find_notice, note_statement, title_statement

DAY = date(2027, 5, 8)


@pytest.mark.parametrize(
    "title, kind, subject",
    [
        ("「北浜ジャズナイト」中止のお知らせ", NoticeKind.CANCELLED, "北浜ジャズナイト"),
        ("【重要】北浜ジャズナイト開催中止のお知らせ", NoticeKind.CANCELLED, "北浜ジャズナイト"),
        ("第5回駅伝大会を延期します", NoticeKind.POSTPONED, "第5回駅伝大会"),
        ("北浜ジャズナイトの会場変更について", NoticeKind.VENUE, "北浜ジャズナイト"),
        ("北浜ジャズナイト　開演時間変更のお知らせ", NoticeKind.TIME, "北浜ジャズナイト"),
        ("北浜ジャズナイト 満席となりました", NoticeKind.SOLD_OUT, "北浜ジャズナイト"),
        ("秋の陶芸講座の受付終了のお知らせ", NoticeKind.SOLD_OUT, "秋の陶芸講座"),
    ],
)
def test_a_notice_names_its_event(title: str, kind: NoticeKind, subject: str) -> None:
    assert find_notice(title) == (kind, subject)


@pytest.mark.parametrize(
    "title",
    [
        "【中止】ジャズの夕べ",
        "雨天の場合は中止します",
        "夏まつりの一部中止のお知らせ",
        "夏まつり パレードの中止について",
        "昨年中止となりました夏まつりを開催",
        "イベントの中止・延期のお知らせ",
        "会場変更のお知らせ",
        "中止の判断についてのお知らせ",
        "夏まつり",
    ],
)
def test_other_titles_are_no_notices(title: str) -> None:
    assert find_notice(title) is None


@pytest.mark.parametrize(
    "note",
    [
        "飲食ブースは中止します",
        "5月から延期になった公演です",
        "屋台の出店は中止となりました",
        "運動を中止してください",
        "雨天のため中止になることもあります",
        "キャンセルは3日前まで",
        "Cancelled if it rains",
        "Last year's event was cancelled",
        "雨天中止",
        "参加者が5名に満たない場合は中止",
    ],
)
def test_a_part_a_condition_or_another_time_cancels_nothing(note: str) -> None:
    assert note_statement(note, "夏まつり", DAY, DAY) is None


@pytest.mark.parametrize(
    "note",
    ["中止", "【中止】", "台風接近のため中止", "開催延期", "This event has been cancelled.", "Postponed until further notice"],
)
def test_a_note_that_says_nothing_else_is_a_cancellation(note: str) -> None:
    assert note_statement(note, "夏まつり", DAY, DAY)


@pytest.mark.parametrize(
    "note",
    [
        "なお、餅つき大会は中止します。",
        "第2回（8月3日）は講師の都合により中止となりました。",
        "雨天のため延期になりました「春の遠足」を下記のとおり実施します。",
        "ご来場をお見合わせいただきますようお願いします。",
        "申込みの受付を一時中止しています。",
        "熱中症警戒アラートが発表された日は中止です。",
        "（令和5年度は台風のため中止しました。）",
        "公演は中止になりました、と告げられた俳優たちの物語。",
        "屋外でのイベントを中止し、公共施設を中心に展示会等を実施",
        "4月10日から5月8日に延期しました。",
        "4月10日から延期になりました。",
        "4月10日の夏まつりは中止します。他の日は開催します。",
        "対面での開催は中止となりました。オンラインで開催します。",
        "この夏の盆踊り大会は中止となりました。",
        "隣町の夏まつりは中止となりました。",
        "The fair was nearly cancelled but is going ahead.",
        "10時の回は満席となりました",
        "定員に達し次第、受付を終了します。",
        "The afternoon session is cancelled.",
        "When fewer than 5 people sign up, the class is cancelled.",
        "The concert was cancelled in 2020. This year it is back.",
        "Please note: this event was postponed from 3 March.",
        "Early bird tickets are sold out.",
        "Die Veranstaltung wird bei Sturm abgesagt.",
        "Kinderschminken entfällt.",
        "Le spectacle est annulé s'il pleut.",
        "Petit-déjeuner complet offert.",
    ],
)
def test_a_sentence_about_something_else_says_nothing_about_the_event(note: str) -> None:
    assert note_statement(note, "夏まつり", DAY, DAY) is None


@pytest.mark.parametrize(
    "note, kind",
    [
        ("雨天のため、夏まつりは中止です。", NoticeKind.CANCELLED),
        ("5月8日の夏まつりは中止します。", NoticeKind.CANCELLED),
        ("実行委員会は、本年の夏まつりの開催を中止することを決定しました。", NoticeKind.CANCELLED),
        ("定員50名に達したので受付を終了しました。", NoticeKind.SOLD_OUT),
        ("残念ながら開講を断念いたしました。", NoticeKind.CANCELLED),
        ("台風15号接近のため中止を決定しました。", NoticeKind.CANCELLED),
        ("Die Veranstaltung fällt wegen Krankheit aus.", NoticeKind.CANCELLED),
        ("5月8日から6月5日に延期しました。", NoticeKind.POSTPONED),
        ("La visite est complète.", NoticeKind.SOLD_OUT),
        ("荒天が予想されるため、開催を見送ります。", NoticeKind.CANCELLED),
        ("毎週木曜日開催・新型コロナウイルスの影響により中止", NoticeKind.CANCELLED),
        ("【重要】当イベントは中止が決定しました。", NoticeKind.CANCELLED),
        ("誠に勝手ながら、都合により開催を取り止めさせていただきます。", NoticeKind.CANCELLED),
        ("The fair has been called off.", NoticeKind.CANCELLED),
        ("Der Kurs fällt leider aus.", NoticeKind.CANCELLED),
        ("En raison des intempéries, la fête est annulée.", NoticeKind.CANCELLED),
        ("感染症拡大防止の影響により\n中止", NoticeKind.CANCELLED),
        ("感染症拡大防止のため延期（開催日未定）", NoticeKind.POSTPONED),
        ("Das Konzert wurde auf den 12. Juni verschoben.", NoticeKind.POSTPONED),
        ("満席のため受付を締め切りました", NoticeKind.SOLD_OUT),
        ("Der Workshop ist leider schon ausgebucht.", NoticeKind.SOLD_OUT),
        ("Complet", NoticeKind.SOLD_OUT),
    ],
)
def test_a_sentence_about_the_event_says_what_became_of_it(note: str, kind: NoticeKind) -> None:
    found = note_statement(note, "夏まつり", DAY, DAY)
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize(
    "title, kind",
    [
        ("≪中止≫こども将棋教室", NoticeKind.CANCELLED),
        ("【台風接近のため中止】秋まつり", NoticeKind.CANCELLED),
        ("赤ちゃん広場　※中止", NoticeKind.CANCELLED),
        ("★中止★親子リトミック", NoticeKind.CANCELLED),
        ("動物園→中止", NoticeKind.CANCELLED),
        ("【中止します】動物園", NoticeKind.CANCELLED),
        ("動物園【満席のため受付終了】", NoticeKind.SOLD_OUT),
        ("ABGESAGT: Sommerfest", NoticeKind.CANCELLED),
        ("Lesung (fällt aus)", NoticeKind.CANCELLED),
        ("【11月3日に延期】芋煮会", NoticeKind.POSTPONED),
        ("【定員に達したため受付終了】動物園", NoticeKind.SOLD_OUT),
        ("Comedy Night - SOLD OUT", NoticeKind.SOLD_OUT),
    ],
)
def test_a_mark_of_a_title_says_what_became_of_the_event(title: str, kind: NoticeKind) -> None:
    found = title_statement(title)
    assert found is not None
    assert found.kind is kind


@pytest.mark.parametrize(
    "title",
    [
        "ふれあい動物園（乗馬体験は中止）",
        "ふれあい動物園【乗馬体験中止】",
        "【7月20日中止】朝ヨガ",
        "【中止】→【再開】動物園",
        "施設の利用中止について",
        "【中止の場合あり】芋煮会",
        "映画上映会「中止」",
        "核実験中止を求める集い",
        "満員御礼落語会",
        "Why I Cancelled My Wedding - a comedy",
    ],
)
def test_other_words_of_a_title_say_nothing_about_the_event(title: str) -> None:
    assert title_statement(title) is None


def test_a_note_about_one_day_says_nothing_about_an_event_of_several() -> None:
    assert note_statement("5月8日の夏まつりは中止します。", "夏まつり", DAY, DAY + timedelta(days=1)) is None
