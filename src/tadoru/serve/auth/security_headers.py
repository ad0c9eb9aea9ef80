"""Security headers of every response: browsers may do only what the pages need. Pure."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders

from tadoru.serve.auth.principal import ANONYMOUS, Principal

CONTENT_SECURITY_POLICY = "; ".join((
    "default-src 'none'", "img-src 'self' https: data:", "style-src 'self'", "script-src 'self'", "connect-src 'self'",
    "font-src 'self'", "manifest-src 'self'", "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
))  # fmt: skip
"""No inline scripts or styles, nothing from other sites except event images."""

SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_ALWAYS = tuple((name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items())


def allow_framing(headers: MutableHeaders, sites: tuple[str, ...]) -> None:
    """Allow these sites to embed a response in a frame. Without sites it stays forbidden."""
    if sites:
        headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY.replace(
            "frame-ancestors 'none'", f"frame-ancestors {' '.join(sites)}"
        )


def add_security_headers(headers: MutableHeaders, caller: Principal, *, secure: bool) -> None:
    """Add missing security headers, and keep responses to signed-in principals out of shared caches."""
    there = {name for name, _ in headers.raw}
    if b"frame-ancestors" in dict(headers.raw).get(b"content-security-policy", b""):
        there.add(b"x-frame-options")  # The policy has the allowed sites; this header could only forbid all.
    headers.raw.extend(one for one in _ALWAYS if one[0] not in there)
    if secure:
        headers.setdefault("Strict-Transport-Security", "max-age=31536000")
    if caller is not ANONYMOUS:
        if "public" in headers.get("cache-control", "public"):
            headers["Cache-Control"] = "private, no-cache"
        headers.add_vary_header("Authorization, Cookie")
