"""Small charts as SVG. The style sheet of the page colours them by class name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
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


def bar_svg(segments: Sequence[ChartSegment], share: float = 1.0) -> str:
    """One bar with a segment for each part that occurs; it fills `share` of the available width."""
    shown = [segment for segment in segments if segment.size]
    if not shown:
        return ""
    return (
        f'<svg class="bar" viewBox="0 0 {_WIDTH:.0f} 26" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(describe_segments(shown))}">{"".join(_segment_rects(shown, _WIDTH * share))}</svg>'
    )


def _segment_rects(shown: Sequence[ChartSegment], available: float) -> Iterator[str]:
    total = sum(segment.size for segment in shown)
    widths = [max(_MIN_WIDTH, available * segment.size / total) for segment in shown]
    # Many minimum widths may need more than the available width.
    scale = max(available, _MIN_WIDTH * len(shown)) / sum(widths)
    x = 0.0
    for segment, least in zip(shown, widths, strict=True):
        width = least * scale
        hint = f"<title>{escape(segment.label)}: {segment.size:,}</title>"
        yield f'<rect class="{segment.kind}" x="{x:.1f}" width="{max(1.0, width - 2):.1f}" height="26">{hint}</rect>'
        x += width


def limit_columns(parts: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """At most `MAX_COLUMNS` labels and counts: the last one sums up the rest."""
    if len(parts) <= MAX_COLUMNS:
        return list(parts)
    rest = parts[MAX_COLUMNS - 1 :]
    return [*parts[: MAX_COLUMNS - 1], (f"{rest[0][0]}+", sum(count for _, count in rest))]


def columns_svg(parts: Sequence[tuple[str, int]], name: str = "") -> str:
    """A column for each label and count, at most `MAX_COLUMNS`. `name` precedes each label in the text alternative."""
    bars = limit_columns(parts)
    if not bars:
        return ""
    most = max(count for _, count in bars) or 1
    slot = _WIDTH / max(len(bars), 5)
    segments = []
    for number, (label, count) in enumerate(bars):
        high = max(2.0, 120 * count / most) if count else 0.0
        middle = slot * (number + 0.5)
        wide = min(54.0, slot * 0.72)
        place = f'x="{middle - wide / 2:.1f}" y="{142 - high:.1f}" width="{wide:.1f}" height="{high:.1f}"'
        segments.append(
            f'<rect class="column" {place} rx="3"/>'
            f'<text class="count" x="{middle:.1f}" y="{136 - high:.1f}">{count:,}</text>'
            f'<text class="axis" x="{middle:.1f}" y="160">{escape(label)}</text>'
        )
    text = ", ".join(f"{name} {label}: {count:,}".lstrip() for label, count in bars)
    return f'<svg class="columns" viewBox="0 0 {_WIDTH:.0f} 166" role="img" aria-label="{escape(text)}">{"".join(segments)}</svg>'
