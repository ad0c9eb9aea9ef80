"""Who is dead: only a process that certainly is."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tadoru.store.crawl import workers

HERE = workers.machine_name()
pytestmark = pytest.mark.skipif(not workers.current().started, reason="this system does not tell when a process started")


def test_this_process_is_not_dead() -> None:
    assert not workers.is_dead(workers.current(), HERE)


def test_a_process_that_ended_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = workers._start_tick(child.pid)
    assert started
    identity = workers.WorkerIdentity(HERE, child.pid, started)
    assert not workers.is_dead(identity, HERE)
    child.communicate(b"\n")
    assert workers.is_dead(identity, HERE)


def test_another_process_under_the_same_number_is_not_the_one_that_died() -> None:
    me = workers.current()
    assert workers.is_dead(me._replace(started="1"), HERE)


def test_nobody_knows_about_other_machines() -> None:
    assert not workers.is_dead(workers.WorkerIdentity("elsewhere|boot|pid:[1]", 1, "1"), HERE)


def test_a_worker_that_could_not_tell_its_start_is_left_to_its_expiry() -> None:
    assert not workers.is_dead(workers.WorkerIdentity(HERE, 2**22 + 1, ""), HERE)
