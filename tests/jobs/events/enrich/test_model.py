"""The model of categories, trained on events made up here: it learns, it is always the same, and its file can be trusted."""

from __future__ import annotations

import io
import json
import random
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.errors import ConfigError, StoreError, UsageError
from tadoru.jobs.events.enrich.category_model import (
    FEATURE_COUNT,
    CategoryModel,
    EventTexts,
    TrainingInfo,
    extract_features,
    load_model,
)
from tadoru.jobs.events.enrich.training import TrainingSample, assign_folds, evaluate_model, train_model

NOW = datetime(2026, 8, 1, tzinfo=UTC)
WORDS = {
    "音楽": ("吹奏楽", "コンサート", "合唱", "演奏会", "ピアノ"),
    "スポーツ": ("マラソン", "水泳", "体操教室", "野球", "ウォーキング"),
    "crafts": ("pottery", "knitting", "woodwork", "weaving", "printing"),
}


def made(count: int, seed: int = 1) -> list[TrainingSample]:
    """Events of three kinds, in five towns."""
    chance = random.Random(seed)
    samples = []
    for number in range(count):
        category = chance.choice(list(WORDS))
        word, other = chance.sample(WORDS[category], 2)
        title = f"{chance.choice(['春の', '第3回', '市民', 'the '])}{word}"
        texts = EventTexts(title, chance.choice(["公民館", "town hall"]), f"<p>{other}を行います。申込は電話で。</p>")
        samples.append(TrainingSample(texts, category, f"town {number % 5}"))
    return samples


@pytest.fixture(scope="module")
def model() -> CategoryModel:
    return train_model(made(120), NOW, source="made up")


def test_a_model_finds_the_category_of_events_it_has_not_seen(model: CategoryModel) -> None:
    unseen = made(60, seed=2)
    assert model.categories([one.texts for one in unseen]) == [one.category for one in unseen]


def test_what_looks_like_nothing_known_gets_no_category(model: CategoryModel) -> None:
    assert model.categories([EventTexts("")], least=0.5) == [""]
    assert model.categories([]) == []


def test_the_same_events_make_the_same_bytes(model: CategoryModel) -> None:
    again = train_model(made(120), NOW, source="made up")
    assert again.data == model.data
    assert again.digest == model.digest
    later = train_model(made(120), datetime(2027, 1, 1, tzinfo=UTC))
    assert later.digest == model.digest
    assert train_model(made(121), NOW).digest != model.digest


def test_a_model_comes_back_from_its_file_as_it_was(model: CategoryModel, tmp_path: Path) -> None:
    file = tmp_path / "model.npz"
    model.save(file)
    back = load_model(file)
    texts = [one.texts for one in made(30, seed=3)]
    assert back.categories(texts) == model.categories(texts)
    assert (back.digest, back.data, back.training) == (model.digest, model.data, model.training)
    assert file.stat().st_size < 2 * 1024 * 1024


def test_a_model_describes_its_training() -> None:
    samples = made(100)
    training = train_model(samples, NOW, evaluate_model(samples), "made up").training
    assert training.rows == 100
    assert sum(training.counts.values()) == 100
    assert set(training.counts) == set(WORDS)
    assert (training.trained_on, training.source, training.groups) == ("2026-08-01", "made up", 5)
    assert training.macro_f1 is not None
    assert training.macro_f1 > 0.95


def test_what_can_not_be_learnt_scores_as_chance() -> None:
    chance = random.Random(4)
    noise = [TrainingSample(EventTexts(f"{chance.random()}"), chance.choice("ab")) for _ in range(100)]
    found = evaluate_model(noise)
    assert 0.25 < found.macro_f1 < 0.75
    assert found.groups == 100


def test_scores_are_those_of_a_hand_computed_example() -> None:
    # Nothing can be learnt about c, whose only event is never in both sides: its F1 is 0 and counts all the same.
    samples = [*made(60), TrainingSample(EventTexts("????"), "rare", "town 0")]
    found = evaluate_model(samples)
    assert {one.category: one.count for one in found.scores}["rare"] == 1
    assert found.macro_f1 == pytest.approx(sum(one.f1 for one in found.scores) / 4)
    assert found.macro_f1 < 0.76
    assert found.macro_f1_of_parts > found.macro_f1
    assert found.accuracy == pytest.approx(60 / 61)


def test_a_group_is_never_on_both_sides() -> None:
    groups = [f"town {number % 7}" for number in range(100)]
    found = assign_folds(groups, 5)
    sides = {(group, int(part)) for group, part in zip(groups, found, strict=True)}
    assert len(sides) == 7
    assert set(found) == set(range(5))


def test_too_little_to_learn_from_is_said() -> None:
    with pytest.raises(UsageError, match="The minimum is 20 rows and 2 categories"):
        train_model(made(10), NOW)
    with pytest.raises(UsageError, match="with 2 groups in 5 folds"):
        evaluate_model([TrainingSample(one.texts, one.category, f"town {number % 2}") for number, one in enumerate(made(40))])


def test_a_model_that_can_not_be_written_is_said(model: CategoryModel, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Cannot write the model"):
        model.save(tmp_path / "missing" / "model.npz")


def _changed(model: CategoryModel, **members: bytes | None) -> bytes:
    """The file with some members replaced or left out."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(model.data)) as before, zipfile.ZipFile(out, "w") as after:
        for name in before.namelist():
            content = members.get(name.replace(".", "_"), before.read(name))
            if content is not None:
                after.writestr(name, content)
    return out.getvalue()


def _array(values: object) -> bytes:
    out = io.BytesIO()
    np.save(out, values, allow_pickle=True)  # type: ignore[arg-type]
    return out.getvalue()


def test_a_file_that_is_no_model_is_refused_in_a_sentence(model: CategoryModel, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return exec, ("raise SystemExit('run')",)

    trap = np.array([Trap()], dtype=object)
    infinite = np.full((FEATURE_COUNT, 3), np.inf, dtype="<f2")
    bad = {
        "empty": b"",
        "text": b"not a model",
        "cut": model.data[: len(model.data) // 2],
        "no weights": _changed(model, weights_npy=None),
        "a trap": _changed(model, bias_npy=_array(trap)),
        "infinite": _changed(model, weights_npy=_array(infinite)),
        "shape": _changed(model, bias_npy=_array(np.zeros(2, dtype="<f2"))),
        "format": _changed(model, about_json=b'{"format": "other", "classes": ["a"]}'),
        "fields": _changed(model, about_json=json.dumps({"format": "tadoru-category-1", "classes": ["a"] * 3, "x": 1}).encode()),
        "list": _changed(model, about_json=b"[]"),
    }
    for name, content in bad.items():
        file = tmp_path / f"{name}.npz"
        file.write_bytes(content)
        with pytest.raises(ConfigError, match="is not a category model"):
            load_model(file)
    with pytest.raises(ConfigError, match="Check the path"):
        load_model(tmp_path / "missing.npz")


def test_width_and_case_do_not_matter() -> None:
    one, other = extract_features([EventTexts("ＡＢＣ ﾏﾗｿﾝ")]), extract_features([EventTexts("abc  マラソン")])
    assert one.places.tolist() == other.places.tolist()


@given(st.text(max_size=200), st.text(max_size=50), st.text(max_size=300))
def test_any_text_can_be_read(title: str, venue: str, description: str) -> None:
    matrix = extract_features([EventTexts(title, venue, description), EventTexts(title)])
    assert len(matrix) == 2
    assert not len(matrix.places) or (matrix.places.min() >= 0 and matrix.places.max() < FEATURE_COUNT)
    assert np.isfinite(matrix.values).all()


@given(st.lists(st.text(max_size=100), max_size=5))
def test_any_text_gets_chances_that_add_up(texts: list[str]) -> None:
    flat = np.zeros((FEATURE_COUNT, 2), dtype=np.float32)
    model = CategoryModel(
        ("a", "b"), flat, np.zeros(2, dtype=np.float32), np.ones(FEATURE_COUNT, dtype=np.float32), TrainingInfo()
    )
    chances = model.chances(extract_features([EventTexts(one) for one in texts]))
    assert np.allclose(chances.sum(axis=1), 1)
