"""The rules of ARCHITECTURE.md as functions over source text: each takes modules and yields the violations.

Nothing is imported from the tree, so that a module which does not even load is still checked. The tables at the top are the
rules; `test_layers.py` applies them to the product, and proves that each of them can fail.
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
    ("config", "plugins", "log", "i18n"),
    ("fetch", "store"),
    ("engine",),
    ("jobs",),
    ("serve", "cluster", "demo"),
    ("cli", "__main__", "__init__"),
)
RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}
SEPARATE = frozenset({("fetch", "store"), ("store", "fetch")})

PURE = ("model", "rules", "parse")
IMPURE = frozenset(
    "aiohttp asyncio concurrent.futures http.client httpx logging multiprocessing os pathlib random requests secrets select "
    "selectors shutil signal socket sqlite3 ssl subprocess tempfile threading time urllib.request uvloop tadoru.clock".split()
)

# Which files may know a library: exact paths, or folders ending in "/".
LIBRARY_PACKAGES: dict[str, tuple[str, ...]] = {
    "ada_url": ("rules/url.py",),
    "aiohttp": ("fetch/",),
    "alembic": ("store/calendar/migrate.py", "store/calendar/migrations/"),
    "apprise": ("jobs/events/notify.py",),
    "babel": ("i18n/",),
    "backports.zstd": ("fetch/",),
    "boto3": ("store/files.py",),
    "botocore": ("store/files.py",),
    "brotli": ("fetch/",),
    "charset_normalizer": ("parse/decode.py",),
    "click": ("cli/",),
    "ftfy": ("parse/text_cleaning.py",),
    "httpx": ("jobs/events/search/typesense_engine.py",),
    "markdown_it": ("parse/markdown.py", "serve/docs_sites/markdown_html.py"),
    "mcp": ("jobs/docs/mcp.py",),
    "meilisearch": ("jobs/events/search/meilisearch_engine.py",),
    "nh3": ("parse/text_cleaning.py", "serve/docs_sites/markdown_html.py"),
    "numpy": ("jobs/docs/semantic.py", "jobs/events/enrich/", "parse/content.py", "rules/minhash.py", "store/crawl/site/"),
    "playwright": ("fetch/browser/browser.py",),
    "procrastinate": ("cluster/",),
    "prometheus_client": ("cluster/metrics.py", "serve/app.py"),
    "psutil": ("store/crawl/workers.py",),
    "psycopg": ("store/",),
    "publicsuffixlist": ("rules/scope.py",),
    "pyarrow": ("jobs/audit/export/parquet.py",),
    "rapidfuzz": ("jobs/events/dedupe/",),
    "re2": ("parse/linear_regex.py",),
    "rich": ("cli/",),
    "selectolax": ("parse/html.py",),
    "fastapi": ("serve/",),
    "jinja2": ("jobs/reporting/html_templates.py", "serve/"),
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
    "yaml": ("config/resolve.py", "jobs/events/collect/source_registry.py"),
}

VAGUE = frozenset(
    "utils util helpers helper common core misc manager values places words telling showing reading hand own forms asked "
    "choosing door room desk errand errands shift roster lanes scout survey things given tidings saying told chores".split()
)

VAGUE_CLASSES = frozenset(
    "Page Line Part Row Place Order Entry Form Kind Side Change Item Reason Found Asked Told Said Kept Chosen Given Taken Wanted "
    "Judging Verdict CameTo AtOnce Telling Reconsidering".split()
)

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
    def package(self) -> str:
        """The first name below the package: a folder or a top-level module."""
        return self.path.split("/")[0].removesuffix(".py")

    @property
    def folder(self) -> list[str]:
        """The package this module is in, as absolute names."""
        return [PACKAGE, *self.path.split("/")[:-1]]


@dataclass(frozen=True, slots=True)
class Violation:
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


def impure_packages(modules: list[Module]) -> Iterator[Violation]:
    """`model`, `rules` and `parse` take values and return values."""
    for module in modules:
        if module.package in PURE:
            for line, name in imports(module):
                if any(within(name, banned) for banned in IMPURE):
                    yield Violation(module.path, line, "pure package", f"{module.package} does no I/O and imports {name}")


def upward_imports(modules: list[Module]) -> Iterator[Violation]:
    """No import goes up, and `fetch` and `store` do not import each other."""
    for module in modules:
        if module.package not in RANK:
            yield Violation(module.path, 1, "layers", f"{module.package} has no layer in tests/architecture/rules.py")
            continue
        if module.path == "__init__.py":  # the façade: it offers what all layers make, and imports it late
            continue
        for line, name in imports(module):
            if within(name, PACKAGE):
                other = package_of(name)
                if RANK[other] > RANK[module.package] or (module.package, other) in SEPARATE:
                    yield Violation(module.path, line, "layers", f"{module.package} must not know {other}, and imports {name}")


def package_of(name: str) -> str:
    """The package of an absolute name in the package; what is no package (`tadoru.links`) is the façade's."""
    package = name.split(".")[1] if "." in name else "__init__"
    return package if package in RANK else "__init__"


def libraries_outside_their_package(modules: list[Module]) -> Iterator[Violation]:
    """Each library is imported by one package."""
    for module in modules:
        for line, name in imports(module):
            for library, packages in LIBRARY_PACKAGES.items():
                if within(name, library) and not any(is_in(module.path, package) for package in packages):
                    yield Violation(module.path, line, "one package per library", f"{library} is for {', '.join(packages)}")


def is_in(path: str, package: str) -> bool:
    """Is a file the one named, or in the folder named?"""
    return path.startswith(package) if package.endswith("/") else path == package


def vague_names(modules: list[Module]) -> Iterator[Violation]:
    """A module is named for its content; these names say nothing."""
    for module in modules:
        for part in module.path.removesuffix(".py").split("/"):
            if part.strip("_") in VAGUE:
                yield Violation(module.path, 1, "names", f"{part} says nothing about its content")


def repeated_class_names(modules: list[Module]) -> Iterator[Violation]:
    """The name of a public class occurs once."""
    first: dict[str, str] = {}
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                if node.name in first:
                    yield Violation(module.path, node.lineno, "names", f"{node.name} is also a class of {first[node.name]}")
                first.setdefault(node.name, module.path)


def vague_class_names(modules: list[Module]) -> Iterator[Violation]:
    """A public class says of what it is a page, a row or an order."""
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and node.name in VAGUE_CLASSES:
                yield Violation(module.path, node.lineno, "names", f"{node.name} does not say what it is")


def missing_docstrings(modules: list[Module]) -> Iterator[Violation]:
    """Every module has a docstring."""
    for module in modules:
        if not ast.get_docstring(module.tree):
            yield Violation(module.path, 1, "docstrings", "the module has no docstring")


def direct_clock_use(modules: list[Module]) -> Iterator[Violation]:
    """The time of day, and waiting for it, come from `clock.py`."""
    for module in modules:
        if module.path == "clock.py":
            continue
        names = aliases(module)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Attribute | ast.Name) and dotted(node, names) in WALL_CLOCK:
                yield Violation(module.path, node.lineno, "time", f"{dotted(node, names)} is for clock.py only")


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


RULES = (
    impure_packages, upward_imports, libraries_outside_their_package, vague_names, repeated_class_names, vague_class_names,
    missing_docstrings, direct_clock_use,
)  # fmt: skip
