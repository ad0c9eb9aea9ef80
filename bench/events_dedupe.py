"""Measures how well duplicates are told from events that only look alike, on a corpus of municipal event lists.

Prints: what becomes of rows that share title, day and venue; pairs made by a seeded script (`events_variants`) with precision and
recall over the threshold, for the municipalities the rules were made with and, apart and with another seed, for those they were
not; pairs made by another kind of noise (`events_held_out`); the sizes of blocks, in the corpus and among a million events; the
time of one comparison. Writes the curve as SVG with `--svg FILE`.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from bench import events_held_out
from bench.events_corpus import CORPUS, ZONE, Row, rows
from bench.events_curve import Point, svg
from bench.events_variants import Pair, pairs
from tadoru.jobs.events.dedupe import SAME_SCORE, MatchVerdict, blocking_keys, compare_events
from tadoru.jobs.events.dedupe.similarity import fold_spelling, normalise_text
from tadoru.model.event import Occurrence

SEED = 5
OTHER_SEED = 71
YEARS, CITIES = 5, 200


class PairResult(NamedTuple):
    """A pair and what was made of it."""

    pair: Pair
    verdict: MatchVerdict
    score: float
    met: bool
    """They share a block, so that they would have been compared."""


def halves(found: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """The rows of every second municipality, and of the others: the second half was not looked at while the rules were made."""
    known = list(found)
    first = set(sorted({row.file for row in known})[::2])
    return [row for row in known if row.file in first], [row for row in known if row.file not in first]


def groups(found: Iterable[Row]) -> list[list[Row]]:
    """Rows of one file that share title, day and venue."""
    shared: defaultdict[tuple[str, str, object, str], list[Row]] = defaultdict(list)
    for row in found:
        shared[
            row.file,
            fold_spelling(normalise_text(row.draft.title)),
            row.draft.local_date,
            fold_spelling(normalise_text(row.draft.venue)),
        ].append(row)
    return [group for group in shared.values() if len(group) > 1]


def judge(made: Iterable[Pair]) -> list[PairResult]:
    """Judge pairs with a known answer."""
    judged: list[PairResult] = []
    for pair in made:
        result = compare_events(pair.one, pair.other, same_source=False)
        met = not set(blocking_keys(pair.one)).isdisjoint(blocking_keys(pair.other))
        judged.append(PairResult(pair, result.verdict, result.score, met))
    return judged


def curve(judged: Sequence[PairResult]) -> list[Point]:
    """Precision and recall of merging, over the threshold. Pairs on which a person is asked by rule count for precision only."""
    wanted = sum(each.pair.same and not each.pair.asked for each in judged)
    points: list[Point] = []
    for step in range(0, 101, 5):
        merged = [each for each in judged if each.score >= step / 100 and each.met]
        right = sum(each.pair.same and not each.pair.asked for each in merged)
        wrong = sum(not each.pair.same or each.pair.asked for each in merged)
        points.append(Point(step / 100, right / max(1, right + wrong), right / max(1, wanted)))
    return points


def point_at(points: Sequence[Point], threshold: float = SAME_SCORE) -> Point:
    """The point at a threshold."""
    return min(points, key=lambda point: abs(point.threshold - threshold))


def show_groups(found: Sequence[Row]) -> None:
    """What becomes of rows that share title, day and venue."""
    table: Counter[tuple[str, str]] = Counter()
    for group in groups(found):
        starts = {(row.draft.occurrence.has_time, row.draft.occurrence.starts_at) for row in group}
        verdicts = {str(compare_events(a.draft, b.draft, same_source=True).verdict) for a, b in combinations(group, 2)}
        timed = all(has_time for has_time, _ in starts)
        start = "one start" if len(starts) == 1 else "several starts" if timed else "one start is missing"
        table[start, " and ".join(sorted(verdicts))] += 1
    for (start, verdict), count in sorted(table.items()):
        print(f"  {count:3} groups, {start}: {verdict}")


def show_kinds(judged: Sequence[PairResult]) -> None:
    """One line for each kind of pair."""
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    truth: dict[str, str] = {}
    for each in judged:
        table[each.pair.kind][each.verdict] += 1
        table[each.pair.kind]["apart"] += not each.met
        truth[each.pair.kind] = "ask" if each.pair.asked else "same" if each.pair.same else "different"
    for kind, counts in table.items():
        total = counts["same"] + counts["review"] + counts["different"]
        shares = "  ".join(f"{verdict} {counts[verdict] / total:6.1%}" for verdict in ("same", "review", "different"))
        print(f"  {kind:14} {total:6} pairs, truth {truth[kind]:9}  {shares}  no block in common {counts['apart'] / total:.1%}")


def show_curve(name: str, points: Sequence[Point]) -> None:
    """The curve in figures."""
    print(
        f"{name}: " + "  ".join(f"≥{p.threshold:.2f} P {p.precision:.3f} R {p.recall:.3f}" for p in points if p.threshold >= 0.5)
    )


def show_blocks(found: Sequence[Row]) -> None:
    """How many blocks an event of the corpus has, and how many others are in them."""
    members: Counter[str] = Counter()
    each = [blocking_keys(row.draft) for row in found]
    for mine in each:
        members.update(mine)
    near = [sum(members[block] - 1 for block in mine) for mine in each]
    _show_sizes(f"{len(each):,} events of the corpus", list(members.values()), near, statistics.fmean(map(len, each)))


def show_million(found: Sequence[Row], events: int, seed: int) -> None:
    """The same for so many events, made of the corpus: spread evenly over years and cities, day by day, as blocks name a day."""
    chance = random.Random(seed)
    sizes: list[int] = []
    near: list[int] = []
    kinds: list[int] = []
    drafts = [row.draft for row in found]
    days = 365 * YEARS
    for number in range(days):
        start = datetime(2024, 1, 1, tzinfo=ZONE) + timedelta(days=number)
        members: Counter[str] = Counter()
        each = []
        for _ in range(events // days):
            draft = chance.choice(drafts)
            moment = Occurrence(starts_at=start.replace(hour=chance.randrange(9, 20)))
            mine = blocking_keys(replace(draft, occurrence=moment, occurrences=(), city=f"第{chance.randrange(CITIES)}市"))
            members.update(mine)
            each.append(mine)
        sizes += members.values()
        near += (sum(members[block] - 1 for block in mine) for mine in each)
        kinds += map(len, each)
    _show_sizes(f"{len(near):,} events over {YEARS} years and {CITIES} cities", sizes, near, statistics.fmean(kinds))


def _show_sizes(what: str, sizes: list[int], near: list[int], kinds: float) -> None:
    def spread(values: list[int]) -> str:
        cuts = statistics.quantiles(values, n=100)
        mean = statistics.fmean(values)
        return f"mean {mean:.1f}, median {cuts[49]:.0f}, p95 {cuts[94]:.0f}, p99 {cuts[98]:.0f}, most {max(values)}"

    print(f"{what}: {kinds:.1f} blocks an event; events in a block: {spread(sizes)}; comparisons for a new event: {spread(near)}")


def show_wrong(judged: Sequence[PairResult], most: int) -> None:
    """Some pairs that were not judged as they should be, wrong merges first."""
    wrong = [each for each in judged if (each.verdict == "same") != (each.pair.same and not each.pair.asked)]
    wrong.sort(key=lambda each: each.pair.same and not each.pair.asked)
    for each in wrong[:: max(1, len(wrong) // most)] if most else ():
        one, other = each.pair.one, each.pair.other
        print(f"    {each.pair.kind}: {each.verdict} {each.score}: {one.title} @{one.venue} ~ {other.title} @{other.venue}")


def speed(found: Sequence[Row]) -> list[float]:
    """Seconds of CPU for one comparison of rows that share a block."""
    shared: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        for block in blocking_keys(row.draft):
            shared[block].append(row)
    couples = [couple for members in shared.values() for couple in combinations(members, 2)]
    taken: list[float] = []
    for one, other in couples:
        compare_events(one.draft, other.draft, same_source=False)
        started = time.process_time_ns()
        for _ in range(5):
            compare_events(one.draft, other.draft, same_source=False)
        taken.append((time.process_time_ns() - started) / 5e9)
    return taken


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--events", type=int, default=0, help="also make so many events and count their blocks (1000000: a minute)"
    )
    parser.add_argument("--svg", type=Path, help="write the curve here")
    parser.add_argument("--wrong", type=int, default=0, help="show so many pairs that were judged wrongly")
    options = parser.parse_args()
    if not options.corpus.is_dir():
        print(f"There is no corpus in {options.corpus}. Give its folder with --corpus.", file=sys.stderr)
        return 2
    found = list(rows(options.corpus))
    print(f"{len(found):,} events of {len({row.file for row in found})} files; rows that share title, day and venue:")
    show_groups(found)
    show_blocks(found)
    if options.events:
        show_million(found, options.events, options.seed)
    used, unused = ([row.draft for row in half] for half in halves(found))
    sets = {
        "municipalities used": pairs(used, options.seed),
        "municipalities held out": pairs(unused, OTHER_SEED),
        "another kind of noise": events_held_out.pairs([*used, *unused], OTHER_SEED),
    }
    curves: dict[str, list[Point]] = {}
    for name, made in sets.items():
        judged = judge(made)
        print(f"{name}: {len(judged):,} pairs")
        show_kinds(judged)
        curves[name] = curve(judged)
        show_curve(name, curves[name])
        show_wrong(judged, options.wrong)
    taken = speed(found)
    median, mean = statistics.median(taken) * 1e6, statistics.fmean(taken) * 1e6
    print(f"one comparison: median {median:.1f} µs, mean {mean:.1f} µs ({len(taken):,} pairs)")
    if options.svg:
        options.svg.write_text(svg(curves), encoding="utf-8")
        print(f"curve: {options.svg}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
