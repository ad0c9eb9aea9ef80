"""Measures how well a small model finds the category of events, on a corpus of municipal event lists.

Grouped cross-validation: the events of a municipality are learnt from or tried, never both. Prints the figures of
`tadoru events enrich evaluate` and the size and speed of a model of the whole corpus.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime

from bench.events_corpus import CORPUS
from tadoru.cli.events.enrich import write_evaluation
from tadoru.jobs.events.enrich.training import evaluate_model, samples_from_tables, train_model

BAR = 0.52
"""TF-IDF over letter runs and logistic regression, measured before anything was built."""


def main() -> int:
    """Print everything."""
    files = sorted(CORPUS.glob("*.csv"))
    if not files:
        sys.stderr.write(f"The corpus is not there: {CORPUS}\n")
        return 1
    samples = samples_from_tables(files, text=("名称", "説明", "集合場所"), category="イベント種類")
    write_evaluation(evaluate_model(samples))
    began = time.process_time()
    model = train_model(samples, datetime(2026, 1, 1, tzinfo=UTC))
    trained = time.process_time() - began
    texts = [one.texts for one in samples]
    began = time.process_time()
    model.categories(texts)
    each = (time.process_time() - began) / len(texts)
    sys.stdout.write(f"\nbar {BAR}; a model of all: {len(model.data) / 1024:.0f} KiB, {trained:.1f} s of CPU to train, ")
    sys.stdout.write(f"{each * 1e6:.0f} µs an event\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
