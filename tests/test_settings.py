"""What a configuration file that was only found may set, setting by setting, and what is shown of values that hold passwords."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tadoru.clock import SystemClock
from tadoru.config.options import JOB_SETTINGS, AuditOptions, EventsOptions, ServeOptions, WorkerOptions
from tadoru.config.resolve import DISCOVERED_FILES, describe_options, resolve_config
from tadoru.config.settings import SettingRole
from tadoru.errors import ConfigError, StoreError, UsageError, without_passwords
from tadoru.log import Log

CREDENTIALS = {
    "header",
    "host_header",
    "host_auth",
    "auth_username",
    "auth_password",
    "auth_token",
    "auth_header",
    "auth_value",
    "webhook_secret",
}
CREDENTIAL_NAMES = {"cookies", "llm_key", "search_key"}
DESTINATIONS = {"proxy", "insecure", "remap", "notify", "llm_url", "search_url"}
STARTS = {"seed_urls", "state"}
STORAGES = {"database", "files"}
PLAIN = {
    # What to crawl, and how much. Credentials are sent to the sites that were named, and to no other host that is read.
    "depth", "limit", "max_time", "scope", "include", "exclude", "strip_tracking", "strip_sessions", "trap_limit", "subdomains",
    "list", "follow_external_hosts", "pages_per_host", "hosts_per_domain", "queue_limit", "recrawl", "sitemap", "sitemap_url",
    "same_domain", "variants", "language", "allow_private", "exclude_file",
    # How to ask.
    "delay", "concurrency", "processes", "timeout", "max_response_size", "ignore_robots", "user_agent", "auth_type",
    "robots_agent", "robots_file", "log_file", "retries",
    # What to check, and what to keep of it on this machine.
    "check", "fragments", "accept", "ignore", "suppress", "fail_on", "format", "output", "include_external", "render",
    "check_external", "resources", "store_bodies", "extract", "threshold", "no_plugins", "baseline", "report", "lang",
    "own_markdown", "spa_wait", "render_wait", "wait_for", "headed", "keep_session", "diff", "pages", "merge", "chunks",
    "chunk_tokens", "local_links", "label", "links", "max_tokens", "tokenizer", "timezone",
    "cache", "cache_failures", "max_age", "write_suppressions", "extensionless", "kinds", "enable", "search_bots",
    # What is done at a destination, not where it is.
    "enrich", "category_model", "llm_model", "llm_category", "llm_budget", "llm_timeout", "search_engine", "search_index",
    "search_archived",
    # Who may ask the service, and how it answers.
    "host", "port", "workers", "base_url", "allow_host", "trusted_proxy", "shutdown_timeout", "rate_limit", "key_rate_limit",
    "cors", "crawls_at_once", "crawls_queued", "crawl_private", "crawl_quota", "embed", "audit_days", "site_name", "contact",
    "collector", "logo", "accent", "intro", "about",
    # What a worker takes.
    "hosts", "slice", "events", "name", "metrics",
}  # fmt: skip
CLASSES = {
    SettingRole.CREDENTIAL: CREDENTIALS, SettingRole.CREDENTIAL_NAME: CREDENTIAL_NAMES,
    SettingRole.DESTINATION: DESTINATIONS, SettingRole.START: STARTS, SettingRole.STORAGE: STORAGES, SettingRole.PLAIN: PLAIN,
}  # fmt: skip
SECRET = "s3cret/of#ours"
SERVER = f"postgresql://ann:{SECRET}@127.0.0.1:1/town"


def found(
    folder: Path, job: str, values: dict[str, Any], environment: dict[str, str], flags: dict[str, Any] | None = None
) -> None:
    """Resolve the options of a job in a folder with such a file."""
    (folder / DISCOVERED_FILES[0]).write_text(str({job: values}), "utf-8")
    resolve_config(job, flags or {}, environment, None, folder)


def test_every_setting_is_classified() -> None:
    """A new setting fails here until somebody decided whether it chooses a destination, or holds or names a secret."""
    classified = {name: role for role, names in CLASSES.items() for name in names}
    assert {setting.name: setting.role for job in JOB_SETTINGS.values() for setting in job} == classified


def test_what_is_hidden_is_a_credential_or_a_destination_that_holds_one() -> None:
    assert {setting.name for job in JOB_SETTINGS.values() for setting in job if setting.secret} < CREDENTIALS | DESTINATIONS


DESTINATIONS_SET = [
    (
        job,
        setting.name,
        True if setting.is_flag else "http://a.example=http://127.0.0.1:9" if setting.many else "http://127.0.0.1:9",
    )
    for job in JOB_SETTINGS
    for setting in JOB_SETTINGS[job]
    if setting.role is SettingRole.DESTINATION
]
CREDENTIALS_OF = {
    job: [setting.name for setting in JOB_SETTINGS[job] if setting.role in (SettingRole.CREDENTIAL, SettingRole.CREDENTIAL_NAME)]
    for job in JOB_SETTINGS
}


@pytest.mark.parametrize("job, name, value", DESTINATIONS_SET, ids=[f"{job} {name}" for job, name, _ in DESTINATIONS_SET])
def test_a_found_file_chooses_no_destination_while_a_credential_comes_from_elsewhere(
    job: str, name: str, value: Any, tmp_path: Path
) -> None:
    found(tmp_path, job, {name: value}, {})
    for credential in CREDENTIALS_OF[job]:
        for environment, flags in (({f"TADORU_{credential.upper()}": "a.example x"}, {}), ({}, {credential: "a.example x"})):
            with pytest.raises(ConfigError, match=f"tadoru.yml in this folder sets {name}, .* name the file with --config"):
                found(tmp_path, job, {name: value}, environment, flags)
        resolve_config(job, {}, {f"TADORU_{credential.upper()}": "a.example x"}, tmp_path / DISCOVERED_FILES[0], tmp_path)
        resolve_config(job, {name: value}, {f"TADORU_{credential.upper()}": "a.example x"}, None, tmp_path)


@pytest.mark.parametrize("name, values", [
    ("search_url", {"search_url": "http://127.0.0.1:9", "search_key": "AWS_SECRET_ACCESS_KEY"}),
    ("llm_url", {"llm_url": "http://127.0.0.1:9", "llm_key": "AWS_SECRET_ACCESS_KEY"}),
    ("proxy", {"proxy": "http://127.0.0.1:9", "search_key": "AWS_SECRET_ACCESS_KEY"}),
])  # fmt: skip
def test_a_found_file_may_not_name_both_a_variable_and_where_it_is_sent(
    name: str, values: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=f"sets {name}, but credentials come from outside this file"):
        found(tmp_path, "events", values, {"AWS_SECRET_ACCESS_KEY": "x"})


def test_a_found_file_may_not_name_a_cookie_file_and_the_proxy_it_is_sent_through(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="sets proxy"):
        found(tmp_path, "audit", {"cookies": "/home/ann/cookies.txt", "proxy": "http://127.0.0.1:9"}, {})


@pytest.mark.parametrize("job, name, server, path", [
    ("audit", "database", SERVER, "site.db"), ("events", "database", SERVER, "site.db"), ("serve", "database", SERVER, "site.db"),
    ("worker", "database", SERVER, "site.db"), ("events", "files", "s3://bucket/prefix", "snapshots"),
])  # fmt: skip
def test_a_found_file_may_name_a_file_to_keep_things_in_and_not_a_server(
    job: str, name: str, server: str, path: str, tmp_path: Path
) -> None:
    found(tmp_path, job, {name: path}, {})
    with pytest.raises(ConfigError, match=f"sets {name}, and that server would receive credentials of the environment") as raised:
        found(tmp_path, job, {name: server}, {})
    assert SECRET not in str(raised.value)
    assert resolve_config(job, {}, {}, tmp_path / DISCOVERED_FILES[0], tmp_path).values[name] == server


@pytest.mark.parametrize("kind, job", [
    (AuditOptions, "audit"), (EventsOptions, "events"), (ServeOptions, "serve"), (WorkerOptions, "worker"),
])  # fmt: skip
def test_no_password_of_a_url_is_shown_whatever_the_setting(kind: Any, job: str, tmp_path: Path) -> None:
    urls: dict[str, Any] = {
        setting.name: (SERVER, SERVER) if setting.many else SERVER for setting in JOB_SETTINGS[job] if "URL" in setting.metavar
    }
    settled = resolve_config(job, urls, {}, None, tmp_path)
    listing = describe_options(kind(**settled.values), settled, job)
    assert urls
    assert SECRET not in str(listing)
    assert listing["database"]["value"] == "postgresql://ann:***@127.0.0.1:1/town"


@pytest.mark.parametrize("words, hidden", [
    ("postgresql://ann:pass@db.example/town", "postgresql://ann:***@db.example/town"),
    ("postgresql://ann@db.example/town", "postgresql://ann@db.example/town"),
    ("postgres://ann:p/a#s@s@db.example/town", "postgres://ann:***@db.example/town"),
    ("postgresql+psycopg://a@b:p@ss@db.example/town", "postgresql+psycopg://a@b:***@db.example/town"),
    ("postgresql://db.example/town?password=pass&user=ann", "postgresql://db.example/town?password=***&user=ann"),
    ("http://ann:pass@127.0.0.1:8080 refused it", "http://ann:***@127.0.0.1:8080 refused it"),
    ("write it as postgresql://user:password@host/name", "write it as postgresql://user:password@host/name"),
    ("HTTPS://:pass@db.example", "HTTPS://:***@db.example"),
    ("https://social.example:443/@ann", "https://social.example:443/@ann"),
    ("ann@example.com wrote at 10:30", "ann@example.com wrote at 10:30"),
])  # fmt: skip
def test_passwords_are_hidden_and_the_rest_of_a_text_is_not(words: str, hidden: str) -> None:
    assert without_passwords(words) == hidden


def test_errors_and_log_lines_never_hold_the_password_of_a_url() -> None:
    assert str(StoreError(f"The database {SERVER} failed.")) == "The database postgresql://ann:***@127.0.0.1:1/town failed."
    assert SECRET not in str(UsageError(f"There is no crawl in {SERVER}: give another."))
    for form in ("text", "json"):
        out = StringIO()
        Log(out, SystemClock(), form=form).write("error", f"cannot open {SERVER}", database=SERVER)
        assert out.getvalue().count("ann:***@") == 2
        assert SECRET not in out.getvalue()
