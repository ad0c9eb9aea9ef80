"""Plugins as a person meets them: the example of this repository, installed; one that is broken; one that fails on a page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command import CHECKOUT, PATIENCE, Tadoru
from tests.support.packages import install, plugin
from tests.support.site import Site

EXAMPLE = CHECKOUT / "examples" / "tadoru-check-example"
UNHURRIED = ("--delay", "0", "--sitemap", "off", "-q", "-d", "site.db")
FAILING = """
from tadoru.jobs.audit.context import CheckGroup
from tadoru.model.finding import Severity, define

ONE = define("odd-one", Severity.NOTICE, en=("One", "Why", "Fix"), ja=("一", "理由", "対処"), group="content")

def run(context):
    if context.url.endswith("/bad"):
        raise KeyError("no such thing")
    yield ONE.on(context.url, "seen")

CHECKS = CheckGroup((ONE,), run)
"""


def path(folder: Path) -> dict[str, str]:
    """An environment in which the packages of a folder are installed."""
    return {"PYTHONPATH": f"{CHECKOUT / 'src'}:{folder}"}


def found(tadoru: Tadoru, check: str) -> list[tuple[str, str]]:
    done = tadoru("export", "site.db", "-f", "jsonl", "-t", "findings", "--check", check, "-q")
    assert done.code == 0, done.err
    return sorted((row["url"], row["detail"]) for row in map(json.loads, done.out.splitlines()))


@pytest.mark.parametrize("processes", ["1", "2"])
def test_the_example_finds_what_it_looks_for_in_every_process(processes: str, tadoru: Tadoru, site: Site, tmp_path: Path) -> None:
    old = [f"/{number}" for number in range(12)]
    site.page("/", links=old, body="<footer>© 2999 Us</footer>")
    for name in old:
        site.page(name, body="<footer>© 2015 Us</footer>")
    env = path(install(EXAMPLE, tmp_path / "packages"))
    done = tadoru("audit", site.url(), *UNHURRIED, "--processes", processes, "--fail-on", "example-old-copyright", env=env)
    assert done.code == 10, done.err
    assert done.sentence == "example-old-copyright: 12 findings, none allowed."
    assert found(tadoru, "example-old-copyright") == sorted((site.url(name), "2015") for name in old)
    report = tadoru("report", "site.db", "--lang", "ja")
    assert "著作権表示の年が古い" in report.out, "its words are kept with the crawl"


def test_a_threshold_of_a_plugin_can_be_set(tadoru: Tadoru, site: Site, tmp_path: Path) -> None:
    site.page("/", body="<footer>© 2015 Us</footer>")
    env = path(install(EXAMPLE, tmp_path / "packages"))
    done = tadoru("audit", site.url(), *UNHURRIED, "--threshold", "example-old-copyright=2010", env=env)
    assert done.code == 0, done.err
    assert found(tadoru, "example-old-copyright") == []


def test_installed_plugins_are_listed_with_their_checks(tadoru: Tadoru, tmp_path: Path) -> None:
    assert tadoru("plugins").out.startswith("No plugins installed.")
    assert tadoru("plugins", "--json").out == "[]\n"
    folder = install(EXAMPLE, tmp_path / "packages")
    plugin(folder, "tadoru-broken", "import nothing_of_that_name")
    done = tadoru("plugins", env=path(folder))
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "tadoru-broken 1.0: checks"
    assert "ModuleNotFoundError: No module named 'nothing_of_that_name'" in lines[1]
    assert lines[2:] == [
        "tadoru-check-example 1.0.0: copyright",
        "  notice   example-old-copyright            Outdated copyright year",
    ]
    listed = json.loads(tadoru("plugins", "--json", env=path(folder)).out)
    assert [(one["package"], len(one["checks"]), one["problem"] is None) for one in listed] == [
        ("tadoru-broken", 0, False), ("tadoru-check-example", 1, True),
    ]  # fmt: skip


def test_a_broken_plugin_stops_the_audit_before_it_begins_unless_it_is_left_out(
    tadoru: Tadoru, site: Site, tmp_path: Path
) -> None:
    site.page("/")
    env = path(plugin(tmp_path / "packages", "tadoru-broken", "1 / 0"))
    done = tadoru("audit", site.url(), *UNHURRIED, env=env)
    assert done.code == 2
    assert done.sentence == (
        "Cannot load the plugin checks of tadoru-broken 1.0: ZeroDivisionError: division by zero. "
        "Update it, uninstall it, or use --no-plugins."
    )
    assert site.requests == []
    assert tadoru("audit", site.url(), *UNHURRIED, "--no-plugins", env=env).code == 0


def test_a_page_that_a_plugin_fails_on_is_kept(tadoru: Tadoru, site: Site, tmp_path: Path) -> None:
    site.page("/", links=["/bad", "/good"])
    site.page("/bad", links=["/behind"], title="A page that a plugin does not like")
    site.page("/good")
    site.page("/behind")
    env = path(plugin(tmp_path / "packages", "tadoru-odd", FAILING))
    done = tadoru("audit", site.url(), *UNHURRIED, "--processes", "1", env=env)
    assert done.code == 0, done.err
    assert found(tadoru, "plugin-failed") == [(site.url("/bad"), "tadoru-odd: KeyError: 'no such thing'")]
    assert [url for url, _ in found(tadoru, "odd-one")] == [site.url(name) for name in ("/", "/behind", "/good")]


def test_the_examples_own_tests_pass(tmp_path: Path) -> None:
    env = Tadoru(tmp_path).environment({"PYTHONPATH": f"{CHECKOUT / 'src'}:{EXAMPLE / 'src'}", "PYTHONDONTWRITEBYTECODE": "1"})
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", str(EXAMPLE / "tests")]
    done = subprocess.run(command, env=env, cwd=CHECKOUT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout
    assert "8 passed" in done.stdout
