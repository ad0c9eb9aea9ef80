"""The language of commands: help, usage errors and messages in English and Japanese."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tadoru.cli.main import run
from tadoru.cli.output import set_language
from tadoru.jobs.reporting.formatting import display_width
from tests.acceptance.command import Tadoru
from tests.acceptance.commands import every_command

SCREEN = 45
CONTEXTS = {ctx.command_path: ctx for ctx in every_command()}


@pytest.fixture
def japanese() -> Iterator[None]:
    set_language("ja")
    yield
    set_language("en")


@pytest.mark.parametrize("path", CONTEXTS)
def test_the_japanese_help_of_every_command_fits_a_screen(path: str, japanese: None) -> None:
    text = CONTEXTS[path].get_help()
    assert text.startswith("使い方: tadoru")
    assert len(text.splitlines()) <= SCREEN
    texts = [line for line in text.splitlines() if not line.startswith("  tadoru ")]  # A command is never wrapped.
    assert max(map(display_width, texts)) <= 100


@pytest.mark.parametrize("arguments", [["--lang", "ja"], ["--lang=ja"]])
def test_the_option_lang_selects_the_language(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*arguments, "links", "--help"]) == 0
    assert "\n出力:\n" in capfd.readouterr().out
    assert run([*arguments, "links"]) == 2
    assert "開始 URL がありません" in capfd.readouterr().err
    assert run([*arguments, "adit"]) == 2
    assert "“tadoru audit” ではありませんか？" in capfd.readouterr().err
    assert run([*arguments, "links", "example.com", "--depth", "x"]) == 2
    assert "0 から 1,000,000,000 までの整数を指定してください" in capfd.readouterr().err


@pytest.mark.parametrize("env, begins", [
    ({"LC_ALL": "ja_JP.UTF-8"}, "使い方: "),
    ({"LC_ALL": "", "LC_MESSAGES": "ja_JP.UTF-8", "LANG": "C"}, "使い方: "),
    ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "ja_JP.UTF-8"}, "使い方: "),
    ({"LC_ALL": "C.UTF-8", "LANG": "ja_JP.UTF-8"}, "Usage: "),
    ({"LC_ALL": "fr_FR.UTF-8"}, "Usage: "),
])  # fmt: skip
def test_the_locale_selects_the_language(env: dict[str, str], begins: str, tadoru: Tadoru) -> None:
    assert tadoru("report", "--help", env=env).out.startswith(begins)


def test_the_option_overrides_the_locale(tadoru: Tadoru) -> None:
    assert tadoru("--lang", "en", "report", "--help", env={"LC_ALL": "ja_JP.UTF-8"}).out.startswith("Usage: ")


def test_an_unknown_language_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--lang", "de", "links", "--help"]) == 2
    assert "--lang must be one of en, ja." in capfd.readouterr().err


IMPORTS = """
import sys
from tadoru.cli.main import run
run(sys.argv[1:])
print(*sorted(name for name in sys.modules if name.split(".")[0] in ("babel", "tadoru")), file=sys.stderr)
"""


def test_english_help_loads_no_catalogue_and_no_language_loads_babel(tadoru: Tadoru) -> None:
    english = tadoru.python(IMPORTS, "links", "--help").err.split()
    japanese = tadoru.python(IMPORTS, "--lang", "ja", "links", "--help").err.split()
    assert "tadoru.i18n.translation" not in english
    assert "tadoru.i18n.translation" in japanese
    assert "babel" not in {*english, *japanese}
