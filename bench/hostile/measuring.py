"""Measures one reading in a process of its own: CPU, the most memory it had, and how it ended.

A worker generates a response and forks for each reader, so that nothing is paid twice and nothing is left over: what one reading
allocates, leaks or breaks ends with its process.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from bench.hostile.readers import READERS, Reader
from bench.hostile.responses import hostile_response
from tadoru.jobs.launch import tune_process

MOST_CPU = 2.0
"""Seconds that a reading may take."""
MOST_MEMORY = 300 * 1000 * 1000
"""Bytes that its process may have at any time."""
_ENDED_AFTER = 8
"""Seconds of CPU after which a reading is ended: it has failed long ago."""
_ADDRESS_SPACE = 4 * 1024**3


@dataclass(frozen=True, slots=True)
class Measurement:
    """What one reader made of one response."""

    number: int
    format: str
    family: str
    reader: str
    cpu: float
    memory: int
    failure: str
    """A sentence, or a traceback; empty when all is well."""
    most_cpu: float = MOST_CPU

    @property
    def complaint(self) -> str:
        """Which bar was not met; empty when all were."""
        if self.failure:
            return self.failure.strip().splitlines()[-1]
        if self.cpu > self.most_cpu:
            return f"{self.cpu:.1f} s of CPU"
        return f"{self.memory / 1e6:.0f} MB" if self.memory > MOST_MEMORY else ""


def measure(case: tuple[int, int, str | None, float]) -> list[Measurement]:
    """Every reader that the response of a number is for, or the one that is named, on it."""
    number, seed, only, most_cpu = case
    given, _, _, failure = _forked(lambda _: hostile_response(number, seed))
    if given is None:
        return [Measurement(number, "?", "?", "generator", 0.0, 0, failure)]
    fed = [name for name, reader in READERS.items() if given.format in reader.formats]
    others = [name for name in READERS if name not in fed]
    chosen = [only] if only else [*fed, Random(number).choice(others)]
    found: list[Measurement] = []
    for name in chosen:
        if any(one.reader == READERS[name].after and one.complaint for one in found):
            continue
        _, cpu, memory, failure = _forked(lambda meter, reader=READERS[name]: _read(reader, given, meter))
        found.append(Measurement(number, given.format, given.family, name, cpu, memory, failure, most_cpu))
    return found


def _read(reader: Reader, given: Any, meter: _Meter) -> None:
    if reader.is_of_crawls:
        tune_process()
    if reader.prepare is not None:
        try:
            given = reader.prepare(given)
        except Exception:  # Measured where it is the reader's own work.
            return
        meter.start()
    with contextlib.suppress(*reader.refusals):
        reader.read(given)


class _Meter:
    """What this process has used since it was started."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Measure from here."""
        Path("/proc/self/clear_refs").write_text("5")
        self._began = time.process_time()

    def read(self) -> tuple[float, int]:
        """Seconds of CPU, and the most bytes resident at a time."""
        cpu = time.process_time() - self._began
        lines = Path("/proc/self/status").read_text("ascii").splitlines()
        most = next(line for line in lines if line.startswith("VmHWM:"))
        return cpu, int(most.split()[1]) * 1024


Work = Callable[[_Meter], Any]


def _forked(work: Work) -> tuple[Any, float, int, str]:
    """The result of some work, its CPU, its most memory and its failure, from a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _, status, usage = os.wait4(child, 0)
    if said:
        found: tuple[Any, float, int, str] = pickle.loads(said)
        return found
    ended = signal.Signals(status & 0x7F).name if status & 0x7F else f"exit status {status >> 8}"
    if ended == "SIGXCPU":
        return None, usage.ru_utime, usage.ru_maxrss * 1024, f"more than {_ENDED_AFTER} s of CPU"
    return None, usage.ru_utime, usage.ru_maxrss * 1024, f"the process ended by {ended}"


def _work(work: Work, writing: int) -> None:
    """In the child: work, say what came of it, and end without a trace."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + _ENDED_AFTER, -1))
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, -1))
    result, failure = None, ""
    meter = _Meter()
    try:
        result = work(meter)
    except BaseException:
        failure = traceback.format_exc(limit=-4)
    cpu, memory = meter.read()
    with os.fdopen(writing, "wb") as pipe:
        pickle.dump((None if failure else result, cpu, memory, failure), pipe)
    os._exit(0)
