"""Builds the sites whose sources lie here, each with its real generator, once.

What is built is kept in `.built/` of the checkout under a digest of the sources and of the versions of the tools: a second run,
and every other worker of the same run, finds it there. A build happens in a folder of its own and is moved into place when it
is whole, so that one that was killed leaves nothing behind that looks whole.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from tests.support.built import odd

SOURCES = Path(__file__).parent
KEPT = SOURCES.parent.parent.parent / ".built"
PATIENCE = 900
"""Seconds for one tool, on a slow machine that also installs."""

SPHINX_THEMES = ("alabaster", "furo", "sphinx_rtd_theme", "pydata_sphinx_theme", "sphinx_book_theme")
_SPHINX_TOOLS = (
    "sphinx docutils pygments alabaster furo sphinx-rtd-theme pydata-sphinx-theme sphinx-book-theme "
    "sphinx-copybutton sphinx-design sphinx-inline-tabs"
)
_MKDOCS_TOOLS = "mkdocs mkdocs-material pymdown-extensions markdown pygments mkdocstrings mkdocstrings-python"


def built_sphinx(theme: str) -> Path:
    """The handbook as Sphinx builds it with this theme."""

    def build(source: Path, target: Path) -> None:
        odd.write(source)
        # -D: the theme; -E -a: everything anew; -W: a page of ours that is wrong fails here, not in a test.
        _run([sys.executable, "-m", "sphinx", "-qEaW", "-D", f"html_theme={theme}", str(source), str(target)], source)

    return _built(f"sphinx-{theme}", "sphinx", _versions(_SPHINX_TOOLS), build)


def built_mkdocs() -> Path:
    """The handbook as MkDocs builds it with Material."""

    def build(source: Path, target: Path) -> None:
        odd.write(source / "docs")
        _run([sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(target)], source)

    return _built("mkdocs", "mkdocs", _versions(_MKDOCS_TOOLS), build)


def built_vitepress() -> Path:
    """The handbook as VitePress builds it."""

    def build(source: Path, target: Path) -> None:
        odd.write(source)
        with _packages(source):
            _run(["node", "node_modules/vitepress/bin/vitepress.js", "build", ".", "--outDir", str(target)], source)

    return _built("vitepress", "vitepress", _lock(), build)


def built_spa() -> Path:
    """A folder to serve: a site that a program in the reader's browser fills (Vue with its router, bundled by Vite).

    Its server must answer every address that is no file with `index.html`: `spa_site` does.
    """

    def build(source: Path, target: Path) -> None:
        with _packages(source):
            _run(["node", "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn", "--outDir", str(target)], source)

    return _built("spa", "spa", _lock(), build)


def _built(name: str, sources: str, tools: str, build: Callable[[Path, Path], None]) -> Path:
    """The folder with a site, built now unless it is there."""
    kept = KEPT / f"{name}-{_digest(SOURCES / sources, tools)}"
    if kept.is_dir():
        return kept
    with _one_at_a_time(name):
        if not kept.is_dir():
            for old in KEPT.glob(f"{name}-*"):
                shutil.rmtree(old)
            with tempfile.TemporaryDirectory(dir=KEPT, prefix="unfinished-") as room:
                source, target = Path(room) / "source", Path(room) / "site"
                shutil.copytree(SOURCES / sources, source, ignore=shutil.ignore_patterns("__pycache__"))
                build(source, target)
                target.rename(kept)
    return kept


@contextmanager
def _packages(source: Path) -> Iterator[None]:
    """The packages of npm beside the sources of a site: exactly those of the lock, by their digests, installed once."""
    kept = KEPT / f"packages-{_digest(SOURCES / 'npm', _node())}"
    with _one_at_a_time("packages"):
        if not kept.is_dir():
            for old in KEPT.glob("packages-*"):
                shutil.rmtree(old)
            with tempfile.TemporaryDirectory(dir=KEPT, prefix="unfinished-") as room:
                shutil.copytree(SOURCES / "npm", Path(room) / "npm")
                # Not `npm ci`: it insists on the packages of every other platform too.
                _run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"], Path(room) / "npm")
                (Path(room) / "npm").rename(kept)
    # Beside the sources and not above them: a bundler takes what lies outside of its folder for somebody else's.
    (source / "node_modules").symlink_to(kept / "node_modules", target_is_directory=True)
    yield
    (source / "node_modules").unlink()


@contextmanager
def _one_at_a_time(name: str) -> Iterator[None]:
    KEPT.mkdir(exist_ok=True)
    with (KEPT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _digest(folder: Path, tools: str) -> str:
    digest = hashlib.sha256(f"{tools}{odd.ODD}{Path(__file__).read_text('utf-8')}".encode())
    for file in sorted(file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts):
        digest.update(f"\0{file.relative_to(folder)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def has_node() -> bool:
    """Whether the tools that build the sites of JavaScript are here."""
    return shutil.which("node") is not None and shutil.which("npm") is not None


def _versions(names: str) -> str:
    return " ".join(f"{name}={version(name)}" for name in names.split())


def _lock() -> str:
    return (SOURCES / "npm" / "package-lock.json").read_text("utf-8")


def _node() -> str:
    return subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout


def _run(command: list[str], folder: Path) -> None:
    """Run a tool to its end; what it said is told when it fails."""
    environment = {**os.environ, "CI": "1", "NO_COLOR": "1", "NODE_ENV": "production", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}")
