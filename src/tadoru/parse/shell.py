"""Whether a page says nothing until scripts have run: an empty shell, to be read with a browser."""

from __future__ import annotations

from tadoru.parse.page import PageView


def needs_rendering(view: PageView) -> str | None:
    """Why a browser is needed; None when the page can be read as it is."""
    if view.app_root and view.content.words < 20:
        return f"#{view.app_root} is empty without scripts"
    return None
