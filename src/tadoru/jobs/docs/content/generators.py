"""Which program made a page.

A page is a generator's when its `<meta name="generator">` begins with one of the notes, or when all names of one of the marks
are on it. The rows are tried in order, the particular before the general (a theme of Sphinx before Sphinx). Names are
classes and ids that the generator itself writes, never those of one site. Where none is recognised, `score` decides.
"""

from __future__ import annotations

from tadoru.jobs.docs.content.census import Census
from tadoru.jobs.docs.content.known_manuals import MANUALS
from tadoru.jobs.docs.content.known_sites import SITES
from tadoru.jobs.docs.content.values import Generator

GENERATORS = (*SITES, *MANUALS)


def recognise(census: Census) -> Generator | None:
    """Which generator made a page; None when nothing on it says so."""
    note = census.metas.get("generator", "").lower()
    for generator in GENERATORS:
        if note and generator.notes and note.startswith(generator.notes):
            return generator
        if any(all(census.has(name) for name in mark.split()) for mark in generator.marks):
            return generator
    return None
