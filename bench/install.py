"""Gets what a run needs and the machine lacks: Debian packages (when root), and a virtual environment for each peer from PyPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


class Unavailable(Exception):
    """One sentence on why something cannot take part; the run goes on without it."""


def _quietly(command: list[str], what: str) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise Unavailable(f"{what} could not be installed: {' '.join(last)}")
    return done.stdout


def debian(package: str) -> None:
    """Install a Debian package; only root can."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Unavailable(f"{package} is not installed; `apt-get install {package}` brings it")
    _quietly(["apt-get", "install", "-y", "--no-install-recommends", package], package)


def program(name: str, package: str) -> str:
    """The path of a program, installed when it is missing."""
    # Debian keeps servers in sbin, which is not on everybody's PATH.
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    if shutil.which(name, path=path) is None:
        debian(package)
    found = shutil.which(name, path=path)
    if found is None:
        raise Unavailable(f"{package} is installed but has no {name}")
    return found


def environment(cache: Path, name: str, requirement: str) -> Path:
    """The folder with the programs of a peer's virtual environment, made at the first use; requirements apart by spaces."""
    home = cache / "venvs" / name
    ready = home / "ready"
    if not ready.exists():
        shutil.rmtree(home, ignore_errors=True)
        _quietly([sys.executable, "-m", "venv", str(home)], f"an environment for {name}")
        _quietly([str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", *requirement.split()], requirement)
        ready.write_text(requirement)
    return home / "bin"


def version(programs: Path, distribution: str) -> str:
    """The version of a distribution in a peer's environment."""
    code = f"from importlib.metadata import version; print(version({distribution!r}))"
    return _quietly([str(programs / "python"), "-c", code], distribution).strip()
