"""Assembles pages that React streamed in pieces.

A streaming server sends `<template id="B:1">` with a placeholder for a slow part, and the part itself at the end of the page in
`<div hidden id="S:1">`; a script moves it into place. Without this, code blocks of many sites would be missing.
"""

from __future__ import annotations

import re

from tadoru.parse.html import Element

_END_COMMENT = "/$"
"""The comment at the end of a placeholder."""
_MAX_PIECES = 200
_NAME = re.compile(r"[\w-]{1,40}")
_MAX_DEPTH = 300


def resolve_streamed(body: Element) -> None:
    """Move every streamed part into its place. Other pages are not changed."""
    late = [(piece.attributes.get("id") or "")[2:] for piece in body.css('div[hidden][id^="S:"]')]
    for name in late[:_MAX_PIECES]:
        # Looked up each time: moving one part may have removed another one with its placeholder.
        piece = body.css_first(f'div[id="S:{name}"]') if _NAME.fullmatch(name) else None
        place = body.css_first(f'template[id="B:{name}"]') if piece is not None else None
        if piece is not None and place is not None and not _is_within(place, piece):
            _move_piece(piece, place)


def _is_within(place: Element, piece: Element) -> bool:
    """Whether a placeholder is inside its own part, or nested too deeply to check."""
    above: Element | None = place
    for _ in range(_MAX_DEPTH):
        if above is None:
            return False
        if above.mem_id == piece.mem_id:
            return True
        above = above.parent
    return True


def _move_piece(piece: Element, place: Element) -> None:
    _drop_placeholder(place, piece)
    while (child := piece.first_child) is not None:
        place.insert_before(child, move=True)
    place.decompose()
    piece.decompose()


def _drop_placeholder(place: Element, piece: Element) -> None:
    """Remove the placeholder content up to the end comment; nothing if there is no comment or the part is in between."""
    shown: list[Element] = []
    node = place.next
    while node is not None and not (node.is_comment_node and (node.comment_content or "").strip() == _END_COMMENT):
        shown.append(node)
        node = node.next
    if node is not None and not any(_is_within(piece, each) for each in shown):
        for each in shown:
            each.decompose()
