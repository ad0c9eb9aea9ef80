"""Each tutorial is true: whoever types it, from its first command to its last, sees what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents.tutorial import ROOT, difference, follow, steps
from tests.support.programs import needs_shell_tools

FOLDER = ROOT / "docs" / "tutorial"
TUTORIALS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")


@needs_shell_tools
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_does_what_it_says(tutorial: Path, tmp_path: Path) -> None:
    text = tutorial.read_text("utf-8")
    for step, said, wrong in follow(text, tmp_path):
        assert "Traceback" not in said, said
        assert not wrong, f"{tutorial.name}:{step.line} {step.what}\n{wrong}"


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_says_what_you_will_have_and_where_to_go_on(tutorial: Path) -> None:
    text = tutorial.read_text("utf-8")
    assert re.search(r"\A# .+\n\nIn (ten minutes|a quarter of an hour) you will have\n\n- ", text)
    assert len(re.findall(r"^- .*\]\(\.\./|^- .*\]\(\w", text.partition("\n## Next steps\n")[2], re.M)) >= 2
    assert len(list(steps(text))) >= 12


def test_the_index_leads_to_every_tutorial() -> None:
    index = (FOLDER / "README.md").read_text("utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", index)) == {path.name for path in TUTORIALS}
    assert len(TUTORIALS) == 5


@pytest.mark.parametrize("name", ["calendar", "sources", "cluster-page"])
def test_the_pictures_of_the_tutorials_are_small(name: str) -> None:
    picture = ROOT / "docs" / "images" / f"{name}.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 150_000


# What reads them.

TEXT = """\
Words.

```console
$ echo one; echo "two words"
one
…
$ cat <<'END'
> three
> END
three
```

Save this as `a file.txt`:

```text
four
```

```console other
$ tail -f 'a file.txt'
four
```

```console other
^C
```

```console
$ (exit 3)
$ echo $?
3
```
"""


def test_a_text_is_read_as_steps() -> None:
    assert [(step.line, step.does, step.terminal, step.what, step.shown) for step in steps(TEXT)] == [
        (4, "type", "", 'echo one; echo "two words"', "one\n…\n"),
        (7, "type", "", "cat <<'END'\nthree\nEND", "three\n"),
        (16, "write", "", "a file.txt", "four\n"),
        (20, "type", "other", "tail -f 'a file.txt'", "four\n"),
        (25, "stop", "other", "", ""),
        (29, "type", "", "(exit 3)", ""),
        (30, "type", "", "echo $?", "3\n"),
    ]


def test_a_text_that_is_true_is_followed_to_its_end(tmp_path: Path) -> None:
    assert [wrong for _, _, wrong in follow(TEXT, tmp_path)] == [""] * 7


@pytest.mark.parametrize(
    "truth, lie",
    [("one\n…", "one\nthree"), ("> three", "> five"), ("```text\nfour", "```text\nnine"), ("(exit 3)", "(exit 4)")],
    ids=["what is shown", "what is typed", "what is in a file", "how it ends"],
)
def test_a_text_that_is_not_true_is_noticed(truth: str, lie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.documents.tutorial.PATIENCE", 1.0)  # What is never said is waited for.
    assert truth in TEXT
    assert any(wrong for _, _, wrong in follow(TEXT.replace(truth, lie), tmp_path))


def test_a_command_that_fails_is_noticed_unless_the_text_asks_how(tmp_path: Path) -> None:
    ((_, _, wrong),) = follow("```console\n$ (exit 3)\n```\n", tmp_path)
    assert wrong == "It ended with exit code 3.\n"


@pytest.mark.parametrize(
    "shown, said",
    [
        ("took 3.6 s on 2026-11-16 at 04:02\n", "took 12 s on 2031-01-02 at 23:59\n"),
        ("16 November 2026 Sat\n", "2 May 2031 Mon\n"),
        ("2026年12月6日（日）\n", "2027年1月10日（土）\n"),
        ("at 2026-11-16T04:04:02.048Z\n", "at 2031-01-16T14:04:02Z\n"),
        ("a    b\n", "a  b\n"),
        ("a\n…\nb\n", "a\nb\n"),
        ("a\n…\nb\n", "a\n1\n2\nb\n"),
        ("a … c\n", "a and then c\n"),
        ("a\n", "17 pages, 2 queued, 9.2/s, about 0 s left; no errors\na"),
        ("tdr_wi4zr4gh  x\n", "tdr_aaaabbbb  x\n"),
        ("about 2,425 tokens\n", "about 99 tokens\n"),
        ("score   60.0 → 63.3 (+3.3)\n", "score   59.5 → 62.8 (+3.3)\n"),
    ],
)
def test_what_is_never_the_same_may_differ(shown: str, said: str) -> None:
    assert difference(shown, said) == ""


@pytest.mark.parametrize(
    "shown, said",
    [
        ("a\n", "b\n"), ("a\n", "a\nb\n"), ("a\nb\n", "a\n"), ("", "a\n"), ("a\n", ""), ("3 pages\n", "4 pages\n"),
        ("a b\n", "ab\n"), ("a\n…\nb\n", "a\nc\n"), ("took 3 s\n", "took long\n"),
        ("60.0 → 63.3 (+3.3)\n", "60.0 → 59.3 (-0.7)\n"), ("(a)\n", "a\n"),
    ],
)  # fmt: skip
def test_everything_else_may_not(shown: str, said: str) -> None:
    assert "shown" in difference(shown, said)
