"""Checks of the cookies that a page sets. Their values are never read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding

_define = CheckDefinitions("security")

NOT_SECURE = _define.warning(
    "cookie-not-secure",
    title=N_("Cookie without Secure"),
    why=N_("The cookie is also sent over unencrypted connections, where others can read it."),
    fix=N_("Add the Secure attribute."),
)
NOT_HTTP_ONLY = _define.warning(
    "cookie-not-http-only",
    title=N_("Session cookie without HttpOnly"),
    why=N_("An injected script can read the cookie and take over the session."),
    fix=N_("Add the HttpOnly attribute."),
)
NO_SAME_SITE = _define.info(
    "cookie-without-same-site",
    title=N_("Cookie without SameSite"),
    why=N_("It depends on the browser whether cross-site requests include the cookie."),
    fix=N_("Add SameSite=Lax or SameSite=Strict. Use SameSite=None only where it is required."),
)

_SESSION = re.compile(r"sess|(?:^|[._-])sid(?:$|[._-])|auth|jwt|login|remember", re.IGNORECASE)
_FOR_SCRIPTS = re.compile(r"csrf|xsrf", re.IGNORECASE)
"""Cookies that scripts have to read."""


def run(context: PageContext) -> Iterator[Finding]:
    page = context.page
    if page is None:
        return
    cookies = [cookie for cookie in page.cookies if not cookie.is_removal]
    if not cookies:
        return
    is_encrypted = page.url.startswith("https:")
    if is_encrypted and (found := [cookie.name for cookie in cookies if not cookie.secure]):
        yield NOT_SECURE.among(page.url, found)
    sessions = [cookie for cookie in cookies if _SESSION.search(cookie.name) and not _FOR_SCRIPTS.search(cookie.name)]
    if found := [cookie.name for cookie in sessions if not cookie.http_only]:
        yield NOT_HTTP_ONLY.among(page.url, found)
    if found := [cookie.name for cookie in cookies if not cookie.same_site]:
        yield NO_SAME_SITE.among(page.url, found)


GROUP = CheckGroup(_define.checks, run)
