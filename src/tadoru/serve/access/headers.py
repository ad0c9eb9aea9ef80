"""The headers that every answer carries, so that a browser does only what our pages need. Pure."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders

from tadoru.serve.access.who import NOBODY, Caller

POLICY = "; ".join((
    "default-src 'none'", "img-src 'self' https: data:", "style-src 'self'", "script-src 'self'", "connect-src 'self'",
    "font-src 'self'", "manifest-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
))  # fmt: skip
"""No inline script, no inline style, nothing from elsewhere but the pictures of events."""

ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def protect(headers: MutableHeaders, caller: Caller, *, secure: bool) -> None:
    """Add what is missing. What somebody sees who signed in is kept by no shared cache."""
    for name, value in ALWAYS.items():
        headers.setdefault(name, value)
    if secure:
        headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    if caller is not NOBODY:
        if "public" in headers.get("cache-control", "public"):
            headers["Cache-Control"] = "private, no-cache"
        headers.add_vary_header("Authorization, Cookie")
