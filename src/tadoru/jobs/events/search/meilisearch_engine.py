"""Meilisearch, with its official client. It works asynchronously: each call returns the number of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tadoru.errors import UsageError
from tadoru.extras import not_installed
from tadoru.jobs.events.search.engine import (
    FILTERABLE,
    SEARCHABLE,
    SORTABLE,
    SearchEngineError,
    TaskId,
    engine_error,
    split_location,
)

if TYPE_CHECKING:
    from meilisearch.models.task import TaskInfo

_PATIENCE = 30
_SETTINGS: dict[str, Any] = {
    "searchableAttributes": list(SEARCHABLE),
    "filterableAttributes": [*FILTERABLE, "_geo"],
    "sortableAttributes": [*SORTABLE, "_geo"],
    "localizedAttributes": [{"attributePatterns": list(SEARCHABLE), "locales": ["jpn", "eng"]}],
}
_NOT_THERE = "index_not_found"
_AS_GOOD = frozenset({("indexDeletion", _NOT_THERE), ("indexCreation", "index_already_exists")})
"""Tasks that failed because there was nothing to do."""


class MeilisearchEngine:
    """An index of Meilisearch."""

    def __init__(self, url: str, key: str, index: str) -> None:
        try:
            import meilisearch
            from meilisearch.errors import MeilisearchApiError, MeilisearchError
        except ImportError as error:
            raise UsageError(not_installed("Meilisearch", "search")) from error
        self._client = meilisearch.Client(url, key or None, timeout=_PATIENCE)
        self._api_error, self._error = MeilisearchApiError, MeilisearchError
        self._key, self._index, self._new = key, index, f"{index}_new"
        self.name = f"meilisearch {url} {index}"

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except self._api_error as error:
            answer: Any = getattr(error.__cause__, "response", None)
            later = answer.headers.get("Retry-After") if answer is not None else None
            raise engine_error("Meilisearch", error.status_code, f"{error.code}: {error.message}", self._key, later) from None
        except self._error as error:
            raise engine_error("Meilisearch", None, type(error).__name__, self._key) from None
        except ValueError as error:
            raise SearchEngineError("Invalid response from Meilisearch. Check --search-url.") from error

    def _task(self, call: Callable[[], TaskInfo]) -> int:
        with self._translated_errors():
            number: int = call().task_uid
            return number

    def has_index(self) -> bool:
        try:
            with self._translated_errors():
                self._client.get_raw_index(self._index)
        except SearchEngineError as error:
            if _NOT_THERE in str(error):
                return False
            raise
        return True

    def create_new(self) -> Sequence[TaskId]:
        client, options = self._client, {"primaryKey": "id"}
        # Only an existing index can be swapped.
        first = [] if self.has_index() else [self._task(lambda: client.create_index(self._index, options))]
        return [
            *first,
            self._task(lambda: client.delete_index(self._new)),
            self._task(lambda: client.create_index(self._new, options)),
            self._task(lambda: client.index(self._new).update_settings(dict(_SETTINGS))),
        ]

    def put(self, documents: Sequence[Mapping[str, Any]], *, new: bool) -> TaskId:
        index = self._client.index(self._new if new else self._index)
        return self._task(lambda: index.add_documents([_document(one) for one in documents], "id"))

    def remove(self, ids: Sequence[str]) -> TaskId:
        chosen = ", ".join(f'"{one}"' for one in ids)
        return self._task(lambda: self._client.index(self._index).delete_documents(filter=f"id IN [{chosen}]"))

    def swap_in(self) -> TaskId:
        return self._task(lambda: self._client.swap_indexes([{"indexes": [self._index, self._new]}]))

    def delete_old(self) -> TaskId:
        return self._task(lambda: self._client.delete_index(self._new))

    def is_done(self, ticket: int) -> bool:
        with self._translated_errors():
            task = self._client.get_task(ticket)
        if task.status in ("enqueued", "processing"):
            return False
        code = (task.error or {}).get("code")
        if task.status == "succeeded" or (task.type, code) in _AS_GOOD:
            return True
        text = (task.error or {}).get("message", task.status)
        raise engine_error("Meilisearch", 413 if code == "payload_too_large" else 400, f"{code}: {text}", self._key)

    def close(self) -> None:
        """Nothing to do: it keeps no connection."""


def _document(document: Mapping[str, Any]) -> dict[str, Any]:
    rest, place = split_location(document)
    return rest | ({"_geo": {"lat": place[0], "lng": place[1]}} if place else {})
