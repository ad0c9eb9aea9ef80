"""Planted sites, over TLS: what is found is exactly what is wrong, and where nothing is wrong nothing is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.jobs.audit.site_checks import BUILT_IN_CHECKS, MERGED_CHECKS
from tests.acceptance.command import CommandResult, Tadoru
from tests.browser.rendered_site import TWINS
from tests.support.planted import PlantedSite
from tests.support.planted_server import ProxiedSite
from tests.support.planted_sites import CLOSED, HOSTS, WORLDS


@pytest.fixture
def town(tmp_path: Path) -> Iterator[ProxiedSite]:
    with ProxiedSite(tmp_path, *HOSTS) as serving:
        serving.closed.add(CLOSED.removeprefix("https://"))
        yield serving


def audited(tadoru: Tadoru, town: ProxiedSite, world: PlantedSite) -> tuple[CommandResult, set[tuple[str, str]]]:
    """What the command says, and every finding as check and URL."""
    world.serve(town)
    access = ("--proxy", town.proxy, "--allow-private")  # The names of the town do not resolve: only the proxy knows them.
    arguments = ("-d", "crawl.db", "--delay", "0", "--processes", "1", "-q", *world.options)
    done = tadoru("audit", world.start, *arguments, *access, env=town.environment)
    with closing(sqlite3.connect(tadoru.folder / "crawl.db")) as sql:
        rows = sql.execute("SELECT check_id, url FROM findings").fetchall()
    assert len(rows) == len(set(rows)), "a check finds a page once"
    return done, set(rows)


@pytest.mark.parametrize("name", WORLDS)
def test_what_is_found_is_exactly_what_was_planted(name: str, tadoru: Tadoru, town: ProxiedSite) -> None:
    world = WORLDS[name](False)
    done, found = audited(tadoru, town, world)
    assert done.code == world.code, done.err
    assert (sorted(found - world.expected), sorted(world.expected - found)) == ([], []), "found in vain, and not found"


@pytest.mark.parametrize("name", WORLDS)
def test_nothing_is_found_once_all_is_mended(name: str, tadoru: Tadoru, town: ProxiedSite) -> None:
    world = WORLDS[name](True)
    done, found = audited(tadoru, town, world)
    assert (done.code, done.err) == (0, "")
    assert (world.expected, found) == (set(), set())


def test_every_check_of_the_catalogue_is_planted_somewhere() -> None:
    planted = {check for build in WORLDS.values() for check, _ in build(False).expected}
    planted |= set(TWINS)  # `tests/browser/test_rendered_checks.py` renders them.
    assert planted == set(BUILT_IN_CHECKS) - set(MERGED_CHECKS)


def test_a_certificate_that_nobody_vouches_for_is_no_site(tadoru: Tadoru, town: ProxiedSite) -> None:
    """The town is trusted because its authority was named, not because anything is."""
    world = WORLDS["a site that is shut"](True)
    world.serve(town)
    done = tadoru("audit", world.start, "-d", "crawl.db", "--proxy", town.proxy, "--allow-private", "-q")
    assert (done.code, done.sentence) == (1, f"Cannot reach {world.start} (tls error).")
