"""Runs one command inside a time box and measures it: wall time, CPU and memory of the whole process tree.

What the command achieved is not judged here; `server.py` reads that from the server's log.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

SAMPLE_EVERY = 0.05
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a command cost."""

    wall: float
    cpu: float
    """User and system seconds of the command and everything it started."""
    peak: int
    """Bytes: the proportional set size of the tree where the kernel tells it, otherwise the sum of the resident sizes."""
    finished: bool
    """False when the time box ended it."""
    exit_code: int
    largest: int
    """Bytes resident, at most, in any one process of the tree."""
    ended: float
    """When, by the machine's clock."""
    others: float
    """Cores that the rest of the machine took meanwhile, on average: above a quarter, a rate is not to be trusted."""


def tree(pid: int) -> list[int]:
    """A process and its descendants, as far as they live."""
    found = [pid]
    for parent in found:
        try:
            for task in Path(f"/proc/{parent}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


@dataclass
class Sampler:
    """Follows a process tree. CPU is kept for each process, because one that nobody waits for is lost to `wait4`."""

    pid: int
    peak: int = 0
    largest: int = 0
    _resident: int = 0
    _cpu: dict[int, float] = field(default_factory=dict)

    @property
    def cpu(self) -> float:
        return sum(self._cpu.values())

    def sample(self) -> None:
        pids = tree(self.pid)
        resident = 0
        for pid in pids:
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            self._cpu[pid] = (int(fields[11]) + int(fields[12])) / TICKS
            own = int(fields[21]) * PAGE
            resident += own
            self.largest = max(self.largest, own)
        # Reading the proportional size walks every page of the process, so it is read only at a new high.
        if resident > self._resident * 1.01:
            self._resident = resident
            self.peak = max(self.peak, sum(_proportional(pid) for pid in pids) or resident)


def _proportional(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def machine_cpu() -> float:
    """Seconds that all cores together have been busy, or were kept from this machine by its host, since it started."""
    user, nice, system, _idle, _waiting, irq, softirq, stolen = Path("/proc/stat").read_text().split(maxsplit=9)[1:9]
    return sum(map(int, (user, nice, system, irq, softirq, stolen))) / TICKS


def tree_cpu(pid: int) -> float:
    sampler = Sampler(pid)
    sampler.sample()
    return sampler.cpu


def run(command: Sequence[str], folder: Path, box: float, server: int) -> Usage:
    """Run a command in `folder`, where its output goes to `stdout` and `stderr`. `server` is the process that serves it."""
    busy = machine_cpu() - tree_cpu(server)
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        started = time.monotonic()
        process = subprocess.Popen(
            command,
            env={**os.environ, "TMPDIR": str(folder)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    sampler = Sampler(process.pid)
    ended = os.pidfd_open(process.pid)
    finished, wall, clock = False, 0.0, 0.0
    try:
        while not finished and wall <= box:
            sampler.sample()
            finished = bool(select.select([ended], [], [], SAMPLE_EVERY)[0])
            wall, clock = time.monotonic() - started, time.time()
    finally:
        os.close(ended)
        # Whatever it left behind in its group ends with it: before it is reaped, while the id is surely its own.
        end_group(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    cpu = max(sampler.cpu, usage.ru_utime + usage.ru_stime)
    others = (machine_cpu() - tree_cpu(server) - busy - cpu) / wall
    return Usage(wall, cpu, sampler.peak, finished, process.returncode, sampler.largest, clock, max(others, 0.0))


def end_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def milliseconds(command: Sequence[str], times: int = 15) -> float:
    """The median time of a short command."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)
