"""The enricher fills in what is empty, says who did, touches nothing else, and does the same each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tadoru.config.options import EventsOptions
from tadoru.errors import ConfigError
from tadoru.jobs.events.enrich.category_model import CategoryModel, EventTexts
from tadoru.jobs.events.enrich.enricher import Enricher, enricher_for
from tadoru.jobs.events.enrich.training import TrainingSample, train_model
from tadoru.store.calendar.drafts import draft_hash, draft_to_json
from tadoru.store.files import FolderFiles
from tests.jobs.events.enrich.drafts import LONG, draft
from tests.support.clock import FakeClock
from tests.support.language_model import LanguageModel, RawResponse, says


@pytest.fixture(scope="module")
def model() -> CategoryModel:
    samples = [
        TrainingSample(EventTexts(f"{word} {number}"), kind)
        for number in range(15)
        for word, kind in (("Choir", "Music"), ("Swim", "Sports"))
    ]
    return train_model(samples, datetime(2026, 8, 1, tzinfo=UTC))


@pytest.fixture
def llm() -> Iterator[LanguageModel]:
    with LanguageModel(lambda event: says("Sports", "From the endpoint.")) as serving:
        yield serving


async def made(tmp_path: Path, **options: Any) -> Enricher:
    said: list[str] = []
    enricher = await enricher_for(
        EventsOptions(**options), FolderFiles(tmp_path), FakeClock(), lambda stage, *, error: said.append(error)
    )
    assert enricher is not None
    return enricher


def with_llm(llm: LanguageModel, *enrich: str, **more: Any) -> dict[str, Any]:
    return {"enrich": ("llm", *enrich), "llm_url": llm.url, "llm_model": "small", "llm_category": ("Music", "Sports"), **more}


async def test_it_is_off_unless_asked_for(tmp_path: Path) -> None:
    assert await enricher_for(EventsOptions(), FolderFiles(tmp_path), FakeClock(), print) is None


async def test_an_empty_category_is_filled_in_with_who_did_it(model: CategoryModel) -> None:
    [one] = (await Enricher(model=model).enrich([draft(title="Choir evening")])).drafts
    assert one.category == "Music"
    assert one.extra == {"category_from": f"model {model.digest}"}


async def test_a_category_of_the_source_stays(model: CategoryModel) -> None:
    given = draft(title="Choir evening", category="Culture")
    assert (await Enricher(model=model).enrich([given])).drafts == [given]


async def test_a_model_that_is_not_sure_leaves_it_empty(model: CategoryModel) -> None:
    unsure = replace(model, weights=model.weights * 0, bias=model.bias * 0, classes=("a", "b"))
    many = replace(unsure, classes=tuple("abcd"), weights=unsure.weights.repeat(2, axis=1), bias=unsure.bias.repeat(2))
    assert (await Enricher(model=many).enrich([draft()])).drafts == [draft()]


async def test_a_summary_is_the_first_sentences_with_its_origin() -> None:
    [one] = (await Enricher(extracts=True).enrich([draft(description=LONG, extra={"doors": "9:30"})])).drafts
    assert one.extra == {
        "doors": "9:30",
        "summary": LONG[: LONG.index("too.") + 4],
        "summary_from": "extract",
    }
    assert one.description == LONG


async def test_a_summary_of_the_source_stays_and_a_short_description_needs_none() -> None:
    given = [draft(description=LONG, extra={"summary": "The source's own."}), draft(description="Short.")]
    assert (await Enricher(extracts=True).enrich(given)).drafts == given


async def test_a_source_can_not_say_that_we_filled_something_in(model: CategoryModel) -> None:
    claimed = draft(category="Culture", extra={"category_from": "model abc", "summary_from": "extract", "kept": "yes"})
    assert (await Enricher(model=model).enrich([claimed])).drafts[0].extra == {"kept": "yes"}


async def test_the_same_drafts_are_filled_in_alike_each_time(model: CategoryModel, llm: LanguageModel, tmp_path: Path) -> None:
    drafts = [draft(title="Choir", description=LONG), draft(title="Swim"), draft(title="Choir", description=LONG)]
    hashes = []
    for _ in range(2):
        enricher = await made(tmp_path, **with_llm(llm, "summary"))
        enriched = await enricher.enrich(drafts)
        await enricher.close()
        hashes.append([draft_hash(draft_to_json(one)) for one in enriched.drafts])
        assert enriched.is_complete
    assert hashes[0] == hashes[1]
    assert len(llm.asked) == 2


async def test_the_endpoint_comes_first_and_the_others_fill_what_it_leaves(
    model: CategoryModel, llm: LanguageModel, tmp_path: Path
) -> None:
    file = tmp_path / "model.npz"
    model.save(file)
    llm.answer = lambda event: RawResponse(status=400) if event["title"] == "Choir 2" else says("Sports", "From the endpoint.")
    enricher = await made(tmp_path, **with_llm(llm, "summary", "category", category_model=str(file)))
    enriched = await enricher.enrich([draft(title="Choir 1", description=LONG), draft(title="Choir 2", description=LONG)])
    await enricher.close()
    one, other = enriched.drafts
    assert (one.category, one.extra["category_from"]) == ("Sports", "llm small")
    assert (one.extra["summary"], one.extra["summary_from"]) == ("From the endpoint.", "llm small")
    assert (other.category, other.extra["category_from"]) == ("Music", f"model {model.digest}")
    assert other.extra["summary_from"] == "extract"
    assert not enriched.is_complete


async def test_an_event_that_lacks_nothing_is_not_asked_about(llm: LanguageModel, tmp_path: Path) -> None:
    enricher = await made(tmp_path, **with_llm(llm))
    await enricher.enrich([draft(category="Music"), draft(category="Music", description=LONG, extra={"summary": "Mine."})])
    await enricher.close()
    assert llm.asked == []


async def test_the_endpoint_chooses_from_the_categories_of_the_model_when_none_are_named(
    model: CategoryModel, llm: LanguageModel, tmp_path: Path
) -> None:
    file = tmp_path / "model.npz"
    model.save(file)
    enricher = await made(tmp_path, **with_llm(llm, category_model=str(file), llm_category=()))
    await enricher.enrich([draft()])
    await enricher.close()
    assert '["Music", "Sports"]' in llm.asked[0].body["messages"][0]["content"]


async def test_the_signature_changes_with_what_is_used(model: CategoryModel) -> None:
    other = replace(model, bias=model.bias + 1)
    signatures = [
        Enricher().signature,
        Enricher(extracts=True).signature,
        Enricher(model=model).signature,
        Enricher(model=other).signature,
        Enricher(model=model, extracts=True).signature,
    ]
    assert len(set(signatures)) == len(signatures)
    assert Enricher(model=model).signature == Enricher(model=replace(model)).signature


@pytest.mark.parametrize(
    "options, why",
    [
        ({"enrich": ("category",)}, "--category-model FILE"),
        ({"enrich": ("category",), "category_model": "/nowhere/x.npz"}, "Cannot read the model"),
        ({"enrich": ("llm",)}, "--llm-url and --llm-model"),
        ({"enrich": ("llm",), "llm_url": "http://127.0.0.1:1", "llm_model": ""}, "--llm-url and --llm-model"),
        ({"enrich": ("llm",), "llm_url": "ftp://llm.example", "llm_model": "m"}, "Invalid --llm-url"),
        ({"enrich": ("llm",), "llm_url": "http://127.0.0.1:1/v1?key=x", "llm_model": "m"}, "must not have a query"),
        ({"enrich": ("llm",), "llm_url": "http://127.0.0.1:1", "llm_model": "m", "llm_key": "UNSET_KEY"}, "UNSET_KEY"),
        ({"enrich": ("llm",), "llm_url": "http://127.0.0.1:1", "llm_model": "m", "llm_key": "sk-12-34"}, "not the key itself"),
    ],
)
async def test_what_can_not_work_is_said_before_anything_is_collected(tmp_path: Path, options: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why) as raised:
        await made(tmp_path, **options)
    assert "sk-12-34" not in str(raised.value)


@pytest.mark.parametrize("ending", ["", "/", "/chat/completions"])
async def test_an_address_may_be_written_with_its_ending_or_without(llm: LanguageModel, tmp_path: Path, ending: str) -> None:
    enricher = await made(tmp_path, **with_llm(llm) | {"llm_url": llm.url + ending})
    await enricher.enrich([draft()])
    await enricher.close()
    assert [asked.path for asked in llm.asked] == ["/v1/chat/completions"]
