"""Whether a page needs a browser, and what a browser changes: the page as sent compared with the page as rendered."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tadoru.model.web import FOLLOWED, LinkKind
from tadoru.parse.page import PageView
from tadoru.rules.url import host_key

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


MOST = 100
"""Links, languages or types that are named."""

Differences = dict[str, object]


def rendering_differences(raw: PageView, rendered: PageView) -> Differences:
    """What differs, by name; empty when nothing does."""
    found: Differences = {}
    pairs = {
        "title": (raw.head.title, rendered.head.title),
        "description": (raw.head.meta_description, rendered.head.meta_description),
        "canonical": (raw.head.canonical, rendered.head.canonical),
        "language": (raw.head.lang, rendered.head.lang),
        "h1": (list(raw.head.h1), list(rendered.head.h1)),
        "robots": (robots_names(raw), robots_names(rendered)),
        "words": (raw.content.words, rendered.content.words),
    }
    for name, (before, after) in pairs.items():
        if before != after:
            found[name] = {"raw": before, "rendered": after}
    sets = {
        "links": (linked_urls(raw), linked_urls(rendered)),
        "hreflang": (listed_languages(raw), listed_languages(rendered)),
        "structured_data": (_types(raw), _types(rendered)),
    }
    for name, (was, became) in sets.items():
        if was.keys() != became.keys():
            found[name] = _moved(was, became)
    if "noindex" in robots_names(raw) and "noindex" not in robots_names(rendered):
        # Search engines that read it do not come back to render the page, so nobody learns that it was taken away.
        found["noindex_only_raw"] = True
    return found


def _moved(was: dict[str, None], became: dict[str, None]) -> Differences:
    came = [one for one in became if one not in was]
    went = [one for one in was if one not in became]
    sides = {"added": came, "removed": went}
    listed: Differences = {side: ones[:MOST] for side, ones in sides.items() if ones}
    return listed | {f"{side}_count": len(ones) for side, ones in sides.items() if len(ones) > MOST}


def robots_names(view: PageView) -> list[str]:
    """The directives for everyone in the page; those of the header do not depend on rendering. `none` is two of them."""
    names = {f"{one.name}:{one.value}" if one.value else one.name for one in view.directives if one.agent == "robots"}
    return sorted(names - {"none"} | {"noindex", "nofollow"} if "none" in names else names)


def linked_urls(view: PageView) -> dict[str, None]:
    """What the page links to on its own site, in order."""
    here = host_key(view.url)
    return _each(link.url for link in view.links if link.kind in FOLLOWED and host_key(link.url) == here)


def listed_languages(view: PageView) -> dict[str, None]:
    """The alternates that the page declares, with their languages."""
    return _each(f"{language} {url}" for language, url in view.head.hreflang)


def _types(view: PageView) -> dict[str, None]:
    return _each(name for item in view.structured.items for name in item.types)


def _each(values: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(values)
