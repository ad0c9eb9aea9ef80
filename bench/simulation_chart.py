"""The simulation as a picture: pages a second over the number of workers, one line for each number of databases. SVG by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log2, log10

from bench.simulation import Cluster, SimulatedCrawl

WIDE, HIGH, LEFT, TOP, RIGHT = 620, 360, 70, 30, 150
COLOURS = ("#2a6f97", "#0b6e4f", "#a23b00", "#6a4c93")
Curves = Mapping[int, Sequence[tuple[int, SimulatedCrawl]]]


def svg(curves: Curves, base: Cluster) -> str:
    """Both axes are logarithmic: a straight line is a cluster that grows with its workers."""
    workers = sorted({number for points in curves.values() for number, _ in points})
    rates = [ran.rate for points in curves.values() for _, ran in points]
    low, high = int(log10(min(rates))), -int(-log10(max(*rates, base.places * workers[-1] / base.interval)) // 1)
    across = max(1.0, log2(workers[-1] / workers[0]))

    def place(number: float, rate: float) -> tuple[float, float]:
        return LEFT + WIDE * log2(number / workers[0]) / across, TOP + HIGH * (1 - (log10(rate) - low) / max(1, high - low))

    shapes = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + RIGHT} {TOP + HIGH + 60}" font-family="sans-serif" '
        'font-size="13" role="img" aria-label="Simulated pages a second over the number of workers">',
        "<title>Simulated pages a second over the number of workers</title>",
        '<rect width="100%" height="100%" fill="#fff"/>',
        *_grid(workers, low, high, place),
        _line([place(number, number * base.hosts_each / base.interval) for number in workers], "#999", "6 5"),
        _named("as polite as can be", *place(workers[-1], workers[-1] * base.hosts_each / base.interval), "#666"),
    ]
    for at, (databases, points) in enumerate(curves.items()):
        colour = COLOURS[at % len(COLOURS)]
        where = [place(number, ran.rate) for number, ran in points]
        shapes.append(_line(where, colour))
        shapes += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in where]
        shapes.append(_named(f"{databases} database{'s' * (databases > 1)}", *where[-1], colour))
    shapes.append(f'<text x="{LEFT + WIDE / 2}" y="{TOP + HIGH + 44}" text-anchor="middle">workers</text>')
    middle = TOP + HIGH / 2
    shapes.append(
        f'<text x="18" y="{middle}" text-anchor="middle" transform="rotate(-90 18 {middle})">pages a second</text></svg>'
    )
    return "\n".join(shapes) + "\n"


def _grid(workers: Sequence[int], low: int, high: int, place: Callable[[float, float], tuple[float, float]]) -> Iterator[str]:
    for number in workers:
        x, bottom = place(number, 10.0**low)
        yield f'<path d="M{x:.1f} {TOP}V{bottom:.1f}" stroke="#e4e4e4"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 18:.1f}" text-anchor="middle">{number}</text>'
    for power in range(low, high + 1):
        _, y = place(workers[0], 10.0**power)
        yield f'<path d="M{LEFT} {y:.1f}H{LEFT + WIDE}" stroke="#e4e4e4"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10**power:,}</text>'


def _line(points: Sequence[tuple[float, float]], colour: str, dashes: str = "") -> str:
    given = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{given}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'


def _named(text: str, x: float, y: float, colour: str) -> str:
    return f'<text x="{x + 10:.1f}" y="{y + 4:.1f}" fill="{colour}">{text}</text>'
