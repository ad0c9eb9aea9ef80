"""What shells complete: commands, options, the values they take, files and folders; and a real bash that is typed into."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.command import PATIENCE, Tadoru

COMPLETED = {
    "a command": ("tadoru li", ["plain,links"]),
    "every command": ("tadoru ", ["plain,audit", "plain,doctor"]),
    "a command of a group": ("tadoru events so", ["plain,sources"]),
    "a command below that": ("tadoru events sources hi", ["plain,history"]),
    "a command of serve": ("tadoru serve us", ["plain,users"]),
    "what is no URL": ("tadoru docs se", ["plain,search"]),
    "an option": ("tadoru links --fa", ["plain,--fail-on"]),
    "an option of a command below another": ("tadoru docs search site q --fo", ["plain,--format"]),
    "the words of a setting": ("tadoru audit --sitemap ", ["plain,auto", "plain,only", "plain,off"]),
    "the forms of a command": ("tadoru events list -f i", ["plain,ics"]),
    "a file for an option": ("tadoru audit -d si", ["file,si"]),
    "a file for a setting": ("tadoru links --cookies c", ["file,c"]),
    "a file for an argument": ("tadoru report si", ["file,si"]),
    "a file for either of two": ("tadoru copy a.db b", ["file,b"]),
    "a folder": ("tadoru docs search .con", ["dir,.con"]),
    "a shell": ("tadoru completion ", ["plain,bash", "plain,zsh", "plain,fish"]),
}


@pytest.mark.parametrize("line, wanted", COMPLETED.values(), ids=COMPLETED)
def test_the_next_word_is_completed(line: str, wanted: list[str], tadoru: Tadoru) -> None:
    words = line.split(" ")
    env = {"_TADORU_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    found = tadoru(env=env).out.splitlines()
    assert set(wanted) <= set(found)
    assert len(found) == len(set(found))


def test_names_that_are_only_kept_for_old_scripts_are_not_offered(tadoru: Tadoru) -> None:
    env = {"_TADORU_COMPLETE": "bash_complete", "COMP_WORDS": "tadoru links --max", "COMP_CWORD": "2"}
    assert tadoru(env=env).out.splitlines() == ["plain,--max-time", "plain,--max-response-size", "plain,--max-age"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script_which_asks_us(shell: str, tadoru: Tadoru) -> None:
    done = tadoru("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert f"_TADORU_COMPLETE={shell}_complete" in done.out


def test_completing_the_name_of_a_command_imports_none_of_them(tadoru: Tadoru) -> None:
    code = "import sys\ntry:\n    from tadoru.cli.main import main; main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    env = tadoru.environment({"_TADORU_COMPLETE": "bash_complete", "COMP_WORDS": "tadoru e", "COMP_CWORD": "1"})
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.splitlines() == ["plain,events", "plain,export", "plain,explain"]
    loaded = set(done.stderr.split())
    assert not loaded & {"asyncio", "sqlite3", "rich", "tadoru.engine", "tadoru.store", "tadoru.cli.events", "tadoru.cli.export"}


class Terminal:
    """A bash that thinks a person types."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        bash = shutil.which("bash")
        assert bash is not None
        self._ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [bash, "--norc", "--noprofile", "-i"], cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self._seen = ""

    def type(self, text: str, until: str) -> None:
        """Type something, and read until the terminal shows what is expected."""
        os.write(self._ours, text.encode())
        self._seen = ""
        while until not in self._seen:
            ready, _, _ = select.select([self._ours], [], [], PATIENCE)
            assert ready, f"{until!r} did not come after {self._seen!r}"
            self._seen += os.read(self._ours, 4096).decode(errors="replace")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._ours)


def test_a_real_bash_completes_commands_options_and_files(tadoru: Tadoru, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    command = tools / "tadoru"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m tadoru "$@"\n')
    command.chmod(0o755)
    (tmp_path / "site-of-ours.db").touch()
    (tmp_path / "tadoru.bash").write_text(tadoru("completion", "bash").out)
    env = tadoru.environment({"PATH": f"{tools}:{os.environ['PATH']}", "PS1": "ready> ", "TERM": "dumb", "INPUTRC": "/dev/null"})
    terminal = Terminal(tmp_path, env)
    try:
        terminal.type("source tadoru.bash; echo so''urced\n", "sourced")
        terminal.type("tadoru rep\t", "tadoru report ")
        terminal.type("site-\t", "site-of-ours.db ")
        terminal.type("--sev\t", "--severity ")
        terminal.type("wa\t", "warning ")
    finally:
        terminal.close()
