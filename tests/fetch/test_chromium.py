"""Which browser is taken, and that it is left one way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.config.resolve import resolve_config
from tadoru.errors import BrowserMissing
from tadoru.fetch.browser import browser


def program(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_first_known_name_on_the_path_is_taken(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path)}
    assert browser.find_program(environment) is None
    for name in reversed(browser.PROGRAM_NAMES):
        path = program(tmp_path, name)
        assert browser.find_program(environment) == path


def test_the_one_that_was_named_wins(tmp_path: Path) -> None:
    program(tmp_path, "chromium")
    other = program(tmp_path, "my-browser")
    assert browser.find_program({"PATH": str(tmp_path), "TADORU_CHROMIUM": other}) == other
    assert browser.find_program({"PATH": str(tmp_path), "TADORU_CHROMIUM": "my-browser"}) == other


def test_one_that_was_named_and_is_not_there_is_no_reason_to_take_another(tmp_path: Path) -> None:
    program(tmp_path, "chromium")
    with pytest.raises(BrowserMissing, match="TADORU_CHROMIUM"):
        browser.find_program({"PATH": str(tmp_path), "TADORU_CHROMIUM": "/nowhere"})


def test_there_is_one_list_of_features_and_each_switch_is_given_once() -> None:
    names = [switch.partition("=")[0] for switch in browser.command_line_switches("127.0.0.1:8080")]
    assert len(set(names)) == len(names)
    assert "--proxy-server=http://127.0.0.1:8080" in browser.command_line_switches("127.0.0.1:8080")


def test_its_variable_is_known_to_the_configuration(tmp_path: Path) -> None:
    assert resolve_config("links", {}, {"TADORU_CHROMIUM": "x"}, None, tmp_path).warnings == ()
    assert resolve_config("links", {}, {"TADORU_CROMIUM": "x"}, None, tmp_path).warnings != ()


@pytest.mark.parametrize(
    "log, sentence",
    [
        ("launch: closed\nBrowser logs:\nChromium sandboxing failed!\n====", "user namespaces"),
        ("closed\nLooks like you launched a headed browser without having a XServer running.", "no display"),
        ("closed\n  - [pid=7][err] first\n  - [pid=7][err] chromium: cannot load libnss3.so\n  - [pid=7] <kill>", "libnss3.so"),
        ("closed", "it exited immediately"),
    ],
    ids=["no sandbox", "no display", "its own words", "nothing"],
)
def test_why_it_did_not_start_is_said_in_one_line(log: str, sentence: str) -> None:
    assert sentence in browser.start_failure_reason(log)
    assert "\n" not in browser.start_failure_reason(log)
