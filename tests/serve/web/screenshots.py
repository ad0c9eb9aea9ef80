"""Pictures of pages, for people to look at: they are kept in the folder that SCREENSHOTS names, and taken only when it is set."""

from __future__ import annotations

import os
import re
from pathlib import Path

from playwright.sync_api import Page


def keep_picture(page: Page, name: str) -> None:
    """A picture of the whole page under a name like `en-light-manage-crawls`."""
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(folder, re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".png"), full_page=True)
