"""The charts of crawls: bars that compare parts, and one small line for each figure over the runs. Templates draw them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

WIDTH, HEIGHT, SIDE, TOP, FOOT = 320, 96, 8, 12, 10
LEAST = 1.5
"""No part of a bar is thinner: one broken page in a thousand must still be seen."""


@dataclass(frozen=True, slots=True)
class Part:
    """One line of a chart of bars."""

    words: str
    count: int
    kind: str
    """The class that gives it its colour."""
    length: float
    """From 0 to 100."""
    href: str = ""


def bars(parts: Iterable[tuple[str, int, str, str]]) -> tuple[Part, ...]:
    """A bar for each (words, count, kind, address), as long as its share of the longest."""
    rows = list(parts)
    most = max((count for _, count, _, _ in rows), default=0) or 1
    return tuple(
        Part(words, count, kind, round(max(LEAST, 100 * count / most), 1) if count else 0.0, href)
        for words, count, kind, href in rows
    )


@dataclass(frozen=True, slots=True)
class Point:
    """A run on a line."""

    x: float
    y: float
    at: datetime
    value: float


@dataclass(frozen=True, slots=True)
class Trend:
    """One figure over the runs, the oldest first."""

    name: str
    """The figure's own name, such as `pages`."""
    points: tuple[Point, ...]
    least: float
    most: float
    path: str
    """The line, as SVG writes it."""
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def last(self) -> float:
        return self.points[-1].value

    @property
    def change(self) -> float:
        """From the run before the last."""
        return round(self.points[-1].value - self.points[-2].value, 1) if len(self.points) > 1 else 0.0


def trend(name: str, values: Sequence[tuple[datetime, float]], *, ceiling: float | None = None) -> Trend | None:
    """A line through the values, which come in the order of time; None when there are fewer than two."""
    if len(values) < 2:
        return None
    first, last = values[0][0], values[-1][0]
    span = (last - first).total_seconds() or 1.0
    most = ceiling if ceiling is not None else max(value for _, value in values)
    least = min(0.0, *(value for _, value in values))
    unit = (HEIGHT - TOP - FOOT) / ((most - least) or 1.0)
    points = tuple(
        Point(
            round(SIDE + (WIDTH - 2 * SIDE) * (at - first).total_seconds() / span, 1),
            round(HEIGHT - FOOT - (value - least) * unit, 1), at, value,
        )
        for at, value in values
    )  # fmt: skip
    path = "M" + "L".join(f"{one.x} {one.y}" for one in points)
    return Trend(name, points, min(value for _, value in values), max(value for _, value in values), path)


@dataclass(frozen=True, slots=True)
class Column:
    """A day of the overview."""

    day: date
    count: int
    x: float
    y: float
    width: float
    height: float


def by_day(counts: Iterable[tuple[date, int]], last: date, days: int = 30) -> tuple[Column, ...]:
    """A column for each of the days up to `last`, in a picture of the size of a trend."""
    found: dict[date, int] = {}
    for day, count in counts:
        found[day] = found.get(day, 0) + count
    shown = [last - timedelta(days=days - 1 - number) for number in range(days)]
    most = max((found.get(day, 0) for day in shown), default=0) or 1
    step = (WIDTH - 2 * SIDE) / days
    columns = []
    for number, day in enumerate(shown):
        count = found.get(day, 0)
        height = round(max(LEAST, (HEIGHT - TOP - FOOT) * count / most), 1) if count else 0.0
        x = round(SIDE + number * step + step * 0.15, 1)
        columns.append(Column(day, count, x, round(HEIGHT - FOOT - height, 1), round(step * 0.7, 1), height))
    return tuple(columns)
