"""URLs of crawls on PostgreSQL: `postgresql://user@host/db?crawl=NAME`. A crawl is a schema of the database."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from tadoru.errors import UsageError, quoted

DEFAULT = "default"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")


def is_postgresql(database: str) -> bool:
    return database.startswith(("postgresql://", "postgres://"))


def names_crawl(database: str) -> bool:
    """Whether an address says which crawl it means."""
    return is_postgresql(database) and any(key == "crawl" for key, _ in parse_qsl(urlsplit(database).query))


class CrawlUrl(NamedTuple):
    """The database and the name of a crawl."""

    dsn: str
    """The database itself, as its driver wants it."""
    crawl: str

    @property
    def schema(self) -> str:
        return f"crawl_{self.crawl}"

    @property
    def shown(self) -> str:
        """As messages name it: never with its password."""
        found = urlsplit(self.dsn)
        place = found.netloc.rpartition("@")
        who = f"{place[0].partition(':')[0]}@" if place[0] else ""
        return f"{found.scheme}://{who}{place[2]}{found.path}?crawl={self.crawl}"


def parse(database: str) -> CrawlUrl:
    """Take an address apart. Raises UsageError."""
    try:
        found = urlsplit(database)
        given = parse_qsl(found.query, keep_blank_values=True)
        _ = found.port
    except ValueError:
        raise UsageError("Invalid database URL. Use postgresql://user@host/name?crawl=NAME.") from None
    name = next((value for key, value in given if key == "crawl"), DEFAULT)
    if not _NAME.fullmatch(name):
        raise UsageError("Invalid crawl name {name}. Use up to 48 lower-case letters, digits, - and _.", name=quoted(name))
    rest = urlencode([(key, value) for key, value in given if key != "crawl"], quote_via=quote)  # libpq knows no `+`.
    return CrawlUrl(urlunsplit(found._replace(scheme="postgresql", query=rest)), name)


def address_of(database: str, crawl: str) -> str:
    """The address of a crawl in the database that an address names."""
    found = urlsplit(parse(database).dsn)
    given = [*parse_qsl(found.query, keep_blank_values=True), ("crawl", crawl)]
    return urlunsplit(found._replace(query=urlencode(given, quote_via=quote)))
