"""Time, the only place it comes from. Rules take `now` as a value; everything else takes a `Clock`."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the engine, the stores and the fetchers need of time."""

    def now(self) -> float:
        """Seconds since the epoch: comparable between processes of one machine."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back: for measuring durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Give way for so long."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def iso(moment: datetime, timespec: str = "auto") -> str:
    """A time as JSON has it, everywhere: ISO 8601 in UTC, with a `Z`."""
    return moment.astimezone(UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


def to_datetime(seconds: float) -> datetime:
    """Epoch seconds as an aware UTC time."""
    return datetime.fromtimestamp(seconds, UTC)
