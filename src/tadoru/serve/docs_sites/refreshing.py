"""Crawling a documentation site again: what REST and pages ask for, refused in the same words."""

from __future__ import annotations

from fastapi import Request

from tadoru.serve.access.audit import by
from tadoru.serve.crawling import control
from tadoru.serve.docs_sites.sites import DocsSite, site_of
from tadoru.serve.service import service_of


def refresh(request: Request, site: DocsSite) -> DocsSite:
    """Ask for a new run, only for what changed. Raises Refused when it runs already, or when there is no room for it."""
    service = service_of(request)
    control.run(service, by(request), site.id)
    return site_of(service, site.id)
