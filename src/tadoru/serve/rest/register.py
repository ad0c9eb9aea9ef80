"""The register of sources for people who are not at the machine: less may be said over the network than on the command line.

Somebody who signs in must not reach what only the machine reaches. So a private address is refused unless the operator allowed
it (`--allow-private`, `--crawl-private`), when a source is saved and again when it is collected here; the variable that holds a
secret is named on the command line only; and a source that has one, or that may reach a private address, does not change what is
read. The values of a source's headers may be secrets too: they are shown only to those who may change them, and one that comes
back hidden stays what it was. Routes and pages both come through here.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from tadoru.errors import UsageError
from tadoru.jobs.events import sources
from tadoru.jobs.events.publish.records import change_json, source_json
from tadoru.jobs.launch import run_loop
from tadoru.rules.address import Exemptions
from tadoru.serve.access.who import Caller
from tadoru.serve.problems import Refused
from tadoru.serve.roles import Role
from tadoru.serve.service import Service
from tadoru.store.events.values import Source, SourceChange
from tadoru.store.files import Files, beside, open_files

_WHERE = frozenset({"url", "type", "settings"})
_NOT_HERE = frozenset({"secret", "allow_private", "named_host"})
HIDDEN = "***"
"""What stands for a value that the caller may not see."""


def shown_settings(settings: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
    """Settings as a caller may see them."""
    if "headers" not in settings or caller.may(Role.EDITOR, "sources:write"):
        return dict(settings)
    headers = settings["headers"]
    return {**settings, "headers": dict.fromkeys(headers, HIDDEN) if isinstance(headers, Mapping) else HIDDEN}


def shown_source(source: Source, caller: Caller) -> dict[str, Any]:
    """A source as a caller may see it."""
    return source_json(source) | {"settings": shown_settings(source.settings, caller)}


def shown_change(one: SourceChange, caller: Caller) -> dict[str, Any]:
    """A change of a source as a caller may see it."""
    shown = change_json(one)
    if one.field == "settings":
        sides = {side: shown[side] for side in ("old", "new")}
        shown |= {side: shown_settings(value, caller) if isinstance(value, Mapping) else value for side, value in sides.items()}
    return shown


def found_source(service: Service, source_id: int) -> Source:
    """A source that is there. Raises Refused."""
    try:
        return service.store.source(source_id)
    except UsageError:
        raise Refused(404, f"There is no source {source_id}.") from None


def allowed_by_operator(service: Service) -> Exemptions:
    """The private addresses that sources may reach when they are collected here: not those that are stored with a source."""
    return Exemptions.from_list(service.options.crawl_private) | Exemptions(allow_all=service.events.allow_private)


def add_source(service: Service, values: Mapping[str, Any], by: str) -> Source:
    """Save a new source. Raises Refused."""
    return _saved(service, _with_hidden(values, {}), partial(sources.add, service.store, by=by))


def edit_source(service: Service, source_id: int, values: Mapping[str, Any], by: str) -> Source:
    """Change a source. Raises Refused."""
    before = found_source(service, source_id)
    values = _with_hidden(values, before.settings)
    changed = {name for name, value in values.items() if getattr(before, name, None) != value}
    if before.secret and changed & _WHERE:
        raise Refused(
            409,
            f"Source {source_id} sends a secret: where it is sent is changed on the command line, or its secret removed there.",
        )
    if (before.allow_private or before.named_host) and changed & _WHERE and not allowed_by_operator(service).allow_all:
        raise Refused(409, f"Source {source_id} may reach a private address: change what it reads on the command line.")
    return _saved(service, values, partial(sources.edit, service.store, source_id, by=by))


def _with_hidden(values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The values with the headers that came back hidden as they were. Raises Refused."""
    given = dict(values)
    headers = given["settings"].get("headers") if isinstance(given.get("settings"), Mapping) else None
    if isinstance(headers, Mapping) and HIDDEN in headers.values():
        known = before.get("headers", {})
        for name, value in headers.items():
            if value == HIDDEN and name not in known:
                raise Refused(422, f"The value of headers.{name} is hidden, and nothing is stored for it: enter the value.")
        whole = {name: known[name] if value == HIDDEN else value for name, value in headers.items()}
        given["settings"] = {**given["settings"], "headers": whole}
    return given


def remove_source(service: Service, source_id: int, by: str) -> None:
    """Forget a source and its snapshots; its events stay. Raises Refused."""
    found_source(service, source_id)
    paths = service.store.remove_source(source_id, by)
    files_of(service).delete(paths)


def files_of(service: Service) -> Files:
    """Where snapshots and run logs are kept: beside the database, unless it is said."""
    return open_files(service.events.files or beside(service.store.database))


def _saved(service: Service, values: Mapping[str, Any], save: Callable[..., Coroutine[Any, Any, Source]]) -> Source:
    if refused := sorted(values.keys() & _NOT_HERE):
        raise Refused(422, f"{refused[0]} of a source is said on the command line: leave it out.")

    given = dict(values)
    try:
        return run_loop(save(given, allowed=allowed_by_operator(service)))
    except UsageError as error:
        raise Refused(409 if isinstance(error, sources.AlreadyThere) else 422, str(error)) from None
