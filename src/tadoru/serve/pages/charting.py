"""The chart of runs by day: where each bar stands and how high it is. The template draws it as SVG. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

WIDTH, HEIGHT, LEFT, TOP, FOOT = 720, 200, 44, 14, 30


@dataclass(frozen=True, slots=True)
class Bar:
    """A day: those that went well below, those that failed on top."""

    day: date
    x: float
    width: float
    well: int
    failed: int
    well_y: float
    well_height: float
    failed_y: float
    failed_height: float
    words: str
    """Under the axis; most days have none."""
    is_between: bool
    """Its words may be left out where there is little room."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line across, and what it stands for."""

    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Chart:
    """All of it."""

    bars: tuple[Bar, ...]
    lines: tuple[Line, ...]
    total: int
    failed: int
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT


def runs_chart(runs: Iterable[tuple[date, bool]], last: date, days: int = 30) -> Chart:
    """A bar for each of the days up to `last`, from the day and the failure of each run."""
    well: Counter[date] = Counter()
    failed: Counter[date] = Counter()
    for day, is_failed in runs:
        (failed if is_failed else well)[day] += 1
    shown = [last - timedelta(days=days - 1 - number) for number in range(days)]
    highest = _rounded_up(max((well[day] + failed[day] for day in shown), default=0))
    step = (WIDTH - LEFT) / days
    unit = (HEIGHT - TOP - FOOT) / highest
    floor = HEIGHT - FOOT
    bars = []
    for number, day in enumerate(shown):
        well_height, failed_height = round(well[day] * unit, 1), round(failed[day] * unit, 1)
        bars.append(Bar(
            day=day, x=round(LEFT + number * step + step * 0.15, 1), width=round(step * 0.7, 1), well=well[day],
            failed=failed[day], well_y=round(floor - well_height, 1), well_height=well_height,
            failed_y=round(floor - well_height - failed_height, 1), failed_height=failed_height,
            words=f"{day.month}/{day.day}" if (days - 1 - number) % 7 == 0 else "",
            is_between=(days - 1 - number) % 14 != 0,
        ))  # fmt: skip
    lines = tuple(Line(round(floor - part * unit, 1), f"{part:,}") for part in dict.fromkeys((0, highest // 2, highest)))
    return Chart(tuple(bars), lines, sum(well[day] + failed[day] for day in shown), sum(failed[day] for day in shown))


def _rounded_up(value: int) -> int:
    """The next number that reads well on an axis."""
    size = 1
    while True:
        for part in (2, 4, 10):
            if value <= part * size:
                return part * size
        size *= 10
