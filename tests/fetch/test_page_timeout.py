"""The time of a page: it ends, it stands still while something waits, and even then it ends."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tadoru.fetch.browser.page_timing import MAX_TIMEOUTS, PageTimeout


async def test_what_takes_too_long_is_cut_short_and_that_is_no_error() -> None:
    allowance, reached = PageTimeout(), False
    async with allowance.limit(0.01):
        await asyncio.Event().wait()
        reached = True
    assert not reached
    assert allowance.is_over


async def test_time_stands_still_while_something_waits() -> None:
    allowance, reached = PageTimeout(), False
    async with allowance.limit(0.5):
        with allowance.paused(), suppress(TimeoutError):
            async with asyncio.timeout(0.6):
                await asyncio.Event().wait()
        reached = True
    assert reached


async def test_two_that_wait_together_stop_it_once() -> None:
    allowance, reached = PageTimeout(), False
    async with allowance.limit(0.05):
        with allowance.paused(), allowance.paused():
            pass
        await asyncio.Event().wait()
        reached = True
    assert not reached


async def test_a_page_cannot_wait_for_ever() -> None:
    allowance, loop = PageTimeout(), asyncio.get_running_loop()
    began = loop.time()
    async with allowance.limit(0.02):
        with allowance.paused():
            await asyncio.Event().wait()
    assert loop.time() - began >= 0.02 * MAX_TIMEOUTS


async def test_who_is_done_waiting_when_all_is_over_changes_nothing() -> None:
    allowance = PageTimeout()
    waiting = allowance.paused()
    async with allowance.limit(10):
        waiting.__enter__()
    waiting.__exit__(None, None, None)
    assert allowance.is_over
