"""Checks of security headers, mixed content, forms and cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tadoru.i18n.translation import N_
from tadoru.jobs.audit.context import CheckDefinitions, CheckGroup, PageContext
from tadoru.model.finding import Finding, Threshold
from tadoru.model.web import Link, LinkKind
from tadoru.parse.page import PageView

_define = CheckDefinitions("security")

HSTS = _define.notice(
    "security-hsts-missing",
    title=N_("Missing HSTS header"),
    why=N_("A first visit over http:// can be intercepted before it is redirected."),
    fix=N_("Send Strict-Transport-Security with a max-age of one year."),
    is_site_wide=True,
)
HSTS_SHORT = _define.info(
    "security-hsts-short",
    title=N_("HSTS max-age too short"),
    why=N_("Visitors who return after it expires are no longer protected."),
    fix=N_("Increase max-age to one year (31536000)."),
    threshold=Threshold(15_552_000, "seconds"),
    is_site_wide=True,
)
CSP = _define.info(
    "security-csp-missing",
    title=N_("Missing Content-Security-Policy header"),
    why=N_("Nothing restricts what an injected script can do."),
    fix=N_("Send a Content-Security-Policy. You can start in report-only mode."),
    is_site_wide=True,
)
NOSNIFF = _define.info(
    "security-content-type-options-missing",
    title=N_("Missing X-Content-Type-Options header"),
    why=N_("Browsers may guess the type of a file and run something that is not meant to be a script."),
    fix=N_("Send X-Content-Type-Options: nosniff."),
    is_site_wide=True,
)
FRAMES = _define.info(
    "security-frame-options-missing",
    title=N_("No clickjacking protection"),
    why=N_("Another site can load the page in an invisible frame and hijack clicks."),
    fix=N_("Send frame-ancestors in the Content-Security-Policy, or X-Frame-Options."),
    is_site_wide=True,
)
REFERRER = _define.info(
    "security-referrer-policy-missing",
    title=N_("Missing Referrer-Policy header"),
    why=N_("It depends on the browser how much of the URL is shared with other sites."),
    fix=N_("Send Referrer-Policy: strict-origin-when-cross-origin."),
    is_site_wide=True,
)
MIXED_ACTIVE = _define.error(
    "mixed-content-active",
    title=N_("Active mixed content"),
    why=N_("Browsers block scripts, stylesheets and frames that an HTTPS page loads over http://."),
    fix=N_("Load them over https://."),
)
MIXED_PASSIVE = _define.warning(
    "mixed-content-passive",
    title=N_("Passive mixed content"),
    why=N_("Images and media loaded over http:// make an HTTPS page insecure or are not displayed."),
    fix=N_("Load them over https://."),
)
FORM_INSECURE = _define.error(
    "form-insecure-action",
    title=N_("Form submitted over HTTP"),
    why=N_("The form data is sent unencrypted, and browsers warn visitors."),
    fix=N_("Submit the form to an https:// URL."),
)
FORM_ON_HTTP = _define.warning(
    "form-on-http-page",
    title=N_("Form on HTTP page"),
    why=N_("An attacker can modify the page in transit and change where the form is submitted."),
    fix=N_("Serve the page over HTTPS."),
)
PASSWORD = _define.error(
    "password-on-http-page",
    title=N_("Password field on HTTP page"),
    why=N_("Passwords entered here can be read in transit."),
    fix=N_("Serve the page over HTTPS."),
)
PROTOCOL_RELATIVE = _define.info(
    "protocol-relative-resource",
    title=N_("Protocol-relative resource URL"),
    why=N_("A URL of the form //host/… is loaded without encryption if the page is served over HTTP."),
    fix=N_("Use https:// in the URL."),
)
VERSION = _define.info(
    "server-version-leaked",
    title=N_("Server version exposed"),
    why=N_("Attackers use the version to find known vulnerabilities."),
    fix=N_("Remove the version from the Server and X-Powered-By headers."),
    is_site_wide=True,
)
COOKIE_NOT_SECURE = _define.warning(
    "cookie-not-secure",
    title=N_("Cookie without Secure"),
    why=N_("The cookie is also sent over unencrypted connections, where others can read it."),
    fix=N_("Add the Secure attribute."),
)
COOKIE_NOT_HTTP_ONLY = _define.warning(
    "cookie-not-http-only",
    title=N_("Session cookie without HttpOnly"),
    why=N_("An injected script can read the cookie and take over the session."),
    fix=N_("Add the HttpOnly attribute."),
)
COOKIE_NO_SAME_SITE = _define.info(
    "cookie-without-same-site",
    title=N_("Cookie without SameSite"),
    why=N_("It depends on the browser whether cross-site requests include the cookie."),
    fix=N_("Add SameSite=Lax or SameSite=Strict. Use SameSite=None only where it is required."),
)

_VERSION = re.compile(r"(?<![\w.-])(?>[\w.-]*?[a-z])[\w.-]*+/\d|\bPHP/?\d|ASP\.NET(?:\s|$)|^\d+(?:\.\d+)+$", re.IGNORECASE)
_MAX_AGE = re.compile(r"max-age\s*=\s*\"?(\d+)", re.IGNORECASE)
_SESSION = re.compile(r"sess|(?:^|[._-])sid(?:$|[._-])|auth|jwt|login|remember", re.IGNORECASE)
_FOR_SCRIPTS = re.compile(r"csrf|xsrf", re.IGNORECASE)
"""Cookies that scripts have to read."""


def run(context: PageContext) -> Iterator[Finding]:
    yield from _check_document(context)
    yield from _check_cookies(context)


def _check_document(context: PageContext) -> Iterator[Finding]:
    page = context.document
    if page is None:
        return
    yield from _check_headers(context, page)
    if page.url.startswith("https:"):
        yield from _check_https_page(context, page)
    elif not context.is_loopback:
        if any(form.method == "post" for form in page.forms):
            yield FORM_ON_HTTP.on(page.url)
        if page.has_password_field:
            yield PASSWORD.on(page.url)
    if page.protocol_relative:
        yield PROTOCOL_RELATIVE.among(page.url, page.protocol_relative)


def _check_headers(context: PageContext, page: PageView) -> Iterator[Finding]:
    headers = context.headers
    policy = headers.get("content-security-policy", "").lower()
    if not policy and not page.csp:
        yield CSP.on(page.url)
    if headers.get("x-content-type-options", "").strip().lower() != "nosniff":
        yield NOSNIFF.on(page.url, headers.get("x-content-type-options", ""))
    if "frame-ancestors" not in policy and "x-frame-options" not in headers:
        yield FRAMES.on(page.url)
    if "referrer-policy" not in headers and not page.referrer:
        yield REFERRER.on(page.url)
    exposed = [f"{name}: {headers[name]}" for name in ("server", "x-powered-by", "x-aspnet-version") if name in headers]
    if leaked := [text for text in exposed if _VERSION.search(text.partition(": ")[2])]:
        yield VERSION.among(page.url, leaked)


def _check_https_page(context: PageContext, page: PageView) -> Iterator[Finding]:
    """Findings on a page that was served over HTTPS."""
    hsts = context.headers.get("strict-transport-security")
    if hsts is None:
        yield HSTS.on(page.url)
    else:
        stated = _MAX_AGE.search(hsts)
        if (age := int(stated[1][:12]) if stated else 0) < (limit := context.limits[HSTS_SHORT]):
            yield HSTS_SHORT.on(page.url, hsts, seconds=age, limit=limit)
    running = [
        *context.links[LinkKind.SCRIPT],
        *context.links[LinkKind.FRAME],
        *filter(_is_stylesheet, context.links[LinkKind.LINK]),
    ]
    if active := [link.url for link in running if link.url.startswith("http:")]:
        yield MIXED_ACTIVE.among(page.url, active)
    shown = (*context.links[LinkKind.IMAGE], *context.links[LinkKind.MEDIA])
    if passive := [link.url for link in shown if link.url.startswith("http:")]:
        yield MIXED_PASSIVE.among(page.url, passive)
    if insecure := [form.action for form in page.forms if form.action.startswith("http:")]:
        yield FORM_INSECURE.among(page.url, insecure)


def _is_stylesheet(link: Link) -> bool:
    return not {"stylesheet", "manifest", "modulepreload"}.isdisjoint(link.rel.split())


def _check_cookies(context: PageContext) -> Iterator[Finding]:
    """Cookies that the page sets. Their values are never read."""
    page = context.page
    if page is None:
        return
    cookies = [cookie for cookie in page.cookies if not cookie.is_removal]
    if not cookies:
        return
    is_encrypted = page.url.startswith("https:")
    if is_encrypted and (found := [cookie.name for cookie in cookies if not cookie.secure]):
        yield COOKIE_NOT_SECURE.among(page.url, found)
    sessions = [cookie for cookie in cookies if _SESSION.search(cookie.name) and not _FOR_SCRIPTS.search(cookie.name)]
    if found := [cookie.name for cookie in sessions if not cookie.http_only]:
        yield COOKIE_NOT_HTTP_ONLY.among(page.url, found)
    if found := [cookie.name for cookie in cookies if not cookie.same_site]:
        yield COOKIE_NO_SAME_SITE.among(page.url, found)


GROUP = CheckGroup(_define.checks, run)
