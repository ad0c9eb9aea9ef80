"""wget2: C, threads, no DOM and no record of links. The ceiling more than a rival."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.install import program
from bench.peers.base import InstalledPeer, Job, Peer


def prepare(cache: Path) -> InstalledPeer:
    path = program("wget2", "wget2")
    first = subprocess.run([path, "--version"], check=False, capture_output=True, text=True).stdout.splitlines()[0]

    def command(job: Job) -> list[str]:
        return [
            path, "--no-config", "--quiet", "--recursive", "--level=inf", "--no-parent", "--no-robots",
            f"--max-threads={job.concurrency}", "--directory-prefix", str(job.output), job.url,
        ]  # fmt: skip

    return InstalledPeer(first.split()[2], command)


def recorded(job: Job) -> int:
    return sum(1 for _ in job.output.rglob("*.html"))


PEER = Peer(
    name="wget2",
    work="C; scans for links without a DOM, saves the files, records no links",
    prepare=prepare,
    recorded=recorded,
    repeats=True,
)
