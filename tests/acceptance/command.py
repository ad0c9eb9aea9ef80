"""Starting the real command as a process, and holding every run to what is true of all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import warm

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 60.0
"""Seconds after which a command that does not end fails its test."""

_LEFT_OUT = ("TADORU_", "LT_", "GITHUB_", "NO_COLOR", "COLUMNS", "FORCE_COLOR")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def result(self) -> dict[str, Any]:
        """stdout as JSON."""
        data: dict[str, Any] = json.loads(self.out)
        return data

    @property
    def sentence(self) -> str:
        """The one line on stderr that says what was wrong."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("tadoru: "), self.err
        return lines[0].removeprefix("tadoru: ")


@dataclass(frozen=True, slots=True)
class Tadoru:
    """The command, in a folder of its own."""

    folder: Path

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The test's own without what would configure the command."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)}
        return kept | {"PYTHONPATH": str(CHECKOUT / "src")} | dict(extra or {})

    def start(self, *arguments: str, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
        """Start it and let it run."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
        return warm.start(arguments, self.environment(env), self.folder, encoding="utf-8", **pipes)

    def __call__(
        self, *arguments: str, env: Mapping[str, str] | None = None, stdin: str | None = None, **options: Any
    ) -> CommandResult:
        """Run it to its end."""
        pipes = {"stdin": subprocess.PIPE} if stdin is not None else {}
        return finished(self.start(*arguments, env=env, **pipes, **options), stdin)

    def python(self, program: str, *arguments: str) -> CommandResult:
        """Run a program of a test's own, as the command would run."""
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", program, *arguments], env=self.environment(), cwd=self.folder, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        return finished(process)

    def links(self, url: str, *arguments: str, **options: Any) -> CommandResult:
        """`tadoru links` without a delay, in one process unless told otherwise."""
        processes = () if "--processes" in arguments else ("--processes", "1")
        delay = () if "--delay" in arguments else ("--delay", "0")
        return self("links", url, *delay, *processes, *arguments, **options)

    def map(self, url: str, *arguments: str, **options: Any) -> dict[str, Any]:
        """The JSON of a crawl that goes well."""
        done = self.links(url, "-f", "json", *arguments, **options)
        assert done.code == 0, done.err
        return done.result


def finished(process: subprocess.Popen[str], stdin: str | None = None) -> CommandResult:
    """Wait for a command to end. Whatever it did, no traceback was shown."""
    try:
        out, err = process.communicate(stdin, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert "Traceback" not in (err or ""), err
    return CommandResult(process.returncode, out or "", err or "")


def pages(result: Mapping[str, Any]) -> dict[str, tuple[int, int | None]]:
    """URL → (depth, status) of the internal URLs."""
    return {info["url"]: (info["depth"], info["status_code"]) for info in result["internal_urls"]}


def paths(result: Mapping[str, Any], of: Sequence[Mapping[str, Any]] | None = None) -> set[str]:
    """The URLs without the site's address."""
    base = result["start_url"].split("/", 3)[:3]
    infos = result["internal_urls"] if of is None else of
    return {info["url"].removeprefix("/".join(base)) for info in infos}
