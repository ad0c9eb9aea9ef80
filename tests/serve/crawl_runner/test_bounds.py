"""What a crawl of the service cannot reach, and what nobody may ask for: private addresses by start, redirect, sitemap and link;
files, proxies, credentials; more than there is room for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.config.options import JOB_SETTINGS as SETTINGS
from tadoru.errors import UsageError
from tadoru.i18n.translation import translator
from tadoru.rules.address import Exemptions
from tadoru.serve.crawl_runner import control
from tadoru.serve.crawl_runner.crawl_options import CRAWL_OPTIONS, JOBS, reject_private_url, validate_options, validate_start_urls
from tadoru.serve.crawl_runner.dispatcher import quota_error
from tadoru.serve.problems import HttpProblem
from tadoru.serve.roles import Role
from tadoru.store.served_crawls.schema import CrawlState
from tests.serve.crawl_runner.runner import BY, RunnerHarness
from tests.support.site import Site

PRIVATE = [
    "http://127.0.0.1:8000/", "http://2130706433/", "http://0x7f.1/", "http://[::1]/", "http://[::ffff:127.0.0.1]/",
    "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "localhost:8000", "http://a.localhost/", "http://0/",
]  # fmt: skip


@pytest.fixture
def other() -> Iterator[Site]:
    """Another service of this machine, which nobody allowed."""
    with Site() as site:
        site.page("/secret", body="<p>secret</p>")
        yield site


@pytest.mark.parametrize("start", PRIVATE)
@pytest.mark.parametrize("job", JOBS)
def test_a_private_start_is_refused_when_it_is_given(strict: RunnerHarness, job: str, start: str) -> None:
    with pytest.raises(HttpProblem) as refused:
        control.add(strict.service, BY, name="x", job=job, starts=[start], options={})
    assert refused.value.status_code == 422
    assert "--crawl-private" in refused.value.detail
    assert strict.store.crawls.list() == ()


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_private_start_is_refused_again_when_it_is_connected_to(
    strict: RunnerHarness, other: Site, job: str, host: str
) -> None:
    number = strict.add(job, f"http://{host}:{other.port}/").id
    run = strict.run_here(number)
    crawl = strict.store.crawls.get(number)
    assert (crawl.state, run.outcome) == (CrawlState.FAILED, "failed")
    assert "is a loopback address" in crawl.error
    assert other.requests == []
    assert other.connections == 0


@pytest.mark.parametrize("job", JOBS)
def test_nothing_on_an_allowed_site_leads_to_what_is_not_allowed(
    runner: RunnerHarness, site: Site, other: Site, job: str
) -> None:
    secret = other.url("/secret")
    site.robots(f"User-agent: *\nSitemap: {site.url('/sitemap.xml')}\nSitemap: {other.url('/sitemap.xml')}\n")
    site.sitemap("/sitemap.xml", [secret, "/page"])
    site.page("/", links=["/page", "/moved", secret], body=f'<img src="{secret}"><p>Words.</p>')
    site.page("/page", body="<p>Words.</p>")
    site.redirect("/moved", secret)
    options: dict[str, Any] = {"audit": {"check_external": True, "sitemap_url": [other.url("/x.xml")]}, "links": {"check": True}}
    number = runner.add(job, site.url("/"), **options.get(job, {})).id
    runner.run_here(number)
    assert runner.state(number) is CrawlState.FINISHED
    assert site.hits("/moved") == 1
    assert (other.requests, other.connections) == ([], 0)


def test_a_start_that_redirects_to_what_is_not_allowed_leads_nowhere(runner: RunnerHarness, site: Site, other: Site) -> None:
    site.redirect("/", other.url("/secret"))
    number = runner.add("audit", site.url("/")).id
    runner.run_here(number)
    assert runner.state(number) is CrawlState.FAILED
    assert "loopback" in runner.store.crawls.get(number).error
    assert other.connections == 0


def test_only_the_very_host_and_port_that_an_operator_names_is_let_through() -> None:
    exempt = Exemptions.from_list(["127.0.0.1:8080"])
    reject_private_url("http://127.0.0.1:8080/x", exempt)
    for url in ("http://127.0.0.1/", "http://127.0.0.1:8081/", "http://127.0.0.2:8080/", "http://localhost:8080/"):
        with pytest.raises(UsageError):
            reject_private_url(url, exempt)
    reject_private_url("http://10.1.2.3:99/", Exemptions.from_list(["*"]))
    for url in ("https://example.com/", "http://feed.de/", "http://8.8.8.8/", "http://cafe.example:8080/"):
        reject_private_url(url, Exemptions())


@pytest.mark.parametrize("job", JOBS)
def test_what_is_for_those_at_the_machine_can_not_be_asked_for(job: str) -> None:
    names = {choice.name for choice in CRAWL_OPTIONS[job]}
    for name in (
        "header", "cookies", "auth_type", "auth_username", "auth_password", "auth_token", "auth_header", "auth_value", "proxy",
        "insecure", "allow_private", "follow_external_hosts", "same_domain", "database", "output", "state", "report", "suppress",
        "baseline", "seed_urls", "user_agent", "processes", "max_response_size", "extract", "headed", "keep_session",
    ):  # fmt: skip
        assert name not in names
        with pytest.raises(UsageError, match=f"has no option “{name}”"):
            validate_options(job, {name: "x"})


@pytest.mark.parametrize("job", JOBS)
def test_every_choice_is_an_option_of_its_job_and_its_default_is_allowed(job: str) -> None:
    known = {setting.name for setting in SETTINGS[job]}
    for choice in CRAWL_OPTIONS[job]:
        assert choice.name in known
        assert choice.description
        assert translator("ja").gettext(choice.description) != choice.description
        if choice.default is not None:
            assert validate_options(job, {choice.name: choice.default})[choice.name] == choice.default


@pytest.mark.parametrize(
    "job, given, words",
    [
        ("audit", {"delay": 0}, "delay must be from 0.1"), ("audit", {"delay": "1ms"}, "delay must be from 0.1"),
        ("audit", {"concurrency": 21}, "concurrency must be from 1 to 20"), ("links", {"limit": 0}, "limit must be from 1"),
        ("docs", {"limit": 1_000_001}, "limit must be from 1"), ("audit", {"depth": 101}, "depth must be from 0 to 100"),
        ("audit", {"max_time": "8760h"}, "max_time must be from"), ("audit", {"include": ["("]}, "include must be a regular"),
        ("audit", {"include": ["x"] * 21}, "include must have at most 20"), ("audit", {"include": {"a": 1}}, "must be a list"),
        ("audit", {"include": [["x"]]}, "must be a list of strings"), ("audit", {"limit": [1]}, "limit must be a single value"),
        ("audit", {"scope": "all"}, "scope must be one of"), ("audit", {"sitemap_url": ["ftp://x/"]}, "must be sitemap URLs"),
        ("links", {"accept": "many"}, "accept must be status codes"), ("links", {"ignore_robots": True}, "Only an administrator"),
        ("docs", {"variants": ["nothing"]}, "variants must be one of"), ("docs", {"language": "x" * 301}, "at most 300"),
        ("events", {}, "Unknown job “events”"),
    ],
)  # fmt: skip
def test_what_can_not_be_used_is_said(job: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        validate_options(job, given)


def test_what_is_chosen_is_kept_in_one_spelling() -> None:
    assert validate_options("docs", {"depth": "3", "language": None}) == {
        "depth": 3,
        "limit": 10_000,
        "max_time": 86400.0,
        "sitemap": "off",
    }
    assert validate_options("audit", {"delay": "500ms", "limit": "7", "fragments": "on", "ignore_robots": False}) == {
        "delay": 0.5, "limit": 7, "fragments": True, "ignore_robots": False, "max_time": 86400.0,
    }  # fmt: skip
    assert validate_options("links", {"ignore_robots": True}, admin=True)["ignore_robots"] is True


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(job=st.sampled_from(JOBS), data=st.data())
def test_whatever_is_sent_is_settled_or_refused_in_a_sentence(job: str, data: st.DataObject) -> None:
    names = st.sampled_from([choice.name for choice in CRAWL_OPTIONS[job]]) | st.text(max_size=10)
    given_values = data.draw(st.dictionaries(names, JSON, max_size=4))
    try:
        found = validate_options(job, given_values)
    except UsageError as error:
        refused = str(error)
    else:
        refused = "."
        assert validate_options(job, found) == found, "what was settled stays as it is"
    assert refused.endswith(".")


def test_starts_are_counted_and_written_in_one_way(strict: RunnerHarness) -> None:
    service = strict.service
    assert validate_start_urls(service, "audit", ["example.com", "https://example.com/"]) == ("https://example.com/",)
    many = [f"https://example.com/{number}" for number in range(21)]
    with pytest.raises(UsageError, match=r"The maximum is 20\. Use list mode"):
        validate_start_urls(service, "audit", many)
    assert len(validate_start_urls(service, "audit", many, listed=True)) == 21
    for job, starts, words in (
        ("links", many[:2], "The maximum is 1"), ("docs", many[:2], "The maximum is 1"), ("audit", [], "Enter a start URL"),
        ("audit", ["https://u:p@example.com/"], "must not contain a user name"), ("audit", ["file:///etc/passwd"], "cannot be"),
        ("audit", ["https://example.com/" + "x" * 2000], "at most 2,000"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=words):
            validate_start_urls(service, job, starts)


def test_only_an_admin_leaves_robots_alone(strict: RunnerHarness) -> None:
    asked: dict[str, Any] = {"name": "x", "job": "audit", "starts": ["https://example.com/"], "options": {"ignore_robots": True}}
    with pytest.raises(HttpProblem, match="Only an administrator"):
        control.add(strict.service, BY, **asked)
    assert control.add(strict.service, BY, **asked, role=Role.ADMIN).options["ignore_robots"] is True


@pytest.mark.parametrize("every", [0, -1, 899, 400 * 24 * 3600])
def test_a_rhythm_has_its_bounds(strict: RunnerHarness, every: int) -> None:
    with pytest.raises(HttpProblem, match="from 900 seconds"):
        control.add(strict.service, BY, name="x", job="audit", starts=["https://example.com/"], options={}, every=every)


def test_what_is_not_there_or_does_not_run_is_said(strict: RunnerHarness) -> None:
    for call in (control.run, control.pause, control.stop, control.remove, control.change):
        with pytest.raises(HttpProblem) as refused:
            call(strict.service, BY, 7)
        assert refused.value.status_code == 404
    number = control.add(strict.service, BY, name="  A\tname ", job="audit", starts=["https://example.com/"], options={}).id
    assert strict.store.crawls.get(number).name == "A name"
    with pytest.raises(HttpProblem) as refused:
        control.run(strict.service, BY, number)
    assert refused.value.status_code == 409
    for name in ("", "x" * 201, "a\x00b"):
        with pytest.raises(HttpProblem, match="The name must have 1 to 200"):
            control.change(strict.service, BY, number, name=name)


# ---- room on the disk -----------------------------------------------------------------------------------------------


def test_without_room_nothing_is_begun_and_what_runs_is_paused(tmp_path: Path, site: Site) -> None:
    runner = RunnerHarness(tmp_path, site, crawl_quota=1000)
    try:
        waiting = runner.add("audit", site.url("/")).id
        folder = Path(runner.database).parent / "docs" / "9"
        folder.mkdir(parents=True)
        (folder / "a").write_bytes(b"x" * 900)
        (folder / "elsewhere").symlink_to("/usr")
        assert quota_error(runner.service) is None, "what a link leads to is not counted"
        (folder / "b").write_bytes(b"x" * 999)
        with pytest.raises(HttpProblem, match="Remove crawls that you no longer need") as refused:
            control.add(runner.service, BY, name="x", job="audit", starts=[site.base], options={})
        assert refused.value.status_code == 409
        with pytest.raises(HttpProblem, match="raise --crawl-quota"):
            control.run(runner.service, BY, waiting)
        runner.dispatch()
        held = runner.wait(waiting, CrawlState.PAUSED)
        assert (held.state, site.requests) == (CrawlState.PAUSED, [])
        assert "Crawl files use" in held.error
    finally:
        runner.close()


def test_removing_a_crawl_never_leaves_our_folder(runner: RunnerHarness, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    linked = runner.add("audit", "https://example.com/").id
    root = Path(runner.database).parent / "crawls"
    root.mkdir()
    (root / str(linked)).symlink_to(precious)
    inside = runner.add("docs", "https://example.com/").id
    folder = Path(runner.database).parent / "docs" / str(inside)
    folder.mkdir(parents=True)
    (folder / "link").symlink_to(precious)
    os.link(precious / "file", folder / "hard")
    named = runner.store.crawls.add("x", "audit", ["https://example.com/"], {}, BY, place=str(precious / "crawl.db")).id
    (precious / "crawl.db").write_text("x")
    for number in (linked, inside, named):
        control.remove(runner.service, BY, number)
    assert sorted(one.name for one in precious.iterdir()) == ["crawl.db", "file"]
    assert not folder.exists()
    assert not (root / str(linked)).is_symlink()
