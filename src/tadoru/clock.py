"""The source of time. Rules take `now` as a value; all other code takes a `Clock`."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The clock of the engine, the stores and the fetchers."""

    def now(self) -> float:
        """Seconds since the epoch: comparable between processes of one machine."""
        ...

    def monotonic(self) -> float:
        """Seconds that never decrease, for measuring durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for a number of seconds."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        import asyncio  # Late: help and errors of usage need the time only.

        await asyncio.sleep(seconds)


def iso(moment: datetime, timespec: str = "auto") -> str:
    """A time in the format of all JSON output: ISO 8601 in UTC, with a `Z`."""
    return moment.astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def to_datetime(seconds: float) -> datetime:
    """Epoch seconds as an aware UTC time."""
    return datetime.fromtimestamp(seconds, UTC)
