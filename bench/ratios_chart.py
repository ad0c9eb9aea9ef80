"""Ratios as a picture: one bar for each peer, how many times as fast tadoru is, on a logarithmic scale. SVG by hand."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby
from math import log10
from typing import NamedTuple

LEFT, WIDE, RIGHT, TOP, ROW, BETWEEN = 150, 480, 70, 56, 24, 34
FASTER, SLOWER = "#2a6f97", "#a23b00"


class Bar(NamedTuple):
    """One peer at one job."""

    job: str
    peer: str
    ratio: float


def svg(bars: Sequence[Bar]) -> str:
    """Bars to the right of the line are peers that are slower, to the left those that are faster."""
    low = min(-1.0, *(log10(bar.ratio) for bar in bars))
    high = max(2.0, *(log10(bar.ratio) for bar in bars))

    def across(ratio: float) -> float:
        return LEFT + WIDE * (log10(ratio) - low) / (high - low)

    shapes, y = [], TOP
    for job, group in groupby(bars, key=lambda bar: bar.job):
        shapes.append(f'<text x="14" y="{y + 15}" font-weight="bold">{escape(job)}</text>')
        y += ROW
        for bar in sorted(group, key=lambda bar: -bar.ratio):
            one, end = across(1.0), across(bar.ratio)
            colour = FASTER if bar.ratio >= 1 else SLOWER
            shapes.append(f'<text x="{LEFT - 10}" y="{y + 15}" text-anchor="end">{escape(bar.peer)}</text>')
            shapes.append(f'<rect x="{min(one, end):.1f}" y="{y + 3}" width="{abs(end - one):.1f}" height="16" fill="{colour}"/>')
            where, anchor = (end + 6, "start") if bar.ratio >= 1 else (end - 6, "end")
            shapes.append(f'<text x="{where:.1f}" y="{y + 15}" text-anchor="{anchor}">{bar.ratio:.3g}×</text>')
            y += ROW
        y += BETWEEN - ROW
    grid = [
        f'<path d="M{across(10.0**power):.1f} {TOP - 8}V{y}" stroke="{"#888" if not power else "#e4e4e4"}"/>'
        f'<text x="{across(10.0**power):.1f}" y="{TOP - 14}" text-anchor="middle" fill="#555">{10.0**power:g}×</text>'
        for power in range(-int(-low // 1), int(high) + 1)
    ]
    title = "How many times as fast as others tadoru is"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + RIGHT} {y + 6}" font-family="sans-serif" '
        f'font-size="13" role="img" aria-label="{title}">',
        f"<title>{title}</title>", '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="14" y="20" font-weight="bold" font-size="15">{title}</text>', *grid, *shapes, "</svg>", "",
    ])  # fmt: skip
