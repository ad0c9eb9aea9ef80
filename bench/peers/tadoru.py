"""tadoru itself, from this working tree, started the way a person starts it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

from bench.install import Unavailable
from bench.peers.base import InstalledPeer, Job, Peer
from bench.stored_size import StoredSize, weigh

PROGRAM = Path(__file__).resolve().parents[2] / "tadoru"
COMMAND = (
    "links {url} --delay 0 --ignore-robots --depth 100 --limit 0 --concurrency {concurrency} --processes auto "
    "--format json -o {output}"
)
AUDIT = "audit {url} -d {output} --delay 0 --concurrency {concurrency} --processes auto"


def prepare(cache: Path) -> InstalledPeer:
    """The first call of `./tadoru` sets up its environment; it must not be part of a measurement."""
    if not PROGRAM.exists():
        raise Unavailable("./tadoru is not there yet")
    done = subprocess.run([str(PROGRAM), "--version"], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Unavailable(f"./tadoru --version failed: {' '.join(done.stderr.strip().splitlines()[-1:])}")
    return InstalledPeer(done.stdout.split()[-1], command)


def prepare_audit(cache: Path) -> InstalledPeer:
    return InstalledPeer(prepare(cache).version, lambda job: command(job, AUDIT))


def command(job: Job, words: str = COMMAND) -> list[str]:
    extra = shlex.split(os.environ.get("BENCH_TADORU_OPTIONS", ""))
    filled = words.format(url=job.url, concurrency=job.concurrency, output=job.output)
    return [str(PROGRAM), *filled.split(), *extra]


def recorded(job: Job) -> int:
    """Internal URLs with an answer of 200: other media types than HTML are among them."""
    try:
        entries = json.loads(job.output.read_text())["internal_urls"]
        return sum(1 for entry in entries if entry["status_code"] == 200)
    except (OSError, ValueError, KeyError):
        return 0


PEER = Peer(
    name="tadoru",
    work="scans plain pages, parses the others with Lexbor, stores each target of a page in SQLite, writes JSON with every URL",
    prepare=prepare,
    recorded=recorded,
    repeats=True,
)


def kept(job: Job) -> StoredSize:
    return weigh(
        job.output,
        pages="SELECT count(*) FROM completed_pages",
        links="SELECT count(*) FROM link_relations",
        pairs="SELECT count(*) FROM (SELECT DISTINCT source_id, target_id FROM link_relations)",
        tables=["link_relations", "texts"],
    )


AUDIT_PEER = Peer(
    name="tadoru",
    work="audits: the same and headers, headings, images, directives, structured data, text statistics, sketches, resources in "
    "SQLite, every page check on each page; after the crawl, and not in the rate, the checks of the whole site",
    prepare=prepare_audit,
    kept=kept,
    repeats=True,
)
