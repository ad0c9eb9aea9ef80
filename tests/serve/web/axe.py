"""axe-core, which finds what keeps people out of a page: installed once from npm, by its digest, and run in a page."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.support.built.builders import KEPT, _digest, _one_at_a_time, _run

_PACKAGES = Path(__file__).parent / "npm"
GRAVE = ("serious", "critical")


@cache
def source() -> str:
    """The script, installed when it is not there yet."""
    kept = KEPT / f"axe-{_digest(_PACKAGES, 'axe')}"
    with _one_at_a_time("axe"):
        if not kept.is_dir():
            for old in KEPT.glob("axe-*"):
                shutil.rmtree(old)
            with tempfile.TemporaryDirectory(dir=KEPT, prefix="unfinished-") as room:
                shutil.copytree(_PACKAGES, Path(room) / "npm")
                _run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"], Path(room) / "npm")
                (Path(room) / "npm").rename(kept)
    return (kept / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")


def violations(page: Page, *, every: bool = False) -> list[str]:
    """What is gravely wrong with a page, or whatever is, a line for each kind and element."""
    page.evaluate(source())
    found: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{one['id']} ({one['impact']}): {node['target']} {node.get('failureSummary', '')}"
        for one in found["violations"]
        if every or one["impact"] in GRAVE
        for node in one["nodes"][:3]
    ]
