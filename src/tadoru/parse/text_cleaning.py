"""Cleans the texts of events: to compare (`clean_title`, `clean_venue`), to show (`display_text`, `one_line`, `plain_text`),
and as safe HTML (`sanitise_html`).

Cleaning for comparison removes differences of writing, never of meaning: numbers, ages, and the branch in parentheses stay,
because they distinguish events. Similarity is computed by the events job; dates are parsed in `parse.dates`.
"""

from __future__ import annotations

import html
import re
import unicodedata

import nh3

TAGS = frozenset(
    "a b strong i em u s p br hr ul ol li dl dt dd h2 h3 h4 h5 h6 blockquote pre code "
    "table thead tbody tr th td caption small sub sup".split()
)
_ATTRIBUTES = {"a": {"href"}, "td": {"colspan", "rowspan"}, "th": {"colspan", "rowspan"}}
_SCHEMES = {"http", "https", "mailto"}
_REL = "noopener noreferrer nofollow ugc"

_TAG = re.compile(r"<[a-zA-Z/!?]")
_ELEMENT = re.compile(
    r"<(?:!--|/?(?:a|abbr|article|audio|b|big|blockquote|body|br|button|center|cite|code|dd|del|div|dl|dt|em|embed|figure|font|form|h[1-6]|"
    r"head|hr|html|i|iframe|img|input|ins|label|li|link|math|meta|nobr|noscript|object|ol|p|pre|rp|rt|ruby|s|script|section|small|span|"
    r"strike|strong|style|sub|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|title|tr|tt|u|ul|video|wbr)[\s/>])",
    re.IGNORECASE,
)
"""Markup for certain: what else stands in angle brackets may be part of a name."""
_ENTITY = re.compile(r"&(?:[a-zA-Z][a-zA-Z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});")
_ESCAPED_TAG = re.compile(r"&lt;/?(?:p|br|div|b|strong|a|ul|ol|li|span|h[1-6]|em|i|table|tr|td)\b", re.IGNORECASE)
_BREAKS = re.compile(
    r"<(?:br|hr|/p|/div|/li|/h[1-6]|/tr|/dt|/dd|/blockquote|/ul|/ol|/table|p|div|li|h[1-6])\b[^<>]{0,500}>", re.IGNORECASE
)
_CELLS = re.compile(r"</t[dh]>", re.IGNORECASE)

_MOJIBAKE = re.compile(r"[ÂÃÄÅÆÇÈÉÐÑâãäåæçèéêëìíîïð][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]")
"""What UTF-8 looks like when it was taken for a Western charset."""
_UNSEEN = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters, and those that turn the direction of a line or take no room; not the joiners of emoji and of scripts."""
_UNTIDY = re.compile(rf"{_UNSEEN.pattern}|&|[^\S\n ]|  | \n|\n |\n\n\n|{_MOJIBAKE.pattern}")
"""Anything that `display_text` would have to work on."""
_LINE_ENDS = re.compile(r"\r\n?|[\u0085\u2028\u2029]")
_SPACES = re.compile(r"[^\S\n]{1,1000}")
_LINES = re.compile(r" ?\n(?:\s{0,100}\n){2,}| ?\n ?")

_STATUS = re.compile(
    r"^\s{0,5}[【\[(（［〔「<＜](?:開催|一部)?(?:中止|延期|終了|満員|満席|受付終了|募集終了|申込終了|再掲|更新|new)(?:しました|になりました|のお知らせ)?[】\])）］〕」>＞]\s{0,5}",
    re.IGNORECASE,
)
_LONG = re.compile(r"(?<=[ァ-ヺぁ-ゖ])[ー‐‑‒–—―−ｰ\-~〜～]{1,20}(?=[ァ-ヺー]|$)")
_SUBTITLE = re.compile(r"[~〜～]([^~〜～]{3,60})[~〜～]")
"""Waves around a subtitle are brackets, not long vowels."""
_SIGNS = frozenset("PSZC")
_FLOOR = re.compile(r"(?<![a-z])(b?)\s?([0-9]{1,2})\s?f(?![a-z0-9])")
_GAP = re.compile(r"(?<![a-z0-9]) | (?![a-z0-9])")


def clean_title(text: str) -> str:
    """A title in the form in which titles are compared; what stands in brackets is kept, a mark like 【中止】 in front is not."""
    return _bare(_STATUS.sub("", text)) or _bare(text)


def clean_venue(text: str) -> str:
    """A venue in the form in which venues are compared: as a title, with storeys in one spelling."""
    bare = _bare(text)
    return _bare(_FLOOR.sub(lambda found: f"{'地下' if found[1] else ''}{found[2]}階", bare)) if _FLOOR.search(bare) else bare


def _bare(text: str) -> str:
    """Letters and digits in one width and case; signs and spaces only where they keep two Latin words or numbers apart."""
    text = _folded(text)
    text = _LONG.sub("ー", _SUBTITLE.sub(r" \1 ", text))
    kept = text if text.isalnum() else "".join(sign if sign.isalnum() or _is_kept(sign) else " " for sign in text)
    bare = _GAP.sub("", " ".join(kept.split())) or "".join(text.split())
    # An accent that stood alone may have come to stand behind a letter.
    return bare if bare == _folded(bare) else _bare(bare)


def _folded(text: str) -> str:
    """One width and one case. Folding the case can undo the first of the two, so it is done until nothing changes."""
    if text.isascii():
        return text.casefold()
    while (folded := unicodedata.normalize("NFKC", text).casefold()) != text:
        text = folded
    return text


def _is_kept(sign: str) -> bool:
    return sign == "ー" or unicodedata.category(sign)[0] not in _SIGNS


def display_text(text: str, limit: int | None = None) -> str:
    """A text for display: repaired where a charset was mistaken, without control characters, with single spaces."""
    if _UNTIDY.search(text) or not unicodedata.is_normalized("NFC", text):
        text = _tidied(html.unescape(text) if _ENTITY.search(text) else text)
        text = _SPACES.sub(" ", unicodedata.normalize("NFC", text))
        text = _LINES.sub(lambda found: "\n\n" if found[0].count("\n") > 2 else "\n", text)
    text = text.strip()
    if limit is None or len(text) <= limit:
        return text
    return text[: limit - 1].rstrip() + "…"


def one_line(text: str, limit: int | None = None) -> str:
    """A short text that belongs on one line, without markup."""
    if not text:
        return ""
    plain = plain_text(text) if "<" in text and _ELEMENT.search(_tidied(text)) else text
    return display_text(" ".join(plain.split()), limit)


def _tidied(text: str) -> str:
    """Repairs mistaken charsets, and removes invisible characters and other line ends than \\n."""
    if _MOJIBAKE.search(text):
        import ftfy  # it costs a tenth of a second to load, and few texts need it

        text = ftfy.fix_encoding(text)
    return _UNSEEN.sub("", _LINE_ENDS.sub("\n", text))


def is_html(text: str) -> bool:
    """Is there markup in it?"""
    return _TAG.search(text) is not None or _ENTITY.search(text) is not None


def sanitise_html(text: str) -> str:
    """HTML with the tags a description needs and nothing that runs, loads or leads elsewhere than to the web or a mailbox.

    Plain text comes back as it was. Either way the result is safe where HTML is expected.
    """
    # What cannot be seen goes first: it could stand between a bracket and the name of a tag.
    text = _tidied(text)
    if not _TAG.search(text) and _ESCAPED_TAG.search(text):
        text = _tidied(html.unescape(text))
    if not _TAG.search(text) and not is_html(plain := _tidied(html.unescape(text))):
        return display_text(plain)
    cleaned = nh3.clean(text, tags=set(TAGS), attributes=_ATTRIBUTES, url_schemes=_SCHEMES, link_rel=_REL, url_relative="deny")
    return cleaned.strip()


def plain_text(text: str) -> str:
    """The words of a piece of HTML, its blocks on lines of their own."""
    text = _tidied(text)
    if not is_html(text):
        return display_text(text)
    broken = _CELLS.sub(" ", _BREAKS.sub("\n", text))
    return display_text(html.unescape(nh3.clean(broken, tags=set())))
