"""Plain pages: what is left of them, and what is their title. What makes a page not plain: `test_scan`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.scan import PlainMarkup, read_plain_markup

MARKUP = {
    "nothing to take out": (b"<p>a</p>", b"<p>a</p>", None),
    "a comment": (b"a<!-- <b> -->c", b"ac", None),
    "a script": (b"a<script src=x>1 < 2</script >b", b"ab", None),
    "a title": (b"<title>A &amp; B</title>c", b"c", b"A &amp; B"),
    "the first of two titles": (b"<title>A</title><title>B</title>", b"", b"A"),
    "a title behind that of a drawing": (b"<svg><title>A</title></svg><title>B</title>", b"<svg></svg>", b"B"),
    "declarations": (b"<!doctype html><?xml version='1.0'?><p>", b"<p>", None),
    "a meta": (b"<meta name=viewport content='width=1'>a", b"a", None),
    "brackets in text": (b"1 < 2 > 0 <p>a", b"1 < 2 > 0 <p>a", None),
}


@pytest.mark.parametrize("body, markup, title", MARKUP.values(), ids=MARKUP.keys())
def test_text_and_tags_are_left(body: bytes, markup: bytes, title: bytes | None) -> None:
    assert read_plain_markup(body) == PlainMarkup(markup, title)


@given(
    st.lists(st.sampled_from([b"<p>", b"</p>", b'<p a="', b'">', b"<p a='", b"'>", b"<b", b" c=d", b"x", b'"', b"'"])).map(
        b"".join
    )
)
def test_in_a_plain_page_every_tag_ends_before_the_next_begins(body: bytes) -> None:
    """Read letter by letter, as the standard says for attributes."""
    page = read_plain_markup(body)
    if page is None:
        return
    rest = page.markup
    while rest:
        rest = rest.partition(b"<")[2]
        end = _tag_end(rest)
        assert b"<" not in rest[:end]
        rest = rest[end + 1 :]


def _tag_end(tag: bytes) -> int:
    """Where a tag ends that begins just before: at a `>` that is in no quoted value."""
    state, quote = "name", 0
    for position, byte in enumerate(tag):
        sign = bytes([byte])
        if state == "quoted":
            state = "name" if byte == quote else state
        elif sign == b">":
            return position
        elif sign == b"=" and state == "name":
            state = "value"
        elif state == "value" and sign in b"'\"":
            state, quote = "quoted", byte
        elif sign.isspace():
            state = "value" if state == "value" else "name"
        elif state == "value":
            state = "bare"
    return len(tag)
