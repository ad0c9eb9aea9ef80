"""Each module loads without another having been loaded before it, and the command line loads little."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# One bare interpreter that forks for each module: as fresh as a new process each time, at a hundredth of the cost.
IMPORT_EACH = """
import importlib, json, os, sys, traceback
for known in (
    "ada_url", "aiohttp", "alembic.migration", "alembic.script", "click", "email.message", "fastapi", "fastapi.responses", "ftfy",
    "jinja2", "jmespath", "lxml.html", "markdown_it", "mcp.server", "meilisearch", "nh3", "numpy", "playwright.async_api",
    "procrastinate", "psycopg_pool", "publicsuffixlist", "psycopg", "pyarrow.parquet", "rapidfuzz.fuzz",
    "rapidfuzz.distance", "rich.progress", "rich.table", "selectolax.lexbor", "sqlalchemy", "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite", "sqlite3", "starlette.middleware.gzip", "strawberry.fastapi", "typesense",
    "uvicorn", "uvicorn.protocols.http.httptools_impl", "websockets", "xml.etree.ElementTree", "yaml", "zoneinfo",
):
    try:
        importlib.import_module(known)  # Other people's packages load alone; what is asked is whether ours do.
    except ImportError:
        pass
failed, loaded = [], set()
for name in json.loads(sys.argv[1]):
    if name in loaded:
        continue  # Its package loads it: whoever asks for it first gets the package first, which is what was tried.
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            importlib.import_module(name)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os.write(writing, json.dumps([one for one in sys.modules if one.startswith(name + ".")]).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as told:
        loaded.update(json.loads(told.read() or b"[]"))
    if os.waitpid(child, 0)[1]:
        failed.append(name)
print(json.dumps(failed))
"""

PARTS = 4
"""So that several workers of the tests share the modules: those of one package together, the package before them."""
HEAVY = ("aiohttp", "rich", "selectolax", "sqlite3", "yaml")


def run(source: Path, code: str, *arguments: str) -> str:
    """Standard output of a bare interpreter that finds packages in `source`, compiled as `./test` left them."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = own | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-P", "-c", code, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def modules(source: Path) -> list[str]:
    files = sorted(source.rglob("*.py"))
    names = [".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__") for file in files]
    return [name for name in names if not name.startswith(".")]


@pytest.mark.parametrize("part", range(PARTS))
def test_each_module_can_be_imported_first(part: int, checkout: Path) -> None:
    names = modules(checkout / "src")
    assert "tadoru.version" in names
    rooms = sorted({tuple(name.split(".")[:2]) for name in names})
    mine = [name for name in sorted(names) if rooms.index(tuple(name.split(".")[:2])) % PARTS == part]
    assert json.loads(run(checkout / "src", IMPORT_EACH, json.dumps(mine))) == []


def test_a_module_that_needs_another_first_is_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("import sys\nsys.b_was_here = True\n")
    (tmp_path / "b.py").write_text("import sys\nsys.b_was_here\n")
    assert json.loads(run(tmp_path, IMPORT_EACH, '["a", "b"]')) == ["b"]
    assert "b_was_here" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["tadoru", "tadoru.__main__", "tadoru.cli.main"])
def test_the_way_in_loads_nothing_heavy(name: str, checkout: Path) -> None:
    code = f"import sys, {name}; print(*sorted(set(sys.modules) & {set(HEAVY)!r}))"
    assert run(checkout / "src", code).split() == []
