"""A crawl beside its run before, or beside another crawl; and the crawl as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tadoru.jobs.audit import reading
from tadoru.jobs.audit.compare.changes import FINDINGS, WORSE, Change, Kind
from tadoru.jobs.audit.compare.texts import SENTENCES, Sentences
from tadoru.jobs.audit.reading.comparing import ChangedPage, Compared, NothingToCompare
from tadoru.serve.crawling.places import database_of
from tadoru.serve.pages.crawls_frame import shown_number
from tadoru.serve.pages.crawls_kept import kept
from tadoru.serve.pages.crawls_reading import opened, shown
from tadoru.serve.pages.crawls_showing import web
from tadoru.serve.pages.desk import number_in
from tadoru.serve.pages.rendering import telling_of
from tadoru.serve.service import Service, service_of
from tadoru.store.crawls.values import ServedCrawl

router = APIRouter(include_in_schema=False)
OTHERS = 100
"""Crawls that can be chosen to compare with."""
_GOOD = frozenset({Kind.FIXED, Kind.INDEXED, Kind.FASTER})
_TABLES = ("pages", "links", "findings")


@dataclass(frozen=True, slots=True)
class ChangeGroup:
    """The changes of one kind."""

    words: str
    kind: str
    count: int
    items: tuple[tuple[ChangedPage, str], ...]
    """Each with what it was and is, in words."""


@router.get("/manage/crawls/{crawl_id}/compare")
def compare_page(request: Request, crawl_id: int) -> Response:
    """What is different from before."""
    crawl, path = opened(request, crawl_id, "compare")
    service, lang = service_of(request), telling_of(request).lang
    others = _others(service, crawl)
    asked = number_in(request.query_params.get("with"))
    other = next((one for one in others if one.id == asked), None)

    def read() -> dict[str, Any]:
        content: dict[str, Any] = {"others": others, "other": other, "compared": None, "groups": [], "sentence": "", "web": web}
        try:
            if other is not None:
                found = kept(reading.compare, database_of(service, other), path, lang=lang)
            else:
                found = kept(reading.compare_with_previous, path, lang=lang)
        except NothingToCompare:
            return content | {"sentence": telling_of(request).say("compare.other_none" if other is not None else "compare.none")}
        groups = _groups(found, SENTENCES[lang])
        return content | {"compared": found, "groups": groups, "shown": shown_number}

    return shown(request, crawl, "compare", "crawl_compare.html", read)


def _others(service: Service, crawl: ServedCrawl) -> Sequence[ServedCrawl]:
    """Those that may have something to compare with: they ran here, or were made elsewhere."""
    found = service.store.crawls(job=crawl.job, limit=OTHERS + 1)
    return [one for one in found if one.id != crawl.id and (one.started_at or not one.is_ours)][:OTHERS]


def _groups(found: Compared, say: Sentences) -> list[ChangeGroup]:
    groups = []
    for name, count in found.totals.items():
        kind = Kind(name)
        if kind in FINDINGS:
            continue
        colour = "bad" if kind in WORSE else "good" if kind in _GOOD else ""
        items = tuple((one, say.values(Change(kind, one.url, one.before, one.after))) for one in found.changes.get(name, ()))
        groups.append(ChangeGroup(say.kinds[kind], colour, count, items))
    return groups


@router.get("/manage/crawls/{crawl_id}/exports")
def exports_page(request: Request, crawl_id: int) -> Response:
    """The crawl as files: links to where REST makes them."""
    crawl, _ = opened(request, crawl_id, "exports")
    base, say = f"/api/v1/crawls/{crawl.id}/export", telling_of(request).say

    def read() -> dict[str, Any]:
        tables = [one for one in _TABLES if crawl.job == "audit" or one != "findings"]
        of_tables = [name for name, form in reading.EXPORTS.items() if form.of_tables]
        whole = [name for name, form in reading.EXPORTS.items() if not form.of_tables]
        rows = [(say(f"exports.{one}"), [(name, f"{base}?format={name}&table={one}") for name in of_tables]) for one in tables]
        return {"rows": rows, "whole": [(say(f"exports.{name}"), f"{base}?format={name}") for name in whole]}

    return shown(request, crawl, "exports", "crawl_exports.html", read)
