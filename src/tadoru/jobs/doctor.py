"""What this installation can do, and how to mend what it can not: the checks behind `tadoru doctor`."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tadoru import config
from tadoru.clock import Clock
from tadoru.errors import BrowserMissing, StoreError, TadoruError, UsageError
from tadoru.extras import not_installed
from tadoru.fetch import chromium
from tadoru.jobs.checkup import PACKAGES, Checked, State, check_clock, check_packages, check_zones
from tadoru.options import ServeOptions
from tadoru.settings import JOBS
from tadoru.store import examine
from tadoru.store.open import open_existing
from tadoru.store.postgres.address import is_postgresql
from tadoru.version import VERSION

ENOUGH_SPACE = 1 << 30
ENOUGH_FILES = 1024
SKEW = 5.0


def diagnose(folder: Path, database: str | None, environment: Mapping[str, str], clock: Clock) -> Iterator[Checked]:
    """Everything, one after the other."""
    yield Checked("Tadoru", State.GOOD, f"{VERSION} on Python {'.'.join(map(str, sys.version_info[:3]))}, {sys.platform}")
    yield _sqlite()
    yield from _folder(folder)
    yield from _service_database(folder / ServeOptions().database)
    yield _configuration(folder, environment)
    yield check_clock(clock)
    yield check_zones("UTC")
    yield _certificates()
    yield _browser(environment)
    yield from check_packages(PACKAGES)
    if database is not None:
        yield from _database(database, clock)


def _sqlite() -> Checked:
    version, is_old = examine.sqlite_version()
    if is_old:
        return Checked("SQLite", State.BAD, f"{version}: use a Python with 3.35 or newer.")
    return Checked("SQLite", State.GOOD, version)


def _service_database(file: Path) -> Iterator[Checked]:
    """Whether others on this machine can read the users and keys of a service; an older Tadoru made its files so."""
    if sys.platform != "win32" and file.is_file() and (mode := file.stat().st_mode & 0o777) & 0o077:
        words = f"{file} is open to other users of this machine (mode {mode:o}): run `chmod 600 {file}*`."
        yield Checked("service", State.DOUBTFUL, words)


def _folder(folder: Path) -> Iterator[Checked]:
    try:
        examine.try_folder(folder)
    except StoreError as error:
        yield Checked("folder", State.BAD, str(error))
        return
    free = shutil.disk_usage(folder).free
    words = f"{folder} can be written to, {free / 2**30:,.1f} GiB free"
    if free < ENOUGH_SPACE:
        yield Checked("folder", State.DOUBTFUL, f"{words}: a crawl takes about 20 KB a page.")
    else:
        yield Checked("folder", State.GOOD, words)
    if sys.platform != "win32":
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files < ENOUGH_FILES:
            yield Checked("open files", State.DOUBTFUL, f"only {files} at a time: run `ulimit -n {ENOUGH_FILES}` first.")


def _configuration(folder: Path, environment: Mapping[str, str]) -> Checked:
    found = None
    for job in JOBS:
        try:
            found = config.resolve(job, {}, environment, None, folder).file or found
        except TadoruError as error:
            return Checked("configuration", State.BAD, str(error))
    return Checked("configuration", State.GOOD, f"{found} is fine" if found else "none in this folder, which is fine")


def _certificates() -> Checked:
    trusted = len(ssl.create_default_context().get_ca_certs())
    paths = ssl.get_default_verify_paths()
    if trusted:
        return Checked("certificates", State.GOOD, f"{trusted} authorities are trusted")
    if paths.capath and any(Path(paths.capath).iterdir()):
        return Checked("certificates", State.GOOD, f"those in {paths.capath} are trusted")
    return Checked("certificates", State.BAD, "no authority is trusted: run `apt-get install ca-certificates`.")


def _browser(environment: Mapping[str, str]) -> Checked:
    try:
        program = chromium.find(environment)
    except BrowserMissing as error:
        return Checked("browser", State.BAD, f"{error} Correct or unset it.")
    if program is None:
        return Checked("browser", State.GOOD, f"none, which only --render needs: {chromium.HOW_TO_INSTALL}.")
    try:
        asked = [program, "--version"]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        return Checked("browser", State.BAD, f"{program} does not start ({error}): {chromium.HOW_TO_INSTALL}.")
    return Checked("browser", State.GOOD, said.splitlines()[0] if said else program)


def _database(database: str, clock: Clock) -> Iterator[Checked]:
    try:
        if is_postgresql(database):
            yield from _server(database, clock)
        else:
            store = open_existing(database, clock)
            store.sql.close()
            yield Checked("database", State.GOOD, f"{database} holds a crawl that can be read")
    except (UsageError, StoreError) as error:
        yield Checked("database", State.BAD, str(error))
    except ModuleNotFoundError:
        yield Checked("database", State.BAD, not_installed("PostgreSQL", "postgres"))


def _server(database: str, clock: Clock) -> Iterator[Checked]:
    found = examine.ask_server(database, clock)
    words = f"PostgreSQL {found.version}, {found.encoding}"
    if found.is_old:
        yield Checked("database", State.BAD, f"{words}: use {examine.OLDEST_SERVER} or newer.")
    elif found.encoding != "UTF8":
        yield Checked("database", State.BAD, f"{words}: make a database with ENCODING 'UTF8'.")
    elif not found.may_create:
        yield Checked("database", State.BAD, f"{words}: no schema may be made; GRANT CREATE ON DATABASE … TO this user.")
    else:
        yield Checked("database", State.GOOD, words)
    if abs(found.ahead) > SKEW:
        words = f"This machine's differs from the database's by {abs(found.ahead):,.0f} s: set it by NTP."
        yield Checked("clock", State.DOUBTFUL, words)
