"""What items of structured data must say: the properties without which search engines make nothing of a type, in a table.

Each entry is a list of needs, and a need is met by any of its alternatives (`ratingCount|reviewCount`). Types that are not in the
table are not judged, nor is an item that only points to another one. The reading is in `structured`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from tadoru.parse.structured import Item

_ARTICLE = "headline|name"
_BUSINESS = "name address"
_NEEDS: dict[str, str] = {
    "AggregateOffer": "lowPrice priceCurrency",
    "AggregateRating": "ratingValue ratingCount|reviewCount",
    "Answer": "text",
    "Article": _ARTICLE,
    "BlogPosting": _ARTICLE,
    "BreadcrumbList": "itemListElement",
    "Course": "name description",
    "Dataset": "name description",
    "Dentist": _BUSINESS,
    "Event": "name startDate location",
    "FAQPage": "mainEntity",
    "Hotel": _BUSINESS,
    "HowTo": "name step",
    "JobPosting": "title description datePosted hiringOrganization jobLocation|jobLocationType|applicantLocationRequirements",
    "LocalBusiness": _BUSINESS,
    "MusicEvent": "name startDate location",
    "NewsArticle": _ARTICLE,
    "Offer": "price|priceSpecification priceCurrency|priceSpecification",
    "Organization": "name|url|logo",
    "Person": "name|givenName|familyName|alternateName",
    "Product": "name offers|review|aggregateRating",
    "Question": "name|text acceptedAnswer|suggestedAnswer",
    "Recipe": "name image",
    "Restaurant": _BUSINESS,
    "Review": "author reviewRating",
    "SoftwareApplication": "name",
    "Store": _BUSINESS,
    "VideoObject": "name thumbnailUrl|thumbnail uploadDate",
    "WebSite": "name|url",
}
NEEDS = {kind: tuple(tuple(need.split("|")) for need in needs.split()) for kind, needs in _NEEDS.items()}

_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d(?::?\d\d(?::?\d\d(?:[.,]\d+)?)?)?\s*(?:Z|[+-]\d\d(?::?\d\d)?)?)?)?)?")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_CURRENCY = re.compile(r"[A-Z]{3}")


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text.strip()) is not None


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text.strip()) is not None


def _is_currency(text: str) -> bool:
    return _CURRENCY.fullmatch(text.strip()) is not None


_FORMS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(
        "startDate endDate datePublished dateModified datePosted uploadDate validThrough priceValidUntil dateCreated".split(),
        _is_date,
    ),
    **dict.fromkeys("price lowPrice highPrice ratingCount reviewCount".split(), _is_number),
    "priceCurrency": _is_currency,
}


def missing(items: Iterable[Item]) -> Iterator[str]:
    """`Type.property` for each need that an item does not meet; alternatives are joined by a bar."""
    known = list(items)
    # The properties of one thing may be spread over several objects with the same id.
    elsewhere: dict[str, set[str]] = {}
    for item in known:
        if item.id:
            elsewhere.setdefault(item.id, set()).update(name for name, values in item.properties.items() if values)
    for item in known:
        if item.is_partial or not item.properties:
            continue
        said = {name for name, values in item.properties.items() if values} | elsewhere.get(item.id, set())
        for kind in item.types:
            for need in NEEDS.get(kind, ()):
                if said.isdisjoint(need) and not _is_said_by_place(item, kind, need):
                    yield f"{kind}.{'|'.join(need)}"


def _is_said_by_place(item: Item, kind: str, need: tuple[str, ...]) -> bool:
    """Whether a need does not hold here: an offer that stands for itself may describe more than a price."""
    return kind == "Offer" and not item.is_nested


def malformed(items: Iterable[Item]) -> Iterator[str]:
    """`property=value` for each date, number or currency that can not be read as one."""
    for item in items:
        for name, is_right in _FORMS.items():
            for text in item.texts(name):
                if not is_right(text):
                    yield f"{name}={text[:80]}"
