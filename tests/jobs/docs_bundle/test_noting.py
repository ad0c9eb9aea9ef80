"""What a run changed is told before it is forgotten: who dies in between is told again, and a first crawl changes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tadoru.jobs.docs.bundle.model import BundleOptions, DocChanges, StoredDoc
from tadoru.jobs.docs.bundle.writer import write_bundle
from tests.jobs.docs_bundle.sites import SITE, manual, page


def write(root: Path, docs: list[StoredDoc], told: list[DocChanges], *, dies: bool = False) -> None:
    def note(changes: DocChanges) -> None:
        told.append(changes)
        if dies:
            raise KeyboardInterrupt

    write_bundle(root, SITE, lambda: iter(docs), BundleOptions(), note=note)


def titles(changes: DocChanges) -> list[list[str]]:
    return [[one.title for one in found] for found in (changes.added, changes.changed, changes.removed)]


def test_a_change_is_told_once_and_again_only_to_who_did_not_live_to_see_it_written(tmp_path: Path) -> None:
    told: list[DocChanges] = []
    docs = manual()
    write(tmp_path, docs, told)
    assert told == [], "the first crawl of a site changes nothing"
    install, _, japanese = docs
    later = [replace(install, markdown="# Install\n\nPress the button.\n", hash="0" * 64), japanese, page(4, "# New\n\nText.\n")]
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path, later, told, dies=True)
    write(tmp_path, later, told)
    assert [titles(one) for one in told] == [[["New"], ["Install"], ["Settings"]]] * 2
    write(tmp_path, later, told)
    assert len(told) == 2
