"""Self-contained HTML pages: the head with style and content security policy, links to crawled URLs, and badges.

Style and script are inline. A content security policy allows them by their hashes and nothing else, so that crawled text could
not run even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib import resources

from tadoru.jobs.reporting.escape import printable


@cache
def read_asset(name: str, package: str = "tadoru.jobs.reporting") -> str:
    """A style sheet or script from the folder `assets` of a package."""
    return resources.files(package).joinpath("assets", name).read_text(encoding="utf-8")


def html_head(lang: str, title: str, style: str, script: str = "") -> str:
    """Everything before the content of the body."""
    scripts = f" script-src {_hash(script)};" if script else ""
    policy = f"default-src 'none'; style-src {_hash(style)};{scripts} base-uri 'none'; form-action 'none'"
    return (
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="robots" content="noindex">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def link_html(url: str, text: str) -> str:
    """A link to a crawled URL if it is safe to follow; otherwise its text."""
    if not url.lower().startswith(("http://", "https://")):
        return escape(text)
    return f'<a href="{escape(printable(url))}" rel="noopener noreferrer nofollow" target="_blank">{escape(text)}</a>'


def badge_html(kind: str, text: str) -> str:
    """A small coloured label."""
    return f'<span class="tag {kind}">{escape(text)}</span>'
