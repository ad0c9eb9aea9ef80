"""What can be wrong with an audit: one sentence on stderr, the right exit code, nothing lost, and nothing asked for in vain."""

from __future__ import annotations

import resource
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tadoru.cli.main import run
from tadoru.store.crawl.sqlite.database import SCHEMA_VERSION
from tests.acceptance.command import CommandResult, Tadoru, finished
from tests.support.folders import folder_for_everybody
from tests.support.planted_crowd import crowd, everything
from tests.support.site import Site

START = "http://127.0.0.1:1/"
OPTIONS = ("-d", "crawl.db", "--delay", "0", "--processes", "1", "-q")
BAD_USAGE = {
    "no URL and no crawl": ([], "Start URL missing, and no crawl in crawl.db"),
    "a URL that is none": (["http://exa mple.com/"], "not a valid host name"),
    "an unknown gate": ([START, "--fail-on", "rain"], "rain"),
    "a gate without a number": ([START, "--fail-on", "error>"], "error>"),
    "a threshold without a number": ([START, "--threshold", "title-too-long"], "title-too-long=65"),
    "a threshold that is no number": ([START, "--threshold", "title-too-long=wide"], "title-too-long=65"),
    "a threshold of an unknown check": (
        [START, "--threshold", "title-too-lng=3"],
        "“title-too-lng” is not a check with a threshold",
    ),
    "an extraction without a name": ([START, "--extract", "css:h1"], "--extract"),
    "an extraction in an unknown way": ([START, "--extract", "price=sql:select"], "--extract"),
    "an extraction with a bad selector": ([START, "--extract", "price=css:[["], "--extract"),
    "an extraction with a bad expression": ([START, "--extract", "price=regex:("], "--extract"),
    "an extraction with a bad path": ([START, "--extract", "price=xpath://["], "--extract"),
    "a baseline that is not there": ([START, "--baseline", "none.db"], "none.db"),
    "suppressions that are not there": (
        [START, "--suppress", "none.txt"],
        "Cannot read none.txt (No such file",
    ),
    "a report of an unknown form": ([START, "--report", "report.pdf"], "report.pdf"),
    "a report without a folder": ([START, "--report", "none/report.html"], "folder none not found"),
    "a report that cannot be written": ([START, "--report", "/proc/report.html"], "cannot be written"),
    "a database without a folder": ([START, "-d", "none/crawl.db"], "folder none not found"),
    "a database that is a folder": ([START, "-d", "."], "is a folder"),
    "a database that cannot be written": ([START, "-d", "/proc/crawl.db"], "cannot be written"),
    "an empty name for a seed file": (["--seed-file", ""], "--seed-file needs a file name"),
    "seeds that are not there": (["--seed-file", "none.txt"], "Cannot read none.txt (No such file"),
    "a way to render that there is not": ([START, "--render", "sometimes"], "--render must be one of auto, always, never"),
    "a use of sitemaps that there is not": ([START, "--sitemap", "maybe"], "--sitemap must be one of auto, only, off"),
    "a language that there is not": ([START, "--lang", "fr"], "--lang must be one of en, ja"),
    "fewer resources than none": ([START, "--resources", "-1"], "--resources must be a whole number"),
    "more in flight than is good": ([START, "-c", "101"], "--concurrency must be a whole number from 1 to 100"),
    "half of the credentials": ([START, "--auth-type", "basic", "--auth-username", "ann"], "--auth-password"),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., CommandResult]:
    """The command within this process: what it refuses at once needs no other."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> CommandResult:
        code = run(list(arguments))
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        return CommandResult(code, out, err)

    return command


@pytest.mark.parametrize("arguments, words", BAD_USAGE.values(), ids=BAD_USAGE)
def test_bad_usage_is_one_sentence_and_exit_2(
    arguments: list[str], words: str, here: Callable[..., CommandResult], tmp_path: Path
) -> None:
    named = () if "-d" in arguments else ("-d", "crawl.db")
    done = here("audit", *arguments, *named)
    assert (done.code, done.out) == (2, ""), done.err
    assert words in done.sentence
    assert list(tmp_path.iterdir()) == []


def test_bad_usage_is_refused_by_the_command_as_well(tadoru: Tadoru) -> None:
    done = tadoru("audit", START, "--fail-on", "rain")
    assert (done.code, done.out) == (2, "")
    assert "rain" in done.sentence
    assert list(tadoru.folder.iterdir()) == []


@pytest.mark.parametrize("text, words", [
    ("title-missing *\n", "reason"),
    ("title-missing\n", "no URL after title-missing"),
    ("# known\nTitle missing # yes\n", "line 2"),
], ids=["without a reason", "without a URL", "no check"])  # fmt: skip
def test_a_bad_suppression_is_told_with_its_line(
    text: str, words: str, here: Callable[..., CommandResult], tmp_path: Path
) -> None:
    (tmp_path / "known.txt").write_text(text)
    done = here("audit", START, "-d", "crawl.db", "--suppress", "known.txt")
    assert (done.code, done.out) == (2, "")
    assert "known.txt, line" in done.sentence
    assert words in done.sentence


def test_a_report_in_the_place_of_a_folder_is_exit_2(here: Callable[..., CommandResult], tmp_path: Path) -> None:
    (tmp_path / "reports.html").mkdir()
    done = here("audit", START, "-d", "crawl.db", "--report", "reports.html")
    assert (done.code, done.out) == (2, "")
    assert "--report reports.html is a folder" in done.sentence


# -- the start ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url, words", [
    (START, f"Cannot reach {START} (connection refused)."),
    ("http://no-such-host.invalid/", "Cannot reach http://no-such-host.invalid/ (dns failure)."),
], ids=["down", "unresolvable"])  # fmt: skip
def test_a_start_that_cannot_be_reached_is_exit_1(url: str, words: str, tadoru: Tadoru) -> None:
    done = tadoru("audit", url, *OPTIONS)
    assert (done.code, done.out, done.sentence) == (1, "", words)


@pytest.mark.parametrize("named", [True, False], ids=["with its URL", "without"])
def test_a_start_that_was_down_is_crawled_by_the_same_command_when_it_is_up(named: bool, tadoru: Tadoru) -> None:
    with Site() as site:
        url, port = site.url("/"), site.port
    assert tadoru("audit", url, *OPTIONS).code == 1
    with Site(port=port) as site:
        site.page("/", links=["/a"])
        site.page("/a")
        done = tadoru("audit", *([url] if named else []), *OPTIONS)
    assert done.code == 0, done.err
    assert pages(tadoru) == {"/": "completed", "/a": "completed"}
    with closing(sqlite3.connect(tadoru.folder / "crawl.db")) as sql:
        assert sql.execute("SELECT count(*) FROM findings WHERE check_id = 'response-missing'").fetchone() == (0,)


def pages(tadoru: Tadoru) -> dict[str, str]:
    with closing(sqlite3.connect(tadoru.folder / "crawl.db")) as sql:
        rows = sql.execute("SELECT url, status FROM pages").fetchall()
    return {f"/{url.split('/', 3)[3]}": status for url, status in rows}


def test_a_start_that_robots_forbid_is_exit_4_with_the_line(tadoru: Tadoru, site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /private\n")
    done = tadoru("audit", site.url("/private"), *OPTIONS)
    assert (done.code, done.out) == (4, "")
    assert "robots.txt line 2: Disallow: /private" in done.sentence
    assert site.paths == ["/robots.txt"]


def test_a_start_that_is_excluded_is_exit_4_and_not_even_robots_txt_is_asked_for(tadoru: Tadoru, site: Site) -> None:
    done = tadoru("audit", site.url("/a"), *OPTIONS, "--exclude", "/a")
    assert (done.code, done.out, site.paths) == (4, "", [])
    assert "excluded by pattern /a" in done.sentence


def test_a_start_that_redirects_to_another_host_makes_that_the_site(tadoru: Tadoru, site: Site) -> None:
    with Site(host="127.0.0.2") as moved:
        site.redirect("/", moved.url("/"))
        moved.page("/", links=["/a"])
        done = tadoru("audit", site.url("/"), *OPTIONS, "--allow-private")
        assert done.code == 0, done.err
        assert moved.hits("/a") == 1


def test_a_start_that_redirects_to_a_private_address_is_told(tadoru: Tadoru, site: Site) -> None:
    with Site(host="127.0.0.2") as moved:
        site.redirect("/", moved.url("/"))
        done = tadoru("audit", site.url("/"), *OPTIONS)
        assert moved.requests == []
        assert (done.code, done.out) == (1, "")
        assert done.sentence == f"Cannot reach {moved.url('/')} (blocked address)."


# -- the database -------------------------------------------------------------------------------------------------------


def crawled(tadoru: Tadoru, site: Site, size: int = 60) -> Path:
    crowd(site, size)
    assert tadoru("audit", site.url("/"), *OPTIONS).code == 0
    return tadoru.folder / "crawl.db"


@pytest.mark.parametrize("command", [("audit", "-d", "crawl.db", "-q"), ("report", "crawl.db")], ids=["audit", "report"])
def test_a_damaged_database_is_exit_1(command: tuple[str, ...], tadoru: Tadoru, site: Site) -> None:
    path = crawled(tadoru, site)
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    done = tadoru(*command)
    assert (done.code, done.out) == (1, "")
    assert "crawl.db is damaged" in done.sentence


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE things(name)")


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE pages(url)")
        other.execute(f"PRAGMA application_id = {0x7AD0_0001}")
        other.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")


def calendar(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE events(id)")
        other.execute(f"PRAGMA application_id = {0x7AD0_0002}")


STRANGERS = {
    "a calendar": (calendar, "crawl.db is a Tadoru calendar (`tadoru events`), not a Tadoru crawl."),
    "a database of another program": (foreign, "is a SQLite database, but not a Tadoru crawl"),
    "a text": (lambda path: path.write_text("dear diary " * 500), "is not a SQLite database"),
    "a database of a newer Tadoru": (newer, f"was written by a newer Tadoru (format {SCHEMA_VERSION + 1}). Upgrade Tadoru"),
}


@pytest.mark.parametrize("make, words", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.parametrize("url", [[START], []], ids=["with a URL", "without"])
def test_what_is_not_ours_is_refused_and_left_as_it_is(make: object, words: str, url: list[str], tadoru: Tadoru) -> None:
    path = tadoru.folder / "crawl.db"
    assert callable(make)
    make(path)
    before = path.read_bytes()
    done = tadoru("audit", *url, *OPTIONS)
    assert (done.code, done.out) == (1, "")
    assert words in done.sentence
    assert path.read_bytes() == before
    assert [one.name for one in tadoru.folder.iterdir()] == ["crawl.db"]


@pytest.mark.parametrize("named", [True, False], ids=["with a URL", "without"])
def test_the_crawl_of_another_job_is_refused(named: bool, tadoru: Tadoru, site: Site) -> None:
    site.page("/", links=["/a"])
    tadoru.map(site.url(), "--state", "crawl.db", "--limit", "1")
    requests = len(site.requests)
    done = tadoru("audit", *([site.url()] if named else []), *OPTIONS)
    assert (done.code, done.out, len(site.requests)) == (2, "", requests)
    assert "crawl.db contains a crawl of `tadoru links`. Choose another --database" in done.sentence
    assert tadoru("links", "--state", "crawl.db", "--limit", "0", "--delay", "0", "-f", "json").result["total_processed"] == 2


def test_the_audit_is_no_state_for_links(tadoru: Tadoru, site: Site) -> None:
    crawled(tadoru, site, 20)
    done = tadoru("links", "--state", "crawl.db", "--delay", "0", "-f", "json")
    assert (done.code, done.out) == (2, "")
    assert "audit" in done.sentence


@pytest.mark.parametrize("kilobytes", [64, 400], ids=["for nothing", "for a part of it"])
def test_a_full_disk_is_exit_1_and_the_same_command_goes_on(kilobytes: int, tadoru: Tadoru, site: Site, tmp_path: Path) -> None:
    """Files may not grow beyond so much: to SQLite that is a disk without room."""
    crowd(site, 150)

    def little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes * 1024, kilobytes * 1024))

    full = finished(tadoru.start("audit", site.url("/"), *OPTIONS, preexec_fn=little_room))
    assert (full.code, full.out) == (1, "")
    assert "Cannot write to the database crawl.db" in full.sentence
    assert "Free some disk space and rerun the command" in full.sentence
    done = tadoru("audit", site.url("/"), *OPTIONS)
    assert done.code == 0, done.err
    assert tadoru("audit", site.url("/"), "-d", "quiet.db", *OPTIONS[2:]).code == 0
    assert everything(tmp_path / "crawl.db") == everything(tmp_path / "quiet.db")


def test_a_database_that_another_program_holds_is_named_after_a_few_seconds(tadoru: Tadoru, site: Site) -> None:
    crawled(tadoru, site, 20)
    held = []
    for name in ("crawl.db", "new.db"):
        held.append(sqlite3.connect(tadoru.folder / name, isolation_level=None))
        held[-1].execute("BEGIN EXCLUSIVE")
    requests = len(site.requests)
    both = [tadoru.start("audit", site.url("/"), "-d", name, "-q") for name in ("crawl.db", "new.db")]
    for name, done in zip(("crawl.db", "new.db"), map(finished, both), strict=True):
        assert (done.code, done.out) == (1, "")
        assert done.sentence == f"The database {name} is locked by another process. Close that process and rerun the command."
    assert len(site.requests) == requests
    for other in held:
        other.close()
    assert tadoru("audit", site.url("/"), *OPTIONS).code == 0


@pytest.fixture
def open_folder() -> Iterator[Path]:
    with folder_for_everybody() as folder:
        yield folder


def test_a_folder_that_can_not_be_written_is_exit_2(open_folder: Path) -> None:
    """Root may write everywhere, and then becomes somebody who owns nothing here; but only once the program is loaded."""
    open_folder.chmod(0o555)
    program = (
        "import os, sys; import tadoru.cli.main as main, tadoru.cli.audit, tadoru.jobs.audit.criteria;"
        "os.geteuid() or os.setuid(65534); sys.exit(main.run(sys.argv[1:]))"
    )
    done = Tadoru(open_folder).python(program, "audit", START, "-d", "crawl.db")
    assert (done.code, done.out) == (2, "")
    assert "--database crawl.db cannot be written. Check its permissions" in done.sentence
    assert list(open_folder.iterdir()) == []


# -- the report ---------------------------------------------------------------------------------------------------------


def test_a_report_that_can_not_be_written_to_its_end_is_exit_1_and_the_crawl_is_kept(tadoru: Tadoru, site: Site) -> None:
    site.page("/")
    (tadoru.folder / "report.json").symlink_to("/dev/full")
    done = tadoru("audit", site.url("/"), *OPTIONS, "--report", "report.json")
    assert (done.code, done.out) == (1, "")
    assert "No space left on device" in done.sentence
    assert pages(tadoru) == {"/": "completed"}
    again = tadoru("audit", *OPTIONS, "--report", "other.json")
    assert again.code == 0, again.err
    assert site.hits("/") == 1
