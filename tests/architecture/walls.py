"""The walls of ARCHITECTURE.md as functions over source text: each takes a tree of modules and returns what breaks it.

Nothing is imported from the tree, so that a module which does not even load is still judged. The tables at the top are the
rules; `test_walls.py` holds the product to them, and proves that each of them can fail.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "tadoru"

# Bottom to top. A module may import its own layer and those before it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("errors", "clock", "extras", "version", "signals"),
    ("model",),
    ("rules",),
    ("parse",),
    ("config", "settings", "setting_values", "options", "plugins", "log", "i18n"),
    ("fetch", "store"),
    ("engine",),
    ("jobs",),
    ("serve", "cluster", "demo"),
    ("cli", "__main__", "__init__"),
)
RANK = {room: rank for rank, layer in enumerate(LAYERS) for room in layer}
STRANGERS = frozenset({("fetch", "store"), ("store", "fetch")})

PURE = ("model", "rules", "parse")
IMPURE = frozenset(
    "aiohttp asyncio concurrent.futures http.client httpx logging multiprocessing os pathlib random requests secrets select "
    "selectors shutil signal socket sqlite3 ssl subprocess tempfile threading time urllib.request uvloop tadoru.clock".split()
)

# Which files may know a library: exact paths, or folders ending in "/".
ROOMS: dict[str, tuple[str, ...]] = {
    "ada_url": ("rules/url.py",),
    "aiohttp": ("fetch/",),
    "alembic": ("store/events/migrate.py", "store/events/migrations/"),
    "apprise": ("jobs/events/notify.py",),
    "babel": ("i18n/",),
    "backports.zstd": ("fetch/",),
    "boto3": ("store/files.py",),
    "botocore": ("store/files.py",),
    "brotli": ("fetch/",),
    "charset_normalizer": ("parse/decode.py",),
    "click": ("cli/",),
    "ftfy": ("parse/normal_text.py",),
    "httpx": ("jobs/events/search/typesense_engine.py",),
    "markdown_it": ("serve/docs_sites/markup.py",),
    "mcp": ("jobs/docs/mcp.py",),
    "meilisearch": ("jobs/events/search/meilisearch_engine.py",),
    "nh3": ("parse/normal_text.py", "serve/docs_sites/markup.py"),
    "numpy": ("jobs/events/enrich/", "parse/content.py", "rules/similar.py", "store/site/"),
    "playwright": ("fetch/browser.py",),
    "procrastinate": ("cluster/",),
    "psycopg": ("store/",),
    "publicsuffixlist": ("rules/scope.py",),
    "pyarrow": ("jobs/audit/export/parquet.py",),
    "rapidfuzz": ("jobs/events/dedupe/",),
    "re2": ("parse/linear_regex.py",),
    "rich": ("cli/",),
    "selectolax": ("parse/html.py",),
    "fastapi": ("serve/",),
    "jinja2": ("serve/",),
    "sqlalchemy": ("store/",),
    "sqlite3": ("store/",),
    "starlette": ("serve/",),
    "graphql": ("serve/graphql/",),
    "strawberry": ("serve/graphql/",),
    "tiktoken": ("jobs/docs/bundle/tokens.py",),
    "typesense": ("jobs/events/search/typesense_engine.py",),
    "uvicorn": ("jobs/docs/mcp.py", "serve/"),
    "uvloop": ("jobs/launch.py",),
    "warcio": ("jobs/audit/export/warc.py",),
    "xlsxwriter": ("jobs/audit/export/xlsx.py",),
    "yaml": ("config.py", "jobs/events/imports.py"),
}

VAGUE = frozenset({"utils", "util", "helpers", "helper", "common", "core", "misc", "manager"})

WALL_CLOCK = frozenset(
    "time.time time.time_ns time.sleep datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today "
    "datetime.date.today".split()
)


@dataclass(frozen=True, slots=True)
class Module:
    """One source file of the package, parsed."""

    path: str  # below the package, with "/"
    tree: ast.Module

    @property
    def room(self) -> str:
        """The first name below the package: a folder or a top-level module."""
        return self.path.split("/")[0].removesuffix(".py")

    @property
    def folder(self) -> list[str]:
        """The package this module is in, as absolute names."""
        return [PACKAGE, *self.path.split("/")[:-1]]


@dataclass(frozen=True, slots=True)
class Breach:
    """One place that breaks one rule."""

    path: str
    line: int
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: [{self.rule}] {self.what}"


@cache
def product(root: Path) -> list[Module]:
    """The modules of a package that does not change meanwhile, read once for all tests."""
    return read(root)


def read(root: Path) -> list[Module]:
    """Every module below the package's folder."""
    files = sorted(root.rglob("*.py"))
    return [Module(file.relative_to(root).as_posix(), ast.parse(file.read_text("utf-8"), str(file))) for file in files]


def imports(module: Module) -> Iterator[tuple[int, str]]:
    """Line and absolute dotted name of everything imported, wherever in the file: top, function, TYPE_CHECKING, import_module."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=source, names=names, level=level):
                base = module.folder[: len(module.folder) - level + 1] if level else []
                origin = ".".join([*base, *([source] if source else [])])
                yield from ((node.lineno, f"{origin}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__"), args=[name, *_]
            ):
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    yield node.lineno, name.value


def within(name: str, prefix: str) -> bool:
    """Is a dotted name this module, or something in it?"""
    return name == prefix or name.startswith(prefix + ".")


def impure_floors(modules: list[Module]) -> Iterator[Breach]:
    """`model`, `rules` and `parse` take values and return values."""
    for module in modules:
        if module.room in PURE:
            for line, name in imports(module):
                if any(within(name, banned) for banned in IMPURE):
                    yield Breach(module.path, line, "pure floor", f"{module.room} does no I/O and imports {name}")


def upward_imports(modules: list[Module]) -> Iterator[Breach]:
    """No import goes up, and the two doors to the world do not know each other."""
    for module in modules:
        if module.room not in RANK:
            yield Breach(module.path, 1, "layers", f"{module.room} has no layer; give it one in tests/architecture/walls.py")
            continue
        if module.path == "__init__.py":  # the façade: it offers what all layers make, and imports it late
            continue
        for line, name in imports(module):
            if within(name, PACKAGE):
                other = room_of(name)
                if RANK[other] > RANK[module.room] or (module.room, other) in STRANGERS:
                    yield Breach(module.path, line, "layers", f"{module.room} must not know {other}, and imports {name}")


def room_of(name: str) -> str:
    """The room of an absolute name in the package; what is no room (`tadoru.links`) is the façade's."""
    room = name.split(".")[1] if "." in name else "__init__"
    return room if room in RANK else "__init__"


def libraries_out_of_their_room(modules: list[Module]) -> Iterator[Breach]:
    """One room knows each library."""
    for module in modules:
        for line, name in imports(module):
            for library, rooms in ROOMS.items():
                if within(name, library) and not any(is_in(module.path, room) for room in rooms):
                    yield Breach(module.path, line, "one room per library", f"{library} is known in {', '.join(rooms)} only")


def is_in(path: str, room: str) -> bool:
    """Is a file the one named, or in the folder named?"""
    return path.startswith(room) if room.endswith("/") else path == room


def vague_names(modules: list[Module]) -> Iterator[Breach]:
    """A name says what lives there; these say nothing."""
    for module in modules:
        for part in module.path.removesuffix(".py").split("/"):
            if part.strip("_") in VAGUE:
                yield Breach(module.path, 1, "names", f"{part} says nothing about what lives there")


def missing_docstrings(modules: list[Module]) -> Iterator[Breach]:
    """Every module says what lives in it."""
    for module in modules:
        if not ast.get_docstring(module.tree):
            yield Breach(module.path, 1, "docstrings", "the module does not say what lives here")


def own_time(modules: list[Module]) -> Iterator[Breach]:
    """The time of day, and waiting for it, come from `clock.py`."""
    for module in modules:
        if module.path == "clock.py":
            continue
        names = aliases(module)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute | ast.Name) and dotted(node, names) in WALL_CLOCK:
                yield Breach(module.path, node.lineno, "time", f"{dotted(node, names)} is for clock.py only")


def aliases(module: Module) -> dict[str, str]:
    """What each imported name of a module stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(module.tree):
        match node:
            case ast.Import(names=names):
                found |= {alias.asname: alias.name for alias in names if alias.asname}
                found |= {alias.name.split(".")[0]: alias.name.split(".")[0] for alias in names if not alias.asname}
            case ast.ImportFrom(module=str(source), names=names, level=0):
                found |= {alias.asname or alias.name: f"{source}.{alias.name}" for alias in names}
    return found


def dotted(node: ast.expr, names: dict[str, str]) -> str:
    """The absolute name an expression like `a.b.c` stands for, or nothing."""
    match node:
        case ast.Name(id=name):
            return names.get(name, "")
        case ast.Attribute(value=value, attr=attr) if origin := dotted(value, names):
            return f"{origin}.{attr}"
    return ""


RULES = (impure_floors, upward_imports, libraries_out_of_their_room, vague_names, missing_docstrings, own_time)
