"""The register of sources for people who are not at the machine: less may be said over the network than on the command line.

Somebody who signs in must not reach what only the machine reaches. So a private address is refused unless the operator allowed
it (`--allow-private`, `--crawl-private`), when a source is saved and again when it is collected here; the variable that holds a
secret is named on the command line only; and a source that has one, or that may reach a private address, does not change what is
read. Routes and pages both come through here.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from tadoru.errors import UsageError
from tadoru.jobs.events import sources
from tadoru.jobs.launch import run_loop
from tadoru.rules.address import Exemptions
from tadoru.serve.problems import Refused
from tadoru.serve.service import Service
from tadoru.store.events.values import Source
from tadoru.store.files import Files, beside, open_files

_WHERE = frozenset({"url", "type", "settings"})
_NOT_HERE = frozenset({"secret", "allow_private", "named_host"})


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
    return _saved(service, values, partial(sources.add, service.store, by=by))


def edit_source(service: Service, source_id: int, values: Mapping[str, Any], by: str) -> Source:
    """Change a source. Raises Refused."""
    before = found_source(service, source_id)
    changed = {name for name, value in values.items() if getattr(before, name, None) != value}
    if before.secret and changed & _WHERE:
        raise Refused(
            409,
            f"Source {source_id} sends a secret: where it is sent is changed on the command line, or its secret removed there.",
        )
    if (before.allow_private or before.named_host) and changed & _WHERE and not allowed_by_operator(service).allow_all:
        raise Refused(
            409,
            f"Source {source_id} may reach a private address: change what it reads on the command line, with "
            f"`tadoru events sources edit {source_id}`.",
        )
    return _saved(service, values, partial(sources.edit, service.store, source_id, by=by))


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
