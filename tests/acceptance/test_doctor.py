"""`tadoru doctor`: what is there, what is not, and how to mend it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.command import Tadoru
from tests.support.postgres import server


def test_an_installation_that_works_is_told_so(tadoru: Tadoru) -> None:
    database = server().new_database()
    done = tadoru("doctor", "-d", database, "--format", "json")
    server().drop(database)
    found = {one["what"]: one for one in json.loads(done.out)}
    assert done.code == 0, done.out
    assert not [one for one in found.values() if one["state"] == "bad"]
    assert found["folder"]["words"].startswith(str(tadoru.folder))
    assert found["database"]["words"].startswith("PostgreSQL ")
    assert not list(tadoru.folder.iterdir()), "nothing is left behind"


def test_what_is_wrong_is_told_with_what_to_do_and_an_exit_code(tadoru: Tadoru) -> None:
    (tadoru.folder / "tadoru.toml").write_text("[audit]\ndeelay = 1\n", "utf-8")
    done = tadoru("doctor", "-d", "postgresql://nobody@127.0.0.1:1/none", env={"TADORU_CHROMIUM": "/nowhere/browser"})
    assert done.code == 1
    wrong = {line.split()[1]: line for line in done.out.splitlines() if line.startswith("FAIL")}
    assert set(wrong) == {"configuration", "browser", "database"}
    assert "deelay" in wrong["configuration"]
    assert "/nowhere/browser" in wrong["browser"]
    assert "Cannot connect to the database" in wrong["database"]
    assert "Correct or unset it." in done.out


def test_the_database_of_the_environment_is_tried_too(tadoru: Tadoru) -> None:
    done = tadoru("doctor", env={"TADORU_DATABASE": "postgresql://nobody@127.0.0.1:1/none"})
    assert done.code == 1
    assert [line for line in done.out.splitlines() if line.startswith("FAIL") and "Cannot connect to the database" in line]


@pytest.mark.parametrize(
    "content, words",
    [(None, "No crawl in site.db"), (b"not a database, but as long as one " * 30, "")],
)
def test_a_file_that_holds_no_crawl_is_told(tadoru: Tadoru, content: bytes | None, words: str) -> None:
    path = Path(tadoru.folder / "site.db")
    if content is not None:
        path.write_bytes(content)
    done = tadoru("doctor", "-d", "site.db")
    assert done.code == 1
    assert [line for line in done.out.splitlines() if line.startswith("FAIL") and "database" in line and words in line]
    assert path.exists() == (content is not None)


def test_a_database_of_the_service_that_others_can_read_is_named(tadoru: Tadoru) -> None:
    assert tadoru("serve", "users", "add", "mia").code == 0
    file = tadoru.folder / "var" / "tadoru.db"
    assert "Other users of this machine" not in tadoru("doctor").out
    file.chmod(0o644)
    told = tadoru("doctor")
    assert "Other users of this machine can read" in told.out
    assert "(mode 644). Run `chmod 600" in " ".join(told.out.split())
