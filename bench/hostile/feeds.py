"""Hostile feeds (RSS, Atom, JSON Feed) and sitemaps."""

from __future__ import annotations

import gzip
import json
from random import Random
from xml.sax.saxutils import escape

from bench.hostile.html import hostile_text
from bench.hostile.pieces import Body, Families, damaged_examples, encoded, fill, nested, numbered, run

RSS = (
    '<?xml version="1.0"?><rss version="2.0" xmlns:ev="http://purl.org/rss/1.0/modules/event/"><channel><title>Town</title>'
    "<link>https://town.example/</link>%s</channel></rss>"
)
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom"><title>Town</title><link rel="next" href="/case"/>%s</feed>'
ITEM = (
    "<item><title>Concert {n}</title><link>https://town.example/{n}</link><guid>{n}</guid>"
    "<pubDate>Fri, 01 May 2026 10:00:00 +0900</pubDate><description>2026年5月1日 10:00 市民会館</description></item>"
)
ENTRY = (
    '<entry><id>{n}</id><title type="xhtml">Concert {n}</title><link href="{n}"/><updated>2026-05-01T10:00:00Z</updated>'
    '<content type="html">&lt;b&gt;x&lt;/b&gt;</content></entry>'
)
EXAMPLES = [encoded(RSS % numbered(ITEM, 3000)), encoded(ATOM % numbered(ENTRY, 3000))]
FIELDS = (
    "title link description guid pubDate category ev:startdate ev:location author content:encoded dc:date georss:point".split()
)
LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))


def _element(rng: Random, size: int) -> str:
    name = rng.choice(FIELDS)
    text = hostile_text(rng, size) if rng.random() < 0.5 else run(rng, size)
    inside = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    shown = rng.choice((escape(inside), f"<![CDATA[{inside}]]>", inside))
    return RSS % f"<item><title>x</title><{name}>{shown}</{name}></item>"


def _repeated(rng: Random, size: int) -> str:
    pieces = (
        ITEM, "<item/>", "<item><title>x</title></item>", "<item>", "<category>{n}</category>", "&x{n};", "&amp;", "&",
        "<![CDATA[",
        "<!-- x -->", "<?x {n}?>", "<a:b{n} xmlns:a='{n}'/>", "<a b{n}='{n}'/>", "<link>{n}</link>", "<ttl>{n}</ttl>", "]]>", "<",
        "<item><title>x{n}</title><ev:startdate>2026-05-{n}</ev:startdate></item>", "</item>",
        "<item><enclosure url='{n}'/></item>",
        "<item><title>a</title><description>毎週月曜日 10時～{n}時、1月1日～12月31日</description></item>",
    )  # fmt: skip
    return RSS % numbered(rng.choice(pieces), size)


def _nested_xml(rng: Random, size: int) -> str:
    opening = rng.choice(
        ("<a>", "<item>", "<entry>", "<div xml:base='a/'>", "<a xmlns='x'>", "<description>", "<content type='xhtml'>")
    )
    closing = rng.choice(("", f"</{opening[1:-1].split()[0]}>"))
    return rng.choice((RSS, ATOM)) % nested(opening, closing, size)


def _bases(rng: Random, size: int) -> str:
    depth = rng.choice((10, 60, 500))
    base = "a" * max(1, size // depth // 2) + "/"
    return ATOM % (f'<entry xml:base="{base}">' * depth + numbered('<link href="{n}"/>', size // 2) + "</entry>" * depth)


def _entities(rng: Random, size: int) -> str:
    kinds = (
        LAUGHS,
        f'<!ENTITY a9 "{run(rng, size // 2)}">',
        '<!ENTITY a9 SYSTEM "file:///etc/passwd">',
        numbered('<!ENTITY b{n} "x">', size),
        '<!ENTITY % a "x">%a;',
        "[" * 1000,
    )
    return (
        f'<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a0 "ha">{rng.choice(kinds)}]>'
        + (RSS % f"<item><title>{'&a9;' * rng.choice((1, 10_000))}</title></item>").partition("?>")[2]
    )


def _json_feed(rng: Random, size: int) -> str:
    item = {
        "id": "1",
        "title": "Concert",
        "content_html": "<b>2026-05-01</b>",
        "url": "x",
        "date_published": "2026-05-01T10:00:00Z",
        "tags": ["a"] * 9,
    }
    head = '{"version":"https://jsonfeed.org/version/1.1","next_url":"/case","items":['
    choices = (
        fill(json.dumps(item) + ",", size) + "{}]}", nested("[", "]", size) + "]}", nested('{"id":', "}", size, "1") + "]}",
        json.dumps(item | {"title": run(rng, size)}) + "]}", json.dumps(item | {"date_published": run(rng, size)}) + "]}",
        json.dumps(item | {"id": 10**4000, "title": {"a": []}, "tags": 1, "attachments": "x", "url": None}) + "]}",
    )  # fmt: skip
    return head + rng.choice(choices)


def _encoding(rng: Random, size: int) -> bytes:
    declared = rng.choice(("utf-8", "utf-16", "shift_jis", "x-unknown", "utf-7", "ebcdic-cp-us", "a" * 1000))
    text = f'<?xml version="1.0" encoding="{declared}"?>' + (RSS % numbered(ITEM, size // 3)).partition("?>")[2]
    return text.encode(rng.choice(("utf-8", "utf-16", "shift_jis", "utf-32-le", "euc-jp")), "replace")


FEEDS: Families = {
    "element": _element,
    "repeated": _repeated,
    "nested": _nested_xml,
    "xml:base": _bases,
    "entities": _entities,
    "JSON Feed": _json_feed,
    "encoding": _encoding,
    "entries": lambda rng, size: ATOM % numbered(ENTRY, size),
    "run of characters": run,
    "run in the root": lambda rng, size: "<rss " + run(rng, size),
    "namespaces": lambda rng, size: "<rss" + numbered(' xmlns:a{n}="http://x/{n}"', size) + "><channel/></rss>",
    "damaged example": damaged_examples(EXAMPLES),
}

URLSET = '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">%s</urlset>'
INDEX = "<sitemapindex>%s</sitemapindex>"
URL = "<url><loc>http://127.0.0.1/{n}</loc><lastmod>2026-05-01</lastmod></url>"
SITEMAP_EXAMPLES = [encoded(URLSET % numbered(URL, 2000)), gzip.compress(encoded(URLSET % numbered(URL, 20_000)), mtime=0)]


def _urls(rng: Random, size: int) -> str:
    pieces = (
        URL, "<url><loc>/{n}</loc></url>", "<url><loc>http://h{n}.example/</loc></url>", "<url>", "<loc>{n}</loc>", "<url/>",
        "<url><loc/></url>",
        "<url><loc>http://127.0.0.1/{n}</loc><lastmod>{n}-²-99T</lastmod></url>",
        "<url><image:image><image:loc>x</image:loc></image:image></url>",
        "<url><loc>http://[{n}</loc></url>", "<url><loc>http://127.0.0.1/same</loc></url>", "&a{n};", "<!-- -->", "<?x?>",
    )  # fmt: skip
    return URLSET % numbered(rng.choice(pieces), size)


def _index(rng: Random, size: int) -> str:
    pieces = (
        "<sitemap><loc>/case</loc></sitemap>",
        "<sitemap><loc>http://127.0.0.1/{n}.xml</loc></sitemap>",
        "<sitemap><loc>{n}</loc></sitemap>",
        "<sitemap>",
    )
    return INDEX % numbered(rng.choice(pieces), size)


def _gzipped(rng: Random, size: int) -> bytes:
    inside = rng.choice(
        (
            bytes(size * 20),
            encoded(URLSET % numbered(URL, size)),
            encoded(URLSET % fill(" ", size * 10)),
            encoded(fill("http://127.0.0.1/a\n", size * 5)),
        )
    )
    once = gzip.compress(inside, mtime=0)
    return rng.choice(
        (
            once,
            once[: len(once) // 2],
            gzip.compress(once, mtime=0),
            gzip.compress(b"<urlset>", mtime=0) * 5000,
            once + b"\x1f\x8b" * 1000,
        )
    )


def _long_url(rng: Random, size: int) -> str:
    return URLSET % f"<url><loc>http://127.0.0.1/{escape(run(rng, size))}</loc><lastmod>{escape(run(rng, 5000))}</lastmod></url>"


def _text(rng: Random, size: int) -> Body:
    return numbered(rng.choice(("http://127.0.0.1/{n}\n", "{n}\n", "\n", "http://127.0.0.1/a\r", "/{n}\x85", "x")), size)


SITEMAPS: Families = {
    "URLs": _urls,
    "index": _index,
    "gzipped": _gzipped,
    "long URL": _long_url,
    "text": _text,
    "nested": lambda rng, size: URLSET % nested("<url>", rng.choice(("", "</url>")), size),
    "attributes": lambda rng, size: "<urlset" + numbered(" a{n}='{n}'", size) + ">",
    "run of characters": lambda rng, size: "<urlset>" + run(rng, size),
    "entities": _entities,
    "damaged example": damaged_examples(SITEMAP_EXAMPLES),
}
