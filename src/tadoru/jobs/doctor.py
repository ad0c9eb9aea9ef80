"""What this installation can do, and how to mend what it can not: the checks behind `tadoru doctor`."""

from __future__ import annotations

import os
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tadoru import config
from tadoru.clock import Clock, to_datetime
from tadoru.errors import BrowserMissing, StoreError, TadoruError, UsageError
from tadoru.fetch import chromium
from tadoru.settings import JOBS
from tadoru.store import examine
from tadoru.store.open import open_existing
from tadoru.store.postgres.address import is_postgresql
from tadoru.version import VERSION

EXTRAS: tuple[tuple[str, str, str], ...] = (
    ("render", "playwright", "pages that need a browser"),
    ("serve", "fastapi", "the service: pages, feeds, REST"),
    ("postgres", "psycopg", "crawls and calendars on PostgreSQL"),
    ("cluster", "procrastinate", "workers on several machines"),
    ("mcp", "mcp", "answering agents from documentation"),
    ("search", "meilisearch", "Meilisearch and Typesense"),
    ("notify", "apprise", "telling people when something breaks"),
    ("parquet", "pyarrow", "exports as Parquet"),
    ("xlsx", "xlsxwriter", "exports as spreadsheets"),
    ("warc", "warcio", "exports as WARC"),
    ("xpath", "lxml", "values by XPath"),
    ("s3", "boto3", "files kept in a bucket"),
)
ENOUGH_SPACE = 1 << 30
ENOUGH_FILES = 1024
BUILT = 1_760_000_000.0
"""A moment that is over: a clock before it is wrong."""
SKEW = 5.0


class State(StrEnum):
    """How a check came out."""

    OK = "ok"
    ABSENT = "absent"
    """Not there, and needed for one thing only."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the diagnosis."""

    name: str
    state: State
    words: str
    mend: str = ""
    """What to do about it."""


def diagnose(folder: Path, database: str | None, environment: Mapping[str, str], clock: Clock) -> Iterator[Finding]:
    """Everything, one after the other."""
    checks: list[Callable[[], Iterator[Finding]]] = [
        _python, lambda: _folder(folder), lambda: _configuration(folder, environment), lambda: _clock(clock), _network,
        lambda: _browser(environment), _extras,
    ]  # fmt: skip
    if database is not None:
        checks.append(lambda: _database(database, clock))
    for check in checks:
        yield from check()


def _python() -> Iterator[Finding]:
    yield Finding("Tadoru", State.OK, f"{VERSION} on Python {'.'.join(map(str, sys.version_info[:3]))}, {sys.platform}")
    version, is_old = examine.sqlite_version()
    if is_old:
        yield Finding("SQLite", State.WRONG, version, "Use a Python with SQLite 3.35 or newer.")
    else:
        yield Finding("SQLite", State.OK, version)


def _folder(folder: Path) -> Iterator[Finding]:
    try:
        examine.try_folder(folder)
    except StoreError as error:
        yield Finding("This folder", State.WRONG, str(error))
        return
    free = shutil.disk_usage(folder).free
    words = f"{folder} can be written to, {free / 2**30:,.1f} GB free"
    if free < ENOUGH_SPACE:
        yield Finding("This folder", State.WRONG, words, "Free some space: a crawl takes about 20 KB a page.")
    else:
        yield Finding("This folder", State.OK, words)
    if sys.platform != "win32":
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files < ENOUGH_FILES:
            yield Finding("Open files", State.WRONG, f"only {files} at a time", f"Run `ulimit -n {ENOUGH_FILES}` first.")


def _configuration(folder: Path, environment: Mapping[str, str]) -> Iterator[Finding]:
    found = None
    for job in JOBS:
        try:
            found = config.resolve(job, {}, environment, None, folder).file or found
        except TadoruError as error:
            yield Finding("Configuration", State.WRONG, str(error))
            return
    yield Finding("Configuration", State.OK, f"{found} is fine" if found else "none in this folder, which is fine")


def _clock(clock: Clock) -> Iterator[Finding]:
    now = clock.now()
    shown = f"{to_datetime(now).isoformat(timespec='seconds')}"
    if now < BUILT:
        yield Finding("Clock", State.WRONG, f"it says {shown}", "Set it: certificates and leases depend on the time.")
    else:
        yield Finding("Clock", State.OK, shown)
    try:
        ZoneInfo("Asia/Tokyo")
    except ZoneInfoNotFoundError:
        yield Finding("Time zones", State.WRONG, "there are none", "Run `pip install tzdata`.")


def _network() -> Iterator[Finding]:
    trusted = len(ssl.create_default_context().get_ca_certs())
    paths = ssl.get_default_verify_paths()
    if trusted or any(os.environ.get(name) for name in (paths.openssl_cafile_env, paths.openssl_capath_env)):
        yield Finding("Certificates", State.OK, f"{trusted} authorities are trusted")
    elif paths.capath and any(Path(paths.capath).iterdir()):
        yield Finding("Certificates", State.OK, f"those in {paths.capath} are trusted")
    else:
        yield Finding("Certificates", State.WRONG, "no authority is trusted", "Run `apt-get install ca-certificates`.")


def _browser(environment: Mapping[str, str]) -> Iterator[Finding]:
    try:
        program = chromium.find(environment)
    except BrowserMissing as error:
        yield Finding("Browser", State.WRONG, str(error), "Correct or unset it.")
        return
    if program is None:
        yield Finding("Browser", State.ABSENT, "none; only --render needs one", _sentence(chromium.HOW_TO_INSTALL))
        return
    try:
        asked = [program, "--version"]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        yield Finding("Browser", State.WRONG, f"{program} does not start ({error})", _sentence(chromium.HOW_TO_INSTALL))
        return
    yield Finding("Browser", State.OK, f"{said.splitlines()[0] if said else program}")


def _extras() -> Iterator[Finding]:
    for extra, module, purpose in EXTRAS:
        if find_spec(module) is None:
            yield Finding(extra, State.ABSENT, f"not installed: {purpose}", f"Run `pip install 'tadoru[{extra}]'`.")
        else:
            yield Finding(extra, State.OK, purpose)


def _database(database: str, clock: Clock) -> Iterator[Finding]:
    try:
        if is_postgresql(database):
            yield from _server(database, clock)
        else:
            store = open_existing(database, clock)
            store.sql.close()
            yield Finding("Database", State.OK, f"{database} holds a crawl that can be read")
    except UsageError as error:
        yield Finding("Database", State.WRONG, str(error))
    except StoreError as error:
        yield Finding("Database", State.WRONG, str(error))
    except ModuleNotFoundError:
        yield Finding("Database", State.WRONG, "PostgreSQL can not be spoken to", "Run `pip install 'tadoru[postgres]'`.")


def _server(database: str, clock: Clock) -> Iterator[Finding]:
    found = examine.ask_server(database, clock)
    words = f"PostgreSQL {found.version}, {found.encoding}"
    if found.is_old:
        yield Finding("Database", State.WRONG, words, f"Use PostgreSQL {examine.OLDEST_SERVER} or newer.")
    elif found.encoding != "UTF8":
        yield Finding("Database", State.WRONG, words, "Make a database with ENCODING 'UTF8'.")
    elif not found.may_create:
        yield Finding("Database", State.WRONG, f"{words}: no schema may be made", "GRANT CREATE ON DATABASE … TO this user.")
    else:
        yield Finding("Database", State.OK, words)
    if abs(found.ahead) > SKEW:
        side = "ahead of" if found.ahead > 0 else "behind"
        words = f"the database's is {abs(found.ahead):,.0f} s {side} this machine's"
        yield Finding("Clocks", State.ABSENT, words, "Crawls go by the database's; run NTP on both all the same.")


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
