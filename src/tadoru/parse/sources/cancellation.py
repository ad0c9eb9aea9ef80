"""What a text says about whether an event takes place: a status, the mark of a title, or a sentence of a note; and titles that
are notices about another item (中止のお知らせ, 会場変更について).

Most sentences with 中止 do not say so: they name a condition (雨天の場合は中止), announce where one would hear of it
(中止が決まり次第お知らせします), are about a part of the event (試食は中止) or about another year. Only a sentence counts that
states it without any of that, and whose subject, if it has one, is the event: its title or a word for it (本講座, this event).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from typing import NamedTuple


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


class StatusStatement(NamedTuple):
    """The words that say that an event is cancelled, postponed or sold out."""

    kind: NoticeKind
    text: str


class _Words(NamedTuple):
    """How titles name a kind of notice, as regular expressions."""

    japanese: str
    western: str


_LONGEST_STATUS = 100
_LONGEST_NOTE, _LONGEST_SENTENCE, _MOST_SENTENCES = 4_000, 400, 20
_LAST_OF_FISCAL_YEAR = 3
_NAMED_DAY = re.compile(r"(?<!\d)(\d{1,2})[月/](\d{1,2})(?!\d)日?(?:\([^()]{1,5}\))?(から|より|の|は|開催|実施|分)?")
"""A day, and how the event is related to it: it is held on it, or was to be."""
_YEAR = re.compile(r"(?<!\d)(20\d\d)(?!\d)|令和(\d{1,2}|元)年")
_CALLED_OFF = r"(?:中止|取り?やめ|取り?止め|見合わせ|見送り|断念)"
_FULL = r"(?:満席|満員|完売)"
_REACHED = r"定員(?:\d{1,4}[名人組])?に達"
_WORDS = {
    NoticeKind.CANCELLED: _Words(_CALLED_OFF, r"cancell?ed|called off|abgesagt|entfallen|annulée?s?"),
    NoticeKind.POSTPONED: _Words(r"延期", r"postponed|rescheduled|verschoben|reportée?s?"),
    NoticeKind.VENUE: _Words(r"(?:会場|開催場所|場所)[のが]?変更", r"new venue|venue changed?|change of venue"),
    NoticeKind.TIME: _Words(
        r"(?:開催|開始|開演)?(?:日時|日程|期日|時間|時刻)[のが]?変更", r"new time|time changed?|change of time"
    ),
    NoticeKind.SOLD_OUT: _Words(
        rf"{_FULL}|定員到達|{_REACHED}|(?:受付|募集|申込(?:み|受付)?)の?(?:終了|締切り?)",
        r"sold out|fully booked|ausverkauft|ausgebucht|compl(?:et|ète)s?",
    ),
}
_NOTICE_TITLES = {
    NoticeKind.CANCELLED: "中止",
    NoticeKind.POSTPONED: "延期",
    NoticeKind.VENUE: "会場変更",
    NoticeKind.TIME: "時間変更",
    NoticeKind.SOLD_OUT: "満席",
}
_OPEN, _CLOSE = r"【\[(〔<《≪〈", r"】\])〕>》≫〉"

_STATUS = re.compile(r"true|yes|1|.*(?:中止|取り?やめ|取り?止め|キャンセル|cancell?ed).*", re.IGNORECASE | re.DOTALL)
_POSTPONED = re.compile(r"延期|postponed", re.IGNORECASE)
_OFF = rf"(?:{_CALLED_OFF}|延期|{_FULL}|{_REACHED})"
_CONDITION = re.compile(
    r"場合|次第|可能性|ことが|こともあり|[恐虞]れ|おそれ|かもしれ|(?<!\d)[時際]に?は|の際|とき|[っし]たら|[なけれあ]れば|なら(?:ば|、|(?=中止|延期|取り))|限り|"
    r"もしくは|または|又は|か否か|可否|有無|(?:中止|延期|見合わせ)[^。、]{0,15}(?:ください|下さい|お願い)|(?:変更|順延|延期|中止|縮小)[・、,/や](?:内容|開催)?の?(?:変更|順延|延期|中止|縮小)|予備日|順延|"
    r"\b(?:may|might|could|if|unless|in case|bei|falls|wenn|sollten?|kann|könnte|en cas|peut|pourra(?:it)?|si|s'il)\b|"
    r"\b(?:when(?:ever)?|every|always|often|usually|on days|"
    r"nearly|almost|but|beinahe|fast|aber|presque|mais|meist(?:ens)?|immer|oft|souvent|toujours)\b",
    re.IGNORECASE,
)
_WEATHER = re.compile(
    r"雨天|荒天|悪天|強風|暴風|警報|注意報|小雨|降雨|天候|天気|状況(?:により|によ[っり]て|に応じ)|によっては|に応じて"
)
"""A condition as well, unless the sentence reports what was decided."""
_DECIDED = re.compile(rf"{_OFF}[^。、]{{0,12}}(?:ました|決定|ております)|[るの]ため[^。]{{0,20}}{_OFF}")
_ANNOUNCEMENT = re.compile(
    rf"{_OFF}(?:・[^\s。]{{1,8}})?(?:の?(?:連絡|お知らせ|案内|決定|判断|情報)(?:は|を|に|等)|について(?:は|の))"
)
_DENIAL = re.compile(
    rf"{_OFF}[^。、]{{0,6}}(?:なし|無し|ません|せず|ではな)|{_OFF}の?予定は|\b(?:not|nicht|kein|pas)\b", re.IGNORECASE
)
_PART = re.compile(
    r"一部|のみ|以外|部分|"
    r"(?:提供|試食|飲食|販売|受付|受け付け|募集|申込み?|予約|入場|見学|配布|体験|派遣|貸出|貸し出し|調理|コーナー|屋台|出店|模擬店|パレード|の部|"
    rf"利用|抽選会|\d日目|初日|最終日|第\d{{1,2}}回|\d[月日](?:開催|分|の回)?)[はをの]?(?:当面|当分)?、?{_OFF}"
)
_OTHER_TIME = re.compile(
    rf"昨年|前年|前回|一昨年|去年|{_OFF}[^。、]{{0,12}}(?:でしたが|ましたが)|{_OFF}(?:とな[っり]|にな[っり]|し)た?(?:もの|分|[^。、]{{1,30}}を(?:開催|実施))"
    rf"|{_OFF}[^。、]{{1,30}}の振り?替え?|{_OFF}(?:とな|にな)った[^。、]{{1,20}}(?:です|として|になります)"
    r"|\b(?:last|previous) year|\b(?:letzte[snm]?|vorige[snm]?) jahr|l'an dernier|l'année dernière"
    r"|\b(?:postponed|moved) from|verschoben vom|reportée? du",
    re.IGNORECASE,
)
_NOT_CERTAIN = (_CONDITION, _ANNOUNCEMENT, _DENIAL, _PART, _OTHER_TIME)

_TOPIC = re.compile(
    rf"([^、。,\s】]{{2,40}}?)(?:(?<![でにとへて])は|[をがのも](?=、?(?:全て|すべて|やむなく|一時的?に?|当面|急遽|お)?{_OFF}))"
)
_BEFORE_SUBJECT = re.compile(
    r"^.*(?:ため|により|によって|に伴い|を鑑み|を受け|につき|ながら|ですが|おかげさまで|(?:都合|事情|影響|不良|判断|理由)で、?)(?=.)"
)
_WHICH = re.compile(
    r"(?:残念|急遽|この度|このたび|この|本日の?|本年度?の?|本|当|今回の?|今[年期]度?の?|令和[\d元]{1,2}年度?の?|全て?の?|"
    r"(?:\d{4}年)?\d{1,2}月\d{1,2}日(?:[月火水木金土日]曜?日?)?(?:開催|実施)?の)+"
)
"""What stands before the name of an event, and the event is still meant."""
_THIS_EVENT = re.compile(
    r"(?:イベント|催し物?|事業|開催|開講|行事|大会|講座|教室|公演|コンサート|セミナー|講演会?|上映会?|実施|企画|チケット|前売り?券?|"
    r"定員|全?席|会|.{0,10}(?:実行委員会|主催者))?(?:自体)?"
)
_NO_NAME = str.maketrans("", "", '「」『』【】"“”()※* \t')
_REASON = r"[^。、\s]{2,40}(?:ため|(?:影響|都合|不良|事情|急病|病気|故障)により|に伴い|を受け|を鑑み|につき)、?"
_ASSERTED = (
    r"(?:[とにがを]?(?:させて|いた[しだ]|なりま|なっております|決ま|決定|しま|して(?:おり|い)ます)"
    r"|すること[とにを]|する運び|です)"
)
_STATEMENTS = {
    NoticeKind.CANCELLED: re.compile(rf"{_CALLED_OFF}(?:{_ASSERTED}|ること[とにを])|見(?:合わせ|送り)ま|取り?(?:やめ|止め)ま"),
    NoticeKind.POSTPONED: re.compile(rf"延期{_ASSERTED}"),
    NoticeKind.SOLD_OUT: re.compile(
        rf"{_FULL}(?:(?:[とに]なり|[とに]なって|いたし|し|して)(?:ました|おります)|です|のため|につき)|{_REACHED}し(?:ました|たため|たので|ております)"
    ),
}
"""A Japanese predicate that states what was decided."""
_MAIN_CLAUSE = re.compile(r"(?<=ため|ので)|(?<=につき)|[^、。「」をはが]{0,25}?(?:$|ので|ことを|、(?!と)|[(※・])")
"""What follows the predicate of a sentence: 中止となりました公演を… is about something else."""


_DOES_NOT = r"entfällt|fällt (?:[^\s,;.]{1,20} ){0,4}?aus"
_WESTERN_EVENT = (
    r"(?:event|meeting|session|course|class|workshop|concert|performance|show|talk|lecture|tour|walk|festival|fair|market|match|"
    r"screening|reading|exhibition|activity|programme?|tickets|veranstaltung|konzert|kurs|vortrag|lesung|führung|fest|termin|"
    r"vorstellung|ausstellung|treffen|markt|karten|événement|manifestation|spectacle|sortie|fête|atelier|conférence|séance|"
    r"représentation|visite|exposition)"
)


def _alone(word: str, western: str) -> str:
    why = r"(?: (?:due to|because of|until|wegen|auf|bis|au|à|pour|en raison de) [^.]{2,60})?"
    return (
        rf"(?:{_REASON})?(?:(?:この|本|当)?(?:イベント|催し|行事|講座|教室|講演会|公演|大会|チケット|全席)[はを]?)?(?:開催日?|日程)?[はを]?{word}"
        r"(?:の?お知らせ|(?:いた)?し(?:ました|ます)|しております|[にと]なりました|が?決定(?:しました)?|です)?(?:\((?:開催日|日程|日時|時期)?未定\)?)?"
        rf"|(?:{_WESTERN_EVENT} )?(?:{western}){why}"
    )


_ALONE = {
    kind: re.compile(_alone(word, western), re.IGNORECASE)
    for kind, word, western in (
        (NoticeKind.CANCELLED, _CALLED_OFF, f"{_WORDS[NoticeKind.CANCELLED].western}|{_DOES_NOT}"),
        (NoticeKind.POSTPONED, r"(?:無期限|\d{1,2}月\d{1,2}日(?:\(.\))?[にへ])?延期", _WORDS[NoticeKind.POSTPONED].western),
        (
            NoticeKind.SOLD_OUT,
            rf"(?:{_FULL}(?:御礼|のため.{{0,15}}|\(キャンセル待ち.{{0,10}})?|定員到達|{_REACHED}し(?:ました|たため.{{0,15}}))",
            _WORDS[NoticeKind.SOLD_OUT].western,
        ),
    )
}
"""A mark of a title, or a note that says nothing else."""
_AT_END = re.compile(rf"[・\s、]{_REASON}(?:開催)?(?:中止|延期)$")
_IS = r"(?:is|are|was|has been|have been|had to be|ist|sind|wurden?|wird|muss(?:te)?|est|a été|sont)"
_WESTERN = {
    kind: re.compile(
        r"(?:^|\b(?:this|the|our|all|die|das|der|diese[rs]?|le|la|les|ce|cet|cette)\s|\bl')(\w{2,30})\s"
        rf"(?:{_IS}\s(?:[^\s,;]{{1,20}}\s){{0,6}}?(?:{words})|{verb})\b",
        re.IGNORECASE,
    )
    for kind, words, verb in ((kind, _WORDS[kind].western, _DOES_NOT if kind is NoticeKind.CANCELLED else "$") for kind in _ALONE)
}
"""A sentence with its subject: "The afternoon session is cancelled" has none that is the whole event."""
_SENTENCE_END = re.compile(r"[。！!]|(?<=[^\W\d_]{2})\.\s|\n[^\S\n]{0,9}(?=[\n※*・●○■◆□◇【(（<＜])")
"""A line that goes on in the next belongs to its sentence: the condition is often in the line before."""
_SIGNAL_WORDS = tuple(
    "中止 延期 やめ 止め 見合わせ 見送 断念 満席 満員 完売 に達し cancel called postpone rescheduled sold booked abgesagt "
    "fällt verschoben ausverkauft ausgebucht entfallen annul report complet complèt".split()
)
_BRACKETED = re.compile(rf"[{_OPEN}]([^{_OPEN}{_CLOSE}]{{1,60}})[{_CLOSE}]")
_SEPARATED = re.compile(r"\s?[※★☆■◆●◎*!→⇒~]+\s?|\s[-–—|/]\s|\s?:\s?|(?<=[ぁ-んァ-ヶ一-龠])\s|\s(?=[ぁ-んァ-ヶ一-龠])")
_LAST_WORDS = re.compile(r"(?:中止|延期)(?:のお知らせ|について|しました|[にと]なりました)$")
_NOTICE_END = (
    r"(?:(?:する|した)?(?:の|に関する|について)?(?:お知らせ|ご案内|お詫び|ご連絡)(?:とお詫び)?|について|しました|いたしました|いたします|します|"
    r"[にと]なりました|が?決定(?:しました)?|御礼)"
)
_NOTICES = tuple(
    (kind, re.compile(rf"(?:開催)?(?:の|を)?(?:{words.japanese}){_NOTICE_END}[。!]?$")) for kind, words in _WORDS.items()
)


def _mark_expression(words: _Words) -> str:
    english = words.western
    in_brackets = rf"[{_OPEN}](?:開催)?(?:{words.japanese}|{english}){_NOTICE_END}?[{_CLOSE}]"
    at_start = rf"^{in_brackets}|^(?:{english})\s?[:!–—-]\s"
    why = r"(?:\s(?:due to|because of|until)\s[^.]{1,60})?"
    at_end = rf"{in_brackets}$|(?:\s?[:–—-]\s|\s(?:is\s|was\s|has been\s)?)(?:{english}){why}[.!]?$"
    return f"{at_start}|{at_end}"


_MARKED = tuple((kind, re.compile(_mark_expression(words), re.IGNORECASE)) for kind, words in _WORDS.items())
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
        is_certain = kind not in (NoticeKind.CANCELLED, NoticeKind.POSTPONED) or _is_certain(
            text.replace("お知らせ", ""), subject
        )
        return EventNotice(kind, subject) if len(subject) >= _SHORTEST_SUBJECT and is_certain else None
    return None


def find_marked_notice(title: str) -> EventNotice | None:
    """The same for a mark beside the title of an event (【中止】ジャズの夕べ, "Jazz night cancelled"): without a date, this is
    only a notice, with one it may be the event itself."""
    text = _NOTICE_START.sub("", _folded(title))
    for kind, pattern in _MARKED:
        if (found := pattern.search(text)) is not None and _is_certain(text, text):
            subject = _OWN_DATE.sub("", (text[: found.start()] + text[found.end() :]).strip(_PARTICLES))
            return EventNotice(kind, subject) if len(subject) >= _SHORTEST_SUBJECT else None
    return None


def notice_title(notice: EventNotice) -> str:
    """The title of a notice as `find_notice` reads it."""
    return f"{notice.subject} {_NOTICE_TITLES[notice.kind]}のお知らせ"


def says_cancelled(status: str) -> bool:
    """Whether the text of a status says that the event will not take place: "中止", "EventCancelled", not "雨天の場合は中止"."""
    text = _folded(status)
    return len(text) <= _LONGEST_STATUS and _STATUS.fullmatch(text) is not None and _is_certain(text)


def says_postponed(status: str) -> bool:
    """Whether the text of a status says that the event will take place on another day."""
    text = _folded(status)
    return len(text) <= _LONGEST_STATUS and _POSTPONED.search(text) is not None and _is_certain(text)


def title_statement(title: str) -> StatusStatement | None:
    """What a mark at the start or the end of a title, or in brackets, says: 【中止】, （台風接近のため中止）, "SOLD OUT - "."""
    text = _folded(title)
    if not _has_signal(text) or "再開" in text:
        return None
    found = (_statement_alone(mark) for mark in _marks(text))
    return next(filter(None, found), None)


def _marks(title: str) -> Iterator[str]:
    yield from (found[1] for found in _BRACKETED.finditer(title))
    parts = [part for part in _SEPARATED.split(title) if part]
    if len(parts) > 1:
        yield from (parts[0], parts[-1])
    if (last := _LAST_WORDS.search(title)) and _is_certain(title, title):
        yield last[0].removesuffix("について")


def note_statement(note: str, title: str, first: date, last: date) -> StatusStatement | None:
    """What a note says about the whole event of this title, from its first day to its last."""
    note = note[:_LONGEST_NOTE]
    if not _has_signal(note):
        return None
    text = _folded(note)
    parts = [part for part in _SENTENCE_END.split(text) if len(part) <= _LONGEST_SENTENCE and _has_signal(part)]
    found = (_statement_alone(text), *(_sentence_statement(part, title) for part in parts[:_MOST_SENTENCES]))
    return next((one for one in found if one and _is_about_days(one, first, last)), None)


def _is_about_days(statement: StatusStatement, first: date, last: date) -> bool:
    """False for another year, for another day or one of several, and if the event was postponed to this day."""
    named = {(int(month), int(day)): relation for month, day, relation in _NAMED_DAY.findall(statement.text)}
    own = named.get((first.month, first.day))
    if statement.kind is NoticeKind.POSTPONED and own == "":
        return False
    if any(named.values()) and (own is None or first != last):
        return False
    years = {int(western or 0) or 2018 + int(era.replace("元", "1")) for western, era in _YEAR.findall(statement.text)}
    return not years or not years.isdisjoint({first.year, first.year - (first.month <= _LAST_OF_FISCAL_YEAR)})


def _sentence_statement(part: str, title: str) -> StatusStatement | None:
    if alone := _statement_alone(part):
        return alone
    sentence = re.sub(r"\s+", "", part)
    for kind, pattern in _STATEMENTS.items():
        found = pattern.search(sentence)
        if found and _MAIN_CLAUSE.match(sentence, found.end()) and _is_certain(sentence, title):
            return StatusStatement(kind, sentence)
    if (last := _AT_END.search(part.strip())) and _is_certain(sentence, title):
        return StatusStatement(NoticeKind.POSTPONED if "延期" in last[0] else NoticeKind.CANCELLED, sentence)
    words = title.casefold().split()
    for kind, pattern in _WESTERN.items():
        western = pattern.search(part.strip())
        if (
            western
            and (re.fullmatch(_WESTERN_EVENT, western[1], re.IGNORECASE) or western[1].casefold() in words)
            and _is_certain(part)
        ):
            return StatusStatement(kind, part.strip())
    return None


def _statement_alone(text: str) -> StatusStatement | None:
    bare = text.strip(" \t\n※*.。!★" + "【】[]()〔〕<>《》≪≫〈〉")
    for kind, pattern in _ALONE.items() if len(bare) <= _LONGEST_STATUS else ():
        if (pattern.fullmatch(bare) or pattern.fullmatch("".join(bare.split()))) and _is_certain(bare):
            return StatusStatement(kind, bare)
    return None


def _has_signal(text: str) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in _SIGNAL_WORDS)


def _is_certain(sentence: str, title: str = "") -> bool:
    if _WEATHER.search(sentence) and not _DECIDED.search(sentence):
        return False
    if any(pattern.search(sentence) for pattern in _NOT_CERTAIN):
        return False
    return all(_is_event(found[1], title) for found in _TOPIC.finditer(sentence))


def _is_event(subject: str, title: str) -> bool:
    """Whether a subject is the event itself: not a part of it, and not another thing."""
    name = _BEFORE_SUBJECT.sub("", subject).translate(_NO_NAME)
    which = _WHICH.match(name)
    name = re.sub("の(?:開催|実施)$", "", name[which.end() :] if which else name)
    whole = _folded(title).translate(_NO_NAME)
    if _THIS_EVENT.fullmatch(name) or name == whole:
        return True
    return name in whole and (2 * len(name) >= len(whole) or whole.endswith(name))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()
