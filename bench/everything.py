"""One run of everything: `bench/run --everything`. Every job beside its peers, the service, the cluster, one after another.

Each part is the command that measures it anyway; what it prints goes into `bench/RESULTS.md`, with a table at its head of what
was asked and what came out, and a picture (`docs/images/bench.svg`) of the ratios. Nothing else should run on the machine. A
calendar of 100,000 events takes twenty minutes to fill; `--calendar FILE` keeps it for the next time. `--parts links,serve` runs
some.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench import report
from bench.ratios_chart import Bar, svg

SCRAPY = r"tadoru is ([\d.]+) times Scrapy \("
ROOT = Path(__file__).resolve().parent.parent
PEER = re.compile(r"^\| (?P<name>\S+) [\d.]+ .*\|\s+(?P<ratio>[\d.]+)× \|", re.MULTILINE)
"""A row of a table of crawlers that says how many times as fast tadoru is."""

SAID_ALREADY = ("# ", "Written by a run of the benchmark", "- Command: ", "- Machine: ")
"""How the lines of a part's document begin that the whole has at its head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Something that a part's output says, and what was asked of it."""

    what: str
    pattern: str
    """The last group that fits is the figure."""
    least: float | None = None
    most: float | None = None
    unit: str = ""
    every: bool = False
    """Each place where it is found counts, and the worst one is told."""

    def read(self, text: str) -> float | None:
        found = [float(one.replace(",", "")) for one in re.findall(self.pattern, text, re.MULTILINE)]
        if not found:
            return None
        return (max(found) if self.most is not None else min(found)) if self.every else found[-1]

    def row(self, text: str) -> tuple[str, str, str, str]:
        value = self.read(text)
        asked = (
            f"at least {self.least:g}" if self.least is not None else f"at most {self.most:g}" if self.most is not None else ""
        )
        shown = "not measured" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
        is_kept = value is not None and value >= (self.least or value) and value <= (self.most or value)
        verdict = "" if not asked else "kept" if is_kept else "**not kept**"
        unit = f" {self.unit}" if self.unit else ""
        return self.what, f"{asked}{unit}" if asked else "", f"{shown}{unit}" if value is not None else shown, verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A command of the benchmark."""

    name: str
    title: str
    command: tuple[str, ...]
    figures: tuple[Figure, ...]
    is_document: bool = False
    """It prints Markdown with headings of its own."""


def parts(calendar: str | None) -> list[Part]:
    """Everything, in the order of the product's jobs."""
    events = ("--database", calendar) if calendar else ()
    return [
        Part(
            name="links", title="Mapping links, beside other crawlers", is_document=True,
            command=("bench", "--box", "15"),
            figures=(
                Figure(what="links: times as fast as Scrapy", pattern=SCRAPY, least=30, every=True),
                Figure(what="links: times as fast as wget2", pattern=r"tadoru is ([\d.]+) times wget2", least=0.33, every=True),
                Figure(what="start-up, beside a bare interpreter", pattern=r"ms: ([\d.]+) times \(allowed", unit="times"),
            ),
        ),
        Part(
            name="audit", title="Auditing, beside what one would write for it", is_document=True,
            command=("bench", "--audit", "--box", "20"),
            figures=(
                Figure(what="audit: times as fast as Scrapy", pattern=SCRAPY, least=15, every=True),
            ),
        ),
        Part(
            name="analysis", title="The checks of a whole site", command=("bench.analysis",),
            figures=(Figure(what="100,000 pages and 2 million links judged", pattern=r"([\d.]+) s of CPU", unit="s of CPU"),),
        ),
        Part(
            name="docs", title="Pages to Markdown, beside other converters", command=("bench.docs_convert", "--peers"),
            figures=(
                Figure(what="docs: CPU of trafilatura", pattern=r"trafilatura.*, ([\d.]+) times as much", unit="times ours"),
                Figure(what="docs: CPU of markdownify", pattern=r"markdownify.*, ([\d.]+) times as much", unit="times ours"),
            ),
        ),
        Part(
            name="diff", title="Documentation that did not change", command=("bench.docs_diff", "--pages", "500"),
            figures=(Figure(what="docs: reading it again, of the first CPU", pattern=r"takes ([\d.]+) of the first", most=0.1),),
            is_document=True,
        ),
        Part(
            name="cycle", title="Collecting from many sources",
            command=("bench.events_cycle", "--sources", "200", "--hosts", "40", "--gap", "0.5"), figures=(),
        ),
        Part(
            name="serve", title="The service, beside a bare endpoint", command=("bench.serve", "rate", *events),
            figures=(
                Figure(what="service: the list, of a bare endpoint's rate", pattern=r"^share ([\d.]+)", least=0.333),
                Figure(what="service: 99 of 100 lists within", pattern=r"p99 ([\d.]+) ms", unit="ms"),
            ),
        ),
        Part(
            name="frontier", title="The frontier on PostgreSQL",
            command=("bench.shared_frontier", "--sizes", "100000"),
            figures=(
                Figure(
                    what="frontier: discovered URLs, of a bare COPY",
                    pattern=r"^\| [\d,]+ \| [\d,]+ \| [\d,]+ \| [\d,]+ \| [\d.]+ \| ([\d.]+) \|", least=0.3,
                ),
                Figure(what="frontier: leases a second", pattern=r"leases, any hosts \| ([\d,]+)", least=2_000),
            ),
        ),
        Part(
            name="cluster", title="Workers on one PostgreSQL",
            command=("bench.cluster", "--plot", str(ROOT / "docs" / "images" / "cluster.svg")),
            figures=(
                Figure(what="cluster: four workers, of one", pattern=r"^4 workers.*\(([\d.]+) of the first", least=3.6),
                Figure(what="cluster: shortest gap, of 1 s", pattern=r"shortest gap ([\d.]+) s", least=0.99, every=True),
            ),
        ),
    ]  # fmt: skip


def run(part: Part, scratch: Path) -> str:
    """What a part prints."""
    began = time.monotonic()
    output = ("-o", str(scratch / f"{part.name}.md")) if part.command[0] == "bench" else ()
    print(f"{part.title} …", file=sys.stderr, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", *part.command, *output], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return done.stdout if not done.returncode else f"{done.stdout}\nended with exit code {done.returncode}\n"


def shown_command(part: Part) -> str:
    """The command as a person types it: without the paths of this machine."""
    words = [Path(word).name if Path(word).is_absolute() else word for word in part.command]
    return " ".join(["bench/run" if words[0] == "bench" else f"python -m {words[0]}", *words[1:]])


def document(ran: Sequence[tuple[Part, str]], command: str) -> str:
    """The whole of RESULTS.md."""
    rows = [figure.row(text) for part, text in ran for figure in part.figures]
    texts = [
        "# Results",
        "One run of everything, one part after another, each beside its peers if there are any. [README.md](README.md) says how.",
        f"- Command: `{command}`, {datetime.now(UTC):%Y-%m-%d}\n- Machine: {report.machine()}",
        report.table(("what", "asked", "measured", "verdict"), rows),
        "![How many times as fast as others](../docs/images/bench.svg)",
    ]
    for part, text in ran:
        body = _below(text) if part.is_document else f"```text\n{text.strip()}\n```"
        texts.append(f"## {part.title}\n\n`{shown_command(part)}`\n\n{body}")
    return "\n\n".join(texts) + "\n"


def _below(text: str) -> str:
    """A document as a part of another: its title goes, and what is said once for all; its headings are one deeper."""
    lines = text.strip().splitlines()
    kept = [f"#{line}" if line.startswith("## ") else line for line in lines if not line.startswith(SAID_ALREADY)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip()


def bars(ran: Sequence[tuple[Part, str]]) -> list[Bar]:
    """The ratios that the picture shows: of the generated site, which comes first."""
    texts = {part.name: text for part, text in ran}
    found = []
    for name, job in (("links", "Mapping links"), ("audit", "Auditing")):
        seen: set[str] = set()
        for match in PEER.finditer(texts.get(name, "")):
            if match["name"] not in seen | {"tadoru"}:
                seen.add(match["name"])
                found.append(Bar(job, match["name"], float(match["ratio"])))
    others = re.finditer(r"(\w+)\s+[\d.]+\s+[\d.]+, ([\d.]+) times as much", texts.get("docs", ""))
    return [*found, *(Bar("Pages to Markdown", match[1], float(match[2])) for match in others)]


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="bench/run --everything", description=__doc__)
    parser.add_argument("--calendar", help="a calendar of 100,000 events to use, and to keep")
    parser.add_argument("--parts", help="some of them, by name")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "bench" / "RESULTS.md")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs" / "images" / "bench.svg")
    chosen = parser.parse_args(given)
    every = parts(chosen.calendar)
    names = chosen.parts.split(",") if chosen.parts else [part.name for part in every]
    if unknown := set(names) - {part.name for part in every}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    scratch = ROOT / ".bench"
    scratch.mkdir(exist_ok=True)
    ran = [(part, run(part, scratch)) for part in every if part.name in names]
    words = [word if not word.startswith("/") else Path(word).name for word in given]
    chosen.output.write_text(document(ran, " ".join(["bench/run", "--everything", *words])), "utf-8")
    if shown := bars(ran):
        chosen.picture.write_text(svg(shown), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
