"""Small charts as SVG. Colours come from the page's style sheet through class names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

_WIDTH = 520.0
_LEAST = 6.0
"""A piece is never thinner than a finger's breadth of pixels: one broken page in a thousand must still be seen."""
MAX_COLUMNS = 24


class ChartSegment(NamedTuple):
    """A part of a whole."""

    kind: str
    """The class that gives it its colour."""
    words: str
    size: int


def describe_segments(pieces: Sequence[ChartSegment]) -> str:
    """A chart in words, for whoever does not see it."""
    return ", ".join(f"{piece.words}: {piece.size:,}" for piece in pieces if piece.size)


def bar_svg(pieces: Sequence[ChartSegment], share: float = 1.0) -> str:
    """One bar, a piece for each part that occurs; it fills so large a share of its width."""
    shown = [piece for piece in pieces if piece.size]
    if not shown:
        return ""
    return (
        f'<svg class="bar" viewBox="0 0 {_WIDTH:.0f} 26" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(describe_segments(shown))}">{"".join(_segment_rects(shown, _WIDTH * share))}</svg>'
    )


def _segment_rects(shown: Sequence[ChartSegment], room: float) -> Iterator[str]:
    total = sum(piece.size for piece in shown)
    widths = [max(_LEAST, room * piece.size / total) for piece in shown]
    # Where room is too narrow for all of them they may take more.
    scale = max(room, _LEAST * len(shown)) / sum(widths)
    x = 0.0
    for piece, least in zip(shown, widths, strict=True):
        width = least * scale
        hint = f"<title>{escape(piece.words)}: {piece.size:,}</title>"
        yield f'<rect class="{piece.kind}" x="{x:.1f}" width="{max(1.0, width - 2):.1f}" height="26">{hint}</rect>'
        x += width


def limit_columns(parts: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """As many labels and counts as can be looked at: of very many, the last one holds all the rest."""
    if len(parts) <= MAX_COLUMNS:
        return list(parts)
    rest = parts[MAX_COLUMNS - 1 :]
    return [*parts[: MAX_COLUMNS - 1], (f"{rest[0][0]}+", sum(count for _, count in rest))]


def columns_svg(parts: Sequence[tuple[str, int]], name: str = "") -> str:
    """A column for each label and count; of very many, the last one holds all the rest. `name` comes before each spoken label."""
    bars = limit_columns(parts)
    if not bars:
        return ""
    most = max(count for _, count in bars) or 1
    slot = _WIDTH / max(len(bars), 5)
    pieces = []
    for number, (label, count) in enumerate(bars):
        high = max(2.0, 120 * count / most) if count else 0.0
        middle = slot * (number + 0.5)
        wide = min(54.0, slot * 0.72)
        place = f'x="{middle - wide / 2:.1f}" y="{142 - high:.1f}" width="{wide:.1f}" height="{high:.1f}"'
        pieces.append(
            f'<rect class="column" {place} rx="3"/>'
            f'<text class="count" x="{middle:.1f}" y="{136 - high:.1f}">{count:,}</text>'
            f'<text class="axis" x="{middle:.1f}" y="160">{escape(label)}</text>'
        )
    words = ", ".join(f"{name} {label}: {count:,}".lstrip() for label, count in bars)
    return f'<svg class="columns" viewBox="0 0 {_WIDTH:.0f} 166" role="img" aria-label="{escape(words)}">{"".join(pieces)}</svg>'
