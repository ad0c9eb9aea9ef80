"""JavaScript that Tadoru runs in a page; all but the first in an isolated world that the page can neither see nor change."""

from __future__ import annotations

WORLD = "tadoru"
BINDING = "tadoruChanged"
MAX_CHARACTERS = 20_000_000

HIDE_SERVICE_WORKERS = "delete Navigator.prototype.serviceWorker;"
"""Service workers would outlive the page and send requests that bypass the filter."""

WATCH_CHANGES = f"""
(() => {{
  let reported = false;
  new MutationObserver(() => {{
    if (reported) return;
    reported = true;
    {BINDING}("");
    setTimeout(() => {{ reported = false; }}, 50);
  }}).observe(document, {{childList: true, subtree: true, characterData: true}});
}})();
"""
"""Reports changes of the document, at most twenty times a second. Changes of attributes are ignored: animations use them."""

READ_DOCUMENT = f"""
(() => {{
  const root = document.documentElement;
  const type = document.doctype ? new XMLSerializer().serializeToString(document.doctype) + "\\n" : "";
  // In a document without a window no element can run code of the page.
  const inert = document.implementation.createHTMLDocument("");
  const copy = (node) => {{
    if (node.localName === "template") return inert.importNode(node, true);
    const clone = inert.importNode(node, false);
    const slotted = node.localName === "slot" && node.assignedNodes ? node.assignedNodes() : [];
    for (const child of slotted.length ? slotted : (node.shadowRoot || node).childNodes) clone.appendChild(copy(child));
    return clone;
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
"""The current document with the content of open shadow trees; null when it is too large."""
