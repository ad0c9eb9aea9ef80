"""Numbers in the text format of Prometheus: the service and the workers write theirs alike. Pure.

What a label says may come from a site or a person: it is escaped, and can end neither its line nor its quotes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[Mapping[str, str], float]


def format_metric(name: str, words: str, rows: Iterable[Sample], kind: str = "gauge") -> Iterator[str]:
    """The lines of one metric; none when it has no rows."""
    told = [f"{name}{_labels(labels)} {value}" for labels, value in rows]
    if told:
        yield f"# HELP {name} {words}"
        yield f"# TYPE {name} {kind}"
        yield from told


def _labels(labels: Mapping[str, str]) -> str:
    told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{{{told}}}" if told else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
