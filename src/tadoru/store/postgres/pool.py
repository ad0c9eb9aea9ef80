"""The connections of the task engine, as cheap as they can be."""

from __future__ import annotations

from typing import Any

import psycopg
import psycopg_pool


def pool(**given: Any) -> psycopg_pool.AsyncConnectionPool:
    """Every request of the task engine is one statement: it needs no transaction around it, and no question before it whether the
    connection still lives. When it does not, the worker hears of it and begins anew."""
    return psycopg_pool.AsyncConnectionPool(**{**given, "check": None, "configure": _without_transactions})


async def _without_transactions(connection: psycopg.AsyncConnection[Any]) -> None:
    await connection.set_autocommit(True)
