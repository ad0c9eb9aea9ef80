"""The identity of a worker, and whether its process is alive, so that the lease of a killed process is noticed at once.

On Linux a process is its machine (with boot and pid namespace), its pid and its start tick; pids are reused, the pair is not.
Elsewhere it is its machine and its pid: the start times that psutil reads depend on a clock that may be set. Where that cannot be
read or a process may only be hidden (`hidepid`, another user), only the expiry of the lease counts.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import getnode, uuid4

_RANDOM_BOOT = "_TADORU_BOOT"
"""The environment variable with the random name of a boot that cannot be read, which child processes inherit."""
_RUNNING = "running"
"""The start of a process where ticks cannot be read."""


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


def _start(pid: int) -> str | None:
    """Field 22 of /proc/PID/stat, or `_RUNNING` on other systems; None for a zombie; empty if it cannot be read."""
    if sys.platform != "linux":
        import psutil

        try:
            return None if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE else _RUNNING
        except psutil.NoSuchProcess:
            return None
        except psutil.Error:
            return ""
    stat = _read(f"/proc/{pid}/stat") if _is_proc_ours() else ""
    if not stat:
        return ""
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def _is_proc_ours() -> bool:
    """Whether /proc is there and counts processes as the system calls do: it may belong to another pid namespace."""
    try:
        return str(Path("/proc/self").readlink()) == str(os.getpid())
    except OSError:
        return False


def machine_name() -> str:
    """The machine, its boot and the pid namespace: pids compare only within it. Many machines may have one host name, so a boot
    or a namespace that cannot be read is replaced by a random name."""
    namespace = ""
    if sys.platform != "linux":
        hardware = getnode()
        boot = "" if hardware >> 40 & 1 else f"{hardware:012x}"  # Python marks a random number by this bit.
    else:
        boot = _read("/proc/sys/kernel/random/boot_id")
        try:
            namespace = str(Path("/proc/self/ns/pid").readlink())
        except OSError:
            boot = ""
    boot = boot or os.environ.setdefault(_RANDOM_BOOT, uuid4().hex)
    return f"{platform.node()}|{boot}|{namespace}"


def current() -> WorkerIdentity:
    """This process."""
    return identity_of(os.getpid())


def identity_of(pid: int) -> WorkerIdentity:
    """Another process of this machine, such as a child that was just started."""
    return WorkerIdentity(machine_name(), pid, _start(pid) or "")


def is_dead(worker: WorkerIdentity, here: str) -> bool:
    """True only when it is certain: same machine, and no process with that pid and start."""
    if worker.machine != here or not worker.started:
        return False
    if not process_exists(worker.pid):
        return True
    start = _start(worker.pid)
    return start is None or start not in ("", worker.started)


def lost(workers: Iterable[Sequence[Any]]) -> list[int]:
    """Of workers (number, machine, pid, start, whether it stopped renewing), the numbers of those that are gone."""
    here = machine_name()
    return [row[0] for row in workers if row[4] or is_dead(WorkerIdentity(*row[1:4]), here)]


def process_exists(pid: int) -> bool:
    """Whether there is a process with this pid, perhaps of another user."""
    if sys.platform != "linux":
        import psutil

        return bool(psutil.pid_exists(pid))
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        pass  # A process of another user.
    return True
