"""A worker process with a test's timing and, if wanted, a wrong wall clock: `python -m tests.cluster.timed_worker JSON`.

It is the worker that `tadoru worker` starts, without the command around it. A clock that is minutes off is what the operating
system would tell everybody in such a process, libraries included.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time
from dataclasses import fields
from datetime import timedelta

from procrastinate import utils

from tadoru.clock import SystemClock
from tadoru.cluster.queue import ClusterTiming, log_engine_messages
from tadoru.cluster.worker import Worker
from tadoru.config.options import WorkerOptions
from tadoru.jobs import launch
from tadoru.log import Log


def put_clock_off(seconds: float) -> None:
    """From now on the wall clock of this process is off by so much; what measures durations is not."""
    right, moment = SystemClock().now, utils.utcnow
    start = right() - time.monotonic()
    setattr(time, "time", lambda: start + time.monotonic() + seconds)  # noqa: B010 - the system's own
    utils.utcnow = lambda: moment() + timedelta(seconds=seconds)


async def work(duty: WorkerOptions, timing: ClusterTiming) -> None:
    clock = SystemClock()
    log = Log(sys.stderr, clock, form="text", level="info")
    log_engine_messages(log)
    worker = Worker(duty, clock, log, timing=timing)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
    await worker.run()


def main() -> None:
    given = json.loads(sys.argv[1])
    put_clock_off(given.pop("clock_off", 0.0))
    timing = ClusterTiming(**{one.name: given.pop(one.name) for one in fields(ClusterTiming) if one.name in given})
    launch.run_loop(work(WorkerOptions(slice=given.pop("seconds"), **given), timing))


if __name__ == "__main__":
    main()
