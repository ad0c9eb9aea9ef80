"""The text of a feed or a calendar whose charset may be declared wrongly, as that of many is.

What is declared holds (`parse.decode`), unless the bytes themselves say otherwise beyond doubt: they are UTF-8, or they are
Japanese, or they do not fit what is declared and do fit something else.
"""

from __future__ import annotations

import re

from tadoru.parse.decode import Decoded, decode

_DECLARED = re.compile(rb"""\sencoding\s*=\s*(?:"[^"]*"|'[^']*')""")
_DECLARATION = 200
_SAMPLE = 20_000
_JAPANESE = frozenset({"shift_jis", "euc-jp"})
_DECLARES = frozenset({"header", "meta"})


def text_of(body: bytes, content_type: str | None) -> str:
    """The text of a body."""
    found = decode(body, content_type)
    if found.source not in _DECLARES or (found.encoding == "utf-8" and not found.replaced) or body.isascii():
        return found.text
    undeclared = _DECLARED.sub(b"", body[:_DECLARATION], count=1) + body[_DECLARATION:]
    other = decode(undeclared)
    return other.text if _is_better(other, found) else found.text


def _is_better(other: Decoded, found: Decoded) -> bool:
    if other.replaced:
        return found.replaced and other.text.count("\ufffd") < found.text.count("\ufffd")
    if other.encoding == "utf-8" or found.replaced:
        return True
    return other.encoding in _JAPANESE and _is_japanese(other.text)


def _is_japanese(text: str) -> bool:
    """Whether much of what is not ASCII is hiragana, which does not happen by chance."""
    signs = [sign for sign in text[:_SAMPLE] if sign > "\x7f"]
    return 5 * sum("\u3041" <= sign <= "\u3096" for sign in signs) > len(signs) > 0
