"""One event for programs that read pages: schema.org in a block of data that no text of a stranger's can close."""

from __future__ import annotations

import json
from dataclasses import replace

from markupsafe import Markup

from tadoru.jobs.events.publish.schema_org import CONTEXT, schema_org
from tadoru.store.events.values import EventTime
from tadoru.store.events.walking import Told

_SAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def event_json_ld(told: Told, time: EventTime | None, url: str) -> Markup:
    """The block's content. Signs that could end it are written as escapes, which JSON reads as the same signs."""
    text = json.dumps({"@context": CONTEXT} | schema_org(replace(told, time=time), url), ensure_ascii=False)
    for sign, escape in _SAFE.items():
        text = text.replace(sign, escape)
    return Markup(text)  # noqa: S704 - it holds no sign that HTML knows
