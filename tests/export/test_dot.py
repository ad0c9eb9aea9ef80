"""DOT: read by a small parser of the language (and by Graphviz where it is installed)."""

from __future__ import annotations

import io
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.audit.export.dot import write_dot
from tadoru.store.crawl.export_reader import ExportNode
from tadoru.store.crawl.sqlite.store import SqliteStore
from tests.contract.crawls import url
from tests.export.crawls import exported

TOKEN = re.compile(r'\s+|//[^\n]*|("(?:[^"\\]|\\.)*"|->|[A-Za-z_][A-Za-z_0-9]*|-?[0-9.]+|[{}\[\];,=])', re.DOTALL)


class Graph:
    """A graph in the part of DOT that we write: attributes, clusters of nodes, edges. Anything else fails."""

    def __init__(self, text: str) -> None:
        self.nodes: dict[str, dict[str, str]] = {}
        self.edges: list[tuple[str, str, dict[str, str]]] = []
        self.clusters: dict[str, list[str]] = {}
        self._tokens = list(self._split(text))
        assert self._take() == "digraph"
        self._take_string()
        self._block("")
        assert self._tokens == []

    @staticmethod
    def _split(text: str) -> list[str]:
        tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            assert match, f"no DOT: {text[at : at + 40]!r}"
            at = match.end()
            if match[1]:
                tokens.append(match[1])
        return tokens[::-1]

    def _take(self, expected: str = "") -> str:
        token = self._tokens.pop()
        assert not expected or token == expected, f"{token} instead of {expected}"
        return token

    def _take_string(self) -> str:
        token = self._take()
        assert token.startswith('"'), token
        return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)

    def _block(self, cluster: str) -> None:
        self._take("{")
        while self._tokens[-1] != "}":
            self._statement(cluster)
        self._take("}")

    def _statement(self, cluster: str) -> None:
        word = self._tokens[-1]
        if word == "subgraph":
            self._take()
            name = self._take_string()
            self.clusters[name] = []
            self._block(name)
            return
        if word.startswith('"'):
            name = self._take_string()
            if self._tokens[-1] == "->":
                self._take()
                target = self._take_string()
                self.edges.append((name, target, self._attributes()))
            else:
                self.nodes[name] = self._attributes()
                self.clusters[cluster].append(name)
        elif self._take() in ("graph", "node", "edge"):
            self._attributes()
        else:
            self._take("=")
            self._take_string()
        self._take(";")

    def _attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        if self._tokens[-1] == "[":
            self._take()
            while self._tokens[-1] != "]":
                name = self._take()
                self._take("=")
                value = self._take()
                found[name] = value.strip('"')
                if self._tokens[-1] == ",":
                    self._take()
            self._take("]")
        return found


def drawn(nodes: list[ExportNode], edges: dict[int, list[tuple[int, bool]]] | None = None, total: int = 0) -> str:
    out = io.StringIO()
    write_dot(nodes, total or len(nodes), lambda page: (edges or {}).get(page, []), "https://a.example/", out)
    return out.getvalue()


def node(number: int, where: str, code: int | None = 200, title: str | None = None, redirect: int | None = None) -> ExportNode:
    return ExportNode(number, where, code, title, None, redirect)


def test_the_pages_of_the_site_and_their_links_are_drawn(store: SqliteStore) -> None:
    wrote, text = exported(store, "dot")
    graph = Graph(text.decode())
    paths = ["", "a", "b?x=1&y=2", "old", "gone", "same", "doc.pdf", "hidden", "down"]
    assert set(graph.nodes) == {url(path) for path in paths}
    links = {(source, target) for source, target, _ in graph.edges}
    assert links == {(url(""), url(path)) for path in paths[1:8]} | {
        (url("a"), url("")), (url("old"), url("a")), (url("hidden"), url("down")),
    }  # fmt: skip
    assert wrote.counts == {"pages": 9, "links": 10}
    styles = {target: more.get("style") for source, target, more in graph.edges if source == url("")}
    assert [path for path in paths if styles.get(url(path)) == "dashed"] == ["b?x=1&y=2"]
    assert "left out" not in text.decode()


def test_a_limit_keeps_what_most_leads_to_and_counts_the_rest(store: SqliteStore) -> None:
    _, text = exported(store, "dot", limit_nodes=2)
    graph = Graph(text.decode())
    assert set(graph.nodes) == {url(""), url("a")}
    assert {(source, target) for source, target, _ in graph.edges} == {(url(""), url("a")), (url("a"), url(""))}
    assert "// 7 of 9 pages are left out" in text.decode()


def test_pages_are_gathered_by_folder_and_site() -> None:
    where = ["https://a.example/", "https://a.example/x/1", "https://b.example/x/1", "https://a.example/x/y/2"]
    graph = Graph(drawn([node(number, each) for number, each in enumerate(where)]))
    assert graph.clusters == {
        "cluster https://a.example/": [where[0]],
        "cluster https://a.example/x/": [where[1], where[3]],
        "cluster https://b.example/x/": [where[2]],
    }


def test_the_colour_tells_how_a_page_answered() -> None:
    codes = [200, 301, 404, 503, None]
    graph = Graph(drawn([node(code or 0, f"https://a.example/{code}", code) for code in codes]))
    colours = [more["fillcolor"] for more in graph.nodes.values()]
    assert len(set(colours)) == 4
    assert graph.nodes["https://a.example/404"]["fillcolor"] == graph.nodes["https://a.example/503"]["fillcolor"]


texts = st.text(max_size=40)


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4, unique_by=lambda pair: pair[0]))
def test_no_url_or_title_can_break_out_of_its_quotes(pairs: list[tuple[str, str]]) -> None:
    nodes = [node(number, f"https://a.example/{number}/{path}", 200, title) for number, (path, title) in enumerate(pairs)]
    graph = Graph(drawn(nodes, {0: [(number, False) for number in range(len(nodes))]}))
    assert len(graph.nodes) == len(graph.edges) == len(nodes)
    assert all(set(more) == {"label", "tooltip", "fillcolor"} for more in graph.nodes.values())


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_it(store: SqliteStore) -> None:
    text = exported(store, "dot")[1]
    done = subprocess.run(["dot", "-Tcanon"], input=text, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
