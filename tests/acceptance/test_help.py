"""What a person reads first: help that fits and shows how, and every way to start."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tadoru.config.options import JOB_SETTINGS
from tests.acceptance.command import PATIENCE, Tadoru


@pytest.mark.parametrize("command", [[], ["links"], ["explain"], ["demo"]], ids=lambda command: " ".join(command) or "tadoru")
@pytest.mark.parametrize("columns", ["80", "200"])
def test_help_fits_the_terminal_and_a_hundred_columns(command: list[str], columns: str, tadoru: Tadoru) -> None:
    done = tadoru(*command, "--help", env={"COLUMNS": columns})
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= min(int(columns), 100)
    assert tadoru(*command, "-h", env={"COLUMNS": columns}).out == done.out


def test_help_lists_the_commands_and_examples_and_is_what_no_command_gets(tadoru: Tadoru) -> None:
    done = tadoru("--help")
    assert all(f"\n  {name} " in done.out for name in ("links", "explain", "demo"))
    assert "\nExamples:\n  tadoru demo " in done.out
    assert tadoru().out == done.out


def test_help_shows_what_most_people_need_and_help_all_has_every_option_in_its_group(tadoru: Tadoru) -> None:
    short, whole = tadoru("links", "--help").out, tadoru("links", "--help-all").out
    headings = [line for line in whole.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings == ["Examples:", "Scope:", "Politeness:", "Access:", "Checks:", "Output:", "General:"]
    assert all(f" {setting.flags[0]}" in whole for setting in JOB_SETTINGS["links"])
    assert " --depth" in short
    assert " --strip-sessions" not in short
    assert " --help-all" in short
    assert "--max-depth" not in whole, "the seeds' names work and are not shown"
    assert "tadoru links https://example.com --check --fail-on broken" in short


@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_the_version_is_one_line_however_it_is_started(flag: str, tadoru: Tadoru) -> None:
    assert tadoru(flag).out == "tadoru 0.1.0\n"
    code = f"from tadoru.cli.main import main; main([{flag!r}])"
    installed = subprocess.run(
        [sys.executable, "-c", code], env=tadoru.environment(), capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert installed.stdout == "tadoru 0.1.0\n"
