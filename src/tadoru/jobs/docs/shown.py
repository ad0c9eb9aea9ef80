"""Descriptions of an API that a page shows or names without a link that a reader could follow: in the attribute of an element
that a script replaces, in the settings of such a script, or in its head. Pure.
"""

from __future__ import annotations

import re

from tadoru.parse.html import Document
from tadoru.rules.url import Resolver

_ELEMENTS = (
    ("redoc[spec-url]", "spec-url"),
    ("rapi-doc[spec-url]", "spec-url"),
    ("elements-api[apidescriptionurl]", "apidescriptionurl"),
    ("asyncapi-component[schemaurl]", "schemaurl"),
    ("script#api-reference[data-url]", "data-url"),
    ("link[rel~='service-desc'][href]", "href"),
)
_VIEWER = re.compile(r"SwaggerUIBundle\s*\(|Redoc\.init\s*\(|createApiReference\s*\(|AsyncApiStandalone\.render\s*\(")
_NAMED = re.compile(r"""(?:\burl["']?\s*:|Redoc\.init\s*\()\s*(["'])((?:(?!\1)[^\\\n]|\\/){1,2000})\1""")
MOST = 20
_MOST_NAMED = 1_000
_LONGEST = 200_000


def specifications(document: Document, url: str, resolver: Resolver) -> list[str]:
    """Their addresses, each once, in the order of the page."""
    base = document.base_url(url)
    named = [
        element.attributes.get(attribute) or "" for selector, attribute in _ELEMENTS for element in document.select(selector)
    ]
    for script in document.select("script:not([src])"):
        text = script.text(deep=True)[:_LONGEST]
        if _VIEWER.search(text):
            named += [found[2].replace("\\/", "/") for found in _NAMED.finditer(text)]
    resolved = (resolver.resolve(name, base) for name in named[:_MOST_NAMED] if name.strip())
    return list(dict.fromkeys(found[0] for found in resolved if found is not None))[:MOST]
