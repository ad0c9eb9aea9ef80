"""The cache of external links (`--cache`): results of earlier crawls, so that a build does not request the same URLs each time.

The file has a JSON object a line, with the URL, its result and when it was requested. Without `--cache-failures` it has only URLs
that respond with an accepted status, and redirects: a link that failed is requested again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tadoru.engine.job import KnownCheck
from tadoru.errors import UsageError, reading_errors
from tadoru.jobs.links.broken import AcceptedCodes
from tadoru.jobs.reporting.escape import encode_json
from tadoru.jobs.reporting.output import open_output
from tadoru.model.web import FailureKind
from tadoru.store.crawl.crawl_database import CrawlDatabase
from tadoru.store.crawl.records import UrlPurpose

KnownChecks = Mapping[str, KnownCheck]


def read_checks(name: str, oldest: float) -> dict[str, KnownCheck]:
    """The results in a file that were requested at `oldest` or later; none if there is no file. Raises UsageError."""
    if not Path(name).exists():
        return {}
    with reading_errors(name):
        lines = Path(name).read_text(encoding="utf-8", errors="replace").splitlines()
    found: dict[str, KnownCheck] = {}
    for number, line in enumerate(lines, 1):
        try:
            url, known = _parse_line(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise UsageError(
                "{file}, line {line}: not a result of an external link. Choose another --cache file, or delete it.",
                file=name,
                line=number,
            ) from None
        if known.checked_at >= oldest:
            found[url] = known
    return found


def _parse_line(line: str) -> tuple[str, KnownCheck]:
    """Raises ValueError, KeyError, TypeError, AttributeError or RecursionError for a line of another file."""
    data = json.loads(line)
    url = data.pop("url")
    known = KnownCheck(**data)
    if not isinstance(url, str) or not isinstance(known.checked_at, int | float):
        raise TypeError
    if not all(text is None or isinstance(text, str) for text in known[2:]) or not isinstance(known.status_code, int | None):
        raise TypeError
    if known.status_code is None:
        FailureKind(known.error_type or "")  # A status or the name of a failure.
    return url, known


async def write_checks(name: str, store: CrawlDatabase, known: KnownChecks, accepted: AcceptedCodes, *, failures: bool) -> None:
    """Writes the results that were known, with their times, and those of the external URLs that this crawl requested."""
    checks = dict(known)
    for resource in await store.resources.external():
        # Without the URL at the end of its redirects: a link to the same URL follows them itself.
        check = KnownCheck(
            checked_at=resource.checked_at.timestamp(),
            status_code=resource.status_code,
            content_type=resource.content_type,
            error_type=resource.error_type,
            error_message=resource.error_message,
        )
        _add(checks, resource.url, check, accepted, failures=failures)
    async for row in store.graph.pages():
        if row.purpose == UrlPurpose.CHECK and not row.internal and row.crawled_at is not None:
            check = KnownCheck(
                checked_at=row.crawled_at.timestamp(),
                status_code=row.status_code,
                content_type=row.content_type,
                redirect_url=row.redirect_url,
                error_type=row.error_type,
                error_message=row.error_message,
            )
            _add(checks, row.url, check, accepted, failures=failures)
    with open_output(name) as out:
        out.writelines(encode_json({"url": url, **checks[url]._asdict()}) + "\n" for url in sorted(checks))


def _add(checks: dict[str, KnownCheck], url: str, check: KnownCheck, accepted: AcceptedCodes, *, failures: bool) -> None:
    """Adds a result that is not known, if it is good or failures are kept too."""
    responded = check.status_code is not None and check.error_type is None
    is_good = responded and (check.redirect_url is not None or accepted.accepts(check.status_code or 0, url))
    if url not in checks and (is_good or (failures and (responded or check.error_type is not None))):
        checks[url] = check
