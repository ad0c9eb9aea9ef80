"""Taking the document out of a page, also out of one that does not want to stop."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from tadoru.fetch import page_scripts
from tadoru.fetch.session import Declined, Event, Session

GRACE = 5.0
"""Seconds for each attempt."""


async def take(session: Session, frame: str, *, is_quiet: bool) -> Event | None:
    """`url` and `html` of a frame's document; None when the page does not let go of it."""
    for undisturbed in (is_quiet, False):
        if not undisturbed:
            await _freeze(session)
        with suppress(TimeoutError, Declined):
            async with asyncio.timeout(GRACE):
                world = await session.send("Page.createIsolatedWorld", frameId=frame, worldName=page_scripts.WORLD)
                context = world["executionContextId"]
                taken = await session.send(
                    "Runtime.evaluate", expression=page_scripts.TAKE, contextId=context, returnByValue=True
                )
                if "value" in taken["result"]:
                    value: Event = taken["result"]["value"]
                    return value
    return None


async def _freeze(session: Session) -> None:
    """Let nothing more happen in a page that does not stop by itself, and hear no more of it."""
    send = session.send
    with suppress(TimeoutError, Declined):
        async with asyncio.timeout(GRACE):
            await send("Emulation.setScriptExecutionDisabled", value=True)
            await send("Runtime.terminateExecution")
            # It ends the next script when none is running: better this one than ours.
            await asyncio.gather(
                *(send(f"{domain}.disable") for domain in ("Network", "Log")), send("Runtime.evaluate", expression="0")
            )
