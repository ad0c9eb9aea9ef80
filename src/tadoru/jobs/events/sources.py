"""The register of sources from a person's side: what is checked before a source is saved, and how its address is permitted.

What is saved is in `store.events.sources`; the files that sources are imported from are read in `imports`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tadoru.clock import SystemClock
from tadoru.errors import ConfigError, UsageError, quoted
from tadoru.jobs.events.settings import read_settings
from tadoru.model.event import SourceType
from tadoru.rules.address import Exemptions, refusal
from tadoru.rules.url import typed
from tadoru.setting_values import zone
from tadoru.store.events.open import EventsStore
from tadoru.store.events.values import Source


class AlreadyThere(UsageError):
    """A source that reads the same address in the same way is in the register."""


def checked(values: Mapping[str, Any], before: Source | None = None) -> dict[str, Any]:
    """The fields of a source as they are saved. Raises UsageError or ConfigError, in a sentence."""
    given = dict(values)
    kind = given.get("type", before.type if before else "")
    if kind not in list(SourceType):
        raise UsageError(f"A source can not be of the type {quoted(kind)}: use {', '.join(SourceType)}.")
    if "url" in given:
        given["url"] = typed(given["url"])
    if given.get("timezone"):
        try:
            given["timezone"] = zone(given["timezone"])
        except UsageError as error:
            raise UsageError(f"The time zone {error}.") from None
    secret = given.get("secret", before.secret if before else "")
    if secret and not secret.isidentifier():
        raise UsageError("The secret is the name of a variable, such as TOWN_TOKEN, and never the secret itself.")
    settings = given.get("settings", before.settings if before else {})
    try:
        read_settings(SourceType(kind), settings, secret=secret)
    except ConfigError as error:
        raise UsageError(str(error)) from None
    return given


async def permitted(url: str) -> str:
    """`host:port` of an address that a person typed and that is private, which permits it for this source; empty otherwise."""
    from tadoru.fetch.guard import Names, named_privately

    names = Names(SystemClock())
    try:
        private = await named_privately([url], names)
    finally:
        await names.close()
    return next(iter(private.to_list()), "")


async def is_private(url: str) -> bool:
    """Does an address lead into a private network, as far as can be told now? What does not resolve is left to the guard."""
    from tadoru.fetch.guard import Names, Unresolved, is_literal

    names = Names(SystemClock())
    try:
        for host, _ in Exemptions.for_urls([url]).named:
            addresses = [host] if is_literal(host) else await names.ask(host)
            if any(refusal(one) is not None for one in addresses):
                return True
    except Unresolved:
        return False
    finally:
        await names.close()
    return False


async def _named(url: str, allowed: Exemptions | None) -> str:
    """What a URL permits: something only when a person at the machine typed it. Raises UsageError."""
    if allowed is None:
        return await permitted(url)
    if not all(allowed.covers(host, port) for host, port in Exemptions.for_urls([url]).named) and await is_private(url):
        raise UsageError(
            "This URL leads to a private address: give a public one, or start the service with --crawl-private HOST:PORT."
        )
    return ""


async def add(store: EventsStore, values: Mapping[str, Any], by: str, *, allowed: Exemptions | None = None) -> Source:
    """Save a new source. Who is not at the machine permits no private address: with `allowed`, only what that covers is one."""
    given = checked(values)
    same = [one for one in store.sources() if one.url == given["url"] and one.type == given["type"]]
    if any(dict(one.settings) == given.get("settings", {}) for one in same):
        raise AlreadyThere(f"{given['url']} is source {same[0].id} ({same[0].name}) already: edit that one, or remove it first.")
    return store.add_source(given | {"named_host": await _named(given["url"], allowed)}, by)


async def edit(
    store: EventsStore, source_id: int, values: Mapping[str, Any], by: str, *, allowed: Exemptions | None = None
) -> Source:
    """Change a source; see `add`."""
    given = checked(values, store.source(source_id))
    if "url" in given:
        given["named_host"] = await _named(given["url"], allowed)
    return store.edit_source(source_id, given, by)
