"""Which city is meant: people say 盛岡 where sources write 盛岡市."""

from __future__ import annotations

from collections.abc import Iterable

_KINDS = ("市", "区", "町", "村", "都", "道", "府", "県")


def city_named(asked: str, known: Iterable[str]) -> str | None:
    """The city of a list that is asked for: by its name, or by its name without 市, 区, 町 or 村 when only one is called so."""
    cities = list(known)
    if asked in cities:
        return asked
    called = [city for city in cities if city.endswith(_KINDS) and city[:-1] == asked]
    return called[0] if len(called) == 1 else None


def cities_like(asked: str, known: Iterable[str]) -> tuple[str, ...]:
    """Some that may have been meant."""
    return tuple(city for city in known if city and (asked in city or city in asked))[:5]
