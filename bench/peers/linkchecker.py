"""LinkChecker, its limit of ten requests a second for each host lifted here, and by the consent header that `server.py` sends."""

from __future__ import annotations

from pathlib import Path

from bench.install import environment, version
from bench.peers.base import InstalledPeer, Job, Peer

SETTINGS = """\
[checking]
maxrequestspersecond=1000000
threads={threads}
[filtering]
checkextern=0
"""


def prepare(cache: Path) -> InstalledPeer:
    programs = environment(cache, "linkchecker", "linkchecker")

    def command(job: Job) -> list[str]:
        settings = job.folder / "linkcheckerrc"
        settings.write_text(SETTINGS.format(threads=job.concurrency))
        # Started by root it becomes `nobody`, and still has to write its output.
        job.folder.chmod(0o777)
        return [
            str(programs / "linkchecker"), "--config", str(settings), "--no-robots", "--no-status", "--verbose",
            "--output", "none", "--file-output", f"csv/utf-8/{job.output}", job.url,
        ]  # fmt: skip

    return InstalledPeer(version(programs, "linkchecker"), command)


PEER = Peer(
    name="linkchecker",
    work="threads, BeautifulSoup, checks every link, writes CSV with every link",
    prepare=prepare,
)
