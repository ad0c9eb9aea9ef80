"""`./tadoru` and `./test` as a person meets them: the first use, every later use, and what goes wrong on the way.

Set-ups run in a small checkout of its own with an empty lock file, so that they need no network; the scripts are the real ones.
How fast a start is belongs to `bench/`; here it is only held to what it may load.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VERSION_LINE = "tadoru 0.1.0\n"
# Enough for the scripts, and no Python: tests put the one they want in front.
TOOLS = ("bash", "env", "readlink", "dirname", "tail", "rm")


def start(command: Path | str, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command, *arguments], cwd=cwd, env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def home(checkout: Path, tmp_path: Path) -> Path:
    """A checkout that was never used."""
    root = tmp_path / "a checkout"
    (root / "src" / "tadoru").mkdir(parents=True)
    (root / "scripts").mkdir()
    for name in ("tadoru", "test", "scripts/environment.sh", "src/tadoru/__main__.py", "src/tadoru/version.py"):
        shutil.copy2(checkout / name, root / name)
    (root / "src" / "tadoru" / "__init__.py").touch()
    for lock in ("requirements.lock", "requirements-dev.lock"):
        (root / lock).write_text("# nothing to install\n")
    return root


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder for PATH with the tools of a small machine, without Python and uv."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (folder / tool).symlink_to(found)
    return folder


def add_python(folder: Path, name: str = "python3") -> None:
    """This interpreter, under a name."""
    script = folder / name
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    script.chmod(0o755)


def add_command(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


def test_the_first_use_sets_up_and_the_next_is_silent(home: Path, bare_path: Path, tmp_path: Path) -> None:
    add_python(bare_path)
    first = start(home / "tadoru", "--version", cwd=tmp_path, PATH=str(bare_path), HOME=str(tmp_path / "none"))
    assert (first.returncode, first.stdout) == (0, VERSION_LINE)
    assert len(first.stderr.splitlines()) == 2
    again = start(home / "tadoru", "-V", PATH=str(bare_path))
    assert (again.returncode, again.stdout, again.stderr) == (0, VERSION_LINE, "")


def test_two_first_uses_at_once_set_up_once(home: Path, bare_path: Path) -> None:
    add_python(bare_path)
    environment = os.environ | {"PATH": str(bare_path)}
    both = [
        subprocess.Popen([home / "tadoru", "-V"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [out for out, _ in outputs] == [VERSION_LINE, VERSION_LINE]
    assert sum("setting up" in err for _, err in outputs) == 1


def test_a_set_up_that_was_killed_is_done_again_from_the_start(home: Path, bare_path: Path) -> None:
    add_python(bare_path)
    (home / ".venv" / "bin").mkdir(parents=True)
    add_command(home / ".venv" / "bin", "python", "exit 0")
    (home / ".venv" / "half-written").touch()
    (home / ".venv.unfinished").touch()
    done = start(home / "tadoru", "-V", PATH=str(bare_path))
    assert (done.returncode, done.stdout) == (0, VERSION_LINE)
    assert not (home / ".venv" / "half-written").exists()
    assert not (home / ".venv.unfinished").exists()


def test_a_changed_lock_and_a_moved_folder_refresh_what_is_there(home: Path, bare_path: Path, tmp_path: Path) -> None:
    add_python(bare_path)
    start(home / "tadoru", "-V", PATH=str(bare_path))
    (home / ".venv" / "kept").touch()
    (home / "requirements.lock").write_text("# still nothing to install\n")
    changed = start(home / "tadoru", "-V", PATH=str(bare_path))
    assert (changed.stdout, "setting up" in changed.stderr) == (VERSION_LINE, True)
    moved_to = home.rename(tmp_path / "elsewhere")
    moved = start(moved_to / "tadoru", "-V", PATH=str(bare_path))
    assert (moved.stdout, "setting up" in moved.stderr) == (VERSION_LINE, True)
    assert (moved_to / ".venv" / "kept").exists()


def test_a_newer_python_is_found_behind_an_old_one(home: Path, bare_path: Path) -> None:
    add_command(bare_path, "python3", "exit 1")
    add_python(bare_path, "python3.12")
    assert start(home / "tadoru", "-V", PATH=str(bare_path)).stdout == VERSION_LINE


@pytest.mark.parametrize("command", ["tadoru", "test"])
@pytest.mark.parametrize("old", [True, False], ids=["an old python3", "no python3"])
def test_without_a_fitting_python_one_sentence_says_so(command: str, old: bool, home: Path, bare_path: Path) -> None:
    if old:
        add_command(bare_path, "python3", "exit 1")
    done = start(home / command, "-V", PATH=str(bare_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "tadoru: Python 3.11 or newer is needed and there is none on PATH (looked for python3 and python3.11 to python3.14)."
    ]


def test_a_python_without_venv_is_told_from_other_failures(home: Path, bare_path: Path) -> None:
    # Debian's python3 without python3-venv: the interpreter runs, what makes environments is missing.
    python = (
        f'case "$*" in *venv*) exit 1;; *_base_executable*) echo "{bare_path}/python3";; *) exec "{sys.executable}" "$@";; esac'
    )
    add_command(bare_path, "python3", python)
    done = start(home / "tadoru", "-V", PATH=str(bare_path))
    assert done.returncode == 1
    assert "apt install python3-venv" in done.stderr


def test_a_failed_install_shows_its_end_and_the_next_start_tries_again(home: Path, bare_path: Path) -> None:
    add_python(bare_path)
    wanted = f"tadoru-needs-what-does-not-exist==1 --hash=sha256:{'0' * 64}\n"
    (home / "requirements.lock").write_text(wanted)
    failed = start(home / "tadoru", "-V", PATH=str(bare_path), PIP_NO_INDEX="1", PIP_FIND_LINKS="")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "tadoru-needs-what-does-not-exist" in failed.stderr
    assert len(failed.stderr.splitlines()) <= 14
    (home / "requirements.lock").write_text("# nothing again\n")
    assert start(home / "tadoru", "-V", PATH=str(bare_path)).stdout == VERSION_LINE


def test_where_there_is_uv_it_installs_the_lock_and_nothing_that_the_project_says_to_uv(home: Path, bare_path: Path) -> None:
    # Constraints of the project are no requirements with hashes, and uv refuses a lock beside them.
    add_python(bare_path)
    make = f'for last; do :; done; exec "{sys.executable}" -m venv --without-pip "$last"'
    add_command(bare_path, "uv", f'echo "$*" >>"{home}/asked"\ncase "$1" in venv) {make};; esac')
    assert start(home / "tadoru", "-V", PATH=str(bare_path)).stdout == VERSION_LINE
    made, installed = (home / "asked").read_text().splitlines()
    assert made.startswith("venv ")
    assert installed.startswith("pip install --no-config ")
    assert "--require-hashes" in installed


@pytest.fixture(scope="module")
def ready(checkout: Path) -> Path:
    """This checkout's own `./tadoru`; it was set up by `./test`, and is left as it is otherwise."""
    if not (checkout / ".venv" / "requirements.lock.stamp").exists():
        pytest.skip("this checkout was not set up by ./test")
    return checkout / "tadoru"


def test_it_runs_from_any_folder_and_through_symlinks(ready: Path, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "direct").symlink_to(ready)
    (tmp_path / "relative").symlink_to(Path("bin") / "direct")
    (tmp_path / "click.py").write_text("raise SystemExit('a file of the current folder was imported')")
    for command in (ready, tmp_path / "bin" / "direct", tmp_path / "relative", "./relative"):
        done = start(command, "--version", cwd=tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, VERSION_LINE, "")
    assert start(ready, "--help", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_told_without_loading_the_program(flag: str, ready: Path) -> None:
    done = start(ready, flag, PYTHONPROFILEIMPORTTIME="1")
    loaded = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert done.stdout == VERSION_LINE
    assert "tadoru.version" in loaded
    tops = {name.split(".")[0] for name in loaded}
    assert not tops & {"aiohttp", "asyncio", "click", "logging", "rich", "selectolax", "sqlite3", "yaml"}
    assert {name for name in loaded if name.startswith("tadoru.")} == {"tadoru.version"}
