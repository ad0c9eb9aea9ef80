"""What makes a page follow while it is open: the address of the script, the words it says, and from which message on it listens.

The number of the newest message is taken before a page is made, so that what happens between the making and the connection of the
script is told to it: nothing is missed, and at worst something is shown twice.
"""

from __future__ import annotations

import json
from functools import cache

from fastapi import Request
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool

from tadoru.serve.access.who import NOBODY, Caller
from tadoru.serve.pages.words import teller
from tadoru.serve.pages.words_live import LIVE
from tadoru.serve.roles import Role
from tadoru.serve.service import service_of
from tadoru.store.crawls.values import CrawlState


async def note_position(request: Request) -> None:
    """Before every page for people who are signed in; a FastAPI dependency."""
    caller: Caller = getattr(request.state, "caller", NOBODY)
    if request.method == "GET" and caller.role > Role.PUBLIC and request.url.path.startswith("/manage"):
        request.state.live_after = (await run_in_threadpool(service_of(request).store.message_span))[1]


@cache
def words_of(lang: str) -> str:
    """What the script says, as JSON."""
    say = teller(lang)
    told = {key.removeprefix("live."): say(key) for key in LIVE}
    states = {f"state.{one.value}": say(f"crawl.state.{one.value}") for one in CrawlState}
    return json.dumps(told | states, ensure_ascii=False)


def live_script(request: Request, lang: str, address: str) -> Markup:
    """The element that makes a page follow. Without places to follow it does nothing."""
    after = getattr(request.state, "live_after", None)
    position = Markup(' data-after="{}"').format(after) if after is not None else ""
    return Markup('<script src="{}" defer data-words="{}"{}></script>').format(address, words_of(lang), position)
