"""Pages that React and Vue build, with their real packages: what only rendering shows ends in its check.

`test_rendered_checks.py` shows the same with scripts of one line.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.auditing import Audit
from tests.support.programs import needs_node
from tests.support.site import Site

PACKAGES = ("react@19", "react-dom@19", "react-router@7", "vue@3", "vue-router@4", "esbuild@0.25")
TEXT = "Two days pass between the first stir of the sour dough and the last minute in the oven of our bakery. " * 3
REACT = f"""
import {{ createElement as h, useEffect, useState }} from "react";
import {{ createRoot }} from "react-dom/client";
import {{ BrowserRouter, Link, Route, Routes, Navigate }} from "react-router";
const Loaf = ({{ name }}) => {{
  const [late, setLate] = useState("");
  useEffect(() => {{ setTimeout(() => setLate("Sold out."), 1500) }}, []);
  return h("main", null, h("title", null, "Loaf " + name), h("meta", {{ name: "description", content: "About " + name }}),
    h("link", {{ rel: "canonical", href: location.href }}), h("h1", null, name), h("p", null, {TEXT!r}), late,
    h("nav", null, h(Link, {{ to: "/react/rye" }}, "Rye"), h(Link, {{ to: "/react/spelt" }}, "Spelt")));
}};
const Hidden = () => h("main", null, h("meta", {{ name: "robots", content: "noindex" }}), h("title", null, "Hidden"),
  h("p", null, {TEXT!r}));
createRoot(document.getElementById("root")).render(h(BrowserRouter, null, h(Routes, null,
  h(Route, {{ path: "/react/rye", element: h(Loaf, {{ name: "rye" }}) }}),
  h(Route, {{ path: "/react/spelt", element: h(Loaf, {{ name: "spelt" }}) }}),
  h(Route, {{ path: "/react/hidden", element: h(Hidden) }}))));
"""
VUE = f"""
import {{ createApp, h }} from "vue/dist/vue.esm-bundler.js";
import {{ createRouter, createWebHashHistory, RouterLink, RouterView }} from "vue-router";
const page = (name) => ({{ render: () => h("main", [h("h1", name), h("p", {TEXT!r})]) }});
const routes = [{{ path: "/", component: page("Start") }}, {{ path: "/rolls", component: page("Rolls") }}];
const links = () => h("nav", [h(RouterLink, {{ to: "/" }}, () => "Start"), h(RouterLink, {{ to: "/rolls" }}, () => "Rolls")]);
createApp({{ render: () => [links(), h(RouterView)],
  mounted() {{ document.title = "Bakery"; fetch("/gone.json"); Promise.reject(new Error("no oven")) }} }})
  .use(createRouter({{ history: createWebHashHistory(), routes }})).mount("#app");
"""
LOAF = {
    "js-title-only-rendered",
    "js-description-changed",
    "js-h1-changed",
    "js-canonical-only-rendered",
    "js-links-only-rendered",
    "js-content-only-rendered",
    "js-content-late",
}


def _build(folder: Path) -> None:
    """Install the packages and bundle both applications, as their tools do."""
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", *PACKAGES], cwd=folder, check=True)
    for name, source in (("react", REACT), ("vue", VUE)):
        (folder / f"{name}.js").write_text(source, encoding="utf-8")
        bundle = ["node_modules/.bin/esbuild", f"{name}.js", "--bundle", "--minify", f"--outfile={name}.out.js"]
        subprocess.run([*bundle, '--define:process.env.NODE_ENV="production"', "--log-level=error"], cwd=folder, check=True)


@pytest.mark.slow
@needs_node
async def test_what_react_and_vue_render_ends_in_its_checks(tmp_path: Path) -> None:
    """The smaller test is `test_every_difference_ends_in_its_check_and_no_other_page_has_any`."""
    _build(tmp_path)
    async with Site() as site:
        for name, root in (("react", "root"), ("vue", "app")):
            script = (tmp_path / f"{name}.out.js").read_text(encoding="utf-8")
            site.reply(f"/{name}.js", body=script, content_type="text/javascript")
            shell = f'<!doctype html><html lang=en><body><div id="{root}"></div><script src="/{name}.js"></script></body></html>'
            for path in ("/react/rye", "/react/spelt", "/react/hidden") if name == "react" else ("/vue",):
                site.html(path, shell)
        site.page("/", links=["/react/rye", "/react/spelt", "/react/hidden", "/vue"])
        audit = Audit(site, tmp_path)
        options = {"render": "always", "render_wait": 2.5, "timeout": 60.0, "threshold": ("js-content-late=1.4",)}
        await audit.run("/", **options)
    found: dict[str, set[str]] = {}
    for url, check in audit.select("url, check_id FROM findings WHERE check_group = 'rendering'"):
        found.setdefault(url, set()).add(check)
    assert found.get("/") is None
    assert found["/react/rye"] == found["/react/spelt"] == LOAF
    assert found["/react/hidden"] == {"js-title-only-rendered", "js-noindex-added", "js-content-only-rendered"}
    assert found["/vue"] >= {
        "js-title-only-rendered", "js-h1-changed", "js-content-only-rendered", "js-hash-routing", "js-exception",
        "js-request-failed",
    }  # fmt: skip
    assert audit.select("indexability FROM audited_pages WHERE url = ?", site.url("/react/hidden")) == [("noindex",)]
