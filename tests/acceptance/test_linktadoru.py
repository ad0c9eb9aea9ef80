"""What LinkTadoru's users have: its configuration, its variables, its command lines and its queries work with `tadoru audit`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tadoru.cli.main import run
from tests.acceptance.commands import parsed
from tests.support.site import Site

Shown = Callable[..., dict[str, Any]]

EXAMPLE = """
concurrency: 2
request_delay: 0.1
request_timeout: 30.0
user_agent: "Example/1.0"
{robots}: false
follow_external_hosts: false
limit: 0
max_depth: 0
max_response_size: 10485760
database_path: "./example.db"
include_patterns: []
exclude_patterns:
  - "\\\\.pdf$"
  - "/admin/.*"
allowed_schemes: ["https://", "http://"]
auth:
  type: "{type}"
  basic:
    username: "ann"
    password: "word"
  bearer:
    token: "token"
  apikey:
    header: "X-API-Key"
    value: "key"
headers:
  - "Accept: text/html,*/*;q=0.8"
  - "Accept-Language: en-us,en;q=0.5"
log_level: info
log_console: true
log_file: ""
log_max_size: 100
log_max_backups: 5
"""


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shown:
    """The resolved options that are not at their default."""
    monkeypatch.chdir(tmp_path)

    def config(*arguments: str, job: str = "audit", **variables: str) -> dict[str, Any]:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        assert run([job, "--show-config", *arguments]) == 0, capfd.readouterr().err
        listing = json.loads(capfd.readouterr().out)[job]
        return {name: entry["value"] for name, entry in listing.items() if entry["source"] != "default"}

    return config


SHARED = {
    "concurrency": 2, "delay": 0.1, "timeout": 30.0, "user_agent": "Example/1.0", "ignore_robots": False,
    "follow_external_hosts": False, "limit": 0, "depth": None, "max_response_size": 10485760, "database": "./example.db",
    "include": [], "exclude": ["\\.pdf$", "/admin/.*"], "header": "***",
}  # fmt: skip
CHOSEN = {
    "": {},
    "basic": {"auth_type": "basic", "auth_username": "ann", "auth_password": "***"},
    "bearer": {"auth_type": "bearer", "auth_token": "***"},
    "api-key": {"auth_type": "api-key", "auth_header": "X-API-Key", "auth_value": "***"},
}


@pytest.mark.parametrize("name", ["linktadoru.yml", "linktadoru.yaml", "config.yaml"])
@pytest.mark.parametrize("robots", ["ignore_robots", "ignore_robots_txt"])
@pytest.mark.parametrize("kind", CHOSEN)
def test_its_example_is_read_as_it_is_and_only_the_chosen_section_counts(
    kind: str, robots: str, name: str, shown: Shown, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(EXAMPLE.format(type=kind, robots=robots), encoding="utf-8")
    assert shown() == SHARED | CHOSEN[kind]


def test_a_section_reads_the_variables_it_names_when_it_is_chosen(shown: Shown, tmp_path: Path) -> None:
    sections = {
        "basic": {"username_env": "WHO", "password_env": "WORD"},
        "bearer": {"token_env": "NOT_SET"},
        "apikey": {"header": "X-Key", "header_env": "NOT_SET", "value_env": "NOT_SET"},
    }
    (tmp_path / "linktadoru.yml").write_text(json.dumps({"auth": {"type": "basic", **sections}}), encoding="utf-8")
    found = shown(WHO="ann", WORD="s3cret")
    assert found == {"auth_type": "basic", "auth_username": "ann", "auth_password": "***"}


@pytest.mark.parametrize("variable", ["LT_AUTH_TYPE", "TADORU_AUTH_TYPE", ""])
def test_the_type_may_come_from_a_stronger_source(variable: str, shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "linktadoru.yml").write_text(EXAMPLE.format(type="basic", robots="ignore_robots"), encoding="utf-8")
    found = shown(**{variable: "bearer"}) if variable else shown("--auth-type", "bearer")
    assert found == SHARED | CHOSEN["bearer"]


@pytest.mark.parametrize("schemes, excluded", [('["https://"]', ["^http://"]), ('["http://"]', ["^https://"]), ("[]", None)])
def test_other_schemes_are_excluded(schemes: str, excluded: list[str] | None, shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "linktadoru.yml").write_text(f"allowed_schemes: {schemes}\nexclude_patterns: [/x]\n", encoding="utf-8")
    assert shown()["exclude"] == ["/x", *(excluded or [])]


@pytest.mark.parametrize("text", ["image: nginx\n", "concurrency: 3\nreplicas: 2\n", "- a\n", "a: [\n", ""])
def test_a_config_yaml_of_another_program_is_left_alone(text: str, shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    assert shown() == {}


@pytest.mark.parametrize("job", ["links", "docs"])
def test_another_job_takes_what_it_has(job: str, shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "linktadoru.yml").write_text(EXAMPLE.format(type="", robots="ignore_robots"), encoding="utf-8")
    assert {"concurrency", "delay", "depth", "exclude"} <= set(shown("https://example.com/", job=job))


def test_its_variables_are_understood(shown: Shown) -> None:
    found = shown(
        LT_CONCURRENCY="2", LT_REQUEST_DELAY="0.1", LT_REQUEST_TIMEOUT="30s", LT_IGNORE_ROBOTS="true", LT_LIMIT="1000",
        LT_MAX_DEPTH="0", LT_AUTH_TYPE="basic", LT_AUTH_BASIC_USERNAME="ann", LT_AUTH_BASIC_PASSWORD="word",
        LT_HEADER_ACCEPT="text/html", LT_HEADER_X_CUSTOM="1",
    )  # fmt: skip
    assert found == {
        "concurrency": 2, "delay": 0.1, "timeout": 30.0, "ignore_robots": True, "limit": 1000, "depth": None,
        "auth_type": "basic", "auth_username": "ann", "auth_password": "***", "header": "***",
    }  # fmt: skip


COMMANDS = [
    "https://example.com",
    "https://example.com https://blog.example.com",
    "--limit 5000 --concurrency 5 --delay 2s https://example.com",
    "--config mysite.yaml https://example.com",
    "--limit 100 --include-patterns '^https?://[^/]*(one|two)\\.example/.*' https://one.example https://two.example",
    "--database mycrawl.db --limit 1000 https://example.com",
    "--database mycrawl.db",
    "--ignore-robots --concurrency 20 --delay 500ms https://example.com",
    "--ignore-robots-txt https://example.com",
    "--exclude-patterns '\\.pdf$' --exclude-patterns '/search\\?' https://example.com",
    "--concurrency 20 --delay 500ms --max-pages 50000 https://example.com",
    "--max-depth 2 --max-response-size 1048576 --follow-external-hosts https://example.com",
    "--auth-type basic --auth-username ann --auth-password word https://example.com",
    "--auth-type bearer --auth-token token https://example.com",
    "--auth-type api-key --auth-header X-API-Key --auth-value key https://example.com",
    "-H 'Accept: application/json' -H 'X-Custom: Value' https://example.com",
    "-l 10 -c 2 -r 0.5 -t 30s -u MyBot/1.0 -d crawl.db https://example.com",
    "--seed-file seeds.txt",
    "--show-config",
]


@pytest.mark.parametrize("line", COMMANDS)
def test_its_command_lines_are_those_of_an_audit(line: str) -> None:
    assert parsed(f"tadoru audit {line}").name == "audit"


QUERIES = {
    "SELECT url, ttfb_ms, download_time_ms FROM pages WHERE status = 'completed' ORDER BY ttfb_ms DESC LIMIT 10": 2,
    "SELECT link_type, COUNT(*) AS count FROM links GROUP BY link_type": 2,
    "SELECT url, last_error_message FROM pages WHERE status = 'error'": 1,
    "SELECT * FROM pages WHERE status='completed'": 2,
    "SELECT * FROM links": 3,
    "SELECT status, COUNT(*) FROM pages GROUP BY status": 3,
    "SELECT url, error_message FROM crawl_errors ORDER BY occurred_at DESC LIMIT 5": 1,
    "SELECT url, title, content_hash, content_type, server FROM completed_pages": 2,
    "SELECT status, count, oldest_item, newest_item FROM queue_status": 3,
    "SELECT source_url, target_url, anchor_text, rel_attribute, crawled_at FROM links WHERE link_type = 'external'": 1,
    "SELECT key, value FROM crawl_meta WHERE key = 'starts'": 1,
}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site crawled by its configuration: pages that work, one that redirects to itself, and an external link."""
    folder = tmp_path_factory.mktemp("linktadoru")
    with Site() as site, pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        site.page("/", links=["/a", "/loop", "https://elsewhere.invalid/"])
        site.page("/a")
        site.redirect("/loop", "/loop")
        text = f"seed_urls: ['{site.url('/')}']\nrequest_delay: 0\nmax_depth: 0\nlog_file: crawl.log\ndatabase_path: crawl.db\n"
        (folder / "linktadoru.yml").write_text(text, encoding="utf-8")
        assert run(["audit", "-q", "--processes", "1", "--sitemap", "off"]) == 0
    return folder


@pytest.mark.parametrize("query", QUERIES)
def test_its_queries_have_their_rows(query: str, crawled: Path) -> None:
    with closing(sqlite3.connect(crawled / "crawl.db")) as sql:
        assert len(sql.execute(query).fetchall()) == QUERIES[query]


def test_its_log_file_is_written(crawled: Path) -> None:
    lines = [json.loads(line) for line in (crawled / "crawl.log").read_text(encoding="utf-8").splitlines()]
    assert [line["status"] for line in lines if line["event"].endswith("/a")] == [200]
    assert all(line["time"] for line in lines)
