"""Finds the documentation on a page: in the generator's own place for it, or where the page's shape says; without furniture."""

from __future__ import annotations

from tadoru.jobs.docs.content import about, noise, order, score, streamed
from tadoru.jobs.docs.content.census import Census
from tadoru.jobs.docs.content.generators import recognise
from tadoru.jobs.docs.content.score import Choice
from tadoru.jobs.docs.content.values import Generator, Main
from tadoru.parse.html import Document, Element
from tadoru.rules.url import Resolver

_LEAST_TEXT = 25
"""Characters: a place with less has not been filled, or the text of this page is elsewhere."""
_ANY_NAVIGATION = "nav,[role=navigation]"
IN_ITS_PLACE = 0.95
"""How sure we are of text that stands where the generator puts it."""


def find_main(document: Document, url: str, resolver: Resolver | None = None) -> Main:
    """The documentation on a page. The page's tree is changed: what is not text is taken out of the part that is returned.

    `resolver` is one that remembers the links of a site, when there is one.
    """
    resolver = resolver or Resolver()
    body = document.tree.body or document.tree.root
    assert body is not None  # the parser always makes one
    streamed.settle(body)
    noise.sweep(body)
    census = Census.take(document)
    generator = recognise(census)
    base = document.base_url(url)
    breadcrumbs = about.read_breadcrumbs(census)
    version = about.read_version(census, document.title() or "")
    navigation = order.read_navigation(document, generator.navigation if generator else _ANY_NAVIGATION, base, resolver)
    next_url, prev_url = order.read_steps(document, url, base, resolver)
    _bring_notes(document)
    is_tool = generator is not None and generator.tools != "" and bool(document.select(generator.tools))
    choice = _place(document, generator) or score.choose(document, body)
    noise.clean(choice.element, generator.noise if generator else "")
    title = about.read_title(document, choice.element)
    about.drop_site_name(document, choice.element, title)
    return Main(
        root=choice.element,
        generator=generator.name if generator else None,
        title=title,
        breadcrumbs=breadcrumbs,
        navigation=order.without_steps(navigation, next_url, prev_url),
        next_url=next_url,
        prev_url=prev_url,
        language=about.read_language(document),
        version=version,
        confidence=choice.confidence,
        reason=choice.reason,
        is_tool=is_tool,
    )


def _bring_notes(document: Document) -> None:
    """Put footnotes that stand right behind the place of the text (Asciidoctor) at its end."""
    places, notes = document.select("#content"), document.select("#content + #footnotes")
    if places and notes:
        places[0].insert_child(notes[0])
        notes[0].decompose()


def _place(document: Document, generator: Generator | None) -> Choice | None:
    """Where this generator puts the text; None when nothing is there, as on pages that a site has made by hand."""
    if generator is None:
        return None
    for selectors in generator.content:
        found = [element for element in document.select(selectors) if len(element.text()) >= _LEAST_TEXT]
        if found:
            return Choice(max(found, key=_length), IN_ITS_PLACE, f"the place where {generator.name} puts the text ({selectors})")
    return None


def _length(element: Element) -> int:
    return len(element.text())
