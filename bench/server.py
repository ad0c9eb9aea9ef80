"""Serves a site on loopback with nginx and reads back from its log what a crawler really asked for.

The log is the judge of every rate: crawlers do not count themselves. Where nginx cannot be had, `fallback.py` serves and
writes the same log; it is slower, so the report names the server.
"""

from __future__ import annotations

import os
import pwd
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.install import Unavailable, program
from bench.site import Site

CONFIGURATION = """\
{user}
daemon off;
worker_processes 1;
pid {prefix}/nginx.pid;
error_log {prefix}/error.log;
events {{ worker_connections 4096; }}
http {{
    types {{ text/html html htm; text/css css; text/javascript js; image/svg+xml svg; image/png png; text/plain txt; }}
    default_type application/octet-stream;
    log_format bench escape=none '$msec\t$request_time\t$status\t$sent_http_content_type\t$request_method\t$request_uri';
    access_log {log} bench;
    add_header LinkChecker unlimited;  # without this consent of the server LinkChecker keeps to a few requests a second
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 60s;
    keepalive_requests 1000000;
    open_file_cache max=20000 inactive=600s;
    open_file_cache_valid 600s;
    client_body_temp_path {prefix}/body;
    proxy_temp_path {prefix}/proxy;
    fastcgi_temp_path {prefix}/fastcgi;
    uwsgi_temp_path {prefix}/uwsgi;
    scgi_temp_path {prefix}/scgi;
    server {{ listen 127.0.0.1:{port} backlog=1024; root {root}; }}
}}
"""


@dataclass(frozen=True, slots=True)
class CrawlTraffic:
    """What the server saw of one crawl. A page is a distinct URL of HTML that was answered with 200."""

    requests: int
    pages: int
    repeated: int
    """Requests for a page that had been answered already."""
    window: float
    """Seconds between the first and the last request for a page."""
    last: float = 0.0
    """When that last request came, by the machine's clock."""

    @property
    def rate(self) -> float:
        """Pages a second between the first and the last request."""
        return (self.pages - 1) / self.window if self.window > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    name: str
    log: Path
    pid: int

    def mark(self) -> int:
        """Where the log ends now."""
        return self.log.stat().st_size if self.log.exists() else 0

    def seen_since(self, mark: int) -> CrawlTraffic:
        with self.log.open("rb") as file:
            file.seek(mark)
            return read_log(file.read().decode("utf-8", "replace"))


def read_log(text: str) -> CrawlTraffic:
    """Counts the lines of an access log: end, duration, status, media type, method and URL, separated by tabs."""
    requests, starts, pages = 0, [], set()
    for line in text.splitlines():
        end, duration, status, media_type, method, url = line.split("\t")
        requests += 1
        if status == "200" and method == "GET" and media_type.startswith("text/html"):
            starts.append(float(end) - float(duration))
            pages.add(url)
    window = max(starts) - min(starts) if starts else 0.0
    return CrawlTraffic(requests, len(pages), len(starts) - len(pages), window, max(starts, default=0.0))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _command(site: Site, folder: Path, log: Path, port: int) -> tuple[list[str], str]:
    try:
        nginx = program("nginx", "nginx-light")
    except Unavailable as why:
        print(f"Serving with a slower server of our own: {why}", file=sys.stderr)
        return [sys.executable, "-m", "bench.fallback", str(site.root), str(port), str(log)], "fallback (no nginx)"
    # Started by root, nginx would serve as an account that may not read the site.
    user = f"user {pwd.getpwuid(0).pw_name};" if os.geteuid() == 0 else ""
    text = CONFIGURATION.format(user=user, prefix=folder, log=log, port=port, root=site.root)
    (folder / "nginx.conf").write_text(text)
    version = subprocess.run([nginx, "-v"], check=False, capture_output=True, text=True).stderr.strip().rpartition("/")[2]
    return [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")], f"nginx {version}"


def _wait_until_open(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("the server did not start; see its error.log below .bench")


@contextmanager
def serve(site: Site, folder: Path) -> Iterator[Server]:
    """The site on a free port of loopback, for as long as the block lasts."""
    folder.mkdir(parents=True, exist_ok=True)
    log, port = folder / "access.log", free_port()
    log.unlink(missing_ok=True)
    command, name = _command(site, folder, log, port)
    for file in filter(Path.is_file, site.root.rglob("*.html")):  # Texinfo calls folders so too
        file.read_bytes()  # so that the first crawler does not pay for a cold disk
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd=Path(__file__).parent.parent)
    try:
        _wait_until_open(process, port)
        yield Server(f"http://127.0.0.1:{port}/index.html", name, log, process.pid)
    finally:
        process.terminate()
        process.wait()
