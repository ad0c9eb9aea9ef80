"""The identity of a worker, and whether its process is alive, so that the lease of a killed process is noticed at once.

A process is its machine (with boot and pid namespace), its pid and its start tick; pids are reused, the pair is not. Where
that cannot be read, only the expiry of the lease counts.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import NamedTuple


class WorkerIdentity(NamedTuple):
    """One process."""

    machine: str
    pid: int
    started: str


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _start_tick(pid: int) -> str | None:
    """Field 22 of /proc/PID/stat; None when there is no such process; empty when it cannot be told."""
    if not Path("/proc/self").is_dir():
        return ""
    stat = _read(f"/proc/{pid}/stat")
    if not stat:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def machine_name() -> str:
    """The machine, its boot and the pid namespace: pids compare only within it."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{platform.node()}|{_read('/proc/sys/kernel/random/boot_id')}|{namespace}"


def current() -> WorkerIdentity:
    """This process."""
    return identity_of(os.getpid())


def identity_of(pid: int) -> WorkerIdentity:
    """Another process of this machine, such as a child that was just started."""
    return WorkerIdentity(machine_name(), pid, _start_tick(pid) or "")


def is_dead(worker: WorkerIdentity, here: str) -> bool:
    """True only when it is certain: same machine, and no process with that pid and start."""
    if worker.machine != here or not worker.started:
        return False
    return _start_tick(worker.pid) != worker.started
