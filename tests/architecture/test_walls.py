"""The product stands inside its walls, and each wall stops what it is there to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.architecture import walls
from tests.architecture.walls import Breach, Module

Rule = Callable[[list[Module]], Iterator[Breach]]

pytestmark = pytest.mark.xdist_group("walls")  # One worker reads the product, and reads it once.


@pytest.mark.parametrize("rule", walls.RULES, ids=lambda rule: rule.__name__)
def test_the_product_keeps_the_rule(rule: Rule, checkout: Path) -> None:
    modules = walls.product(checkout / "src" / "tadoru")
    assert modules
    assert not [str(breach) for breach in rule(modules)]


BROKEN = [
    pytest.param(walls.impure_floors, "rules/pace.py", "import random", id="I/O in rules"),
    pytest.param(walls.impure_floors, "model/web.py", "from os import environ", id="the environment in model"),
    pytest.param(walls.impure_floors, "parse/html.py", "import urllib.request", id="a dotted module in parse"),
    pytest.param(walls.impure_floors, "parse/html.py", "from urllib import request", id="the same, taken from its parent"),
    pytest.param(walls.impure_floors, "parse/head.py", "def f():\n    import asyncio", id="I/O inside a function"),
    pytest.param(walls.impure_floors, "rules/pace.py", "from tadoru.clock import Clock", id="the clock in rules"),
    pytest.param(walls.upward_imports, "engine/crawl.py", "from tadoru.jobs.links import job", id="engine knows a job"),
    pytest.param(walls.upward_imports, "rules/url.py", "import tadoru.parse.html", id="rules know parse"),
    pytest.param(walls.upward_imports, "engine/crawl.py", "from tadoru import jobs", id="a room taken from the package"),
    pytest.param(walls.upward_imports, "store/hosts.py", "from tadoru.fetch import http", id="one door knows the other"),
    pytest.param(walls.upward_imports, "fetch/http.py", "from tadoru.store import base", id="and the other the one"),
    pytest.param(walls.upward_imports, "engine/crawl.py", "from ..jobs.links import job", id="a relative import"),
    pytest.param(walls.upward_imports, "errors.py", "from . import model", id="a relative import of a room"),
    pytest.param(
        walls.upward_imports, "engine/crawl.py", "def f():\n    from tadoru.cli import wire", id="an import inside a function"
    ),
    pytest.param(
        walls.upward_imports,
        "rules/url.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tadoru.engine import job",
        id="an import for type checking",
    ),
    pytest.param(
        walls.upward_imports, "log.py", "import importlib\nimportlib.import_module('tadoru.cli')", id="an import by name"
    ),
    pytest.param(walls.upward_imports, "jobs/links/job.py", "from tadoru import links", id="the façade from below"),
    pytest.param(walls.upward_imports, "attic/box.py", "", id="a room without a layer"),
    pytest.param(walls.libraries_out_of_their_room, "engine/crawl.py", "import aiohttp", id="the HTTP client in the engine"),
    pytest.param(walls.libraries_out_of_their_room, "parse/links.py", "from selectolax.lexbor import X", id="the HTML parser"),
    pytest.param(
        walls.libraries_out_of_their_room, "jobs/links/job.py", "def f():\n    import click", id="the CLI library, late"
    ),
    pytest.param(walls.libraries_out_of_their_room, "fetch/http.py", "from backports import zstd\nimport yaml", id="YAML"),
    pytest.param(walls.vague_names, "rules/utils.py", "", id="a vague file"),
    pytest.param(walls.vague_names, "core/url.py", "", id="a vague folder"),
    pytest.param(walls.vague_names, "rules/_helpers.py", "", id="a vague file with an underscore"),
    pytest.param(walls.own_time, "engine/crawl.py", "import time\nx = time.time()", id="the time of day"),
    pytest.param(walls.own_time, "engine/crawl.py", "from time import time as t\nx = t()", id="under another name"),
    pytest.param(walls.own_time, "engine/crawl.py", "import datetime as d\nx = d.datetime.now()", id="a date and time"),
    pytest.param(walls.own_time, "engine/crawl.py", "from datetime import datetime\nx = datetime.now", id="as a function"),
]


@pytest.mark.parametrize("rule, path, source", BROKEN)
def test_a_breach_is_found_and_named(rule: Rule, path: str, source: str, tmp_path: Path) -> None:
    text = f'"""What lives here."""\n{source}\n'
    breaches = list(rule(tree_with(tmp_path, path, text)))
    assert [breach.path for breach in breaches] == [path]
    expected_line = 1 + len(source.splitlines()) if "import" in source else 1
    assert str(breaches[0]).startswith(f"{path}:{expected_line}: [{breaches[0].rule}] ")


@pytest.mark.parametrize("text", ["", "x = 1\n", "'' 'not a docstring'[0]\n"], ids=["empty", "code", "an expression"])
def test_a_module_without_a_docstring_is_found(text: str, tmp_path: Path) -> None:
    (breach,) = walls.missing_docstrings(tree_with(tmp_path, "rules/url.py", text))
    assert (breach.path, breach.rule) == ("rules/url.py", "docstrings")


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


@pytest.mark.parametrize("rule", walls.RULES, ids=lambda rule: rule.__name__)
def test_what_the_rules_permit_is_no_breach(rule: Rule, tmp_path: Path) -> None:
    for path, source in SOUND.items():
        modules = tree_with(tmp_path, path, f'"""What lives here."""\n{source}\n')
    assert len(modules) == len(SOUND)
    assert not [str(breach) for breach in rule(modules)]


def tree_with(root: Path, path: str, text: str) -> list[Module]:
    """The modules of a small tree, with one more file in it."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return walls.read(root)
