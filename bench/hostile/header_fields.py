"""Hostile header fields, cookies and robots.txt."""

from __future__ import annotations

from random import Random

from bench.hostile.pieces import Families, damaged_examples, fill, numbered, run

Fields = tuple[tuple[str, str], ...]
LARGEST_FIELD = 8_000
"""Characters of a field: what the HTTP client lets through."""
MOST_BYTES = 60_000
"""Of all fields together; more is refused while it is read."""
NUMBERS = (
    "0",
    "-1",
    "²",
    "٣",
    "1e999",
    "9" * 4000,
    "9" * 20,
    "1.5",
    "NaN",
    "inf",
    "",
    " ",
    "0x10",
    "1_000",
    "+5",
    "1,2",
    "Thu, 01 Jan 1970 00:00:00 GMT",
)
DATES = (
    "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Fri, 01 May 2026 10:00:00 +9999",
    "Fri, 01 May 99999999999999999999 10:00:00 GMT", "Fri, 99 May 2026 25:61:61 GMT",
    "01 May 2026", "Friday, 01-May-26 10:00:00 GMT", "Fri May  1 10:00:00 2026", "2026-05-01T10:00:00Z",
    "Fri, 01 May 2026 10:00:00 -99999999999", "²", "1 1 1 1 1 1 1 1",
)  # fmt: skip
TYPES = (
    "text/html; charset=%s",
    "text/html;%s",
    "%s",
    'text/html; charset="%s',
    "text/html; %s; charset=utf-8",
    "application/%s",
)
LINKS = ("<%s>; rel=next", "<%s", '<a>; rel="%s"', "<a>;%s", "<a>; a=%s", "%s")


def _text(rng: Random) -> str:
    """A run that a field can hold: no line ends, nothing that is not latin-1."""
    text = run(rng, LARGEST_FIELD)[:LARGEST_FIELD]
    return "".join(char for char in text if char not in "\r\n\x00" and ord(char) < 256) or "x"


def _many(name: str, template: str, size: int) -> Fields:
    count = min(500, max(1, min(size, MOST_BYTES) // (len(name) + len(template) + 8)))
    return tuple((name, template.replace("{n}", str(number))) for number in range(count))


def fields(rng: Random, size: int) -> Fields:
    """Header fields of one kind of trouble."""
    text, number, date = _text(rng), rng.choice(NUMBERS), rng.choice(DATES)
    choices: tuple[Fields, ...] = (
        (("Link", rng.choice(LINKS) % text),),
        (("Link", numbered("<{n}>; rel=alternate; hreflang=x{n}, ", LARGEST_FIELD)),),
        (("Link", "<a>" + numbered("; p{n}=1", LARGEST_FIELD)),),
        _many("Link", "</{n}>; rel=canonical", size),
        _many("X-A{n}", "x", size),
        _many("X-Robots-Tag", "bot{n}: noindex", size),
        (("X-Robots-Tag", rng.choice((fill("noindex,", LARGEST_FIELD), "unavailable_after: " + date, text, fill("a:b:",
        LARGEST_FIELD), "unavailable_after:" + fill("1,", LARGEST_FIELD)))),),
        (("Retry-After", rng.choice((number, date))),),
        (("Content-Encoding", rng.choice(("gzip", "gzip, " * 50 + "gzip", "identity", "x-gzip", "deflate, br", text))),),
        (("Location", rng.choice((text, "//[", "http://%", "javascript:x", "http://127.0.0.1:99999/", "/" + "a" * 7000))),),
        (("ETag", text), ("Last-Modified", date)),
        (("Last-Modified", rng.choice((text, number))), ("Date", date), ("Age", number), ("Expires", number)),
        (("Cache-Control", rng.choice((f"max-age={number}", fill("a=", LARGEST_FIELD), text))),),
        (("Refresh", f"{number};url={text}"),),
        (("Content-Language", text), ("Vary", text)),
        (("Strict-Transport-Security", f"max-age={number}"), ("Content-Security-Policy", rng.choice((text, fill("a;",
        LARGEST_FIELD), fill("script-src 'self';", LARGEST_FIELD)))),),
        (("Referrer-Policy", text), ("X-Content-Type-Options", text), ("Server", text), ("X-Frame-Options", text)),
    )  # fmt: skip
    return rng.choice(choices)


def content_type(rng: Random) -> str:
    return rng.choice(TYPES).replace(
        "%s",
        rng.choice(
            (_text(rng), "utf-7", "x-unknown", "utf-16", "utf8\x1b", "\xe9", "idna", "rot13", "zlib", "base64", "unicode_escape")
        ),
    )


def cookies(rng: Random, size: int) -> Fields:
    """`Set-Cookie` fields."""
    text, number, date = _text(rng), rng.choice(NUMBERS), rng.choice(DATES)
    choices: tuple[Fields, ...] = (
        (("Set-Cookie", f"a=b; Max-Age={number}"),),
        (("Set-Cookie", f"a=b; Expires={date}"),),
        (("Set-Cookie", f"a=b; Expires={text}"),),
        (("Set-Cookie", text),),
        (("Set-Cookie", f"a={text}"),),
        (("Set-Cookie", f"a=b; Path=/{text}; Domain={text}"),),
        (("Set-Cookie", "a=b" + fill("; x", LARGEST_FIELD)),),
        (("Set-Cookie", "a=b; Domain=" + fill("a.", LARGEST_FIELD) + "127.0.0.1"),),
        _many("Set-Cookie", "a{n}=b; Path=/{n}", size),
        _many("Set-Cookie", "a=b; Path=/", size),
        _many("Set-Cookie", "a{n}=" + "x" * 3000, size),
    )
    return rng.choice(choices)


def _rules(rng: Random, size: int) -> str:
    pieces = (
        "Disallow: /a{n}\n", "Allow: /*a{n}\n", "Disallow: /*a*a*a*a*a{n}$\n", "Disallow: *\n", "Disallow: /%{n}\n",
        "User-agent: a{n}\n", "User-agent: *\nDisallow: /{n}\n", "Crawl-delay: {n}\n",
        "Sitemap: http://127.0.0.1/{n}.xml\n", "Sitemap: {n}\n", "# {n}\n", "\r", "Disallow\n", ":", "Disallow: /?{n}*\n",
        "Allow: /a\nDisallow: /a\n", "Disallow: /a*{n}b\n",
    )  # fmt: skip
    return "User-agent: *\n" + numbered(rng.choice(pieces), min(size, rng.choice((600_000, size))))


def _wildcards(rng: Random, size: int) -> str:
    piece = rng.choice(("*a", "a*", "*a*b", "**", "*/", "*%61", "*$", "*.", "*aaaaaaaab"))
    line = f"Disallow: /{fill(piece, rng.choice((50, 2000, 500_000)))}{rng.choice(('', '$', 'b$', 'b'))}\n"
    return "User-agent: *\n" + fill(line, min(size, 510_000))


def _directive(rng: Random, size: int) -> str:
    name = rng.choice(("Disallow", "Allow", "User-agent", "Crawl-delay", "Sitemap", "Host"))
    return f"User-agent: *\n{name}: {rng.choice((run(rng, size), *NUMBERS))}\nDisallow: /a"


ROBOTS: Families = {
    "rules": _rules,
    "wildcards": _wildcards,
    "directive": _directive,
    "run of characters": run,
    "damaged example": damaged_examples(
        [
            b"User-agent: *\nDisallow: /private/*.pdf$\nAllow: /private/open\nCrawl-delay: 2\nSitemap: http://127.0.0.1/sitemap.xml\n"
        ]
    ),
}
