"""Whether a text says that an event does not take place: a status, the mark of a title, or a sentence of a note; and titles that
are notices about another item (中止のお知らせ, 会場変更について).

Most sentences with 中止 do not say so: they name a condition (雨天の場合は中止), announce where one would hear of it
(中止が決まり次第お知らせします), are about a part of the event (試食は中止) or about another year. Only a sentence without any
of that counts.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import NamedTuple

_LONGEST_STATUS = 100
_OFF = (
    r"(?:開催)?(?:中止|延期|取りやめ|取り止め|取止め|cancell?ed|postponed)"
    r"(?:のお知らせ|(?:いた)?しました|[にと]なりました|決定)?"
)
_MARK = re.compile(
    rf"^\s{{0,3}}[【\[(〔<《「*※]?\s?{_OFF}[】\])〕>》」*:!]|[【\[(〔<《]{_OFF}[】\])〕>》]$|(?:中止|延期)(?:のお知らせ|について|しました|[にと]なりました)$",
    re.IGNORECASE,
)
_STATUS = re.compile(r"true|yes|1|.*(?:中止|取りやめ|取り止め|取止め|キャンセル|cancell?ed).*", re.IGNORECASE | re.DOTALL)
_SENTENCE_OF_NOTE = re.compile(
    r"(?:中止|延期|取りやめ|取り止め|取止め)(?:と(?:させて|いた|な[っり]|しま|し、)|いたしま|にな[っり]|が決(?:定|ま[っりし])|しま|する(?:こと|運び))"
)
_POSTPONED = re.compile(r"延期|postponed", re.IGNORECASE)
_CONDITION = re.compile(
    r"場合|次第|可能性|ことが|こともあり|[恐虞]れ|おそれ|かもしれ|(?<!\d)[時際]に?は|の際|とき|[っし]たら|[なけれあ]れば|なら(?:ば|、|(?=中止|延期|取り))|限り|"
    r"もしくは|または|又は|か否か|可否|有無|(?:変更|順延|延期|中止|縮小)[・、,/や](?:内容|開催)?の?(?:変更|順延|延期|中止|縮小)|予備日|順延|\b(?:may|if)\b",
    re.IGNORECASE,
)
_WEATHER = re.compile(
    r"雨天|荒天|悪天|強風|暴風|警報|注意報|小雨|降雨|天候|天気|状況(?:により|によ[っり]て|に応じ)|によっては|に応じて"
)
"""A condition as well, unless the sentence reports what was decided."""
_DECIDED = re.compile(r"(?:中止|延期)[^。、]{0,12}(?:ました|決定|ております)")
_ANNOUNCEMENT = re.compile(
    r"(?:中止|延期)(?:・[^\s。]{1,8})?(?:の?(?:連絡|お知らせ|案内|決定|判断|情報)(?:は|を|に|等)|について(?:は|の))"
)
_DENIAL = re.compile(r"(?:中止|延期)[^。、]{0,6}(?:なし|無し|ません|せず)|(?:中止|延期)の?予定は|\bnot\b", re.IGNORECASE)
_PART = re.compile(
    r"一部|のみ|以外|部分|"
    r"(?:提供|試食|飲食|販売|受付|受け付け|募集|申込み?|予約|入場|見学|配布|体験|派遣|貸出|貸し出し|調理|コーナー|屋台|出店|模擬店|パレード|の部|"
    r"利用|抽選会|\d日目|初日|最終日|第\d{1,2}回)[はをの]?(?:当面|当分)?、?(?:中止|延期|取り)"
)
_SUBJECT = re.compile(r"([^\s、。]{2,20}?)[はを]、?(?:全て|すべて|やむなく)?(?:中止|延期|取り)")
_WHOLE_EVENT = re.compile(
    r"イベント|催し|事業|開催|行事|大会|講座|教室|公演|コンサート|[祭会展式」』]$|まつり|フェス|セミナー|上映|実施|"
    r"今年|今回|本年|令和|年度|ため|より|伴い"
)
"""What stops if the event does: another subject (飲食ブースは中止) is a part of it."""
_OTHER_TIME = re.compile(
    r"昨年|前年|前回|一昨年|去年|(?:中止|延期)[^。、]{0,12}(?:でしたが|ましたが)|(?:中止|延期)(?:とな[っり]|にな[っり]|し)た?(?:もの|分|[^。、]{1,30}を(?:開催|実施))"
    r"|(?:中止|延期)[^。、]{1,30}の振り?替え?|(?:中止|延期)(?:とな|にな)った[^。、]{1,20}(?:です|として|になります)"
)
_WHOLE_NOTE = re.compile(
    r"[【\[(※*]?(?:[^。、]{2,30}(?:のため|により|に伴い))?(?:開催)?(?:は|を)?(?:中止|延期)[】\])]?"
    r"|(?:this event (?:has been|is|was) |event )?(?:cancell?ed|postponed)(?: due to [^.]{2,60}| until [^.]{2,40})?\.?",
    re.IGNORECASE,
)
"""A note that says nothing else."""
_NOT_CERTAIN = (_CONDITION, _ANNOUNCEMENT, _DENIAL, _PART, _OTHER_TIME)
_SENTENCE_END = re.compile(r"[。！!]|\n[^\S\n]{0,9}(?=[\n※*・●○■◆□◇【(（<＜])")
"""A line that goes on in the next belongs to its sentence: the condition is often in the line before."""


class NoticeKind(StrEnum):
    """What a notice about an event says."""

    CANCELLED = "cancelled"
    POSTPONED = "postponed"
    VENUE = "venue"
    TIME = "time"
    SOLD_OUT = "sold_out"


class EventNotice(NamedTuple):
    """A title that is a notice about an event."""

    kind: NoticeKind
    subject: str
    """The title of the event."""


_NOTICE_WORDS = (
    (NoticeKind.CANCELLED, r"中止|取りやめ|取り止め|取止め"),
    (NoticeKind.POSTPONED, r"延期"),
    (NoticeKind.VENUE, r"(?:会場|開催場所|場所)[のが]?変更"),
    (NoticeKind.TIME, r"(?:開催|開始|開演)?(?:日時|日程|期日|時間|時刻)[のが]?変更"),
    (NoticeKind.SOLD_OUT, r"満席|満員|完売|定員到達|定員に達|(?:受付|募集|申込(?:み|受付)?)の?(?:終了|締切り?)"),
)
_ENGLISH_WORDS = {
    NoticeKind.CANCELLED: r"cancell?ed",
    NoticeKind.POSTPONED: r"postponed|rescheduled",
    NoticeKind.VENUE: r"new venue|venue changed?|change of venue",
    NoticeKind.TIME: r"new time|time changed?|change of time",
    NoticeKind.SOLD_OUT: r"sold out|fully booked",
}
_NOTICE_END = (
    r"(?:(?:する|した)?(?:の|に関する|について)?(?:お知らせ|ご案内|お詫び|ご連絡)(?:とお詫び)?|について|しました|いたしました|いたします|します|"
    r"[にと]なりました|が?決定(?:しました)?|御礼)"
)
_NOTICES = tuple((kind, re.compile(rf"(?:開催)?(?:の|を)?(?:{words}){_NOTICE_END}[。!]?$")) for kind, words in _NOTICE_WORDS)


def _mark_expression(kind: NoticeKind, words: str) -> str:
    english = _ENGLISH_WORDS[kind]
    in_brackets = rf"[【\[(〔<《](?:開催)?(?:{words}|{english}){_NOTICE_END}?[】\])〕>》]"
    at_start = rf"^{in_brackets}|^(?:{english})\s?[:!–—-]\s"
    why = r"(?:\s(?:due to|because of|until)\s[^.]{1,60})?"
    at_end = rf"{in_brackets}$|(?:\s?[:–—-]\s|\s(?:is\s|was\s|has been\s)?)(?:{english}){why}[.!]?$"
    return f"{at_start}|{at_end}"


_MARKED = tuple((kind, re.compile(_mark_expression(kind, words), re.IGNORECASE)) for kind, words in _NOTICE_WORDS)
_OWN_DATE = re.compile(
    r"^(?:\d{4}年)?\d{1,2}月\d{1,2}日(?:\([^()]{1,4}\))?(?:開催|実施)?の?\s?|\s?\((?:\d{4}年)?\d{1,2}月\d{1,2}日(?:\([^()]{1,4}\))?\)$"
)
"""The day of the event beside its title."""
_NOTICE_START = re.compile(r"^(?:[【\[(〔<《]?(?:重要|お知らせ|緊急|更新|速報)[】\])〕>》:]\s?)+")
_QUOTED = re.compile(r"「([^「」]{3,})」(?:の|は)?|『([^『』]{3,})』(?:の|は)?")
_PARTICLES = "のをはが、: \t\n"
"""What stands between the title of the event and the notice."""
_SHORTEST_SUBJECT = 4


def find_notice(title: str) -> EventNotice | None:
    """What a title announces about an event, if that is all it does: 「ジャズの夕べ」中止のお知らせ, not 【中止】ジャズの夕べ."""
    text = _NOTICE_START.sub("", _folded(title))
    for kind, pattern in _NOTICES:
        found = pattern.search(text)
        if found is None:
            continue
        before = text[: found.start()].rstrip(_PARTICLES)
        quoted = _QUOTED.fullmatch(before)
        subject = (quoted[1] or quoted[2]) if quoted else _OWN_DATE.sub("", before)
        is_certain = kind not in (NoticeKind.CANCELLED, NoticeKind.POSTPONED) or _is_certain(text.replace("お知らせ", ""))
        return EventNotice(kind, subject) if len(subject) >= _SHORTEST_SUBJECT and is_certain else None
    return None


def find_marked_notice(title: str) -> EventNotice | None:
    """The same for a mark beside the title of an event (【中止】ジャズの夕べ, "Jazz night cancelled"): without a date, this is
    only a notice, with one it may be the event itself."""
    text = _NOTICE_START.sub("", _folded(title))
    for kind, pattern in _MARKED:
        if (found := pattern.search(text)) is not None and _is_certain(text):
            subject = _OWN_DATE.sub("", (text[: found.start()] + text[found.end() :]).strip(_PARTICLES))
            return EventNotice(kind, subject) if len(subject) >= _SHORTEST_SUBJECT else None
    return None


_NOTICE_WORD = dict(zip(NoticeKind, ("中止", "延期", "会場変更", "時間変更", "満席"), strict=True))


def notice_title(notice: EventNotice) -> str:
    """The title of a notice as `find_notice` reads it."""
    return f"{notice.subject} {_NOTICE_WORD[notice.kind]}のお知らせ"


def says_cancelled(status: str) -> bool:
    """Whether the text of a status says that the event will not take place: "中止", "EventCancelled", not "雨天の場合は中止"."""
    text = _folded(status)
    return len(text) <= _LONGEST_STATUS and _STATUS.fullmatch(text) is not None and _is_certain(text)


def says_postponed(status: str) -> bool:
    """Whether the text of a status says that the event will take place on another day."""
    text = _folded(status)
    return len(text) <= _LONGEST_STATUS and _POSTPONED.search(text) is not None and _is_certain(text)


def cancellation_mark(title: str) -> str:
    """The mark at the start or the end of a title that says that the event does not take place; empty if there is none."""
    text = _folded(title)
    mark = _MARK.search(text)
    if mark is None or re.search(r"(?:一部|雨天|荒天|\d月(?:開催)?|\d日)$", text[: mark.start()]):
        return ""
    return mark[0]


def cancellation_sentence(note: str) -> str:
    """The sentence of a note that says that the event does not take place; empty if there is none."""
    if not re.search("中止|延期|取りやめ|取り止め|取止め|cancel|postpone", note, re.IGNORECASE):
        return ""
    if _WHOLE_NOTE.fullmatch(whole := _folded(note)) and _is_certain(whole):
        return whole
    sentences = (re.sub(r"\s+", "", part) for part in _SENTENCE_END.split(_folded(note)))
    return next((one for one in sentences if _SENTENCE_OF_NOTE.search(one) and _is_certain(one)), "")


def _is_certain(sentence: str) -> bool:
    if _WEATHER.search(sentence) and not _DECIDED.search(sentence):
        return False
    subject = _SUBJECT.search(sentence)
    is_whole = subject is None or _WHOLE_EVENT.search(subject[1]) is not None
    return is_whole and not any(pattern.search(sentence) for pattern in _NOT_CERTAIN)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()
