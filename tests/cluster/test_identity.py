"""However many workers do a crawl, it is the crawl that one command would have done into a file."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest

from tests.acceptance.command import Tadoru
from tests.cluster.hamlets import build
from tests.cluster.harness import ClusterHarness
from tests.support.planted_crowd import everything
from tests.support.planted_server import ProxiedSite
from tests.support.planted_sites import WORLDS

Tables = dict[str, list[tuple[Any, ...]]]


def alone(tadoru: Tadoru, town: ProxiedSite, name: str, *arguments: str) -> Tables:
    """What one command keeps in a file."""
    done = tadoru("audit", "-d", f"{name}.db", "--processes", "1", "-q", *access(town), *arguments, env=town.environment)
    assert done.code == 0, done.err
    return everything(tadoru.folder / f"{name}.db")


def access(town: ProxiedSite) -> tuple[str, ...]:
    return ("--proxy", town.proxy, "--allow-private", "--delay", "0")


def assert_same(found: Tables, expected: Tables, what: str) -> None:
    assert found.keys() == expected.keys()
    for name in expected:
        assert len(found[name]) == len(expected[name]), f"{name} of {what}"
        for one, other in zip(found[name], expected[name], strict=True):
            assert {at: (a, b) for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b} == {}, (
                f"{name} of {what}: {other[0]}"
            )


@pytest.mark.parametrize(
    "world,teams",
    [
        pytest.param("hamlets", [2], id="hamlets, two"),
        pytest.param("hamlets", [1, 1, 2], id="hamlets, one, two and four"),
        pytest.param("bakery", [1, 1, 2], id="bakery, one, two and four"),
    ],
)
def test_any_number_of_workers_find_what_a_file_keeps(
    world: str, teams: list[int], tadoru: Tadoru, town: ProxiedSite, harness: ClusterHarness
) -> None:
    if world == "bakery":
        bakery = WORLDS["the bakery"](False)
        bakery.serve(town)
        given = (bakery.start, *bakery.options)
    else:
        given = (*build(town, hosts=8, pages=4)[:6], "--follow-external-hosts")
    expected = alone(tadoru, town, world, *given)
    for workers, more in zip(accumulate(teams), teams, strict=True):
        for _ in range(more):
            harness.start_worker("--hosts", "2")
        harness.submit(f"by-{workers}", *access(town), *given)
        harness.until_done(f"by-{workers}")
        assert_same(harness.results(f"by-{workers}"), expected, f"{world} by {workers}")
