"""A database of the service that has its tables, to copy: making them anew costs more than most of the tests that want one."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from tadoru.store.service import open_service
from tests.support.clock import FakeClock


@cache
def _made() -> bytes:
    with tempfile.TemporaryDirectory(prefix="tadoru-ready-") as folder:
        path = Path(folder) / "service.db"
        open_service(str(path), FakeClock()).close()
        return path.read_bytes()


def put_ready_made(path: Path | str) -> None:
    """Let there be an empty database of the service, unless there is something already."""
    if "://" not in str(path) and not Path(path).exists():
        Path(path).write_bytes(_made())
