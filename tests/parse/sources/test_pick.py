"""What one setting takes from a page: selectors, attributes, parts of texts, dates in pieces."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

import pytest

from tadoru.errors import ConfigError
from tadoru.parse.extract import compiled_xpath, xpath_tree
from tadoru.parse.sources.html_page import (
    MAX_TEXT,
    MOST_VALUES,
    FieldSelector,
    SelectablePage,
    SelectorExpression,
    date_of_pattern,
)

PAGE = '<div id="a" data-x="1"><b>星  まつり</b><b>茶会</b><img src="x.png"></div><p>8月1日 17:00開演</p>'


def pick(value: object, page: str = PAGE) -> str:
    return FieldSelector.given(value, "fields.title").value(SelectablePage(page.encode(), "text/html; charset=utf-8"), None)


@pytest.mark.parametrize(
    "value, expected",
    [
        pytest.param("b", "星 まつり", id="the first, its white space collapsed"),
        pytest.param("css:b", "星 まつり", id="CSS by name"),
        pytest.param("//b[2]", "茶会", id="XPath by its look"),
        pytest.param("(//b)[last()]", "茶会", id="XPath in parentheses"),
        pytest.param("xpath:string(//b[2])", "茶会", id="XPath that is a text"),
        pytest.param("xpath:count(//b)", "2.0", id="XPath that is a number"),
        pytest.param("img::attr(src)", "x.png", id="attribute of CSS"),
        pytest.param("b::text", "星 まつり", id="text of CSS"),
        pytest.param("//img/@src", "x.png", id="attribute of XPath"),
        pytest.param({"selector": "div", "attribute": "data-x"}, "1", id="attribute by name"),
        pytest.param({"selector": "//div", "attribute": "data-x"}, "1", id="attribute by name of XPath"),
        pytest.param({"selector": "b", "attribute": "data-x", "default": "?"}, "?", id="attribute that is not there"),
        pytest.param({"selector": "u", "default": "?"}, "?", id="default"),
        pytest.param("u", "", id="nothing"),
        pytest.param({"selector": "b", "join": " / "}, "星 まつり / 茶会", id="all of them"),
        pytest.param({"selector": "//b", "join": ""}, "星 まつり茶会", id="all of them, nothing between"),
        pytest.param({"selector": "p", "pattern": r"\d+:\d+"}, "17:00", id="part of a text"),
        pytest.param({"selector": "p", "pattern": r"(\d+:\d+)開演"}, "17:00", id="group of a pattern"),
        pytest.param({"selector": "p", "pattern": r"開場(\d+)?", "default": "?"}, "?", id="pattern that does not fit"),
        pytest.param({"selector": "p", "pattern": r"開演(\d+)?"}, "", id="group that is not there"),
        pytest.param({"selector": "b", "html": True}, "星  まつり", id="markup within"),
    ],
)
def test_a_setting_takes_what_it_says(value: object, expected: str) -> None:
    assert pick(value) == expected


def test_a_page_of_xhtml_that_names_its_charset_is_read_by_xpath_as_well() -> None:
    page = '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><body><b>星</b></body></html>'
    assert (pick("b", page), pick("//b", page)) == ("星", "星")
    assert xpath_tree("") is None


def test_a_path_from_a_text_finds_the_text_itself_and_nothing_else() -> None:
    page = SelectablePage(PAGE.encode(), None)
    [first, *_] = SelectorExpression.given("//b/text()", "item").find(page.node("xpath"))
    assert [str(found) for found in SelectorExpression.given("xpath:.", "x").find(first)] == ["星  まつり"]
    assert SelectorExpression.given("./i", "x").find(first) == []


def test_values_are_bounded_in_number_and_length() -> None:
    assert len(pick({"selector": "b", "join": ""}, "<b>x</b>" * 100)) == MOST_VALUES
    for value in ("b", "//b", {"selector": "b", "html": True}, {"selector": "//b", "html": True}, "//b/@title", "b::attr(title)"):
        assert len(pick(value, f'<b title="{"x" * 50_000}">{"x" * 50_000}</b>')) <= MAX_TEXT


@pytest.mark.parametrize(
    "parts, expected",
    [
        ({"year": "2026", "month": "8", "day": "1"}, "2026-08-01"),
        ({"year": "２０２６年", "month": "８月", "day": "１日"}, "2026-08-01"),
        ({"year": "令和8年", "month": "8月", "day": "1日"}, "令和8年8月1日"),
        ({"month": "8", "day": "1", "weekday": "(土)"}, "8月1日(土)"),
        ({"month": "8月", "day": "1"}, "8月1日"),
        ({"year": "2026", "month": "Aug", "day": "1st"}, "1 Aug 2026"),
        ({"month": "Aug", "day": "1"}, "1 Aug"),
        ({"month": "8"}, ""),
        ({"month": "8", "day": "土"}, ""),
        ({"day": "1"}, ""),
        ({}, ""),
    ],
)
def test_a_date_of_pieces_is_written_as_somebody_would_write_it(parts: Mapping[str, str], expected: str) -> None:
    assert date_of_pattern(parts) == expected


def test_a_date_is_put_together_from_its_places_on_the_page() -> None:
    page = SelectablePage('<i class="m">8</i><b class="d">1</b><u>土</u>'.encode(), "text/html; charset=utf-8")
    found = FieldSelector.given({"month": ".m", "day": {"selector": ".d"}, "weekday": "u"}, "fields.start", may_have_parts=True)
    assert found.value(page, None) == "8月1日(土)"


def test_without_lxml_an_xpath_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_lxml(name: str, *more: Any) -> Any:
        if name.partition(".")[0] == "lxml":
            raise ImportError(name)
        return real(name, *more)

    compiled_xpath.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without_lxml)
    with pytest.raises(ConfigError, match=r"item is an XPath. Packages for XPath are not installed\. .*\[xpath\]'"):
        SelectorExpression.given("//li", "item")
    assert SelectorExpression.given("li", "item").language == "css"
