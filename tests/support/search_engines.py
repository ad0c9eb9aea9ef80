"""Search engines to talk to: stubs of Meilisearch and Typesense on loopback, of our own making.

They are no engines: they do not search. They hold the part of the public interface that is used to fill an index to what its
documentation says: required fields, the header with the key, types, statuses, tasks that are done later, limits, and errors in
the documented form; what it does not name is refused. They misbehave on demand, once for each fault that is laid on.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

KEY = "geheim-0123456789"
Answer = tuple[int, Any]
Document = dict[str, Any]


class ErrorResponse(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, message: str, code: str = "bad_request") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


class StubEngine:
    """A server with an index; what a request does is told by `answer`."""

    def __init__(self) -> None:
        self.requests = 0
        self.faults: dict[int, int | str] = {}
        """By the number of the request, from 0: a status, `close` before the answer, or `lost`: done, and then no answer."""
        self.retry_after = ""
        """What an answer says about when to come again, when a status is laid on."""
        self.on_request: Callable[[int], None] = lambda number: None
        self.largest = 10_000_000
        self._lock = threading.Lock()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def _any(self) -> None:
                stub._handle(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handle(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("content-length") or 0))
        with self._lock:
            number, self.requests = self.requests, self.requests + 1
        self.on_request(number)
        fault = self.faults.pop(number, None)
        if fault == "close":
            request.close_connection = True
            return
        with self._lock:
            status, said = (
                self._answer(request, body) if not isinstance(fault, int) else self.error(ErrorResponse(fault, "No.", "busy"))
            )
        if fault == "lost":
            request.close_connection = True
            return
        text = said.encode() if isinstance(said, str) else json.dumps(said).encode()
        request.send_response(status)
        request.send_header("Content-Type", "text/plain" if isinstance(said, str) else "application/json")
        request.send_header("Content-Length", str(len(text)))
        if self.retry_after and isinstance(fault, int):
            request.send_header("Retry-After", self.retry_after)
        request.end_headers()
        request.wfile.write(text)

    def _answer(self, request: BaseHTTPRequestHandler, body: bytes) -> Answer:
        address = urlsplit(request.path)
        try:
            self.check_key(dict(request.headers.items()))
            if len(body) > self.largest:
                raise ErrorResponse(413, "The provided payload reached the size limit.", "payload_too_large")
            return self.answer(request.command, address.path.strip("/").split("/"), dict(parse_qsl(address.query)), body)
        except ErrorResponse as error:
            return self.error(error)

    def check_key(self, headers: dict[str, str]) -> None:
        raise NotImplementedError

    def answer(self, method: str, path: list[str], query: dict[str, str], body: bytes) -> Answer:
        raise NotImplementedError

    def error(self, error: ErrorResponse) -> Answer:
        raise NotImplementedError

    def documents(self, index: str = "events") -> dict[str, Document]:
        """What people who search there find."""
        raise NotImplementedError


def _only(said: Any, required: set[str], optional: set[str] = frozenset()) -> dict[str, Any]:  # type: ignore[assignment]
    if not isinstance(said, dict) or not required <= said.keys() <= required | optional:
        raise ErrorResponse(400, f"Unknown or missing fields: {said!r:.200}")
    return said


_MEILI_SETTINGS = {
    "displayedAttributes", "searchableAttributes", "filterableAttributes", "sortableAttributes", "rankingRules", "stopWords",
    "nonSeparatorTokens", "separatorTokens", "dictionary", "synonyms", "distinctAttribute", "proximityPrecision", "typoTolerance",
    "faceting", "pagination", "embedders", "searchCutoffMs", "localizedAttributes", "facetSearch", "prefixSearch",
}  # fmt: skip


class MeilisearchStub(StubEngine):
    """Answers 202 with a task, and does it when it is asked about for the second time, after all that came before it."""

    def __init__(self) -> None:
        self.indexes: dict[str, dict[str, Any]] = {}
        self.tasks: list[dict[str, Any]] = []
        self._todo: deque[tuple[int, Callable[[], None]]] = deque()
        super().__init__()

    def documents(self, index: str = "events") -> dict[str, Document]:
        found: dict[str, Document] = self.indexes[index]["documents"]
        return found

    def check_key(self, headers: dict[str, str]) -> None:
        given = headers.get("Authorization")
        if given is None:
            raise ErrorResponse(401, "The Authorization header is missing.", "missing_authorization_header")
        if given != f"Bearer {KEY}":
            raise ErrorResponse(403, "The provided API key is invalid.", "invalid_api_key")

    def error(self, error: ErrorResponse) -> Answer:
        link = f"https://docs.meilisearch.com/errors#{error.code}"
        return error.status, {"message": error.message, "code": error.code, "type": "invalid_request", "link": link}

    def answer(self, method: str, path: list[str], query: dict[str, str], body: bytes) -> Answer:
        match method, path:
            case "GET", ["tasks", number]:
                return 200, self._look(int(number))
            case "GET", ["indexes", uid]:
                index = self._index(uid, 404)
                stamps = {"createdAt": "2026-01-01T00:00:00.123456789Z", "updatedAt": "2026-01-01T00:00:00.123456789Z"}
                return 200, {"uid": uid, "primaryKey": index["key"], **stamps}
            case "POST", ["indexes"]:
                said = _only(json.loads(body), {"uid"}, {"primaryKey"})
                return self._later("indexCreation", said["uid"], lambda: self._create(said["uid"], said.get("primaryKey")))
            case "DELETE", ["indexes", uid]:
                return self._later("indexDeletion", uid, lambda: self._delete(uid))
            case "PATCH", ["indexes", uid, "settings"]:
                settings = _only(json.loads(body), set(), _MEILI_SETTINGS)
                return self._later("settingsUpdate", uid, lambda: self._index(uid)["settings"].update(settings))
            case "POST", ["indexes", uid, "documents"]:
                rows, key = json.loads(body), query.get("primaryKey")
                if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                    raise ErrorResponse(400, "The payload must be an array of objects.", "malformed_payload")
                return self._later("documentAdditionOrUpdate", uid, lambda: self._add(uid, key, rows))
            case "POST", ["indexes", uid, "documents", "delete"]:
                chosen = _only(json.loads(body), {"filter"})["filter"]
                return self._later("documentDeletion", uid, lambda: self._remove(uid, chosen))
            case "POST", ["swap-indexes"]:
                swaps = [_only(one, {"indexes"}, {"rename"})["indexes"] for one in json.loads(body)]
                return self._later("indexSwap", None, lambda: self._swap(swaps))
        raise ErrorResponse(404, f"There is no {method} {'/'.join(path)}.", "not_found")

    def _later(self, kind: str, uid: str | None, work: Callable[[], None]) -> Answer:
        task = {
            "uid": len(self.tasks),
            "indexUid": uid,
            "status": "enqueued",
            "type": kind,
            "enqueuedAt": "2026-01-01T00:00:00.123456789Z",
        }
        self.tasks.append(task)
        self._todo.append((task["uid"], work))  # type: ignore[arg-type]
        return 202, {"taskUid": task["uid"], **{name: task[name] for name in ("indexUid", "status", "type", "enqueuedAt")}}

    def _look(self, number: int) -> dict[str, Any]:
        if number >= len(self.tasks):
            raise ErrorResponse(404, f"Task {number} not found.", "task_not_found")
        task = self.tasks[number]
        if task["status"] == "enqueued":
            task["status"] = "processing"
            return dict(task)
        while self._todo and self._todo[0][0] <= number:
            self._work(*self._todo.popleft())
        return dict(task)

    def _work(self, number: int, work: Callable[[], None]) -> None:
        task = self.tasks[number]
        try:
            work()
        except ErrorResponse as error:
            task |= {"status": "failed", "error": self.error(error)[1]}
        else:
            task["status"] = "succeeded"

    def _index(self, uid: str, status: int = 400) -> dict[str, Any]:
        if uid not in self.indexes:
            raise ErrorResponse(status, f"Index `{uid}` not found.", "index_not_found")
        return self.indexes[uid]

    def _create(self, uid: str, key: str | None) -> None:
        if uid in self.indexes:
            raise ErrorResponse(400, f"Index `{uid}` already exists.", "index_already_exists")
        self.indexes[uid] = {"key": key, "documents": {}, "settings": {}}

    def _delete(self, uid: str) -> None:
        self._index(uid)
        del self.indexes[uid]

    def _add(self, uid: str, key: str | None, rows: list[Document]) -> None:
        if uid not in self.indexes:
            self._create(uid, key)
        index = self.indexes[uid]
        for row in rows:
            number = row.get(index["key"])
            if not isinstance(number, str | int) or not str(number).replace("-", "").replace("_", "").isalnum():
                raise ErrorResponse(400, f"Document identifier {number!r} is invalid.", "invalid_document_id")
            place = row.get("_geo", {"lat": 0.0, "lng": 0.0})
            if set(place) != {"lat", "lng"} or not all(isinstance(one, float) for one in place.values()):
                raise ErrorResponse(400, "The `_geo` field is invalid.", "invalid_document_geo_field")
        index["documents"] |= {str(row[index["key"]]): row for row in rows}

    def _remove(self, uid: str, chosen: str) -> None:
        index = self._index(uid)
        name, word, rest = chosen.split(" ", 2)
        if word != "IN" or name not in index["settings"].get("filterableAttributes", []):
            raise ErrorResponse(400, f"Attribute `{name}` is not filterable.", "invalid_document_filter")
        for number in json.loads(rest):
            index["documents"].pop(number, None)

    def _swap(self, swaps: list[list[str]]) -> None:
        for one, other in swaps:
            self._index(one), self._index(other)
            self.indexes[one], self.indexes[other] = self.indexes[other], self.indexes[one]


_FIELD = {"facet", "optional", "index", "sort", "locale", "infix", "stem", "store", "range_index"}
_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "int64": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool),
    "geopoint": lambda value: isinstance(value, list) and len(value) == 2 and all(isinstance(one, float) for one in value),
}


class TypesenseStub(StubEngine):
    """Answers when it is done. Collections have a schema, and each document of an import an answer of its own."""

    def __init__(self) -> None:
        self.collections: dict[str, dict[str, Any]] = {}
        self.aliases: dict[str, str] = {}
        super().__init__()

    def documents(self, index: str = "events") -> dict[str, Document]:
        found: dict[str, Document] = self._collection(index)["documents"]
        return found

    def check_key(self, headers: dict[str, str]) -> None:
        given = {name.lower(): value for name, value in headers.items()}.get("x-typesense-api-key")
        if given != KEY:
            raise ErrorResponse(401, "Forbidden - a valid `x-typesense-api-key` header must be sent.")

    def error(self, error: ErrorResponse) -> Answer:
        return error.status, {"message": error.message}

    def answer(self, method: str, path: list[str], query: dict[str, str], body: bytes) -> Answer:
        match method, path:
            case "POST", ["collections"]:
                return 201, self._create(_only(json.loads(body), {"name", "fields"}, {"default_sorting_field"}))
            case "GET", ["collections", name]:
                return 200, self._collection(name)["schema"]
            case "DELETE", ["collections", name]:
                self._collection(name)
                return 200, self.collections.pop(name)["schema"]
            case "GET", ["aliases", name]:
                if name not in self.aliases:
                    raise ErrorResponse(404, "Not Found")
                return 200, {"name": name, "collection_name": self.aliases[name]}
            case "PUT", ["aliases", name]:
                self.aliases[name] = _only(json.loads(body), {"collection_name"})["collection_name"]
                return 200, {"name": name, "collection_name": self.aliases[name]}
            case "POST", ["collections", name, "documents", "import"]:
                if query != {"action": "upsert"}:
                    raise ErrorResponse(400, f"Unknown parameters {query}.")
                collection = self._collection(name)
                return 200, "\n".join(json.dumps(self._put(collection, line)) for line in body.decode().split("\n"))
            case "DELETE", ["collections", name, "documents"]:
                return 200, {"num_deleted": self._remove(self._collection(name), query)}
        raise ErrorResponse(404, f"There is no {method} {'/'.join(path)}.")

    def _collection(self, name: str) -> dict[str, Any]:
        found = self.collections.get(self.aliases.get(name, name))
        if found is None:
            raise ErrorResponse(404, f"No collection with name `{name}` found.")
        return found

    def _create(self, schema: dict[str, Any]) -> dict[str, Any]:
        if schema["name"] in self.collections:
            raise ErrorResponse(409, f"A collection with name `{schema['name']}` already exists.")
        fields = {one["name"]: _only(one, {"name", "type"}, _FIELD) for one in schema["fields"]}
        by = schema.get("default_sorting_field")
        if by and (fields[by]["type"] not in ("int32", "int64", "float") or fields[by].get("optional")):
            raise ErrorResponse(400, f"Default sorting field `{by}` must be a single valued numerical field.")
        for one in fields.values():
            if one["type"] not in _TYPES or (one.get("index") is False and not one.get("optional")):
                raise ErrorResponse(400, f"Field `{one['name']}` is not valid.")
        self.collections[schema["name"]] = {"schema": schema, "fields": fields, "documents": {}}
        return {**schema, "num_documents": 0, "created_at": 0}

    def _put(self, collection: dict[str, Any], line: str) -> dict[str, Any]:
        document, fields = json.loads(line), collection["fields"]
        wrong = [
            name
            for name, value in document.items()
            if name != "id" and (name not in fields or not _TYPES[fields[name]["type"]](value))
        ]
        missing = [name for name, one in fields.items() if not one.get("optional") and name not in document]
        if wrong or missing or not isinstance(document.get("id"), str):
            return {"success": False, "code": 400, "error": f"Fields {wrong + missing} are wrong.", "document": line}
        collection["documents"][document["id"]] = document
        return {"success": True}

    def _remove(self, collection: dict[str, Any], query: dict[str, str]) -> int:
        chosen = query.get("filter_by", "")
        if set(query) != {"filter_by"} or not chosen.startswith("id:[") or not chosen.endswith("]") or len(chosen) > 4000:
            raise ErrorResponse(400, f"Could not parse the filter query {chosen!r:.100}.")
        return sum(collection["documents"].pop(one, None) is not None for one in chosen[4:-1].split(","))
