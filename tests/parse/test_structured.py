"""Structured data in its three syntaxes, and what items must say."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.parse.html import HtmlDocument
from tadoru.parse.structured import StructuredData, StructuredThing, malformed_properties, missing_properties, read_structured


def read(markup: str) -> StructuredData:
    return read_structured(HtmlDocument.parse(markup.encode(), "text/html; charset=utf-8"))


def json_ld(data: object) -> StructuredData:
    text = data if isinstance(data, str) else json.dumps(data)
    return read(f'<script type="application/ld+json">{text}</script>')


def thing(kind: str, **properties: object) -> StructuredData:
    return json_ld({"@context": "https://schema.org", "@type": kind, **properties})


def kinds(data: StructuredData) -> list[tuple[str, ...]]:
    return [item.types for item in data.items]


def test_an_object_with_another_in_it() -> None:
    data = thing("Product", name="Rye", offers={"@type": "Offer", "price": 4.8})
    product, offer = data.items
    assert (product.types, product.syntax, product.is_nested) == (("Product",), "json-ld", False)
    assert product.properties == {"name": ["Rye"], "offers": [offer]}
    assert (offer.is_nested, list(offer.texts("price"))) == (True, ["4.8"])


@pytest.mark.parametrize(
    "data",
    [
        pytest.param([{"@type": "Person"}, {"@type": "Event"}], id="array"),
        pytest.param({"@context": "x", "@graph": [{"@type": "Person"}, {"@type": "Event"}]}, id="graph"),
        pytest.param({"@type": "Person", "knows": {"@type": "Event"}}, id="nested"),
    ],
)
def test_items_wherever_they_stand(data: object) -> None:
    assert kinds(json_ld(data)) == [("Person",), ("Event",)]


@pytest.mark.parametrize("kind", ["https://schema.org/Person", "http://schema.org/Person", "schema:Person", "Person"])
def test_the_vocabulary_is_left_out(kind: str) -> None:
    assert kinds(json_ld({"@type": kind})) == [("Person",)]


def test_several_types_values_and_wrappings() -> None:
    item = json_ld('<!-- {"@type": ["A", "B"], "x": [1, {"@value": "2"}, null, ""], "y": {"@id": "#z"}} -->').items[0]
    assert item.types == ("A", "B")
    assert item.properties == {"x": ["1", "2"], "y": ["#z"]}


@pytest.mark.parametrize(
    "text, problem",
    [
        pytest.param('{"a": 1,}', "property name" if sys.version_info < (3, 13) else "trailing comma", id="trailing comma"),
        pytest.param("{", "property name", id="cut off"),
        pytest.param('{"a": "line\nbreak"}', "control character", id="line break in a string"),
        pytest.param("", "empty", id="empty"),
        pytest.param("42", "int instead of an object", id="no object"),
        pytest.param("[" * 100_000, "", id="nested too deeply"),
    ],
)
def test_broken_json_is_reported_and_not_raised(text: str, problem: str) -> None:
    data = json_ld(text)
    assert data.items == ()
    assert len(data.problems) == 1
    assert problem in data.problems[0]


def test_a_block_without_context_is_counted() -> None:
    assert json_ld({"@type": "Person"}).without_context == 1
    assert thing("Person").without_context == 0


def test_a_script_of_another_type_is_not_read() -> None:
    assert read("<script type=application/json>{</script><script>{</script>") == StructuredData()


FAIR = {"name": "Fair", "location": "Town"}
ANSWER = "acceptedAnswer|suggestedAnswer"
MICRODATA = """<div itemscope itemtype="https://schema.org/Product"><h1 itemprop="name">Rye</h1>
<img itemprop="image" src="/rye.jpg">
<div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><meta itemprop="price" content="4.80">
<span itemprop="priceCurrency">EUR</span></div><time itemprop="releaseDate" datetime="2026-01-31">January</time></div>"""
RDFA = """<div vocab="https://schema.org/" typeof="Product"><h1 property="name">Rye</h1><img property="image" src="/rye.jpg">
<div property="offers" typeof="Offer"><meta property="price" content="4.80"><span property="priceCurrency">EUR</span></div>
<time property="releaseDate" content="2026-01-31">January</time></div>"""


@pytest.mark.parametrize("markup, syntax", [(MICRODATA, "microdata"), (RDFA, "rdfa")], ids=["microdata", "rdfa"])
def test_items_in_markup(markup: str, syntax: str) -> None:
    product, offer = read(markup).items
    assert (product.syntax, product.types, offer.types, offer.is_nested) == (syntax, ("Product",), ("Offer",), True)
    assert offer.properties == {"price": ["4.80"], "priceCurrency": ["EUR"]}
    assert product.properties == {"name": ["Rye"], "image": ["/rye.jpg"], "offers": [offer], "releaseDate": ["2026-01-31"]}


def test_open_graph_is_no_item() -> None:
    assert read('<meta property="og:title" content="Rye"><p itemprop="name">Rye</p>').items == ()


def test_an_item_whose_properties_stand_elsewhere_is_not_judged() -> None:
    data = read('<div itemscope itemtype="https://schema.org/Product" itemref="more"><b itemprop="sku">1</b></div>')
    assert list(missing_properties(data.items)) == []


@pytest.mark.parametrize(
    "data, lacking",
    [
        pytest.param(thing("Product", name="Rye"), ["Product.offers|review|aggregateRating"], id="Product"),
        pytest.param(thing("Product", name="Rye", review={"@id": "#r"}), [], id="Product with a review"),
        pytest.param(thing("Event", name="Fair", startDate="2026-05-01"), ["Event.location"], id="Event"),
        pytest.param(thing("Recipe", name="Rye"), ["Recipe.image"], id="Recipe"),
        pytest.param(thing("Recipe", name="Rye", image=""), ["Recipe.image"], id="an empty value is none"),
        pytest.param(thing("FAQPage", mainEntity={"@type": "Question", "name": "?"}), [f"Question.{ANSWER}"], id="FAQ"),
        pytest.param(thing("AggregateRating", ratingValue=4, reviewCount=9), [], id="one of two counts is enough"),
        pytest.param(thing("BreadcrumbList", name="Path"), ["BreadcrumbList.itemListElement"], id="BreadcrumbList"),
        pytest.param(thing("VideoObject", name="V", uploadDate="2026-01-01"), ["VideoObject.thumbnailUrl|thumbnail"], id="Video"),
        pytest.param(thing("LocalBusiness", name="Bakery"), ["LocalBusiness.address"], id="LocalBusiness"),
        pytest.param(thing("Unheard"), [], id="a type that is not in the table"),
        pytest.param(thing("Person", **{"@id": "#ada"}), [], id="a mere reference"),
        pytest.param(
            json_ld([{"@type": "Event", "@id": "#", **FAIR}, {"@id": "#", "@type": "Event", "startDate": "2026"}]),
            [],
            id="one thing in two objects",
        ),
    ],
)  # fmt: skip
def test_required_properties(data: StructuredData, lacking: list[str]) -> None:
    assert list(missing_properties(data.items)) == lacking


@pytest.mark.parametrize(
    "name, value, is_right",
    [
        ("startDate", "2026-05-01", True),
        ("startDate", "2026-05-01T18:30:00+09:00", True),
        ("startDate", "2026-05-01T18:30Z", True),
        ("startDate", "May 1st, 2026", False),
        ("startDate", "01.05.2026", False),
        ("price", "4.80", True),
        ("price", 4.8, True),
        ("price", "$4.80", False),
        ("price", "1,200", False),
        ("priceCurrency", "JPY", True),
        ("priceCurrency", "¥", False),
        ("name", "anything", True),
    ],
)
def test_the_form_of_values(name: str, value: object, is_right: bool) -> None:
    assert (not list(malformed_properties(thing("Thing", **{name: value}).items))) is is_right


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["@type", "@id", "@graph", "name", "offers"]), inner)
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_json_makes_reading_fail(data: object) -> None:
    read_data = json_ld(json.dumps(data).replace("<", "\\u003c"))
    assert all(isinstance(item, StructuredThing) for item in read_data.items)
    list(missing_properties(read_data.items))
    list(malformed_properties(read_data.items))


@given(st.text(alphabet='<>/= "divspanitemscopeproptypeof', max_size=120))
def test_no_markup_makes_reading_fail(markup: str) -> None:
    read(f"<div itemscope itemtype=a><b itemprop=c {markup}")
