"""Programs of the machine that some tests drive. `./test` installs them; run by hand without them, those tests say so."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

import pytest

from tadoru.fetch.browser.browser import PROGRAM_NAMES

needs_browser = pytest.mark.skipif(
    not any(map(shutil.which, PROGRAM_NAMES)) or find_spec("playwright") is None, reason="Chromium or Playwright is not installed"
)
SHELL_TOOLS = ("curl", "jq", "sqlite3")
needs_shell_tools = pytest.mark.skipif(not all(map(shutil.which, SHELL_TOOLS)), reason="curl, jq and sqlite3 are not installed")
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or shutil.which("npm") is None, reason="node and npm are not installed"
)
