"""What the errors of the drivers say about their causes."""

from __future__ import annotations

import sqlite3

import psycopg
import pytest

from tadoru.errors import StoreError
from tadoru.store.errors import translated

DATABASE = "postgresql://bob@db.example/crawls"
AT = 'connection to server at "192.0.2.1", port 5432 failed: '


def message_of(error: Exception) -> str:
    with pytest.raises(StoreError) as caught, translated(DATABASE):
        raise error
    return str(caught.value)


@pytest.mark.parametrize(
    "reason",
    [
        f'{AT}FATAL:  role "bob" does not exist',
        f'{AT}root certificate file "/home/bob/.postgresql/root.crt" does not exist',
        "failed to resolve host 'password-db': [Errno -2] Name or service not known",
        f"{AT}fe_sendauth: no password supplied",
        f'{AT}FATAL:  role "database" does not exist',
    ],
)
def test_a_connection_that_fails_for_a_reason_of_its_own_shows_that_reason(reason: str) -> None:
    expected = f"Cannot connect to the database {DATABASE} ({reason}). Check the database URL and that the server is running."
    assert message_of(psycopg.OperationalError(f"connection failed: {reason}")) == expected


@pytest.mark.parametrize(
    "reason, expected",
    [
        ('FATAL:  database "my crawls" does not exist', f"The database {DATABASE} does not exist. Create it"),
        ('FATAL:  password authentication failed for user "bob"', "rejected the user or the password"),
    ],
)
def test_a_missing_database_and_a_wrong_password_are_recognised(reason: str, expected: str) -> None:
    assert expected in message_of(psycopg.OperationalError(f"connection failed: {AT}{reason}\nMultiple attempts failed"))


def test_every_error_of_sqlite_is_translated() -> None:
    error = sqlite3.InterfaceError("bad parameter or other API misuse")
    assert message_of(error) == f"The database {DATABASE} failed: bad parameter or other API misuse."


def test_a_server_without_memory_is_not_a_full_disk() -> None:
    assert message_of(psycopg.errors.OutOfMemory("out of memory")).startswith(f"The server of {DATABASE} is out of memory (")
    assert message_of(psycopg.errors.DiskFull("no space left")).startswith(f"The disk of the database {DATABASE} is full.")
