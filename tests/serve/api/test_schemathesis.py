"""The whole interface tried by schemathesis: a real service on loopback, and for each kind of caller requests of every sort made
from its own description. No answer is a fault of ours, and none is other than described.

`PROPERTY_EXAMPLES=200 ./test --all tests/serve/api/test_schemathesis.py` tries so many for each operation, every edge of every
value, and sequences of calls. It takes some minutes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tadoru.serve.app import build_app
from tadoru.serve.roles import SCOPES, Role
from tadoru.store.accounts.audit_log import Actor
from tests.serve.api.conftest import fill
from tests.serve.api.crawled import crawl_a_site
from tests.serve.api.test_reviews import asked
from tests.support.listening import listening
from tests.support.serving import ServiceHarness

BY = Actor(who="test")
ROOT = Path(__file__).parents[3]
EXAMPLES = int(os.environ.get("PROPERTY_EXAMPLES", "0"))
"""For each operation and caller; 0 for the few that every run of the tests has time for."""
OUTWARD = r"/admin/sources/.*/(run|test)$"
"""What fetches, and so is slow; these have tests of their own."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceHarness]:
    """A service with something of everything in it."""
    harness = ServiceHarness(tmp_path_factory.mktemp("property") / "events.db")
    fill(harness)
    asked(harness, 4, 5)
    crawl_a_site(harness)
    yield harness
    harness.close()


def tried(address: str, key: str, folder: Path, *, examples: int, phases: str) -> subprocess.CompletedProcess[str]:
    """What schemathesis has to say."""
    signed_in = ["-H", f"Authorization: Bearer {key}"] if key else []
    command = [
        sys.executable, "-m", "schemathesis.cli", "--config-file", str(Path(__file__).with_name("schemathesis.toml")), "run",
        f"{address}/openapi.json", *signed_in, "--max-examples", str(examples), "--phases", phases, "--checks", "all",
        "--generation-deterministic", "--no-color", "--exclude-path-regex", OUTWARD,
    ]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


# The callers come in this order, since each may change more than the one before: what is read is there when it is read.
@pytest.mark.parametrize(
    "role, examples, phases",
    [(Role.PUBLIC, 1, "fuzzing"), (Role.VIEWER, 2, "examples,fuzzing"), (Role.ADMIN, 2, "examples,fuzzing")],
    ids=["anybody", "viewer", "admin"],
)
def test_every_answer_is_as_described(whole: ServiceHarness, tmp_path: Path, role: Role, examples: int, phases: str) -> None:
    key = ""
    if role is not Role.PUBLIC:
        key = whole.store.keys.add(role.label, tuple(name for name, (least, _) in SCOPES.items() if least <= role), BY)[1]
    if EXAMPLES:
        examples, phases = EXAMPLES, "examples,coverage,fuzzing,stateful"
    # Without its lifespan: crawls are written down and not begun. Each time an application of its own: the wrong keys that one
    # caller tried are not counted against the next.
    with listening(build_app(whole.service), lifespan="off", ws="none") as (port, _):
        told = tried(f"http://127.0.0.1:{port}", key, tmp_path, examples=examples, phases=phases)
    assert told.returncode == 0, told.stdout[-20_000:] + told.stderr[-4_000:]
    assert "No issues found" in told.stdout
    assert '"level": "error"' not in whole.said.getvalue()
