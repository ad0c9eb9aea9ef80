"""The width of a text in search results, where longer texts are cut off.

Widths are those of Arial, in thousandths of its size; characters that are not in the table count as an average letter,
full-width ones as the font's height. It is an estimate without kerning and bold words.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

TITLE_SIZE = 20
DESCRIPTION_SIZE = 14
"""In pixels."""

_USUAL = 556
_WIDTHS = {
    191: "'",
    222: "ijl",
    260: "|",
    278: " !,./:;I[\\]ft",
    333: "()-`r",
    334: "{}",
    355: '"',
    389: "*",
    469: "^",
    500: "Jcksvxyz",
    556: "#$0123456789?L_abdeghnopqu",
    584: "+<=>~",
    611: "FTZ",
    667: "&ABEKPSVXY",
    722: "CDHNRUw",
    778: "GOQ",
    833: "Mm",
    889: "%",
    944: "W",
    1000: "—…",
    1015: "@",
}
_TABLE = {sign: width for width, signs in _WIDTHS.items() for sign in signs}


def pixels(text: str, size: int) -> int:
    """The width of a text set in Arial of this size."""
    return round(sum(map(_width, text)) * size / 1000)


def columns(text: str) -> int:
    """The length of a text in characters, full-width ones (Chinese, Japanese, Korean) counted twice: they are as wide as two."""
    return len(text) if text.isascii() else sum(2 if _is_wide(sign) else 1 for sign in text)


@lru_cache(maxsize=4096)
def _width(sign: str) -> int:
    if sign in _TABLE:
        return _TABLE[sign]
    if _is_wide(sign):
        return 1000
    if unicodedata.combining(sign):
        return 0
    base = unicodedata.normalize("NFD", sign)[0]
    return _TABLE.get(base, _USUAL)


@lru_cache(maxsize=4096)
def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in ("W", "F")
