"""Precision and recall over the threshold of merging, as figures and as an SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tadoru.jobs.events.dedupe import SAME_SCORE

DASHES = ("", "7 4", "2 3")


class Point(NamedTuple):
    """Precision and recall when everything from a score on is merged."""

    threshold: float
    precision: float
    recall: float


def svg(curves: Mapping[str, Sequence[Point]]) -> str:
    """Precision and recall over the threshold, one pair of lines for each curve."""
    wide, high, left, top = 640, 400, 60, 40
    shapes = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide + 2 * left} {high + 2 * top}" '
        'font-family="sans-serif" font-size="13">',
        "<title>Precision and recall of merging over the threshold</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for tick in range(0, 11, 2):
        x, y = left + wide * tick / 10, top + high * (1 - tick / 10)
        shapes.append(f'<path d="M{left} {y}H{left + wide}M{x} {top}V{top + high}" stroke="#ddd"/>')
        shapes.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{tick / 10:.1f}</text>')
        shapes.append(f'<text x="{x}" y="{top + high + 18}" text-anchor="middle">{tick / 10:.1f}</text>')
    chosen = left + wide * SAME_SCORE
    shapes.append(f'<path d="M{chosen} {top}V{top + high}" stroke="#888" stroke-dasharray="4 4"/>')
    for number, (name, points) in enumerate(curves.items()):
        for field, colour in (("precision", "#0b6e4f"), ("recall", "#a23b00")):
            line = " ".join(f"{left + wide * p.threshold:.1f},{top + high * (1 - getattr(p, field)):.1f}" for p in points)
            dash = f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""
            shapes.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
            y = top + high - 106 + 18 * (2 * number + (field == "recall"))
            shapes.append(
                f'<path d="M{left + 16} {y - 4}h30" stroke="{colour}" stroke-width="2"{dash}/>'
                f'<text x="{left + 54}" y="{y}">{field}, {name}</text>'
            )
    shapes.append(
        f'<text x="{left + wide / 2}" y="{top + high + 36}" text-anchor="middle">score from which events are merged</text></svg>'
    )
    return "\n".join(shapes)
