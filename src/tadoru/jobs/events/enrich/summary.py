"""A short summary out of an event's own words: the first sentences of its description, as many as fit.

Pure and always the same. Nothing is made up, and no word is cut: a first sentence that is too long ends at a comma or between two
words, with an ellipsis. A description that is short enough to be read as it is gets none.
"""

from __future__ import annotations

import re
import unicodedata

from tadoru.parse.normal_text import clean_title, plain_text

LONGEST = 120
"""Letters of a summary; a description of no more than these needs none."""
_SHORTEST = 30
"""Letters below which the beginning of a sentence says nothing."""
_END = re.compile(r"(?:[。！？!?]+|[.．]+)[」』）)\]”’\"']*|\n+")
_OPENING = "「『（(“\"'‘"
_ABBREVIATED = frozenset(
    "dr mr mrs ms st prof no nr vs approx dept inc ltd jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_PAUSE = re.compile(r"[、，,;；:：]|[」』）)](?!の)")


def summary_of(description: str, title: str = "") -> str:
    """The summary; empty when the description is short, or can not be shortened without cutting a word."""
    text = _without_title(plain_text(description), title)
    if len(" ".join(text.split())) <= LONGEST:
        return ""
    kept = ""
    for sentence in _sentences(text):
        joined = f"{kept}{'' if not kept or _is_wide(kept[-1]) else ' '}{sentence}"
        if len(joined) > LONGEST:
            return kept or _shortened(sentence)
        kept = joined
    return kept


def _without_title(text: str, title: str) -> str:
    """Many descriptions begin with the title."""
    first, _, rest = text.partition("\n")
    return rest.strip() if title and rest.strip() and clean_title(first) == clean_title(title) else text


def _sentences(text: str) -> list[str]:
    found, start = [], 0
    for match in _END.finditer(text):
        if _ends(text, start, match):
            found.append(text[start : match.end()])
            start = match.end()
    found.append(text[start:])
    return [tidy for one in found if (tidy := " ".join(one.split()))]


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a sentence ends at this sign."""
    sign = match[0][0]
    if sign in "\n。！？":
        return True
    following = text[match.end() : match.end() + 2]
    if following and not (following[0].isspace() or _is_wide(following[0])):
        return False
    if sign != ".":
        return True
    # A short word before a full stop may be an abbreviation, and a small letter after it goes on.
    words = text[start : match.start()].split()
    word = words[-1].lstrip(_OPENING).casefold() if words else ""
    is_short = (len(word) == 1 and word.isalpha()) or "." in word or word in _ABBREVIATED
    return not is_short and not following.strip()[:1].islower()


def _shortened(sentence: str) -> str:
    """The beginning of a long sentence, up to a pause or between two words."""
    room = sentence[: LONGEST - 1]
    pauses = [match.end() for match in _PAUSE.finditer(room) if _is_pause(sentence, match)]
    cut = pauses[-1] if pauses and pauses[-1] > LONGEST // 2 else max(_between_words(sentence), *pauses, 0)
    kept = room[:cut].rstrip(" 、，,;；:：-–—・(（「『")
    return f"{kept}…" if len(kept) >= _SHORTEST else ""


def _is_pause(sentence: str, match: re.Match[str]) -> bool:
    """A comma within a number, or a colon within a time or an address, is none."""
    sign, after = match[0], sentence[match.end() : match.end() + 1]
    return sign not in ",;:)" or not after or after.isspace() or _is_wide(after)


def _between_words(sentence: str) -> int:
    """The last place within the room where one word ends and another begins; 0 when there is none.

    Japanese writes no spaces; there a word begins where kana of grammar (hiragana) are followed by anything else.
    """
    for place in range(LONGEST - 1, 0, -1):
        before, after = sentence[place - 1], sentence[place]
        if after.isspace():
            return place
        if _is_hiragana(before) and not _is_hiragana(after) and _is_wide(after) and after.isalpha():
            return place
    return 0


def _is_hiragana(sign: str) -> bool:
    return "ぁ" <= sign <= "ゟ" or sign == "ー"


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"
