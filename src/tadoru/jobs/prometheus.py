"""The text format of Prometheus, for the metrics of the service and of workers. Pure.

Labels may contain text of sites and users: they are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[Mapping[str, str], float]


def format_metric(name: str, help_text: str, samples: Iterable[Sample], kind: str = "gauge") -> Iterator[str]:
    """The lines of one metric; none when it has no samples."""
    lines = [f"{name}{_labels(labels)} {value}" for labels, value in samples]
    if lines:
        yield f"# HELP {name} {help_text}"
        yield f"# TYPE {name} {kind}"
        yield from lines


def _labels(labels: Mapping[str, str]) -> str:
    lines = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{{{lines}}}" if lines else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
