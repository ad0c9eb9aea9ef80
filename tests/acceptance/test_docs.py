"""The documents are true: the reference is fresh, and what README and tour show can be done."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tadoru.store.cluster.registry import OPEN, ClusterRegistry
from tests.acceptance.command import CHECKOUT, PATIENCE, Tadoru, finished
from tests.support.postgres import server
from tests.support.site import Site

README, TOUR = ((CHECKOUT / name).read_text("utf-8") for name in ("README.md", "docs/tour.md"))
HOSTS = re.compile(r"https?://(?:example\.com|127\.0\.0\.1:8123)")


def blocks(language: str, *documents: str) -> list[str]:
    """The code of one language in the README and the tour, or in one of them."""
    text = "\n".join(documents or (README, TOUR))
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


CALENDAR = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//example//EN
BEGIN:VEVENT
UID:1
SUMMARY:Summer concert
DTSTART:20310801T180000Z
END:VEVENT
END:VCALENDAR
""".replace("\n", "\r\n")
RUNS = [
    found
    for block in blocks("console") + blocks("yaml")
    if (found := re.findall(r"(?:^\$|run:) (?:\./)?tadoru (.*)", block, re.M))
]
"""The commands of each block: they belong together, and are typed one after the other."""

CLUSTER = next(run for run in RUNS if run[0].startswith("worker "))
"""These are typed on several machines."""


@pytest.fixture
def example(site: Site) -> Site:
    site.robots("User-agent: *\nDisallow: /private/\n")
    site.page("/", links=["/docs/", "/gone"])
    site.page("/docs/", links=["/docs/a", "/"])
    site.reply("/events.ics", body=CALENDAR, content_type="text/calendar")
    site.page("/docs/a", body="<h1>Limits</h1><p>The rate limit is ten requests a second.</p>")
    return site


def test_the_reference_is_what_the_code_says() -> None:
    script = [sys.executable, str(CHECKOUT / "scripts" / "reference.py"), "--check"]
    env = Tadoru(CHECKOUT).environment()
    done = subprocess.run(script, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_readme_and_the_tour_have_commands_to_run() -> None:
    commands = [command for run in RUNS for command in run]
    assert len(commands) >= 14
    assert any("--fail-on" in command for command in commands)


@pytest.mark.parametrize("commands", [run for run in RUNS if run != CLUSTER], ids=lambda commands: commands[0][:40])
def test_every_command_in_the_readme_and_the_tour_works(commands: list[str], tadoru: Tadoru, example: Site) -> None:
    for command in commands:
        arguments = shlex.split(HOSTS.sub(example.base, command), comments=True)
        asked = len(example.paths)
        done = tadoru(*arguments, env={} if arguments == ["demo"] else {"TADORU_DELAY": "0"})
        assert done.code == (10 if "--fail-on" in command else 0), done.err
        assert done.out or "-o" in arguments or arguments[1:] == ["review", "list"], "nothing to show, and it is said on stderr"
        reads = arguments[:2] in (["docs", "search"], ["docs", "list"])
        crawls = arguments[0] in ("links", "audit", "docs", "explain") and "--dry-run" not in arguments and not reads
        crawls = crawls or arguments[:2] == ["events", "run"] or arguments[:3] == ["events", "sources", "test"]
        assert (len(example.paths) > asked) == crawls, command


def test_the_commands_of_a_cluster_do_what_the_tour_shows(tadoru: Tadoru, example: Site) -> None:
    database = server().new_database()

    def typed(command: str) -> list[str]:
        placed = re.sub(
            r"postgresql://me@db\.internal/tadoru(\?(?=crawl))?", lambda at: database + ("&" if at[1] else ""), command
        )
        return shlex.split(placed, comments=True)

    worker, hand_over, status, report = CLUSTER
    (tadoru.folder / "sites.txt").write_text(f"{example.url('/')}\n", "utf-8")
    at_work = tadoru.start(*typed(worker))
    try:
        handed = tadoru(*typed(hand_over), env={"TADORU_DELAY": "0"})
        assert handed.code == 0, handed.err
        cluster = ClusterRegistry(database)
        while cluster.crawl("sites").state == OPEN:
            assert at_work.poll() is None
        cluster.close()
        assert "sites" in tadoru(*typed(status)).out
        told = tadoru(*typed(report))
        assert (told.code, "response-client-error" in told.out) == (0, True), told.out
    finally:
        at_work.terminate()
        ended = finished(at_work)
    assert ended.code == 0, ended.err
    assert example.hits("/docs/a") == 1
    server().drop(database)


def test_the_python_in_the_tour_runs(tadoru: Tadoru, example: Site) -> None:
    (code,) = blocks("python", TOUR)
    code = HOSTS.sub(example.base, code).replace("check=True", "check=True, delay=0").replace('.db"', '.db", delay=0')
    code = code.replace('"site")', '"site", delay=0)')
    done = subprocess.run(
        [sys.executable, "-c", code], env=tadoru.environment(), capture_output=True, text=True, timeout=PATIENCE, check=False,
        cwd=tadoru.folder,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    (short,) = blocks("python", README)
    assert short in blocks("python", TOUR)[0]
    gone, *pages = [example.url(path) for path in ("/gone", "/docs/", "/", "/docs/a")]
    links, audited, site, events = done.stdout.splitlines()
    assert (links, audited) == (f"{gone} 404 Not Found ['{example.url('/')}']", f"4 ['{gone}']")
    assert site.startswith("3 ")
    assert site.endswith(f" {pages}")
    assert events == "['Summer concert']"


@pytest.mark.parametrize("name", ["links-report.png", "audit-report.png"])
def test_the_pictures_are_small(name: str) -> None:
    picture = Path(CHECKOUT / "docs" / "images" / name)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 200_000
