"""Custom extraction: values of every page, given as `name=css:…`, `name=xpath:…` or `name=regex:…`.

A CSS selector may end in `::attr(name)`; otherwise the text of each element is taken. A regular expression returns its first
group, or the whole match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Literal

from tadoru.errors import UsageError, quoted
from tadoru.extras import not_installed
from tadoru.model.web import Response
from tadoru.parse.decode import decode
from tadoru.parse.html import HtmlDocument, collapsed, is_selector, text_of

MOST_VALUES = 100
MAX_TEXT = 2_000
Language = Literal["css", "xpath", "regex"]
_SPEC = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(css|xpath|regex):(.+)", re.DOTALL)
_ATTRIBUTE = "::attr("


@dataclass(frozen=True, slots=True)
class Extraction:
    """One value to extract from every page."""

    name: str
    language: Language
    expression: str

    @classmethod
    def parse(cls, text: str) -> Extraction:
        """From the person's words. Raises UsageError."""
        match = _SPEC.fullmatch(text.strip())
        if match is None:
            raise UsageError(
                "--extract {text} must have the form name=css:SELECTOR, name=xpath:PATH or name=regex:PATTERN.", text=quoted(text)
            )
        found = cls(match[1], match[2], match[3].strip())  # type: ignore[arg-type]
        found._check()
        return found

    def _check(self) -> None:
        try:
            if self.language == "regex":
                re.compile(self.expression)
            elif self.language == "xpath":
                compiled_xpath(self.expression)
            elif not is_selector(split_selector(self.expression)[0]):
                raise ValueError("it cannot be parsed")
        except ImportError:
            raise UsageError("--extract {name}: {problem}", name=self.name, problem=not_installed("XPath", "xpath")) from None
        except (re.error, ValueError) as error:
            raise UsageError(
                "--extract {name}: {expression} is not a valid {language} expression ({reason}).",
                name=self.name,
                expression=quoted(self.expression),
                language=self.language,
                reason=error,
            ) from None

    def find(self, document: HtmlDocument, response: Response) -> list[str]:
        """Its values on a page, in order."""
        if self.language == "css":
            selector, attribute = split_selector(self.expression)
            elements = document.select(selector)[:MOST_VALUES]
            if attribute is None:
                return [text_of(element, MAX_TEXT) for element in elements]
            values = (element.attributes.get(attribute) for element in elements)
            return [collapsed(value, MAX_TEXT) for value in values if value is not None]
        text = decode(response.body, response.header("content-type")).text
        if self.language == "regex":
            matches = re.compile(self.expression).finditer(text)
            found = [(match[1] if match.re.groups else match[0]) or "" for match in islice(matches, MOST_VALUES)]
            return [value[:MAX_TEXT] for value in found]
        tree = xpath_tree(text)
        found_here = found_by_xpath(self.expression, tree) if tree is not None else []
        return [xpath_text(value)[:MAX_TEXT] for value in found_here[:MOST_VALUES]]


def split_selector(expression: str) -> tuple[str, str | None]:
    """A CSS selector, and the attribute that `::attr(name)` at its end asks for."""
    bare = expression.rstrip()
    selector, asked, name = bare.rpartition(")")[0].rpartition(_ATTRIBUTE)
    if bare.endswith(")") and asked and name and ")" not in name:
        return selector, name.strip()
    return expression.removesuffix("::text"), None


@lru_cache(maxsize=64)
def compiled_xpath(expression: str) -> Any:
    """Raises ValueError when it is not one, ImportError when XPath is not installed."""
    from lxml import etree, html

    try:
        path = etree.XPath(expression)
        path(html.Element("p"))  # functions, prefixes and variables that nobody knows show only when it is used
    except etree.XPathError as error:
        raise ValueError(str(error)) from None
    return path


def xpath_tree(text: str) -> Any | None:
    """A page as XPath sees it; None for an empty one."""
    from lxml import etree, html

    # As bytes: lxml refuses a text that names its own charset, as every page of XHTML does.
    parser = html.HTMLParser(encoding="utf-8")
    try:
        return html.document_fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.ParserError, ValueError):
        return None


def found_by_xpath(expression: str, node: Any) -> list[Any]:
    """The elements and texts that a path finds from an element on."""
    from lxml import etree

    try:
        found = compiled_xpath(expression)(node)
    except (etree.XPathError, ValueError, TypeError):
        return []  # A path that fits no page, or a step from a text: nothing is there.
    return found if isinstance(found, list) else [found]


def xpath_text(value: Any) -> str:
    """The text of what a path found."""
    return collapsed(value.text_content() if hasattr(value, "text_content") else str(value))


def xpath_markup(value: Any) -> str:
    """The markup of what a path found."""
    from lxml import html

    return str(html.tostring(value, encoding="unicode", with_tail=False)) if hasattr(value, "text_content") else str(value)
