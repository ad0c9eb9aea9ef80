"""Names of weekdays in all languages, alone, in lists and in ranges. Monday is 0."""

from __future__ import annotations

import re
from collections.abc import Iterable

WEEKDAYS = {sign: number for number, sign in enumerate("月火水木金土日")}

_WEEKDAYS = """
monday mon montag lundi lunes lunedì lunedi maandag
tuesday tues tue dienstag mardi martes martedì martedi dinsdag
wednesday wed mittwoch mercredi miércoles miercoles mercoledì mercoledi woensdag
thursday thurs thur thu donnerstag jeudi jueves giovedì giovedi donderdag
friday fri freitag vendredi viernes venerdì venerdi vrijdag
saturday sat samstag sonnabend samedi sábado sabado sabato sabati zaterdag
sunday sun sonntag dimanche domingo domenica domeniche zondag
"""
WEEKDAY_NAMES = {name: number for number, names in enumerate(_WEEKDAYS.strip().splitlines()) for name in names.split()}
SHORT_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("mo lun ma", "di mar", "mi mer wo mié mie", "do jeu gio jue", "fr ven vr vie", "sa sam sab sáb za", "so dim dom zo")
    )
    for name in names.split()
}
"""Words of other languages too, so they count only before a number, or as one end of a range of weekdays."""
LATIN = re.compile("[A-Za-z]{2}")
"""A text that may have such names."""
ALL_NAMES = WEEKDAY_NAMES | SHORT_WEEKDAYS


def either(names: Iterable[str]) -> str:
    """An expression for any of these names, the longest first."""
    return f"(?:{'|'.join(sorted(names, key=len, reverse=True))})"


ONE = r"[月火水木金土日](?:曜日?|(?=[月火水木金土日・、,/と祝開のにはを)(\s~]|$))"
LIST = rf"{ONE}(?:\s?[・、,/と]?\s?(?:毎週)?{ONE}){{0,6}}"
RANGE = r"[月火水木金土日](?:曜日?)?\s?(?:~|-|から)\s?[月火水木金土日](?:曜日?|(?![月火水木金土日曜本程時間]))(?:まで)?"
_ONLY_RANGE = re.compile(RANGE)

_ENDING = "(?:e?s|en|i)?(?:morgens?|ochtend(?:en)?|middag(?:en)?|avond(?:en)?|abend[se]?|(?:vor|nach)mittag[se]?)?"
"""Of a plural, and of a part of the day: "samstags", "zaterdagmiddag"."""
NAME = rf"{either(WEEKDAY_NAMES)}{_ENDING}\.?"
ANY_NAME = rf"{either(ALL_NAMES)}s?\.?"
PLURAL = (
    rf"{either(name for name in WEEKDAY_NAMES if len(name) > 4)}"
    "(?:s|en|(?:abend|avond|middag|ochtend|vormittag|nachmittag)(?:s|en|e))"
)
AND = r"\s?(?:,|and|&|und|et|y|e|en|sowie|/)\s?(?:(?:le|les|los|il|la|el)\s)?"
EVERY = (
    r"every|each|weekly on|jede[nrs]?|immer|tous les|toutes les|chaque|todos los|todas las|cada|ogni|tutti i|tutte le|"
    r"elke|iedere|"
    r"any|wöchentlich(?: am)?|wekelijks(?: op)?"
)
TO = r"(?:\s?[-~]\s?|\s(?:to|through|bis|au|al?|alla|t/m|tot(?: en met)?)\s)"
NAME_RANGE = rf"(?<![^\W_]){ANY_NAME}{TO}{ANY_NAME}(?![a-zà-ÿ\d]|\s?\d{{1,2}}\.?\s?[A-Za-zé])"
_NAMES = re.compile(rf"(?<![a-zà-ÿ])({either(ALL_NAMES)}){_ENDING}(?![a-zà-ÿ])", re.IGNORECASE)


def signs_of(written: str) -> frozenset[int]:
    """The weekdays of "月・火曜日", or of the range "月~金"."""
    signs = [WEEKDAYS[sign] for sign in re.sub("曜日?|毎週", "", written) if sign in WEEKDAYS]
    return between(signs[0], signs[-1]) if _ONLY_RANGE.fullmatch(written) else frozenset(signs)


def names_of(written: str) -> frozenset[int]:
    """The weekdays of "Saturdays and Sundays"."""
    return frozenset(_named(written))


def range_of(written: str) -> frozenset[int]:
    """The weekdays of "Tue-Sun"."""
    first, *_, last = _named(written)
    return between(first, last)


def _named(written: str) -> list[int]:
    return [ALL_NAMES[found[1].lower()] for found in _NAMES.finditer(written)]


def between(first: int, last: int) -> frozenset[int]:
    """The weekdays from one to another."""
    return frozenset((first + step) % 7 for step in range((last - first) % 7 + 1))
