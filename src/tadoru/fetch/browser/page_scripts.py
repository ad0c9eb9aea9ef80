"""The little JavaScript that Tadoru runs in a page; all but the first in a world that the page can neither see nor change."""

from __future__ import annotations

WORLD = "tadoru"
BINDING = "tadoruChanged"
MAX_CHARACTERS = 20_000_000

HIDE_SERVICE_WORKERS = "delete Navigator.prototype.serviceWorker;"
"""Service workers would outlive the page and request things behind our back; a browser without them is nothing unusual."""

WATCH_CHANGES = f"""
(() => {{
  let told = false;
  new MutationObserver(() => {{
    if (told) return;
    told = true;
    {BINDING}("");
    setTimeout(() => {{ told = false; }}, 50);
  }}).observe(document, {{childList: true, subtree: true, characterData: true}});
}})();
"""
"""Tells when the document changes, at most twenty times a second. Attributes are left out: animations live on them."""

READ_DOCUMENT = f"""
(() => {{
  const root = document.documentElement;
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + "\\n" : "";
  // In a document without a window no element can run code of the page.
  const paper = document.implementation.createHTMLDocument("");
  const copy = (node) => {{
    if (node.localName === "template") return paper.importNode(node, true);
    const twin = paper.importNode(node, false);
    const slotted = node.localName === "slot" && node.assignedNodes ? node.assignedNodes() : [];
    for (const child of slotted.length ? slotted : (node.shadowRoot || node).childNodes) twin.appendChild(copy(child));
    return twin;
  }};
  let shown = root;
  try {{
    for (const element of document.querySelectorAll("*")) {{
      if (element.shadowRoot) {{ shown = copy(root); break; }}
    }}
  }} catch (tooDeep) {{}}
  const html = type + (shown ? shown.outerHTML : "");
  return {{url: document.URL, html: html.length > {MAX_CHARACTERS} ? null : html}};
}})()
"""
"""The document as it is now, what stands in (open) shadow trees in its place; null when it is too large."""
