"""The estimate of tokens: near what a real vocabulary gives, additive over lines, and honest about what is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import UsageError
from tadoru.jobs.docs.bundle.tokens import estimate_tokens, round_tokens, token_counter

PROSE = """\
The event loop is the core of every asyncio application. Event loops run asynchronous tasks and callbacks, perform
network IO operations, and run subprocesses. Application developers should typically use the high-level asyncio functions, such as
`asyncio.run()`, and should rarely need to reference the loop object or call its methods.
"""
CODE = """```python
import asyncio


async def main(host: str, port: int = 8080) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"GET / HTTP/1.0\\r\\n\\r\\n")
    print((await reader.read(1024)).decode())


asyncio.run(main("127.0.0.1"))
```
"""
JAPANESE = """設定ファイルは起動時に一度だけ読み込まれます。変更を反映するには、サーバーを再起動してください。
ポート番号の既定値は 8080 です。環境変数で上書きすることもできます。
"""
TABLE = """| Option | Default | Meaning |
| --- | --- | --- |
| `--depth` | 2 | How far links are followed |
| `--delay` | 0.5 | Seconds between two requests |
| `--output` | `.context` | Where the files go |
"""


@pytest.mark.parametrize(
    "text, exact",
    [
        pytest.param(PROSE, 64, id="prose"),
        pytest.param(CODE, 81, id="code"),
        pytest.param(JAPANESE, 60, id="Japanese"),
        pytest.param(TABLE, 60, id="a table"),
    ],
)
def test_the_estimate_is_within_a_quarter_of_what_o200k_gives_for_a_few_lines(text: str, exact: int) -> None:
    assert abs(estimate_tokens(text) / exact - 1) < 0.25


def test_over_all_of_them_it_is_within_a_tenth() -> None:
    assert abs(estimate_tokens(PROSE + CODE + JAPANESE + TABLE) / (64 + 81 + 60 + 60) - 1) < 0.1


@given(st.lists(st.text().map(lambda line: line + "\n")))
def test_texts_that_end_lines_weigh_together_what_they_weigh_apart(lines: list[str]) -> None:
    assert estimate_tokens("".join(lines)) == pytest.approx(sum(map(estimate_tokens, lines)))


@given(st.text())
def test_every_text_weighs_something_and_is_rounded_up(text: str) -> None:
    assert 0 <= estimate_tokens(text) <= round_tokens(estimate_tokens(text)) + 1e-6 < estimate_tokens(text) + 1.01


def test_a_tokenizer_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Unknown tokenizer gpt2\. Choose one of estimate"):
        token_counter("gpt2")


def test_an_exact_tokenizer_that_is_not_installed_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(UsageError, match="needs tiktoken"):
        token_counter("o200k_base")


def test_a_vocabulary_that_is_not_there_is_not_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", sys)  # installed, and never asked for anything
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(UsageError, match="not on this machine"):
        token_counter("o200k_base")
