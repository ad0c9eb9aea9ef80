"""Which charset a body is in, found as browsers find it, and its text.

In order: byte order mark, `charset` of the Content-Type, `<meta>` (or the XML declaration) in the first 1024 bytes, detection.
Nothing here raises: bytes that do not fit become U+FFFD, and unknown names are as good as none. Names and codecs: `charsets`.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import NamedTuple

from tadoru.parse.charsets import CODECS, charset_name, name_of_codec

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_PRESCAN = 1024
_SAMPLE = 16 * 1024
_HEADER = re.compile(r""";\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;\s]*))""", re.IGNORECASE)
_TAG = re.compile(rb"<!--(?:-?>|.*?(?:-->|\Z))|<(/?[a-z][^\s/>]*+)|<[!/?][^>]*+>?", re.IGNORECASE | re.DOTALL)
_ATTRIBUTE = re.compile(rb"""[\s/]*+(=?[^\s/>=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?""")
_PRAGMA = re.compile(rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class Encoding(NamedTuple):
    """A charset and where the knowledge comes from."""

    name: str
    source: str
    """`bom`, `header`, `meta`, `detected` or `default`."""


class Decoded(NamedTuple):
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


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """The text of a body, without its byte order mark."""
    encoding = sniff(body, content_type)
    body = _unmarked(body, encoding)
    codec = CODECS[encoding.name]
    try:
        return Decoded(body.decode(codec, "tadoru-c1" if codec == "cp1252" else "strict"), *encoding, replaced=False)
    except UnicodeError:
        return Decoded(body.decode(codec, "replace"), *encoding, replaced=True)


def as_utf8(body: bytes, content_type: str | None = None) -> tuple[bytes, str]:
    """A body for a parser that reads UTF-8, and its charset: the same bytes when they are UTF-8 already, re-encoded otherwise.

    Bytes that a page declares as UTF-8 are not checked: the HTML parser replaces what is invalid when it is read.
    """
    encoding = sniff(body, content_type)
    if encoding.name == "utf-8":
        return _unmarked(body, encoding), encoding.name
    return decode(body, content_type).text.encode("utf-8", "replace"), encoding.name


@lru_cache(maxsize=256)
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
