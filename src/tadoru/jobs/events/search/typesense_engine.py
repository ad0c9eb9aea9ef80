"""Typesense, with its official client. Users search an alias; behind it are two collections, filled alternately."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tadoru.errors import UsageError
from tadoru.extras import not_installed
from tadoru.jobs.events.search.engine import FILTERABLE, SORTABLE, TEXTS, SearchEngineError, TaskId, engine_error, split_location

_PATIENCE = 30.0
_AT_ONCE = 100
"""Ids in one filter: it is part of the URL, whose length is limited."""
_WHOLE = ("starts_at", "ends_at", "updated_at")


def _fields() -> list[dict[str, Any]]:
    """The schema: Japanese texts, which the engine splits into words; fields that are not searched are only stored."""
    fields: list[dict[str, Any]] = []
    for name in TEXTS:
        own = {"index": False} if name in ("uid", "price", "url", "source_url", "licence") else {"locale": "ja"}
        facet = {"facet": True} if name in FILTERABLE else {}
        fields.append({"name": name, "type": "string", **({} if name == "title" else {"optional": True}), **own, **facet})
    fields += [{"name": name, "type": "int64", "sort": name in SORTABLE, "optional": name == "ends_at"} for name in _WHOLE]
    fields += [{"name": name, "type": "bool", "facet": True} for name in ("all_day", "cancelled", "archived")]
    fields += [{"name": "timezone", "type": "string", "index": False, "optional": True}]
    fields += [{"name": "local_date", "type": "string", "facet": True, "optional": True}]
    return [*fields, {"name": "location", "type": "geopoint", "optional": True}]


class TypesenseEngine:
    """An alias of Typesense."""

    def __init__(self, url: str, key: str, index: str) -> None:
        try:
            import httpx
            import typesense
            from typesense.exceptions import ObjectNotFound, TypesenseClientError
            from typesense.http_backend import backend_errors
        except ImportError as error:
            raise UsageError(not_installed("Typesense", "search")) from error
        if not key:
            raise UsageError("Typesense needs a key. Set --search-key to the name of the variable that holds it.")
        at = urlsplit(url)
        assert at.hostname is not None
        port = at.port or (443 if at.scheme == "https" else 80)
        self._retry_after: str | None = None
        # The errors of the client lack the response headers, so they are recorded by a hook.
        self._http = httpx.Client(timeout=_PATIENCE, event_hooks={"response": [self._record_headers]})
        with warnings.catch_warnings():  # The client warns about parts of itself that are not used here.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._client = typesense.Client({
                "nodes": [{"host": at.hostname, "port": port, "protocol": at.scheme, "path": at.path}],
                "api_key": key, "connection_timeout_seconds": _PATIENCE, "num_retries": 0, "retry_interval_seconds": 0.0,
            }, http_client=self._http)  # fmt: skip
            self._sides = (f"{index}_a", f"{index}_b")
            self._side = self._sides[0]
            self._collections = {name: self._client.collections[name] for name in (index, *self._sides)}
        self._gone, self._error, self._no_response = ObjectNotFound, TypesenseClientError, backend_errors("HTTPError")
        self._key, self._index = key, index
        self.name = f"typesense {url} {index}"

    def _record_headers(self, answer: Any) -> None:
        self._retry_after = answer.headers.get("Retry-After")

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except self._gone:
            raise
        except self._error as error:
            status = error.args[0] if error.args and isinstance(error.args[0], int) else None
            raise engine_error(
                "Typesense", status, str(error.args[-1] if error.args else ""), self._key, self._retry_after
            ) from None
        except self._no_response as error:
            raise engine_error("Typesense", None, type(error).__name__, self._key) from None

    def _current_collection(self) -> str | None:
        """The collection that the alias points to."""
        try:
            with self._translated_errors():
                return str(self._client.aliases[self._index].retrieve()["collection_name"])
        except self._gone:
            return None

    def _drop(self, collection: str) -> None:
        try:
            with self._translated_errors():
                self._collections[collection].delete()
        except self._gone:
            return

    def has_index(self) -> bool:
        return self._current_collection() is not None

    def create_new(self) -> Sequence[TaskId]:
        self._side = name = self._sides[1] if self._current_collection() == self._sides[0] else self._sides[0]
        self._drop(name)
        schema: Any = {"name": name, "fields": _fields(), "default_sorting_field": "starts_at"}
        with self._translated_errors():
            self._client.collections.create(schema)
        return []

    def put(self, documents: Sequence[Mapping[str, Any]], *, new: bool) -> TaskId:
        name = self._side if new else self._index
        rows: Any = [_document(one) for one in documents]
        try:
            with self._translated_errors():
                results: Any = self._collections[name].documents.import_(rows, {"action": "upsert"})
        except self._gone:
            raise SearchEngineError("Typesense has no collection {name}. Rebuild the index with --full.", name=name) from None
        # Each document has its own result, within a response that is always successful.
        wrong = [one for one in results if not one.get("success")]
        if wrong or len(results) != len(rows):
            first = wrong[0] if wrong else {}
            raise engine_error("Typesense", first.get("code", 500), str(first.get("error", "missing results")), self._key)
        return None

    def remove(self, ids: Sequence[str]) -> TaskId:
        for at in range(0, len(ids), _AT_ONCE):
            chosen = ",".join(ids[at : at + _AT_ONCE])
            try:
                with self._translated_errors():
                    self._collections[self._index].documents.delete({"filter_by": f"id:[{chosen}]"})
            except self._gone:
                raise SearchEngineError("Typesense has no index {name}. Rebuild it with --full.", name=self._index) from None
        return None

    def swap_in(self) -> TaskId:
        try:
            with self._translated_errors():
                self._client.aliases.upsert(self._index, {"collection_name": self._side})
        except self._gone:
            raise SearchEngineError(
                "Typesense has no collection {name}. Rebuild the index with --full.", name=self._side
            ) from None
        return None

    def delete_old(self) -> TaskId:
        for name in self._sides:
            if name != self._side:
                self._drop(name)
        return None

    def is_done(self, ticket: int) -> bool:
        return True

    def close(self) -> None:
        self._client.api_call.close()
        self._http.close()


def _document(document: Mapping[str, Any]) -> dict[str, Any]:
    rest, place = split_location(document)
    return rest | ({"location": list(place)} if place else {})
