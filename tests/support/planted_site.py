"""The faults between the pages of the bakery: links, redirects, canonicals, copies. More of them is in `planted_sets`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.jobs.audit_pages import Change
from tests.jobs.audit_triggers import CANONICAL, H1, HOST, TITLE_TAG
from tests.support.planted import PlantedPage, links_to, moved, page
from tests.support.planted_bakery import BROKEN, MOVED, url_of
from tests.support.planted_words import words_for


def at(path: str) -> str:
    return f"{HOST}{path}"


def plant(path: str, *finds: str, head: str = "", body: str = "", canonical: str = "", name: str = "", **how: Any) -> PlantedPage:
    """A page, healthy but for what is said."""
    change = Change(CANONICAL, f'<link rel="canonical" href="{at(canonical)}">\n') if canonical else Change()
    return PlantedPage(url=at(path), finds=frozenset(finds), reply=page(at(path), change, head=head, body=body, name=name), **how)


def hidden(path: str, *finds: str, head: str = "", body: str = "", listed: bool = False) -> PlantedPage:
    """A page that asks to be left out of the index."""
    noindex = '<meta name="robots" content="noindex">'
    return plant(path, "directive-noindex", *finds, head=head + noindex, body=body, listed=listed)


def redirect(path: str, target: str, *finds: str, listed: bool = False) -> PlantedPage:
    """Linked from `/links/moved` or `/links/broken`, if at all."""
    return PlantedPage(url=at(path), finds=frozenset(finds), reply=moved(at(target)), listed=listed, linked=False)


def missing(path: str, *finds: str, listed: bool = False) -> PlantedPage:
    reply = page(at(path), Change(status=404))
    return PlantedPage(url=at(path), finds=frozenset({"response-client-error", *finds}), reply=reply, listed=listed, linked=False)


def good_plants() -> list[PlantedPage]:
    """Pages without a fault of their own, that others link to; one of these asks not to follow its links."""
    return [
        plant("/bread", "sitemap-url-in-several", body=links_to(at("/shelf"))),
        plant("/bread/wheat", "inlinks-nofollow-mixed"),
        plant("/keeping", "inlinks-nofollow-mixed"),
        plant("/a", "inlinks-nofollow-mixed"),
        plant("/other"),
    ]


def link_plants() -> list[PlantedPage]:
    """Links that lead nowhere, astray, or where no other link leads."""
    broken = [*map(url_of, sorted(BROKEN)), at("/moved/lost"), at("/loop/a"), at("/chain/0")]
    gone = [*map(url_of, sorted(MOVED)), at("/moved/twice"), *(at(f"/old/loaf/{number}") for number in range(10))]
    return [
        plant("/links/broken", "link-broken", body=links_to(*broken)),
        plant("/links/moved", "link-to-redirect", body=links_to(*gone)),
        plant("/links/fragment", "link-broken-fragment", body='<a href="/keeping#nowhere">Keeping it elsewhere</a>'),
        plant("/links/unfollowed", "link-internal-nofollow", body=links_to(at("/unfollowed"), rel="nofollow")),
        plant("/links/unfollowed-too", "link-internal-nofollow", body=links_to(at("/unfollowed"), rel="nofollow")),
        plant("/unfollowed", "inlinks-nofollow-only", linked=False),
        hidden("/links/hidden", body=links_to(at("/from-hidden"))),
        hidden("/links/hidden-too", body=links_to(at("/from-hidden"))),
        plant("/from-hidden", "inlinks-nonindexable-only", linked=False),
        plant("/links/only", body=links_to(at("/linked-once"))),
        plant("/linked-once", "inlinks-single", linked=False),
        plant("/orphan", "page-orphan", linked=False),
        *(_deep(level, side) for level in range(1, 7) for side in "ab"),
    ]


def _deep(level: int, side: str) -> PlantedPage:
    """Two pages a step, so that each is linked twice; the last ones are six clicks away."""
    onward = links_to(*(at(f"/deep/{level + 1}{side}") for side in "ab")) if level < 6 else ""
    return plant(f"/deep/{level}{side}", *(["page-deep"] if level == 6 else []), body=onward, linked=level == 1)


def redirect_plants() -> list[PlantedPage]:
    """Redirects: several in a row, in a circle, to nothing, all to the start."""
    far = ("redirect-chain",)
    return [
        redirect("/moved/twice", "/moved/once", "redirect-chain"),
        redirect("/moved/once", "/bread"),
        redirect("/moved/lost", "/gone", "redirect-to-error"),
        missing("/gone"),
        redirect("/loop/a", "/loop/b", "redirect-loop"),
        redirect("/loop/b", "/loop/a", "redirect-loop"),
        redirect("/chain/0", "/chain/1", *far),
        *(redirect(f"/chain/{step}", f"/chain/{step + 1}", *far) for step in range(1, 9)),
        redirect("/chain/9", "/chain/10"),
        redirect("/chain/10", "/chain/11", "redirect-chain-too-long"),
        *(redirect(f"/old/loaf/{number}", "/") for number in range(10)),
    ]


def canonical_plants() -> list[PlantedPage]:
    """Canonicals that are no help."""
    cases = {
        "/canonical/one": ("/canonical/two", "canonical-chain"),
        "/canonical/two": ("/bread", ""),
        "/canonical/left": ("/canonical/right", "canonical-loop"),
        "/canonical/right": ("/canonical/left", "canonical-loop"),
        "/canonical/moved": ("/moved/once", "canonical-to-redirect"),
        "/canonical/gone": ("/gone", "canonical-to-error"),
        "/canonical/hidden": ("/links/hidden", "canonical-to-nonindexable"),
        "/canonical/unlinked": ("/nobody-links-here", "canonical-unlinked canonical-to-error"),
    }
    return [
        plant(path, "canonicalised", *found.split(), canonical=target, listed=False) for path, (target, found) in cases.items()
    ]


def duplicate_plants() -> list[PlantedPage]:
    """Pages that say what others say."""
    twins = ("title-duplicate", "description-duplicate", "h1-duplicate")
    story = words_for("/same/story").story
    changed = story.replace("The ", "This ", 1)
    return [
        *(
            _with(f"/same/title/{n}", "title-duplicate", TITLE_TAG, "<title>Bread for every day | Village bakery</title>")
            for n in "12"
        ),
        *(_with(f"/same/h1/{n}", "h1-duplicate", H1, "<h1>Bread for every day of the week</h1>") for n in "12"),
        *(_described(f"/same/description/{n}") for n in "12"),
        *(telling(f"/same/text/{n}", "content-duplicate", words_for("/same/text").story) for n in "12"),
        telling("/same/story/1", "content-near-duplicate", story * 5),
        telling("/same/story/2", "content-near-duplicate", story * 4 + changed),
        *(plant(path, "url-duplicate-slash", *twins, name="slash") for path in ("/twin", "/twin/")),
        *(plant(path, "url-duplicate-index", *twins, name="index") for path in ("/folder/", "/folder/index.html")),
        plant("/case", "url-duplicate-case", *twins, name="case"),
        plant("/Case", "url-duplicate-case", "url-uppercase", *twins, name="case"),
        *(plant(path, "url-duplicate-parameters", *twins, name="query") for path in ("/query", "/query?colour=dark")),
    ]


def _with(path: str, found: str, mine: str, common: str) -> PlantedPage:
    return PlantedPage(url=at(path), finds=frozenset({found}), reply=page(at(path), Change(mine, common)))


def _described(path: str) -> PlantedPage:
    made, mine, common = plant(path, "description-duplicate"), words_for(at(path)), words_for("/same/description")
    return _rewritten(made, mine.description, common.description)


def telling(path: str, found: str, story: str) -> PlantedPage:
    """Another head, the same text; the heading is part of the text, so it is there, but is no h1."""
    mine = words_for(at(path))
    made = _rewritten(plant(path, found, "h1-missing"), mine.story, story)
    return _rewritten(made, f"<h1>{mine.h1}</h1>", "<p><b>A story of bread</b></p>")


def _rewritten(made: PlantedPage, old: str, new: str) -> PlantedPage:
    return replace(made, reply=replace(made.reply, body=made.reply.body.replace(old.encode(), new.encode())))
