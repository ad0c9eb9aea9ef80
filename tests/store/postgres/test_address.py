"""Addresses of crawls on PostgreSQL."""

from __future__ import annotations

import pytest
from psycopg.conninfo import conninfo_to_dict

from tadoru.errors import UsageError
from tadoru.store.crawl.postgres.crawl_url import is_postgresql, parse


def test_a_crawl_is_named_in_the_address_and_the_rest_is_the_drivers() -> None:
    found = parse("postgresql://ann:secret@db.example:5433/sites?crawl=shop-2&sslmode=require")
    assert found.dsn == "postgresql://ann:secret@db.example:5433/sites?sslmode=require"
    assert (found.crawl, found.schema) == ("shop-2", "crawl_shop-2")


def test_a_space_in_a_parameter_stays_one() -> None:
    address = parse("postgresql://me@db/x?options=-c%20jit%3Doff&crawl=shop")
    assert conninfo_to_dict(address.dsn)["options"] == "-c jit=off"


def test_without_a_name_it_is_the_crawl_called_default() -> None:
    assert parse("postgres://localhost/sites").schema == "crawl_default"


def test_a_password_is_never_shown() -> None:
    assert parse("postgresql://ann:secret@db/sites?crawl=a").shown == "postgresql://ann@db/sites?crawl=a"
    assert parse("postgresql:///sites").shown == "postgresql:///sites?crawl=default"


@pytest.mark.parametrize("name", ["", "A", "a b", 'a"; DROP SCHEMA public', "-a", "x" * 49, "é"])
def test_a_name_that_could_be_mistaken_for_something_else_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="Invalid crawl name"):
        parse(f"postgresql://localhost/sites?crawl={name}")


def test_an_address_that_is_none_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="Invalid database URL"):
        parse("postgresql://[half/sites")


def test_only_addresses_of_postgresql_are_taken_for_one() -> None:
    assert is_postgresql("postgresql://localhost/a")
    assert is_postgresql("postgres://localhost/a")
    assert not is_postgresql("./postgresql.db")
