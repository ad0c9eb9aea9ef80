"""Optional packages: which extra installs each, and the message when one is missing, with the command that installs it.

A checkout has its own environment, which `pip install` in a shell does not reach.
"""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from tadoru.errors import Message

PACKAGES = {
    "playwright": ("render", "pages that need a browser"),
    "fastapi": ("serve", "the service"),
    "psycopg": ("postgres", "PostgreSQL"),
    "procrastinate": ("cluster", "workers on several machines"),
    "mcp": ("mcp", "the MCP server"),
    "wordllama": ("semantic", "documentation search by meaning"),
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
"""The folder of the checkout, if this is one."""


def not_installed(what: str, extra: str) -> str:
    """The message that the packages of an extra are missing, with the command that installs them."""
    command = install_command(f"tadoru[{extra}]")
    return Message("Packages for {feature} are not installed. Install them with `{command}`.", feature=what, command=command)


def install_command(package: str) -> str:
    """The command that installs a package, or an extra of Tadoru."""
    return pip_command(package, Path(sys.prefix), _ROOT, has_pip=find_spec("pip") is not None)


def repair_instructions() -> str:
    """What to do if a required package is missing."""
    if is_checkout(Path(sys.prefix), _ROOT):
        return Message("Remove {folder} and rerun the command: it is created again.", folder=sys.prefix)
    return Message("Reinstall it with `pip install --force-reinstall tadoru`.")


def pip_command(package: str, prefix: Path, root: Path, *, has_pip: bool) -> str:
    """The command that installs a package into an environment; `root` is the folder of the checkout."""
    if not is_checkout(prefix, root):
        return f"pip install {shlex.quote(package)}"
    python = shlex.quote(str(prefix / "bin" / "python"))
    # uv creates environments without pip.
    pip = f"{python} -m pip install" if has_pip else f"uv pip install --python {python}"
    ours = package.removeprefix("tadoru")
    return f"{pip} -e {shlex.quote(f'{root}{ours}')}" if ours != package else f"{pip} {shlex.quote(package)}"


def is_checkout(prefix: Path, root: Path) -> bool:
    """Whether this is the environment that `./tadoru` created in the checkout."""
    return prefix.name.startswith(".venv") and prefix.parent.resolve() == root
