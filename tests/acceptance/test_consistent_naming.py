"""The same thing has the same name in every command, and is told in the same shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import click
import pytest

import tadoru.cli
from tadoru.cli.main import run
from tadoru.clock import iso
from tests.acceptance.commands import every_command

SHORT = {
    "--format": {"-f"}, "--output": {"-o"}, "--quiet": {"-q"}, "--verbose": {"-v"}, "--database": {"-d"}, "--limit": {"-n", "-l"},
    "--header": {"-H"}, "--delay": {"-r"}, "--timeout": {"-t"}, "--concurrency": {"-c"}, "--user-agent": {"-u"}, "--help": {"-h"},
}  # fmt: skip


def options() -> Iterator[tuple[str, click.Option]]:
    for ctx in every_command():
        yield from (
            (ctx.command_path, one) for one in ctx.command.get_params(ctx) if isinstance(one, click.Option) and not one.hidden
        )


def test_an_option_has_the_same_short_name_wherever_it_is() -> None:
    wrong = [
        (path, one.opts) for path, one in options()
        for long, short in SHORT.items() if long in one.opts and not short & set(one.opts)
    ]  # fmt: skip
    assert wrong == []


def test_what_a_short_name_means_is_the_same_wherever_it_is() -> None:
    meanings: dict[str, set[str]] = {}
    for _, one in options():
        for short in (name for name in one.opts if len(name) == 2):
            meanings.setdefault(short, set()).add(max(one.opts, key=len))
    several = {short: sorted(found) for short, found in meanings.items() if len(found) > 1}
    # `-d` as the seeds have it; `-t` too, and in `export` it is what LinkTadoru never had.
    assert several == {"-d": ["--database", "--depth"], "-t": ["--table", "--timeout"], "-n": ["--examples", "--limit"]}


def test_no_command_has_another_way_to_ask_for_json_than_format() -> None:
    assert [path for path, one in options() if "--json" in one.opts] == []


@pytest.mark.parametrize("line", ["plugins -f json", "plugins --json"])
def test_what_was_said_before_still_works(line: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(line.split()) == 0
    assert capfd.readouterr().out == "[]\n"


@pytest.mark.parametrize("form", ["text", "table"])
def test_text_and_table_are_two_words_for_what_a_person_reads(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["plugins", "-f", form]) == 0
    assert run(["events", "-d", "x.db", "sources", "list", "-f", form]) == 0
    assert capfd.readouterr().out.count("\n") == 2


def test_headings_of_tables_are_words_and_no_capitals() -> None:
    headings: set[str] = set()
    for file in Path(tadoru.cli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="table_columns"), args=found):
                    headings |= {str(one.value).rstrip(">~") for one in found if isinstance(one, ast.Constant) and one.value}
    assert len(headings) > 20
    assert {one for one in headings if one != one[:1].upper() + one[1:].lower()} == {"ID", "URL"}


@pytest.mark.parametrize("hours", [0, 9, -5])
def test_a_time_in_json_is_of_utc_and_says_so(hours: int) -> None:
    moment = datetime(2026, 8, 1, 12, 30, tzinfo=UTC).astimezone(timezone(timedelta(hours=hours)))
    assert iso(moment) == "2026-08-01T12:30:00Z"
    assert iso(moment, "milliseconds") == "2026-08-01T12:30:00.000Z"
