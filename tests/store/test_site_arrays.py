"""Arrays over a whole site say what the plain definition says: chains, depths, link scores, near duplicates, examples."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.rules.minhash import BINS
from tadoru.store.crawl.records import UNLINKED
from tadoru.store.crawl.site import view
from tadoru.store.crawl.site.arrays import EXAMPLES, PairCollector, PairGroups, runs
from tadoru.store.crawl.site.paths import ends, on_loop, path
from tadoru.store.crawl.site.view import SiteView, equals, group_labels, others
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.support.clock import FakeClock
from tests.support.properties import examples
from tests.support.similar_pairs import similar_pairs

PAGES = 12
steps = st.lists(st.integers(0, PAGES), min_size=PAGES, max_size=PAGES).map(lambda found: np.array([0, *found], np.int32))
graphs = st.dictionaries(st.integers(1, PAGES), st.sets(st.integers(1, PAGES), max_size=4), max_size=PAGES)


@given(steps)
def test_chains_end_where_following_them_step_by_step_ends(step: np.ndarray) -> None:
    found = ends(step)
    circle = on_loop(step)
    for page in range(1, PAGES + 1):
        seen, at = [page], int(step[page])
        while at and at not in seen:
            seen.append(at)
            at = int(step[at])
        if at:
            assert found.looping[page]
            assert circle[page] == (at == page and step[page] != page)
        else:
            assert (found.end[page], found.steps[page], found.looping[page]) == (seen[-1], len(seen) - 1, False)
            assert not circle[page]


def test_a_chain_as_long_as_the_site_is_followed_to_its_end() -> None:
    step = np.append(np.arange(1, 5_000), 0).astype(np.int32)
    found = ends(step)
    assert (found.end == 4_999).all()
    assert found.steps.tolist() == list(range(4_999, -1, -1))


def test_a_path_leaves_a_loop_when_it_closes() -> None:
    assert path(np.array([0, 2, 3, 1], np.int32), 1, 10) == [2, 3, 1]
    assert path(np.array([0, 2, 3, 3], np.int32), 1, 10) == [2, 3, 3]
    assert path(np.array([0, 2, 3, 0], np.int32), 1, 1) == [2]


@given(st.lists(st.integers(0, 3)))
def test_runs_cover_a_sorted_array(values: list[int]) -> None:
    keys = np.array(sorted(values), np.int64)
    assert [keys[start:stop].tolist() for start, stop in runs(keys)] == [[key] * values.count(key) for key in sorted(set(values))]


@given(st.sets(st.tuples(st.integers(1, 5), st.integers(1, 20))), st.permutations(range(20)), st.integers(1, 7))
def test_gathering_in_portions_counts_all_and_keeps_the_first_by_url(
    pairs: set[tuple[int, int]], order: list[int], portion: int
) -> None:
    place = np.array([0, *order], np.int32)
    by_place = np.zeros(20, np.int32)
    by_place[order] = np.arange(1, 21)
    gather = PairCollector(place, by_place)
    listed = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    for at in range(0, len(listed), portion):
        gather.add(listed[at : at + portion, 0], listed[at : at + portion, 1])
    expected = []
    for page in sorted({page for page, _ in pairs}):
        mine = sorted((other for at, other in pairs if at == page), key=lambda other: order[other - 1])
        expected.append(PairGroups(page, len(mine), tuple(mine[:EXAMPLES])))
    assert list(gather.rows()) == expected


def store_of(
    links: Mapping[int, set[int]], *, redirects: Mapping[int, int] | None = None, named: Collection[int] = ()
) -> SqliteStore:
    """Pages 1 to 12, of which 1 is the start."""
    store = SqliteStore(":memory:", FakeClock())
    sql = store.sql
    sql.execute("INSERT INTO hosts(id, name) VALUES (1, 'a.example')")
    for page in range(1, PAGES + 1):
        onward = (redirects or {}).get(page)
        sql.execute(
            """INSERT INTO pages(id, url, status, host_id, depth, is_seed, added_at, status_code, content_type, redirect_id)
            VALUES (?, ?, 'completed', 1, 7, ?, '2025-01-01', ?, 'text/html', ?)""",
            (page, f"https://a.example/{page:02}", page == 1, 301 if onward else 200, onward),
        )
        sql.execute("INSERT INTO page_details(page_id, indexable, indexability) VALUES (?, 1, 'indexable')", (page,))
    rows = [(source, at, target) for source, targets in links.items() for at, target in enumerate(sorted(targets))]
    sql.executemany("INSERT INTO link_relations(source_id, position, target_id, kind) VALUES (?, ?, ?, 'a')", rows)
    sql.executemany("INSERT INTO sitemap_entries VALUES (1, ?, NULL)", [(page,) for page in named])
    return store


def view_of(links: Mapping[int, set[int]], **more: object) -> SiteView:
    return store_of(links, **more).analysis.site_view(likeness=0.9)  # type: ignore[arg-type]


def walked(
    links: Mapping[int, set[int]], redirects: Mapping[int, int], starts: list[int], first: int, known: dict[int, int]
) -> None:
    queue = deque((page, first) for page in starts)
    while queue:
        page, depth = queue.popleft()
        if page in known:
            continue
        known[page] = depth
        if page in redirects:
            queue.appendleft((redirects[page], depth))
        queue.extend((target, depth + 1) for target in links.get(page, ()))


@examples(60, deadline=None)
@given(
    graphs, st.dictionaries(st.integers(2, PAGES), st.integers(1, PAGES), max_size=3), st.sets(st.integers(1, PAGES), max_size=3)
)
def test_depth_is_the_shortest_way_over_links_and_redirects(
    links: dict[int, set[int]], redirects: dict[int, int], named: set[int]
) -> None:
    expected: dict[int, int] = {}
    walked(links, redirects, [1], 0, expected)
    walked(links, redirects, sorted(named - set(expected)), UNLINKED, expected)
    view = view_of(links, redirects=redirects, named=named)
    assert view.depth[1:].tolist() == [expected.get(page, UNLINKED) for page in range(1, PAGES + 1)]


def test_a_page_that_links_lead_to_is_never_taken_for_an_unlinked_one() -> None:
    store = SqliteStore(":memory:", FakeClock())
    store.sql.execute("INSERT INTO hosts(id, name) VALUES (1, 'a.example')")
    store.sql.executemany(
        """INSERT INTO pages(id, url, status, host_id, depth, is_seed, added_at, status_code)
        VALUES (?, 'https://a.example/' || ?, 'completed', 1, 0, ?, '2025-01-01', 200)""",
        [(page, page, page == 1) for page in range(1, 1_200)],
    )
    store.sql.executemany(
        "INSERT INTO link_relations(source_id, position, target_id, kind) VALUES (?, 0, ?, 'a')",
        [(page, page + 1) for page in range(1, 1_199)],
    )
    depth = store.analysis.site_view(likeness=0.9).depth
    assert depth[900] == 899
    assert depth[1_199] == UNLINKED - 1


def ranked(links: Mapping[int, set[int]]) -> np.ndarray:
    """PageRank by its definition, on a matrix."""
    matrix = np.zeros((PAGES, PAGES))
    for source in range(1, PAGES + 1):
        targets = links.get(source, set()) - {source}
        for target in targets:
            matrix[target - 1, source - 1] = 1 / len(targets)
        if not targets:
            matrix[:, source - 1] = 1 / PAGES
    weight = np.full(PAGES, 1 / PAGES)
    for _ in range(60):
        weight = 0.15 / PAGES + 0.85 * matrix @ weight
    return weight


@examples(40, deadline=None)
@given(graphs)
def test_the_link_score_orders_pages_as_pagerank_does(links: dict[int, set[int]]) -> None:
    scores = view_of(links).scores[1:]
    weight = ranked(links)
    least = weight.min() if len(set().union(*[t - {s} for s, t in links.items()])) < PAGES else None
    assert ((scores >= 0) & (scores <= 100)).all()
    for one in range(PAGES):
        for other in range(PAGES):
            if weight[one] > weight[other] * 1.01:
                assert scores[one] > scores[other] or scores[one] == 100
    if least is not None and weight.max() > least * 1.01:
        expected = 100 * np.log(weight / least) / np.log(weight.max() / least)
        assert scores == pytest.approx(expected, abs=0.5)


def test_a_redirect_gives_its_weight_to_its_target() -> None:
    direct = view_of({1: {2, 3}, 2: {1}, 3: {1}}).scores
    by_redirect = view_of({1: {2, 4}, 2: {1}, 3: {1}}, redirects={4: 3}).scores
    assert np.isnan(by_redirect[4])
    assert by_redirect[3] == pytest.approx(direct[3], abs=2)


def test_two_links_that_come_to_one_page_count_as_one() -> None:
    once = view_of({1: {2, 3}, 2: {1}, 3: {1}}, redirects={4: 3}).scores
    twice = view_of({1: {2, 3, 4}, 2: {1}, 3: {1}}, redirects={4: 3}).scores
    assert twice[:4] == pytest.approx(once[:4], nan_ok=True)


def test_a_link_not_to_be_followed_takes_weight_and_gives_none() -> None:
    store = store_of({1: {2, 3}, 2: {1}, 3: {1}})
    store.sql.execute("INSERT INTO texts(id, text) VALUES (7, 'external nofollow')")
    store.sql.execute("INSERT INTO texts(id, text) VALUES (8, 'nofollowers')")
    store.sql.execute("UPDATE link_relations SET rel_id = 8 WHERE source_id = 1 AND target_id = 2")
    plain = store.analysis.site_view(likeness=0.9)
    assert plain.scores[2] == plain.scores[3]
    store.sql.execute("UPDATE link_relations SET rel_id = 7 WHERE source_id = 1 AND target_id = 2")
    view = store.analysis.site_view(likeness=0.9)
    assert view.scores[2] == 0
    assert view.scores[3] == pytest.approx(plain.scores[3], abs=3)
    assert (view.links.has_followed[2], view.links.has_unfollowed[2]) == (False, True)


def test_a_page_that_asks_not_to_follow_its_links_gives_nobody_weight() -> None:
    store = store_of({1: {2}, 2: {3}, 3: {1}})
    assert store.analysis.site_view(likeness=0.9).scores[3] > 0
    directives = '[["meta","robots","nofollow",""]]'
    store.sql.execute("UPDATE pages SET meta_robots = 'nofollow' WHERE id = 2")
    store.sql.execute("UPDATE page_details SET directives = ? WHERE page_id = 2", (directives,))
    assert store.analysis.site_view(likeness=0.9).scores[3] == 0
    store.sql.execute("UPDATE page_details SET directives = ? WHERE page_id = 2", (directives.replace("robots", "otherbot"),))
    assert store.analysis.site_view(likeness=0.9).scores[3] > 0


def test_a_redirect_that_leaves_the_site_keeps_its_weight() -> None:
    store = store_of({1: {2, 3}, 2: {1}}, redirects={3: 4})
    assert np.isnan(store.analysis.site_view(likeness=0.9).scores[3])
    store.sql.execute("UPDATE pages SET internal = 0 WHERE id = 4")
    assert store.analysis.site_view(likeness=0.9).scores[3] > 0


def test_the_best_of_several_links_to_a_page_counts_and_all_are_counted() -> None:
    store = store_of({1: {2}})
    store.sql.execute("INSERT INTO texts(id, text) VALUES (7, 'nofollow')")
    rows = [(1, 5, 2, "a", 7), (1, 6, 2, "area", 0), (1, 7, 2, "refresh", 0), (1, 8, 1, "a", 0)]
    store.sql.executemany("INSERT INTO link_relations(source_id, position, target_id, kind, rel_id) VALUES (?, ?, ?, ?, ?)", rows)
    view = store.analysis.site_view(likeness=0.9)
    assert (len(view.links), view.links.kinds.tolist()) == (1, [0])
    assert (view.links.inlinks[2], view.inlinks.unique[2], view.links.outlinks[1]) == (3, 1, 3)


def test_portions_of_links_join_to_all_of_them() -> None:
    links = {page: {page % PAGES + 1, (page + 4) % PAGES + 1} for page in range(1, PAGES + 1)}
    view = view_of(links)
    for most in (1, 3, 5, 100):
        pairs = [pair for sources, targets, _ in view.links.portions(most) for pair in zip(sources, targets, strict=True)]
        assert {(int(one), int(other)) for one, other in pairs} == {(one, other) for one in links for other in links[one]}
        assert len(pairs) == 2 * PAGES


@pytest.mark.parametrize("portion", [1, 2, 3, 1000])
def test_links_read_in_portions_are_the_same_links(portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    links = {page: {page % PAGES + 1, (page + 4) % PAGES + 1, (page + 7) % PAGES + 1} for page in range(1, PAGES + 1)}
    whole = view_of(links).links
    monkeypatch.setattr("tadoru.store.crawl.site.links.AT_A_TIME", portion)
    parts = view_of(links).links
    assert parts.targets.tolist() == whole.targets.tolist()
    assert parts.starts.tolist() == whole.starts.tolist()


near = st.lists(st.integers(0, 5), min_size=BINS, max_size=BINS).map(bytes)
sketches = st.lists(st.one_of(near, st.sampled_from([bytes([n]) * BINS for n in range(3)])), min_size=1, max_size=12)


def mutated(one: bytes, changes: list[int]) -> bytes:
    found = bytearray(one)
    for at in changes:
        found[at] ^= 0xFF
    return bytes(found)


@examples(60, deadline=None)
@given(sketches, st.lists(st.tuples(st.integers(0, 11), st.lists(st.integers(0, BINS - 1), max_size=14)), max_size=12))
def test_clusters_are_what_the_pairs_of_the_rule_hang_together_as(
    originals: list[bytes], copies: list[tuple[int, list[int]]]
) -> None:
    listed = originals + [mutated(originals[at % len(originals)], changes) for at, changes in copies]
    root = list(range(len(listed)))

    def find(at: int) -> int:
        while root[at] != at:
            at = root[at]
        return at

    for one, other, _ in similar_pairs(listed, 0.9):
        root[max(find(one), find(other))] = min(find(one), find(other))
    matrix = np.frombuffer(b"".join(listed), np.uint8).reshape(len(listed), BINS)
    labels = group_labels(matrix, np.arange(len(listed)), 0.9).tolist()
    assert labels == [find(at) for at in range(len(listed))]


def test_a_hundred_thousand_pages_of_one_kind_are_one_cluster_and_few_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    matrix = np.tile(rng.integers(0, 256, BINS, np.uint8), (100_000, 1))
    matrix[np.arange(100_000), rng.integers(0, BINS, 100_000)] ^= 0xFF
    compared: list[int] = []
    original = view._alike

    def counted(sketches: np.ndarray, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        compared.append(len(some))
        return original(sketches, some, others)

    monkeypatch.setattr(view, "_alike", counted)
    assert set(group_labels(matrix, np.arange(100_000), 0.9).tolist()) == {0}
    assert sum(compared) < 4 * 100_000


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_the_others_of_a_page_are_those_it_is_not_related_to(relations: list[tuple[int, int]]) -> None:
    group = list(range(100, 100 + len(relations)))
    found = {row.page: row for row in others(group, [one for one, _ in relations], [two for _, two in relations])}
    for page, mine in zip(group, relations, strict=True):
        strangers = {
            other for other, theirs in zip(group, relations, strict=True) if mine[0] != theirs[0] and mine[1] != theirs[1]
        }
        if strangers:
            assert found[page].total == len(strangers)
            assert found[page].examples
            assert set(found[page].examples) <= strangers
        else:
            assert page not in found


def test_equal_values_are_groups_in_the_order_of_urls() -> None:
    values = np.array([0, 5, 7, 5, 0, 7, 5], np.int64)
    place = np.array([0, 3, 2, 1, 0, 5, 4], np.int32)
    among = np.array([False, True, True, True, True, True, True])
    assert sorted(equals(values, among, place)) == [[2, 5], [3, 1, 6]]
