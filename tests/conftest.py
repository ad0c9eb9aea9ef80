"""What every test shares: where the checkout is, settings for property tests, and an environment free of the person's own."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# The gate must give the same answer twice, and a shared machine must not fail it by being slow.
settings.register_profile("gate", derandomize=True, deadline=None)
# `./test --hypothesis-profile=explore`: look for new failures.
settings.register_profile("explore", max_examples=2000, deadline=None)
settings.load_profile("gate")

# A shell that starts us in the background leaves Ctrl-C ignored, and every command that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # And `nohup` does that to this one.

# Before anything reads them: a configured shell must not change what the tests see.
for name in [name for name in os.environ if name.startswith(("TADORU_", "LT_"))]:
    del os.environ[name]


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder with `pyproject.toml`, `./tadoru` and `src`."""
    return Path(__file__).resolve().parent.parent
