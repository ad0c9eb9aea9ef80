"""Files, functions and the number of files stay within what a reader can hold."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture import rules

MAX_LINES_OF_A_FILE = 600
MAX_LINES_OF_A_FUNCTION = 80
MAX_FILES = 560


def long_files(root: Path) -> list[str]:
    lengths = ((file, len(file.read_text("utf-8").splitlines())) for file in sorted(root.rglob("*.py")))
    return [f"{file.relative_to(root)}: {length} lines" for file, length in lengths if length > MAX_LINES_OF_A_FILE]


def long_functions(modules: list[rules.Module]) -> list[str]:
    found = []
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MAX_LINES_OF_A_FUNCTION:
                    found.append(f"{module.path}:{node.lineno}: {node.name} has {length} lines")
    return found


def test_no_file_of_the_product_is_too_long(checkout: Path) -> None:
    assert not long_files(checkout / "src" / "tadoru")


def test_no_function_of_the_product_is_too_long(checkout: Path) -> None:
    assert not long_functions(rules.product(checkout / "src" / "tadoru"))


def test_the_product_has_at_most_560_files(checkout: Path) -> None:
    assert len(list((checkout / "src" / "tadoru").rglob("*.py"))) <= MAX_FILES


def test_one_line_too_many_is_found(tmp_path: Path) -> None:
    body = "    x = 1\n" * (MAX_LINES_OF_A_FUNCTION - 1)
    (tmp_path / "fits.py").write_text(f"async def fits():\n{body}")
    (tmp_path / "grown.py").write_text(f"class A:\n  async def grown():\n{body}    x = 2\n")
    (tmp_path / "full.py").write_text("\n" * MAX_LINES_OF_A_FILE)
    (tmp_path / "over.py").write_text("\n" * (MAX_LINES_OF_A_FILE + 1))
    assert long_functions(rules.read(tmp_path)) == [f"grown.py:2: grown has {MAX_LINES_OF_A_FUNCTION + 1} lines"]
    assert long_files(tmp_path) == [f"over.py: {MAX_LINES_OF_A_FILE + 1} lines"]
