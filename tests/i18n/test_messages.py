"""What is translated: errors by their template, and every template and label of a page."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

from babel.messages.catalog import Catalog

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tadoru"
TEXT = re.compile(r">([^<>{}=]*[A-Za-z]{3,}[^<>{}=]*)<")
"""A text of a template that is no expression."""
NOT_WORDS = frozenset({"KiB", "ICS", "RSS", "Parquet", "tdr", "nofollow"})


def _messages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("messages", ROOT / "scripts" / "messages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_no_message_of_an_error_is_put_together_before_it_is_translated() -> None:
    messages = _messages()
    classes = messages.subclasses("TadoruError") | messages.subclasses("HttpProblem") | {"Message"}
    found = [
        f"{file}:{node.lineno}"
        for file, node in messages.calls(*classes)
        if any(isinstance(one, ast.JoinedStr) for one in node.args)
    ]
    assert found == [], "raise these with a template and values"


def test_no_text_of_a_page_is_outside_the_catalogues() -> None:
    found = []
    for file in sorted((SOURCE / "serve" / "templates").rglob("*.html")):
        text = re.sub(r"\{[{%].*?[%}]\}", "", file.read_text("utf-8"))
        found += [f"{file.name}: {one}" for one in TEXT.findall(text) if not set(re.findall(r"[A-Za-z]{3,}", one)) <= NOT_WORDS]
    assert found == []


def test_what_is_out_of_date_in_a_catalogue_is_named() -> None:
    before, after = Catalog(locale="ja"), Catalog(locale="ja")
    before.add("Old", "古い")
    before.add("Same", "同じ")
    after.add("Same", "同じ")
    after.add(("{count} page", "{count} pages"))
    differences = _messages().differences
    assert list(differences(before, after)) == ["missing: ('{count} page', '{count} pages')", "no longer used: Old"]
    assert list(differences(before, before)) == ["the files or the order of its messages have changed, or it is not compiled"]
