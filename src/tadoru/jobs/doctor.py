"""Checks of the installation with suggestions for fixes, for `tadoru doctor` and `tadoru events doctor`."""

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
from tadoru.config import resolve
from tadoru.config.options import JOB_SETTINGS, ServeOptions
from tadoru.errors import BrowserMissing, Message, StoreError, TadoruError, UsageError
from tadoru.extras import PACKAGES, not_installed
from tadoru.fetch.browser import browser
from tadoru.store import diagnostics
from tadoru.store.crawl.open import open_existing
from tadoru.store.crawl.postgres.crawl_url import is_postgresql
from tadoru.version import VERSION

_EARLIEST_DATE = datetime(2025, 1, 1, tzinfo=UTC)


class CheckState(StrEnum):
    """The result of a check."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    """It works, but should be looked at."""
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One check and its result."""

    what: str
    state: CheckState
    words: str


def check_clock(clock: Clock) -> DoctorCheck:
    now = to_datetime(clock.now())
    if now < _EARLIEST_DATE:
        return DoctorCheck(
            "clock", CheckState.BAD, Message("The clock shows {date}, which is in the past. Set it.", date=f"{now:%Y-%m-%d}")
        )
    return DoctorCheck("clock", CheckState.GOOD, f"{now:%Y-%m-%d %H:%M} UTC")


def check_time_zones(own: str) -> DoctorCheck:
    """Whether time zone data is installed, including the zone of this installation."""
    try:
        for name in ("Asia/Tokyo", "Europe/London", own):
            ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        return DoctorCheck("time zones", CheckState.BAD, Message("{error}: install the package tzdata.", error=error))
    try:
        version = metadata.version("tzdata")
    except metadata.PackageNotFoundError:
        return DoctorCheck("time zones", CheckState.GOOD, Message("time zone {zone}", zone=own))
    return DoctorCheck("time zones", CheckState.GOOD, Message("time zone {zone}, tzdata {version}", zone=own, version=version))


def check_packages(names: Iterable[str], needed: Iterable[str] = ()) -> Iterator[DoctorCheck]:
    """Which of these packages are installed; a needed one that is missing is bad."""
    names = list(names)
    missing = [name for name in names if find_spec(name) is None]
    for name in missing:
        extra, purpose = PACKAGES[name]
        if name in needed:
            yield DoctorCheck("packages", CheckState.BAD, not_installed(purpose, extra))
    installed = ", ".join(PACKAGES[name][1] for name in names if name not in missing) or "–"
    if not missing:
        yield DoctorCheck("packages", CheckState.GOOD, Message("installed: {installed}", installed=installed))
        return
    not_installed_ones = ", ".join(f"{PACKAGES[name][1]} (tadoru[{PACKAGES[name][0]}])" for name in missing)
    words = Message("installed: {installed}; not installed: {missing}", installed=installed, missing=not_installed_ones)
    yield DoctorCheck("packages", CheckState.GOOD, words)


MIN_FREE_SPACE = 1 << 30
MIN_OPEN_FILES = 1024
MAX_CLOCK_SKEW = 5.0


def diagnose(folder: Path, database: str | None, environment: Mapping[str, str], clock: Clock) -> Iterator[DoctorCheck]:
    """All checks, one after the other."""
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
        return DoctorCheck(
            "SQLite", CheckState.BAD, Message("{version}: use a Python with SQLite 3.35 or newer.", version=version)
        )
    return DoctorCheck("SQLite", CheckState.GOOD, version)


def _service_database(file: Path) -> Iterator[DoctorCheck]:
    """Whether other users of this machine can read the database of the service, as older versions created it."""
    if sys.platform != "win32" and file.is_file() and (mode := file.stat().st_mode & 0o777) & 0o077:
        words = Message(
            "Other users of this machine can read {file} (mode {mode}). Run `chmod 600 {file}*`.", file=file, mode=f"{mode:o}"
        )
        yield DoctorCheck("service", CheckState.DOUBTFUL, words)


def _folder(folder: Path) -> Iterator[DoctorCheck]:
    try:
        diagnostics.try_folder(folder)
    except StoreError as error:
        yield DoctorCheck("folder", CheckState.BAD, str(error))
        return
    free = shutil.disk_usage(folder).free
    words = Message("{folder} is writable, {size} GiB free", folder=folder, size=f"{free / 2**30:,.1f}")
    if free < MIN_FREE_SPACE:
        yield DoctorCheck("folder", CheckState.DOUBTFUL, Message("{result}: a crawl needs about 20 KB per page.", result=words))
    else:
        yield DoctorCheck("folder", CheckState.GOOD, words)
    if sys.platform != "win32":
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files < MIN_OPEN_FILES:
            yield DoctorCheck(
                "open files",
                CheckState.DOUBTFUL,
                Message("only {count} at a time: run `ulimit -n {limit}` first.", count=files, limit=MIN_OPEN_FILES),
            )


def _configuration(folder: Path, environment: Mapping[str, str]) -> DoctorCheck:
    found = None
    for job in JOB_SETTINGS:
        try:
            found = resolve.resolve_config(job, {}, environment, None, folder).file or found
        except TadoruError as error:
            return DoctorCheck("configuration", CheckState.BAD, str(error))
    return DoctorCheck(
        "configuration", CheckState.GOOD, Message("{file} is valid", file=found) if found else Message("no file in this folder")
    )


def _certificates() -> DoctorCheck:
    trusted = len(ssl.create_default_context().get_ca_certs())
    paths = ssl.get_default_verify_paths()
    if trusted:
        return DoctorCheck("certificates", CheckState.GOOD, Message("{count} trusted authorities", count=trusted))
    if paths.capath and any(Path(paths.capath).iterdir()):
        return DoctorCheck("certificates", CheckState.GOOD, Message("trusted authorities in {folder}", folder=paths.capath))
    return DoctorCheck("certificates", CheckState.BAD, Message("No trusted authority. Run `apt-get install ca-certificates`."))


def _browser(environment: Mapping[str, str]) -> DoctorCheck:
    try:
        program = browser.find_program(environment)
    except BrowserMissing as error:
        return DoctorCheck("browser", CheckState.BAD, Message("{error} Correct or unset it.", error=error))
    if program is None:
        return DoctorCheck(
            "browser",
            CheckState.GOOD,
            Message("No browser, which only --render needs. Install one with `apt-get install chromium`."),
        )
    try:
        command = [program, "--version"]
        output = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        return DoctorCheck(
            "browser",
            CheckState.BAD,
            Message(
                "{program} does not start ({error}). Install another one with `apt-get install chromium`.",
                program=program,
                error=error,
            ),
        )
    return DoctorCheck("browser", CheckState.GOOD, output.splitlines()[0] if output else program)


def _database(database: str, clock: Clock) -> Iterator[DoctorCheck]:
    try:
        if is_postgresql(database):
            yield from _postgresql(database, clock)
        else:
            store = open_existing(database, clock)
            store.sql.close()
            yield DoctorCheck("database", CheckState.GOOD, Message("{database} contains a readable crawl", database=database))
    except (UsageError, StoreError) as error:
        yield DoctorCheck("database", CheckState.BAD, str(error))
    except ModuleNotFoundError:
        yield DoctorCheck("database", CheckState.BAD, not_installed("PostgreSQL", "postgres"))


def _postgresql(database: str, clock: Clock) -> Iterator[DoctorCheck]:
    found = diagnostics.ask_server(database, clock)
    words = f"PostgreSQL {found.version}, {found.encoding}"
    if found.is_old:
        yield DoctorCheck(
            "database",
            CheckState.BAD,
            Message("{result}: use version {version} or newer.", result=words, version=diagnostics.OLDEST_SERVER),
        )
    elif found.encoding != "UTF8":
        yield DoctorCheck("database", CheckState.BAD, Message("{result}: create a database with ENCODING 'UTF8'.", result=words))
    elif not found.may_create:
        yield DoctorCheck(
            "database",
            CheckState.BAD,
            Message("{result}: no permission to create schemas. Run GRANT CREATE ON DATABASE … TO this user.", result=words),
        )
    else:
        yield DoctorCheck("database", CheckState.GOOD, words)
    if abs(found.ahead) > MAX_CLOCK_SKEW:
        skew = Message(
            "The clocks of this machine and of the database differ by {seconds} s. Set them with NTP.",
            seconds=f"{abs(found.ahead):,.0f}",
        )
        yield DoctorCheck("clock", CheckState.DOUBTFUL, skew)
