"""The geometry of small charts. The templates draw them, and the style sheet colours them by class name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_WIDTH = 520.0
_MIN_WIDTH = 6.0
"""The minimum width of a segment, so that one broken page in a thousand is visible."""
MAX_COLUMNS = 24


class ChartSegment(NamedTuple):
    """One segment of a bar."""

    kind: str
    """The CSS class that colours it."""
    label: str
    size: int


def describe_segments(segments: Sequence[ChartSegment]) -> str:
    """The text alternative of a chart."""
    return ", ".join(f"{segment.label}: {segment.size:,}" for segment in segments if segment.size)


def bar_rects(segments: Sequence[ChartSegment], share: float = 1.0) -> list[tuple[ChartSegment, str, str]]:
    """The segments that occur with position and width; together they fill `share` of the available width."""
    shown, available = [segment for segment in segments if segment.size], _WIDTH * share
    total = sum(segment.size for segment in shown)
    widths = [max(_MIN_WIDTH, available * segment.size / total) for segment in shown]
    # Many minimum widths may need more than the available width.
    scale = max(available, _MIN_WIDTH * len(shown)) / (sum(widths) or 1)
    rects, x = [], 0.0
    for segment, least in zip(shown, widths, strict=True):
        width = least * scale
        rects.append((segment, f"{x:.1f}", f"{max(1.0, width - 2):.1f}"))
        x += width
    return rects


def scale_bars(
    rows: Sequence[tuple[str, Sequence[ChartSegment]]],
) -> list[tuple[str, Sequence[ChartSegment], int, float]]:
    """Name, segments, total and share of each bar, relative to the longest one; nothing if all are empty."""
    totals = [sum(segment.size for segment in segments) for _, segments in rows]
    longest = max(totals, default=0)
    return [(*row, total, total / longest) for row, total in zip(rows, totals, strict=True)] if longest else []


def limit_columns(parts: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """At most `MAX_COLUMNS` labels and counts: the last one sums up the rest."""
    if len(parts) <= MAX_COLUMNS:
        return list(parts)
    rest = parts[MAX_COLUMNS - 1 :]
    return [*parts[: MAX_COLUMNS - 1], (f"{rest[0][0]}+", sum(count for _, count in rest))]


class ChartColumn(NamedTuple):
    """One column, with coordinates as text."""

    label: str
    size: int
    x: str
    y: str
    width: str
    height: str
    middle: str
    count_y: str


def chart_columns(parts: Sequence[tuple[str, int]]) -> list[ChartColumn]:
    """A column for each label and count, at most `MAX_COLUMNS`."""
    bars = limit_columns(parts)
    most = max((count for _, count in bars), default=0) or 1
    slot = _WIDTH / max(len(bars), 5)
    columns = []
    for number, (label, count) in enumerate(bars):
        high = max(2.0, 120 * count / most) if count else 0.0
        middle, wide = slot * (number + 0.5), min(54.0, slot * 0.72)
        place = (middle - wide / 2, 142 - high, wide, high, middle, 136 - high)
        columns.append(ChartColumn(label, count, *(f"{value:.1f}" for value in place)))
    return columns
