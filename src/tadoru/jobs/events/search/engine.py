"""What is asked of any search engine, what may go wrong, and which one a configuration names.

An index is *the* index (what people search) or *the new one* (made beside it, and then put in its place). Most calls return at
once with a ticket when the engine does the work later; whoever called asks until it `is_done`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from tadoru.errors import ConfigError, TadoruError, quoted
from tadoru.options import EventsOptions

Ticket = int | None
"""What an engine calls a task that it does later; None when it is done already."""


class EngineError(TadoruError):
    """The engine can not do it; trying again would not help."""


class EngineBusy(EngineError):
    """The engine can not do it now: it is down, too slow, or has too much to do."""

    retry_after: str | None = None
    """The header of its answer that says when to come again, as it came."""


class EngineUnheard(EngineBusy):
    """The engine gave no answer of its own: it may have done it, or not."""


class TooLarge(EngineError):
    """It is too much at once."""


class Engine(Protocol):
    """One index of one search engine."""

    name: str
    """The same for the same index, whoever asks: its engine, address and name. No secret is in it."""

    def has_index(self) -> bool: ...

    def make_new(self) -> Sequence[Ticket]:
        """An empty new index with the settings of ours; one that was left behind is dropped. Call it before anything new."""
        ...

    def put(self, documents: Sequence[Mapping[str, Any]], *, new: bool) -> Ticket:
        """Add documents, each in the place of the one with its id."""
        ...

    def remove(self, ids: Sequence[str]) -> Ticket:
        """Drop documents of the index; those that are not there are no matter."""
        ...

    def put_in_place(self) -> Ticket:
        """The new index is the index from now on, at once. Not to be called again when it is not known whether it was done."""
        ...

    def drop_old(self) -> Ticket:
        """What was the index before is dropped."""
        ...

    def is_done(self, ticket: int) -> bool:
        """Whether the engine has done it. Raises when it could not."""
        ...

    def close(self) -> None: ...


def engine_for(options: EventsOptions, environment: Mapping[str, str] | None = None) -> Engine | None:
    """The engine of a configuration; None when there is none."""
    if not options.search_engine:
        return None
    address = urlsplit(options.search_url or "")
    if address.scheme not in ("http", "https") or not address.hostname or address.username or address.query or address.fragment:
        raise ConfigError("A search engine needs its address: give --search-url, such as http://127.0.0.1:7700.")
    name = options.search_index
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise ConfigError(f"The index {quoted(name)} can not be called so: use letters, digits, - and _.")
    key = ""
    if options.search_key:
        key = (os.environ if environment is None else environment).get(options.search_key, "")
        if not key:
            raise ConfigError(f"The variable {options.search_key} with the key of the search engine is empty: set it.")
    url = f"{address.scheme}://{address.netloc}{address.path.rstrip('/')}"
    if options.search_engine == "meilisearch":
        from tadoru.jobs.events.search.meilisearch_engine import MeilisearchEngine

        return MeilisearchEngine(url, key, name)
    from tadoru.jobs.events.search.typesense_engine import TypesenseEngine

    return TypesenseEngine(url, key, name)


def sentence(engine: str, status: int | None, said: str, key: str, retry_after: str | None = None) -> EngineError:
    """An answer that is no success, as an error of ours. What the engine said is shortened, and never has the key."""
    error = _sentence(engine, status, said, key)
    if isinstance(error, EngineBusy):
        error.retry_after = retry_after
    return error


def _sentence(engine: str, status: int | None, said: str, key: str) -> EngineError:
    detail = " ".join((said.replace(key, "…") if key else said).split())[:200].rstrip(".")
    match status:
        case None:
            return EngineUnheard(f"{engine} can not be reached ({detail}): check --search-url, and that it is running.")
        case 401 | 403:
            return EngineError(f"{engine} refused the key: check the variable that --search-key names, and what that key may do.")
        case 413:
            return TooLarge(f"{engine} does not take so much at once ({detail}): let it take more.")
        case 408 | 425 | 429 | 503:
            return EngineBusy(f"{engine} has too much to do (answer {status}): run the same command again later.")
        case 500 | 502 | 504:
            return EngineUnheard(f"{engine} failed (answer {status}): look into its log, and run the same command again.")
    return EngineError(f"{engine} refused it (answer {status}: {detail}): check its version and the name of the index.")
