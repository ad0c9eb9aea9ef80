"""The words of dates: eras, months and weekdays in the languages we read, and the zones where 01/02 is January."""

from __future__ import annotations

from enum import StrEnum
from zoneinfo import ZoneInfo

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

WEEKDAYS = {sign: number for number, sign in enumerate("月火水木金土日")}

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

_WEEKDAYS = """
monday mon montag lundi lunes lunedì maandag
tuesday tues tue dienstag mardi martes martedì dinsdag
wednesday wed mittwoch mercredi miércoles miercoles mercoledì woensdag
thursday thurs thur thu donnerstag jeudi jueves giovedì donderdag
friday fri freitag vendredi viernes venerdì vrijdag
saturday sat samstag sonnabend samedi sábado sabado sabato zaterdag
sunday sun sonntag dimanche domingo domenica zondag
"""
WEEKDAY_NAMES = {name: number for number, names in enumerate(_WEEKDAYS.strip().splitlines()) for name in names.split()}
SHORT_WEEKDAYS = {"mo": 0, "di": 1, "mi": 2, "do": 3, "fr": 4, "sa": 5, "so": 6}
"""German; words of other languages too, so they count only before a number."""

_AMERICAN = frozenset(
    "New_York Chicago Denver Los_Angeles Phoenix Anchorage Detroit Boise Juneau Sitka Nome Metlakatla Yakutat Adak Menominee "
    "Indianapolis Louisville Shiprock Fort_Wayne".split()
)
_YEAR_FIRST = frozenset("Tokyo Seoul Shanghai Taipei Hong_Kong Macau Pyongyang Chongqing Harbin Urumqi Ulaanbaatar".split())


class Order(StrEnum):
    """In which order short dates are written."""

    YEAR = "year"
    """26/8/1, 8/1"""
    MONTH = "month"
    """8/1/26, 8/1"""
    DAY = "day"
    """1/8/26, 1/8"""


def order_in(zone: ZoneInfo) -> Order:
    """What is usual in a zone: the year first in East Asia, the month in the United States, the day elsewhere."""
    if zone.key in {"Japan", "ROK", "PRC", "ROC", "Hongkong"} or _place(zone) in _YEAR_FIRST:
        return Order.YEAR
    american = zone.key.startswith(("US/", "America/Indiana/", "America/Kentucky/", "America/North_Dakota/"))
    return Order.MONTH if american or zone.key == "Pacific/Honolulu" or _place(zone) in _AMERICAN else Order.DAY


def _place(zone: ZoneInfo) -> str:
    return zone.key.rpartition("/")[2]
