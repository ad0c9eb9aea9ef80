"""Whether a page says nothing until scripts have run: an empty shell, to be read with a browser.

Judged from what the page holds, not from what it is made with: a page that was rendered on the server needs no browser whatever
its framework, and an empty one needs it even if its framework is unknown. In doubt the answer is no: a browser costs a hundred
times as much.
"""

from __future__ import annotations

import re

from tadoru.model.web import FOLLOWED, LinkKind
from tadoru.parse.page import PageView

FEW = 30
"""Words that a page with an application's root may have: a greeting, a loading message, a footer."""
HARDLY_ANY = 10
_MENTIONS_SCRIPTS = re.compile(r"java\s?script|スクリプト", re.IGNORECASE)


def needs_rendering(view: PageView) -> str | None:
    """Why a browser is needed; None when the page can be read as it is."""
    has_scripts = view.inline_script_bytes or any(link.kind is LinkKind.SCRIPT for link in view.links)
    has_heading = any(heading.text and not heading.is_aside for heading in view.headings)
    words = view.content.words
    if not has_scripts or has_heading or words >= FEW:
        return None
    if view.app_root:
        return f"the element “{view.app_root}” is empty until scripts fill it"
    if _MENTIONS_SCRIPTS.search(view.noscript):
        return "it asks visitors to switch JavaScript on"
    if view.forms or any(link.kind in FOLLOWED for link in view.links):
        return None
    if not words:
        return "it has scripts, and neither text nor links"
    return "it has scripts, hardly any text, and no links" if words < HARDLY_ANY and not view.images else None
