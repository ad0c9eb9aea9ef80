"""What a page is said to take follows from what was measured for its parts, and the chart shows what was simulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.simulation import COSTS, Cluster, Prices, load, prices_from, simulate, zipf
from bench.simulation_chart import svg

PARTS = (
    "a page", "the record of a page", "a finding", "a link to a known URL", "a link to a new URL", "a lease (20 hosts × 2)",
    "take a slot", "confirm a request", "store a pace", "a transaction", "parse and check a page",
    "fetch and loop",
)  # fmt: skip


def costs() -> Mapping[str, Any]:
    """Every part takes a thousandth of a second of each, two on the clock, and a byte of log."""
    parts = {name: {"worker": 0.001, "database": 0.001, "wall": 0.002, "wal": 1.0} for name in PARTS}
    return {"parts": parts, "flush": 0.01, "findings": 2.0, "queue": {"200": {"database": 0.005}}}


def test_a_page_takes_the_sum_of_its_parts() -> None:
    prices = prices_from(costs(), links=10, new=1)
    # A page, what is kept, two findings, nine known links, a new one, a lease, three steps of pacing.
    assert prices.log == pytest.approx(1 + 1 + 2 + 9 + 1 + 1 + 3)
    assert prices.database == pytest.approx(0.018 + 0.001)
    assert prices.worker == pytest.approx(0.018 + 0.002)
    assert prices.slice_cpu == 0.005


def test_without_a_pace_no_slots_are_taken() -> None:
    paced, free = prices_from(costs(), paced=True), prices_from(costs(), paced=False)
    assert paced.database - free.database == pytest.approx(0.003)


@pytest.mark.parametrize("walls", [False, True])
def test_what_is_in_the_transaction_of_a_batch_is_the_writers(walls: bool) -> None:
    prices = prices_from(costs(), links=10, new=1, walls=walls)
    # A page, what is kept, two findings, nine known links and a new one: both CPUs, or the clock.
    assert prices.writer == pytest.approx(14 * 0.002)
    assert prices.transaction == pytest.approx(0.002 if walls else 0.002 + 0.01)


def test_the_figures_that_are_kept_are_those_that_the_simulation_reads() -> None:
    kept = load(COSTS)
    assert set(PARTS) <= kept["parts"].keys()
    prices = prices_from(kept)
    assert 0.0005 < prices.worker < 0.1
    assert 0.0001 < prices.writer < 0.1
    assert prices.log > 1_000


def test_the_chart_has_a_line_for_every_number_of_databases() -> None:
    base = Cluster(workers=1, hosts_each=10)
    prices = Prices(worker=0.001, database=0.001, writer=0.05)
    world = zipf(2_000, 100)
    curves = {
        databases: [(n, simulate(world, Cluster(workers=n, hosts_each=10, databases=databases), prices)) for n in (1, 2, 4)]
        for databases in (1, 2)
    }
    tree = ElementTree.fromstring(svg(curves, base))
    texts = [one.text for one in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"1 database", "2 databases", "1", "2", "4", "workers", "pages a second"} <= set(texts)
    circles = list(tree.iter("{http://www.w3.org/2000/svg}circle"))
    assert len(circles) == 6
    left, _, right = (float(one.attrib["cx"]) for one in circles[:3])
    lower, _, higher = (float(one.attrib["cy"]) for one in circles[:3])
    assert left < right
    assert higher < lower, "more workers did more, and more is above"
