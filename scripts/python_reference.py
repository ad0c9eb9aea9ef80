"""The reference page of the Python API, from the names that `tadoru` exports: their signatures, fields and docstrings."""

from __future__ import annotations

import ast
import inspect
from textwrap import dedent

import tadoru

_ABOUT = """# Python API

`import tadoru` gives the four jobs as functions. Their keyword arguments are the options of the commands, with the same names
(`--max-time` is `max_time`), defaults and limits: [links](links.md), [audit](audit.md), [docs](docs.md), [events](events.md).
Repeatable options are lists. Configuration files and `TADORU_*` variables are not read. Everything is typed (`py.typed`).

## In a script

```python
import tadoru

result = tadoru.links("https://example.com/", depth=2)
for page in result.internal_urls:
    print(page.depth, page.url, page.status_code)
```

## In a notebook, and in asyncio

A notebook has a running event loop. Await the coroutines there, and in programs with asyncio; several crawls can run at the same
time:

```python
import asyncio

audited, site = await asyncio.gather(
    tadoru.audit_async("https://example.com/", database="site.db"),
    tadoru.docs_async("https://example.com/docs/", output="site"),
)
```

Cancelling a coroutine stops its crawl. The next call with the same database, folder or `state` resumes it.

## Errors

Problems of a site are part of the result. Wrong arguments raise `tadoru.errors.UsageError`, an unusable database `StoreError`;
all errors derive from `TadoruError`. `docs` raises `SeedUnreachable` or `NothingToCrawl` if there is no page to convert.

`notify` is called with each event of a crawl: the classes of `tadoru.engine.notifications`, such as `PageDone`.
"""


def page() -> str:
    names = [name for name in tadoru.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isfunction(getattr(tadoru, name))]
    lines = [_ABOUT, "## Functions\n"]
    for name in functions:
        lines += _function(getattr(tadoru, name), f"tadoru.{name}")
    lines.append("## Results\n")
    for name in names:
        if name not in functions:
            lines += _class(getattr(tadoru, name))
    return "\n".join(lines)


def _function(function: object, name: str) -> list[str]:
    node = _parsed(function)
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    keyword = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    returns = ast.unparse(node.returns) if node.returns else ""
    return [f"### `{keyword}{name}({ast.unparse(node.args)}) -> {returns}`\n", _text(node) + "\n"]


def _class(kind: type[object]) -> list[str]:
    node = _parsed(kind)
    assert isinstance(node, ast.ClassDef)
    lines = [f"### `{kind.__name__}`\n", _text(node) + "\n", "| member | description |", "|---|---|"]
    for number, part in enumerate(node.body):
        if isinstance(part, ast.AnnAssign):
            after = node.body[number + 1] if number + 1 < len(node.body) else None
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            lines.append(
                _row(f"{ast.unparse(part.target)}: {ast.unparse(part.annotation)}", after.value.value if is_text else "")
            )
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and not part.name.startswith("_"):
            keyword = "async " if isinstance(part, ast.AsyncFunctionDef) else ""
            is_property = any(ast.unparse(one) == "property" for one in part.decorator_list)
            arguments = ast.unparse(part.args).removeprefix("self, ").removeprefix("self").removeprefix("cls, ")
            returns = f" -> {ast.unparse(part.returns)}" if part.returns else ""
            shown = f"{part.name}: {returns[4:]}" if is_property else f"{keyword}{part.name}({arguments}){returns}"
            lines.append(_row(shown, _text(part)))
    return [*lines, ""]


def _row(member: str, text: str) -> str:
    return f"| `{member}` | {text} |".replace(" | None", " \\| None").replace("\n\n", " ").replace("\n", " ")


def _text(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    return ast.get_docstring(node) or ""


def _parsed(thing: object) -> ast.stmt:
    return ast.parse(dedent(inspect.getsource(thing))).body[0]  # type: ignore[arg-type]
