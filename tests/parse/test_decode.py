"""The charset of a page, found as browsers find it."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.decode import CODECS, Encoding, as_utf8, charset_name, decode, name_of_codec, sniff, unzipped

JAPANESE = "東京都の天気は晴れ、最高気温は二十五度になるでしょう。カタカナも少し。"
RUSSIAN = "Привет, это обычная страница на русском языке про погоду и новости города."


@pytest.mark.parametrize(
    "label, name",
    [
        pytest.param("UTF8", "utf-8", id="utf8"),
        pytest.param(" iso-8859-1\n", "windows-1252", id="latin1-means-windows"),
        pytest.param("ascii", "windows-1252", id="ascii"),
        pytest.param("ISO_8859-9", "windows-1254", id="latin5"),
        pytest.param("gb2312", "gb18030", id="gb2312"),
        pytest.param("GBK", "gb18030", id="gbk"),
        pytest.param("x-sjis", "shift_jis", id="x-sjis"),
        pytest.param("windows-31j", "shift_jis", id="windows-31j"),
        pytest.param("ks_c_5601-1987", "euc-kr", id="ks_c_5601"),
        pytest.param("big5-hkscs", "big5", id="big5"),
        pytest.param("tis-620", "windows-874", id="thai"),
        pytest.param("utf-16", "utf-16le", id="utf-16"),
        pytest.param("utf-7", None, id="utf-7-is-unknown"),
        pytest.param("base64", None, id="a-python-codec-is-no-charset"),
        pytest.param("", None, id="empty"),
    ],
)
def test_labels_mean_what_the_encoding_standard_says(label: str, name: str | None) -> None:
    assert charset_name(label) == name


def test_every_charset_has_a_codec_that_leads_back_to_it() -> None:
    assert {name_of_codec(codec) for codec in CODECS.values()} == set(CODECS)


@pytest.mark.parametrize("name", sorted(CODECS))
def test_every_charset_reads_markup(name: str) -> None:
    codec = CODECS[name]
    assert decode("<p>plain</p>".encode(codec), f"text/html; charset={name}").text == "<p>plain</p>"


@pytest.mark.parametrize(
    "body, content_type, expected",
    [
        pytest.param(b"\xef\xbb\xbfa", "text/html; charset=koi8-r", Encoding("utf-8", "bom"), id="mark-beats-header"),
        pytest.param(b"\xff\xfea\x00", None, Encoding("utf-16le", "bom"), id="utf-16le-mark"),
        pytest.param(b"\xfe\xff\x00a", None, Encoding("utf-16be", "bom"), id="utf-16be-mark"),
        pytest.param(b'<meta charset="koi8-r">', "text/html; charset=UTF-8", Encoding("utf-8", "header"), id="header-beats-meta"),
        pytest.param(b"a", 'text/html; x=y; CHARSET = "Shift_JIS"', Encoding("shift_jis", "header"), id="quoted-header"),
        pytest.param(b"<meta charset=koi8-r>", "text/html; charset=nonsense", Encoding("koi8-r", "meta"), id="unknown-header"),
        pytest.param(b"<meta charset=koi8-r>", "text/html", Encoding("koi8-r", "meta"), id="header-without-charset"),
        pytest.param(b"plain", None, Encoding("utf-8", "detected"), id="nothing-declared"),
        pytest.param(b"", None, Encoding("utf-8", "detected"), id="empty"),
        pytest.param("é…".encode(), None, Encoding("utf-8", "detected"), id="valid-utf-8"),
        pytest.param(b'<?xml version="1.0" encoding="euc-jp"?>', None, Encoding("euc-jp", "meta"), id="xml-declaration"),
        pytest.param("<?xml".encode("utf-16-le"), None, Encoding("utf-16le", "meta"), id="xml-in-16-bits"),
    ],
)
def test_what_a_body_declares_is_looked_for_in_order(body: bytes, content_type: str | None, expected: Encoding) -> None:
    assert sniff(body, content_type) == expected


def test_too_few_bytes_to_tell_are_windows_1252() -> None:
    assert sniff(b"caf\xe9").name == "windows-1252"


@pytest.mark.parametrize(
    "markup, name",
    [
        pytest.param('<meta charset="windows-1251">', "windows-1251", id="double-quotes"),
        pytest.param("<META CHARSET='windows-1251'/>", "windows-1251", id="upper-case"),
        pytest.param("<meta name=x charset = windows-1251 >", "windows-1251", id="spaces"),
        pytest.param('<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">', "windows-1251", id="pragma"),
        pytest.param(
            "<meta content='text/html;charset=\"windows-1251\"' http-equiv=content-type>", "windows-1251", id="pragma-later"
        ),
        pytest.param('<meta content="text/html; charset=windows-1251">', None, id="content-without-pragma"),
        pytest.param('<!-- <meta charset="koi8-r"> --><meta charset="windows-1251">', "windows-1251", id="comment"),
        pytest.param('<!--><meta charset="windows-1251">', "windows-1251", id="empty-comment"),
        pytest.param('<p title="<meta charset=koi8-r>"><meta charset="windows-1251">', "windows-1251", id="attribute"),
        pytest.param("<meta charset=bogus><meta charset=windows-1251>", "windows-1251", id="unknown-first"),
        pytest.param("<meta charset=utf-16>", "utf-8", id="no-16-bits-in-meta"),
        pytest.param("<meta charset=x-user-defined>", "windows-1252", id="user-defined"),
        pytest.param("<metadata charset=koi8-r>", None, id="another-element"),
        pytest.param(" " * 1024 + "<meta charset=koi8-r>", None, id="too-late"),
    ],
)
def test_meta_is_scanned_as_the_html_standard_says(markup: str, name: str | None) -> None:
    found = sniff(markup.encode())
    assert (found.name if found.source == "meta" else None) == name


@pytest.mark.parametrize(
    "text, codec, name",
    [
        pytest.param(JAPANESE, "cp932", "shift_jis", id="shift_jis"),
        pytest.param(JAPANESE, "euc-jp", "euc-jp", id="euc-jp"),
        pytest.param("公園と図書館の案内", "euc-jp", "euc-jp", id="a few words of euc-jp"),
        pytest.param("続きを読む", "cp932", "shift_jis", id="a few words of shift_jis"),
        pytest.param(JAPANESE, "iso2022-jp", "iso-2022-jp", id="iso-2022-jp"),
        pytest.param(RUSSIAN, "cp1251", "windows-1251", id="windows-1251"),
        pytest.param(RUSSIAN, "koi8-r", "koi8-r", id="koi8-r"),
        pytest.param(
            "Schöne Grüße aus Österreich, weiß der Kuckuck: Übermut tut selten gut.", "cp1252", "windows-1252", id="german"
        ),
        pytest.param("这是一个简体中文网页，介绍北京的天气和新闻。", "gbk", "gb18030", id="gbk"),
        pytest.param("這是一個繁體中文網頁，介紹台北的天氣和新聞。", "big5", "big5", id="big5"),
        pytest.param("안녕하세요 한국어 웹페이지입니다 서울 날씨", "cp949", "euc-kr", id="korean"),
    ],
)
def test_undeclared_charsets_are_detected(text: str, codec: str, name: str) -> None:
    decoded = decode(f"<html><p>{text}</p>".encode(codec))
    assert (decoded.encoding, decoded.source, decoded.replaced) == (name, "detected", False)
    assert text in decoded.text


def test_detection_looks_where_the_telling_bytes_are() -> None:
    body = b"<p>plain words</p>" * 20_000 + f"<p>{RUSSIAN}</p>".encode("cp1251") * 3 + b"<p>plain words</p>" * 20_000
    assert sniff(body).name == "windows-1251"


def test_the_byte_order_mark_is_no_part_of_the_text() -> None:
    assert decode(b"\xef\xbb\xbfabc").text == "abc"
    assert decode("\ufeffabc".encode("utf-16-le")).text == "abc"


def test_bytes_that_do_not_fit_are_replaced_and_said_to_be() -> None:
    decoded = decode(b"caf\xe9 au lait", "text/html; charset=utf-8")
    assert (decoded.text, decoded.replaced) == ("caf\N{REPLACEMENT CHARACTER} au lait", True)


def test_windows_1252_has_no_holes() -> None:
    decoded = decode(bytes(range(256)), "text/html; charset=iso-8859-1")
    assert not decoded.replaced
    assert decoded.text[0x80] == "€"
    assert decoded.text[0x81] == "\x81"


def test_utf8_reaches_the_parser_without_a_copy() -> None:
    body = "<p>日本</p>".encode()
    assert as_utf8(body, "text/html; charset=utf-8")[0] is body
    assert as_utf8(body, None)[0] is body


def test_other_charsets_reach_the_parser_as_utf8() -> None:
    assert as_utf8("日本".encode("cp932"), "text/html; charset=sjis") == ("日本".encode(), "shift_jis")
    assert as_utf8(b"\xef\xbb\xbfabc", None) == (b"abc", "utf-8")


@given(
    st.binary(max_size=3000),
    st.none() | st.text(max_size=60) | st.sampled_from(sorted(CODECS)).map("text/html; charset={}".format),
)
def test_any_bytes_and_any_header_can_be_decoded(body: bytes, content_type: str | None) -> None:
    decoded = decode(body, content_type)
    assert decoded.encoding in CODECS
    as_utf8(body, content_type)[0].decode("utf-8", "strict" if decoded.encoding != "utf-8" else "replace")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_declared_utf8_comes_back_as_it_went(text: str) -> None:
    decoded = decode(b"\xef\xbb\xbf" + text.encode())
    assert (decoded.text, decoded.replaced) == (text, False)


@given(st.binary(max_size=200))
def test_meta_scanning_survives_broken_markup(junk: bytes) -> None:
    assert sniff(b"<meta " + junk + b" charset=x" + junk).name in CODECS


def test_a_compressed_body_is_unzipped_up_to_a_limit_and_a_broken_one_is_left() -> None:
    body = gzip.compress(b"a" * 100_000)
    assert unzipped(body, 50) == b"a" * 50
    assert unzipped(gzip.compress(body), 200_000) == b"a" * 100_000
    assert unzipped(b"\x1f\x8bno", 50) == b"\x1f\x8bno"
