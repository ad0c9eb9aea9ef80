"""Tests use what users use: a private name of the product or of a library is a reason to change its interface or the test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ALLOWED = {
    "tests/acceptance/test_installed.py: _base_executable": "the interpreter that a virtual environment was made of",
    "tests/acceptance/commands.py: _protected_args": "click has no other way to the words that a group leaves to its command",
    "tests/bench/test_looking.py: _WAITING": "how PostgreSQL finds the answer to a query is asked with the query",
    "tests/browser/test_hostile_pages.py: _running": "only a browser itself can crash one of its pages or list them",
    "tests/documents/document_parts.py: _protected_args": "as in tests/acceptance/commands.py",
    "tests/engine/test_stopping.py: _page_fetch": "nothing announces that a visit waits for its turn",
    "tests/engine/test_stopping.py: _waiting": "as before",
    "tests/fetch/test_http.py: _SSL_CONTEXT_VERIFIED": "as in tests/support/warm_start.py",
    "tests/jobs/test_audit_baseline.py: _CHUNK": "a file is read in parts of a megabyte, and every cut is tried on short ones",
    "tests/serve/crawl_runner/test_regressions.py: _threads": "what is sent in the background is waited for, with its retries",
    "tests/serve/live/test_connection.py: _reader": "that nothing is read shows in nothing else",
    "tests/store/test_site_arrays.py: _alike": "comparisons are counted",
    "tests/support/warm_start.py: _SSL_CONTEXT_VERIFIED": "aiohttp reads whom the environment trusts when it is imported",
    "tests/support/warm_start.py: _make_ssl_context": "as before",
}
"""Names that have to be used, and why."""
_PUBLIC = ("_asdict", "_exit", "_fields", "_make", "_replace")
"""Named tuples and `os` have these for everybody."""


def private_names(tree: ast.Module) -> Iterator[str]:
    """The private attributes and functions that a file uses and does not define itself."""
    own = {name for node in ast.walk(tree) for name in _defined(node)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case ast.Attribute(attr=name) if _is_private(name) and name not in own:
                yield name
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("tadoru"):
                yield from (one.name for one in names if _is_private(one.name))


def _defined(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
            yield name
        case ast.Name(id=name, ctx=ast.Store()):
            yield name


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _PUBLIC


def test_no_test_touches_a_private_attribute(checkout: Path) -> None:
    found = {
        f"{path.relative_to(checkout).as_posix()}: {name}"
        for path in sorted((checkout / "tests").rglob("*.py"))
        for name in private_names(ast.parse(path.read_text("utf-8")))
    }
    assert sorted(found) == sorted(ALLOWED)


@pytest.mark.parametrize(
    "code, names",
    [
        ("store._sql.execute('')", ["_sql"]),
        ("self._sql = 1; store._sql", []),
        ("row._replace(a=1); store.__class__", []),
        ("def _made(): ...\nmodule._made()", []),
        ("super()._execute_child()", ["_execute_child"]),
        ("from tadoru.log import Log, _line", ["_line"]),
    ],
)
def test_a_private_attribute_of_something_else_is_found(code: str, names: list[str]) -> None:
    assert list(private_names(ast.parse(code))) == names
