"""The lock files fit `pyproject.toml` and each other, and say nothing about where they were made."""

from __future__ import annotations

import re
import tomllib
from contextlib import suppress
from importlib import metadata
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

LOCKS = ("requirements.lock", "requirements-dev.lock")
PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9-]*)(?:\[(?P<extras>[a-z0-9,]+)\])?==(?P<version>\S+)", re.MULTILINE)
NAME = re.compile(r"[A-Za-z0-9._-]+")
NEEDED = re.compile(r"(?P<name>[a-z0-9-]+)\[(?P<extras>[a-z0-9,]+)\]")


def pins(lock: Path) -> dict[str, str]:
    return {found["name"]: found["version"] for found in PIN.finditer(lock.read_text("utf-8"))}


def names(requirements: list[str]) -> set[str]:
    """Normalised project names of requirement lines."""
    return {re.sub(r"[-_.]+", "-", found[0]).lower() for line in requirements if (found := NAME.match(line))}


@pytest.fixture(scope="module")
def project(checkout: Path) -> dict[str, Any]:
    return tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))


def test_every_dependency_is_pinned(checkout: Path, project: dict[str, Any]) -> None:
    assert names(project["project"]["dependencies"]) <= pins(checkout / "requirements.lock").keys()
    assert names(project["dependency-groups"]["dev"]) <= pins(checkout / "requirements-dev.lock").keys()


def test_the_development_lock_holds_the_other_one_in_the_same_versions(checkout: Path) -> None:
    assert pins(checkout / "requirements.lock").items() <= pins(checkout / "requirements-dev.lock").items()


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock: str, checkout: Path) -> None:
    entries = re.split(r"\n(?=\S)", (checkout / lock).read_text("utf-8").strip())
    # One project may stand there twice: in one version for older interpreters, in another for newer ones.
    assert {entry.partition("==")[0].partition("[")[0] for entry in entries} == pins(checkout / lock).keys()
    assert [entry.splitlines()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_what_another_package_needs_with_an_extra_is_pinned_with_it(checkout: Path) -> None:
    # With hashes, pip refuses `psycopg[pool]` of procrastinate beside a pin of `psycopg` as soon as there is a newer version.
    found = PIN.finditer((checkout / "requirements-dev.lock").read_text("utf-8"))
    extras = {pin["name"]: pin["extras"] for pin in found if pin["extras"]}
    assert extras.items() >= {"camel-converter": "pydantic", "psycopg": "pool", "pyjwt": "crypto"}.items()
    for name in pins(checkout / "requirements-dev.lock"):
        with suppress(PackageNotFoundError):
            for line in metadata.requires(name) or ():
                needed = NEEDED.match(line)
                if needed and "extra ==" not in line and needed["name"] in extras:
                    assert extras[needed["name"]] == needed["extras"], f"{name} needs {line}"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_place(lock: str, checkout: Path) -> None:
    text = (checkout / lock).read_text("utf-8")
    assert re.findall(r"\S*(?:://|--index|--extra-index|--find-links|file:)\S*|(?<!\S)/\S+", text) == []


@pytest.mark.parametrize("library", ["aiohttp", "mcp", "uvicorn"])
def test_a_library_of_which_private_parts_are_used_has_an_upper_bound(library: str, project: dict[str, Any]) -> None:
    extras = project["project"]["optional-dependencies"]
    lines = [*project["project"]["dependencies"], *(line for extra in extras.values() for line in extra)]
    bounds = [line for line in lines if (name := NAME.match(line)) and name[0] == library]
    assert bounds
    assert all("<" in line for line in bounds)
