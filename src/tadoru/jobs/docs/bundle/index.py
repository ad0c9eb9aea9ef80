"""index.json: the seed's schema, with fields added. Written a page at a time; only `lastChecked` moves by itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from tadoru.jobs.docs.bundle.base import Site, StoredDoc, stamp
from tadoru.jobs.docs.bundle.files import MARK
from tadoru.jobs.docs.bundle.specs import Spec

LAST_CHECKED = '  "lastChecked": '


def last_checked(seconds: float) -> str:
    """The one line that moves when nothing has changed."""
    return f'{LAST_CHECKED}"{stamp(seconds)}",\n'


def page_entry(doc: StoredDoc, *, file: str, digest: str, tokens: int, crawled_at: str) -> bytes:
    """What the index says of a page: the seed's fields first."""
    fields: dict[str, object] = {
        "url": doc.url,
        "title": doc.title or None,
        "file": file,
        "depth": doc.depth,
        "links": list(doc.links),
        "metadata": asdict(doc.metadata),
        "hash": digest,
        "crawledAt": crawled_at,
        "number": doc.number,
        "tokens": tokens,
        "source": doc.source,
        "language": doc.language,
        "generator": doc.generator,
        "version": doc.version,
        "breadcrumbs": list(doc.breadcrumbs),
    }
    return _indented(fields, "    ").encode("utf-8", "replace")


def head(site: Site, crawled_at: str, facts: Mapping[str, object]) -> bytes:
    """Everything before the pages."""
    lines = [
        "{\n", f'  "crawledAt": {_json(crawled_at)},\n', last_checked(site.checked_at), MARK,
        f'  "baseUrl": {_json(site.base_url)},\n',
        f'  "config": {_indented(dict(site.config), "  ").lstrip()},\n',
        *[f"  {_json(name)}: {_json(value)},\n" for name, value in facts.items()],
        '  "pages": [',
    ]  # fmt: skip
    return "".join(lines).encode("utf-8", "replace")


def tail(specs: Sequence[Spec], *, any_pages: bool) -> bytes:
    """Everything after the pages."""
    found = [{"url": spec.url, "type": spec.kind, "file": spec.file} for spec in specs]
    close = "\n  ]," if any_pages else "],"
    return f'{close}\n  "specs": {_indented(found, "  ").lstrip()}\n}}\n'.encode("utf-8", "replace")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _indented(value: object, indent: str) -> str:
    """JSON over several lines; no string of it has a line end, so that it can be moved to the right as text."""
    return indent + json.dumps(value, ensure_ascii=False, indent=2).replace("\n", f"\n{indent}")
