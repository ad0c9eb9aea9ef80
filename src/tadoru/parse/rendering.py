"""What a browser changes: the page as it was sent against the page as it is shown."""

from __future__ import annotations

from tadoru.parse.page import PageView


def differences(raw: PageView, rendered: PageView) -> dict[str, object]:
    """What differs, by name; empty when nothing does."""
    found: dict[str, object] = {}
    for name in ("title", "meta_description", "canonical", "h1"):
        before, after = getattr(raw.head, name), getattr(rendered.head, name)
        if before != after:
            found[name] = [before, after]
    return found
