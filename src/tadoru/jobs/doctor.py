"""What this installation can do, and how to mend what it can not: the checks behind `tadoru doctor`."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import ZoneInfo

from tadoru.clock import Clock, to_datetime
from tadoru.config.resolve import resolve
from tadoru.config.resolve.options import ServeOptions
from tadoru.config.resolve.settings import JOB_SETTINGS
from tadoru.errors import BrowserMissing, StoreError, TadoruError, UsageError
from tadoru.extras import PACKAGES, not_installed
from tadoru.fetch.browser import chromium
from tadoru.store import diagnostics
from tadoru.store.crawl.open import open_existing
from tadoru.store.crawl.postgres.crawl_url import is_postgresql
from tadoru.version import VERSION

_EARLIEST_DATE = datetime(2025, 1, 1, tzinfo=UTC)


class CheckState(StrEnum):
    """How something is."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    """It works; somebody should look."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One thing that was looked at."""

    what: str
    state: CheckState
    words: str


def check_clock(clock: Clock) -> DoctorCheck:
    now = to_datetime(clock.now())
    if now < _EARLIEST_DATE:
        return DoctorCheck("clock", CheckState.BAD, f"It says {now:%Y-%m-%d}, which is long over: set it.")
    return DoctorCheck("clock", CheckState.GOOD, f"{now:%Y-%m-%d %H:%M} UTC")


def check_time_zones(own: str) -> DoctorCheck:
    """Whether time zones are known, and the one of this installation among them."""
    try:
        for name in ("Asia/Tokyo", "Europe/London", own):
            ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        return DoctorCheck("time zones", CheckState.BAD, f"{error}: install the package tzdata.")
    try:
        version = f", data {metadata.version('tzdata')}"
    except metadata.PackageNotFoundError:
        version = ""
    return DoctorCheck("time zones", CheckState.GOOD, f"this installation is in {own}{version}")


def check_packages(names: Iterable[str], needed: Iterable[str] = ()) -> Iterator[DoctorCheck]:
    """Which of these are there; one that is needed and is not is bad."""
    names = list(names)
    missing = [name for name in names if find_spec(name) is None]
    for name in missing:
        extra, purpose = PACKAGES[name]
        if name in needed:
            yield DoctorCheck("packages", CheckState.BAD, not_installed(purpose, extra))
    there = [PACKAGES[name][1] for name in names if name not in missing]
    not_there = [f"{PACKAGES[name][1]} (tadoru[{PACKAGES[name][0]}])" for name in missing]
    words = f"for {', '.join(there)}" if there else "none of the optional ones"
    yield DoctorCheck("packages", CheckState.GOOD, words + (f"; not installed: {', '.join(not_there)}" if not_there else ""))


MIN_FREE_SPACE = 1 << 30
MIN_OPEN_FILES = 1024
MAX_CLOCK_SKEW = 5.0


def diagnose(folder: Path, database: str | None, environment: Mapping[str, str], clock: Clock) -> Iterator[DoctorCheck]:
    """Everything, one after the other."""
    yield DoctorCheck(
        "Tadoru", CheckState.GOOD, f"{VERSION} on Python {'.'.join(map(str, sys.version_info[:3]))}, {sys.platform}"
    )
    yield _sqlite()
    yield from _folder(folder)
    yield from _service_database(folder / ServeOptions().database)
    yield _configuration(folder, environment)
    yield check_clock(clock)
    yield check_time_zones("UTC")
    yield _certificates()
    yield _browser(environment)
    yield from check_packages(PACKAGES)
    if database is not None:
        yield from _database(database, clock)


def _sqlite() -> DoctorCheck:
    version, is_old = diagnostics.sqlite_version()
    if is_old:
        return DoctorCheck("SQLite", CheckState.BAD, f"{version}: use a Python with 3.35 or newer.")
    return DoctorCheck("SQLite", CheckState.GOOD, version)


def _service_database(file: Path) -> Iterator[DoctorCheck]:
    """Whether others on this machine can read the users and keys of a service; an older Tadoru made its files so."""
    if sys.platform != "win32" and file.is_file() and (mode := file.stat().st_mode & 0o777) & 0o077:
        words = f"{file} is open to other users of this machine (mode {mode:o}): run `chmod 600 {file}*`."
        yield DoctorCheck("service", CheckState.DOUBTFUL, words)


def _folder(folder: Path) -> Iterator[DoctorCheck]:
    try:
        diagnostics.try_folder(folder)
    except StoreError as error:
        yield DoctorCheck("folder", CheckState.BAD, str(error))
        return
    free = shutil.disk_usage(folder).free
    words = f"{folder} can be written to, {free / 2**30:,.1f} GiB free"
    if free < MIN_FREE_SPACE:
        yield DoctorCheck("folder", CheckState.DOUBTFUL, f"{words}: a crawl takes about 20 KB a page.")
    else:
        yield DoctorCheck("folder", CheckState.GOOD, words)
    if sys.platform != "win32":
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files < MIN_OPEN_FILES:
            yield DoctorCheck(
                "open files", CheckState.DOUBTFUL, f"only {files} at a time: run `ulimit -n {MIN_OPEN_FILES}` first."
            )


def _configuration(folder: Path, environment: Mapping[str, str]) -> DoctorCheck:
    found = None
    for job in JOB_SETTINGS:
        try:
            found = resolve.resolve_config(job, {}, environment, None, folder).file or found
        except TadoruError as error:
            return DoctorCheck("configuration", CheckState.BAD, str(error))
    return DoctorCheck("configuration", CheckState.GOOD, f"{found} is fine" if found else "none in this folder, which is fine")


def _certificates() -> DoctorCheck:
    trusted = len(ssl.create_default_context().get_ca_certs())
    paths = ssl.get_default_verify_paths()
    if trusted:
        return DoctorCheck("certificates", CheckState.GOOD, f"{trusted} authorities are trusted")
    if paths.capath and any(Path(paths.capath).iterdir()):
        return DoctorCheck("certificates", CheckState.GOOD, f"those in {paths.capath} are trusted")
    return DoctorCheck("certificates", CheckState.BAD, "no authority is trusted: run `apt-get install ca-certificates`.")


def _browser(environment: Mapping[str, str]) -> DoctorCheck:
    try:
        program = chromium.find_program(environment)
    except BrowserMissing as error:
        return DoctorCheck("browser", CheckState.BAD, f"{error} Correct or unset it.")
    if program is None:
        return DoctorCheck("browser", CheckState.GOOD, f"none, which only --render needs: {chromium.HOW_TO_INSTALL}.")
    try:
        asked = [program, "--version"]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        return DoctorCheck("browser", CheckState.BAD, f"{program} does not start ({error}): {chromium.HOW_TO_INSTALL}.")
    return DoctorCheck("browser", CheckState.GOOD, said.splitlines()[0] if said else program)


def _database(database: str, clock: Clock) -> Iterator[DoctorCheck]:
    try:
        if is_postgresql(database):
            yield from _postgresql(database, clock)
        else:
            store = open_existing(database, clock)
            store.sql.close()
            yield DoctorCheck("database", CheckState.GOOD, f"{database} holds a crawl that can be read")
    except (UsageError, StoreError) as error:
        yield DoctorCheck("database", CheckState.BAD, str(error))
    except ModuleNotFoundError:
        yield DoctorCheck("database", CheckState.BAD, not_installed("PostgreSQL", "postgres"))


def _postgresql(database: str, clock: Clock) -> Iterator[DoctorCheck]:
    found = diagnostics.ask_server(database, clock)
    words = f"PostgreSQL {found.version}, {found.encoding}"
    if found.is_old:
        yield DoctorCheck("database", CheckState.BAD, f"{words}: use {diagnostics.OLDEST_SERVER} or newer.")
    elif found.encoding != "UTF8":
        yield DoctorCheck("database", CheckState.BAD, f"{words}: make a database with ENCODING 'UTF8'.")
    elif not found.may_create:
        yield DoctorCheck("database", CheckState.BAD, f"{words}: no schema may be made; GRANT CREATE ON DATABASE … TO this user.")
    else:
        yield DoctorCheck("database", CheckState.GOOD, words)
    if abs(found.ahead) > MAX_CLOCK_SKEW:
        words = f"This machine's differs from the database's by {abs(found.ahead):,.0f} s: set it by NTP."
        yield DoctorCheck("clock", CheckState.DOUBTFUL, words)
