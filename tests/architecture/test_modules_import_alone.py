"""Each module loads without another having been loaded before it, and the command line loads little."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture import import_each

HEAVY = ("aiohttp", "babel", "prometheus_client", "psutil", "rich", "selectolax", "sqlite3", "yaml")


def run(source: Path, code: str, *arguments: str) -> str:
    """Standard output of a bare interpreter that finds packages in `source`, compiled as `./test` left them."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = own | {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-P", "-c", code, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def failing(source: Path, *known: str) -> list[str]:
    """The modules below a folder that cannot be imported first; packages of others that are `known` are there already."""
    script = Path(import_each.__file__).read_text("utf-8")
    return json.loads(run(source, script, str(source), *known))


def test_each_module_can_be_imported_first(checkout: Path) -> None:
    assert failing(checkout / "src", *import_each.KNOWN) == []


def test_a_module_that_needs_another_first_is_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text("import sys\nsys.b_was_here = True\n")
    (tmp_path / "b.py").write_text("import sys\nsys.b_was_here\n")
    assert failing(tmp_path) == ["b"]
    assert "b_was_here" in capfd.readouterr().err


def test_what_modules_share_hides_nothing_that_only_one_of_them_loads(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "__init__.py").write_text("")
    (tmp_path / "room" / "base.py").write_text("seen = []\n")
    for number in range(3):
        (tmp_path / "room" / f"writes{number}.py").write_text("from room import base\nbase.seen.append(1)\n")
    (tmp_path / "room" / "reads.py").write_text("from room import base\nbase.seen[0]\n")
    (tmp_path / "room" / "uses.py").write_text("from room import base, writes0\nbase.seen[0]\n")
    assert failing(tmp_path) == ["room.reads"]


def test_a_circle_that_can_be_entered_at_one_place_only_is_found(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text("import early\nvalue = early.value\n")
    (tmp_path / "early.py").write_text("value = 1\nimport late\n")
    (tmp_path / "user.py").write_text("import early\n")
    (tmp_path / "other.py").write_text("import late\n")
    assert failing(tmp_path) == []
    (tmp_path / "early.py").write_text("import late\nvalue = 1\n")
    assert failing(tmp_path) == ["early", "user"]


def test_a_package_that_loads_its_modules_is_tried_with_them(tmp_path: Path) -> None:
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "__init__.py").write_text("from room.one import value\n")
    (tmp_path / "room" / "one.py").write_text("value = 1\n")
    (tmp_path / "room" / "two.py").write_text("from room import value, gone\n")
    (tmp_path / "user.py").write_text("from room import one\none.value\n")
    assert failing(tmp_path) == ["room.two"]


@pytest.mark.parametrize("name", ["tadoru", "tadoru.__main__", "tadoru.cli.main"])
def test_the_way_in_loads_nothing_heavy(name: str, checkout: Path) -> None:
    code = f"import sys, {name}; print(*sorted(set(sys.modules) & {set(HEAVY)!r}))"
    assert run(checkout / "src", code).split() == []
