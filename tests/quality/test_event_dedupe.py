"""Duplicates of real events: pairs labelled by hand, and pairs made from municipal lists when that corpus is beside the project.

The pairs (`event_pairs.csv`) are rows of one city and day with similar titles, from municipal open data; each was read and
labelled: `different`, `same`, or `ask` where only a person can know. They hold what the judgement needs and nothing else.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pytest

from bench import events_held_out, events_linkage
from bench.events_corpus import rows
from bench.events_dedupe import OTHER_SEED, curve, groups, halves, judge, point_at
from bench.events_variants import pairs
from tadoru.jobs.events.dedupe import MatchVerdict, compare_events
from tadoru.model.event import EventDraft, Occurrence
from tests.jobs.events.dedupe.event_drafts import at, draft
from tests.support.corpora import needs_corpus

PAIRS = Path(__file__).with_name("event_pairs.csv")
needs_tables = needs_corpus("event-japan")


class LabelledPair(NamedTuple):
    label: str
    same_source: bool
    one: EventDraft
    other: EventDraft


def when(day: str, time: str) -> Occurrence:
    """`10:00-12:00`, `10:00`, or nothing for a day without a time."""
    start, _, end = time.partition("-")
    return at(f"{day}T{start}" if start else day, end=f"{day}T{end}" if end else None)


def labelled() -> Iterator[LabelledPair]:
    with PAIRS.open(encoding="utf-8", newline="") as lines:
        for cells in csv.DictReader(lines):
            urls = {"same": ("1001", "1001"), "own": ("1001", "1002")}.get(cells["page"], ("", ""))
            one, other = (
                draft(
                    cells[f"{prefix}title"],
                    when(cells["date"], cells[f"{prefix}time"]),
                    venue=cells[f"{prefix}venue"],
                    city=cells["city"],
                    url=f"https://city.example/event/{page}.html" if page else "",
                )
                for prefix, page in zip(("", "other_"), urls, strict=True)
            )
            yield LabelledPair(cells["label"], cells["sources"] == "one", one, other)


def verdict_of(one: EventDraft, other: EventDraft) -> MatchVerdict:
    return compare_events(one, other, same_source=False).verdict


def is_one_booking(pair: LabelledPair) -> bool:
    return pair.one.occurrence.starts_at == pair.other.occurrence.starts_at and pair.one.venue == pair.other.venue != ""


def shown(pair: LabelledPair) -> str:
    return f"{pair.one.title} ~ {pair.other.title} on {pair.one.local_date}"


def test_the_list_is_long_enough_to_mean_something() -> None:
    found = list(labelled())
    counts = {label: sum(pair.label == label for pair in found) for label in ("different", "same", "ask")}
    assert counts["different"] >= 250
    assert counts["same"] >= 12
    assert sum(counts.values()) == len(found)


@pytest.mark.parametrize("same_source", [True, False], ids=["one source", "two sources"])
def test_no_pair_that_is_two_events_is_merged(same_source: bool) -> None:
    wrong = [
        shown(pair)
        for pair in labelled()
        if pair.label == "different"
        and compare_events(pair.one, pair.other, same_source=same_source).verdict is MatchVerdict.SAME
    ]
    assert wrong == []


def test_no_pair_that_only_a_person_can_judge_is_judged() -> None:
    wrong = [
        shown(pair)
        for pair in labelled()
        if pair.label == "ask" and compare_events(pair.one, pair.other, same_source=pair.same_source).verdict is MatchVerdict.SAME
    ]
    assert wrong == []


def test_every_pair_that_is_one_event_is_merged_or_asked_about() -> None:
    found = [compare_events(pair.one, pair.other, same_source=False).verdict for pair in labelled() if pair.label == "same"]
    assert MatchVerdict.DIFFERENT not in found
    assert found.count(MatchVerdict.REVIEW) <= 1


def test_few_pairs_that_are_two_events_bother_a_person() -> None:
    """In one source none does. Across sources, those must that have one title and other times or a page in common, and those that
    take one venue at one minute, if nothing else of the other source is the same event."""
    pairs_apart = [pair for pair in labelled() if pair.label == "different"]
    in_one = [compare_events(pair.one, pair.other, same_source=True).verdict for pair in pairs_apart]
    assert set(in_one) == {MatchVerdict.DIFFERENT}
    other_titles = [pair for pair in pairs_apart if pair.one.title != pair.other.title and not is_one_booking(pair)]
    asked = [
        shown(pair)
        for pair in other_titles
        if compare_events(pair.one, pair.other, same_source=False).verdict is MatchVerdict.REVIEW
    ]
    assert len(asked) <= len(other_titles) * 0.03, asked


@needs_tables
def test_rows_that_share_title_day_and_venue_are_one_event_only_when_they_begin_together() -> None:
    found = groups(rows())
    apart = [group for group in found if len({row.draft.occurrence.starts_at for row in group}) > 1]
    assert (len(found), len(apart)) == (51, 43)
    for group in found:
        verdicts = {compare_events(a.draft, b.draft, same_source=True).verdict for a, b in combinations(group, 2)}
        assert (MatchVerdict.SAME in verdicts) == (group not in apart), group[0].draft.title
        assert len(verdicts) == 1


@needs_tables
def test_merging_across_sources_is_precise_and_finds_nearly_all() -> None:
    used, unused = halves(rows())
    for made in (pairs([row.draft for row in used[::4]], 5), pairs([row.draft for row in unused[::4]], OTHER_SEED)):
        judged = judge(made)
        reached = point_at(curve(judged))
        assert reached.precision >= 0.999
        assert reached.recall >= 0.96, "all but slips of one kanji, which may be another word and are asked about"
        assert point_at(curve(judged), 0.6).recall >= 0.985, "what is not merged is asked about"


@needs_tables
def test_the_model_is_precise_on_municipalities_and_kinds_of_sources_that_it_was_not_trained_on() -> None:
    sets = events_linkage.halves(events_linkage.build(list(rows())))
    for name, recall, with_asked in (("municipalities held out", 0.84, 0.98), ("municipalities and kinds held out", 0.83, 0.97)):
        found = events_linkage.measure(sets[name], verdict_of)
        assert found.pairs >= 1_000
        assert found.precision >= 0.99
        assert found.recall >= recall
        assert found.with_asked >= with_asked


@needs_tables
def test_the_labels_are_those_of_the_committed_list() -> None:
    made = {pair.id: f"{pair.kind},{pair.label}" for pair in events_linkage.build(list(rows()))}
    stored = dict(line.split(",", 1) for line in events_linkage.LABELS.read_text(encoding="utf-8").splitlines())
    assert made == stored
    assert len(stored) >= 1_500


def test_the_model_links_records_of_another_kind() -> None:
    found = events_linkage.measure(events_linkage.bibliographic_pairs(), verdict_of)
    assert found.precision >= 0.99
    assert found.with_asked >= 0.95


@pytest.mark.parametrize("half, recall", [("dev", 0.7), ("held", 0.65)])
def test_pairs_of_three_kinds_of_sources_are_merged_only_if_they_are_one_event(half: str, recall: float) -> None:
    found = events_linkage.measure([pair for name, pair in events_linkage.written_pairs() if name == half], verdict_of)
    assert found.precision == 1.0
    assert found.unknowable == 0
    assert found.recall >= recall
    assert found.with_asked >= 0.94


@needs_tables
def test_noise_that_the_rules_do_not_know_costs_recall_and_not_precision() -> None:
    judged = judge(events_held_out.pairs([row.draft for row in rows()][::4], OTHER_SEED))
    reached = point_at(curve(judged))
    assert reached.precision >= 0.999
    assert reached.recall >= 0.86, "one other kanji may be another word: it is asked about"
    assert point_at(curve(judged), 0.6).recall >= 0.97, "what is not merged is asked about"
