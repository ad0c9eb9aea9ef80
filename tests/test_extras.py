"""The one sentence about packages that are not installed: it names the command that helps where it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.extras import not_installed, pip_command

ROOT = Path("/home/mia/my tadoru")
OWN = ROOT / ".venv"


@pytest.mark.parametrize("prefix, has_pip, package, wanted", [
    (Path("/usr"), True, "tadoru[mcp]", "pip install 'tadoru[mcp]'"),
    (Path("/usr"), True, "tiktoken", "pip install tiktoken"),
    (ROOT.parent / ".venv", True, "tadoru[mcp]", "pip install 'tadoru[mcp]'"),
    (OWN, True, "tadoru[mcp]", "'/home/mia/my tadoru/.venv/bin/python' -m pip install -e '/home/mia/my tadoru[mcp]'"),
    (OWN, False, "tadoru[mcp]", "uv pip install --python '/home/mia/my tadoru/.venv/bin/python' -e '/home/mia/my tadoru[mcp]'"),
    (OWN, True, "tiktoken", "'/home/mia/my tadoru/.venv/bin/python' -m pip install tiktoken"),
])  # fmt: skip
def test_the_command_installs_into_the_environment_that_we_run_in(prefix: Path, has_pip: bool, package: str, wanted: str) -> None:
    assert pip_command(package, prefix, ROOT, has_pip=has_pip) == wanted


def test_the_sentence_says_for_what_and_how() -> None:
    assert not_installed("PostgreSQL", "postgres").startswith("Packages for PostgreSQL are not installed. Install them with `")
