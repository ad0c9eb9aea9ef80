"""What one setting takes from a page: a CSS selector or XPath, an attribute or text of what it finds, a part of that.

XPath needs the extra `xpath`; both languages are known to `parse.extract`, which the audit's custom extraction shares.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from tadoru.errors import ConfigError, quoted
from tadoru.extras import not_installed
from tadoru.parse.decode import decode
from tadoru.parse.extract import compiled_xpath, found_by_xpath, split_selector, xpath_markup, xpath_text, xpath_tree
from tadoru.parse.html import Document, Element, is_selector, text_of
from tadoru.parse.linear_regex import linear_regex
from tadoru.parse.sources.given import Given

MAX_TEXT = 20_000
MAX_MATCHED = 5_000
"""How much of a text is looked at by a person's pattern: some patterns take very long on texts that somebody made for that."""
MOST_VALUES = 50
PARTS = ("year", "month", "day", "weekday")
_XPATH_START = ("/", "./", "(/", "(./")
_DIGITS = re.compile(r"[0-9]{1,4}")

Node = Any
"""A `Document`, an `Element`, or an element of XPath's tree."""


class Page:
    """A page in the trees that are asked for."""

    def __init__(self, body: bytes, content_type: str | None) -> None:
        """Raises PageTooComplex."""
        self.document = Document.parse(body, content_type)
        self._source = (body, content_type)

    def node(self, language: str) -> Node:
        """The whole page, for an expression in this language."""
        return self.document if language == "css" else self._xpath_tree

    @cached_property
    def _xpath_tree(self) -> Node:
        return xpath_tree(decode(*self._source).text)


@dataclass(frozen=True, slots=True)
class Expression:
    """A CSS selector, or an XPath."""

    language: str
    text: str
    attribute: str | None = None

    @classmethod
    def given(cls, text: str, where: str) -> Self:
        """From a person's words: `css:…`, `xpath:…`, or one of them without a name. Raises ConfigError."""
        language, _, rest = text.partition(":")
        if language not in ("css", "xpath"):
            language, rest = ("xpath" if text.lstrip().startswith(_XPATH_START) else "css"), text
        selector, attribute = split_selector(rest.strip()) if language == "css" else (rest.strip(), None)
        try:
            if language == "xpath":
                compiled_xpath(selector)
            elif selector != "." and not (selector and is_selector(selector)):
                raise ValueError("it can not be parsed")
        except ImportError:
            raise ConfigError(f"The setting {where} is an XPath. {not_installed('XPath', 'xpath')}") from None
        except ValueError as error:
            raise ConfigError(
                f"The setting {where} is {quoted(text[:100])}, which is no {language} selector ({error})."
            ) from None
        return cls(language, selector, attribute)

    def find(self, node: Node) -> list[Node]:
        """What it finds from a node on, in document order; `.` is the node itself."""
        if node is None:
            return []
        if self.text == ".":
            return [node]
        if self.language == "xpath":
            return found_by_xpath(self.text, node)
        found: list[Node] = node.select(self.text) if isinstance(node, Document) else node.css(self.text)
        return found


@dataclass(frozen=True, slots=True)
class Pick:
    """How the value of one field is taken."""

    expression: Expression | None = None
    attribute: str = ""
    pattern: str = ""
    join: str | None = None
    """Between all values; None takes the first."""
    default: str = ""
    html: bool = False
    """Whether the markup within is wanted and not the text."""
    parts: Mapping[str, Pick] = field(default_factory=dict)
    """Of a date that is written in pieces."""

    @classmethod
    def given(cls, value: object, where: str, *, may_have_parts: bool = False) -> Self:
        """From a person's words: a selector, or a mapping. Raises ConfigError."""
        if isinstance(value, str):
            return cls(Expression.given(value, where))
        if not isinstance(value, Mapping):
            raise ConfigError(f"The setting {where} is {quoted(str(value)[:100])}; it must be a selector or a mapping with one.")
        given = Given(value, f"{where}.")
        if may_have_parts and not set(PARTS).isdisjoint(value):
            parts = {name: cls.given(piece, f"{where}.{name}") for name in PARTS if (piece := given.take(name)) is not None}
            given.done()
            return cls(parts=parts)
        selector = given.text("selector", ".")
        attribute, pattern = given.text("attribute"), given.text("pattern")
        join = given.take("join")
        found = cls(
            Expression.given(selector, f"{where}.selector"),
            attribute,
            pattern,
            None if join is None else str(join),
            given.text("default"),
            given.flag("html", default=False),
        )
        given.done()
        _check_pattern(pattern, where)
        return found

    def expressions(self) -> list[Expression]:
        return [self.expression] if self.expression else [one for part in self.parts.values() for one in part.expressions()]

    def value(self, page: Page, node: Node | None) -> str:
        """The value within a node, or within the page when there is none."""
        if self.expression is None:
            return written_date({name: part.value(page, node) for name, part in self.parts.items()})
        values = self.values(page, node, MOST_VALUES)
        return (values[0] if self.join is None else self.join.join(values)) if values else self.default

    def values(self, page: Page, node: Node | None, most: int | None = None) -> list[str]:
        """All values, those that are empty left out."""
        if self.expression is None:
            return []
        found = self.expression.find(node if node is not None else page.node(self.expression.language))
        attribute = self.attribute or self.expression.attribute
        return [text for one in found[:most] if (text := self._part(_text(one, attribute, self.html)))]

    def _part(self, text: str) -> str:
        if not self.pattern:
            return text.strip()
        found = linear_regex(self.pattern).search(text[:MAX_MATCHED])
        return (found[-1] or "").strip() if found else ""


def _check_pattern(pattern: str, where: str) -> None:
    try:
        groups = linear_regex(pattern).groups
    except ValueError as error:
        raise ConfigError(
            f"The setting {where}.pattern is {quoted(pattern[:100])}, which is no regular expression that can be used ({error})."
        ) from None
    if groups > 1:
        raise ConfigError(f"The setting {where}.pattern has {groups} groups; it must have one, or none (use (?:…) for others).")


def _text(found: Node, attribute: str | None, html: bool) -> str:
    if isinstance(found, Document):
        return ""
    if isinstance(found, Element):
        if attribute:
            return (found.attributes.get(attribute) or "")[:MAX_TEXT]
        return (found.inner_html or "")[:MAX_TEXT] if html else text_of(found, MAX_TEXT)
    if attribute:
        return (str(found.get(attribute) or "") if hasattr(found, "get") else str(found))[:MAX_TEXT]
    return (xpath_markup(found) if html else xpath_text(found))[:MAX_TEXT]


def written_date(parts: Mapping[str, str]) -> str:
    """A date of its pieces, as somebody would write it; empty without a month and a day."""
    year, month, day, weekday = (unicodedata.normalize("NFKC", parts.get(name, "")).strip() for name in PARTS)
    if not month or not day:
        return ""
    number = _DIGITS.search(day)
    month_number = _DIGITS.search(month)
    if number is None:
        return ""
    if month_number is None:  # "Aug"
        return " ".join(filter(None, (number[0], month, year)))
    year = year.removesuffix("年").strip()
    if re.fullmatch(r"[0-9]{4}", year):
        return f"{year}-{int(month_number[0]):02}-{int(number[0]):02}"
    era = f"{year}年" if year else ""
    return f"{era}{month_number[0]}月{number[0]}日" + (f"({weekday.strip('()')[:3]})" if weekday else "")
