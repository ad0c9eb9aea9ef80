"""Updating a site that was crawled before, with the options it was crawled with."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from tadoru.clock import SystemClock
from tadoru.errors import UsageError
from tadoru.jobs import launch
from tadoru.jobs.called import checked
from tadoru.jobs.docs.bundle.base import one_line
from tadoru.jobs.docs.library import fenced
from tadoru.jobs.docs.run import database_in, finish, prepare
from tadoru.jobs.report.words import counted
from tadoru.options import DocsOptions
from tadoru.settings import JOBS
from tadoru.store.open import open_existing


def stored_options(folder: Path) -> tuple[str, DocsOptions, dict[str, Any]]:
    """Start, options and configuration of the crawl in a site's folder. Raises UsageError."""
    database = database_in(folder)
    if not database.is_file():
        raise UsageError(f"{folder} has no crawl to update (no {database}): crawl the site again with -o {folder}.")
    store = open_existing(str(database), SystemClock())
    with closing(store.sql):
        kept = store.all_meta()
    starts, config = json.loads(kept.get("starts") or "[]"), json.loads(kept.get("config") or "{}")
    if not starts:
        raise UsageError(f"{folder} has no crawl to update: crawl the site again with -o {folder}.")
    secret = {setting.name for setting in JOBS["docs"] if setting.secret}
    if any(config.get(name) for name in secret):
        raise UsageError(
            f"{folder} was crawled with credentials, which are not kept: give them to tadoru docs {starts[0]} -o {folder} --diff."
        )
    known = {setting.name for setting in JOBS["docs"]}
    values = {name: value for name, value in config.items() if name in known and value not in (None, [], "")}
    options = replace(checked("docs", DocsOptions, values), output=str(folder), diff=True)
    return starts[0], options, config


async def refresh_site(folder: Path) -> str:
    """Update one site; what that changed, in a sentence."""
    url, options, config = stored_options(folder)
    prepared = await prepare(options, url, config)
    ended = await launch.crawl(prepared.plan, lambda notice: None)
    finished = await finish(options, prepared, ended)
    if finished.written is None:
        reason = finished.start.reason if finished.start else "another process is at it"
        return f"Not updated. {fenced(one_line(reason, 500))}"  # Where it was sent, and what it was told, the site chose.
    changes = finished.written.changes
    if not changes:
        return "Nothing changed."
    return f"{counted(len(changes.added), 'page')} added, {len(changes.changed)} changed, {len(changes.removed)} removed."
