"""`tadoru cluster` by the command itself, on a real PostgreSQL."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing

import pytest

from tadoru.cli.cluster import WATCH_INTERVAL, watch, write_line, write_status
from tadoru.store.cluster.status import ClusterStatusReader
from tests.acceptance.command import PATIENCE, Tadoru, finished
from tests.support.clock import FakeClock
from tests.support.clusters import SampleCluster, cluster_on, fill
from tests.support.postgres import server


@pytest.fixture(scope="module")
def seen() -> Iterator[SampleCluster]:
    with cluster_on(server()) as made:
        fill(made)
        made.cluster.put_crawl("broken", "audit", {})
        made.cluster.end_crawl("broken", "failed", "ValueError: \x1b[31mnot a page")
        yield made


def test_the_status_fits_eighty_columns_and_names_what_is_wrong(tadoru: Tadoru, seen: SampleCluster) -> None:
    done = tadoru("cluster", "status", "-d", seen.database, env={"COLUMNS": "80"})
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Workers  2 alive, 1 gone; ")
    assert lines[1] == "Queue    2 waiting, 1 running, 1 stalled, 1 failed"
    words = [line.split() for line in lines]
    assert ["attic-1", "attic", "gone"] in [line[:3] for line in words]
    assert ["shops", "open", "10", "5", "0", "5", "5"] in [line[:7] for line in words]
    assert ["bad.example", "shops", "failed", "5", "times"] in words
    assert ["broken", "failed", "–", "–", "–", "–", "–"] in [line[:7] for line in words]
    assert "\x1b" not in done.out, "what a page said steers no terminal"


def test_the_status_for_programs_is_one_document(tadoru: Tadoru, seen: SampleCluster) -> None:
    done = tadoru("cluster", "status", "--format", "json", env={"TADORU_DATABASE": seen.database})
    assert (done.code, done.err) == (0, "")
    assert done.result["queue"] == {"waiting": 2, "again": 0, "running": 1, "stalled": 1, "failed": 1}
    assert [one["name"] for one in done.result["workers"]] == ["attic-1", "den-1", "den-2"]
    assert done.result["at"].endswith("Z")
    assert seen.database not in done.out


def test_watching_ends_well_with_ctrl_c(tadoru: Tadoru, seen: SampleCluster) -> None:
    process = tadoru.start("cluster", "status", "--watch", "-f", "json", "-d", seen.database)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["alive"] == 2
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")


@pytest.mark.parametrize("form", ["text", "json"])
def test_watching_looks_again_every_two_seconds(form: str, seen: SampleCluster) -> None:
    class Ended(FakeClock):
        """Somebody presses Ctrl-C after the third look."""

        async def sleep(self, seconds: float) -> None:
            if self.monotonic() >= 3 * WATCH_INTERVAL:
                raise asyncio.CancelledError
            await super().sleep(seconds)

    out = io.StringIO()
    with closing(ClusterStatusReader(seen.database)) as view, pytest.raises(asyncio.CancelledError):
        asyncio.run(watch(view.look, write_line if form == "json" else write_status, out, Ended()))
    if form == "json":
        assert [json.loads(line)["alive"] for line in out.getvalue().splitlines()] == [2, 2, 2]
    else:
        assert out.getvalue().count("Workers  2 alive") == 3


def test_a_crawl_is_stopped_resumed_and_forgotten_by_name(tadoru: Tadoru, seen: SampleCluster) -> None:
    seen.cluster.put_crawl("third", "audit", {})
    where = ("-d", seen.database)
    for command, code, words in (
        ("forget", 2, "Crawl third is open. Stop it first with `tadoru cluster stop third`."),
        ("stop", 0, "Stopped third. "),
        ("resume", 0, "Resumed third."),
        ("stop", 0, "Stopped third. "),
        ("forget", 0, "Removed third from the cluster. "),
        ("resume", 2, "Crawl third not found in the cluster. `tadoru cluster status` lists them."),
    ):
        done = tadoru("cluster", command, "third", *where)
        assert (done.code, done.out) == (code, ""), done.err
        assert words in done.err


def test_a_crawl_is_deleted_when_that_is_confirmed(tadoru: Tadoru, seen: SampleCluster) -> None:
    seen.crawl("fourth", "a.example")
    given = ("cluster", "delete", "fourth", "-d", seen.database)
    for arguments, code, words in (
        (given, 2, "Crawl fourth is open. Stop it first with `tadoru cluster stop fourth`."),
        (("cluster", "stop", "fourth", "-d", seen.database), 0, "Stopped fourth. "),
        (given, 2, "Deleting crawl fourth and its results cannot be undone. Confirm with --yes."),
        ((*given, "--yes"), 0, "Deleted fourth and its results."),
        (given, 2, "Crawl fourth not found in the cluster. `tadoru cluster status` lists them."),
    ):
        done = tadoru(*arguments)
        assert (done.code, done.out) == (code, ""), done.err
        assert words in done.err


@pytest.mark.parametrize("typed, is_deleted", [(b"n\n", False), (b"y\n", True)])
def test_a_terminal_is_asked_before_a_crawl_is_deleted(
    typed: bytes, is_deleted: bool, tadoru: Tadoru, seen: SampleCluster
) -> None:
    seen.crawl("fifth", "a.example")
    seen.cluster.end_crawl("fifth", "done")
    keyboard, terminal = os.openpty()
    try:
        os.write(keyboard, typed)
        done = finished(tadoru.start("cluster", "delete", "fifth", "-d", seen.database, stdin=terminal))
    finally:
        os.close(keyboard)
        os.close(terminal)
    assert "Delete crawl fifth and all its results?" in done.err
    assert (done.code == 0) is is_deleted
    assert ("fifth" not in [one.name for one in seen.cluster.crawls()]) is is_deleted


def test_a_database_without_a_cluster_is_one_sentence(tadoru: Tadoru) -> None:
    database = server().new_database()
    done = tadoru("cluster", "status", "-d", database)
    server().drop(database)
    assert (done.code, done.out) == (2, "")
    assert "Create one with `tadoru worker --database postgresql://…`" in done.sentence


def test_a_database_that_can_not_be_reached_is_one_sentence_and_exit_1(tadoru: Tadoru) -> None:
    done = tadoru("cluster", "status", "-d", "postgresql://ann:secret@127.0.0.1:1/none")
    assert (done.code, done.out) == (1, "")
    assert "Cannot connect to" in done.sentence
    assert "secret" not in done.err


def test_a_file_is_no_cluster(tadoru: Tadoru) -> None:
    done = tadoru("cluster", "status", "-d", "crawl.db")
    assert (done.code, done.sentence) == (
        2,
        "A cluster needs PostgreSQL. Give --database postgresql://user@host/name.",
    )
