"""What a model learns from: tables with columns by their usual names or those that are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from tadoru.errors import UsageError
from tadoru.jobs.events.enrich.category_model import EventTexts
from tadoru.jobs.events.enrich.training import TrainingSample, samples_from_tables


def table(folder: Path, text: str, name: str = "a.csv", encoding: str = "utf-8-sig") -> Path:
    path = folder / name
    path.write_text(text, encoding=encoding)
    return path


def test_columns_are_found_by_their_usual_names(tmp_path: Path) -> None:
    path = table(tmp_path, "名称,イベント種類,説明,集合場所\n合唱,音楽,歌います,公民館\n,音楽,題名なし,\n市,,種類なし,\n")
    assert samples_from_tables([path]) == [TrainingSample(EventTexts("合唱", "公民館", "歌います"), "音楽", "")]


def test_columns_can_be_named_and_shift_jis_is_read(tmp_path: Path) -> None:
    path = table(tmp_path, "題,種類,市,本文\n合唱のつどい,音楽,甲市,みんなで歌う会です\n", encoding="cp932")
    [sample] = samples_from_tables([path], text=("題", "本文"), category="種類", group="市")
    assert sample == TrainingSample(EventTexts("合唱のつどい", "", "みんなで歌う会です"), "音楽", "甲市")


def test_several_tables_are_a_group_each(tmp_path: Path) -> None:
    text = "title,category\nChoir,Music\n"
    paths = [table(tmp_path, text, "a.csv"), table(tmp_path, text, "b.csv")]
    assert [one.group for one in samples_from_tables(paths)] == ["a.csv", "b.csv"]


@pytest.mark.parametrize(
    "text, options, why",
    [
        ("", {}, "none of the columns title"),
        ("a,b\n1,2\n", {}, "none of the columns title"),
        ("title,b\n1,2\n", {}, "none of the columns category"),
        ("title,category\n", {"group": "city"}, "no column “city”. It has: title, category. Check --group"),
        ("title,category\n", {"text": ("name",)}, "no column “name”"),
        ("title,category\n", {"category": "kind"}, "no column “kind”"),
        ("title,category\n" + '"' + "x" * 200_000, {}, "as CSV: see line"),
    ],
)
def test_what_a_table_lacks_is_said(tmp_path: Path, text: str, options: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        samples_from_tables([table(tmp_path, text)], **options)  # type: ignore[arg-type]


def test_a_table_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot read"):
        samples_from_tables([tmp_path / "missing.csv"])
