"""Network namespaces: a test module runs in one of its own, in which every address is on loopback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

SET_UP = "ip link set lo up && for a in $ADDRESSES; do ip addr replace $a/32 dev lo || exit 1; done"


def namespace_command(addresses: Iterable[str]) -> list[str]:
    """The command that runs another one in a namespace with these addresses; skips where the kernel refuses."""
    if sys.platform != "linux" or not shutil.which("unshare") or not shutil.which("ip"):
        pytest.skip("network namespaces need Linux with unshare and ip")
    command = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    full = [*command, "env", f"ADDRESSES={' '.join(addresses)}", "sh", "-c", f'{SET_UP} && exec "$@"', "sh"]
    tried = subprocess.run([*full, "true"], capture_output=True, text=True, check=False)
    if tried.returncode:
        pytest.skip(f"no network namespace here: {tried.stderr.strip()}")
    return full


def run_in_namespace(addresses: Iterable[str], module: str, checkout: Path) -> dict[str, Any]:
    """What a module prints as JSON when it is run in a namespace with these addresses."""
    done = subprocess.run(
        [*namespace_command(addresses), sys.executable, "-m", module],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen
