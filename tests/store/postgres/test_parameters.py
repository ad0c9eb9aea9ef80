"""The style of parameters is all that differs between a statement for SQLite and one for PostgreSQL."""

from __future__ import annotations

import pytest

from tadoru.store.crawl.postgres.connection import plain, plain_values, with_driver_parameters


@pytest.mark.parametrize(
    "statement, expected",
    [
        ("SELECT 1 WHERE a = ? AND b = ?", "SELECT 1 WHERE a = %s AND b = %s"),
        ("SELECT 1 WHERE a = :name", "SELECT 1 WHERE a = %(name)s"),
        ("SELECT a::text, '?', ':no', 'it''s ?'", "SELECT a::text, '?', ':no', 'it''s ?'"),
        ("SELECT 1 WHERE a LIKE 'x%' AND b = ?", "SELECT 1 WHERE a LIKE 'x%%' AND b = %s"),
        ("SELECT 5 % 2", "SELECT 5 %% 2"),
    ],
)
def test_only_parameters_are_changed(statement: str, expected: str) -> None:
    assert with_driver_parameters(statement) == expected


def test_what_a_text_cannot_hold_is_replaced() -> None:
    assert plain("a\x00b") == "a\ufffdb"
    assert plain("a\ud800b") == "a?b"
    assert plain(3) == 3
    assert plain_values(["\x00", 1]) == ["\ufffd", 1]
    assert plain_values({"a": "\x00"}) == {"a": "\ufffd"}
