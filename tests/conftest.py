"""What every test shares: where the checkout is, settings for property tests, and an environment free of the person's own."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.properties import PROFILES
from tests.support.tiers import is_thorough

RECURSION_LIMIT = sys.getrecursionlimit()

# The gate must give the same answer twice, and a shared machine must not fail it by being slow. `explore` looks for new failures.
for profile, number in PROFILES.items():
    settings.register_profile(profile, max_examples=number, derandomize=profile != "explore", deadline=None)
settings.load_profile("gate")

# A shell that starts us in the background leaves Ctrl-C ignored, and every command that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # And `nohup` does that to this one.

# Before anything reads them: a configured shell must not change what the tests see.
for name in [name for name in os.environ if name.startswith(("TADORU_", "LT_")) and name != "TADORU_TEST_POSTGRES"]:
    del os.environ[name]
os.environ["LC_ALL"] = "C.UTF-8"  # English messages, whatever the language of the machine is.


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is there once tests are collected stays to the end: looking through it again and again takes a sixth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


def pytest_runtest_setup() -> None:
    """Each test may nest calls as deep as any other, whatever limit one before it has left behind."""
    sys.setrecursionlimit(RECURSION_LIMIT)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests get their tier."""
    for item in items:
        if is_thorough(item.nodeid):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder with `pyproject.toml`, `./tadoru` and `src`."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a site that was audited twice."""
    from tests.support.crawled import crawl_twice  # Late: few tests need the engine.

    return crawl_twice(tmp_path_factory.mktemp("audited"))


@pytest.fixture(scope="session")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of the same site as `tadoru links` sees it."""
    from tests.support.crawled import crawl_links

    return crawl_links(tmp_path_factory.mktemp("linked"))
