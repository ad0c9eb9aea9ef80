"""References that cannot be what their author meant: mistyped schemes, URLs that no parser accepts, and empty references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_lowercase
from typing import NamedTuple
from urllib.parse import unquote

from tadoru.model.web import LinkKind
from tadoru.parse.page_limits import MAX_LINKS
from tadoru.rules.url import LONGEST_URL

EMPTY = "empty href"
UNPARSABLE = "malformed URL"
MISTYPED_SCHEME = "mistyped scheme"
DOUBLED_SCHEME = "two schemes in one URL"
MISSING_COLON = "the colon after the scheme is missing"
MISSING_SLASHES = "the slashes after the scheme are missing"
LOCAL_FILE = "a file on the computer of its author"
BAD_MAIL = "malformed mail address"
BAD_PHONE = "malformed phone number"

_WEB = frozenset({"http", "https"})
_START = re.compile(r"[\s\0]*+([a-z]{3,7})(:?)([/\\]*+)", re.IGNORECASE)
_LOCAL_FILE = re.compile(r"\s*+(?:file:|[a-z]:\\)", re.IGNORECASE)
_DOUBLED = re.compile(r"\s*+https?:/*(?:https?:|[^/?#]*@?https?(?::|//))", re.IGNORECASE)
_RELATIVE_QUERY = re.compile(r"\s*+https?:\?", re.IGNORECASE)
"""An old spelling of `?…` that browsers still understand."""
_CONTACT = re.compile(r"\s*+(mailto|tel):", re.IGNORECASE)
_MAIL = re.compile(r"[^\s@<>]+@[^\s@<>.]+(?:\.[^\s@<>.]+)*")
_PHONE = re.compile(r"[+*#(]*+[0-9][-0-9.()*# ]*+(?:;.*)?", re.DOTALL)
"""As RFC 3966 has it: digits, signs between them, and parameters."""
_LOOKED_AT = 300
"""Characters of a reference that are looked at."""


class MalformedLink(NamedTuple):
    """A link of a page that leads nowhere, because its reference is wrong."""

    href: str
    """As the page has it."""
    text: str
    position: int
    """The number of links that come before it on the page."""
    problem: str
    kind: LinkKind = LinkKind.A


def reference_problem(reference: str, *, leads: bool) -> str | None:
    """What is wrong with a reference, which `leads` to a URL or not; None when it may be what its author meant."""
    if not reference or reference.isspace():
        return EMPTY
    head = reference[:_LOOKED_AT]
    if _CONTACT.match(head):
        return contact_problem(reference)
    if (start := _START.match(head)) is not None:
        scheme, colon, slashes = start[1].lower(), start[2], start[3]
        if scheme in _WEB:
            return _web_problem(reference, colon, slashes, leads=leads)
        if scheme in _MISTYPED and (colon or slashes[:2] == "//"):
            return MISTYPED_SCHEME
    if _LOCAL_FILE.match(head):
        return LOCAL_FILE
    return UNPARSABLE if not leads and head.lstrip()[:2] in ("//", "\\\\") else None


def contact_problem(reference: str) -> str | None:
    """What is wrong with a `mailto:` or `tel:` reference."""
    scheme, _, rest = reference.strip().partition(":")
    if scheme.lower() == "tel":
        return None if _PHONE.fullmatch(unquote(rest).strip()) else BAD_PHONE
    addresses, _, fields = rest.partition("?")
    if not addresses.strip():
        return None if re.search(r"(?:^|&)(?:to|cc|bcc)=.", fields, re.IGNORECASE) else BAD_MAIL
    return None if all(_MAIL.fullmatch(unquote(address).strip()) for address in addresses.split(",")) else BAD_MAIL


def contact_kind(reference: str, kind: LinkKind) -> LinkKind:
    """The kind of a reference: that of its scheme if it is an address to write to or to call."""
    contact = _CONTACT.match(reference[:_LOOKED_AT])
    return kind if contact is None else LinkKind(contact[1].lower())


def note_problem(found: list[MalformedLink], link: MalformedLink) -> None:
    """Keep a link whose reference is wrong. `#` alone is a reference, and an empty one without text is no link to see."""
    if (link.problem != EMPTY or (link.text and "#" not in link.href)) and len(found) < MAX_LINKS:
        found.append(link._replace(href=link.href[:_LOOKED_AT], kind=contact_kind(link.href, link.kind)))


def _web_problem(reference: str, colon: str, slashes: str, *, leads: bool) -> str | None:
    """The problem of a reference that begins with http or https."""
    if not colon:
        return MISSING_COLON if len(slashes) > 1 else None
    if _DOUBLED.match(reference[:_LOOKED_AT]):
        return DOUBLED_SCHEME
    if len(slashes) < 2 and not _RELATIVE_QUERY.match(reference):
        return MISSING_SLASHES
    return None if leads or len(reference) > LONGEST_URL else UNPARSABLE


def _one_edit_away(word: str) -> Iterator[str]:
    """The words that one mistake makes of a word: a letter is lost, replaced, added or exchanged with the next."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield before + after[1:]
        yield before + after[1:2] + after[:1] + after[2:]
        for letter in ascii_lowercase:
            yield before + letter + after
            yield before + letter + after[1:]


_MISTYPED = frozenset(edit for scheme in _WEB for edit in _one_edit_away(scheme)) - _WEB - {"shttp"}
