"""A tutorial read as a script: its files are written, its commands are typed into real shells, and what it shows is held against
what they say.

What a text can do:

    ```console            commands after `$ `, one after the other in one shell, each with what it says below it
    ```console NAME       another terminal: its command goes on once it has said what is shown; a line `^C` ends it
    Save this as `FILE`:  the block that follows is written to that file
    `echo $?`             the command before may fail, and this shows how

What may differ is listed in `LOOSE`, and lines of progress; nothing else. A line `…` stands for any lines, `…` within a line for
anything in it.

    python -m tests.documents.tutorial docs/tutorial/site-owner.md      types it out with what is really said, to write it with
"""

from __future__ import annotations

import difflib
import os
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0
PORTS = ("8123", "8000", "9464")
"""Those of the texts: the demo site, the service, and the metrics of a worker."""
DATABASE = "postgresql://tadoru@localhost/tadoru"
"""The PostgreSQL of the texts."""
END = "\x1e"
"""No command says this; the shell says it after each."""

_BLOCK = re.compile(
    r"(?:Save this as `(?P<file>[^`\n]+)`[^\n]*:\n\n)?^```(?P<language>\w*) ?(?P<name>\w*)\n(?P<body>.*?)^```$", re.M | re.S
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAYS = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"
_MOMENT = r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})"
_PROGRESS = re.compile(r"^\d[\d,]* pages?, \d[\d,]* queued, .*\n", re.M)
"""Said now and then while something takes long; on a terminal it is a bar that goes away."""
LOOSE = (
    # How it looks in the text, and what may stand there instead.
    ("any", r"…", r".*"),
    ("a date and time for programs", r"\b\d{8}T\d{6}Z?", r"\d{8}T\d{6}Z?"),
    ("a moment", _MOMENT, _MOMENT),
    ("a date", r"\b\d{4}-\d{2}-\d{2}\b", r"\d{4}-\d{2}-\d{2}"),
    ("a date in words", rf"\b\d{{1,2}} (?:{_MONTHS}) \d{{4}}", rf"\d{{1,2}} (?:{_MONTHS}) \d{{4}}"),
    ("a date in Japanese", r"\d{4}年\d{1,2}月\d{1,2}日（.）", r"\d{4}年\d{1,2}月\d{1,2}日（.）"),
    ("a day of the week", rf"\b(?:{_DAYS})\b", rf"(?:{_DAYS})"),
    ("a month", r"\b\d{4}-\d{2}\b", r"\d{4}-\d{2}"),
    ("a time", r"\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\b", r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?"),
    ("a duration", r"\b\d+(?:\.\d+)? (?:ms|s|min|h)\b", r"\d+(?:\.\d+)? (?:ms|s|min|h)"),
    ("a size in tokens", r"\b[\d,]+ tokens|tokens: \d+", r"(?:[\d,]+ tokens|tokens: \d+)"),
    # The words of a page have its dates in them, and some checks count words.
    ("a score", r"\b\d+ of 100|\b\d+\.\d → \d+\.\d \(\+\d+\.\d\)", r"(?:\d+ of 100|\d+\.\d → \d+\.\d \(\+\d+\.\d\))"),
    ("an id", r"\b[0-9a-f]{12,}\b", r"[0-9a-f]{12,}"),
    ("the name of a key", r"\btdr_\w{8}\b", r"tdr_\w{8}"),
    ("room between columns", r" {2,}", r" +"),
)  # fmt: skip
_LOOSE = re.compile("|".join(f"({find})" for _, find, _ in LOOSE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that the reader does."""

    line: int
    does: str
    """`type` a command, `write` a file, or `stop` what runs in a terminal."""
    what: str
    terminal: str = ""
    shown: str = ""
    """What the text shows of the answer, or the content of the file."""


def steps(text: str) -> Iterator[Step]:
    """What a tutorial asks its reader to do, in order."""
    for block in _BLOCK.finditer(text):
        line = text[: block.start("body")].count("\n") + 1
        if block["file"]:
            yield Step(line=line, does="write", what=block["file"], shown=block["body"])
        elif block["language"] == "console":
            yield from _typed(block["body"], line, block["name"])


def _typed(body: str, line: int, terminal: str) -> Iterator[Step]:
    for part in re.finditer(r"^(?:\$ (?P<command>.*\n(?:> .*\n)*)|\^C\n)(?P<shown>(?:(?!\$ |\^C$).*\n)*)", body, re.M):
        at = line + body[: part.start()].count("\n")
        command = re.sub(r"^> ", "", part["command"] or "", flags=re.M).rstrip("\n")
        yield Step(line=at, does="type" if command else "stop", what=command, terminal=terminal, shown=part["shown"])


def pattern(shown: str) -> str:
    """The expression for everything that the text allows to be said."""
    return "".join(r"(?:.*\n)*?" if line.strip() == "…" else _line(line) + r" *\n" for line in shown.splitlines())


def _line(line: str) -> str:
    at, made = 0, ""
    for found in _LOOSE.finditer(line):
        assert found.lastindex is not None
        made += re.escape(line[at : found.start()]) + LOOSE[found.lastindex - 1][2]
        at = found.end()
    return made + re.escape(line[at:].rstrip())


def difference(shown: str, said: str) -> str:
    """What the text shows beside what was said; nothing when they agree."""
    said = _PROGRESS.sub("", said if said.endswith("\n") or not said else said + "\n")
    if re.fullmatch(pattern(shown), said):
        return ""
    return "".join(difflib.unified_diff(shown.splitlines(True), said.splitlines(True), "shown", "said"))


class TutorialRunner:
    """Somebody who follows a tutorial: a folder, a home and terminals of their own.

    `instead` has what stands in the place of an address of the text, such as its ports; what is said is read the other way round.
    """

    def __init__(self, folder: Path, instead: Mapping[str, str]) -> None:
        self._folder, self._instead = folder / "work", instead
        self._folder.mkdir()
        # The service takes its usual port when the text names none.
        self._env = self._environment(folder) | {"TADORU_PORT": instead["8000"]}
        self._terminals: dict[str, _Terminal] = {}

    @staticmethod
    def _environment(folder: Path) -> dict[str, str]:
        for name in ("home", "bin"):
            (folder / name).mkdir()
        for name, arguments in (("tadoru", "-P -m tadoru "), ("python", "")):
            program = folder / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments}"$@"\n', "utf-8")
            program.chmod(0o755)
        kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "LC_CTYPE", "TZ") if name in os.environ}
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        return kept | {"PATH": path, "HOME": str(folder / "home"), "PYTHONPATH": str(ROOT / "src")}

    def do(self, step: Step) -> str:
        """Follow a step. What was said, with the text's own addresses in it."""
        if step.does == "write":
            (self._folder / step.what).write_text(self._placed(step.shown), "utf-8")
            return step.shown
        if step.does == "stop":
            return self._read_back(self._terminals.pop(step.terminal).stop())
        if not step.terminal:
            return self._read_back(self._main().type(self._placed(step.what)))
        assert step.terminal not in self._terminals, f"something runs in the terminal {step.terminal}"
        terminal = self._terminals[step.terminal] = _Terminal(self._folder, self._env, self._placed(step.what))
        return self._read_back(terminal.wait_for(re.compile(pattern(self._placed(step.shown)))))

    @property
    def code(self) -> int:
        """The exit code of the last command of the first terminal."""
        return self._main().code

    def leave(self) -> None:
        """Close every terminal, whatever runs in it."""
        for terminal in self._terminals.values():
            terminal.kill()

    def _main(self) -> _Terminal:
        if "" not in self._terminals:
            self._terminals[""] = _Terminal(self._folder, self._env, "")
        return self._terminals[""]

    def _placed(self, text: str) -> str:
        for said, real in self._instead.items():
            text = text.replace(said, real)
        return text

    def _read_back(self, text: str) -> str:
        for said, real in self._instead.items():
            text = text.replace(real, said)
        return text


class _Terminal:
    """A shell and everything that was said in it: one that is typed into, or one that runs a single command."""

    def __init__(self, folder: Path, env: Mapping[str, str], command: str) -> None:
        shell = ["bash", "--norc", "--noprofile", *(("-c", command) if command else ())]
        self._process = subprocess.Popen(
            shell, cwd=folder, env=dict(env), stdin=subprocess.DEVNULL if command else subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self.code = 0

    def type(self, command: str) -> str:
        """Run a command to its end: what it said."""
        assert self._process.stdin is not None
        wrapped = f"{{ {command}\n}} </dev/null; left=$?; printf '{END}%s\\n' $left; (exit $left)\n"
        self._process.stdin.write(wrapped.encode())
        self._process.stdin.flush()
        said, _, code = self._read(lambda text: bool(re.search(rf"{END}\d+\n", text))).partition(END)
        self.code = int(code)
        return said

    def wait_for(self, shown: re.Pattern[str]) -> str:
        """What it has said once that is what the text shows, while it goes on."""
        return self._read(lambda text: bool(shown.fullmatch(text)), whole=False)

    def stop(self) -> str:
        """Ctrl-C, and what it said at its end."""
        os.killpg(self._process.pid, signal.SIGINT)
        said = self._read(lambda _: False, whole=False)
        self._process.wait(PATIENCE)
        self.kill()
        return said

    def kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        with self._process:  # Which closes its pipes.
            pass

    def _read(self, enough: Callable[[str], bool], *, whole: bool = True) -> str:
        assert self._process.stdout is not None
        data, until = b"", time.monotonic() + PATIENCE
        while not enough(data.decode(errors="ignore")):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self._process.stdout.fileno(), 65536) if ready else b""
            if not more:
                assert not whole, f"the shell has ended or hangs: {data.decode()}"
                break
            data += more
        return data.decode()


def places(text: str) -> dict[str, str]:
    """What stands for the addresses of a text while it is tried: ports that are free, and a database of the tests' own server."""
    ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    if DATABASE not in text:
        return ports
    from tests.support.postgres import server

    real = server().new_database()
    return {f"{DATABASE}?": f"{real}&", DATABASE: real} | ports


def free_ports(count: int) -> list[str]:
    """Ports of four digits, as those in the texts, so that tables keep their width."""
    found: list[str] = []
    for port in range(2000 + os.getpid() * 17 % 7000, 10_000):
        with socket.socket() as trial:
            try:
                trial.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(str(port))
        if len(found) == count:
            break
    return found


def follow(text: str, folder: Path) -> Iterator[tuple[Step, str, str]]:
    """Do what a tutorial says, step by step: each with what was said, and how that differs from what is shown."""
    reader = TutorialRunner(folder, places(text))
    todo = list(steps(text))
    try:
        for step, after in zip(todo, [*todo[1:], None], strict=True):
            said = reader.do(step)
            told = step.does == "write" or (step.does == "stop" and not step.shown)
            wrong = "" if told else difference(step.shown, said)
            may_fail = step.terminal or step.does != "type" or (after is not None and after.what == "echo $?")
            if not may_fail and reader.code:
                wrong += f"It ended with exit code {reader.code}.\n"
            yield step, said, wrong
    finally:
        reader.leave()


def main() -> None:
    """Type a tutorial out, with what is really said."""
    with tempfile.TemporaryDirectory() as folder:
        for step, said, wrong in follow(Path(sys.argv[1]).read_text("utf-8"), Path(folder)):
            if step.does != "write":
                sys.stdout.write(f"{step.terminal}$ {step.what or '^C'}\n{said}{'<<< not what is shown' if wrong else ''}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
