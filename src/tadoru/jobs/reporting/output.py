"""Where reports are written: stdout, a file that appears only when it is complete, annotations and the summary of a GitHub
workflow; and the format that the name of a file stands for."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from tadoru.errors import UsageError

CODE_QUALITY_ENDINGS = ("codequality.json", "code-quality.json", "code-quality-report.json")
"""Ends of the names of code quality reports, which are JSON like others; GitLab's own is `gl-code-quality-report.json`."""


def format_of_path(path: str, endings: Mapping[str, tuple[str, ...]]) -> str:
    """The format whose endings the file name has, the longest of them. Raises UsageError."""
    name = Path(path).name.lower()
    found = [(len(ending), form) for form, known in endings.items() for ending in known if name.endswith(ending)]
    if found:
        return max(found)[1]
    known = ", ".join(known[0] for known in endings.values())
    raise UsageError("Unknown report format of {path}. Use one of the extensions {known}, or --format.", path=path, known=known)


def supports_colour(out: TextIO) -> bool:
    """Whether the output is a terminal and NO_COLOR is not set."""
    return out.isatty() and not os.environ.get("NO_COLOR")


@contextmanager
def open_output(name: str | None) -> Iterator[TextIO]:
    """stdout, or a file that appears only when it is complete."""
    if name is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(name).resolve()
    # Replacing a pipe or a device by a file would destroy it.
    is_special = path.exists() and not path.is_file()
    unfinished = path if is_special else path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as out:
            yield out
        if not is_special:
            unfinished.replace(path)
    finally:
        if not is_special:
            unfinished.unlink(missing_ok=True)


MAX_ANNOTATIONS = 10
"""GitHub shows ten errors and ten warnings of a step and ignores the rest."""


def is_github_workflow() -> bool:
    """Whether the command runs in a GitHub workflow."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def append_step_summary(write: Callable[[TextIO], object]) -> None:
    """Add Markdown to the summary of a GitHub workflow, which shows it on the page of the run."""
    name = os.environ.get("GITHUB_STEP_SUMMARY")
    if is_github_workflow() and name:
        with Path(name).open("a", encoding="utf-8", newline="") as out:
            write(out)


def limit_annotations(found: Iterable[tuple[str, str]], more: Callable[[int], str]) -> Iterator[str]:
    """The workflow commands that GitHub shows of these, given with their levels, and `more` for the number of the others."""
    seen: Counter[str] = Counter()
    for level, command in found:
        seen[level] += 1
        if seen[level] <= MAX_ANNOTATIONS:
            yield command
    if hidden := sum(max(0, count - MAX_ANNOTATIONS) for count in seen.values()):
        yield more(hidden)


def workflow_command(level: str, title: str, message: str, **place: str | int | None) -> str:
    """A workflow command that GitHub turns into an annotation; `file`, `line` and `col` are its place in the repository."""
    known = {**{name: value for name, value in place.items() if value is not None}, "title": title}
    properties = ",".join(f"{name}={_property(str(value))}" for name, value in known.items())
    return f"::{level} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
