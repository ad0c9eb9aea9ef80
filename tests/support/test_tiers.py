"""The table of tiers names tests that are there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.tiers import STANDS_FOR, is_thorough

NAMES = sorted({*STANDS_FOR, *(name for names in STANDS_FOR.values() for name in names)})


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_the_table_is_that_of_a_test(name: str, checkout: Path) -> None:
    file, _, test = name.removesuffix("[postgresql]").partition("::")
    assert (checkout / file).exists()
    assert f"def {test.partition('[')[0]}(" in (checkout / file).read_text("utf-8") if test else True


def test_what_stands_for_others_is_no_thorough_test_itself() -> None:
    assert [name for name in STANDS_FOR if is_thorough(name)] == []


def test_the_most_exact_name_counts() -> None:
    test = "tests/cluster/test_identity.py::test_any_number_of_workers_find_what_a_file_keeps"
    assert not is_thorough(f"{test}[hamlets, two]")
    assert is_thorough(f"{test}[bakery, one, two and four]")
    assert not is_thorough("tests/cluster/test_hosts.py::test_x")
