"""Words and signs of dates in all languages: eras, months, weekdays, ranges, lists, and the order of day and month."""

from __future__ import annotations

import re
from datetime import date, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from tadoru.parse.dates.tokens import DateMark, DayToken, MarkToken, MinutesBefore, Token, WeekdaysToken
from tadoru.parse.dates.weekdays import ALL_NAMES, SHORT_WEEKDAYS, WEEKDAY_NAMES, WEEKDAYS, either

ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
"""The year before the first of each era."""
ERA_NAMES = {
    **ERAS,
    "明": 1867,
    "大": 1911,
    "昭": 1925,
    "平": 1988,
    "令": 2018,
    "M": 1867,
    "T": 1911,
    "S": 1925,
    "H": 1988,
    "R": 2018,
}

_MONTHS = """
january jan januar janvier janv enero ene gennaio gen januari janeiro
february feb februar février févr fevrier febrero febbraio februari fevereiro fev
march mar märz maerz mrz mars marzo maart mrt março marco
april apr avril avr abril abr aprile
may mai mayo maggio mag mei maio
june jun juni juin junio giugno giu junho
july jul juli juillet juil julio luglio lug julho
august aug août aout agosto ago augustus
september sept sep septembre septiembre settembre set setembro
october oct oktober okt octobre octubre ottobre ott outubro out
november nov novembre noviembre novembro
december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro
"""
MONTHS = {name: number for number, names in enumerate(_MONTHS.strip().splitlines(), 1) for name in names.split()}

_AMERICAN = frozenset(
    "New_York Chicago Denver Los_Angeles Phoenix Anchorage Detroit Boise Juneau Sitka Nome Metlakatla Yakutat Adak Menominee "
    "Indianapolis Louisville Shiprock Fort_Wayne".split()
)
_YEAR_FIRST = frozenset("Tokyo Seoul Shanghai Taipei Hong_Kong Macau Pyongyang Chongqing Harbin Urumqi Ulaanbaatar".split())


class DayMonthOrder(StrEnum):
    """In which order short dates are written."""

    YEAR = "year"
    """26/8/1, 8/1"""
    MONTH = "month"
    """8/1/26, 8/1"""
    DAY = "day"
    """1/8/26, 1/8"""


def day_month_order(zone: ZoneInfo) -> DayMonthOrder:
    """What is usual in a zone: the year first in East Asia, the month in the United States, the day elsewhere."""
    if zone.key in {"Japan", "ROK", "PRC", "ROC", "Hongkong"} or _place(zone) in _YEAR_FIRST:
        return DayMonthOrder.YEAR
    american = zone.key.startswith(("US/", "America/Indiana/", "America/Kentucky/", "America/North_Dakota/"))
    return DayMonthOrder.MONTH if american or zone.key == "Pacific/Honolulu" or _place(zone) in _AMERICAN else DayMonthOrder.DAY


def _place(zone: ZoneInfo) -> str:
    return zone.key.rpartition("/")[2]


_W = "[月火水木金土日]"
_OFF = r"(?:祝日?|休日?|振休|振替休日|祝祭日|[^\s()]{1,6}の日)"
_BEFORE = re.compile(r"(\d{1,3})分前")
_RELATIVE = re.compile(
    rf"(?P<days>本日|今日|きょう|明日|あす|あした|明後日|あさって|昨日|(?<![a-z])(?:today|tomorrow|tonight|yesterday)(?![a-z]))"
    rf"|(?P<week>今週|来週|再来週|先週)の?(?P<weekday>{_W})曜日?"
    rf"|(?P<month>今月|来月|再来月|先月)の?(?P<day>\d{{1,2}})日",
    re.IGNORECASE,
)
_AHEAD = {"本日": 0, "今日": 0, "きょう": 0, "today": 0, "tonight": 0, "明日": 1, "あす": 1, "あした": 1, "tomorrow": 1}
_AHEAD |= {"明後日": 2, "あさって": 2, "昨日": -1, "yesterday": -1}
_STEPS = {"今": 0, "来": 1, "再": 2, "先": -1}
_PAIR = rf"{either(ALL_NAMES)}\.?\s?[/&+]\s?{either(ALL_NAMES)}"
_WEEKDAY = re.compile(
    rf"(?<![^\W_])(?P<pair>{_PAIR})(?=[.,]?\s?\d)|\(\s?(?:{_OFF}[・、,/\s]?)?(?P<set>{_W}(?:曜日?)?(?:\s?[・、,/]?\s?{_W}(?:曜日?)?){{0,6}})(?:[\s・、,/]{{0,2}}{_OFF}){{0,2}}\s?\)"
    rf"|(?P<long>{_W})曜日?(?:[・(]?(?:祝日?|休日?)\)?)?"
    rf"|(?<=[\d日])\s?(?P<bare>[月火水木金土日])(?=[\s~\-・、,)]|$)"
    rf"|\(?(?<![a-zà-ÿ])(?P<name>{either(WEEKDAY_NAMES)})(?![a-zà-ÿ])\.?\)?"
    rf"|(?<![^\W_])(?P<short>{either(SHORT_WEEKDAYS)})(?:[.,]{{1,2}}\s?|"
    rf"\s)(?=\d{{1,2}}(?:[.\s/]|$))|星期(?P<chinese>[一二三四五六日])",
    re.IGNORECASE,
)


def _words(japanese: str, latin: str = "") -> re.Pattern[str]:
    """Japanese words anywhere, and Latin ones where they stand alone."""
    parts = [japanese] if japanese else []
    return re.compile("|".join(parts + ([rf"(?<![a-zà-ÿ])(?:{latin})(?![a-zà-ÿ])"] if latin else [])), re.IGNORECASE)


_MARKS: tuple[tuple[DateMark, re.Pattern[str]], ...] = (
    (
        DateMark.DEADLINE,
        _words(
            r"(?:事前)?申し?込み?(?:期限|締め?切り?|期間|開始|受付(?:開始|期間)?|は?[、,]?(?=:?\s?\d))|(?:支払い?|提出|返却|入金)?期限|締め?切り?|〆切り?|必着|"
            r"応募(?:期限|期間|締切)?|予約(?:開始|受付|期間)|発売日?|前売開始|販売(?:開始|期間)|受付(?:期間|締切)|受付開始(?:日時?)?(?=[:は\s]{0,2}(?:\d{1,2}[月/]|令和))|[公更掲][開新載]日",
            r"(?:closing |application |entry )?deadline|closing date|(?:register|rsvp|apply|book|order|"
            r"reply)(?: online)? (?:by|before)|(?:last )?(?:posted|updated)"
            r"|(?:bookings?|registrations?|applications?|entries|tickets?|sales) (?:opens?|closes?|starts?|ends?|"
            r"go on sale|on sale|by|until|from)|on sale"
            r"|(?:anmelde|einsende|bewerbungs|melde|annahme|redaktions|verkaufs)schluss|"
            r"anmeldefrist|anmeldung(?:en)?(?: bis| ab)?|bewerbungsfrist|"
            r"(?:karten)?vorverkauf|vvk|stand:|veröffentlicht"
            r"|date limite|clôture|inscriptions?|réservations?|inscripci(?:ón|ones)|reservas?|plazo|fecha límite|"
            r"iscrizion[ei]|prenotazion[ei]|scadenza|entro"
            r"|aanmeld(?:en|ing)|inschrijv(?:en|ing)|reserveren|opgeven|uiterlijk|kaartverkoop|publi(?:é|shed|cado)|pubblicato|gepubliceerd",
        ),
    ),
    (
        DateMark.ASIDE,
        _words(
            r"(?:雨天|荒天|悪天|小雨|予備日|順延|延期|振替|休[館園業演場]日?|定休日?|閉館日)"
            r"(?:[^\d\s、。)\n]{0,12}(?:場合|時)は?、|[^\d\s、。)\n]{0,12})(?:[^\d\s、。)\n]{0,4}翌)?",
            "rain date",
        ),
    ),
    (
        DateMark.ENTRY,
        _words(
            r"(?:配信|整列|入場|集合)開始|(?:当日)?受け?付け?(?!中)(?:開始|時間)?|集合(?:時間)?|(?:最終)?入[場館園](?!無料|料|券|可|自由|制限|口)(?:開始|時間)?|来場|チェックイン",
            r"registration|arrival|check-?in|last (?:entry|admission|orders)|letzter einlass|dernière entrée|"
            r"última entrada|ultimo ingresso|inloop|ontvangst|accueil|ritrovo|treffpunkt|verzamelen|rendez-vous",
        ),
    ),
    (
        DateMark.DOORS,
        _words(
            r"開場(?!開演)(?:時間|時刻)?|開門|会場(?=:?\s?\d)",
            r"(?:doors|gates)(?:\sopen)?(?:\sat)?|"
            r"open|saalöffnung|kassenöffnung|einlass(?:\sab)?|ouverture(?: des portes)?|portes|"
            r"apertura(?: (?:de puertas|porte|sala))?|puertas"
            r"|(?:zaal|deur(?:en)?)(?: open)?",
        ),
    ),
    (
        DateMark.START,
        _words(
            r"(?:試合|競技|上映|公演)?開始(?:時間|時刻|日時?)?|開場開演|点灯|開演(?:時間|時刻)?|開映|出発(?![点地])|開[会式]式?|開宴|開[園館](?=[:\s]{0,2}\d)|スタート|開催(?:日時?|期間)?|(?:実施|開講|公演|上映|試験)(?:日時?|期間)|期日|日時|日程",
            "starts?|starting|show|begins?|beginning|kick-?off|beginn|début|inicio|comienzo|inizio|aanvang|départ|abfahrt|concert|konzert",
        ),
    ),
    (
        DateMark.END,
        _words(
            "終演|解散|帰着|消灯|終了(?:時間|時刻|予定|日時?)?|閉会|閉場|閉門|閉[園館](?=[:\\s]{0,2}\\d)|クローズ",
            "ends?|finish(?:es)?|ende|einde|fine|fin",
        ),
    ),
    (DateMark.ALL_DAY, _words("(?<!最)終日|全日", "all[- ]?day|ganztägig")),
    (DateMark.VAGUE, _words("[上中下初]旬|頃|ごろ|前半|後半|月末|(?<=月)末|(?<=年)[春夏秋冬]", "early|mid|late")),
    (DateMark.UNSETTLED, _words("未定|未確定|調整中|検討中", "tba|tbd|tbc")),
    (DateMark.UNTIL, _words("まで|迄", "until|till|jusqu'(?:au|à)|hasta(?: el| las)?|fino (?:al?|alle|alla)")),
    (
        DateMark.RANGE,
        _words(
            "~|-|から|より", r"to|til|through|thru|bis(?: zum)?|au|al?|(?<!e )alle|(?<!et )à(?=\s?(?:\d|mi))|t/m|tot(?: en met)?"
        ),
    ),
    (
        DateMark.LIST,
        _words(
            r"[・、,;/&+|▽]|(?<![あ-ん])と(?![あ-ん])|(?<=から)と(?=\s?[\d午正])|及び|および|並びに|ならびに|又は|または",
            "and|und|et|or|y|e|en|sowie",
        ),
    ),
    (DateMark.STOP, _words(r"[。\n)(※]|(?<=[^\W_]{2})\.(?=\s[A-ZÀ-Ü])")),
)


def word_at(text: str, position: int, today: date) -> tuple[tuple[Token, ...], int]:
    """The word that begins here and where it ends; none and the position itself when there is none that counts."""
    if found := _RELATIVE.match(text, position):
        return (_from_relative(found, today),), found.end()
    if found := _WEEKDAY.match(text, position):
        return (_from_weekday(found),), found.end()
    if found := _BEFORE.match(text, position):
        return (MinutesBefore(found[0], int(found[1])),), found.end()
    for mark, pattern in _MARKS:
        if found := pattern.match(text, position):
            return (MarkToken(found[0], mark),), found.end()
    return (), position


def _from_relative(found: re.Match[str], today: date) -> DayToken:
    if found["days"]:
        return _of(today + timedelta(days=_AHEAD[found["days"].lower()]), found[0])
    if found["week"]:
        # Weeks begin on Monday, as on Japanese timetables and in ISO 8601.
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=_STEPS[found["week"][0]])
        return _of(monday + timedelta(days=WEEKDAYS[found["weekday"]]), found[0])
    months = today.year * 12 + today.month - 1 + _STEPS[found["month"][0]]
    return DayToken(found[0], months // 12, months % 12 + 1, int(found["day"]), relative=True)


def _of(day: date, text: str) -> DayToken:
    return DayToken(text, day.year, day.month, day.day, relative=True)


def _from_weekday(found: re.Match[str]) -> WeekdaysToken:
    if found["name"] or found["short"]:
        name = (found["name"] or found["short"]).lower()
        return WeekdaysToken(found[0], (ALL_NAMES[name],))
    if found["pair"]:
        names = (name.strip(" .").lower() for name in re.split("[/&+]", found["pair"]))
        return WeekdaysToken(found[0], tuple(ALL_NAMES[name] for name in names))
    if found["chinese"]:
        return WeekdaysToken(found[0], ("一二三四五六日".index(found["chinese"]),))
    written = found["set"] or found["long"] or found["bare"]
    signs = re.sub("曜日?", "", written)
    return WeekdaysToken(found[0], tuple(WEEKDAYS[sign] for sign in signs if sign in WEEKDAYS))
