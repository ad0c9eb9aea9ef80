"""The documents are true: the reference is fresh, commands in the README run, links between files lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command import CHECKOUT, PATIENCE, Tadoru
from tests.support.site import Site

README = (CHECKOUT / "README.md").read_text("utf-8")
DOCUMENTS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
HOSTS = re.compile(r"https?://(?:example\.com|127\.0\.0\.1:8123)")


def blocks(language: str) -> list[str]:
    """The code of one language in the README."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


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


def test_the_readme_has_commands_to_run() -> None:
    commands = [command for run in RUNS for command in run]
    assert len(commands) >= 14
    assert any("--fail-on" in command for command in commands)


@pytest.mark.parametrize("commands", RUNS, ids=lambda commands: commands[0][:40])
def test_every_command_in_the_readme_does_what_it_says(commands: list[str], tadoru: Tadoru, example: Site) -> None:
    for command in commands:
        arguments = shlex.split(HOSTS.sub(example.base, command), comments=True)
        asked = len(example.paths)
        done = tadoru(*arguments, env={} if arguments == ["demo"] else {"TADORU_DELAY": "0"})
        assert done.code == (10 if "--fail-on" in command else 0), done.err
        assert done.out or "-o" in arguments or arguments[1:] == ["review", "list"], "nothing to show, and it is said on stderr"
        reads = arguments[:2] in (["docs", "search"], ["docs", "list"])
        crawls = arguments[0] in ("links", "audit", "docs", "explain") and "--dry-run" not in arguments and not reads
        crawls = crawls or arguments[:3] == ["events", "sources", "test"]  # The run after it uses what the test has fetched.
        assert (len(example.paths) > asked) == crawls, command


def test_the_python_in_the_readme_runs(tadoru: Tadoru, example: Site) -> None:
    (code,) = blocks("python")
    code = HOSTS.sub(example.base, code).replace("check=True", "check=True, delay=0").replace('.db"', '.db", delay=0')
    code = code.replace('"site")', '"site", delay=0)')
    done = subprocess.run(
        [sys.executable, "-c", code], env=tadoru.environment(), capture_output=True, text=True, timeout=PATIENCE, check=False,
        cwd=tadoru.folder,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    gone, *pages = [example.url(path) for path in ("/gone", "/docs/", "/", "/docs/a")]
    links, audited, site, events = done.stdout.splitlines()
    assert (links, audited) == (f"{gone} 404 Not Found ['{example.url('/')}']", f"4 ['{gone}']")
    assert site.startswith("3 ")
    assert site.endswith(f" {pages}")
    assert events == "['Summer concert']"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_between_documents_lead_somewhere(name: str) -> None:
    text = (CHECKOUT / name).read_text("utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in target]
    assert [target for target in targets if not (CHECKOUT / target).exists()] == []
    assert targets or name in ("CHANGELOG.md", "SECURITY.md")


@pytest.mark.parametrize("name", ["links-report.png", "audit-report.png"])
def test_the_pictures_are_small(name: str) -> None:
    picture = Path(CHECKOUT / "docs" / "images" / name)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 200_000
