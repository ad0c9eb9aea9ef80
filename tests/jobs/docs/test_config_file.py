"""The configuration of other documentation crawlers, durations that look like milliseconds, and the notice about depth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tadoru.config.parsers import parse_delay, parse_timeout
from tadoru.config.resolve import ResolvedConfig, find_start_url, resolve_config
from tadoru.errors import ConfigError, UsageError
from tests.acceptance.command import Tadoru
from tests.support.handbook import Handbook, crawl, read
from tests.support.site import Site


def resolved(folder: Path, data: dict[str, Any], job: str = "docs") -> ResolvedConfig:
    (folder / "crawl.config.json").write_text(json.dumps(data, indent="\t"))
    return resolve_config(job, {}, {}, None, folder)


def test_the_file_of_another_crawler_is_found_with_its_keys_and_milliseconds(tmp_path: Path) -> None:
    data = {
        "url": "https://docs.example",
        "maxDepth": 4,
        "maxPages": 50,
        "outputDir": "docs",
        "spaWait": 1500,
        "timeout": 30000,
        "delay": 250,
        "sameDomain": True,
        "respectRobots": True,
        "chunkTokens": 800,
        "exclude": ["/blog"],
    }
    values = resolved(tmp_path, data).values

    assert {name: values[name] for name in ("depth", "limit", "output", "spa_wait", "timeout", "delay", "chunk_tokens")} == {
        "depth": 4,
        "limit": 50,
        "output": "docs",
        "spa_wait": 1.5,
        "timeout": 30.0,
        "delay": 0.25,
        "chunk_tokens": 800,
    }
    assert values["ignore_robots"] is False
    assert values["exclude"] == ("/blog",)


def test_it_names_the_start_url(site: Site, book: Handbook, tmp_path: Path) -> None:
    book.page("/", "Start")
    config = {"startUrl": site.url("/"), "maxDepth": 1, "delay": 0, "allowPrivate": True, "outputDir": "out"}
    (tmp_path / "crawl.config.json").write_text(json.dumps(config))

    done = Tadoru(tmp_path)("docs")

    assert done.code == 0, done.err
    assert (tmp_path / "out" / "index.json").is_file()


def test_a_start_url_that_is_only_found_does_not_get_credentials_of_the_environment(tmp_path: Path) -> None:
    (tmp_path / "crawl.config.json").write_text(json.dumps({"url": "https://docs.example"}))

    done = Tadoru(tmp_path)("docs", env={"TADORU_AUTH_TOKEN": "secret"})

    assert done.code == 2
    assert "crawl.config.json in this folder sets url" in done.sentence


def test_an_empty_start_url_is_not_replaced_by_one_that_is_only_found(tmp_path: Path) -> None:
    (tmp_path / "crawl.config.json").write_text(json.dumps({"url": "https://docs.example"}))

    done = Tadoru(tmp_path)("docs", "", env={"TADORU_AUTH_TOKEN": "secret"})

    assert done.code == 2
    assert "docs.example" not in done.err


def test_a_start_url_may_stand_beside_an_empty_key(tmp_path: Path) -> None:
    (tmp_path / "crawl.config.json").write_text(json.dumps({"url": None, "startUrl": "https://docs.example"}))

    assert find_start_url(None, tmp_path) == "https://docs.example"


def test_without_a_start_url_it_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "crawl.config.json").write_text(json.dumps({"maxDepth": 1}))

    done = Tadoru(tmp_path)("docs")

    assert done.code == 2
    assert "URL" in done.err


def test_it_is_a_file_of_documentation_crawls_only(tmp_path: Path) -> None:
    assert resolved(tmp_path, {"maxDepth": 4}, "links").file is None


def test_an_unknown_key_in_it_is_an_error_with_the_closest_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"spaWiat.*spa_wait"):
        resolved(tmp_path, {"spaWiat": 1})


def test_a_file_that_is_not_json_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "crawl.config.json").write_text("{,}")

    with pytest.raises(ConfigError, match="not valid JSON"):
        resolve_config("docs", {}, {}, None, tmp_path)


def test_keys_of_our_own_file_may_be_in_camel_case(tmp_path: Path) -> None:
    (tmp_path / "tadoru.yml").write_text("docs:\n  chunkTokens: 900\n  local-links: true\n")
    values = resolve_config("docs", {}, {}, None, tmp_path).values

    assert values == {"chunk_tokens": 900, "local_links": True}


def test_a_duration_that_looks_like_milliseconds_has_to_be_confirmed() -> None:
    for parse, value in ((parse_delay, "2000"), (parse_timeout, "30000")):
        with pytest.raises(UsageError, match=f"write {value}ms"):
            parse(value)
        assert parse(f"{value}ms") == int(value) / 1000
        assert parse(f"{value}s") == int(value)
    assert parse_timeout("120") == 120


def test_pages_beyond_the_depth_are_counted(site: Site, book: Handbook, tmp_path: Path) -> None:
    book.page("/", "Start", links=["/a"])
    book.page("/a", "A", links=["/b", "/c"])

    done = crawl(Tadoru(tmp_path), site, "-d", "1")

    assert "2 known pages lie deeper than --depth 1 and were not downloaded." in done.out
    assert read(site, tmp_path / "api", depth=1).deeper == 2
