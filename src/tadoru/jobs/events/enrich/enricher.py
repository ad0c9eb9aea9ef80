"""Fills in what sources left out, between normalising and storing: an empty category, and a summary of a long description.

What was asked for is done in this order: the endpoint, then the model, then the extract, each only for what is still empty.
Beside what is filled in stands who did it: `extra["category_from"]` and `extra["summary_from"]` are `llm NAME`, `model DIGEST`
or `extract`. All of it is the same each time, so that an event which does not change is not stored anew; the endpoint's answers
are kept for that.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tadoru.clock import Clock
from tadoru.errors import ConfigError, UsageError
from tadoru.fetch import chain
from tadoru.fetch.guard import Names, named_privately
from tadoru.jobs.events.enrich.endpoint import Access, Endpoint
from tadoru.jobs.events.enrich.features import Texts
from tadoru.jobs.events.enrich.model import CategoryModel, load
from tadoru.jobs.events.enrich.prompt import Found, question
from tadoru.jobs.events.enrich.summary import LONGEST, summary_of
from tadoru.model.event import EventDraft
from tadoru.options import EventsOptions
from tadoru.parse.normal_text import plain_text
from tadoru.rules.address import Exemptions
from tadoru.rules.url import typed
from tadoru.store.files import Files

CATEGORY_FROM, SUMMARY, SUMMARY_FROM = "category_from", "summary", "summary_from"
Say = Callable[..., None]
"""Hears what went wrong: `say(stage, error=…)`."""


@dataclass(frozen=True, slots=True)
class Enriched:
    """Drafts with what could be filled in."""

    drafts: list[EventDraft]
    is_complete: bool = True
    """False when the endpoint could not be asked about some: they are to be looked at again next time."""


class Enricher:
    """Fills in by what is given to it."""

    def __init__(
        self,
        *,
        model: CategoryModel | None = None,
        extracts: bool = False,
        endpoint: Endpoint | None = None,
        categories: Sequence[str] = (),
    ) -> None:
        """`categories` are those the endpoint may choose from."""
        self._model = model
        self._extracts = extracts
        self._endpoint = endpoint
        self._categories = tuple(categories)

    @property
    def signature(self) -> str:
        """Changes when the same events would be filled in otherwise."""
        parts = [
            f"llm {self._endpoint.access.model} {sorted(self._categories)}" if self._endpoint else "",
            f"model {self._model.digest}" if self._model else "",
            "extract" if self._extracts else "",
        ]
        return "; ".join(part for part in parts if part)

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()

    async def enrich(self, drafts: Sequence[EventDraft]) -> Enriched:
        """The same drafts, in their order, with what could be filled in. Raises only what is wrong with the disk."""
        clean = [_without_claims(draft) for draft in drafts]
        is_complete = True
        if self._endpoint is not None:
            clean, is_complete = await self._ask(self._endpoint, clean)
        return Enriched(await asyncio.to_thread(self._fill, clean), is_complete)

    async def _ask(self, endpoint: Endpoint, drafts: list[EventDraft]) -> tuple[list[EventDraft], bool]:
        """What the endpoint says; two events that ask the same are asked about once."""
        name = f"llm {endpoint.access.model}"
        questions = {}
        for place, draft in enumerate(drafts):
            categories = () if draft.category else self._categories
            wants_summary = _wants_summary(draft)
            if categories or wants_summary:
                questions[place] = question(draft, endpoint.access.model, categories, wants_summary=wants_summary)
        each = {asked.digest: asked for asked in questions.values()}
        answers = await asyncio.gather(*(endpoint.ask(asked) for asked in each.values()))
        known = dict(zip(each, answers, strict=True))
        filled = [
            _with_answer(draft, known[questions[place].digest], name) if place in questions else draft
            for place, draft in enumerate(drafts)
        ]
        return filled, None not in answers

    def _fill(self, drafts: list[EventDraft]) -> list[EventDraft]:
        if self._model is not None:
            empty = [place for place, draft in enumerate(drafts) if not draft.category]
            texts = [Texts(drafts[place].title, drafts[place].venue, drafts[place].description) for place in empty]
            name = f"model {self._model.digest}"
            for place, category in zip(empty, self._model.categories(texts), strict=True):
                drafts[place] = _with(drafts[place], category, "", name)
        if self._extracts:
            drafts = [
                _with(draft, "", summary_of(draft.description, draft.title), "extract") if SUMMARY not in draft.extra else draft
                for draft in drafts
            ]
        return drafts


def _wants_summary(draft: EventDraft) -> bool:
    return SUMMARY not in draft.extra and len(plain_text(draft.description)) > LONGEST


def _with_answer(draft: EventDraft, found: Found | None, name: str) -> EventDraft:
    return _with(draft, found.category, found.summary, name) if found is not None else draft


def _with(draft: EventDraft, category: str, summary: str, name: str) -> EventDraft:
    """Fill in what is empty, and say who did."""
    extra = dict(draft.extra)
    if category and not draft.category:
        draft = replace(draft, category=category)
        extra[CATEGORY_FROM] = name
    if summary and SUMMARY not in extra:
        extra[SUMMARY] = summary
        extra[SUMMARY_FROM] = name
    return replace(draft, extra=extra) if extra != draft.extra else draft


def _without_claims(draft: EventDraft) -> EventDraft:
    """Who filled something in is for us to say, and not for a source."""
    kept = {name: value for name, value in draft.extra.items() if name not in (CATEGORY_FROM, SUMMARY_FROM)}
    return replace(draft, extra=kept) if len(kept) != len(draft.extra) else draft


async def enricher_for(options: EventsOptions, files: Files, clock: Clock, say: Say) -> Enricher | None:
    """What was asked for; None when that is nothing. Raises ConfigError for what can not be had."""
    if not options.enrich:
        return None
    model = load(Path(options.category_model)) if options.category_model else None
    if "category" in options.enrich and model is None:
        raise ConfigError(
            "Categories need a model: train one with `tadoru events enrich train` and name it with --category-model FILE."
        )
    endpoint = await _endpoint(options, files, clock, say) if "llm" in options.enrich else None
    return Enricher(
        model=model if "category" in options.enrich else None,
        extracts="summary" in options.enrich,
        endpoint=endpoint,
        categories=options.llm_category or (model.classes if model else ()),
    )


async def _endpoint(options: EventsOptions, files: Files, clock: Clock, say: Say) -> Endpoint:
    if not options.llm_url or not options.llm_model:
        raise ConfigError("--enrich llm needs an endpoint and a model: give --llm-url and --llm-model.")
    try:
        url = typed(options.llm_url.rstrip("/"))
    except UsageError as error:
        raise ConfigError(f"--llm-url can not be used. {error}") from None
    if "?" in url:
        raise ConfigError("--llm-url ends before /chat/completions and has no query: write it as https://llm.example/v1.")
    access = Access(
        url=f"{url.rstrip('/').removesuffix('/chat/completions')}/chat/completions",
        model=options.llm_model,
        key=_key(options.llm_key),
        timeout=options.llm_timeout,
        budget=options.llm_budget,
    )
    fetcher = chain.build(
        user_agent=options.user_agent,
        exemptions=await _permitted(url, clock, allow_private=options.allow_private),
        proxy=options.proxy,
        verify_tls=not options.insecure,
    )
    return Endpoint(access, fetcher, files, clock, say)


def _key(variable: str | None) -> str:
    if not variable:
        return ""
    if not variable.isidentifier():
        # Not its value: it may be the key itself.
        raise ConfigError("--llm-key is the name of a variable, such as LLM_KEY, and never the key itself.")
    key = os.environ.get(variable, "")
    if not key:
        raise ConfigError(f"The variable {variable}, which holds the key of the endpoint (--llm-key), is not set.")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"The variable {variable} does not hold a key: it must be printable ASCII without spaces.")
    return key


async def _permitted(url: str, clock: Clock, *, allow_private: bool) -> Exemptions:
    """A person typed this address, so that it may be a private one."""
    if allow_private:
        return Exemptions(allow_all=True)
    names = Names(clock)
    try:
        return await named_privately([url], names)
    finally:
        await names.close()
