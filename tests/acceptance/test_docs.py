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


COMMANDS = [
    match[1]
    for block in blocks("console") + blocks("yaml")
    for match in re.finditer(r"(?:^\$|run:) (?:\./)?tadoru (.*)", block, re.M)
]


@pytest.fixture
def example(site: Site) -> Site:
    site.robots("User-agent: *\nDisallow: /private/\n")
    site.page("/", links=["/docs/", "/gone"])
    site.page("/docs/", links=["/docs/a", "/"])
    site.page("/docs/a")
    return site


def test_the_reference_is_what_the_code_says() -> None:
    script = [sys.executable, str(CHECKOUT / "scripts" / "reference.py"), "--check"]
    env = Tadoru(CHECKOUT).environment()
    done = subprocess.run(script, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_readme_has_commands_to_run() -> None:
    assert len(COMMANDS) >= 7
    assert any("--fail-on" in command for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_in_the_readme_does_what_it_says(command: str, tadoru: Tadoru, example: Site) -> None:
    arguments = shlex.split(HOSTS.sub(example.base, command), comments=True)
    done = tadoru(*arguments, env={} if arguments == ["demo"] else {"TADORU_DELAY": "0"})
    assert done.code == (10 if "--fail-on" in command else 0), done.err
    assert done.out or "-o" in arguments
    assert bool(example.paths) == ("demo" not in arguments and "--dry-run" not in arguments)


def test_the_python_in_the_readme_runs(tadoru: Tadoru, example: Site) -> None:
    (code,) = blocks("python")
    code = HOSTS.sub(example.base, code).replace("check=True", "check=True, delay=0")
    done = subprocess.run(
        [sys.executable, "-c", code], env=tadoru.environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{example.url('/gone')} 404 Not Found ['{example.url('/')}']\n"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_between_documents_lead_somewhere(name: str) -> None:
    text = (CHECKOUT / name).read_text("utf-8")
    targets = [target for target in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in target]
    assert [target for target in targets if not (CHECKOUT / target).exists()] == []
    assert targets or name in ("CHANGELOG.md", "SECURITY.md")


def test_the_picture_is_small() -> None:
    picture = Path(CHECKOUT / "docs" / "images" / "links-report.png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 200_000
