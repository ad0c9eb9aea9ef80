"""One item of a feed (RSS of every version, Atom) as a raw event.

The date of publication is not the event's time. The time is taken from the namespaces for events, else from the text, else as
the settings say.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby, zip_longest
from typing import Any

from tadoru.model.event import RawEvent
from tadoru.parse.dates.vocabulary import MONTHS
from tadoru.parse.dates.weekdays import WEEKDAY_NAMES
from tadoru.parse.linear_regex import LinearRegex
from tadoru.parse.sources.cancellation import says_cancelled
from tadoru.parse.sources.feed_xml import XmlElement
from tadoru.parse.sources.raw_fields import absolute
from tadoru.parse.sources.schema_org import read_schema_org

LONGEST_TEXT = 10_000
"""So much of a description is looked at."""

_DIGIT = "[0-9０-９]"
_KANJI = "[0-9０-９一二三四五六七八九十元]"
_WEEKDAY = r"[(（［〔][月火水木金土日][^)）］〕]{0,8}[)）］〕]|[月火水木金土日]曜日?"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)


def _any_of(words: Iterable[str]) -> str:
    """An expression for one of these words, by their first letters: an expression tries all that stand beside each other."""
    letters = groupby(sorted(words, key=lambda word: (word[0], -len(word), word)), key=lambda word: word[0])
    return "(?:" + "|".join(f"{first}(?:{'|'.join(word[1:] for word in same)})" for first, same in letters) + ")"


_ANY_MONTH = _any_of(MONTHS.keys() - {"out", "set", "ago", "mag", "gen"}) + r"\.?"
"""Of all languages, without what is a word of English too."""
_ANY_WEEKDAY = _any_of(WEEKDAY_NAMES)
_NTH = r"[0-9]{1,2}(?:st|nd|rd|th|er|\.)?"
_NUMERIC_END = r"(?=,?\s{0,2}(?:um\s|ab\s|von\s)?[0-9]{1,2}(?:[:.][0-9]{2})?\s?(?:Uhr|[-–]))"
_YEAR = rf"(?:(?:令和|平成|昭和|大正|明治){_KANJI}{{1,3}}年|(?:{_DIGIT}{{2}}){{1,2}}年)"
_DATE = "|".join(
    (
        rf"{_YEAR}度?\s?{_KANJI}{{1,3}}月\s?{_KANJI}{{1,3}}日",
        rf"{_KANJI}{{1,3}}月\s?{_KANJI}{{1,3}}日",
        rf"(?<![0-9A-Za-z])[RHS]\s?{_DIGIT}{{1,2}}[./]{_DIGIT}{{1,2}}[./]{_DIGIT}{{1,2}}(?!{_DIGIT})",
        rf"(?<!{_DIGIT}){_DIGIT}{{4}}[-/.．／]{_DIGIT}{{1,2}}[-/.．／]{_DIGIT}{{1,2}}(?!{_DIGIT})(?:T[0-9:.]{{4,15}}(?:Z|[+-][0-9:]{{4,6}})?)?",
        rf"(?<!{_DIGIT}){_DIGIT}{{1,2}}[./]{_DIGIT}{{1,2}}[./]{_DIGIT}{{4}}(?!{_DIGIT})",
        rf"(?<![\w]){_MONTH}\s{{1,2}}[0-9]{{1,2}}(?:st|nd|rd|th)?(?:,?\s{{1,2}}[0-9]{{4}})?(?!\w)",
        rf"(?<![\w.:/])(?:{_NTH}\s?(?:[-–—/&+,]|(?:and|to|und|bis|et|au|y|e|al?)\s)\s?){{0,3}}"
        rf"{_NTH}\s{{0,2}}(?:of\s|de\s)?{_ANY_MONTH}(?:,?\s{{1,2}}(?:de\s)?[0-9]{{4}})?(?!\w)",
        rf"(?<![0-9.:])[0-9]{{1,2}}\.[0-9]{{1,2}}\.(?:[0-9]{{2}})?{_NUMERIC_END}",
        rf"(?<!{_DIGIT}|[/.．／]){_DIGIT}{{1,2}}[/／]{_DIGIT}{{1,2}}(?=\s?(?:{_WEEKDAY}))",
    )
)
_TIME = "|".join(
    (
        rf"(?:午前|午後|夜|朝|AM|PM)?\s?{_DIGIT}{{1,2}}時(?:半|{_DIGIT}{{1,2}}分)?",
        rf"(?:午前|午後|AM|PM)?\s?{_DIGIT}{{1,2}}[:：]{_DIGIT}{{2}}(?:[:：]{_DIGIT}{{2}})?(?:\s?[ap]\.?m\.?(?!\w))?",
        r"[0-9]{1,2}(?:\.[0-9]{2})?\s?(?:[ap]\.?m\.?(?!\w)|Uhr(?!\w))|[0-9]{1,2}\s?h(?:[0-9]{2})?(?!\w)",
        r"正午|終日|noon|midnight",
    )
)
_MORE = (
    rf"{_DATE}|{_TIME}|{_WEEKDAY}|{_KANJI}{{1,3}}日(?![本間])|[〜～~\-–—－−・,、,／|]|から|より|まで|に|開場|開演|開始|終了|受付|(?:at|to|from|until|and|à|de|bis|um|von|ab|a\slas|@)\s"
    rf"|{_ANY_WEEKDAY},?(?!\w)|[0-9]{{1,2}}(?=\s(?:bis|à|-)\s[0-9]{{1,2}}(?:\s?Uhr|\s?h))"
    r"|[(（][^)）]{0,6}[祝休][^)）]{0,4}[)）]"
    rf"|の(?=(?:毎[週月]|隔週|第{_DIGIT}|[月火水木金土日]曜))|毎[週月]|隔週|第{_DIGIT}(?=[・、第月火水木金土日])|[(（]?全{_DIGIT}{{1,2}}回[)）]?"
    r"|[(（][^()（）]{1,24}除く[)）]"
)
_WRITTEN = re.compile(rf"(?:{_DATE})(?:[\s　]{{0,3}}(?:{_MORE})){{0,16}}", re.IGNORECASE)
_HINT = re.compile(rf"{_DIGIT}+|月")
_HINT_WITHIN = 11
"""So many signs stand before the first number or 月 of a date, at most: "September " and a space more, 昭和六十三年十二月."""
_DANGLING = re.compile(
    r"(?<![\s　〜～~\-–—－−・,、／|])[\s　〜～~\-–—－−・,、／|]++$"
    r"|(?<=[日)）0-9分時])(?:に|から|より|at|to|from|until|and|à|de|bis|um|von|ab)?\s*$",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"(?<!日)(?:投稿|更新|掲載|公開|登録|作成|発信|posted(?:\s+on)?|published(?:\s+on)?|updated(?:\s+on)?)(?:日時?)?\s*+(?:[:：]\s*+)?$",
    re.IGNORECASE,
)
_PUBLISHED_AFTER = re.compile(r"[\s　]?(?:掲載|更新|投稿)")
_APPLICATION = r"(?:申し?込み?|応募|募集|エントリー|予約|発売|販売|前売り?|受け?付け?)(?!み?は?(?:不要|なし|無用))"
_DEADLINE_BEFORE = re.compile(
    rf"(?:{_APPLICATION}(?:の?(?:期限|締め?切り?日?|〆切り?|期間|開始日?|受付(?:期間)?)|日時?)?|締め?切り?日?|〆切り?|期限|必着|消印有効|deadline"
    r"|(?:register|apply|rsvp|book)\s{1,3}(?:by|before)|(?:anmelde|einsende|bewerbungs)schluss"
    r"|(?<![^\W_])(?:registrations?|bookings?|applications?|entries|tickets|karten|vorverkauf|anmeldung(?:en)?|bewerbung(?:en)?|inscriptions?|réservations?"
    r"|inscripci(?:ón|ones))\s(?:[^\W\d_]{1,12}\s){0,2}(?:opens?|closes?|by|before|until|from|sale|bis|ab|vor|avant|jusqu.au|dès|hasta)"
    r"(?:\s(?:on|the|le|zum|vom|el)){0,2})[\s　:：】\]〉》は]{0,4}$",
    re.IGNORECASE,
)
_DEADLINE_AFTER = re.compile(
    rf"(?:まで|迄)(?:に[^。\n]{{0,15}}?|[にの]?[\s　、]?)(?:{_APPLICATION}|締|必着)|[\s　]?(?:締め?切り?|〆切り?|必着|消印有効)"
    rf"|(?:から|より)(?:[\s　]?|(?:電話|メール|窓口|ウェブ|ホームページ|インターネット|はがき|FAX)[^。\n]{{0,10}}?){_APPLICATION}"
)
_ONE_DAY = re.compile(rf"(?:{_DATE})(?:\s?(?:{_WEEKDAY}))?", re.IGNORECASE)
_UNTIL_END = re.compile(r"(?:まで|から|より)?(?:に)?(?:受付)?$")
_LABELLED = re.compile(
    r"(?:開催日時?|日時|日程|とき|期日|開催期間|会期|実施日|公演日|上映日|(?<![a-z])(?:when|dates?|wann|datum|termin|quand))"
    r"[\s　:：】\]〉》は]{0,4}$",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[A-Za-z/!][^>]{0,2000}>")
_DATE_END = "\n" * 4
"""More than may stand between the parts of a date."""
_DATETIME = re.compile(r"""<time\b[^>]{0,500}?\sdatetime\s*=\s*["']?([0-9T:.Z+\-]{8,35})""", re.IGNORECASE)


def written_date(text: str) -> str | None:
    """The date of a text, or of HTML, with the times and the end that go with it: one that is called the date, else the first.

    The date of publication, and those until when to apply, are not the event's.
    """
    text = text[:LONGEST_TEXT]
    if marked := _DATETIME.search(text):
        return marked[1]
    plain = html.unescape(_TAG.sub(_gap, text)) if "<" in text else html.unescape(text)
    first: str | None = None
    for match in _dates(plain):
        before = plain[max(0, match.start() - 60) : match.start()]
        if _PUBLISHED.search(before) or _PUBLISHED_AFTER.match(plain, match.end()) or _is_deadline(plain, match, before):
            first = first or written_date(match[0].partition("\n")[2])
            continue
        found = _DANGLING.sub("", match[0]).strip()
        if _LABELLED.search(before):
            return found
        first = first or found
    return first


def _is_deadline(text: str, found: re.Match[str], before: str) -> bool:
    """Whether a date is one until when, or from when, to apply."""
    ending = _UNTIL_END.search(found[0])
    end = found.end() - len(ending[0]) if ending else found.end()
    return _DEADLINE_BEFORE.search(before) is not None or _DEADLINE_AFTER.match(text, end) is not None


def _dates(text: str) -> Iterator[re.Match[str]]:
    """All written dates. There is a number or a month in each, near its start: elsewhere none is tried, which takes long."""
    at = 0
    for hint in _HINT.finditer(text):
        for start in range(max(at, hint.start() - _HINT_WITHIN), hint.end()):
            if match := _WRITTEN.match(text, start):
                yield match
                at = match.end()
                break
        at = max(at, hint.end())


_LABELS = {
    "venue": "会場|場所|開催場所|開催会場|集合場所|ところ|venue|location|where|wo|ort|veranstaltungsort|lieu|où",
    "price": "料金|参加費|参加料|入場料|受講料|費用|price|admission|cost|fee|eintritt|kosten|preis|tarifs?|prix|entrée",
    "organizer": "主催|主催者|organi[sz]er|hosted by|veranstalter|organisateur",
    "start_time": "時間|開催時間|開演|開始時間|集合時間|times?|hours|uhrzeit|beginn|horaires?|heure",
}
_ANY_LABEL = "|".join(
    (
        *_LABELS.values(),
        "日時|開催日時?|とき|when|dates?|wann|datum|termin|quand",
        "対象|定員|申し?込み?(?:方法)?|問い?合わ?せ先?|電話|講師|持ち物|備考",
    )
)
_LABEL = re.compile(
    rf"(?:(?P<open>[【\[(（])|(?P<alone>^)|(?P<mark>[■●○◆◇◎▼▶・])|[\s　])[\s　]?(?P<label>{_ANY_LABEL})"
    r"(?:[】\])）]?[\s　]{0,2}[:：／]|(?(open)[】\])）]|(?!))|(?(alone)[ \t　]{0,2}(?=\n)|(?!))|(?(mark)[\s　]|(?!)))[\s　]{0,9}",
    re.IGNORECASE | re.MULTILINE,
)
"""A label is followed by a colon, stands in brackets or behind a mark, or has a line (a cell of a table) to itself."""
_FIELDS = {name: re.compile(words, re.IGNORECASE) for name, words in _LABELS.items()}
_LINE_END = re.compile(r"[\n。]")
_LONGEST_FIELD = 120
_CLOCK_WRITTEN = re.compile(r"[0-9０-９][時:：h]|正午|[0-9]\s?(?:[ap]\.?m|Uhr)", re.IGNORECASE)


def labelled_fields(text: str, start: str | None) -> dict[str, str]:
    """What a description says line by line behind labels: 会場：, 参加費：, 主催：; and the hours, if the start has none."""
    plain = html.unescape(_TAG.sub("\n", text[:LONGEST_TEXT]))
    said: dict[str, str] = {}
    labels = list(_LABEL.finditer(plain))
    for found, following in zip_longest(labels, labels[1:]):
        stop = min(found.end() + _LONGEST_FIELD, following.start() if following else len(plain))
        end = _LINE_END.search(plain, found.end(), stop)
        value = plain[found.end() : end.start() if end else stop].strip(" \t　・、,:：■●○◆◇◎▼▶【（(")
        field = next((name for name, words in _FIELDS.items() if words.fullmatch(found["label"])), None)
        if field and value:
            said.setdefault(field, value)
    if not start or _CLOCK_WRITTEN.search(start):
        said.pop("start_time", None)
    return said


def pick_date(text: str, pattern: LinearRegex) -> str | None:
    """What a person's own pattern finds: its first group that took part, else all of the match."""
    whole, *groups = pattern.search(text[:LONGEST_TEXT]) or ("",)
    return next((found.strip() for found in (*groups, whole) if found and found.strip()), None)


def _gap(tag: re.Match[str]) -> str:
    """The end of a paragraph ends a date, too; other tags may stand in the middle of one, or between it and its time."""
    return _DATE_END if tag[0].startswith("</") and tag[0][2:].lower().startswith(("p", "div", "li", "tr", "h")) else " "


PLAIN = ("", "atom", "rss")
"""The spaces of a feed's own elements."""
DATE_FROM = ("title", "description", "published", "none")

_START = "startdate dtstart starttime startdatetime start eventstart eventstartdate begin begindate".split()
_END = "enddate dtend endtime enddatetime end eventend eventenddate finish".split()
_DAY = "date eventdate".split()
_VENUE = "location venue place eventlocation venuename".split()
_ADDRESS = "address streetaddress venueaddress eventaddress".split()
_ORGANIZER = "organizer organiser eventorganizer host".split()
_PRICE = "cost price eventcost fee".split()
_STATUS = "status eventstatus".split()
_AMBIGUOUS = frozenset("start end date begin finish status host place address when where".split())
"""Names that say something about an event only in a space made for events."""
_NOT_EVENTS = frozenset(
    {*PLAIN, "dc", "dcterms", "media", "content", "sy", "itunes", "geo", "georss", "wfw", "slash", "feedburner", "thr"}
)
"""Spaces that were made for something else."""
_CLOCK = re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:\s*[ap]m)?", re.IGNORECASE)
_MARKUP = re.compile(r"<[A-Za-z/!][^>]{0,2000}>|&(?:#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z]{2,31});")
_ESCAPED_TAG = re.compile(r"&lt;/?(?:p|br|div|span|table|ul|ol|li|a|b|strong|h[1-6])\b", re.IGNORECASE)
"""Of HTML that was escaped once too often."""
_POINT = re.compile(r"([+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?)[\s,]+([+-]?[0-9]{1,3}(?:\.[0-9]{1,20})?)")
_SCHEMA = re.compile(r"schema\.org", re.IGNORECASE)
_MARKED_UP = "start end start_time end_time timezone venue address city latitude longitude price organizer is_cancelled".split()
_KIND = "http://schemas.google.com/g/2005#kind"


@dataclass(frozen=True, slots=True)
class DateLocation:
    """Where an item's date is read when no namespace has it."""

    places: tuple[str, ...] = ("title", "description")
    pattern: LinearRegex | None = None

    def find(self, title: str | None, description: str | None, published: str | None) -> str | None:
        """The text of the date."""
        texts = {"title": title, "description": description, "published": published}
        found = ""
        for text, place in ((texts.get(place), place) for place in self.places):
            if not text or (found and place == "published"):
                continue
            here = text if place == "published" else pick_date(text, self.pattern) if self.pattern else written_date(text)
            if here and not found:
                found = here
                if self.pattern or not _ONE_DAY.fullmatch(found):
                    break
            elif here and here.startswith(found) and _CLOCK_WRITTEN.search(here):
                return here  # the same day, with its hours
        return found or None


def read_item(number: int, item: XmlElement, dates: DateLocation) -> RawEvent:
    """What an item says."""
    found: dict[str, Any] = {
        "uid": _first(item, "guid", "id") or item.attributes.get("about"),
        "title": _title(item),
        "description": _description(item),
        "url": _url(item),
        "image": _image(item),
        "category": ", ".join(dict.fromkeys(_categories(item))) or None,
        "updated": _first(item, "updated", "modified", spaces=(*PLAIN, "dcterms")),
    }
    found |= _event_fields(item)
    found["latitude"], found["longitude"] = _coordinates(item)
    published = _published(item)
    if not found.get("start"):
        found |= {name: value for name, value in _marked_up(found["description"] or "", item.base).items() if not found.get(name)}
    if not found.get("start"):
        found["start"] = dates.find(found["title"], found["description"], published)
    said = labelled_fields(found["description"] or "", str(found["start"] or ""))
    found |= {name: value for name, value in said.items() if not found.get(name)}
    extra = {"published": published, "author": _author(item), "enclosure": _enclosure(item)}
    return RawEvent(position=f"item {number}", extra={name: value for name, value in extra.items() if value}, **found)


def _all(item: XmlElement, *names: str, spaces: tuple[str, ...] = PLAIN) -> Iterator[XmlElement]:
    return (element for name in names for element in item.elements if element.name == name and element.space in spaces)


def _first(item: XmlElement, *names: str, spaces: tuple[str, ...] = PLAIN) -> str | None:
    return next((text for element in _all(item, *names, spaces=spaces) if (text := element.text.strip())), None)


def _title(item: XmlElement) -> str | None:
    for element in _all(item, "title", spaces=(*PLAIN, "dc")):
        if text := element.text.strip():
            return text if element.attributes.get("type") in ("text", "xhtml") else plain(text)
    return None


def plain(text: str) -> str:
    """A title without markup: in RSS a title is HTML or is not, and only a look at it tells."""
    if not _MARKUP.search(text):
        return text
    return html.unescape(_MARKUP.sub(lambda found: "" if found[0][0] == "<" else found[0], text)).strip()


def _description(item: XmlElement) -> str | None:
    wanted = [
        *_all(item, "encoded", spaces=("content",)),
        *_all(item, "content"),
        *_all(item, "description", "summary"),
        *_all(item, "description", spaces=("dc", "media")),
    ]
    for element in wanted:
        text = element.markup() if element.attributes.get("type") == "xhtml" or any(element.elements) else element.text
        if text.strip():
            return (html.unescape(text) if "<" not in text and _ESCAPED_TAG.search(text) else text).strip()
    return None


def _url(item: XmlElement) -> str | None:
    if text := _first(item, "origlink", spaces=("feedburner",)):
        return absolute(text, item.base)
    for link in _all(item, "link"):
        address = link.attributes.get("href") or link.text
        if link.attributes.get("rel", "alternate") == "alternate" and address.strip() and (found := absolute(address, link.base)):
            return found
    for guid in _all(item, "guid"):
        if guid.attributes.get("ispermalink", "true").lower() == "true" and guid.text.strip().lower().startswith("http"):
            return absolute(guid.text, guid.base)
    about = item.attributes.get("about", "")
    return absolute(about, item.base) if about.startswith("http") else None


def _image(item: XmlElement) -> str | None:
    for element in _below(item):
        is_media = element.space == "media" and element.name in ("content", "thumbnail")
        kind = element.attributes.get("type", "") or element.attributes.get("medium", "")
        address = element.attributes.get("url") or element.attributes.get("href") or ""
        is_link = element.name == "enclosure" or (element.name == "link" and element.attributes.get("rel") == "enclosure")
        if (is_media and (kind.startswith("image") or not kind)) or (is_link and kind.startswith("image")):
            if found := absolute(address, element.base):
                return found
        elif element.name == "image" and element.space in (*PLAIN, "itunes"):
            nested = next((child.text for child in element.elements if child.name == "url"), None)
            if (found := absolute(address or nested or element.text, element.base)) and found != element.base:
                return found
    return None


def _below(item: XmlElement) -> Iterator[XmlElement]:
    """Its elements, and those in groups of them."""
    for element in item.elements:
        yield element
        if element.space == "media" or element.name in ("group", "tribe_event_meta"):
            yield from element.elements


def _enclosure(item: XmlElement) -> str | None:
    for element in _below(item):
        is_link = element.name == "link" and element.attributes.get("rel") == "enclosure"
        if element.name == "enclosure" or is_link:
            return absolute(element.attributes.get("url") or element.attributes.get("href") or "", element.base)
    return None


def _categories(item: XmlElement) -> Iterator[str]:
    for element in _all(item, "category", "subject", spaces=(*PLAIN, "dc")):
        if element.attributes.get("scheme") == _KIND:
            continue
        text = element.attributes.get("label") or element.attributes.get("term") or element.text
        if text.strip():
            yield plain(text.strip())


def _author(item: XmlElement) -> str | None:
    for element in _all(item, "creator", "author", spaces=(*PLAIN, "dc", "itunes")):
        name = next((child.text for child in element.elements if child.name == "name"), element.text)
        if name.strip():
            return name.strip()
    return None


def _published(item: XmlElement) -> str | None:
    return _first(item, "pubdate", "published", "issued", "date", "created", spaces=(*PLAIN, "dc", "dcterms")) or _first(
        item, "updated"
    )


def _coordinates(item: XmlElement) -> tuple[str | None, str | None]:
    for element in _deep(item):
        if element.name in ("point", "pos") and (match := _POINT.search(element.text)):
            return match[1], match[2]
    latitude = next((one.text.strip() for one in _deep(item) if one.name in ("lat", "latitude")), None)
    longitude = next((one.text.strip() for one in _deep(item) if one.name in ("long", "lon", "lng", "longitude")), None)
    return (latitude, longitude) if latitude and longitude else (None, None)


def _deep(item: XmlElement, depth: int = 3) -> Iterator[XmlElement]:
    for element in item.elements:
        if element.name not in ("content", "description", "summary", "encoded"):
            yield element
            if depth:
                yield from _deep(element, depth - 1)


def _event_fields(item: XmlElement) -> dict[str, Any]:
    """What the elements made for events say: ev:startdate, xcal:dtstart, gd:when, and the like of names in any other space."""
    said: dict[str, str] = {}
    found: dict[str, Any] = {}
    is_end_excluded = False
    for element in _deep(item):
        name = re.sub("[_-]", "", element.name)
        if element.space in _NOT_EVENTS and (element.space not in PLAIN or name in _AMBIGUOUS):
            continue
        if name == "when":
            said.setdefault("startdate", element.attributes.get("starttime", ""))
            said.setdefault("enddate", element.attributes.get("endtime", ""))
            is_end_excluded = True
        elif name == "where":
            said.setdefault("location", element.attributes.get("valuestring", ""))
        elif value := (element.attributes.get("value") or element.text).strip():
            said.setdefault(name, value)
            is_end_excluded = is_end_excluded or (name == "dtend" and element.space == "xcal")
    hours = {"start_time": ["starthour"], "end_time": ["endhour"]}
    names = hours | {"start": _START, "end": _END, "venue": _VENUE, "address": _ADDRESS, "organizer": _ORGANIZER, "price": _PRICE}
    for field, spellings in names.items():
        if values := [said[one] for one in spellings if said.get(one)]:
            found[field] = values[0]
    if is_end_excluded and (last := _day_before(found.get("end", ""))):
        found["end"] = last
    return _parted(found, next((said[one] for one in _DAY if said.get(one)), None)) | _cancelled(said)


def _day_before(text: str) -> date | None:
    """The last day of an event whose end is the day after it, as calendars write it; None when the end has a time."""
    match = re.fullmatch(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})", text.strip())
    try:
        return date(*map(int, match.groups())) - timedelta(days=1) if match else None
    except (ValueError, OverflowError):
        return None


def _marked_up(description: str, base: str) -> dict[str, Any]:
    """What the HTML of a description says in schema.org's words, when it describes one event."""
    if not _SCHEMA.search(description):
        return {}
    events = read_schema_org(description.encode("utf-8", "replace"), "text/html; charset=utf-8", base).events
    return {name: getattr(events[0], name) for name in _MARKED_UP} if len(events) == 1 else {}


def _parted(found: dict[str, Any], day: str | None) -> dict[str, Any]:
    """Where the day is said apart, start and end are times of the clock."""
    if "start" not in found and day:
        found["start"] = day
    elif day and _CLOCK.fullmatch(found["start"]):
        found |= {"start_time": found["start"], "start": day}
        if _CLOCK.fullmatch(str(found.get("end", ""))):
            found["end_time"] = found.pop("end")
    return found


def _cancelled(said: dict[str, str]) -> dict[str, Any]:
    status = next((said[one] for one in _STATUS if one in said), "")
    return {"is_cancelled": True} if says_cancelled(status) else {}
