"""A command that is forked from a warm process is what a fresh one is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm

ENV = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).resolve().parent.parent.parent / "src"), "HOME": "/"}
PIPES: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
ASKED = {
    "help": ["explain", "--help"],
    "a mistake": ["links", "--no-such-option"],
    "a file of the folder": ["report", "-d", "here.db"],
    "the environment": ["links", "http://127.0.0.1:1/", "--show-config"],
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_a_forked_command_says_and_returns_what_a_fresh_one_does(tmp_path: Path, asked: list[str]) -> None:
    (tmp_path / "here.db").write_text("no database")
    env = {name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "LC_", "LD_", "SSL_", "LANG"))}
    env |= ENV | {"COLUMNS": "61", "TADORU_USER_AGENT": "of the environment"}
    fresh = subprocess.Popen([sys.executable, "-P", "-m", "tadoru", *asked], env=env, cwd=tmp_path, **PIPES)
    forked = warm.start(asked, env, tmp_path, **PIPES)
    assert type(forked) is not subprocess.Popen, "it was not forked, and nothing was tried"
    assert (forked.communicate(), forked.returncode) == (fresh.communicate(), fresh.returncode)


def test_what_is_read_at_the_start_begins_a_fresh_interpreter(tmp_path: Path) -> None:
    other = warm.start(["--version"], ENV | {"PYTHONPATH": f"{ENV['PYTHONPATH']}:{tmp_path}"}, tmp_path, **PIPES)
    assert type(other) is subprocess.Popen
    assert other.communicate()[0].startswith("tadoru ")


def test_whoever_starts_a_session_can_end_all_of_it_at_once(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name.startswith(("PYTHON", "LC_", "LD_", "SSL_", "LANG"))} | ENV
    for _ in range(10):
        process = warm.start(["demo", "--serve-only"], env, tmp_path, start_new_session=True, **PIPES)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
