"""The product keeps the rules of its architecture, and each rule finds what it forbids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.architecture import rules
from tests.architecture.rules import Module, Violation

Rule = Callable[[list[Module]], Iterator[Violation]]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_the_product_keeps_the_rule(rule: Rule, checkout: Path) -> None:
    modules = rules.product(checkout / "src" / "tadoru")
    assert modules
    assert not [str(violation) for violation in rule(modules)]


BROKEN = [
    pytest.param(rules.impure_packages, "rules/pace.py", "import random", id="I/O in rules"),
    pytest.param(rules.impure_packages, "model/web.py", "from os import environ", id="the environment in model"),
    pytest.param(rules.impure_packages, "parse/html.py", "import urllib.request", id="a dotted module in parse"),
    pytest.param(rules.impure_packages, "parse/html.py", "from urllib import request", id="the same, taken from its parent"),
    pytest.param(rules.impure_packages, "parse/head.py", "def f():\n    import asyncio", id="I/O inside a function"),
    pytest.param(rules.impure_packages, "rules/pace.py", "from tadoru.clock import Clock", id="the clock in rules"),
    pytest.param(rules.upward_imports, "engine/crawl.py", "from tadoru.jobs.links import job", id="engine knows a job"),
    pytest.param(rules.upward_imports, "rules/url.py", "import tadoru.parse.html", id="rules know parse"),
    pytest.param(rules.upward_imports, "engine/crawl.py", "from tadoru import jobs", id="a package taken from the package"),
    pytest.param(rules.upward_imports, "store/crawl/sqlite/frontier.py", "from tadoru.fetch import http", id="store knows fetch"),
    pytest.param(rules.upward_imports, "fetch/http.py", "from tadoru.store import base", id="fetch knows store"),
    pytest.param(rules.upward_imports, "engine/crawl.py", "from ..jobs.links import job", id="a relative import"),
    pytest.param(rules.upward_imports, "errors.py", "from . import model", id="a relative import of a package"),
    pytest.param(
        rules.upward_imports, "engine/crawl.py", "def f():\n    from tadoru.cli import wire", id="an import inside a function"
    ),
    pytest.param(
        rules.upward_imports,
        "rules/url.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tadoru.engine import job",
        id="an import for type checking",
    ),
    pytest.param(
        rules.upward_imports, "log.py", "import importlib\nimportlib.import_module('tadoru.cli')", id="an import by name"
    ),
    pytest.param(rules.upward_imports, "jobs/links/job.py", "from tadoru import links", id="the façade from below"),
    pytest.param(rules.upward_imports, "attic/box.py", "", id="a package without a layer"),
    pytest.param(rules.libraries_outside_their_package, "engine/crawl.py", "import aiohttp", id="the HTTP client in the engine"),
    pytest.param(rules.libraries_outside_their_package, "parse/links.py", "from selectolax.lexbor import X", id="the parser"),
    pytest.param(
        rules.libraries_outside_their_package, "jobs/links/job.py", "def f():\n    import click", id="the CLI library, late"
    ),
    pytest.param(rules.libraries_outside_their_package, "fetch/http.py", "from backports import zstd\nimport yaml", id="YAML"),
    pytest.param(rules.vague_names, "rules/utils.py", "", id="a vague file"),
    pytest.param(rules.vague_names, "core/url.py", "", id="a vague folder"),
    pytest.param(rules.vague_names, "rules/_helpers.py", "", id="a vague file with an underscore"),
    pytest.param(rules.vague_names, "store/values.py", "", id="a file named for nothing"),
    pytest.param(rules.vague_class_names, "store/hosts.py", "class Row: ...", id="a row of something"),
    pytest.param(rules.direct_clock_use, "engine/crawl.py", "import time\nx = time.time()", id="the time of day"),
    pytest.param(rules.direct_clock_use, "engine/crawl.py", "from time import time as t\nx = t()", id="under another name"),
    pytest.param(rules.direct_clock_use, "engine/crawl.py", "import datetime as d\nx = d.datetime.now()", id="a date and time"),
    pytest.param(rules.direct_clock_use, "engine/crawl.py", "from datetime import datetime\nx = datetime.now", id="a function"),
]


@pytest.mark.parametrize("rule, path, source", BROKEN)
def test_a_violation_is_found_and_named(rule: Rule, path: str, source: str, tmp_path: Path) -> None:
    text = f'"""What this is."""\n{source}\n'
    violations = list(rule(tree_with(tmp_path, path, text)))
    assert [violation.path for violation in violations] == [path]
    expected_line = 1 + len(source.splitlines())
    assert str(violations[0]).startswith(f"{path}:{expected_line}: [{violations[0].rule}] ")


def test_a_class_name_that_occurs_twice_is_found(tmp_path: Path) -> None:
    tree_with(tmp_path, "model/web.py", '"""What this is."""\nclass Link: ...\nclass _Same: ...\n')
    modules = tree_with(tmp_path, "parse/links.py", '"""What this is."""\nclass _Same: ...\nclass Link: ...\n')
    assert [str(each) for each in rules.repeated_class_names(modules)] == [
        "parse/links.py:3: [names] Link is also a class of model/web.py"
    ]


@pytest.mark.parametrize("text", ["", "x = 1\n", "'' 'not a docstring'[0]\n"], ids=["empty", "code", "an expression"])
def test_a_module_without_a_docstring_is_found(text: str, tmp_path: Path) -> None:
    (violation,) = rules.missing_docstrings(tree_with(tmp_path, "rules/url.py", text))
    assert (violation.path, violation.rule) == ("rules/url.py", "docstrings")


SOUND = {
    "__init__.py": "def links():\n    from tadoru.cli import wire",
    "__main__.py": "from tadoru.cli.main import main",
    "clock.py": "import time\nx = time.time()",
    "rules/url.py": "import ada_url\nfrom urllib.parse import quote\nfrom tadoru.model.web import Request",
    "rules/scope.py": "from .url import join\nfrom . import url",
    "fetch/http.py": "import aiohttp\nimport time\nfrom tadoru.clock import Clock\nx = time.monotonic()",
    "jobs/links/timer.py": "from ...engine import job\nfrom tadoru.model import web\nmy = job.time()",
    "cli/main.py": "import click\nimport tadoru",
}


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_what_the_rules_permit_is_no_violation(rule: Rule, tmp_path: Path) -> None:
    for path, source in SOUND.items():
        modules = tree_with(tmp_path, path, f'"""What this is."""\n{source}\n')
    assert len(modules) == len(SOUND)
    assert not [str(violation) for violation in rule(modules)]


def tree_with(root: Path, path: str, text: str) -> list[Module]:
    """The modules of a small tree, with one more file in it."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return rules.read(root)
