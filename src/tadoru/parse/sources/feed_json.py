"""JSON Feed (1.0 and 1.1): the items of one, as raw events. When an event is, is looked for as in any other feed."""

from __future__ import annotations

import json
from typing import Any

from tadoru.model.event import RawEvent
from tadoru.parse.sources.feed_charset import text_of
from tadoru.parse.sources.feed_item import WhereDates, plain
from tadoru.parse.sources.fields import absolute
from tadoru.parse.sources.problems import Problems

MAX_BYTES = 10 * 1024 * 1024


def read_json(
    body: bytes, content_type: str | None, url: str, dates: WhereDates, limit: int, problems: Problems
) -> tuple[list[RawEvent], str | None]:
    """The items, and the address of the next page."""
    try:
        feed = json.loads(text_of(body, content_type)) if len(body) <= MAX_BYTES else None
    except (ValueError, RecursionError) as error:
        problems.add(
            "start", f"This is no JSON that can be read ({type(error).__name__}).", body[:300].decode("utf-8", "replace")
        )
        return [], None
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(feed, dict) or not isinstance(items, list):
        problems.add(
            "start", "This is no JSON Feed: it has no list of items, or is too large.", body[:300].decode("utf-8", "replace")
        )
        return [], None
    if len(items) > limit:
        problems.add(f"item {limit + 1}", f"There are more than {limit} items; the rest is not read.")
    events = []
    for number, item in enumerate(items[:limit], 1):
        if isinstance(item, dict):
            events.append(_event(number, item, url, dates))
        else:
            problems.add(f"item {number}", "The item is no object and is left out.", str(item)[:300])
    return events, _address(feed, url, "next_url")


def _event(number: int, item: dict[str, Any], base: str, dates: WhereDates) -> RawEvent:
    title = _text(item, "title")
    description = _text(item, "content_html", "content_text", "summary")
    published = _text(item, "date_published", "date_modified")
    tags = item.get("tags")
    extra = {"published": published, "author": _author(item), "enclosure": _attachment(item, base, "")}
    return RawEvent(
        position=f"item {number}",
        uid=_text(item, "id"),
        title=plain(title) if title else None,
        description=description,
        start=dates.find(title, description, published),
        url=_address(item, base, "url", "external_url"),
        image=_address(item, base, "image", "banner_image") or _attachment(item, base, "image/"),
        category=", ".join(tag for tag in tags if isinstance(tag, str)) or None if isinstance(tags, list) else None,
        updated=_text(item, "date_modified"),
        extra={name: value for name, value in extra.items() if value},
    )


def _text(item: dict[str, Any], *names: str) -> str | None:
    """The first of these that says something; numbers are texts, too: ids are often written so."""
    for name in names:
        value = item.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return None


def _address(item: dict[str, Any], base: str, *names: str) -> str | None:
    return next((found for name in names if (text := _text(item, name)) and (found := absolute(text, base))), None)


def _author(item: dict[str, Any]) -> str | None:
    authors = item.get("authors")
    author = authors[0] if isinstance(authors, list) and authors else item.get("author")
    return _text(author, "name") if isinstance(author, dict) else None


def _attachment(item: dict[str, Any], base: str, kind: str) -> str | None:
    attachments = item.get("attachments")
    fitting = (
        one
        for one in (attachments if isinstance(attachments, list) else ())
        if isinstance(one, dict) and (_text(one, "mime_type") or "").startswith(kind)
    )
    return next((found for one in fitting if (found := _address(one, base, "url"))), None)
