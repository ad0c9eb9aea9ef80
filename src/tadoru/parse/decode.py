"""Which charset a body is in, found as browsers find it, and its text."""

from __future__ import annotations

import codecs
import re
import zlib
from functools import lru_cache
from typing import NamedTuple

_LABELS: dict[str, tuple[str, str]] = {
    # name: (Python codec, further labels)
    "utf-8": ("utf-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8"),
    "utf-16le": ("utf-16-le", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16"),
    "utf-16be": ("utf-16-be", "unicodefffe"),
    "ibm866": ("cp866", "866 cp866 csibm866"),
    "iso-8859-2": ("iso8859-2", "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
    "iso-8859-3": ("iso8859-3", "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
    "iso-8859-4": ("iso8859-4", "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
    "iso-8859-5": ("iso8859-5", "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"),
    "iso-8859-6": (
        "iso8859-6",
        "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 "
        "iso88596 iso_8859-6 iso_8859-6:1987",
    ),
    "iso-8859-7": (
        "iso8859-7",
        "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek",
    ),
    "iso-8859-8": (
        "iso8859-8",
        "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 visual "
        "csiso88598i iso-8859-8-i logical",
    ),
    "iso-8859-10": ("iso8859-10", "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
    "iso-8859-13": ("iso8859-13", "iso8859-13 iso885913"),
    "iso-8859-14": ("iso8859-14", "iso8859-14 iso885914"),
    "iso-8859-15": ("iso8859-15", "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"),
    "iso-8859-16": ("iso8859-16", ""),
    "koi8-r": ("koi8-r", "cskoi8r koi koi8 koi8_r"),
    "koi8-u": ("koi8-u", "koi8-ru"),
    "macintosh": ("mac-roman", "csmacintosh mac x-mac-roman"),
    "x-mac-cyrillic": ("mac-cyrillic", "x-mac-ukrainian"),
    "windows-874": ("cp874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"),
    "windows-1250": ("cp1250", "cp1250 x-cp1250"),
    "windows-1251": ("cp1251", "cp1251 x-cp1251"),
    "windows-1252": (
        "cp1252",
        "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 "
        "iso_8859-1:1987 l1 latin1 us-ascii x-cp1252 x-user-defined",
    ),
    "windows-1253": ("cp1253", "cp1253 x-cp1253"),
    "windows-1254": (
        "cp1254",
        "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254",
    ),
    "windows-1255": ("cp1255", "cp1255 x-cp1255"),
    "windows-1256": ("cp1256", "cp1256 x-cp1256"),
    "windows-1257": ("cp1257", "cp1257 x-cp1257"),
    "windows-1258": ("cp1258", "cp1258 x-cp1258"),
    "gb18030": ("gb18030", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"),
    "big5": ("big5hkscs", "big5-hkscs cn-big5 csbig5 x-x-big5"),
    "euc-jp": ("euc-jp", "cseucpkdfmtjapanese x-euc-jp"),
    "iso-2022-jp": ("iso2022-jp-ext", "csiso2022jp"),
    "shift_jis": ("cp932", "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis"),
    "euc-kr": (
        "cp949",
        "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    ),
}

CODECS = {name: codec for name, (codec, _) in _LABELS.items()}
"""Charset name to Python codec."""

_NAMES = {label: name for name, (_, labels) in _LABELS.items() for label in (name, *labels.split())}
_BY_CODEC = {codecs.lookup(codec).name: name for name, codec in CODECS.items()}


def charset_name(label: str) -> str | None:
    """The standard's name of a charset, in lower case, for a label in any spelling; None for one that browsers do not know."""
    return _NAMES.get(label.strip("\t\n\f\r ").lower())


def name_of_codec(codec: str) -> str | None:
    """The charset that a Python codec (by any of its aliases) reads here."""
    return _BY_CODEC.get(codecs.lookup(codec).name)


_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_PRESCAN = 1024
_SAMPLE = 16 * 1024
_HEADER = re.compile(r""";\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;\s]*))""", re.IGNORECASE)
_TAG = re.compile(rb"<!--(?:-?>|.*?(?:-->|\Z))|<(/?[a-z][^\s/>]*+)|<[!/?][^>]*+>?", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(rb"""[\s/]*+(=?[^\s/>=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?""")
_PRAGMA = re.compile(rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class Encoding(NamedTuple):
    """A charset and its source."""

    name: str
    source: str
    """`bom`, `header`, `meta`, `detected` or `default`."""


class DecodedText(NamedTuple):
    """A body as text."""

    text: str
    encoding: str
    source: str
    replaced: bool
    """Whether some bytes did not fit the charset and became U+FFFD."""


def sniff(body: bytes, content_type: str | None = None) -> Encoding:
    """The charset of a body."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return Encoding(name, "bom")
    if content_type and (declared := header_charset(content_type)):
        return Encoding(declared, "header")
    start = body[:_PRESCAN]
    if found := _meta_charset(start) or _xml_charset(start):
        return Encoding(found, "meta")
    return _detect(body)


def decode(body: bytes, content_type: str | None = None) -> DecodedText:
    """The text of a body, without its byte order mark."""
    encoding = sniff(body, content_type)
    body = _unmarked(body, encoding)
    codec = CODECS[encoding.name]
    try:
        return DecodedText(body.decode(codec, "tadoru-c1" if codec == "cp1252" else "strict"), *encoding, replaced=False)
    except UnicodeError:
        return DecodedText(body.decode(codec, "replace"), *encoding, replaced=True)


def as_utf8(body: bytes, content_type: str | None = None) -> tuple[bytes, str]:
    """A body for a parser that reads UTF-8, and its charset: the same bytes when they are UTF-8 already, re-encoded otherwise.

    Bytes that a page declares as UTF-8 are not checked: the HTML parser replaces what is invalid when it is read.
    """
    encoding = sniff(body, content_type)
    if encoding.name == "utf-8":
        return _unmarked(body, encoding), encoding.name
    return decode(body, content_type).text.encode("utf-8", "replace"), encoding.name


@lru_cache(maxsize=256)
def unzipped(body: bytes, most: int) -> bytes:
    """A body that is a gzip file, up to `most` bytes of its content; any other as it is."""
    for _ in range(2):
        if not body.startswith(b"\x1f\x8b"):
            break
        try:
            body = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, most)
        except zlib.error:
            break
    return body


def header_charset(content_type: str) -> str | None:
    """The charset of a Content-Type, by its standard name; None when it names none that is known."""
    match = _HEADER.search(content_type[:1000])
    return charset_name(match[match.lastindex or 0]) if match else None


def _unmarked(body: bytes, encoding: Encoding) -> bytes:
    if encoding.source != "bom":
        return body
    return body[3:] if encoding.name == "utf-8" else body[2:]


def _meta_charset(start: bytes) -> str | None:
    """The standard's prescan: the first `<meta>` that names a known charset, comments and other tags' attributes skipped."""
    position = 0
    while match := _TAG.search(start, position):
        position = match.end()
        if match[1] is None:
            continue
        attributes: dict[bytes, bytes] = {}
        while attribute := _ATTRIBUTE.match(start, position):
            position = attribute.end()
            attributes.setdefault(attribute[1].lower(), attribute[2] or attribute[3] or attribute[4] or b"")
        if match[1].lower() == b"meta" and (name := _declared(attributes)):
            # A page that could be read this far is in no 16-bit encoding.
            return "utf-8" if name.startswith("utf-16") else name
    return None


def _declared(attributes: dict[bytes, bytes]) -> str | None:
    """The charset one `<meta>` declares: its `charset`, else that of its `content` when it stands for the header."""
    label = attributes.get(b"charset")
    if label is None and attributes.get(b"http-equiv", b"").lower() == b"content-type":
        match = _PRAGMA.search(attributes.get(b"content", b""))
        label = match[match.lastindex or 0] if match else None
    return charset_name(label.decode("latin-1")) if label else None


def _xml_charset(start: bytes) -> str | None:
    """What the XML declaration at the very start says; two of its bytes in a 16-bit encoding say enough."""
    if start.startswith(b"<\x00?\x00x\x00"):
        return "utf-16le"
    if start.startswith(b"\x00<\x00?\x00x"):
        return "utf-16be"
    match = _XML.match(start)
    name = charset_name((match[1] or match[2] or b"").decode("latin-1")) if match else None
    return "utf-8" if name and name.startswith("utf-16") else name


def _detect(body: bytes) -> Encoding:
    """A guess from the bytes themselves."""
    if b"\x1b$" in body[:_SAMPLE] and body.isascii():
        return Encoding("iso-2022-jp", "detected")
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        name = _guess(_sample(body, error.start))
        return Encoding(name, "detected") if name else Encoding("windows-1252", "default")
    return Encoding("utf-8", "detected")


def _sample(body: bytes, around: int) -> bytes:
    """A piece with the first telling bytes in it, cut at tags where there are some, so that no character is cut in two."""
    start = max(0, body.rfind(b"<", 0, around))
    end = start + _SAMPLE
    if end < len(body):
        end = max(body.rfind(b"<", start + 1, end), body.rfind(b"\n", start + 1, end), around + 1)
    return body[start : min(end, start + 2 * _SAMPLE)]


def _guess(sample: bytes) -> str | None:
    if name := _with_kana(sample):
        return name
    from charset_normalizer import from_bytes  # slow to import, and few pages need it

    best = from_bytes(sample, cp_isolation=_CANDIDATES, enable_fallback=False, preemptive_behaviour=False).best()
    if best is None:
        return None
    # Where several charsets give the same text, the one that browsers assume is the likeliest.
    return "windows-1252" if "cp1252" in best.could_be_from_charset else name_of_codec(best.encoding)


def _with_kana(sample: bytes) -> str | None:
    """A Japanese charset that makes much of a sample hiragana: that does not happen by chance, nor in any other language."""
    for name in ("euc-jp", "shift_jis"):
        signs = [sign for sign in sample.decode(CODECS[name], "replace") if sign > "\x7f"]
        kana = sum("\u3041" <= sign <= "\u3096" for sign in signs)
        if 5 * kana > len(signs) > 20 * signs.count("\ufffd"):
            return name
    return None


def _c1(error: UnicodeError) -> tuple[str, int]:
    """The five bytes that windows-1252 leaves open stand for the control characters of the same number."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("tadoru-c1", _c1)

# The charsets in use: a guess among all of them goes wrong more often.
_CANDIDATES = (
    "cp932 euc_jp gb18030 big5hkscs cp949 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp874 koi8_r koi8_u "
    "iso8859_2 iso8859_5 iso8859_7 iso8859_15"
).split()


_DECLARED = re.compile(rb"""\sencoding\s*=\s*(?:"[^"]*"|'[^']*')""")
_DECLARATION = 200
_FEED_SAMPLE = 20_000
_JAPANESE = frozenset({"shift_jis", "euc-jp"})
_DECLARES = frozenset({"header", "meta"})


def feed_text(body: bytes, content_type: str | None) -> str:
    """The text of a body."""
    found = decode(body, content_type)
    if found.source not in _DECLARES or (found.encoding == "utf-8" and not found.replaced) or body.isascii():
        return found.text
    undeclared = _DECLARED.sub(b"", body[:_DECLARATION], count=1) + body[_DECLARATION:]
    other = decode(undeclared)
    return other.text if _is_better(other, found) else found.text


def _is_better(other: DecodedText, found: DecodedText) -> bool:
    if other.replaced:
        return found.replaced and other.text.count("\ufffd") < found.text.count("\ufffd")
    if other.encoding == "utf-8" or found.replaced:
        return True
    return other.encoding in _JAPANESE and _is_japanese(other.text)


def _is_japanese(text: str) -> bool:
    """Whether much of what is not ASCII is hiragana, which does not happen by chance."""
    signs = [sign for sign in text[:_FEED_SAMPLE] if sign > "\x7f"]
    return 5 * sum("\u3041" <= sign <= "\u3096" for sign in signs) > len(signs) > 0
