"""The command, for those who run what the examples run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.command import Tadoru


@pytest.fixture
def tadoru(tmp_path: Path) -> Tadoru:
    return Tadoru(tmp_path)
