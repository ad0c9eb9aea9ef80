"""Commands that start a process whose /proc shows less than usual, as hardened machines and service units have it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

NOBODY = 65534
_MOUNT = 'mount -t proc -o "$1" proc /proc && shift && exec "$@"'


def with_proc(options: str, *, user: int | None = None) -> list[str]:
    """The beginning of a command that is run with its own /proc. Skips the test where mounts are not allowed."""
    prefix = ["unshare", "--mount", "sh", "-c", _MOUNT, "sh", options]
    if sys.platform != "linux" or os.geteuid() != 0 or None in (shutil.which("unshare"), shutil.which("setpriv")):
        pytest.skip("a /proc of its own needs Linux, root, unshare and setpriv")
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        pytest.skip("mounts are not allowed here")
    return prefix if user is None else [*prefix, "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
