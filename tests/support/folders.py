"""Folders with rights of their own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def folder_for_everybody() -> Iterator[Path]:
    """A folder that every user can look into, unlike those of `tmp_path`."""
    folder = Path(tempfile.mkdtemp(prefix="tadoru-test-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
