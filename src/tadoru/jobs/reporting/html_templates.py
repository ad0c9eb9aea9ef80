"""HTML reports: the templates that all of them share, and links to crawled URLs.

A report is one file. Style and script are inline; a content security policy allows them by their hashes and nothing else, so that
crawled text could not run even if it were not escaped. Templates escape every value, and a page is written while it is rendered.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, lru_cache
from html import escape
from importlib import resources
from pickle import UnpicklingError
from typing import Any, TextIO

from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from tadoru.i18n.translation import translator
from tadoru.jobs.reporting.charts import bar_rects, chart_columns, describe_segments
from tadoru.jobs.reporting.escape import clip, printable, readable_url
from tadoru.version import VERSION

_PLAIN_URL = re.compile(r"https?://[!#-%(-;=?-~]+")
"""A URL that needs no escaping."""


@cache
def read_asset(name: str) -> str:
    """The style sheet or the script of all reports."""
    return resources.files("tadoru.jobs.reporting").joinpath("assets", name).read_text(encoding="utf-8")


class CompiledTemplates(FileSystemBytecodeCache):
    """Templates as an earlier process compiled them, in a temporary folder that only the user may use.

    Compiling takes longer than most reports. Nothing depends on the folder: what cannot be read or written is compiled again.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except (OSError, EOFError, UnpicklingError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled_templates() -> CompiledTemplates | None:
    with suppress(OSError, RuntimeError):  # The folder cannot be made, or belongs to somebody else.
        return CompiledTemplates(pattern=f"tadoru-{VERSION}-%s.cache")
    return None


@cache
def environment(lang: str) -> Environment:
    """The templates with the messages of a language."""
    found = Environment(
        loader=PackageLoader("tadoru.jobs.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        bytecode_cache=_compiled_templates(),
    )
    messages, style, script = translator(lang), read_asset("report.css"), read_asset("report.js")
    found.globals |= {
        "_": messages.gettext, "ngettext": messages.ngettext, "pgettext": messages.pgettext, "number": messages.number,
        "lang": lang, "version": VERSION,
        "style": style, "style_hash": _hash(style), "script": script, "script_hash": _hash(script),
        "bar_rects": bar_rects, "chart_columns": chart_columns, "describe_segments": describe_segments,
    }  # fmt: skip
    found.filters |= {
        "link": link_html,
        "link_items": link_items_html,
        "badge": badge_html,
        "clip": clip,
        "printable": printable,
        "readable_url": readable_url,
    }
    return found


def write_template(name: str, lang: str, out: TextIO, /, **context: Any) -> None:
    """Writes a page piece by piece, so that memory does not grow with it."""
    out.writelines(environment(lang).get_template(name).generate(context))


def render_template(name: str, lang: str, /, **context: Any) -> Markup:
    """A part of a page."""
    return Markup(environment(lang).get_template(name).render(context))  # noqa: S704 (the template escaped its values)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def link_html(url: str, name: str, anchor_text: str = "") -> Markup:
    """A link to a crawled URL if it is safe to follow, otherwise its name; and the text by which another page links."""
    return Markup(_link(url, name, anchor_text))  # noqa: S704 (escaped there)


def link_items_html(links: Iterable[tuple[str, str, str]]) -> Markup:
    """A list item for each link (URL, name, anchor text)."""
    return Markup("".join([f"<li>{_link(*link)}</li>" for link in links]))  # noqa: S704 (escaped there)


def _link(url: str, name: str, anchor_text: str) -> str:
    quote = f" <q>{escape(anchor_text)}</q>" if anchor_text else ""
    if not _PLAIN_URL.fullmatch(url):
        if not url.lower().startswith(("http://", "https://")):
            return escape(name) + quote
        url = escape(printable(url))
    return f'<a href="{url}" rel="noopener noreferrer nofollow" target="_blank">{escape(name)}</a>{quote}'


@lru_cache(256)
def badge_html(text: object, kind: str) -> Markup:
    """A small coloured label."""
    return Markup(f'<span class="tag {kind}">{escape(str(text))}</span>')  # noqa: S704 (escaped here)
