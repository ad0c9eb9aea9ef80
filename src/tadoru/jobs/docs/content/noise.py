"""What on a page is not its text: menus, tables of contents, edit links, banners, copy buttons; found, and taken out of the tree.

Judged by tag, role and name (`words`), and by size: a part that holds a good deal of the text is text, whatever it is called.
Hidden tab panels stay, hidden doubles go. The parts that only one generator makes are named in its row in `generators`.
"""

from __future__ import annotations

from tadoru.jobs.docs.content.words import Verdict, judge
from tadoru.parse.html import Element

_GONE = frozenset("script style template noscript iframe object embed canvas audio video dialog select textarea svg nav".split())
_FURNITURE_ROLES = frozenset(
    "navigation search banner contentinfo dialog alertdialog menu menubar toolbar tooltip doc-toc doc-pagefooter".split()
)
_BLOCKS = "pre,table,h1,h2,h3,p,img,dl"
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt"})
_SIGNS = frozenset({"¶", "#", "§", "🔗", "", "link", "permalink", "⚓", "anchor", "¶¶", "\uf0c1", "[¶]", "copy link"})
_MUCH = 0.4
"""Of the text: so much is not furniture, whatever its name."""
_SHORT = 300
_LONG = 2_000
"""Characters: no menu, banner or footer has so many that are not links."""


def sweep(body: Element) -> None:
    """Take out what no reader sees anywhere on the page: scripts, styles, drawings. Formulas written as scripts stay."""
    for element in reversed(body.css("script,style,template,noscript,svg")):
        if not (element.attributes.get("type") or "").startswith("math/"):
            element.decompose()


def clean(root: Element, extra: str = "") -> None:
    """Take the furniture out of a part of a page. `extra`: selectors of what else is furniture there."""
    whole = max(1, len(root.text()))
    doomed = {element.mem_id: element for element in root.css("*") if _is_noise(element, whole)}
    if extra:
        for element in root.css(extra):
            if len(element.text()) <= _MUCH * whole:
                doomed[element.mem_id] = element
    own = root.mem_id
    # Each part goes after what is in it: an element whose parent is gone can not be touched any more.
    for element in reversed([element for element in root.css("*") if element.mem_id in doomed]):
        if element.mem_id != own:
            element.decompose()


def _is_noise(element: Element, whole: int) -> bool:
    tag = element.tag or ""
    attributes = element.attributes
    if tag in _GONE:
        return _is_dead_tag(tag, element, attributes)
    if not attributes and tag not in {"footer", "form", "button"}:
        return False
    role = attributes.get("role")
    if role in _FURNITURE_ROLES:
        return len(element.text()) < _MUCH * whole
    if tag == "button":
        return not _is_label(element, attributes, role)
    if tag == "a":
        return _is_permalink(element, attributes)
    if tag in {"footer", "form"}:
        return element.parent is not None and element.parent.tag != "blockquote" and _looks_empty(element, whole)
    return _is_hidden(element, attributes, role, whole) or _is_named_noise(element, attributes, tag, whole)


def _is_dead_tag(tag: str, element: Element, attributes: dict[str, str | None]) -> bool:
    if tag == "script":
        return not (attributes.get("type") or "").startswith("math/")
    return True


def _is_label(element: Element, attributes: dict[str, str | None], role: str | None) -> bool:
    """Whether a button is the caption of something: of a tab, or of a part that unfolds."""
    if role == "tab" or "aria-controls" in attributes or "tab" in (attributes.get("class") or "").lower():
        return True
    parent = element.parent
    return parent is not None and (parent.tag in _HEADINGS or parent.attributes.get("role") == "tablist")


def _is_permalink(element: Element, attributes: dict[str, str | None]) -> bool:
    href = attributes.get("href") or ""
    if href.startswith("#") or not href:
        text = element.text().strip()
        if len(text) <= 12 and text.lower() in _SIGNS:
            # An empty anchor with a name is where links of other pages land; it has nothing to show either way.
            return bool(text) or bool(href)
    elif attributes.get("href") is None:
        return False
    verdict = judge(attributes.get("class") or "")
    return verdict is Verdict.STRONG and len(element.text()) < _SHORT and _holds_none(element)


def _is_hidden(element: Element, attributes: dict[str, str | None], role: str | None, whole: int) -> bool:
    style = attributes.get("style") or ""
    hidden = (
        ("hidden" in attributes and attributes["hidden"] != "until-found")
        or attributes.get("aria-hidden") == "true"
        or ("none" in style and "display:none" in style.replace(" ", ""))
        or _is_hidden_by_class(attributes.get("class"))
    )
    if not hidden or role == "tabpanel" or judge(attributes.get("class") or "") is Verdict.KEEP:
        return False
    return not _is_panel(element, attributes) and len(element.text()) < _MUCH * whole


def _is_hidden_by_class(names: str | None) -> bool:
    """`hidden`, when nothing shows the part again on a wider screen (`hidden lg:block`)."""
    return names is not None and "hidden" in names and "hidden" in names.split() and ":" not in names


def _is_panel(element: Element, attributes: dict[str, str | None]) -> bool:
    """Whether a hidden part is one of several of which the reader chooses: a tab panel that does not say so."""
    if "tab" in (attributes.get("id") or "") or "tab" in (attributes.get("class") or ""):
        return True
    if "aria-labelledby" in attributes or "aria-hidden" in attributes or element.tag in {"span", "a", "p"}:
        return "aria-labelledby" in attributes
    return any(_is_twin(element, attributes, other) for other in (element.prev, element.next))


def _is_twin(element: Element, attributes: dict[str, str | None], other: Element | None) -> bool:
    while other is not None and other.is_text_node:
        other = other.next
    if other is None or other.tag != element.tag or not attributes.get("class"):
        return False
    names = {name for name in (attributes.get("class") or "").split() if name != "hidden"}
    return bool(names & set((other.attributes.get("class") or "").split()))


def _is_named_noise(element: Element, attributes: dict[str, str | None], tag: str, whole: int) -> bool:
    names, own_id = attributes.get("class"), attributes.get("id")
    by_class = judge(names) if names else Verdict.SILENT
    if by_class is Verdict.KEEP or tag in {"body", "html", "main", "article", "pre", "code", "table", "tr", "td", "th", "tbody", "span"} | _HEADINGS:
        return tag == "span" and by_class is Verdict.STRONG and len(element.text()) < 60
    by_id = judge(own_id) if own_id and tag != "section" else Verdict.SILENT
    verdict = max(by_class, by_id)
    if verdict is Verdict.STRONG:
        length = len(element.text())
        if length > _LONG and _linked(element) < 0.25 * length:
            return False
        return length < _MUCH * whole and element.css_first("h1") is None
    if verdict is Verdict.WEAK or tag == "aside":
        return _looks_empty(element, whole)
    return False


def _looks_empty(element: Element, whole: int) -> bool:
    """Whether a part is short, or made of links, and holds nothing that a reader came for."""
    length = len(element.text())
    if length > _MUCH * whole:
        return False
    if element.css_first("h1,pre") is not None:
        return False
    return length < 40 or _linked(element) > 0.5 * length or (length < _SHORT and _holds_none(element))


def _linked(element: Element) -> int:
    return sum(len(link.text()) for link in element.css("a"))


def _holds_none(element: Element) -> bool:
    return element.css_first(_BLOCKS) is None
