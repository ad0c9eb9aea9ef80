"""Pages that are small on the wire and name more, or repeat longer values, than anybody would read: each under its name."""

from __future__ import annotations

from collections.abc import Callable

LARGEST = 9 * 1024 * 1024
"""Bytes: just below what a crawl takes of one page."""
LONG_NAME = "x" * 60_000
LONG_FOLDER = "x" * 2_000
"""As long as a base may be."""


def _page(head: str, body: str) -> str:
    return f"<!doctype html><html><head><title>A page</title>{head}</head><body><main><h1>A page</h1>{body}</main></body></html>"


def _repeated(piece: Callable[[int], str], most: int = 1_000_000, size: int = LARGEST) -> str:
    pieces: list[str] = []
    for number in range(most):
        pieces.append(piece(number))
        size -= len(pieces[-1])
        if size < 0:
            break
    return "".join(pieces)


def _links(most: int) -> str:
    return _repeated(lambda number: f'<a href="{number}">link</a> ', most)


def _rows(most: int) -> str:
    return _repeated(lambda _: "<tr><td>b", most)


PAGES: dict[str, Callable[[], str]] = {
    "long-base": lambda: _page(f'<base href="/{LONG_NAME}/">', "<p>Words of a page.</p>" + _links(60_000)),
    "longest-base": lambda: _page(f'<base href="/{LONG_FOLDER}/">', "<p>Words of a page.</p>" + _links(100_000)),
    "srcset": lambda: _page(
        f'<base href="/{LONG_FOLDER}/">', f'<p>Words of a page.</p><img src=a srcset="{_repeated(lambda n: f"{n} 1x,")}">'
    ),
    "alternates": lambda: _page(
        f'<base href="/{LONG_FOLDER}/">'
        + _repeated(lambda number: f"<link rel=alternate hreflang=en href={number}>", 100_000)
        + _repeated(lambda number: f"<link rel=canonical href={number}>", 100_000),
        "<p>Words of a page.</p>",
    ),
    "paragraphs": lambda: _page("", _repeated(lambda _: "<p>", 4_000_000)),
    "attributes": lambda: _page("", _repeated(lambda _: f"<p {' '.join(f'a{number}' for number in range(3_000))}>x")),
    "relations": lambda: _page(f'<link href="/x" rel="{_repeated(lambda number: f"a{number} ", 2_000_000)}">', "<p>Words."),
    "description": lambda: _page(f'<meta name="description" content="{_repeated(lambda _: "a ", 5_000_000)}">', "<p>Words."),
    "structured": lambda: _page(
        '<script type="application/ld+json">{"@context":"https://schema.org","@type":"Thing","name":['
        + _repeated(lambda _: "1,", 5_000_000)
        + "1]}</script>",
        "<p>Words of a page.</p>",
    ),
    "properties": lambda: _page(
        "",
        '<div itemscope itemtype="https://schema.org/Thing"><span itemprop="'
        + _repeated(lambda number: f"a{number} ", 1_000_000)
        + f'">{"y" * 2_000}</span></div>',
    ),
    "nested-code": lambda: _page("", "<ol start=999999999><li>" * 38 + "<pre>" + "a\n" * 4_000_000),
    "nested-quotes": lambda: _page("", "<blockquote>" * 38 + _repeated(lambda _: "a<br>", 150_000)),
    "wide-tables": lambda: _page("", (f"<table><tr>{'<td>a' * 200}{_rows(15_000)}</table>") * 8),
    "tall-cells": lambda: _page(
        "", (f"<table><tr><td rowspan=65534>{'word ' * 20_000}<td>b{_rows(200)}</table>") * 80
    ),
}  # fmt: skip
"""By name, how each is made: they are large."""


def feed_with_a_long_base(items_in_it: int) -> str:
    """A feed whose items are relative to a base of 60 KB."""
    items = _repeated(
        lambda number: f"<item><title>2031-05-{number % 28 + 1:02} Fair {number}</title><link>{number}</link></item>", items_in_it
    )
    return f'<rss version="2.0" xml:base="/{LONG_NAME}/"><channel><title>Fairs</title>{items}</channel></rss>'
