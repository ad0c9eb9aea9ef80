"""No regular expression takes more than linear time, whatever it is given: crawled text is written by strangers.

To try all takes more than a minute, so `./test` tries those that are new or have changed since all were tried, and `./test --all`
tries all. `python -m tests.architecture.test_patterns_are_linear` tries those and records them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.architecture import try_patterns

BOUNDS = {
    "tadoru/jobs/events/dedupe/": 300,  # Fields of events are cut by `normalise.LIMITS`.
    "tadoru/jobs/docs/bundle/markdown_blocks.py:_LINK": 1_000,  # `plain` reads so much of a heading.
    "tadoru/jobs/docs/bundle/markdown_blocks.py:_STRONG": 1_000,
    "tadoru/jobs/docs/content/page_info.py:_VERSION_IN_TITLE": 2_000,  # `Document.title` is no longer.
}
"""Expressions, by the beginning of their place, that are given no more than so many characters."""
VARYING = {
    "tadoru/jobs/audit/compare/run_handles.py:parse_rewrites": "typed at a terminal",
    "tadoru/jobs/docs/content/score.py:_name_pattern": "called when the module is imported, so tried with the rest",
    "tadoru/jobs/events/dedupe/venues.py:_without": "an escaped name",
    "tadoru/jobs/links/broken.py:compile_patterns": "typed for a crawl, which is a process of its own",
    "tadoru/jobs/links/suppressions.py:_parse_entry": "typed at a terminal",
    "tadoru/jobs/suppressions.py:read_patterns": "compiled to be checked, never run",
    "tadoru/jobs/suppressions.py:url_pattern": "typed at a terminal",
    "tadoru/parse/dates/clocks.py:_half": "words of a table",
    "tadoru/parse/dates/vocabulary.py:_words": "called when the module is imported, so tried with the rest",
    "tadoru/parse/extract.py:_check": "typed for a crawl, which is a process of its own",
    "tadoru/parse/extract.py:find": "typed for a crawl, which is a process of its own",
    "tadoru/parse/linear_regex.py:__init__": "compiled to be checked, never run",
    "tadoru/rules/scope.py:_compiled": "typed for a crawl, which is a process of its own",
    "tadoru/serve/web/docs.py:highlight": "escaped words",
    "tadoru/config/parsers.py:parse_regex": "compiled to be checked, never run",
    "tadoru/store/calendar/search_text.py:_pattern": "escaped words",
}
"""Functions whose expressions are made when they are called, and why they are not slow."""


TRIED = Path(__file__).with_name("tried_patterns.txt")
"""The digests of expressions that were found to be linear."""


def tried(source: Path, bounds: Mapping[str, int] | None = None, known: str = "") -> dict[str, Any]:
    """What was found in the modules of a folder, by an interpreter of its own. Known expressions are not tried."""
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, "-P", try_patterns.__file__, str(source), json.dumps(bounds or {})]
    done = subprocess.run(command, env=environment, input=known, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def test_every_expression_that_is_new_or_has_changed_is_linear(checkout: Path) -> None:
    found = tried(checkout / "src", BOUNDS, TRIED.read_text())
    assert found["slow"] == []
    assert sorted(set(found["varying"])) == sorted(VARYING)
    assert len(found["digests"]) > 500


def test_every_expression_is_linear(checkout: Path) -> None:
    assert tried(checkout / "src", BOUNDS)["slow"] == []


def test_an_expression_is_tried_again_when_it_its_use_or_its_bound_changes(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text("import re\nEND = re.compile(r'a+$')\n")
    known = "\n".join(tried(tmp_path)["digests"])
    assert tried(tmp_path, known=known)["slow"] == []
    assert len(tried(tmp_path, {"short.py:": 50_000}, known)["slow"]) == 1
    (tmp_path / "short.py").write_text("import re\nEND = re.compile(r'b+$')\n")
    assert len(tried(tmp_path, known=known)["slow"]) == 1
    (tmp_path / "short.py").write_text("import re\nEND = re.compile(r'a+$')\ndef f(text):\n    return END.sub('', text)\n")
    assert len(tried(tmp_path, known=known)["slow"]) == 1


def test_slow_expressions_are_found_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import re\n"
        "RULE = re.compile(r'^-{3,}[-:| ]*$', re.M)\n"
        "TABLE = [(re.compile(r'<b[^>]*>'), 1)]\n"
        "class Reader:\n"
        "    code = re.compile(rb'(`+).+?\\1')\n"
        "def trim(text):\n"
        "    return re.sub(r'\\s+$', '', text, flags=re.M)\n"
    )
    (tmp_path / "hopeless.py").write_text("import re\nWORDS = re.compile(r'(?:\\w+\\s?)+$')\nLAST = re.compile(r'a+b')\n")
    (tmp_path / "fine.py").write_text(
        "import re\nLINE = re.compile(r'[^\\n]*\\n|[^\\n]+')\nSTART = re.compile(r' *x')\n"
        "def at(text):\n    return START.match(text) or LINE.findall(text)\n"
    )
    slow = [line.split(": ", 1)[0] for line in tried(tmp_path)["slow"]]
    assert sorted(slow) == [
        "hopeless.py:LAST", "hopeless.py:WORDS", "slow.py:'<b[^>]*>'", "slow.py:7", "slow.py:RULE", "slow.py:b'(`+).+?\\\\1'",
    ]  # fmt: skip


def test_an_expression_for_short_texts_is_tried_with_those(tmp_path: Path) -> None:
    (tmp_path / "short.py").write_text("import re\nEND = re.compile(r'a+$')\n")
    assert len(tried(tmp_path)["slow"]) == 1
    assert tried(tmp_path, {"short.py:END": 500})["slow"] == []


def test_an_expression_that_is_made_by_a_function_is_named(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text("import re\ndef find(word, text):\n    return re.search(word + '+', text)\n")
    assert tried(tmp_path) == {"digests": [], "varying": ["made.py:find"], "slow": []}


if __name__ == "__main__":
    result = tried(Path("src").resolve(), BOUNDS, TRIED.read_text())
    if result["slow"]:
        sys.exit("\n".join(result["slow"]))
    TRIED.write_text("\n".join(result["digests"]) + "\n")
