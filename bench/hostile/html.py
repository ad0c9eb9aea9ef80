"""Hostile HTML pages."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from bench.hostile.pieces import Body, Families, damaged_examples, encoded, fill, nested, numbered, run

QUALITY = Path(__file__).resolve().parent.parent.parent / "tests" / "quality"
EXAMPLES = [path.read_bytes() for path in sorted([*QUALITY.glob("pages/*.html"), *QUALITY.glob("event_sources/*.html")])]

NESTED = (
    "div span b i blockquote ul><li ol><li dl><dd table><tr><td details section font a em sup svg><g template form select "
    "button object ruby h1 p pre code nav main article math><mrow math><msqrt noscript iframe label fieldset del q "
    "div\tclass=admonition div\tclass=tabs div\trole=tablist aside figure center marquee frameset option optgroup"
).split(" ")
UNCLOSED = (
    "<!-- <![CDATA[ <a\thref=\" <a\thref=' <script> <style> <textarea> <title> <svg>< <a <a\t </ <? <! & &# &#x &amp &lt "
    "<p\ttitle=' <math><mtext> <a\thref=//[ <a\thref=http://% <img\tsrcset=\" <p>< <h1 <b><p> <table><b> <a>< <!--> <!--- "
    "--!> <plaintext> <xmp> <noscript> <select><option> <form><input\tname= <ruby><rt> <a\thref=x>"
).split(" ")
REPEATED = (
    "<h1>Same</h1>", "<h2>Same</h2><p>x</p>", "<h{n}>x", "<p id=same>x</p>", "<p id=a{n}>x</p>", "<a href=/same>Same</a> ",
    "<a href=/a{n}>{n}</a> ", "<a href=#a{n}>{n}</a>", "<a href='?q={n}&q={n}'>x</a>", "<a href=mailto:{n}@x.y>x</a>",
    "<a href=http://h{n}.example/>x</a>", "<a href=javascript:{n}></a>", "<img src=/same.png>", "<img src=/{n}.png alt='{n}'>",
    "<img src=data:image/png;base64,{n}>", "<form action=/a{n}><input name=a type=password></form>", "<input name=a{n}>",
    "<label for=a{n}>x</label>", "<iframe src=/{n}></iframe>", "<script src=/{n}.js></script>", "<script>var a={n}</script>",
    "<style>a{n}{}</style>", "<link rel=canonical href=/{n}>", "<link rel=alternate hreflang=x-{n} href=/{n}>",
    "<link rel='next prev' href=/{n}>", "<link rel=alternate type=text/markdown href=/{n}.md>", "<link rel=stylesheet href=/{n}>",
    "<meta name=description content='{n}'>", "<meta name=robots content='noindex, {n}'>", "<meta charset=x-{n}>",
    "<meta http-equiv=refresh content='{n};url=/{n}'>", "<meta property=og:title content={n}>", "<title>{n}</title>",
    "<base href=/{n}/>", "<br>", "<hr>", "<wbr>", "<p>", "<li>{n}", "<dt>a<dd>b", "<tr><td>{n}<td>b", "<td>{n}", "<option>{n}",
    "<p>Word {n} and words.</p>", "<pre><code class=language-x>{n}\n</code></pre>", "<code>{n}</code>", "<code>`{n}`</code> ",
    "<sup><a href=#fn{n} id=r{n}>{n}</a></sup>", "<li id=fn{n}>note <a href=#r{n}>back</a></li>", "<b>{n}</b>", "<b></b><i></i>",
    "<span class=c{n}>{n}</span>", "<div class='highlight admonition tab-{n}'>x</div>", "<custom-{n}>", "</p>", "</a></b>",
    "<table><tr><td>{n}</table>", "<svg><path d='{n}'/></svg>", "<math><mi>{n}</mi></math>", "<button></button>",
    "<nav><a href=/{n}>{n}</a></nav>", "<main>{n}</main>", "<p lang=l{n}>x", "<video src=/{n}><track src=/{n}></video>",
    "<area href=/{n}>", "<object data=/{n}></object>", "<time datetime='2026-01-{n}'>x</time>", "&nbsp;&#x{n};", "&{n};",
    "<div itemscope itemtype=https://schema.org/Event><b itemprop=name>{n}</b><b itemprop=startDate>2026-05-{n}</b></div>",
    "<li class=event><a href=/e{n}>{n}</a> 2026年{n}月{n}日(土) 10:00~</li>", "<div class=event>{n}</div>", "<a name={n}></a>",
)  # fmt: skip
ATTRIBUTES = "href src srcset style class id alt title content datetime hreflang lang rel itemref itemprop name width".split()
CHARSETS = ["utf-8", "utf-16", "utf-16-le", "utf-32", "utf-7", "shift_jis", "iso-2022-jp", "euc-jp", "gb18030", "cp037", "big5"]
SCHEDULE = '{"@type":"Schedule","repeatFrequency":"P1D","startDate":"0001-01-01","endDate":"9999-12-31","byDay":"Monday"},'
TEXT_HOLDERS = (
    "title h1 h2 a p pre code td li dt blockquote script style textarea button option math math><mi math><annotation figcaption "
    "summary time"
).split()
JSON_LD = '<script type="application/ld+json">%s</script>'


def page(body: str, head: str = "") -> str:
    return f"<!doctype html><html><head><title>Page</title>{head}</head><body><main><h1>Page</h1>{body}</main></body></html>"


def _nested(rng: Random, size: int) -> str:
    names = rng.choice(NESTED).replace("\t", " ")
    opening = "".join(f"<{name}>" for name in names.split("><"))
    closing = "".join(f"</{name.split()[0]}>" for name in reversed(names.split("><")))
    size = rng.choice((min(size, 30_000), size))
    return page(nested(opening, rng.choice((closing, "")), size, rng.choice(("x", "<a href=/x>x</a>", "<h2>x</h2>"))))


def _attributes(rng: Random, size: int) -> str:
    many = numbered(rng.choice((" a{n}=1", " a{n}", " data-a{n}='{n}'", " a=1", ' href="/{n}"')), size)
    return page(f"<{rng.choice(('p', 'a', 'img', 'meta', 'td', 'html'))}{many}>x")


def _long_attribute(rng: Random, size: int) -> str:
    name = rng.choice(ATTRIBUTES)
    tag = {"content": "meta name=description", "src": "img", "srcset": "img", "datetime": "time"}.get(name, "a href=/x")
    return page(f"<{tag} {name}='{run(rng, size).replace(chr(39), '.')}'>x", "<meta name=viewport content=x>")


def _base(rng: Random, size: int) -> str:
    base = rng.choice(
        ("/" + "a" * 2000, "/" + "a" * (size // 4), "/" + "a/" * (size // 8), "//" + "a." * (size // 8), "http://[", "?" * 9)
    )
    return page(
        numbered(rng.choice(("<a href={n}>x</a>", "<a href=../{n}>x</a>", "<img src=?{n}>", "<a href=#{n}>")), size // 2),
        f"<base href='{base}'>",
    )


def _table(rng: Random, size: int) -> str:
    span = rng.choice(("1", "2", "1000", "65534", "99999999999999999999", "-1", "²", ""))
    cell = f"<{rng.choice(('td', 'th'))} {rng.choice(('colspan', 'rowspan', 'colspan=9 rowspan'))}={span}>x"
    row = f"<tr>{cell * rng.choice((1, 5, 200))}"
    return page(f"<table><caption>{run(rng, 50)}</caption>{fill(row, rng.choice((5_000, size)))}</table>")


def _charset(rng: Random, size: int) -> bytes:
    declared, used = rng.choice(CHARSETS), rng.choice(CHARSETS)
    text = page(fill(rng.choice(("caf\u00e9 ", "日本語 ", "+AGEAYQBi- ", "\x1b$B")), size // 4), f'<meta charset="{declared}">')
    mark = rng.choice((b"", b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x2b\x2f\x76", b"\x00\x00\xfe\xff"))
    return mark + text.encode(used, "replace") + rng.choice((b"", rng.randbytes(min(size, 200_000))))


def _json_ld(rng: Random, size: int) -> str:
    event = {"@context": "https://schema.org", "@type": "Event", "name": "x", "startDate": "2026-05-01"}
    cyclic = [
        {**event, "@id": f"#{n}", "location": {"@id": f"#{(n + 1) % 50}"}, "superEvent": {"@id": f"#{n}"}} for n in range(50)
    ]
    graph = ",".join(
        json.dumps({**event, "@id": f"#{n}", "subEvent": [{"@id": f"#{m}"} for m in range(9)]})
        for n in range(max(1, size // 300))
    )
    choices = (
        nested('{"@type":"Event","subEvent":', "}", size, "1"),
        nested("[", "]", size, "1"),
        nested('{"a":', "", size),
        json.dumps({"@graph": cyclic}),
        f'{{"@graph":[{graph}]}}',
        "[" + fill(json.dumps(event) + ",", size) + "{}]",
        '{"@type":"Event",' + numbered('"name":"{n}",', size) + '"a":1}',
        '{"@type":"Event","name":"' + run(rng, size).replace('"', "'") + '","startDate":1e999}',
        '{"@type":"Event","name":"x","startDate":"' + run(rng, size).replace('"', "'") + '"}',
        '{"@type":"Event","name":"x","startDate":"2026-01-01","eventSchedule":[' + fill(SCHEDULE, size) + "{}]}",
        fill("/*", size) + "{",
        fill("//\n", size) + "{}",
        '{"a":' + "9" * min(size, 1_000_000) + "}",
        fill('{"a":"\\ud800', size),
    )
    return page("x", JSON_LD % rng.choice(choices)) if rng.random() < 0.8 else page("x", fill(JSON_LD % json.dumps(event), size))


def _microdata(rng: Random, size: int) -> str:
    item = "<div itemscope itemprop=location itemtype=https://schema.org/Event>"
    choices = (
        nested(item, "</div>", size),
        nested(item, "</div>", min(size, 60_000)),
        nested("<div typeof=schema:Event property=schema:location>", "</div>", min(size, 60_000)),
        "<div itemscope itemref='a b' id=a><p itemprop=x itemscope itemref=a id=b></div>",
        f"<div itemscope itemref='{numbered('a{n} ', size // 3)}'></div>" + numbered("<p id=a{n} itemprop=name>x</p>", size // 2),
        numbered("<div itemscope itemref='a{n} b' id=a{n}></div>", size // 2) + "<p id=b itemprop=name>x</p>",
        "<div itemscope itemtype=https://schema.org/Event>" + numbered("<b itemprop='name x{n}'>x</b>", size) + "</div>",
    )
    return page(rng.choice(choices))


def _text_in(rng: Random, size: int) -> str:
    tag = rng.choice(TEXT_HOLDERS)
    return page(f"<table><tr><td><{tag}>{run(rng, size)}</{tag.rpartition('<')[2]}>")


def _unclosed(rng: Random, size: int) -> str:
    return page(fill(rng.choice(UNCLOSED).replace("\t", " "), size))


def _refresh(rng: Random, size: int) -> str:
    seconds = rng.choice(("0", "²", "1" * 5000, "-1", "", " " * (size // 2)))
    between, target = rng.choice(";, "), rng.choice((run(rng, size // 2), "/", "data:x"))
    return page("x", f'<meta http-equiv=refresh content="{seconds}{between}url={target}">')


def _srcset(rng: Random, size: int) -> str:
    candidate = rng.choice(("/{n}.png {n}w, ", ", ", "/{n} 1x,", "a,", "( ", "a({n}),", "  ,"))
    return page(f"<img alt=x srcset='{numbered(candidate, size)}'>")


FAMILIES: Families = {
    "run of characters": lambda rng, size: page(run(rng, size)),
    "characters in an element": _text_in,
    "unclosed": _unclosed,
    "nested": _nested,
    "repeated": lambda rng, size: page(numbered(rng.choice(REPEATED), size)),
    "repeated in the head": lambda rng, size: page("x", numbered(rng.choice(REPEATED), size)),
    "two repeated": lambda rng, size: page(numbered("".join(rng.sample(REPEATED, 2)), size)),
    "many attributes": _attributes,
    "long attribute": _long_attribute,
    "base": _base,
    "table": _table,
    "charset": _charset,
    "refresh": _refresh,
    "JSON-LD": _json_ld,
    "microdata": _microdata,
    "srcset": _srcset,
    "damaged example": damaged_examples(EXAMPLES),
    "random bytes": lambda rng, size: encoded(page("x")) + rng.randbytes(min(size, 1_000_000)),
}


def hostile_text(rng: Random, size: int) -> Body:
    """Some page, to be put where a feed or a calendar has text."""
    return FAMILIES[rng.choice(list(FAMILIES))](rng, size)
