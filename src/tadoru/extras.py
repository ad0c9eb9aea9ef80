"""What to say when packages of an extra are not installed: one sentence, with the command to type where we run.

A checkout has an environment of its own, which `pip install` in somebody's shell does not reach.
"""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

PACKAGES = {
    "playwright": ("render", "pages that need a browser"),
    "fastapi": ("serve", "the service"),
    "psycopg": ("postgres", "PostgreSQL"),
    "procrastinate": ("cluster", "workers on several machines"),
    "mcp": ("mcp", "answering agents"),
    "meilisearch": ("search", "search engines"),
    "apprise": ("notify", "notifications"),
    "pyarrow": ("parquet", "Parquet"),
    "xlsxwriter": ("xlsx", "spreadsheets"),
    "warcio": ("warc", "WARC"),
    "lxml": ("xpath", "XPath selectors"),
    "boto3": ("s3", "object storage"),
}
"""Optional modules: the extra that installs each, and what it is for."""
_ROOT = Path(__file__).resolve().parents[2]
"""The checkout, where this is one."""


def not_installed(what: str, extra: str) -> str:
    """That the packages for something are not here, and how to get them."""
    return f"Packages for {what} are not installed: install them with `{install_command(f'tadoru[{extra}]')}`."


def install_command(package: str) -> str:
    """The command that installs a package, or an extra of ours."""
    return pip_command(package, Path(sys.prefix), _ROOT, has_pip=find_spec("pip") is not None)


def repair_instructions() -> str:
    """What to do when a package is missing that Tadoru can not be without."""
    if is_checkout(Path(sys.prefix), _ROOT):
        return f"remove {sys.prefix}, and the next start makes it anew"
    return "install it again with `pip install --force-reinstall tadoru`"


def pip_command(package: str, prefix: Path, root: Path, *, has_pip: bool) -> str:
    """The same, of an environment and the folder that Tadoru's own is in."""
    if not is_checkout(prefix, root):
        return f"pip install {shlex.quote(package)}"
    python = shlex.quote(str(prefix / "bin" / "python"))
    # uv makes environments without pip.
    pip = f"{python} -m pip install" if has_pip else f"uv pip install --python {python}"
    ours = package.removeprefix("tadoru")
    return f"{pip} -e {shlex.quote(f'{root}{ours}')}" if ours != package else f"{pip} {shlex.quote(package)}"


def is_checkout(prefix: Path, root: Path) -> bool:
    """Is it the environment that `./tadoru` made beside itself?"""
    return prefix.name.startswith(".venv") and prefix.parent.resolve() == root
