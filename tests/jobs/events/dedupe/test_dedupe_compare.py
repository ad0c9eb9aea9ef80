"""Verdicts on two events, rule by rule."""

from __future__ import annotations

import json
from dataclasses import replace
from zoneinfo import ZoneInfo

import pytest

from tadoru.i18n.translation import translator
from tadoru.jobs.events.dedupe import (
    REASON_MESSAGES,
    FieldConflict,
    MatchReason,
    MatchVerdict,
    ReasonCode,
    blocking_keys,
    compare_events,
)
from tadoru.jobs.events.dedupe.reasons import reason_message
from tadoru.jobs.events.dedupe.similarity import normalise_text
from tadoru.jobs.events.dedupe.titles import split_title
from tadoru.model.event import EventDraft
from tests.jobs.events.dedupe.event_drafts import at, draft

SAME, REVIEW, DIFFERENT = MatchVerdict.SAME, MatchVerdict.REVIEW, MatchVerdict.DIFFERENT


def verdict(a: EventDraft, b: EventDraft, *, same_source: bool = False) -> MatchVerdict:
    forth, back = (compare_events(*pair, same_source=same_source) for pair in ((a, b), (b, a)))
    assert (forth.verdict, forth.score) == (back.verdict, back.score)
    return forth.verdict


@pytest.mark.parametrize(
    "one, other",
    [
        (draft("Midori Jazz Night"), draft("みどりジャズナイト")),
        (draft("Acoustic Night vol.12", venue="Cafe MORI"), draft("アコースティックナイト Vol.12", venue="カフェモリ")),
        (draft("Let's Enjoy English!"), draft("レッツエンジョイイングリッシュ")),
        (draft("ドローン操縦体験"), draft("夏休みドローン操縦体験会")),
        (draft("収穫祭の集い", venue="みどり農業高等学校"), draft("収穫祭のつどい", venue="みどり農業高校")),
        (draft("稲刈りの集い", venue="みどり棚田"), draft("稲刈りのつどい", venue="みどりの棚田")),
        (draft("秋のにぎわい市", venue="みどり市役所前"), draft("秋のにぎわい市【定員20名】", venue="みどり市役所")),
    ],
)
def test_other_writings_of_one_event_are_merged(one: EventDraft, other: EventDraft) -> None:
    assert verdict(one, other) is SAME


@pytest.mark.parametrize(
    "one, other",
    [
        (draft("Jazz Night"), draft("ロックナイト")),
        (draft("Jazz Night vol.3"), draft("ジャズナイト vol.4")),
        (draft("緑野高校吹奏楽部定期演奏会"), draft("緑野東高校吹奏楽部定期演奏会")),
    ],
)
def test_another_name_or_number_is_never_merged(one: EventDraft, other: EventDraft) -> None:
    assert verdict(one, other) is not SAME


@pytest.mark.parametrize(
    "one, other",
    [
        (draft("少年柔道選手権大会"), draft("少年剣道選手権大会")),
        (draft("山田花子ピアノリサイタル"), draft("山本花子ピアノリサイタル")),
        (draft("春の星空観察会"), draft("春の星空観祭会")),
    ],
)
def test_titles_that_differ_by_one_kanji_are_never_merged_without_a_person(one: EventDraft, other: EventDraft) -> None:
    assert verdict(one, other) is REVIEW


@pytest.mark.parametrize(
    "one, other",
    [
        (draft("親子で楽しむ里山自然観察会", venue=""), draft("親子で楽しむ里山自然観察ウォーク")),
        (
            draft("みどり市民クラシックコンサート2026", venue="みどり市民会館"),
            draft("みどり市民クラシックコンサート2026", venue="さくらアリーナ"),
        ),
        (
            draft("Japanese Speech Contest", at("2026-08-01T18:00", end="2026-08-01T20:00")),
            draft("弁論大会", at("2026-08-01T18:00", end="2026-08-01T20:00")),
        ),
        (draft("さくら茶会", venue="みどり市民会館"), draft("さくら茶会（みどり市茶道連盟）", venue="ホクトホールみどり")),
    ],
    ids=["a venue on one side only", "a renamed hall", "titles in two languages", "a hall with the name of a sponsor"],
)
def test_what_is_at_the_same_minute_in_one_city_is_asked_about(one: EventDraft, other: EventDraft) -> None:
    assert verdict(one, other) is REVIEW


@pytest.mark.parametrize(
    "one, other",
    [
        (
            draft("星空観望会「土星の環を見よう」", venue="青葉町天文台"),
            draft("星空観望会~土星の環を見よう~", venue=""),
        ),
        (draft("春の星空観察会"), draft("星空観察会")),
        (draft("里山ランタンナイト"), draft("里山ランタンナイト ~千の灯り~", venue="みどり市民会館 前庭")),
        (draft("講演会「発達障がいの子を支える」(講師:高橋由美)"), draft("発達障害の子を支える 高橋由美氏講演会")),
        (draft("灯ろう流しと平和のつどい", venue="中央橋"), draft("灯籠流しと平和の集い", venue="中央橋周辺")),
        (draft("ロボットプログラミング体験"), draft("小学生ロボットプログラミング体験教室")),
    ],
    ids=["a venue on one side", "a season", "a subtitle", "other order and titles of people", "spellings", "for whom"],
)
def test_an_event_described_by_another_kind_of_source_is_merged(one: EventDraft, other: EventDraft) -> None:
    assert verdict(one, other) is SAME
    assert verdict(one, other, same_source=True) is not SAME


@pytest.mark.parametrize(
    "one, other",
    [
        (draft("おはなし会"), draft("人形劇団がやってくる夏のスペシャルおはなし会")),
        (draft("北浜の歴史講演会"), draft("北浜の歴史ウォーク")),
        (draft("こども一日図書室員", venue="南部地域センター"), draft("こども一日図書室員 2026", venue="岩戸地域センター")),
        (draft("ふれあい体操", venue="大石公民館"), draft("ふれあい体操 参加者募集", venue="大石小学校")),
        (draft("クリスマス・キャンドルナイト"), draft("Christmas Market")),
    ],
    ids=["a short title in a long one", "another kind", "another branch", "another building", "perhaps no translation"],
)
def test_the_model_merges_nothing_where_a_word_or_a_hall_may_be_another(one: EventDraft, other: EventDraft) -> None:
    assert verdict(one, other) is not SAME


def test_the_same_uid_in_two_calendars_is_one_event_unless_one_has_another_time() -> None:
    uid = {"uid": "7c1e2a44-9a52-4f0e-8f0a-0f4d1a2b3c4d@calendar.example"}
    one = draft("みどり市民クラシックコンサート", **uid)
    assert verdict(one, draft("市民クラシックコンサート 第2部の開演", venue="", **uid)) is SAME
    assert verdict(one, draft("出演者を変更しました", **uid)) is REVIEW
    assert verdict(one, draft("みどり市民クラシックコンサート", "2026-08-08T10:00", **uid)) is REVIEW
    assert verdict(one, draft("みどり市民クラシックコンサート", "2026-08-01T15:00", **uid)) is REVIEW
    assert verdict(one, draft("防災訓練", "2026-09-01", **uid)) is DIFFERENT
    assert verdict(draft("防災訓練", uid="12"), draft("朝市", venue="駅前広場", uid="12")) is DIFFERENT


def test_the_probability_is_among_the_reasons() -> None:
    found = compare_events(draft(), draft("星空観察会"), same_source=False)
    (reason,) = (reason for reason in found.reasons if reason.code is ReasonCode.PROBABILITY)
    assert reason.why.startswith("Probability that both are one event: ")


def test_the_floor_of_a_room_names_no_other_room() -> None:
    assert verdict(draft(venue="みどり会館 604会議室"), draft(venue="みどり会館 6階 604会議室")) is SAME


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("春の星空観察会", "春の星空観察会", id="equal"),
        pytest.param("ABC音楽祭2026", "ＡＢＣ音楽祭２０２６", id="width"),
        pytest.param("ピアノコンサート", "ﾋﾟｱﾉｺﾝｻｰﾄ", id="half-width kana"),
        pytest.param("令和8年度 星空観察会", "2026年度 星空観察会", id="era"),
        pytest.param("R8年度星空観察会", "令和8年度星空観察会", id="short era"),
        pytest.param("令和元年度の記録展", "2019年度の記録展", id="first year of an era"),
        pytest.param("星空観察会 2026", "星空観察会", id="the year of the event"),
        pytest.param("子どもおはなし会", "こどもお話会", id="kana"),
        pytest.param("ヴァイオリン演奏会", "バイオリン演奏会", id="v and b"),
        pytest.param("コンピューター入門講座", "コンピュータ入門講座", id="long mark"),
        pytest.param("星ヶ丘まつり", "星ケ丘まつり", id="small ke"),
        pytest.param("春の星空観察会", "★春の星空観察会★を開催します!", id="decoration"),
        pytest.param("春の星空観察会", "【要予約】春の星空観察会のお知らせ", id="announcement"),
        pytest.param("春の星空観察会 みどりプラネタリウム", "みどりプラネタリウム 春の星空観察会", id="order of words"),
        pytest.param("体操教室(初級)", "(初級)体操教室", id="brackets in front"),
        pytest.param("第27回みどり産業まつり", "第二十七回みどり産業まつり", id="kanji numeral"),
        pytest.param("秋のコンサートⅡ", "秋のコンサート 2", id="roman numeral"),
        pytest.param("秋のコンサート②", "秋のコンサート(2)", id="circled number"),
        pytest.param("渡邊さんのピアノリサイタル", "渡辺さんのピアノリサイタル", id="another form of a character"),
        pytest.param("盛岡ジャズナイト（2026年8月1日(土) 10:00～）", "盛岡ジャズナイト", id="its day and time in brackets"),
        pytest.param("プラネタリウム特別投影", "プラネタリム特別投影", id="a sign left out"),
        pytest.param("プラネタリウム特別投影", "プラネタウリム特別投影", id="two signs swapped"),
        pytest.param("みどり大会", "みどり大大会", id="a sign twice"),
        pytest.param("みどり市民会館 春の星空観察会", "春の星空観察会", id="venue in the title"),
        pytest.param("第27回みどり産業まつり", "みどり産業まつり", id="edition left out"),
        pytest.param("春の星空観察会 ~望遠鏡でさがす月と木星~", "春の星空観察会", id="subtitle left out"),
        pytest.param("春の星空観察会(土曜)", "春の星空観察会", id="weekday of the event"),
        pytest.param("8/1(土) 春の星空観察会", "春の星空観察会", id="its day before the title"),
        pytest.param("春の星空観察会 8月1日(土・祝)", "春の星空観察会", id="its day after the title"),
        pytest.param("【8月1日開催】春の星空観察会", "春の星空観察会", id="its day in brackets"),
        pytest.param("[08.01] 春の星空観察会", "春の星空観察会", id="its day in figures"),
        pytest.param("春の星空観察会 in みどり市", "春の星空観察会", id="the city after the title"),
        pytest.param("春の星空観察会(親子) in みどり市", "春の星空観察会(親子)", id="the city after brackets"),
        pytest.param("春の星空観察会 <会場:みどり市民会館>", "春の星空観察会", id="the venue in brackets"),
        pytest.param("プラネタリウムスポーツ展", "プラネタリウムスポ一ツ展", id="a long mark read as one"),
        pytest.param("その壱 星空観察会", "その1 星空観察会", id="formal numeral"),
        pytest.param("星空観察会 参加者募集", "星空観察会", id="a sign that is a numeral elsewhere"),
        pytest.param("はじめてのスマホ教室", "はじめてのスマートフォン教室", id="a word that all shorten"),
    ],
)
def test_one_event_written_in_two_ways_is_merged_across_sources(one: str, other: str) -> None:
    day = "2019-08-03T10:00" if "元年" in one else "2026-08-01T10:00"
    assert verdict(draft(one, day), draft(other, day)) is SAME


@pytest.mark.parametrize("same_source", [True, False], ids=["one source", "two sources"])
@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("第27回みどり産業まつり", "第28回みどり産業まつり", id="edition"),
        pytest.param("成人式 第1回", "成人式 第2回", id="ceremony"),
        pytest.param("朗読会 vol.2", "朗読会 vol.3", id="volume"),
        pytest.param("朗読会#3", "朗読会#4", id="hash"),
        pytest.param("朗読会その1", "朗読会その2", id="part"),
        pytest.param("朗読会①", "朗読会②", id="circled"),
        pytest.param("朗読会Ⅰ", "朗読会Ⅱ", id="roman"),
        pytest.param("第三回朗読会", "第四回朗読会", id="kanji"),
        pytest.param("みどり祭2026", "みどり祭2027", id="year"),
        pytest.param("令和7年度講習会", "令和8年度講習会", id="fiscal year"),
        pytest.param("おはなし会(0・1歳)", "おはなし会(2・3歳)", id="age"),
        pytest.param("卓球教室(1・2年生クラス)", "卓球教室(年中・年長クラス)", id="grade"),
        pytest.param("体操教室(初級)", "体操教室(中級)", id="level"),
        pytest.param("テニス教室(初級コース・土曜)", "テニス教室(初中級コース・土曜)", id="level between"),
        pytest.param("ピアノコンサート 午前の部", "ピアノコンサート 午後の部", id="session"),
        pytest.param("ピアノコンサート 昼の部", "ピアノコンサート 夜の部", id="matinee"),
        pytest.param("みどり祭(1日目)", "みどり祭(2日目)", id="day of several"),
        pytest.param("おはなし会(江東図書館)", "おはなし会(城東図書館)", id="branch"),
        pytest.param("おはなし会(東大島図書館)", "おはなし会(大島図書館)", id="branch within branch"),
        pytest.param("北図書館のおはなし会", "南図書館のおはなし会", id="branch without brackets"),
        pytest.param("料理講習Aコース", "料理講習Bコース", id="course"),
        pytest.param("テーマ展示(一般向け)", "テーマ展示(児童向け)", id="public"),
        pytest.param("市民体育大会(スキー)", "市民体育大会(アーチェリー)", id="sport"),
        pytest.param("男子バスケットボール教室", "女子バスケットボール教室", id="men and women"),
        pytest.param("卓球教室", "ソフトテニス教室", id="other words"),
        pytest.param("クリスマス会(対象者:乳幼児)", "クリスマス会(対象者:幼児~小学校低学年)", id="groups that overlap"),
        pytest.param("星空観察会 その壱", "星空観察会 その弐", id="formal numerals"),
        pytest.param("星空観察会 第参回", "星空観察会 第四回", id="formal and plain numerals"),
    ],
)
def test_like_titles_that_differ_in_identity_are_different_events(one: str, other: str, same_source: bool) -> None:
    day = "2026-02-07T10:00"
    assert verdict(draft(one, day), draft(other, day), same_source=same_source) is DIFFERENT


@pytest.mark.parametrize("one, other", [("Marathon 5", "Mayor 5"), ("Junior 10", "Marathon 10")])
def test_words_that_begin_like_a_month_are_no_dates(one: str, other: str) -> None:
    assert split_title(one).text != split_title(other).text


def test_events_for_two_groups_differ_although_the_venue_is_named_after_one_of_them() -> None:
    place = "みどり児童センター"
    assert verdict(draft("朗読のつどい(一般向け)", venue=place), draft("朗読のつどい(児童向け)", venue=place)) is DIFFERENT


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("おはなし会", "おはなし会(0・1歳)", id="age on one side"),
        pytest.param("市民マラソン", "市民ハーフマラソン", id="a word within"),
        pytest.param("春の星空観察会", "春の星空観察会 30名", id="number on one side"),
        pytest.param("ちいさな朗読の会・松", "ちいさな朗読の会・竹", id="one sign that is a word"),
        pytest.param("ちいさな朗読の会・壱", "ちいさな朗読の会・弐", id="one sign that is a number"),
        pytest.param("春の星空観察会 8月1日", "春の星空観察会 8月2日", id="the day of another"),
        pytest.param("1/2成人式のつどい", "成人式のつどい", id="a half is not a day"),
    ],
)
def test_what_only_one_title_says_is_for_a_person_to_judge(one: str, other: str) -> None:
    assert verdict(draft(one), draft(other)) is REVIEW


@pytest.mark.parametrize(
    "one, other, same_source, expected",
    [
        pytest.param("2026-08-01T10:00", "2026-08-01T10:00", True, SAME, id="one source, same start"),
        pytest.param("2026-08-01T10:00", "2026-08-01T13:00", True, DIFFERENT, id="one source, other start"),
        pytest.param("2026-08-01T10:00", "2026-08-01", True, REVIEW, id="one source, one start missing"),
        pytest.param("2026-08-01", "2026-08-01", True, SAME, id="one source, no start"),
        pytest.param("2026-08-01T10:00", "2026-08-01T10:00", False, SAME, id="two sources, same start"),
        pytest.param("2026-08-01T10:00", "2026-08-01", False, SAME, id="two sources, one start missing"),
        pytest.param("2026-08-01T10:00", "2026-08-01T10:30", False, REVIEW, id="two sources, other start"),
        pytest.param("2026-08-01T10:00", "2026-08-01T17:00", False, REVIEW, id="two sources, far start"),
        pytest.param("2026-08-01T10:00", "2026-08-02T10:00", False, DIFFERENT, id="next day"),
        pytest.param("2026-08-01T10:00", "2026-08-08T10:00", True, DIFFERENT, id="next week"),
    ],
)
def test_start_times_decide_as_settled(one: str, other: str, same_source: bool, expected: MatchVerdict) -> None:
    first, second = draft(when=one, description="a"), draft(when=other, description="b")
    assert verdict(first, second, same_source=same_source) is expected


@pytest.mark.parametrize(
    "venue, expected",
    [
        pytest.param("みどり市民会館", SAME, id="equal"),
        pytest.param("市民会館", SAME, id="without the city"),
        pytest.param("みどり市民会館 大ホール", SAME, id="with a hall"),
        pytest.param("みどり市民会館3階第1会議室", SAME, id="with a room"),
        pytest.param("", SAME, id="missing, same city"),
        pytest.param("会場:みどり市民会館", SAME, id="announced"),
        pytest.param("みどり市民会館にて", SAME, id="with a particle"),
        pytest.param("山田太郎記念 みどり市民会館", SAME, id="called for somebody"),
        pytest.param("南公民館", DIFFERENT, id="another place"),
    ],
)
def test_a_venue_has_many_names(venue: str, expected: MatchVerdict) -> None:
    assert verdict(draft(), draft(venue=venue)) is expected


def test_two_rooms_of_one_building_are_for_a_person_and_in_one_source_two_events() -> None:
    one, other = draft(venue="みどり市民会館 第1会議室"), draft(venue="みどり市民会館 第2会議室")
    assert verdict(one, other) is REVIEW
    assert verdict(one, other, same_source=True) is DIFFERENT


@pytest.mark.parametrize(
    "one, other, expected",
    [
        pytest.param("狛江市立中央図書館", "狛江中央図書館", SAME, id="municipal or not"),
        pytest.param("狛江市立中央図書館", "狛江市中央としょかん", SAME, id="in kana"),
        pytest.param("狛江市総合体育館", "狛江市体育館", SAME, id="a part of the name"),
        pytest.param("狛江図書館", "駒井図書館", DIFFERENT, id="a branch named as the city"),
        pytest.param("狛江センター2階「調理実習室」", "狛江センター2階「視聴覚室」", REVIEW, id="rooms in brackets"),
    ],
)
def test_the_city_in_the_name_of_a_venue_says_nothing(one: str, other: str, expected: MatchVerdict) -> None:
    assert verdict(draft(venue=one, city="狛江市"), draft(venue=other, city="狛江市")) is expected
    assert verdict(draft(venue=one, city="狛江市"), draft(venue=other, city="")) is expected


def test_two_names_for_what_fills_one_hall_at_one_time_are_for_a_person() -> None:
    when = at("2026-08-01T13:00", end="2026-08-01T16:00")
    one, other = draft("全年齢のかた対象「地域就職面接会」(みどり市会場)", when), draft("就職面接会inみどり市", when)
    assert verdict(one, other, same_source=True) is DIFFERENT
    assert verdict(draft("夏の地域就職面接会", when), draft("地域就職面接フェスティバル", when)) is REVIEW
    assert verdict(one, draft("全年齢のかたの体操とお茶の会", when)) is DIFFERENT


def test_the_same_edition_in_halls_of_other_names_is_for_a_person() -> None:
    when = at("2026-06-14T12:30")
    one = draft("みどり市民合唱祭（第42回）", when, venue="サンホール 大ホール")
    assert verdict(one, draft("第42回みどり市民合唱祭", when, venue="市交流文化芸術センター 大ホール")) is REVIEW
    assert verdict(one, draft("第41回みどり市民合唱祭", when, venue="市交流文化芸術センター 大ホール")) is DIFFERENT


def test_a_wholly_other_title_for_what_fills_one_hall_at_one_time_is_for_a_person() -> None:
    when = at("2026-08-22T19:30", end="2026-08-22T21:00")
    assert verdict(draft("望遠鏡で土星の輪を見よう！ in 星空公園", when), draft("夏の星空観望会", when)) is REVIEW


def test_one_source_does_not_misspell_its_own_events() -> None:
    assert verdict(draft("春の星空観察会"), draft("春の星空観察察会"), same_source=True) is REVIEW


def test_two_pages_of_one_source_are_looked_at_before_they_are_merged() -> None:
    one, other = (draft(url=f"https://city.example/event/{number}.html") for number in (1001, 1002))
    assert verdict(one, other, same_source=True) is REVIEW


def test_another_city_needs_another_look_even_in_a_hall_of_the_same_name() -> None:
    assert verdict(draft(), draft(city="あおば市")) is REVIEW
    assert verdict(draft(venue=""), draft(venue="", city="あおば市", url="https://x.example/")) is DIFFERENT


def test_a_city_with_its_prefecture_is_the_same_city() -> None:
    one, other = draft(venue="", city="東京都府中市", uid="1"), draft(venue="", city="府中市")
    assert verdict(one, other) is SAME


def test_where_nothing_says_the_place_a_person_is_asked() -> None:
    assert verdict(draft(venue="", city=""), draft(venue="", city="みどり市")) is REVIEW


def test_a_common_title_alone_is_not_enough() -> None:
    one, other = draft("おはなし会", "2026-08-01", venue="", uid="1"), draft("おはなし会", "2026-08-01", venue="")
    assert verdict(one, other) is REVIEW


def test_a_page_about_one_event_vouches_for_the_place() -> None:
    url = "https://city.example/event/20260801-hoshi.html"
    assert verdict(draft(venue="", city="", url=url), draft("春の星空観察察会", city="", url=url + "#map")) is SAME


def test_a_list_page_vouches_for_nothing() -> None:
    url = "https://city.example/sports-event/index.html"
    one, other = (
        draft("市民大会 マラソン", venue="", city="", url=url),
        draft("市民大会 ハーフマラソン", venue="", city="", url=url),
    )
    assert verdict(one, other) is not SAME


def test_one_moment_in_two_zones_is_one_start() -> None:
    utc = replace(at("2026-07-31T23:00", zone=ZoneInfo("UTC")))
    assert verdict(draft(when="2026-08-01T08:00"), draft(when=utc)) is SAME


def test_a_day_read_in_the_wrong_zone_is_for_a_person() -> None:
    utc = at("2026-07-31", zone=ZoneInfo("UTC"))
    assert verdict(draft(when="2026-08-01"), draft(when=utc)) is REVIEW
    assert verdict(draft(when="2026-08-01"), draft(when="2026-07-31")) is DIFFERENT


def test_a_day_of_a_festival_is_not_merged_with_the_whole() -> None:
    whole = draft("みどり夏まつり", at("2026-08-01", end="2026-08-05T00:00"))
    single = draft("みどり夏まつり", "2026-08-02")
    assert verdict(whole, single) is REVIEW
    assert verdict(whole, single, same_source=True) is DIFFERENT
    assert verdict(whole, draft("みどり夏まつり", "2026-08-06")) is DIFFERENT


def test_events_that_end_on_different_days_are_looked_at() -> None:
    one, other = (draft(when=at("2026-08-01", end=f"2026-08-{day}T00:00")) for day in ("10", "20"))
    assert verdict(one, other) is REVIEW


def test_series_are_one_when_they_share_their_dates() -> None:
    dates = [at(f"2026-08-{day:02}T10:00") for day in (1, 8, 15, 22)]
    whole = draft(when=dates[0], occurrences=tuple(dates))
    assert verdict(whole, draft(when=dates[1], occurrences=tuple(dates[1:]))) is SAME
    assert (
        verdict(whole, draft(when=dates[3], occurrences=(dates[3], *(at(f"2026-09-{day}T10:00") for day in (12, 19))))) is REVIEW
    )
    later = [at(f"2026-08-{day:02}T14:00") for day in (1, 8, 15, 22)]
    assert verdict(whole, draft(when=later[0], occurrences=tuple(later))) is REVIEW
    assert verdict(whole, draft(when=later[0], occurrences=tuple(later)), same_source=True) is DIFFERENT
    assert verdict(whole, draft(when=dates[1])) is REVIEW
    assert verdict(whole, draft(when="2026-08-02T10:00")) is DIFFERENT


def test_coordinates_correct_what_names_say() -> None:
    here = {"latitude": 35.0, "longitude": 139.0}
    assert verdict(draft(**here), draft(venue="おひさまテラス", latitude=35.001, longitude=139.0)) is SAME
    assert verdict(draft(**here), draft(venue="市民会館", latitude=35.2, longitude=139.0)) is REVIEW


def test_the_reasons_say_why_in_words() -> None:
    found = compare_events(draft(), draft(when="2026-08-01T13:30"), same_source=False)
    assert found.why.startswith("Start times differ: 10:00 and 13:30")
    assert found.score <= min(reason.limit for reason in found.reasons) < 1
    assert {reason.field for reason in found.reasons} >= {"title", "time", "venue", "day"}


def test_every_reason_has_a_message() -> None:
    assert set(REASON_MESSAGES) == set(ReasonCode)
    assert all(message and not message.endswith(".") for message in REASON_MESSAGES.values())


def test_the_message_of_a_stored_reason_can_be_translated() -> None:
    found = MatchReason("time", 0.0, 0.2, ReasonCode.TIME_DIFFERS, ("10:00", "13:30"))
    stored = json.loads(json.dumps({**found._asdict(), "why": found.why}))
    assert stored["why"] == "Start times differ: 10:00 and 13:30"
    assert translator("ja").text(reason_message(stored)) == "開始時刻が違います（10:00 と 13:30）"
    conflict = FieldConflict("price", "500円", "無料", 2)
    stored = json.loads(json.dumps({**conflict._asdict(), "why": conflict.why}))
    assert (
        translator("ja").text(reason_message(stored)) == "料金が違います。「500円」を表示していますが、別の情報源では「無料」です"
    )
    assert reason_message("an old sentence") == "an old sentence"
    assert reason_message({"code": "no.such", "values": [], "why": "unknown"}) == "unknown"


@pytest.mark.parametrize(
    "one, other, here, there",
    [
        pytest.param("Meeting 3 of group 7", "Meeting 3f of group 7", "Hall 3", "Hall 3", id="a letter after a number"),
        pytest.param("Chess club", "Chess club", "Hall 3", "Hall 63", id="a number within another"),
        pytest.param("囲碁の会", "囲碁の会", "みどり会館 第1会議室", "みどり会館 第11会議室", id="numbered rooms"),
    ],
)
def test_numbers_of_groups_and_rooms_are_never_taken_for_a_slip(one: str, other: str, here: str, there: str) -> None:
    assert verdict(draft(one, venue=here), draft(other, venue=there)) is not SAME


@pytest.mark.parametrize("title", ["第" + "一" * 5000, "一" * 5000 + "回", "その" + "九" * 5000])
def test_a_title_of_thousands_of_digits_can_be_compared(title: str) -> None:
    assert normalise_text(title)


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("企画展「みどりの縄文」", "企画展「みどりの縄文」記念講演会", id="a lecture of an exhibition"),
        pytest.param("みどりハーフマラソン", "みどりハーフマラソン ナンバーカード引換", id="the registration of a race"),
        pytest.param("みどり産業まつり", "みどり産業まつり 子ども職業体験", id="a part of a festival"),
        pytest.param("成人のつどい", "成人のつどい 実行委員会", id="a meeting about an event"),
        pytest.param("Men's Basketball Final", "Women's Basketball Final", id="men and women"),
        pytest.param("Morning Bird Walk", "Morning Bat Walk", id="one word of three"),
        pytest.param("Yoga für Anfänger", "Yoga für Fortgeschrittene", id="levels in German"),
    ],
)
def test_what_belongs_to_an_event_or_has_another_word_is_never_merged_into_it(one: str, other: str) -> None:
    assert verdict(draft(one), draft(other)) is not SAME


def test_the_same_title_at_the_same_minute_in_the_northern_and_the_southern_library_is_two_events() -> None:
    assert verdict(draft("おはなし会", venue="北図書館"), draft("おはなし会", venue="南図書館")) is not SAME


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("おはなし会（乳幼児向け）", "おはなし会【乳幼児】8/1", id="for whom, and the date"),
        pytest.param("斎藤茂吉没後七十余年記念講演会", "齋藤茂吉 没後70余年 記念講演会", id="numerals"),
        pytest.param("落語名人会", "落語名人会（開場9:30 開演10:00）", id="doors"),
        pytest.param("Concert de Noël", "Concert de Noel (1 August)", id="accents, and an English date"),
        pytest.param("もちつき大会", "もちつき大会（みどり市民会館）", id="the venue in the title"),
    ],
)
def test_spellings_of_one_title_are_one_event(one: str, other: str) -> None:
    assert verdict(draft(one), draft(other)) is SAME


@pytest.mark.parametrize(
    "one, other, expected",
    [
        pytest.param("冬鳥観察会in谷津干潟", "谷津干潟 冬鳥ウォッチング", SAME, id="another wording"),
        pytest.param("プロバスケットボール公式戦 第14節", "B2リーグ第14節 ホームゲーム", REVIEW, id="the same edition"),
        pytest.param("名画座「東京物語」", "名画座「生きる」", DIFFERENT, id="two films"),
    ],
)
def test_two_names_at_one_time_in_one_hall_that_share_a_word_are_asked_about(
    one: str, other: str, expected: MatchVerdict
) -> None:
    assert verdict(draft(one), draft(other)) is expected


@pytest.mark.parametrize(
    "one, other",
    [
        pytest.param("食育講座「減塩クッキング」", "減塩クッキング教室を行います", id="a programme and a word for the kind"),
        pytest.param("成年後見制度市民講座", "ご存じですか？ 成年後見制度", id="a headline"),
        pytest.param("防災備蓄食品の活用講座", "活用教室 防災備蓄食品", id="another order and kind"),
        pytest.param("愛国学園短期大学とのコラボ料理教室", "愛国短大コラボ料理教室", id="an abbreviation"),
        pytest.param("Weihnachtsmarkt Altstadt – Eröffnung", "Eröffnung des Altstädter Weihnachtsmarktes", id="forms of words"),
        pytest.param("Sinterklaasintocht", "Intocht van Sinterklaas", id="a compound"),
    ],
)
def test_other_words_for_what_is_at_one_minute_in_one_hall_are_one_event(one: str, other: str) -> None:
    assert verdict(draft(one), draft(other)) is SAME
    assert verdict(draft(one), draft(other), same_source=True) is not SAME
    assert verdict(draft(one), draft(other, "2026-08-01T13:00")) is not SAME


@pytest.mark.parametrize(
    "one, other, words",
    [
        pytest.param("少年剣道教室", "少年弓道教室", ("剣", "弓"), id="sport"),
        pytest.param("アユの一生すごろく", "サケの一生すごろく", ("あゆ", "さけ"), id="subject"),
        pytest.param("パソコン教室 エクセル入門", "パソコン教室 ワード入門", ("えくせる", "わど"), id="between"),
        pytest.param("高橋恵子の朗読劇場", "夏の企画 朗読劇場 渡辺恵子", ("高橋", "渡辺"), id="people, in another order"),
        pytest.param("Planning Committee", "Licensing Committee", ("planning", "licensing"), id="in Latin letters"),
    ],
)
def test_a_word_in_the_place_of_another_is_named_and_never_merged(one: str, other: str, words: tuple[str, str]) -> None:
    found = compare_events(draft(one), draft(other), same_source=False)
    assert found.verdict is not SAME
    assert [reason.values for reason in found.reasons if reason.code is ReasonCode.WORD_SUBSTITUTED] == [words]


def test_doors_that_open_before_the_start_are_asked_about() -> None:
    start, doors = (at(f"2026-08-01T{time}", end="2026-08-01T17:00") for time in ("14:00", "13:30"))
    found = compare_events(draft(when=start), draft(when=doors), same_source=False)
    assert found.verdict is REVIEW, "sessions of one programme may give its end, too"
    assert any(reason.code is ReasonCode.TIME_DOORS for reason in found.reasons)
    assert verdict(draft(when=start), draft("星空観察会(開場13:30)", "2026-08-01T13:30")) is REVIEW
    assert verdict(draft(when=start), draft(when=doors), same_source=True) is DIFFERENT


def test_the_venue_may_be_in_the_title_of_the_other() -> None:
    assert verdict(draft("もちつき大会", venue="北部児童館"), draft("もちつき大会（北部児童館）", "2026-08-01", venue="")) is SAME


@pytest.mark.parametrize(
    "one, other, expected",
    [
        pytest.param("子規記念博物館", "子規博", SAME, id="short form"),
        pytest.param("南原町ホール", "南原町民ホール", SAME, id="of the town or its people"),
        pytest.param("保健センター栄養指導室", "保健センター", SAME, id="a room"),
        pytest.param("中原区役所5階会議室", "中原区役所 5階", SAME, id="a floor"),
        pytest.param("Boulevard de la Croix-Rousse", "Bd de la Croix-Rousse", SAME, id="an abbreviation"),
        pytest.param("Central Library", "East Library", DIFFERENT, id="two libraries"),
    ],
)
def test_names_of_venues_are_shortened_in_many_ways(one: str, other: str, expected: MatchVerdict) -> None:
    assert verdict(draft(venue=one), draft(venue=other)) is expected


def test_unrelated_titles_are_asked_about_only_where_they_take_one_venue_at_one_time() -> None:
    when = at("2026-08-01T13:00", end="2026-08-01T16:00")
    one, other = "献血にいこう", "移動採血車の配車予定"
    assert verdict(draft(one, when), draft(other, when)) is REVIEW
    assert verdict(draft(one, when), draft(other, at("2026-08-01T13:00", end="2026-08-01T15:00"))) is DIFFERENT
    assert verdict(draft(one, when), draft(other, when, venue="市民体育館")) is DIFFERENT
    assert verdict(draft(one, when, venue="オンライン"), draft(other, when, venue="オンライン")) is DIFFERENT
    assert verdict(draft(one, when), draft(other, when, city="あおば市")) is DIFFERENT


def test_a_headline_without_a_city_shares_a_block_with_the_short_title_that_it_contains() -> None:
    one = draft("高津さんの市", venue="久本薬医門公園")
    other = draft("21日は「高津さんの市」採れたて野菜の直売とお楽しみ抽選会", venue="薬医門公園", city="")
    assert not set(blocking_keys(one)).isdisjoint(blocking_keys(other))


def test_a_headline_that_names_place_and_days_contradicts_nothing() -> None:
    span = at("2026-05-03", end="2026-05-06T00:00")
    one = draft("恐竜王国フェス in ハピテラス", span, venue="ハピテラス")
    assert verdict(one, draft("福井駅前が恐竜だらけ「恐竜王国フェス」3～5日", span, venue="ハピテラス")) is SAME
    assert verdict(one, draft("恐竜王国フェス 5/3～5/5", span, venue="ハピテラス")) is SAME


def test_the_same_quoted_title_stands_for_the_audience() -> None:
    one, other = "男女共同参画映画会「ズートピア」アニメ上映", "ファミリー映画会『ズートピア』（男女共同参画週間）"
    assert verdict(draft(one), draft(other)) is SAME


def test_a_title_may_name_the_city_that_the_other_source_gives() -> None:
    one = draft("第38回三浦国際市民マラソン", city="三浦市", venue="三浦海岸")
    assert verdict(one, draft("三浦国際市民マラソン 2026", "2026-08-01", city="", venue="")) is SAME


def test_an_article_or_an_elision_is_no_name_of_a_group() -> None:
    assert not split_title("Build a birdhouse, c'est le 18 avril").marks
    assert split_title("体操教室 Aクラス").marks == {"a"}
