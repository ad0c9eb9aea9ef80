"""Installing small packages for a test without a network: a folder for the path, and beside it what an installer would leave."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path


def install(project: Path, folder: Path) -> Path:
    """Put a project with a `src` layout where Python finds it, its entry points declared; the folder."""
    shutil.copytree(project / "src", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    told = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    declare(folder, told["name"], told["entry-points"], version=told["version"])
    return folder


def declare(folder: Path, name: str, groups: dict[str, dict[str, str]], *, version: str = "1.0") -> Path:
    """What makes a folder's modules a package that declares entry points."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def plugin(folder: Path, name: str, source: str, entry: str = "CHECKS") -> Path:
    """A plugin of one module, installed; the folder."""
    module = name.replace("-", "_")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(source, "utf-8")
    return declare(folder, name, {"tadoru.checks": {"checks": f"{module}:{entry}"}})
