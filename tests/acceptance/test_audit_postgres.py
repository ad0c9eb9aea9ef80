"""An audit on PostgreSQL, by the commands themselves: what is kept and found is what a file would keep, but for times."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.command import Tadoru
from tests.support.pg_crawls import crawl_on
from tests.support.planted_server import ProxiedSite
from tests.support.planted_sites import CLOSED, HOSTS, WORLDS
from tests.support.postgres import server

MEASURED = {
    "ttfb_ms", "download_time_ms", "dns_ms", "connect_ms", "tls_ms", "added_at", "crawled_at", "checked_at", "read_at",
    "started_at", "ended_at", "occurred_at", "config", "seconds", "median",
}  # fmt: skip
"""What is different in every run."""


@pytest.fixture
def town(tmp_path: Path) -> Iterator[ProxiedSite]:
    with ProxiedSite(tmp_path, *HOSTS) as serving:
        serving.closed.add(CLOSED.removeprefix("https://"))
        yield serving


@pytest.fixture
def crawl() -> Iterator[str]:
    with crawl_on(server()) as address:
        yield address


def tables(tadoru: Tadoru, database: str, folder: str) -> dict[str, list[Any]]:
    """Everything that an export has to say of a crawl."""
    done = tadoru("export", database, "--format", "jsonl", "--table", "all", "-o", folder)
    assert done.code == 0, done.err
    files = sorted((tadoru.folder / folder).glob("*.jsonl"))
    return {one.stem: [_lasting(json.loads(line)) for line in one.read_text("utf-8").splitlines()] for one in files}


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        value = value | {"detail": ""} if value.get("check_group") == "performance" else value
        return {key: _lasting(one) for key, one in value.items() if key not in MEASURED}
    return [_lasting(one) for one in value] if isinstance(value, list) else value


def test_what_is_kept_on_postgresql_is_what_a_file_keeps(tadoru: Tadoru, town: ProxiedSite, crawl: str) -> None:
    world = WORLDS["the bakery"](False)
    world.serve(town)
    access = ("--proxy", town.proxy, "--allow-private", "--delay", "0", "--processes", "1", "-q", *world.options)
    for database in ("crawl.db", crawl):
        done = tadoru("audit", world.start, "-d", database, *access, env=town.environment)
        assert (done.code, done.err) == (world.code, "")
    in_file, in_database = tables(tadoru, "crawl.db", "file"), tables(tadoru, crawl, "database")
    assert in_file.keys() == in_database.keys()
    for name in in_file.keys() - {"errors"}:
        assert in_database[name] == in_file[name], name
    by_url = [sorted(json.dumps(row) for row in found["errors"]) for found in (in_file, in_database)]
    assert by_url[0] == by_url[1], "attempts that failed, in the order of the crawl"
    assert {(row["check_id"], row["url"]) for row in in_database["findings"]} == world.expected


def test_reports_and_comparisons_read_a_crawl_on_postgresql(tadoru: Tadoru, town: ProxiedSite, crawl: str) -> None:
    world = WORLDS["a site that is shut"](True)
    world.serve(town)
    access = ("--proxy", town.proxy, "--allow-private", "--delay", "0", "--processes", "1", "-q")
    for database in ("crawl.db", crawl):
        assert tadoru("audit", world.start, "-d", database, *access, env=town.environment).code == 0
    for form in ("json", "html", "markdown", "junit", "sarif"):
        done = tadoru("report", crawl, "--format", form, "-o", f"report.{form}")
        assert (done.code, done.err.count("Traceback")) == (0, 0), done.err
    done = tadoru("compare", "crawl.db", crawl, "--format", "json")
    assert done.code == 0, done.err
    assert tadoru("audit", "-d", crawl, "--recrawl", *access, env=town.environment).code == 0
    assert tadoru("compare", f"{crawl}@1", crawl).code == 0


@pytest.mark.parametrize("command", ["report", "export -f csv", "compare crawl.db"])
def test_a_crawl_that_is_not_there_is_one_sentence(command: str, tadoru: Tadoru, crawl: str) -> None:
    done = tadoru(*command.replace("crawl.db", f"{crawl}y").split(), f"{crawl}x")
    assert (done.code, done.out) == (2, "")
    assert "No crawl in postgresql://" in done.sentence


def test_a_database_that_can_not_be_reached_is_one_sentence(tadoru: Tadoru) -> None:
    done = tadoru("audit", "https://example.com", "-d", "postgresql://ann:secret@127.0.0.1:1/none")
    assert (done.code, done.out) == (1, "")
    assert "Cannot connect to" in done.sentence
    assert "secret" not in done.err


def test_a_crawl_is_copied_to_postgresql_and_back_and_gone_on_with(tadoru: Tadoru, town: ProxiedSite, crawl: str) -> None:
    world = WORLDS["a site that is shut"](True)
    world.serve(town)
    access = ("--proxy", town.proxy, "--allow-private", "--delay", "0", "--processes", "1", "-q")
    assert tadoru("audit", world.start, "-d", "crawl.db", *access, env=town.environment).code == 0
    assert tadoru("copy", "crawl.db", crawl).code == 0
    done = tadoru("copy", crawl, "back.db")
    assert (done.code, done.out) == (0, "")
    first, back = tables(tadoru, "crawl.db", "first"), tables(tadoru, "back.db", "back")
    for name in first:
        assert back[name] == first[name], name
    assert tadoru("audit", "-d", crawl, "--recrawl", *access, env=town.environment).code == 0
    again = tadoru("copy", "crawl.db", crawl)
    assert (again.code, again.sentence.startswith("postgresql://"), "already has a crawl" in again.sentence) == (2, True, True)
    assert tadoru("copy", crawl, crawl).sentence == "Cannot copy a crawl into itself. Give another database."
