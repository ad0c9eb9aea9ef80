"""One definition of the crawl schema: the scripts that create a crawl are generated from it, and each format has its step."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tadoru.store.crawl.connection import POSTGRESQL, SQLITE, SqlDialect
from tadoru.store.crawl.postgres.migrations import FORMAT
from tadoru.store.crawl.scripts import migration_steps
from tadoru.store.crawl.sqlite.database import SCHEMA_VERSION


def run(checkout: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment)
    return done.stdout + done.stderr


def test_the_scripts_that_create_a_crawl_are_those_of_the_definition(checkout: Path) -> None:
    assert run(checkout, str(checkout / "scripts" / "schema.py"), "--check") == ""


@pytest.mark.parametrize("dialect, version", [(SQLITE, SCHEMA_VERSION), (POSTGRESQL, FORMAT)])
def test_there_is_a_step_to_each_format_after_the_first(dialect: SqlDialect, version: int) -> None:
    assert [number for number, _ in migration_steps(dialect)] == list(range(2, version + 1))


OPENED = """
import sys
from tadoru.cli.main import tadoru
from tadoru.clock import SystemClock
from tadoru.jobs.audit import run as audit
from tadoru.jobs.links import run as links
from tadoru.store.crawl.open import open_store
open_store(sys.argv[1], SystemClock()).sql.close()
print("sqlalchemy" in sys.modules)
"""


def test_a_crawl_in_a_file_is_created_without_sqlalchemy(checkout: Path, tmp_path: Path) -> None:
    assert run(checkout, "-c", OPENED, str(tmp_path / "crawl.db")) == "False\n"
