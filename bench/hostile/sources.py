"""Hostile calendars (ICS), tables (CSV), answers of APIs (JSON) and Markdown."""

from __future__ import annotations

import json
from random import Random

from bench.hostile.html import QUALITY, hostile_text
from bench.hostile.pieces import Families, damaged_examples, encoded, fill, nested, numbered, run

CALENDAR = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n%s\r\nEND:VCALENDAR\r\n"
EVENT = (
    "BEGIN:VEVENT\r\nUID:{n}\r\nDTSTART:20260501T100000Z\r\nDTEND:20260501T110000Z\r\nSUMMARY:Concert {n}\r\nLOCATION:Hall\r\n"
    "END:VEVENT\r\n"
)
ZONE = (
    "BEGIN:VTIMEZONE\r\nTZID:Z{n}\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0900\r\nTZOFFSETTO:+0900\r\n"
    "RRULE:FREQ=SECONDLY\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n"
)
STAMPS = (
    "20260501T100000Z 20260501 00010101 99991231T235959Z 99991231 20260230 2026 ²0260501 00000000T000000 20260501T250000".split()
)
FREQUENCIES = "SECONDLY MINUTELY HOURLY DAILY WEEKLY MONTHLY YEARLY X".split()
RULES = (
    "COUNT=1 COUNT=99999999999999999999 COUNT=0 COUNT=² INTERVAL=1 INTERVAL=999999999 INTERVAL=0 UNTIL=99991231T235959Z "
    "UNTIL=00010101 BYMONTH=2 BYMONTHDAY=30 BYMONTHDAY=-31,31 BYYEARDAY=366,-366 BYWEEKNO=53,-53 BYDAY=-53MO,53SU,MO BYDAY=5FR "
    "BYSETPOS=-366 BYSETPOS=1 BYHOUR=0,23 BYMINUTE=59 BYSECOND=60 WKST=SU RSCALE=HEBREW SKIP=FORWARD BYMONTH=13 BYDAY= UNTIL="
).split()
EVENT_PROPERTIES = (
    "SUMMARY DESCRIPTION LOCATION DTSTART DTEND DURATION RRULE EXDATE RDATE UID URL CATEGORIES GEO SEQUENCE STATUS X-ALT-DESC "
    "ORGANIZER TZID"
).split()


def event(*lines: str, uid: str = "1") -> str:
    return "\r\n".join(("BEGIN:VEVENT", f"UID:{uid}", "SUMMARY:Concert", *lines, "END:VEVENT"))


def _rule(rng: Random, size: int) -> str:
    parts = ";".join((f"FREQ={rng.choice(FREQUENCIES)}", *rng.sample(RULES, rng.randint(0, 6))))
    start = rng.choice(STAMPS)
    more = [f"{rng.choice(('RRULE', 'EXRULE', 'RRULE'))}:{parts}"] * rng.choice((1, 1, 50))
    events = [event(f"DTSTART:{start}", *more, uid=str(number)) for number in range(rng.choice((1, 1, 30, 2000)))]
    return CALENDAR % "\r\n".join(events)


def _long_rule(rng: Random, size: int) -> str:
    name, most = rng.choice(
        (("BYSECOND", 60), ("BYMINUTE", 60), ("BYYEARDAY", 366), ("BYSETPOS", 366), ("BYMONTHDAY", 31), ("BYDAY", 7))
    )
    days = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
    values = ",".join(days[n % 7] if name == "BYDAY" else str(n % most) for n in range(max(1, size // 4)))
    return CALENDAR % event(
        "DTSTART:20260501T100000Z", f"RRULE:FREQ={rng.choice(FREQUENCIES)};{name}={values};BYHOUR={','.join(map(str, range(24)))}"
    )


def _dates(rng: Random, size: int) -> str:
    name = rng.choice(("EXDATE", "RDATE", "RDATE;VALUE=PERIOD", "EXDATE;TZID=Nowhere", "EXDATE;VALUE=DATE"))
    stamps = [
        f"{2000 + n % 8000:04}{n % 12 + 1:02}{n % 28 + 1:02}T{n % 24:02}0000{'/PT1H' if 'PERIOD' in name else ''}"
        for n in range(max(1, size // 20))
    ]
    lines = [f"{name}:{','.join(stamps)}"] if rng.random() < 0.5 else [f"{name}:{one}" for one in stamps]
    return CALENDAR % event("DTSTART:20000101T000000", *rng.choice(([], ["RRULE:FREQ=HOURLY"], ["RRULE:FREQ=DAILY"])), *lines)


def _overrides(rng: Random, size: int) -> str:
    future = rng.choice(("", ";RANGE=THISANDFUTURE"))
    count = min(max(1, size // 120), rng.choice((100, 20_000)))
    moved = [
        event(
            f"RECURRENCE-ID{future}:{2026 + n // 336}{n // 28 % 12 + 1:02}{n % 28 + 1:02}T100000Z",
            f"DTSTART:{2026 + n // 336}{n // 28 % 12 + 1:02}{n % 28 + 1:02}T{n % 24:02}0000Z",
        )
        for n in range(count)
    ]
    return CALENDAR % "\r\n".join((event("DTSTART:20260101T100000Z", f"RRULE:FREQ={rng.choice(FREQUENCIES)}"), *moved))


def _zones(rng: Random, size: int) -> str:
    zones = numbered(rng.choice((ZONE, ZONE.replace("RRULE:FREQ=SECONDLY\r\n", ""), ZONE.replace("Z{n}", "Z"))), size // 2)
    changes = numbered(
        "BEGIN:DAYLIGHT\r\nDTSTART:20{n}0101T000000\r\nTZOFFSETFROM:+9999\r\nTZOFFSETTO:-235959\r\nEND:DAYLIGHT\r\n", size // 2
    )
    drawn = f"BEGIN:VTIMEZONE\r\nTZID:Z\r\n{changes}END:VTIMEZONE\r\n"
    events = numbered(event("DTSTART;TZID=Z{n}:20260501T100000", "RRULE:FREQ=DAILY", uid="{n}") + "\r\n", min(size // 4, 200_000))
    return CALENDAR % (rng.choice((zones, drawn)) + events)


def _property(rng: Random, size: int) -> str:
    name, value = rng.choice(EVENT_PROPERTIES), run(rng, size)
    if rng.random() < 0.3:
        text = hostile_text(rng, size)
        value = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    line = rng.choice(
        (f"{name}:{value}", f"{name};{value}:x", f'{name};TZID="{value}":20260501T100000', f"{name};A={value}", f"{name}{value}")
    )
    if rng.random() < 0.4:
        line = "\r\n ".join(line[at : at + 1] for at in range(min(len(line), size // 4)))
    return CALENDAR % event("DTSTART:20260501T100000Z", line)


def _lines(rng: Random, size: int) -> str:
    pieces = (
        "\r\n ", "\r\n", "\n\t", "X:{n}\r\n", "BEGIN:VEVENT\r\n", "BEGIN:X{n}\r\n", "END:VEVENT\r\n",
        "BEGIN:VALARM\r\nEND:VALARM\r\n", EVENT, ";", ":", '"', ",", "\\",
        "BEGIN:VEVENT\r\nEND:VEVENT\r\n", "BEGIN:VEVENT\r\nSUMMARY:{n}\r\nDTSTART;VALUE=DATE:20260501\r\nEND:VEVENT\r\n",
        "A;B=C;D=\"E\":F\r\n", "ATTENDEE:mailto:{n}\r\n",
        EVENT.replace("{n}", "1"),
    )  # fmt: skip
    return CALENDAR % numbered(rng.choice(pieces), size)


CALENDARS: Families = {
    "rule": _rule,
    "long rule": _long_rule,
    "dates": _dates,
    "overrides": _overrides,
    "zones": _zones,
    "property": _property,
    "lines": _lines,
    "durations": lambda rng, size: (
        CALENDAR
        % event(
            "DTSTART:20260501T100000Z",
            f"DURATION:{rng.choice(('P', 'PT', '-P', 'P1W'))}{'9' * min(size, 5000)}{rng.choice('DHMSW')}",
            "RRULE:FREQ=DAILY",
        )
    ),
    "run of characters": lambda rng, size: CALENDAR % run(rng, size),
    "damaged example": damaged_examples(
        [
            encoded(
                CALENDAR
                % (
                    ZONE
                    + numbered(EVENT, 2000)
                    + event("DTSTART;TZID=Z{n}:20260501T100000", "RRULE:FREQ=WEEKLY;BYDAY=FR", "EXDATE:20260508T100000")
                )
            )
        ]
    ),
}

TABLE = "イベント名,開始日,終了日,開始時間,説明,場所名称,住所,URL\n"
ROW = "祭り{n},2026/05/01,2026/05/03,10:00,どなたでも,広場,盛岡市1-2,https://town.example/{n}\n"


def _rows(rng: Random, size: int) -> str:
    pieces = (
        ROW, "x\n", "\n", ",", ",\n", '"', '""', '"a\n', 'a"b,', "\x00", "\r", "\t", ";", "|", "a{n},", "=cmd|x,\n",
        "祭り{n},2026年5月{n}日(土)・{n}日,,,,,,\n", "名称,開始日\n",
        "祭り{n},毎週月・水曜日 10:00~12:00(祝日を除く),令和8年{n}月,,,,,\n",
        "a,2026-05-01,9999-12-31,{n}時,,,,\n", '"a""b","c\r\nd",\r\n',
    )  # fmt: skip
    return rng.choice((TABLE, TABLE, "", "name,start\n")) + numbered(rng.choice(pieces), size)


def _columns(rng: Random, size: int) -> str:
    header = numbered(rng.choice(("c{n},", "開始日,", "イベント名,", ",")), min(size // 2, rng.choice((80_000, size))))
    return f"イベント名,開始日,{header}\n" + fill(f"祭り,2026-05-01{',x' * rng.choice((3, 10_000))}\n", size // 2)


def _cell(rng: Random, size: int) -> str:
    cells = ["祭り", "2026/05/01", "", "10:00", "x", "広場", "盛岡市", "https://town.example/"]
    cells[rng.randrange(len(cells))] = run(rng, size).replace('"', '""')
    return TABLE + ",".join(f'"{cell}"' for cell in cells) + "\n"


def _table_encoding(rng: Random, size: int) -> bytes:
    text = TABLE + numbered(ROW, size // 3)
    return b"".join(
        text[at : at + 5000].encode(rng.choice(("utf-8", "cp932", "utf-16", "euc-jp", "iso2022_jp")), "replace")
        for at in range(0, len(text), 5000)
    )


TABLES: Families = {
    "rows": _rows,
    "columns": _columns,
    "cell": _cell,
    "encoding": _table_encoding,
    "run of characters": run,
    "run after a header": lambda rng, size: TABLE + run(rng, size),
    "damaged example": damaged_examples([path.read_bytes() for path in sorted(QUALITY.glob("event_sources/*.csv"))]),
}

RECORD = {"id": 1, "title": "Concert", "start": "2026-05-01T10:00:00Z", "url": "https://town.example/", "place": {"name": "Hall"}}


def _values(rng: Random, size: int) -> str:
    odd = (
        "NaN",
        "-Infinity",
        "1e999",
        "-1e-999",
        "9" * min(size, 1_000_000),
        '"\\ud800"',
        '"' + "x" * size + '"',
        nested("[", "]", min(size, 900)),
        "null",
        "true",
        "{}",
        json.dumps(run(rng, size)),
    )
    record = json.dumps(RECORD | {rng.choice(("title", "start", "url", "place", "id")): "@"}).replace('"@"', rng.choice(odd))
    return '{"events":[' + ",".join([record] * max(1, min(1000, size // len(record)))) + "]}"


APIS: Families = {
    "values": _values,
    "records": lambda rng, size: '{"events":[' + fill(json.dumps(RECORD) + ",", size) + "{}]}",
    "nested": lambda rng, size: (
        '{"events":' + nested(*rng.choice((("[", "]"), ('{"a":', "}"), ("[[{},", "]]"), ("[", ""))), size, "1") + "}"
    ),
    "nested in an event": lambda rng, size: (
        '{"events":[{"title":' + nested("[", "]", min(size, 5000), "1") + ',"start":"2026-05-01"}]}'
    ),
    "keys": lambda rng, size: '{"events":[{' + numbered(rng.choice(('"a{n}":1,', '"title":"{n}",')), size) + '"title":"x"}]}',
    "numbers": lambda rng, size: (
        '{"events":[' + numbered(rng.choice(("{n},", "1e{n},", "-0.{n},", '"{n}",', "[],", "null,")), size) + "1]}"
    ),
    "API description": lambda rng, size: (
        '{"openapi":"3.0.0","info":{"title":"x"},"paths":{' + numbered('"/p{n}":{},', size) + '"/x":{}}}'
    ),
    "run of characters": lambda rng, size: rng.choice(("{", "[", '"', '{"a":"')) + run(rng, size),
    "chat answer": lambda rng, size: json.dumps(
        {"choices": [{"message": {"content": rng.choice(("<think>", "```", "```json\n", "{", "")) + run(rng, size)}}]}
    ),
    "damaged example": damaged_examples(
        [(QUALITY / "event_sources" / "answer.json").read_bytes(), encoded(json.dumps({"events": [RECORD] * 9}))]
    ),
}

MARKS = (
    "` `` ``` ~~~ * ** _ __ *a _a **a [ [a [a]( ![ ]( ]: > >> - 1. + # ## === --- | |- a|b | <a < <!-- <div> & &# \\ \\\\ ~ ~~ : "
    "[^1] [^1]: [a]:b $ $$ {{ }} ::: !!! http:// www. <http://a> a@b "
).split(" ")
BLOCKS = (
    "# Same\n\n", "## Heading {n}\n\ntext\n\n", "# a\n# b\n", "Same\n====\n\n", "[a{n}]: http://x/{n}\n", "[a]: b\n",
    "[a{n}][a{n}] ", "[x](/{n}) ", "![x](/{n}) ", "- item {n}\n",
    "1. {n}\n\n   ```\n   x\n   ```\n", "|a|b|\n|-|-|\n|{n}|x|\n", "|{n}", "> [!NOTE]\n> {n}\n\n", "```\n{n}\n```\n", "~~~x\n",
    "<div>\n\n", "<b>{n}</b>\n\n", "    code {n}\n", "[^{n}]: x\n", "x[^{n}] ",
    "`{n}` ", "* * *\n", "---\n", "Word{n} word. ", "\n\n", "\\\n", "<!-- {n}\n", "a  \n", "\t", "term\n: definition {n}\n",
    "openapi: {n}\n", "type A{n} { a: B }\n", "https://a.b/{n} ",
)  # fmt: skip


def _nested_marks(rng: Random, size: int) -> str:
    opening, closing = rng.choice(
        (
            ("> ", ""),
            ("- ", ""),
            ("1. ", ""),
            ("[", "]"),
            ("[", "](x)"),
            ("![", "](x)"),
            ("**a ", " a**"),
            ("<div>", "</div>"),
            ("(", ")"),
            ("*a _a ", "_ *"),
            ("`a", "a`"),
        )
    )
    return "# Page\n\n" + nested(opening, closing, size)


MARKDOWN: Families = {
    "mark": lambda rng, size: "# Page\n\n" + fill(rng.choice(MARKS), size),
    "mark between words": lambda rng, size: "# Page\n\n" + fill(f"a{rng.choice(MARKS)} ", size),
    "two marks": lambda rng, size: "# Page\n\n" + fill("".join(rng.sample(MARKS, 2)) + rng.choice(("", " ", "\n")), size),
    "lines of marks": lambda rng, size: "# Page\n\n" + fill(rng.choice(MARKS) * rng.choice((1, 3, 50)) + "\n", size),
    "blocks": lambda rng, size: "# Page\n\n" + numbered(rng.choice(BLOCKS), size),
    "two blocks": lambda rng, size: "# Page\n\n" + numbered("".join(rng.sample(BLOCKS, 2)), size),
    "nested": _nested_marks,
    "indented": lambda rng, size: "".join(" " * n + "- a\n" for n in range(max(1, int(size**0.5)))),
    "front matter": lambda rng, size: "---\ntitle: " + run(rng, size) + "\n---\n",
    "HTML": hostile_text,
    "run of characters": run,
    "damaged example": damaged_examples([path.read_bytes() for path in sorted(QUALITY.glob("pages/*.txt"))]),
}
