"""Who is dead: only a process that certainly is."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tadoru.store.crawl import workers
from tests.support.process_views import NOBODY, with_proc

HERE = workers.machine_name()
pytestmark = pytest.mark.skipif(not workers.current().started, reason="this system does not tell when a process started")
_JUDGE = """import json, sys
from tadoru.store.crawl import workers
print(json.dumps([workers.is_dead(workers.WorkerIdentity(*json.loads(one)), workers.machine_name()) for one in sys.argv[1:]]))"""
_TELL = """import json, subprocess, sys
from tadoru.store.crawl import workers
me = workers.current()
own = "import json; from tadoru.store.crawl import workers; print(json.dumps(workers.current()), flush=True); input()"
child = subprocess.Popen([sys.executable, "-P", "-c", own], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
told = json.loads(child.stdout.readline())
known = workers.identity_of(child.pid)
child.communicate(b"\\n")
print(json.dumps([me.machine, known == tuple(told), workers.is_dead(known, me.machine)]))"""


def run(prefix: list[str], program: str, *identities: workers.WorkerIdentity) -> list[object]:
    command = [*prefix, sys.executable, "-P", "-c", program, *map(json.dumps, identities)]
    found: list[object] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    return found


def ended() -> workers.WorkerIdentity:
    """A process that is no more."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    identity = workers.identity_of(child.pid)
    assert identity.started
    assert not workers.is_dead(identity, HERE)
    child.communicate(b"\n")
    return identity


def test_this_process_is_not_dead() -> None:
    assert not workers.is_dead(workers.current(), HERE)


def test_a_process_that_ended_is_dead() -> None:
    assert workers.is_dead(ended(), HERE)


def test_a_process_that_ended_and_is_not_yet_waited_for_is_dead() -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", "print(1, flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    assert child.stdout.readline() == b"1\n"
    identity = workers.identity_of(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert workers.is_dead(identity, HERE)
    child.communicate()


def test_another_process_under_the_same_number_is_not_the_one_that_died() -> None:
    me = workers.current()
    assert workers.is_dead(me._replace(started="1"), HERE)


def test_nobody_knows_about_other_machines() -> None:
    assert not workers.is_dead(workers.WorkerIdentity("elsewhere|boot|pid:[1]", 1, "1"), HERE)


def test_a_worker_that_could_not_tell_its_start_is_left_to_its_expiry() -> None:
    assert not workers.is_dead(workers.WorkerIdentity(HERE, 2**22 + 1, ""), HERE)


def test_a_process_that_is_hidden_from_other_users_is_not_dead() -> None:
    prefix = with_proc("hidepid=2", user=NOBODY)
    assert run(prefix, _JUDGE, workers.current(), ended()) == [False, True]


def test_machines_that_hide_their_boot_are_never_the_same_but_for_child_processes() -> None:
    prefix = with_proc("subset=pid")
    one, other = run(prefix, _TELL), run(prefix, _TELL)
    assert one[1:] == other[1:] == [True, True], "a child is known, and known to have ended"
    assert len({one[0], other[0], HERE}) == 3


def test_process_numbers_of_a_proc_of_another_namespace_are_not_compared() -> None:
    prefix = [*with_proc("hidepid=0"), "unshare", "--pid", "--fork"]
    program = "import json; from tadoru.store.crawl import workers; print(json.dumps(workers.current()))"
    assert run(prefix, program)[2] == ""
