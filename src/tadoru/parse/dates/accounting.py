"""Accounts for all of a written date: whatever looks like a date or a time, or changes what one means, has to be read.

A text that says more than was read from it is refused with the words that were not understood. A date that is no event's
(a birthday, an edition, a day of reference) is refused as well.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise, zip_longest

from tadoru.errors import Message
from tadoru.parse.dates.clocks import CLOCK
from tadoru.parse.dates.recurrence import RecurrencePhrase
from tadoru.parse.dates.scan import Places, place_weekdays
from tadoru.parse.dates.tokens import DateMark, DayToken, MarkToken, NotADate, TimeToken, Token

_DAY_END = r"(?:\d日|\d/\d{1,2}|\d-\d\d|\d(?=\())(?:\s?\([^()]{1,8}\)|[月火水木金土日]曜日?)?\s?"
_HOUR_END = r"(?:\d時|\d分|時半|正午|:\d\d)\s?"
_HELD = (
    r"開催|実施|行[いうわっなえ]|執り行|開[きくか](?![館設])|催[しす]|上演|上映|公演|演奏|出演|登場|展示|開[演会講幕場校]|始ま|開帳|スタート|集合|披露|"
    r"講演|オープン|放送|配信|巡行|打ち?上げ"
)
"""What is said of an event."""
_APPLYING = (
    r"申し?込み?|予約|応募|募集|締め?切|〆切|必着|消印|エントリー|先着|整理券|前売|発売|販売|チケット|抽選(?!会)|当選|結果|"
    r"発表(?!会)|発送|郵送|配[布付]|掲[載示]|更新|発行|納付|納期|支払|提出|返却|電話|メール|ファク[スシ]|FAX|ハガキ|はがき|来館|窓口|電子申請|フォーム|直接(?!会場|お越|ご来)|連絡|お知らせ(?:し|いた)|問い?合わ?せ|ダウンロード|貸し?出"
)
"""What is said of how to take part."""
_CHANGED = Message("“{text}” is about a date that was changed.")
_TAKING_PART = Message("“{text}” is about how to take part.")
_NAMED = re.compile(
    r"日時|日程|会期|(?:開催|実施)(?:日|期間|\s?:)|本番|\d日(?:\s?\([^()]{1,8}\))?\s?(?:に|から)?(?:開催|実施)|とき:"
)
"""The day of the event has a name, so that others are told from it."""
_NO_EVENT = (
    (
        re.compile(
            rf"{_DAY_END}(?:以[前後降])?(?:に|から)?(?:[^\d。、]{{0,12}}まで)?に?(?:生まれ|出生|誕生)|生まれ(?!変わ)|生年月日"
        ),
        Message("“{text}” is about a date of birth."),
    ),
    (
        re.compile(
            rf"{_DAY_END}(?:現在|時点|[^。、\d]{{0,10}}にちな[みん]|を?基準日?|付け?で?|付の|以前)|基準日|"
            rf"の日\s?\(\d[^()]{{0,12}}\)(?!は)|{_DAY_END}は[^。、\d]{{1,12}}の日(?:です)?。?\s?$"
        ),
        Message("“{text}” is about a day of reference."),
    ),
    (
        re.compile(
            r"当初[、,は]|時間を[^。]{1,30}に変更|予定(?:でし|だっ|と?して(?:い|おり)(?:まし)?|されて(?:い|"
            r"おり)(?:まし)?)た|originally|ursprünglich|initialement|report du|verschoben vom|moved from|spostat[oa]|"
            r"aplazad[oa]|verplaatst"
            r"|(?<!時は)(?<!場合は)(?<!天)(?:から|より|→|~)(?:(?!雨|荒天|場合)[^。]){0,20}[にへ](?:変更|延期|振替)",
            re.IGNORECASE,
        ),
        _CHANGED,
    ),
    (
        re.compile(
            rf"{_DAY_END}(?:に|から|を|より)?[^。、\d]{{0,12}}(?:施行され|制定|創立|創業|設立|竣工|就任|発足|着工|着手)"
            r"|(?:開[校館店設業園]|オープン)し(?:た|まし)|(?:昭和|大正|明治|平成)[^。]{0,16}日に(?:開[校館店設業園]|オープン|誕生)"
            r"|(?:前回|昨年|去年|一昨年|先日|過去|以前)[はの]|\d年前の(?=\d{1,2}月)|"
            r"(?:(?:開催|実施|(?<!受付を)(?<!申込を)(?<!販売を)(?<!募集を)終了|閉幕|完了|公演|上演|上映)(?:いた)?し|行い|行われ|終わり)まし(?:た|て)"
            r"|(?:開催|実施|上演|上映|公演)され(?:た|まし)|行われた|催された|開かれた|でした"
            r"|(?<![a-zà-ÿ])(?:born|née?|geboren|nacid[oa]|nat[oa]|died|founded|established|gegründet|fondée?|"
            r"fundad[oa]|fondat[oa]|opgericht|opened (?:on|in)|"
            r"wurden?|hat|was opened|a été|fue|è stat[oa]|werd)(?![a-zà-ÿ])|was held|were held|"
            r"took place|fand(?:en)? ",
            re.IGNORECASE,
        ),
        Message("“{text}” is about the past."),
    ),
    (
        re.compile(rf"{_DAY_END}(?:に|付け?)?(?:掲載|更新|公開|投稿|発行)(?!日|[^。]{{0,4}}(?:開始|講座|録))"),
        Message("“{text}” is about when it was published."),
    ),
    (
        re.compile(
            r"(?:は|が|~|から|より|まで|のみ|だけ)[^。\d]{0,30}(?:休[館講業園演止](?!日)|お?休み|閉[館園鎖](?!の?\d|時))|[はが][^。\d]{0,30}休[館園業場]日(?:で(?!は)|と|に(?:な|あた))|通行止め|運休|工事のため|(?:をもって|を最後に|で)[^。\d、]{0,10}(?:終了|閉[館店園校])"
        ),
        Message("“{text}” is about when it is closed."),
    ),
    (re.compile(r"\d日?(?:・\d{1,2}日?)?(?:合併)?号(?![室館車])"), Message("“{text}” is about an edition.")),
    (
        re.compile(r"毎年[^。]{0,20}\d月|例年|every year|each year|jedes Jahr|chaque année", re.IGNORECASE),
        Message("“{text}” is about a day of every year."),
    ),
    (
        re.compile(
            r"いずれか|どちらか|もしくは|(?:\d日|\))\s?(?:又は|または|か)\s?(?=\d)"
            r"|(?<![a-z])(?:or|oder|ou)\s(?=(?:on |am |le )?\d)",
            re.IGNORECASE,
        ),
        Message("“{text}” leaves open on which of the days."),
    ),
    (re.compile(rf"{_DAY_END}(?:前後|頃|ごろ|以降|以後)"), Message("“{text}” names no day that is certain.")),
    (
        re.compile(
            rf"(?:{_DAY_END}|{_HOUR_END})\)?(?:から|より|まで|までに|の?間?に|以降|~)(?:(?!{_HELD})[^。\n\d]){{0,60}}?(?:{_APPLYING})"
            rf"|(?:電話|窓口|申し?込|予約)[^。\n]{{0,20}}{_DAY_END}[^。\n]{{0,12}}受け?付け?開始"
            rf"|^[^\d]{{0,20}}(?:{_APPLYING}|受け?付け?)(?:開始日?|期[間限]|締切日?)\)?\s?(?=\d|令和)(?![^。\n]{{0,99}}(?:{_HELD}))"
            rf"|{_DAY_END}[^。\n]{{0,80}}(?:{_APPLYING})[^。\n]{{0,40}}(?:ください|下さい|願い)"
            rf"|{_DAY_END}(?:から|より)[^。\n]{{1,40}}(?:課|係|館|センター|協会|事務局|窓口|\))\s{{0,2}}へ\s?$"
            rf"|^\s?\((?!(?:参加者?)?募集)[^()]{{0,12}}(?:{_APPLYING}|受け?付)[^()]{{0,6}}\)|{_DAY_END}まで\s?受け?付"
            rf"|{_DAY_END}[^。\n\d]{{0,6}}(?:受け?付け?|申込み?|予約|発売|販売|募集)開始"
            rf"|(?:{_DAY_END}|{_HOUR_END})\)?(?:から|より|まで)[^。\n\d]{{0,12}}受け?付(?![^。\n]{{0,20}}\d)"
            rf"|抽選会は|(?:{_APPLYING}|受け?付け?)(?:日|期[間日限]|開始日?|方法|時期)?(?:は|が|:)\s?(?:[^\d。\n]{{0,6}})\d{{1,4}}[年月日/]"
        ),
        _TAKING_PART,
    ),
    (
        re.compile(
            rf"{_DAY_END}(?:{CLOCK}(?:から|より|~)?)?\s?(?:先行|一般|チケット){{0,2}}"
            r"(?:抽選|発売|申し?込み?|搬[入出]|結果発表|当選発表)(?:開始|受付|日)?\s?$"
        ),
        Message("“{text}” is about a day before or after the event."),
    ),
)
"""What a sentence is about, if it is not about when an event takes place."""
_TAKES_PLACE = re.compile(_HELD)
_TELLS = re.compile(
    rf"{_DAY_END}(?:(?:から|より|まで|の間)[、,にはをがで]?|[にはをがでの])[^。\n]{{0,80}}(?:ま[すし]|ません|下?さい)[たで]?[)。!]?\s?$"
)
"""A sentence that tells what is done on a day."""
_NO_MATTER = re.compile(
    r"要(?:事前)?(?:申し?込み?|予約|電話|整理券)|(?:事前)?(?:申し?込み?|予約|整理券|チケット)は?(?:不要|必要|制|可|優先|なし)|(?:先着順?|(?<!先行)(?<!一般)抽選)(?:\d{1,4}[名人組])?(?=[()\s。、]|$)"
    r"|(?<![a-z])(?:each (?:day|evening|night|date|session)|(?:both|all) days|per day|jeden tag|"
    r"(?:bis )?open[- ]end)(?![a-z])|第\d{1,2}回?[~\-]第?\d{1,2}回|(?<=min )each(?![a-z])",
    re.IGNORECASE,
)
"""Whether one has to apply, without a date."""
_SOLD_OUT = re.compile(
    r"満[席員](?:御礼|となり|になり|のため)|完売(?!次第|の?場合)|売り?切れ(?!次第|の?場合)|定員に達し(?:まし)?た(?:ため|の[でた]|。|$)"
)
_CANCELLED = re.compile(r"中止(?:$|[。)]|し(?!な)|と(?:な|い|し)|に(?:な|い)|いた|の)(?![^。]{0,12}場合)")
_MOVED_TO = re.compile(
    r"^[^。\n]{0,200}?((?:(?:令和|平成)?\s?[\d元]{1,4}年)?(?:\d{1,2}月)?\d{1,2}日(?:\s?\([^()]{1,8}\))?|\d{1,2}/\d{1,2}(?:\([^()]{1,8}\))?)"
    rf"(\s?{CLOCK}(?:\s?(?:から|~|-)\s?{CLOCK})?(?:から)?)?"
    r"\s?[にへ][^。\d]{0,8}(?:延期|順延|変更|振り?替え)(?:し|と|に|いた|。|$)"
)
"""The new day of what was postponed."""
_LATIN_MOVED_TO = re.compile(
    r"(?<![a-zà-ÿ])(?:postponed|moved|rescheduled|verschoben|verlegt|reportée?|déplacée?|aplazad[oa]|trasladad[oa]|rinviat[oa]|spostat[oa]|"
    r"verplaatst|verzet)\b[^.;]{0,60}?\b(?:to|auf(?: den)?|au|al?|naar)\s(?=[^.;]{0,20}\d)"
    r"|\bauf\s(?=[^.\n]{4,60}\d[^.\n]{0,20}\b(?:verschoben|verlegt))",
    re.IGNORECASE,
)
_TIME_MOVED = re.compile(
    rf"(?:(?:(?:開始|開演|開催|実施)?時[間刻]|開[始演])[をが]\s?)?{CLOCK}(?:開[演始会])?(?:から|より|~)"
    rf"({CLOCK}(?:開[演始会])?)[にへ](?:変更|繰)[^。)]{{0,20}}"
)
"""The new time of what begins earlier or later."""
_SIDE_REMARK = re.compile(
    r"(\d[^.(\n]{0,12}[.(\n]\s?)[^\W\d_][^\d.\n()]{3,50}?\s(?:from|ab|dès|vanaf|dalle(?: ore)?|a partir de las|à partir de)\s"
    r"\d{1,2}(?:[:.]\d\d)?\s?(?:[ap]\.?m|uhr|uur|h(?:\d\d)?|heures)?(?=\s?[.)\n]|\s?$)",
    re.IGNORECASE,
)
_OWN_START = re.compile("doors|einlass|entry|open|start|begin", re.IGNORECASE)
"""Hours with such a name are those of the event."""
_LATIN_TIME = re.compile(r"\d{1,2}:\d\d|\d{1,2}(?:[.:]\d\d)?\s?(?:[ap]m|uhr|uur|h(?:\d\d)?)(?![a-z])", re.IGNORECASE)
_SAME_TIME = re.compile(
    r"(?:at )?(?:the )?same time|(?:zur )?gleichen? (?:zeit|uhrzeit)|(?:à la )?même heure|(?:a la )?misma hora|"
    r"stess[oa] orari?o?|zelfde tijd",
    re.IGNORECASE,
)
_OTHER_CHANGE = re.compile(
    "(?:締め?切り?|期限|期間|会場|場所|講師|料金|定員|(?:申し?込み?|受け?付け?|発売|予約)(?:開始)?日?)[をはが]"
)
"""Not the day of the event was changed."""
_CONDITION = re.compile("場合|雨天|荒天|悪天|小雨|降雨|中止時|なら")
_OTHER_THING = re.compile(r"\s?(?P<subject>[^\d。、,:は]{2,16})は[^。\d]{0,8}\d{1,2}(?:時|:\d\d)(?![^。]{0,40}\d日)")
"""A remark about the hours of something else: "※交通規制は午後3時から"."""
_OWN_HOURS = re.compile(
    "時[間刻]|開[演会始場催館園映]|終[了演]|受け?付|入[場館園]|集合|解散|本番|上映|公演|各回|回目|両日|当日|毎日|曜|平日|初日|最終|午[前後]|の部|打ち?上|[のる]回|講演|講座|コンサート|ライブ|ステージ|ショー"
)
_SENTENCE = re.compile(r"[^。\n※]{0,400}(?:。|\n|※|$)")
_MOVED = re.compile(
    r"延期|順延(?!な)|変更(?!の?場合)|繰り?[上下]げ|振り?替え?(?!休)|→|postponed|rescheduled|moved (?:to|from)|verschoben|"
    "reporté",
    re.IGNORECASE,
)
_UNREAD = re.compile(
    r"\d{1,2}月(?!号|分|齢|の)|\d{1,2}日(?![間目制分以程前後本数])|\d{1,2}時(?!間)|\d{1,2}:\d\d|[月火水木金土日]曜|平日|"
    r"(?:^|\s)[.・]\d{1,2}(?!\d)|毎[週月日](?!新聞)|隔[週月]|第\d[月火水木金土日週]|除[くき]|のうち|\d{1,2}/\d{1,2}(?![\d名人]|程度)|初日|最終日|\d日目|(?:開[館園場催]|営業|実施|活動)日\s?[:は/]?\s?(?=[月火水木金土日平])|"
    r"(?<![a-zà-ÿ])(?:except|excluding|other than|außer|ausgenommen|sauf|excepté|every|each|jeden?|jede[mrns]|chaque|"
    r"tou(?:s|tes) les|alternate|fortnightly|täglich|wöchentlich|monatlich)(?![a-zà-ÿ])",
    re.IGNORECASE,
)
"""What must not be left over."""
_JAPANESE = re.compile("[぀-ヿ一-龠]")
_LATIN_NUMBERS = re.compile(
    r"\b[A-Z]\d{2,5}\b|(?<![a-z])(?:ab|from|dès|da|children|kinder)\s\d{1,2}(?=\s?(?:jahren?|years|ans|anni|:|\)))|"
    r"\d{1,2}\s?-\s?(?=\d{1,2}\s?(?:ans|jahren?|years?|yrs|anni|años|jaar))|[€$£]\s?\d{1,6}(?:[.,]\d{1,2})?|\d{1,6}(?:[.,]\d{1,2}|,-)?\s?(?:€|eur|euros?|£|\$|usd|gbp|chf|%|km|m(?![a-z])|people|persons?|personen|places|seats|plazas|"
    r"posti|plaatsen|years?|yrs|ans|jahren?|años|anni|jaar|min(?:utes|uten|utos|uti)?|hours?|stunden?|weeks?|sessions?|times)(?![a-z])|"
    r"(?:room|raum|saal|salle|sala|zaal|hall|stage|no\.?|nr\.?|n°|level|floor|ages?(?: \d{1,2}\s?-)?|aged|grades?|"
    r"class|vol\.?|part|teil|#|gate|platform|track|route|u)\s?\d{1,4}[a-z]?(?![\d:.])|"
    r"\d{1,4}(?:st|nd|rd|th|e|ème|\.)\s(?=[A-Za-z])|(?:\+|(?<!\d)0)\d[\d\s/\-]{5,14}",
    re.IGNORECASE,
)
"""Numbers that are no dates and no times: prices, ages, editions, telephones."""
_LATIN_UNREAD = re.compile(
    r"\d{1,4}|(?<![a-zà-ÿ])(?:two|three|four|five|six|seven|eight|nine|ten|twelve) (?:weeks|sessions|days|times)|"
    r"(?<![a-zà-ÿ])(?:mon|tues?|wed|thurs?|fri|sat|sun)(?![a-zà-ÿ])|"
    r"(?<![a-zà-ÿ])(?:not on|hors|nicht (?:am|in|an)|geschlossen|closed|fermé|cerrado|chiuso|gesloten|cancelled if|"
    r"if wet|alternate|fortnight(?:ly)?|"
    r"biweekly|bi-weekly|14-tägig|quinzaine|zweiwöchig|(?:every|alle|jede) \w+ (?:weeks?|wochen)|halb (?:\w{3,9})|"
    r"half (?:een|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf)|"
    r"half past|sur deux|jede[nr]? zweite[nr]?|alle zwei|ogni due|om de|quincenal|weekends?|weekdays?|quarter (?:to|"
    r"past)|viertel|kwart|term.?time|school holidays?|schulferien)(?![a-zà-ÿ])",
    re.IGNORECASE,
)
"""What must not be left over of a text in Latin letters."""
_OFFICE_HOURS = re.compile(r"(?<=電話)[^。、,\d()]{0,6}\([^()]{1,60}\)|(?<=[直窓][接口])[^。、,\d()]{0,6}\([^()]{1,60}\)")
"""When the office can be called or visited."""
_BESIDE = re.compile(
    r"(?:時|分|半|:\d\d|正午)を?除|休憩|\((?:was|instead of|previously|originally|statt|anstatt|ursprünglich|"
    r"initialement|au lieu)|rain|regen|pluie|lluvia|pioggia|祝日?の場合|休日の場合|月曜日の場合|翌平?日|通常は|"
    r"電話|窓口|問い?合わ?せ|要予約|入替|postponed|rescheduled",
    re.IGNORECASE,
)
_APPLICATION = re.compile(
    rf"(?<=[\d時分半)名円人])[、,\s]{{1,2}}(?:お?申し?込み?|予約|受付|応募)(?:方法|期間|開始|締切|期限)?[:は/\s]{{0,2}}"
    rf"(?=[^。\n\d]{{0,8}}\d{{1,2}}[月/日])[^。\n]{{0,80}}"
    rf"|(?<=[^\n。])\((?:{_APPLYING}|受け?付)[^()\d]{{0,6}}\)\s?(?=\d|令和)[^。\n]{{0,60}}|((?:{_APPLYING})[^()\d。]{{0,6}})\([^()\d]{{0,6}}\d[^()]{{0,40}}\)"
)
"""When one can apply, behind the date of the event."""
_DURATION = re.compile(
    r"(?:約|およそ|各[回枠]?|1(?:回|枠|コマ|組)(?:あたり)?|一人|所要時間:?|上映時間:?|公演時間:?は?)[約\s]{0,2}\d{1,3}(?:時間(?:半|\d{1,2}分)?|分(?!前))(?:間|程度|ほど)?"
    r"|\(\s?\d{1,3}(?:時間(?:半|\d{1,2}分)?|分(?!前))(?:間|程度|ほど)?\s?\)"
    r"|(?<![a-z])(?:duration|durée|dauer|duración|durata|duur):?\s(?:ca?\.\s)?\d{1,3}\s?(?:h\s?\d{0,2}|min(?:utes|uten|utos)?|hours?|stunden?|heures?|uur|ore|['′])",
    re.IGNORECASE,
)
"""How long it takes."""
_INNER = re.compile(rf"((?:~|-|から)\s?{CLOCK}(?:まで)?\s?)\(([^()\d]{{2,16}}?)\s?(?:午前|午後)?\d{{1,2}}(?:時|:)[^()]{{0,24}}\)")
_HAS_LABEL = re.compile(
    "受け?付|集合|開場|開演|開始|終了|入場|入館|入園|最終|のみ|だけ|[はが日]$|除|休|雨|翌|まで|open|door|start|entry",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[「『][^「」『』\d曜毎]{1,80}[」』]")
"""A title, in which "今日" is no day."""
_PARENTHESIS = re.compile(r"\([^()]{1,100}\)")
_DAY = r"(?:(?:令和|平成)?\s?[\d元]{1,4}年)?\s?(?:\d{1,2}月)?\d{1,2}日(?:\([^()]{1,8}\))?"
_CLOSED_PERIOD = re.compile(rf"{_DAY}\s?(?:から|~|-)\s?{_DAY}(?:まで)?[はが][^。\d()]{{0,6}}(?:休[館園業講演止]|お?休み|閉館)")
_SPARE_DAY = re.compile(rf"{_DAY}\s?(?:[はが]\s?(?:雨天|荒天|悪天候)?時?の?予備日|\((?:雨天)?予備日\))")
_TIMES = re.compile(r"(?:全|計)\s?(\d{1,3})\s?回|(?<![\d第])(\d{1,3})回(?:シリーズ|連続|コース)")
_JOINING = re.compile(
    r"(?:[\s:;,.、。・/()\[\]「」*※!…?■□●○◆◇★☆▼▲|&+]|[のはにもでとがや]|第?\d{1,2}[部回期]目?|\d{1,2}回目|[午昼夜朝夕][前後]?の?(?:部|回|コース|クラス|枠)|[A-Z]\s?(?:コース|クラス|グループ|班|組)|[午昼夜朝]前?後?公演|"
    r"各[日回]?|両日|いずれも|ともに?|すべて|全て|同じく|さらに|続けて|時間帯?|時刻|会期|期間|前期|後期|前半|後半|展示|予定|約|です|より|公演|上映|本番|"
    r"(?<![a-zà-ÿ])(?:on|at|from|the|of|and|between|am|um|von|vom|zum|ab|der|den|dem|die|das|le|la|les|l|du|de|des|da|dal|del|al|alle|ore|el|los|las|il|"
    r"van|vanaf|dès|desde|à partir|partir|tot|om|op|o'clock|hrs?|time|date|uhr|uur|each|both|day|days|local|jeweils|"
    r"sowie|and then|again|heures?|à)"
    r"(?![a-zà-ÿ])){0,60}",
    re.IGNORECASE,
)
"""Words and signs between two dates or times that change neither."""
_WORDS_ASIDE = re.compile(r"\([^()\d]{1,12}\)")
_NUMBERED = re.compile(r"第\s?\d{1,2}\s?回(?:目)?[はの:\s]{0,3}$|^\)\s?\n[^\n()]{1,60}\($")
"""What ends the title of one date and names the next: its number, or a line of its own with the date in parentheses."""
_TITLE = re.compile(r"[^はがをにへ。\n]{1,200}$|[^。\n]{1,200}[(\-:]\s?$")
"""Words before a day that tell nothing, or whose day is set apart from them."""
_LONGEST_TITLE = 80
_LONGEST_HEADING = 40
_NO_HEADING = re.compile(
    rf"[はをがへ。]|に(?!て)|{_APPLYING}|休|雨|天|予備|中止|延期|前日|当日|ただし|または|又は|(?<![a-zà-ÿ])(?:or|rain|until|by|from|is|are|was|will|"
    r"registration|deadline|tickets?|on sale|applications?|submissions?|closes|set-?up|anmeld[a-z]{1,12}|"
    r"bewerbung(?:en)?|vorverkauf|aufbau|inscriptions?|oder|ist|sind|wird|am|ou|est|sont|sera|era|è|sono|sarà|es|son|será|is|zijn|wordt)(?![a-zà-ÿ])",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:[一-龠ァ-ヶー]{2,8}|[A-Za-zà-ÿ][A-Za-zà-ÿ ]{2,24})\s?:?\s?$")
"""What follows the reception: "受付12:30~ 式典13:00~"."""
_NUMBER = re.compile(r"\d")
_CLOCK = re.compile(r"\d時|\d:\d\d")
_PERIOD = re.compile(rf"{_DAY_END}(?:から|~|-)[^。\n]{{0,20}}{_DAY_END}(?:まで)?")
_ENUMERATED = re.compile(r"\d\s?回目|第\s?\d{1,2}\s?[回部期]|の部|[A-Z]\s?(?:コース|クラス|グループ|班|組)")
_LONGEST_NAME = 12
_PLACE = re.compile(r"\s?[一-龠ァ-ヶー]{1,10}(?:前|口|室|館|場|駅|所)に?\s?")
"""Where people meet, between the time and its name: "8:30市役所前集合"."""
_WHAT_BEGINS = re.compile("[一-龠ァ-ヶーげりち]{1,6}")
_BEGINNINGS = frozenset({"開始", "スタート", "終了", "終了予定"})
"""What begins or ends, between the time and its name: "19:30打上げ開始"."""
_LABELS = frozenset({DateMark.START, DateMark.END, DateMark.DOORS, DateMark.ENTRY})
_MOST_BEFORE = 24
"""Characters before the day: in a longer sentence it is not clear what the day is about."""
_MORE_DATES = re.compile(rf"{_DAY_END}(?:から)?(?:ほか|他|など|等(?![々級])|以外にも|and more|u\.\s?a\.)")
_LONGEST_GAP = 183
"""Days between two dates of a list: more is hardly one list."""


def without_asides(plain: str) -> str:
    """A prepared text without the parentheses and the closed days that say nothing of when it takes place."""
    plain = _INNER.sub(_without_part, _DURATION.sub(" ", _QUOTED.sub(" ", plain)))
    plain = _APPLICATION.sub(lambda found: found[1] or " ", plain)
    plain = _OFFICE_HOURS.sub(" ", _SPARE_DAY.sub(" ", _CLOSED_PERIOD.sub(" ", _NO_MATTER.sub(" ", plain))))
    return _PARENTHESIS.sub(lambda found: " " if _BESIDE.search(found[0]) or _is_other(found[0]) else found[0], plain)


def _is_other(aside: str) -> bool:
    """Whether a parenthesis has a date of something else."""
    return _NUMBER.search(aside) is not None and _subject(aside[1:-1]) == _TAKING_PART


def _without_part(found: re.Match[str]) -> str:
    """A part of the event that has a name and hours within its own: "16時~21時(花火 19時半~)"."""
    return found[0] if _JOINING.fullmatch(found[2]) or _HAS_LABEL.search(found[2]) else found[1]


def of_the_event(plain: str) -> str:
    """The sentences of a prepared text that are about when an event takes place; raises `NotADate` if none of them has a date."""
    kept: list[str] = []
    reason: Message | None = None
    for sentence in _sentences(_TIME_MOVED.sub(r"\1", _with_new_day(plain))):
        if kept and _is_of_something_else(sentence, kept):
            continue
        if (moved := _MOVED_TO.match(sentence)) and not _CONDITION.search(sentence):
            if _OTHER_CHANGE.search(sentence):
                raise NotADate(_CHANGED.template, text=" ".join(plain.split())[:80])
            kept.append(_with_month(moved[1], sentence[: moved.start(1)]) + (moved[2] or "") + sentence[moved.end() :])
            continue
        subject = _subject(sentence) if _NUMBER.search(sentence) else None
        if subject == _CHANGED:
            break
        reason = reason or subject
        kept.append("\n" if subject else sentence)
    else:
        subject = None
    text = "" if subject else "".join(kept)
    reason = subject or reason
    if reason and not _NUMBER.search(text):
        raise NotADate(reason.template, text=" ".join(plain.split())[:80])
    return text


def _is_of_something_else(remark: str, before: list[str]) -> bool:
    found = _OTHER_THING.match(remark)
    is_remark = before[-1].endswith(("※", "。", "\n")) and _CLOCK.search("".join(before)) is not None
    return is_remark and found is not None and not _OWN_HOURS.search(found["subject"])


def _with_month(day: str, before: str) -> str:
    """A day without a month in the month of the one before it."""
    months = re.findall(r"(\d{1,2})月", before)
    return f"{months[-1]}月{day}" if months and re.match(r"\d{1,2}日", day) else day


def _with_new_day(plain: str) -> str:
    """A text in Latin letters without the words, and the old day, before a new one: "moved from 3 to 10 May"."""
    moved = _LATIN_MOVED_TO.search(plain)
    if moved is None:
        return plain
    begin = max(plain.rfind(sign, 0, moved.start()) for sign in (". ", "\n")) + 1
    clocks = _LATIN_TIME.findall(plain[begin : moved.start()]) if _SAME_TIME.search(plain, moved.end()) else []
    return f"{plain[:begin]} {_SAME_TIME.sub(' '.join(clocks[:1]), plain[moved.end() :], count=1)}"


def without_side_remarks(plain: str) -> str:
    """A text in Latin letters without the hours of what goes with an event: "Mulled wine from 5pm." after its date and time."""
    return _SIDE_REMARK.sub(lambda found: found[1] if _is_aside(found) else found[0], plain)


def _is_aside(remark: re.Match[str]) -> bool:
    has_time = _LATIN_TIME.search(remark.string, 0, remark.end(1)) is not None
    return has_time and not _OWN_START.search(remark[0], len(remark[1]))


def _sentences(plain: str) -> list[str]:
    """The sentences and lines of a text; a short line without a number names the one that follows."""
    found, held = [], ""
    for match in _SENTENCE.finditer(plain):
        held += match[0]
        if len(held) > _LONGEST_NAME or _NUMBER.search(held):
            found.append(held)
            held = ""
    return [*found, held]


def _subject(sentence: str) -> Message | None:
    """What a sentence with a date is about, if not about when an event takes place."""
    if _SOLD_OUT.search(sentence):
        return None
    for pattern, subject in _NO_EVENT:
        if (
            pattern.search(sentence)
            and not (subject == _TAKING_PART and _NAMED.search(sentence))
            and not (subject == _CHANGED and _CANCELLED.search(sentence))
        ):
            return subject
    is_event = _TAKES_PLACE.search(sentence) or _CANCELLED.search(sentence) or _CLOCK.search(sentence) or _PERIOD.search(sentence)
    tells = _TELLS.search(sentence) and not is_event
    return Message("“{text}” does not say that something takes place.") if tells else None


def unread_words(plain: str, places: Places) -> str:
    """The words of a prepared text that have no place in what is read from it; empty if there are none.

    They look like dates or times and are in no token, they are the weekdays of no day, they stand between two dates or times
    that they may keep apart, or there are too many of them before the first day (a word like "日時" names the day that follows).
    """
    parts: list[str] = []
    position, before, stray, headings = 0, -1, "", ""
    between, last, label = "", None, None
    is_aside, was_entry, opened = False, False, ""
    for (tokens, start, end), following in zip_longest(places, places[1:]):
        words, token = plain[position:start], tokens[0]
        parts.append(words)
        between += words
        position = end
        if isinstance(token, DayToken | TimeToken):
            if before < 0 and isinstance(token, DayToken):
                before = len("".join(parts))
            if last is not None and not is_aside and (isinstance(last, TimeToken) or isinstance(token, DayToken)):
                is_named = was_entry and isinstance(token, TimeToken)
                unknown = _unknown(_NAME.sub("", between) if is_named else between)
                if isinstance(token, DayToken) and _is_heading(between, last):
                    headings = headings or unknown
                elif not (isinstance(token, TimeToken) and following and _names_entry(following[0][0])):
                    stray = stray or unknown
            if is_aside:
                last, between, is_aside, label = None, "", False, None
                continue
            if isinstance(token, TimeToken):
                stray = stray or opened
            was_entry = isinstance(token, TimeToken) and label in {DateMark.DOORS, DateMark.ENTRY}
            between, last, label, opened = "", tokens[-1], None, ""
        elif isinstance(token, MarkToken):
            if token.mark is DateMark.RANGE and isinstance(last, DayToken) and words.strip():
                opened = _unknown(between)  # "日没後~21時": the time is an end
            between = "" if token.mark in _LABELS else between + (token.text if token.mark is DateMark.STOP else " ")
            if token.mark is DateMark.START and before < 0:
                before = 0
            label = token.mark if token.mark in _LABELS else label
            is_aside = is_aside or token.mark in {DateMark.DEADLINE, DateMark.ASIDE}
    rest = " ".join([*parts, plain[position:]])
    if found := _UNREAD.search(rest) or (
        _LATIN_UNREAD.search(_LATIN_NUMBERS.sub(" ", rest)) if not _JAPANESE.search(plain) else None
    ):
        return found[0].strip()
    if before > (_LONGEST_TITLE if _TITLE.match(rest[:before]) else _MOST_BEFORE):
        return plain[:_MOST_BEFORE].strip()
    found_tokens = [token for tokens, _, _ in places for token in tokens]
    left = place_weekdays(found_tokens)[1]
    if headings and not _are_parallel(found_tokens):
        stray = stray or headings
    return left[0].text if left else stray


def _is_heading(words: str, before: Token) -> bool:
    """Whether words before a day may be the name of what takes place then: "7月6日 19時~ 東公民館 西地区 7月9日 19時~"."""
    is_apart = isinstance(before, TimeToken) or "\n" in words
    return is_apart and len(words) <= _LONGEST_HEADING and not _NO_HEADING.search(words)


def _are_parallel(tokens: list[Token]) -> bool:
    """Whether each day has hours of its own, or none has."""
    kinds = "".join("d" if isinstance(token, DayToken) else "t" for token in tokens if isinstance(token, DayToken | TimeToken))
    return re.fullmatch("(?:d{1,2}t{1,4}){2,40}", kinds) is not None or re.fullmatch("d{2,40}t{0,2}", kinds) is not None


def _names_entry(token: Token) -> bool:
    """Whether a time before it is that of a meeting or of the admission: "管理棟前に8時50分集合"."""
    return isinstance(token, MarkToken) and token.mark in {DateMark.DOORS, DateMark.ENTRY}


def tokens_of(plain: str, places: Places) -> list[Token]:
    """The tokens of a prepared text, with a sign that ends a range, or the name of a time, where other words stand in between."""
    found: list[Token] = []
    position = 0
    for tokens, start, end in places:
        last = found[-1] if found else None
        is_sign = isinstance(last, MarkToken) and (last.mark is DateMark.RANGE or last.text == "(")
        is_open = isinstance(last, TimeToken) or is_sign
        words = plain[position:start]
        is_label = isinstance(tokens[0], MarkToken) and tokens[0].mark in _LABELS
        is_place = is_label and (_PLACE.fullmatch(words) or (_WHAT_BEGINS.fullmatch(words) and tokens[0].text in _BEGINNINGS))
        if is_open and words and not is_place and (_unknown(words) or (is_sign and _ENUMERATED.search(words))):
            found.append(MarkToken(words, DateMark.LIST))
        found += tokens
        position = end
    return found


def _unknown(words: str) -> str:
    """The words between two dates or times that are not known to join them."""
    return (
        ""
        if _JOINING.fullmatch(_WORDS_ASIDE.sub(" ", words)) or _NUMBERED.search(words)
        else " ".join(words.split())[:_MOST_BEFORE]
    )


def account(shown: str, plain: str, unread: str, dates: list[tuple[date, date | None]]) -> None:
    """Raise `NotADate` if a prepared text is not about when an event takes place, or if that is not all that it says."""
    if unread:
        raise NotADate("“{text}” says more than could be read: “{words}” has no place in it.", text=shown, words=unread)
    if len(dates) > 1 and _MOVED.search(plain):
        raise NotADate("“{text}” says that a date was changed, and names more than one.", text=shown)
    earlier = {first for first, last in dates[:1] if last is None}
    for (one, last), (other, other_last) in pairwise(dates):
        is_twice = one == other and (last is None) != (other_last is None)
        if other in earlier and other_last is None:
            continue  # a day of the list, to say more of it
        earlier.add(other)
        if other < one or is_twice or (other - (last or one)).days > _LONGEST_GAP:
            raise NotADate("“{text}” names dates of different things: they are out of order, or too far apart.", text=shown)


def check_complete(shown: str, plain: str, rule: RecurrencePhrase | None, days: set[date]) -> None:
    """Raise `NotADate` if a prepared text says more of its dates than these days."""
    counted = _TIMES.search(plain)
    if counted and (count := int(counted[1] or counted[2])) != len(days):
        raise NotADate("“{text}” says {count} times, and {found} could be read.", text=shown, count=count, found=len(days))
    if _MORE_DATES.search(plain):
        raise NotADate("“{text}” says that there are more dates than those that are written.", text=shown)
    if rule is not None and len(days) == 1:
        raise NotADate("“{text}” has only one date of {rule} that could be read.", text=shown, rule=rule.text)
