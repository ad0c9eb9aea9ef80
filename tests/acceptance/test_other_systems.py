"""What does not depend on Linux: the spawn start method, no uvloop, no /proc, no fcntl, no signals of POSIX.

There is no such machine here: Python is made to believe that it runs on one (`tests/support/other_systems.py`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.acceptance.command import CommandResult, Tadoru, finished, paths
from tests.support.other_systems import pretend
from tests.support.site import Site

_COMMANDS = """import importlib, json, sys
from tadoru.cli.main import COMMANDS, run
for name, _ in COMMANDS.values():
    importlib.import_module(name.split(":")[0])
sys.exit(max(run(arguments) for arguments in json.loads(sys.argv[1])))"""
_IDENTITIES = """import json, os, subprocess, sys
from tadoru.store.crawl import workers
here = workers.machine_name()
child = subprocess.Popen([sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
known = workers.identity_of(child.pid)
judged = [workers.is_dead(workers.current(), here), workers.is_dead(known, here), workers.is_dead(known, "elsewhere")]
child.stdin.close()
os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
judged.append(workers.is_dead(known, here))
child.wait()
print(json.dumps([*judged, workers.is_dead(known, here), known.machine == here]))"""


def python(tadoru: Tadoru, system: str, *arguments: str) -> CommandResult:
    """Run Python on a system, or what it takes for one."""
    process = subprocess.Popen(
        [sys.executable, "-P", *arguments], env=tadoru.environment(pretend(system, tadoru.folder / "system")),
        cwd=tadoru.folder, encoding="utf-8", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    return finished(process)


def test_two_processes_crawl_on_macos_without_fork_and_uvloop(tadoru: Tadoru, site: Site) -> None:
    done = python(
        tadoru, "darwin", "-m", "tadoru", "links", site.url("/tree/30/4/0"), "--delay", "0", "--processes", "2", "--depth", "9",
        "-f", "json", "--state", "crawl.db",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert len(paths(done.result)) == 30
    assert len([path for path in site.paths if path != "/robots.txt"]) == 30


def test_a_process_that_ended_is_noticed_on_macos(tadoru: Tadoru) -> None:
    done = python(tadoru, "darwin", "-c", _IDENTITIES)
    assert done.code == 0, done.err
    assert json.loads(done.out) == [False, False, False, True, True, True]


def test_all_commands_load_on_windows_and_links_audit_docs_and_events_run_there(tadoru: Tadoru, site: Site) -> None:
    url, one = site.url("/tree/5/2/0"), ("--delay", "0", "--processes", "1", "-q")
    commands = [
        ["links", url, *one, "--state", "links.db", "-f", "json", "-o", "links.json"],
        ["audit", url, *one, "-d", "audit.db"],
        ["docs", url, *one, "-o", "docs"],
        ["events", "-d", "events.db", "sources", "add", "--name", "Town", "--type", "ics", "--url", "https://town.example/a.ics"],
        ["events", "-d", "events.db", "list"],
    ]
    done = python(tadoru, "win32", "-c", _COMMANDS, json.dumps(commands))
    assert done.code == 0, done.err + done.out
    assert len(json.loads((tadoru.folder / "links.json").read_text("utf-8"))["internal_urls"]) == 5
    assert (tadoru.folder / "audit.db").exists()
    assert len(list(Path(tadoru.folder, "docs", "pages").iterdir())) == 5
