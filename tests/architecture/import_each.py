"""Imports each module below a folder in a process where nothing was loaded that it does not load itself; prints those that fail.

Run by a bare interpreter that forks. What several modules import is loaded once and forked from: a module is tried in a process
that holds a part of what its own import statements lead to, which is as good as a process that holds nothing. Where modules
import each other in a circle it matters where one enters, so nothing of a circle is ever loaded beforehand; a package and the
modules that it imports are no such circle, since the package always comes first.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import json
import os
import sys
import traceback
from pathlib import Path

# Other people's packages load alone; what is asked is whether ours do. They are given as further arguments.
KNOWN = tuple(
    "ada_url aiohttp alembic.migration alembic.script click email.message fastapi fastapi.responses ftfy jinja2 jmespath "
    "lxml.html markdown_it mcp.server meilisearch nh3 numpy playwright.async_api procrastinate prometheus_client psycopg "
    "psycopg_pool re2 publicsuffixlist pyarrow.parquet rapidfuzz.distance rapidfuzz.fuzz rich.progress rich.table "
    "selectolax.lexbor sqlalchemy sqlalchemy.dialects.postgresql sqlalchemy.dialects.sqlite sqlite3 starlette.middleware.gzip "
    "strawberry.fastapi typesense uvicorn uvicorn.protocols.http.httptools_impl websockets xml.etree.ElementTree yaml "
    "zoneinfo".split()
)


def imported(name: str, file: Path, names: set[str]) -> set[str]:
    """Our own modules that the statements at the top of a module import, with its package: fewer than are loaded, never more."""
    found = {name.rpartition(".")[0]}
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    found |= {parent.rpartition(".")[0] for parent in found} | {parent.rpartition(".")[0].rpartition(".")[0] for parent in found}
    return (found & names) - {name}


def reached(name: str, direct: dict[str, set[str]]) -> frozenset[str]:
    """A module and all that its imports lead to."""
    found, ahead = {name}, [name]
    while ahead:
        new = direct[ahead.pop()] - found
        found |= new
        ahead += new
    return frozenset(found)


class Trial:
    """Which modules lead where, and the processes that try them."""

    def __init__(self, source: Path) -> None:
        files = {named(file, source): file for file in sorted(source.rglob("*.py"))}
        direct = {name: imported(name, file, set(files)) for name, file in files.items()}
        self.reach = {name: reached(name, direct) for name in files}
        in_circles = {name for name in files if any(self._circle(name, other) for other in self.reach[name])}
        self.shareable = {name for name, reach in self.reach.items() if not reach & in_circles}
        # Whoever asks for one of these first gets the package first, which loads it: tried with the package.
        self.names = [name for name in files if name not in self.reach.get(name.rpartition(".")[0], ())]

    def _circle(self, one: str, other: str) -> bool:
        within = one.startswith(other + ".") or other.startswith(one + ".")
        return one != other and one in self.reach[other] and not within and self._door(one) != self._door(other)

    def _door(self, name: str) -> str:
        """The outermost package that both comes before a module and loads it."""
        parts = name.split(".")
        packages = [".".join(parts[: length + 1]) for length in range(len(parts))]
        return next(package for package in packages if name in self.reach[package])

    def settle(self, loaded: frozenset[str], names: list[str]) -> list[str]:
        """Those of the modules that fail; every one of them leads to all that is loaded here."""
        failed: list[str] = []
        while names:
            base = self._most_shared(loaded, names)
            group = [name for name in names if base in self.reach[name]] if base else names[:1]
            names = [name for name in names if name not in group]
            failed += forked(lambda base=base or group[0], group=group: self._behind(loaded, base, group))
        return failed

    def _most_shared(self, loaded: frozenset[str], names: list[str]) -> str | None:
        counts: dict[str, int] = {}
        for name in names:
            for base in self.reach[name] - loaded:
                counts[base] = counts.get(base, 0) + 1
        worth = {base: (count - 1) * len(self.reach[base] - loaded) for base, count in counts.items() if base in self.shareable}
        best = max(sorted(worth), key=lambda base: worth[base], default=None)
        return best if best and worth[best] else None

    def _behind(self, loaded: frozenset[str], base: str, group: list[str]) -> list[str]:
        """Import one module in this process, then what leads to it in processes forked from here."""
        try:
            importlib.import_module(base)
        except BaseException:  # Whatever it is, the module cannot be imported.
            traceback.print_exc()
            return group
        return self.settle(loaded | self.reach[base], [name for name in group if name != base])


def named(file: Path, source: Path) -> str:
    return ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def forked(work) -> list[str]:  # type: ignore[no-untyped-def]
    """What a function returns in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as told:
            json.dump(work(), told)
        sys.stderr.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        answer = told.read()
    os.waitpid(child, 0)
    return json.loads(answer)


def main() -> None:
    for name in sys.argv[2:]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.disable()  # A collection in each fork would touch, and so copy, every object that was there before.
    trial = Trial(Path(sys.argv[1]))
    print(json.dumps(sorted(trial.settle(frozenset(), trial.names))))


if __name__ == "__main__":
    main()
