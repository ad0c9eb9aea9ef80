"""The message catalogues: complete, compiled, and with the values of the English message in every translation."""

from __future__ import annotations

import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from tadoru.i18n.translation import CALENDAR_LANGUAGES, CATALOGS, SOURCE_LANGUAGE, Translator, best_language

ROOT = Path(__file__).parents[2]
TRANSLATED = [lang for lang in CALENDAR_LANGUAGES if lang != SOURCE_LANGUAGE]
VALUE = re.compile(r"\{(\w+)[^{}]*\}")


def test_every_message_of_the_source_is_translated_and_compiled() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "messages.py", "--check"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("lang", TRANSLATED)
def test_a_translation_has_no_value_that_its_message_lacks(lang: str) -> None:
    catalog = read_po(BytesIO((CATALOGS / lang / "LC_MESSAGES" / "tadoru.po").read_bytes()), locale=lang)
    wrong = []
    for message in catalog:
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        known = {name for text in ids for name in VALUE.findall(text)}
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        wrong += [text for text in texts if message.id and not set(VALUE.findall(text)) <= known]
    assert wrong == []


def test_a_message_without_a_translation_is_shown_in_english() -> None:
    assert Translator("de").gettext("No {thing} of any catalogue", thing="message") == "No message of any catalogue"


@pytest.mark.parametrize(
    "wanted, lang", [("ja_JP.UTF-8", "ja"), ("ja", "ja"), ("en-GB", "en"), ("fr_FR", "en"), ("C.UTF-8", "en"), ("", "en")]
)
def test_a_locale_name_selects_a_language(wanted: str, lang: str) -> None:
    assert best_language(wanted) == lang
