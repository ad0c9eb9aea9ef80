"""Small documentation sites as they are stored, for the tests of what is written from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from tadoru.jobs.docs.bundle.model import BundleOptions, BundleSite, BundleSummary, PageMetadata, StoredDoc, StoredSpec
from tadoru.jobs.docs.bundle.writer import write_bundle

BASE = "https://docs.example.com/"
DAY = 86_400.0
START = 1_769_954_400.0  # 2026-02-01T14:00:00Z
SITE = BundleSite(BASE, START, "Example Docs", "How to use Example.", {"maxDepth": 2, "sameDomain": True})

INSTALL = "# Install\n\nRun this:\n\n```sh\n# as root\nmake install\n```\n\n## Windows\n\nUse the wizard.\n"
SETTINGS = "# Settings\n\n## Files\n\nThe file `app.toml` is read.\n\n| key | value |\n| --- | --- |\n| a | 1 |\n"
JAPANESE = "# 設定\n\n設定ファイルは起動時に一度だけ読み込まれます。\n"


def page(number: int, markdown: str, path: str = "", title: str | None = None, **more: object) -> StoredDoc:
    """A page whose title is its first heading."""
    named = title if title is not None else markdown.partition("\n")[0].lstrip("# ")
    digest = hashlib.sha256(markdown.encode("utf-8", "replace")).hexdigest()
    url = f"{BASE}{path or f'p{number}.html'}"
    return StoredDoc(url, named, markdown, number, START + number, digest, **more)  # type: ignore[arg-type]


def manual() -> list[StoredDoc]:
    """Three pages of a manual."""
    return [
        page(1, INSTALL, "guide/install.html", metadata=PageMetadata(description="Getting it."), breadcrumbs=("Guide",)),
        page(2, SETTINGS, "guide/settings.html", links=(BASE, f"{BASE}guide/install.html"), breadcrumbs=("Guide",), depth=1),
        page(3, JAPANESE, "ja/設定/", language="ja"),
    ]


def write(
    root: Path, docs: Sequence[StoredDoc], *, site: BundleSite = SITE, specs: Iterable[StoredSpec] = (), **options: object
) -> BundleSummary:
    """Write a site's folder."""
    kept = tuple(specs)
    return write_bundle(root, site, lambda: iter(docs), BundleOptions(**options), lambda: kept)  # type: ignore[arg-type]


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a folder but its state."""
    files = (file for file in sorted(root.rglob("*")) if file.is_file() and ".tadoru" not in file.parts)
    return {file.relative_to(root).as_posix(): file.read_bytes() for file in files}
