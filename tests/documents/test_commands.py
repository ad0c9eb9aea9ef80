"""No document shows a command, an option or a key that is not there: what they show is read by the code itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from tadoru.config import resolve
from tadoru.config.options import JOB_SETTINGS
from tadoru.errors import ConfigError, TadoruError, UsageError
from tadoru.jobs.audit.context import Limits, PageContext
from tadoru.jobs.events.collect.source_registry import check_source, parse_source_file
from tadoru.jobs.events.collect.source_settings import parse_source_settings
from tadoru.model.event import SourceType
from tadoru.model.web import Response, Timings
from tadoru.parse.html import HtmlDocument
from tadoru.parse.page import read_page
from tadoru.rules.url import UrlResolver
from tadoru.serve.crawl_runner.control import RESTORE_NOTE
from tests.documents.document_parts import (
    DOCUMENTS,
    ROOT,
    DocumentPart,
    blocks,
    commands,
    loaded,
    mentions,
    parse,
    unknown_of,
    words_of,
)

URL = "https://example.com/"
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in DOCUMENTS}
COMMANDS = [found for name, text in TEXTS.items() for found in commands(name, text)]
MENTIONS = [found for name, text in TEXTS.items() for found in mentions(name, text)]
WRITTEN = [block for name, text in TEXTS.items() for block in blocks(name, text) if block.language in ("yaml", "toml")]


def configured(block: DocumentPart, folder: Path) -> None:
    """Let every job that has a section in the file read it."""
    file = folder / f"tadoru.{'toml' if block.language == 'toml' else 'yml'}"
    file.write_text(block.text, "utf-8")
    jobs = [job for job in JOB_SETTINGS if job in loaded(block)] or list(JOB_SETTINGS)
    for job in jobs:
        resolve.resolve_config(job, {}, {}, file, folder)


def kind_of(data: Any) -> str:
    """What a block of YAML or TOML is, by what stands in it."""
    if isinstance(data, Mapping):
        keys = {str(key) for key in data}
        if keys <= set(resolve.SECTIONS):
            return "configuration"
        if keys & {"sources"}:
            return "sources"
        if keys & {"fields", "item", "items", "details", "columns", "constants", "date_from", "pagination"}:
            return "settings of a source"
        if keys & {"jobs", "stages", "pages", "links", "scrape_configs", "groups", "services", "project", "mcpServers", "repos"}:
            return "of another program"
    return "unknown"


def settle(block: DocumentPart, folder: Path) -> None:
    """Read a block as what it is. Raises when it is not understood."""
    data = loaded(block)
    match kind_of(data):
        case "configuration":
            configured(block, folder)
        case "sources":
            for entry in parse_source_file(block.text, "sources.yml"):
                check_source(entry.values)
        case "settings of a source":
            parse_source_settings(_type_of(data), data)
        case "unknown":
            raise UsageError(f"What is this? Its keys are {', '.join(map(str, data))}.")


def _type_of(data: Mapping[str, Any]) -> SourceType:
    if data.keys() & {"item", "details", "next"}:
        return SourceType.HTML
    if data.keys() & {"columns"}:
        return SourceType.CSV
    return SourceType.RSS if "date_from" in data else SourceType.API


@pytest.mark.parametrize("place, words", COMMANDS, ids=[str(place) for place, _ in COMMANDS])
def test_a_command_of_a_document_can_be_given(place: DocumentPart, words: list[str]) -> None:
    try:
        parse(words)
    except click.exceptions.Exit:
        pass  # --help, --version
    except (click.ClickException, TadoruError) as error:
        pytest.fail(f"{place}: {error.format_message() if isinstance(error, click.ClickException) else error}")


def test_every_mention_of_a_command_names_what_is_there() -> None:
    assert {str(place): lost for place, words in MENTIONS if (lost := unknown_of(words))} == {}


def test_every_command_in_our_own_words_names_what_is_there() -> None:
    """Messages, help and docstrings send people to other commands."""
    texts = {path.as_posix(): re.sub(r"\{\w+\}", " ", path.read_text("utf-8")) for path in (ROOT / "src").rglob("*.py")}
    found = [one for name, text in texts.items() for one in mentions(name, text)]
    assert len(found) > 100
    assert {str(place): lost for place, words in found if (lost := unknown_of(words))} == {}


def test_the_note_in_a_backup_names_commands_that_can_be_given() -> None:
    found = [
        parse(words).command.name
        for line in RESTORE_NOTE.splitlines()
        for words in words_of(line.partition(":  ")[2].partition("  (")[0])
    ]
    assert found == ["serve", "restore"]


@pytest.mark.parametrize("block", WRITTEN, ids=str)
def test_what_is_shown_of_a_file_is_understood(block: DocumentPart, tmp_path: Path) -> None:
    settle(block, tmp_path)


@pytest.mark.parametrize("shelf", ["how-to", "explanation", "tutorial"])
def test_every_page_is_in_the_index_of_its_shelf(shelf: str) -> None:
    index = TEXTS[f"docs/{shelf}/README.md"]
    pages = [path.name for path in (ROOT / "docs" / shelf).glob("*.md") if path.name != "README.md"]
    assert pages
    assert [name for name in pages if f"]({name})" not in index] == []


def test_every_program_in_a_document_is_python() -> None:
    programs = [block for name, text in TEXTS.items() for block in blocks(name, text) if block.language == "python"]
    assert len(programs) > 3
    for block in programs:
        compile(block.text, str(block), "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # As a cell of a notebook may have it.


@pytest.mark.parametrize("body, expected", [('<a href="/contact.html">us</a>', 0), ("<p>Nobody</p>", 1)])
def test_the_check_of_the_page_about_checks_is_one(body: str, expected: int) -> None:
    name = "docs/how-to/own-checks.md"
    names: dict[str, Any] = {}
    exec("\n".join(block.text for block in blocks(name, TEXTS[name]) if block.language == "python"), names)
    checks = names["CHECKS"]
    answer = Response(url=URL, status=200, headers=(("Content-Type", "text/html"),), body=body.encode(), timings=Timings())
    page = read_page(HtmlDocument.parse(answer.body, "text/html"), answer, UrlResolver())
    found = list(checks.run(PageContext(url=URL, limits=Limits(checks.checks), answer=answer, page=page)))
    assert [finding.check_id for finding in found] == ["acme-no-contact"] * expected


def test_the_examples_are_found_wherever_they_stand() -> None:
    text = (
        "```console\n$ A=1 tadoru links \\\n    https://example.com -q | head   # a remark\nnothing\n# tadoru demo\n```\n"
        "```yaml\n      - run: ./tadoru audit\n```\n```sh\n0 5 * * * /opt/x/bin/tadoru docs refresh -q && tadoru demo\n```\n"
        "```text\ntadoru is said here\n```\n\n    tadoru report x.db\n"
    )
    assert [(place.line, words) for place, words in commands("x.md", text)] == [
        (2, ["links", "https://example.com", "-q"]),
        (5, ["demo"]),
        (8, ["audit"]),
        (11, ["docs", "refresh", "-q"]),
        (11, ["demo"]),
        (17, ["report", "x.db"]),
    ]
    assert len(COMMANDS) > 150
    assert len(MENTIONS) > 50


@pytest.mark.parametrize(
    "line", ["tadoru lnks https://example.com", "tadoru report", "tadoru links https://example.com --frmat x"]
)
def test_a_command_that_is_not_there_is_noticed(line: str) -> None:
    (words,) = words_of(line)
    with pytest.raises((click.ClickException, TadoruError)):
        parse(words)


def test_a_mention_of_what_is_not_there_is_noticed() -> None:
    ((_, right), (_, wrong), (_, nothing)) = mentions(
        "x.md", "`tadoru audit --detach` and `tadoru events run --al`\n and `tadoru events rum`"
    )
    assert [unknown_of(right), unknown_of(wrong), unknown_of(nothing)] == [[], ["--al"], ["rum"]]


@pytest.mark.parametrize("text", ["links: {dept: 3}", "lnks: {}", "item: li\nfeilds: {title: a}", "sources: [{name: x, url: y}]"])
def test_a_key_that_is_not_there_is_noticed(text: str, tmp_path: Path) -> None:
    with pytest.raises((ConfigError, UsageError)):
        settle(DocumentPart("x.md", 1, text, "yaml"), tmp_path)


@pytest.mark.parametrize("job", JOB_SETTINGS)
def test_every_job_may_have_a_section_in_the_file(job: str, tmp_path: Path) -> None:
    setting = next(one for one in JOB_SETTINGS[job] if one.name in ("database", "limit"))
    configured(DocumentPart("x.md", 1, f"{job}: {{{setting.name}: 5}}", "yaml"), tmp_path)
