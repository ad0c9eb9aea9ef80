"""Compares where two events take place: venues, cities, coordinates.

One venue has many names: with and without the city, with a room, with its nickname. A name that every town has (図書館) is no
evidence by itself, and two named rooms of one building are two places.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import cos, hypot, radians
from typing import NamedTuple

from rapidfuzz import fuzz

from tadoru.jobs.events.dedupe.similarity import fold_spelling, is_abbreviated, is_typo, match_words, normalise_text, sound_alike
from tadoru.model.event import EventDraft

_ASIDE = re.compile(r"[(\[【「『〈《]([^)\]】」』〉》]*)[)\]】」』〉》]")
_ROOM_KINDS = (
    "会議室|研修室|集会室|学習室|講座室|講義室|和室|実習室|調理室|展示室|視聴覚室|多目的室|工作室|体育室|活動室|創作室|音楽室|相談室|遊戯室|教室|"
    "大ホール|中ホール|小ホール|メインホール|サブホール|イベントホール|多目的ホール|メインアリーナ|サブアリーナ|アリーナ|ロビー|講堂|ギャラリー|コーナー|ラウンジ"
)
_ROOM = re.compile(
    r"(?<!\d)(?:地下|b)?\d{1,4}+\s*(?:階|f(?![a-z])).*$|(?<=[^\x00-\u024f])\s+\S.*$"
    r"|(?<=[a-z\u00c0-\u024f.])(?:,| [-–—/|] | (?:room|hall|studio|floor|raum|saal|salle) ).*$"
    rf"|(?<=.{{3}})(?<!\d)(?:第?\d{{1,4}}+|[a-h]|大|中|小|特別|第?\d{{1,4}}+[・,]\d{{1,4}}+)?(?:{_ROOM_KINDS}).{{0,6}}$"
    r"|(?:(?<=館)|(?<=センター)|(?<=役所)|(?<=プラザ)|(?<=本部))[^\s館]{1,6}[室堂]$"
)
_FLOOR = re.compile(r"(?:地下|b)?\d+(?:階|f(?![a-z]))")
_AROUND = re.compile(r"^\s*(?:会場|場所|於|開催場所)\s*:\s*|にて\s*$")
_ROOM_ASIDE = re.compile(rf"[(\[「『]([^()\[\]「」『』]*(?:{_ROOM_KINDS})[^()\[\]「」『』]{{0,6}})[)\]」』]")
"""A room in brackets is a room, not a nickname."""
_OWNER = re.compile(r"(?:.{1,6}[都道府県])?(?:.{1,7}[市区町村])?[立営]?")
_GENERIC = re.compile(
    r"(?:中央|総合|市民|区民|町民|村民|市立|区立|町立|地域|地区|第\d+|こども|児童|文化|保健|福祉|生涯学習|子育て支援|子育て|すぽつ|健康|総合福祉|市|区|町|村)*"
    r"(?:図書館|公民館|体育館|市役所|区役所|役場|役所|会館|文化会館|せんた|児童館|公園|ほる|集会所|小学校|中学校|博物館|美術館|ぷらざ|庁舎|広場|ぷる|ぐらうんど|運動場)"
)
_AREA = re.compile(r"(?<=..)(?:一帯|周辺|付近|ほか|など|(?<!駅)前(?:広場)?|境内|構内|敷地内|駐車場)$")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_ANY_OF_A_KIND = re.compile(r"[市区町村][立民営]?(図書館|文化会館|美術館|博物館|体育館|会館|役所|役場)")
_LINKING = re.compile("の|(?<=[市区町村])[民立営]")
_HALL = re.compile(r"会館|ほる|ありな|体育館|すたじあむ|競技場|球場|どむ|劇場|せんた|ぷらざ|ぱく|公園|ぷる")
_IN_MANY = frozenset({"中央", "総合", "市民", "地区", "地域", "文化", "第1", "第2"})
_SEVERAL = re.compile("[、，,/／]")
_BARE_KIND = re.compile("図書館|公民館|体育館|児童館|せんた|ほる|会館|公園|小学校|中学校|役場")
ONLINE = re.compile("オンライン|online|zoom|youtube|webex|teams|ウェブ|web配信", re.IGNORECASE)
_PREFECTURE = re.compile(r"^(?:東京都|北海道|(?:京都|大阪)府|.{2,3}?県)(?=.)")
_COUNTY = re.compile(r"^.{1,4}?郡(?=.+[町村]$)")
_CITY_END = re.compile(r"(?<=..)[市区町村]$")
_KM_PER_DEGREE = 111.32
FAR_APART = 3.0
"""Kilometres between two places that are certainly two."""
_LATIN_PIECE = re.compile(r"[\W_]+")
_LATIN_GENERIC = frozenset(
    "the hall room house center centre library museum theatre theater park square place platz street church school club "
    "teatro theatre salle saal haus kirche bibliothek stadthalle rathaus eglise mairie plaza piazza casa cinema arena stadium "
    "city town "
    "de la le du des der die das of and zu am im in".split()
)
_ABBREVIATION = 3
"""Letters of a word that may be cut off (pl., bd., tro.)."""
_SHORTEST_SOUND = 3
"""Consonants of a name in Latin letters and in kana."""
_DISTINCTIVE_LENGTH = 6
"""Characters: a name of this length hardly ever belongs to two places."""


class VenueRelation(Enum):
    """How two venues relate."""

    SAME = "same"
    ALIAS = "alias"
    """Two names of one place."""
    ROOM = "room"
    """Two rooms of one building."""
    WEAK = "weak"
    """Possibly one place."""
    UNKNOWN = "unknown"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class VenueParts:
    """The folded parts of a venue name."""

    text: str
    building: str
    room: str
    names: frozenset[str]
    """The building and names in brackets: nicknames, or the building that contains it."""
    last: str
    """The part after the last space, unless it is a room: the building, after the name of its sponsor."""


@lru_cache(maxsize=10_000)
def split_venue(venue: str) -> VenueParts:
    """Split the name of a venue into its parts."""
    plain = _ROOM_ASIDE.sub(r" \1", _AROUND.sub("", normalise_text(venue)).strip()).strip()
    asides = [fold_spelling(_ROOM.sub("", found)) for found in _ASIDE.findall(plain)]
    bare = _ASIDE.sub(" ", plain).strip() or plain
    building = _ROOM.sub("", bare).strip() or bare
    folded = fold_spelling(building)
    names = frozenset(name for name in (folded, *asides) if len(name) >= 2)
    return VenueParts(fold_spelling(plain), folded, fold_spelling(bare)[len(folded) :], names, _last(bare))


def _last(bare: str) -> str:
    _, space, after = bare.rpartition(" ")
    if not space or _GENERIC.fullmatch(fold_spelling(after)) or re.search(_ROOM_KINDS, after) or len(after) < _DISTINCTIVE_LENGTH:
        return ""
    return fold_spelling(after)


@lru_cache(maxsize=10_000)
def bare_city_name(city: str) -> str:
    """A city without its prefecture, county, ward and 市: the same for 東京都府中市, 府中市 and 府中."""
    plain = _COUNTY.sub("", _PREFECTURE.sub("", normalise_text(city).replace(" ", "").replace("　", "")))
    inner = re.match(r"^(.+?市)(?=.+区$)", plain)
    return fold_spelling(_CITY_END.sub("", inner[1] if inner else plain))


@lru_cache(maxsize=10_000)
def compare_venues(one: str, other: str, city: str = "") -> VenueRelation:
    """Compare two venue names; `city` is the folded name of the city both may be in."""
    if not one or not other:
        return VenueRelation.UNKNOWN
    mine, theirs = split_venue(one), split_venue(other)
    if mine.text == theirs.text:
        return VenueRelation.SAME
    best = _buildings(mine.building, theirs.building, city)
    if best is VenueRelation.DIFFERENT and (
        mine.names & theirs.names or mine.last == theirs.building or theirs.last == mine.building
    ):
        best = VenueRelation.ALIAS
    if best is VenueRelation.DIFFERENT and one.isascii() is not other.isascii() and sound_alike(one, other, _SHORTEST_SOUND):
        best = VenueRelation.ALIAS
    if best is VenueRelation.DIFFERENT and not (_JAPANESE.search(one) or _JAPANESE.search(other)):
        best = _latin_names(one, other)
    if best is VenueRelation.DIFFERENT and (
        _inside(mine, theirs)
        or _inside(theirs, mine)
        or _is_short_form(*sorted((mine.text, theirs.text), key=len))
        or mine.text == theirs.room
        or theirs.text == mine.room
    ):
        best = VenueRelation.WEAK
    if best in {VenueRelation.SAME, VenueRelation.ALIAS} and mine.room != theirs.room:
        if mine.room and theirs.room and not _is_one_room(mine.room, theirs.room):
            return VenueRelation.ROOM
        return VenueRelation.ALIAS
    return best


def _latin_names(one: str, other: str) -> VenueRelation:
    """Compare two names word by word: "Bd de la Croix-Rousse" and "Boulevard de la Croix-Rousse" may be one place."""
    mine, theirs = ([word for word in _LATIN_PIECE.split(normalise_text(name)) if word] for name in (one, other))
    found = match_words(mine, theirs)
    rests = [
        [word for rest in side for word in rest.split() if word not in _LATIN_GENERIC] for side in (found.mine, found.theirs)
    ]
    is_own = any(len(word) >= 4 and word not in _LATIN_GENERIC for word in found.common)
    if not any(len(word) >= 4 for word in found.common) or any(any(map(str.isdigit, word)) for side in rests for word in side):
        return VenueRelation.DIFFERENT
    is_cut = is_own and any(len(word) <= _ABBREVIATION for side in rests for word in side)
    if is_own and (is_cut or not all(rests)):
        return VenueRelation.ALIAS
    return VenueRelation.WEAK if is_own or not all(rests) else VenueRelation.DIFFERENT


def _is_one_room(one: str, other: str) -> bool:
    """Whether one room name contains the other, with the same numbers: room 3 is not room 63. A floor names no room."""
    floors = [_FLOOR.findall(room) for room in (one, other)]
    one, other = (_FLOOR.sub("", room) for room in (one, other))
    if not (one and other):
        return not all(floors) or floors[0] == floors[1]
    numbers = [re.findall(r"\d+", room) for room in (one, other)]
    return (one in other or other in one) and (not all(numbers) or numbers[0] == numbers[1])


def _buildings(one: str, other: str, city: str) -> VenueRelation:
    if one == other:
        return VenueRelation.SAME
    one, other = _AREA.sub("", one), _AREA.sub("", other)
    if one == other or (len(one) >= 4 and _LINKING.sub("", one) == _LINKING.sub("", other)):
        return VenueRelation.ALIAS
    within = _within_city(one, other, city) if city else VenueRelation.DIFFERENT
    if within is not VenueRelation.DIFFERENT:
        return within
    if city:
        one, other = (
            own if len(own := _without(name, city)) > 2 and not _BARE_KIND.fullmatch(own) else name for name in (one, other)
        )
    short, long = sorted((one, other), key=lambda name: (len(name), name))
    if len(short) == 2 and long.endswith(short):
        return VenueRelation.WEAK
    if len(short) >= 3 and short in long:
        before, _, after = long.partition(short)
        if not after and (_OWNER.fullmatch(before) or before in {city, city + "市", city + "区"}):
            return VenueRelation.ALIAS
        return VenueRelation.WEAK if len(short) < 5 or _GENERIC.fullmatch(short) else VenueRelation.ALIAS
    if is_typo(short, long, most=1):
        return VenueRelation.ALIAS
    is_any = (kind := _ANY_OF_A_KIND.fullmatch(short)) is not None and long.endswith(kind[1])
    is_alike = is_any or _is_short_form(short, long) or (len(short) >= 8 and fuzz.ratio(one, other) >= 85)
    return VenueRelation.WEAK if is_alike else VenueRelation.DIFFERENT


def _is_short_form(short: str, long: str) -> bool:
    """Whether a name leaves out characters of another and begins like it: 子規博 and 子規記念博物館."""
    is_own = len(short) >= _DISTINCTIVE_LENGTH or (len(short) >= 3 and short[:2] == long[:2])
    is_own = is_own or (
        len(short) >= _DISTINCTIVE_LENGTH - 1 and short[:2] in long and short[:2] not in _IN_MANY and short[-2:] == long[-2:]
    )
    return is_own and len(long) - len(short) > 1 and is_abbreviated(short, long)


def _within_city(one: str, other: str, city: str) -> VenueRelation:
    """Compare two names that both start with the city: 狛江市立中央図書館 and 狛江中央図書館 are one."""
    short, long = sorted((_without(one, city), _without(other, city)), key=lambda name: (len(name), name))
    if len(short) < 3 or short not in long:
        return VenueRelation.DIFFERENT
    return VenueRelation.ALIAS if short == long else VenueRelation.WEAK


@lru_cache(maxsize=10_000)
def _without(building: str, city: str) -> str:
    """The name of a building without its city; empty if it does not start with it."""
    found = re.match(rf"{re.escape(city)}[市区町村]?[立営]?(?![民内役])", building)
    return building[found.end() :] if found else ""


@lru_cache(maxsize=10_000)
def venue_names(venue: str, city: str) -> tuple[str, ...]:
    """The folded names by which a title may call a venue: the building, without its city, and each of several places."""
    places = [split_venue(place).building for place in _SEVERAL.split(venue) if place]
    return tuple(dict.fromkeys((*places, *(_without(place, bare_city_name(city)) for place in places if city))))


def without_area(name: str) -> str:
    """A folded name of a place without what is around it: 市役所 for 市役所前広場."""
    return _AREA.sub("", name)


class OwnVenueName(NamedTuple):
    """The folded name of a building without its city."""

    whole: str
    own: str
    """Without words that many venues have; may be empty."""


def own_venue_name(venue: str, city: str) -> OwnVenueName:
    """The name of a venue without its city and owner."""
    text = _AREA.sub("", split_venue(venue).building)
    whole = (_without(text, city) if city else "") or text
    own = _GENERIC.sub("", whole)
    return OwnVenueName(whole, own if len(own) > 1 or _GENERIC.fullmatch(whole) else text)


def latin_likeness(one: str, other: str) -> float | None:
    """The share of words that two names without Japanese have in common; None if one has Japanese."""
    if _JAPANESE.search(one) or _JAPANESE.search(other):
        return None
    mine, theirs = (set(_LATIN_PIECE.split(normalise_text(name))) - _LATIN_GENERIC for name in (one, other))
    return len(mine & theirs) / max(1, len(mine | theirs))


def may_be_renamed(one: str, other: str, city: str) -> bool:
    """Whether both are halls that are named after the city: one may be the name that a sponsor gave to the other."""
    mine, theirs = split_venue(one).building, split_venue(other).building
    return bool(city) and all(city in name and _HALL.search(name) is not None for name in (mine, theirs))


def _inside(part: VenueParts, whole: VenueParts) -> bool:
    return any(len(name) >= 4 and name in whole.text for name in part.names)


def distance_km(one: EventDraft, other: EventDraft) -> float | None:
    """Kilometres between two events; None if one has no coordinates."""
    if one.latitude is None or one.longitude is None or other.latitude is None or other.longitude is None:
        return None
    north = (one.latitude - other.latitude) * _KM_PER_DEGREE
    east = (one.longitude - other.longitude) * _KM_PER_DEGREE * cos(radians((one.latitude + other.latitude) / 2))
    return hypot(north, east)
