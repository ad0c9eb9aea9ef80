"""What items of schema.org say, as texts: where a place is, who somebody is, what an offer costs.

Sites write each of these as an object, as a list of objects, as a reference to an object elsewhere on the page, or as mere text;
all are read. Which item is an event is said in `markup`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tadoru.parse.sources.fields import joined
from tadoru.parse.structured import Item

_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_STREET = ("streetAddress", "addressLocality", "addressRegion", "postalCode", "addressCountry")
_SPOKEN = ("name", "value", "url")
_MOST_PRICES = 10
_LINK = re.compile(r"(?:https?:|/|\.|#|\?)\S*|[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*\.[a-z]{2,5}(?:[/?#]\S*)?")
"""Where tickets are to be had, which says nothing about what they cost."""
_FREE = frozenset({"true", "yes", "1", "http://schema.org/true", "https://schema.org/true"})


class Things:
    """The items of a page; what is said of one thing in several places is brought together by its id."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._by_id: dict[str, Item] = {}
        for item in items:
            if not item.id:
                continue
            known = self._by_id.setdefault(item.id, item)
            if known is not item:
                for name, values in item.properties.items():
                    known.properties.setdefault(name, values)
                known.types = known.types or item.types

    def whole(self, item: Item) -> Item:
        """The item that stands for the same thing and says the most."""
        return self._by_id.get(item.id, item) if item.id else item

    def of(self, item: Item, *names: str) -> Iterator[Item | str]:
        """The values of the first of these properties that has any; references are followed."""
        values = next((item.properties[name] for name in names if item.properties.get(name)), [])
        for value in values:
            if isinstance(value, Item):
                yield self.whole(value)
            else:
                yield self._by_id.get(value, value)

    def items(self, item: Item, *names: str) -> list[Item]:
        return [value for value in self.of(item, *names) if isinstance(value, Item)]

    def text(self, item: Item, *names: str) -> str:
        """The first text of a property; the name, value or address of the thing that stands there instead."""
        for value in self.of(item, *names):
            if isinstance(value, str):
                if value.strip() and value != "…":
                    return value.strip()
            elif text := next((text.strip() for name in _SPOKEN for text in value.texts(name)), ""):
                return text
        return ""

    def names(self, item: Item, name: str) -> str:
        """The names of several things: performers, organisers."""
        return joined((self._name(value) for value in self.of(item, name)), ", ")

    def _name(self, value: Item | str) -> str:
        return value if isinstance(value, str) else next(value.texts("name"), "") or next(value.texts("alternateName"), "")

    def image(self, item: Item) -> str:
        for value in self.of(item, "image", "photo", "thumbnailUrl"):
            found = value if isinstance(value, str) else self.text(value, "contentUrl", "url") or value.id
            if found.strip():
                return found.strip()
        return ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something takes place."""

    venue: str = ""
    address: str = ""
    city: str = ""
    latitude: str = ""
    longitude: str = ""
    online: str = ""
    """The address on the web where it can be attended."""

    @property
    def is_known(self) -> bool:
        return bool(self.venue or self.address or self.city)


def place(things: Things, item: Item, *names: str) -> Place:
    """The first real place of a property, and the online one."""
    online, found = "", Place()
    for value in things.of(item, *names):
        if isinstance(value, str):
            read = Place(venue=value.strip())
        elif "VirtualLocation" in value.types:
            online = online or things.text(value, "url", "name") or "yes"
            continue
        else:
            read = place_of(things, value)
        if not found.is_known and (read.is_known or not found.latitude):
            found = read
    return Place(found.venue, found.address, found.city, found.latitude, found.longitude, online)


def place_of(things: Things, item: Item) -> Place:
    """What a Place says; a postal address may stand in its stead."""
    if "PostalAddress" in item.types or any(name in item.properties for name in _STREET):
        address, city = _address(things, item)
        return Place(next(item.texts("name"), "").strip(), address, city)
    address, city = "", ""
    for value in things.of(item, "address"):
        address, city = (value.strip(), "") if isinstance(value, str) else _address(things, value)
        break
    coordinates = next(iter(things.items(item, "geo")), item)
    outer = things.items(item, "containedInPlace", "containedIn") if not address else []
    if outer and outer[0] is not item:
        around = next(iter(things.items(outer[0], "address")), None)
        address, city = _address(things, around) if around else (things.text(outer[0], "address"), "")
    return Place(
        things.names(item, "name"),
        address,
        city,
        things.text(coordinates, "latitude"),
        things.text(coordinates, "longitude"),
    )


def _address(things: Things, item: Item) -> tuple[str, str]:
    """A postal address in one line, in the order of its language, and the city."""
    street, city, region, code, country = (things.text(item, name) for name in _STREET)
    if _JAPANESE.search(street + city + region):
        # Many write the city into the street as well.
        rest = street if street.startswith((city, region)) and street else city + street
        return (rest if region and rest.startswith(region) else region + rest) or country, city
    return joined((street, city, joined((region, code), " "), country), ", ") or things.text(item, "name", "description"), city


def price(things: Things, event: Item) -> str:
    """What it costs: one price, several, or from and to."""
    prices: list[str] = []
    for offer in things.items(event, "offers"):
        currency = things.text(offer, "priceCurrency")
        low, high = things.text(offer, "lowPrice"), things.text(offer, "highPrice")
        inner = [offer, *things.items(offer, "priceSpecification"), *things.items(offer, "offers")]
        if low:
            prices.append(_money(low if high in ("", low) else f"{low}–{high}", currency))
            continue
        amounts = ((things.text(one, "price"), things.text(one, "priceCurrency") or currency) for one in inner[:_MOST_PRICES])
        prices.extend(_money(amount, money) for amount, money in amounts if amount)
    said = (value for value in things.of(event, "offers") if isinstance(value, str) and not _LINK.fullmatch(value.strip()))
    texts = joined(said, ", ")
    is_free = things.text(event, "isAccessibleForFree", "free").lower() in _FREE
    return joined(prices[:_MOST_PRICES], ", ") or texts or ("0" if is_free else "")


def _money(amount: str, currency: str) -> str:
    return f"{amount} {currency}".strip() if re.fullmatch(r"[0-9.,–\s]+", amount) else amount
