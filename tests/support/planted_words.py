"""Words for planted pages: every page has a title, a description, a heading and a story of its own, the same in every run."""

from __future__ import annotations

import random
from dataclasses import dataclass

_WHO = "baker miller farmer neighbour teacher painter carpenter gardener sailor tailor postman cousin potter weaver".split()
_WHAT = "wheat rye spelt barley oats millet emmer honey butter salt yeast walnut poppy caraway fennel raisin malt".split()
_HOW = "slowly gladly rarely often quietly carefully proudly early late twice daily warmly briskly softly evenly".split()
_DOES = "grinds kneads mixes weighs carries stores sells brings roasts soaks cracks tastes slices toasts sifts".split()
_WHERE = "mill market oven cellar orchard harbour square bridge kitchen valley barn garden school station tower".split()
_WHEN = "dawn noon dusk midnight harvest winter spring autumn Sunday Friday Easter frost rain thaw solstice".split()


@dataclass(frozen=True)
class PageText:
    """What one page says."""

    title: str
    description: str
    h1: str
    story: str


def words_for(name: str) -> PageText:
    """The words of the page with this name."""
    chance = random.Random(name)

    def sentence() -> str:
        first, second = chance.sample(_WHAT, 2)
        return (
            f"The {chance.choice(_WHO)} {chance.choice(_HOW)} {chance.choice(_DOES)} {first} with {second} "
            f"at the {chance.choice(_WHERE)} until {chance.choice(_WHEN)}."
        )

    number = chance.randrange(1000, 10_000)
    one, two = chance.sample(_WHAT, 2)
    return PageText(
        title=f"Loaf {number} of {one} and {two} | Village bakery",
        description=f"Loaf number {number}: {one} and {two} from the {chance.choice(_WHERE)}, baked at {chance.choice(_WHEN)} "
        f"by the {chance.choice(_WHO)}.",
        h1=f"The {one} loaf, number {number}",
        story=" ".join(sentence() for _ in range(14)),
    )
