"""The product as an installer gets it: the wheel in a new environment, with nothing of the checkout beside it, and each extra.

Part of the slow tier: dozens of packages are downloaded. What a wheel holds, and what is said when an extra is missing, have
their like in every run of the tests (test_demo, and the errors of each command).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

pytestmark = pytest.mark.slow

SECOND = "3.13"
NOWHERE = "postgresql://nobody@127.0.0.1:9/none?connect_timeout=2"
EVENTS = ("events", "-d", "tadoru-demo/events/events.db")
SITE = "SITE"
USES = {
    "parquet": ("export", "kept.db", "--format", "parquet", "-o", "out.parquet"),
    "xlsx": ("export", "kept.db", "--format", "xlsx", "-o", "out.xlsx"),
    "warc": ("export", "kept.db", "--format", "warc", "-o", "out.warc.gz"),
    "xpath": ("audit", SITE, "-d", "xpath.db", "--extract", "title=xpath://h1", "-l", "1", "-q"),
    "render": ("audit", SITE, "-d", "render.db", "--render", "always", "-l", "1", "-q"),
    "mcp": ("mcp", "tadoru-demo/docs"),
    "postgres": ("audit", SITE, "-d", NOWHERE),
    "cluster": ("worker", "--database", NOWHERE),
    "notify": (*EVENTS, "run", "--all", "--notify", "json://127.0.0.1:9/"),
    "s3": (*EVENTS, "run", "--all", "--files", "s3://bucket/prefix"),
    "serve": ("serve", *EVENTS[1:], "--port", "0"),
    "search": (*EVENTS, "search-sync", "--search-engine", "meilisearch", "--search-url", "http://127.0.0.1:9"),
}
"""A command for each extra that does not work without it."""


class Installed:
    """An environment that holds the wheel, and a folder to work in. Nothing of the person's own is seen."""

    def __init__(self, home: Path, python: str, *requirements: str) -> None:
        self.home, self.folder = home, home / "folder"
        self.folder.mkdir(parents=True)
        install(home / "venv", python, *requirements)

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.home / 'venv' / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin"
        aws = {
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
            "AWS_MAX_ATTEMPTS": "1",
        }
        return {"HOME": str(self.home), "PATH": path, "TERM": "dumb", "AWS_DEFAULT_REGION": "us-east-1", **aws}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(["tadoru", *arguments], cwd=self.folder, env=self.environment, encoding="utf-8", **pipes)  # type: ignore[call-overload,no-any-return]

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=180)
        assert "Traceback" not in err, err
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def install(venv: Path, python: str, *requirements: str) -> None:
    """A new environment with these in it, by uv where there is one, as `./tadoru` does."""
    if uv := shutil.which("uv"):
        run(uv, "venv", "--quiet", "--python", python, str(venv))
        download(uv, "pip", "install", "--quiet", "--python", str(venv / "bin" / "python"), *requirements)
    else:
        run(python, "-m", "venv", str(venv))
        download(str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", *requirements)


def download(*command: str) -> None:
    """Without a network there is nothing to try; a package or a version that does not exist is a fault."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode and re.search(r"connection|temporary failure|dns error", done.stderr, re.IGNORECASE):
        pytest.skip(f"there is no network: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr


def run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def base_python() -> str:
    return str(sys._base_executable)  # type: ignore[attr-defined]


def second_python() -> str:
    """Another Python of this machine, when there is one."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    beside = sorted(versions.glob(f"{SECOND}*/bin/python{SECOND}"))
    return str(beside[-1]) if beside else shutil.which(f"python{SECOND}", path="/usr/local/bin:/usr/bin") or ""


@pytest.fixture(scope="module")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive, the wheel that was made of it, and in `direct` the wheel made of the checkout."""
    folder = tmp_path_factory.mktemp("built")
    install(folder / "tools", base_python(), "build", "hatchling")
    build = (str(folder / "tools" / "bin" / "python"), "-m", "build", "--no-isolation")
    run(*build, "-o", str(folder), str(checkout))
    run(*build, "--wheel", "-o", str(folder / "direct"), str(checkout))
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> str:
    return str(next(built.glob("*.whl")))


@pytest.fixture(scope="module")
def bare(wheel: str, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel and what it cannot do without; the demo was run in its folder."""
    installed = Installed(tmp_path_factory.mktemp("bare"), base_python(), wheel)
    assert installed("demo").returncode == 0
    return installed


@pytest.fixture(scope="module")
def site(bare: Installed) -> Iterator[str]:
    """The address of the demo's site, and a crawl of it, with its pages, in the folder."""
    with bare.start("demo", "--serve-only") as serving:
        assert serving.stdout is not None
        address = serving.stdout.readline().strip()
        kept = bare("audit", address, "-d", "kept.db", "--store-bodies", "--delay", "0", "-l", "5", "-q")
        assert kept.returncode == 0, kept.stderr
        yield address
        serving.send_signal(signal.SIGINT)
        serving.communicate(timeout=60)


def contents(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def test_a_wheel_of_the_source_archive_is_that_of_the_checkout(built: Path, wheel: str) -> None:
    assert contents(Path(wheel)) == contents(next((built / "direct").glob("*.whl")))


def test_a_wheel_contains_every_file_of_the_package(checkout: Path, wheel: str) -> None:
    """Also templates, style sheets, scripts and translations, those of the reports included."""
    source = checkout / "src"
    files = {path.relative_to(source).as_posix() for path in (source / "tadoru").rglob("*") if path.is_file()}
    wanted = {name for name in files if "__pycache__" not in name}
    assert {"tadoru/jobs/reporting/templates/base.html", "tadoru/jobs/reporting/assets/report.css"} <= wanted
    assert wanted - contents(Path(wheel)).keys() == set()


def test_the_bare_wheel_runs_every_job_and_finds_itself_well(bare: Installed) -> None:
    made = bare.folder / "tadoru-demo"
    assert [name for name in ("links.html", "audit.html", "docs/full.md", "events.ics") if not (made / name).stat().st_size] == []
    doctor = bare("doctor")
    assert (doctor.returncode, doctor.stderr) == (0, "")


@pytest.mark.parametrize("extra", USES)
def test_without_its_extra_a_command_says_how_to_install_it(bare: Installed, site: str, extra: str) -> None:
    done = bare(*with_site(extra, site))
    # Pages are fetched before a browser is wanted, which has an exit code of its own.
    assert done.returncode == (3 if extra == "render" else 2), done.stderr
    wanted = f"pip install 'tadoru\\[({'cluster|postgres' if extra == 'cluster' else extra})\\]'"
    assert len([line for line in done.stderr.splitlines() if re.search(wanted, line)]) == 1, done.stderr


def test_a_demo_that_could_not_show_its_pages_says_so_before_it_begins(bare: Installed) -> None:
    done = bare("demo", "--serve", "--keep", "shown")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'tadoru[serve]'" in done.stderr
    assert not (bare.folder / "shown").exists()


@pytest.mark.parametrize("extra", USES)
def test_with_its_extra_alone_a_command_works(wheel: str, bare: Installed, site: str, extra: str, tmp_path: Path) -> None:
    installed = Installed(tmp_path / "home", base_python(), f"{wheel}[{extra}]")
    take_along(bare, installed)
    works(installed, site, extra)


@pytest.mark.parametrize(
    "python", [pytest.param(base_python, id="this Python"), pytest.param(second_python, id="a second Python")]
)
def test_everything_together_works(wheel: str, bare: Installed, site: str, python: object, tmp_path: Path) -> None:
    if not (path := python()):  # type: ignore[operator]
        pytest.skip(f"there is no Python {SECOND} here")
    installed = Installed(tmp_path / "home", path, f"{wheel}[all]")
    take_along(bare, installed)
    assert installed("demo").returncode == 0
    assert installed("doctor").returncode == 0
    for extra in USES:
        works(installed, site, extra)


def take_along(bare: Installed, installed: Installed) -> None:
    """What the demo made, and a crawl that kept its pages."""
    shutil.copytree(bare.folder / "tadoru-demo", installed.folder / "tadoru-demo")
    shutil.copy2(bare.folder / "kept.db", installed.folder)


def works(installed: Installed, site: str, extra: str) -> None:
    if extra == "serve":
        return serves(installed)
    done = installed(*with_site(extra, site))
    assert "pip install" not in done.stderr, done.stderr
    # Nobody listens where these look: that far they get.
    reached = {"postgres": 1, "cluster": 1, "s3": 1, "search": 1, "notify": 1, "render": None}
    if (code := reached.get(extra, 0)) is not None:
        assert done.returncode == code, done.stderr
    return None


def serves(installed: Installed) -> None:
    """Templates, tables and their migrations come with the wheel: the pages of the demo's calendar are shown."""
    with installed.start(*USES["serve"]) as service:
        assert service.stderr is not None
        address = next(filter(None, (re.search(r"Serving on (http://\S+)/", line) for line in service.stderr)))[1]
        with urlopen(f"{address}/") as page:
            assert "星まつり" in page.read().decode()
        service.send_signal(signal.SIGINT)
        service.communicate(timeout=60)
    assert service.returncode in (0, 130)


def with_site(extra: str, site: str) -> list[str]:
    return [site if word == SITE else word for word in USES[extra]]
