"""Fills in what sources left out, between normalising and storing: an empty category, and a summary of a long description.

The enabled methods run in this order: endpoint, model, extract; each only for what is still empty. Next to a value it records the
method: `extra["category_from"]` and `extra["summary_from"]` are `llm NAME`, `model DIGEST` or `extract`. Results are
deterministic, so that an unchanged event is not stored again; the answers of the endpoint are cached for that.

An extract is the first sentences of the description that fit. Nothing is invented and no word is cut: a first sentence that is
too long ends at a comma or between two words, with an ellipsis. A short description gets none.
"""

from __future__ import annotations

import asyncio
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tadoru.clock import Clock
from tadoru.config.options import EventsOptions
from tadoru.errors import ConfigError, UsageError
from tadoru.fetch import http
from tadoru.fetch.guard import DnsCache, private_exemptions
from tadoru.jobs.events.enrich.category_model import CategoryModel, EventTexts, load_model
from tadoru.jobs.events.enrich.llm import LlmAccess, LlmAnswer, LlmEndpoint, build_question
from tadoru.model.event import EventDraft
from tadoru.parse.text_cleaning import clean_title, plain_text
from tadoru.rules.address import Exemptions
from tadoru.rules.url import parse_typed_url
from tadoru.store.files import FileStore

MAX_SUMMARY = 120
"""Maximum length of a summary; a description up to this length needs none."""
_SHORTEST = 30
"""Minimum length of the start of a sentence that is useful."""
_END = re.compile(r"(?:[。！？!?]+|[.．]+)[」』）)\]”’\"']*|\n+")
_OPENING = "「『（(“\"'‘"
_ABBREVIATED = frozenset(
    "dr mr mrs ms st prof no nr vs approx dept inc ltd jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
_PAUSE = re.compile(r"[、，,;；:：]|[」』）)](?!の)")


def extract_summary(description: str, title: str = "") -> str:
    """The summary; empty if the description is short or cannot be shortened without cutting a word."""
    text = _without_title(plain_text(description), title)
    if len(" ".join(text.split())) <= MAX_SUMMARY:
        return ""
    kept = ""
    for sentence in _sentences(text):
        joined = f"{kept}{'' if not kept or _is_wide(kept[-1]) else ' '}{sentence}"
        if len(joined) > MAX_SUMMARY:
            return kept or _shortened(sentence)
        kept = joined
    return kept


def _without_title(text: str, title: str) -> str:
    """The text without its first line if that is the title, as in many descriptions."""
    first, _, rest = text.partition("\n")
    return rest.strip() if title and rest.strip() and clean_title(first) == clean_title(title) else text


def _sentences(text: str) -> list[str]:
    found, start = [], 0
    for match in _END.finditer(text):
        if _ends(text, start, match):
            found.append(text[start : match.end()])
            start = match.end()
    found.append(text[start:])
    return [tidy for one in found if (tidy := " ".join(one.split()))]


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a sentence ends at this sign."""
    sign = match[0][0]
    if sign in "\n。！？":
        return True
    following = text[match.end() : match.end() + 2]
    if following and not (following[0].isspace() or _is_wide(following[0])):
        return False
    if sign != ".":
        return True
    # A short word before a full stop may be an abbreviation, and a lower-case letter after it continues the sentence.
    words = text[start : match.start()].split()
    word = words[-1].lstrip(_OPENING).casefold() if words else ""
    is_short = (len(word) == 1 and word.isalpha()) or "." in word or word in _ABBREVIATED
    return not is_short and not following.strip()[:1].islower()


def _shortened(sentence: str) -> str:
    """The start of a long sentence, up to a pause or between two words."""
    room = sentence[: MAX_SUMMARY - 1]
    pauses = [match.end() for match in _PAUSE.finditer(room) if _is_pause(sentence, match)]
    cut = pauses[-1] if pauses and pauses[-1] > MAX_SUMMARY // 2 else max(_between_words(sentence), *pauses, 0)
    kept = room[:cut].rstrip(" 、，,;；:：-–—・(（「『")
    return f"{kept}…" if len(kept) >= _SHORTEST else ""


def _is_pause(sentence: str, match: re.Match[str]) -> bool:
    """Whether a sign is a pause: a comma within a number, or a colon within a time or a URL, is none."""
    sign, after = match[0], sentence[match.end() : match.end() + 1]
    return sign not in ",;:)" or not after or after.isspace() or _is_wide(after)


def _between_words(sentence: str) -> int:
    """The last position within the limit between two words; 0 if there is none.

    Japanese has no spaces; there a word starts where hiragana are followed by anything else.
    """
    for place in range(MAX_SUMMARY - 1, 0, -1):
        before, after = sentence[place - 1], sentence[place]
        if after.isspace():
            return place
        if _is_hiragana(before) and not _is_hiragana(after) and _is_wide(after) and after.isalpha():
            return place
    return 0


def _is_hiragana(sign: str) -> bool:
    return "ぁ" <= sign <= "ゟ" or sign == "ー"


def _is_wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"


CATEGORY_FROM, SUMMARY, SUMMARY_FROM = "category_from", "summary", "summary_from"
EnrichLog = Callable[..., None]
"""Logs a problem: `say(stage, error=…)`."""


@dataclass(frozen=True, slots=True)
class EnrichResult:
    """Drafts with the values that could be filled in."""

    drafts: list[EventDraft]
    is_complete: bool = True
    """False if the endpoint could not be question about some: they are enriched next time."""


class Enricher:
    """Fills in values with the given methods."""

    def __init__(
        self,
        *,
        model: CategoryModel | None = None,
        extracts: bool = False,
        endpoint: LlmEndpoint | None = None,
        categories: Sequence[str] = (),
    ) -> None:
        """`categories` are those the endpoint may choose from."""
        self._model = model
        self._extracts = extracts
        self._endpoint = endpoint
        self._categories = tuple(categories)

    @property
    def signature(self) -> str:
        """Changes when the same events would get other values."""
        parts = [
            f"llm {self._endpoint.access.model} {sorted(self._categories)}" if self._endpoint else "",
            f"model {self._model.digest}" if self._model else "",
            "extract" if self._extracts else "",
        ]
        return "; ".join(part for part in parts if part)

    async def close(self) -> None:
        if self._endpoint is not None:
            await self._endpoint.close()

    async def enrich(self, drafts: Sequence[EventDraft]) -> EnrichResult:
        """The same drafts, in order, with the values that could be filled in. Raises only for problems of the disk."""
        clean = [_strip_claims(draft) for draft in drafts]
        is_complete = True
        if self._endpoint is not None:
            clean, is_complete = await self._ask(self._endpoint, clean)
        return EnrichResult(await asyncio.to_thread(self._fill, clean), is_complete)

    async def _ask(self, endpoint: LlmEndpoint, drafts: list[EventDraft]) -> tuple[list[EventDraft], bool]:
        """Ask the endpoint; identical questions are question once."""
        name = f"llm {endpoint.access.model}"
        questions = {}
        for place, draft in enumerate(drafts):
            categories = () if draft.category else self._categories
            wants_summary = _wants_summary(draft)
            if categories or wants_summary:
                questions[place] = build_question(draft, endpoint.access.model, categories, wants_summary=wants_summary)
        each = {question.digest: question for question in questions.values()}
        answers = await asyncio.gather(*(endpoint.ask(question) for question in each.values()))
        known = dict(zip(each, answers, strict=True))
        filled = [
            _fill_from_answer(draft, known[questions[place].digest], name) if place in questions else draft
            for place, draft in enumerate(drafts)
        ]
        return filled, None not in answers

    def _fill(self, drafts: list[EventDraft]) -> list[EventDraft]:
        if self._model is not None:
            empty = [place for place, draft in enumerate(drafts) if not draft.category]
            texts = [EventTexts(drafts[place].title, drafts[place].venue, drafts[place].description) for place in empty]
            name = f"model {self._model.digest}"
            for place, category in zip(empty, self._model.categories(texts), strict=True):
                drafts[place] = _fill_empty(drafts[place], category, "", name)
        if self._extracts:
            drafts = [
                _fill_empty(draft, "", extract_summary(draft.description, draft.title), "extract")
                if SUMMARY not in draft.extra
                else draft
                for draft in drafts
            ]
        return drafts


def _wants_summary(draft: EventDraft) -> bool:
    return SUMMARY not in draft.extra and len(plain_text(draft.description)) > MAX_SUMMARY


def _fill_from_answer(draft: EventDraft, found: LlmAnswer | None, name: str) -> EventDraft:
    return _fill_empty(draft, found.category, found.summary, name) if found is not None else draft


def _fill_empty(draft: EventDraft, category: str, summary: str, name: str) -> EventDraft:
    """Fill in empty fields, and record the method."""
    extra = dict(draft.extra)
    if category and not draft.category:
        draft = replace(draft, category=category)
        extra[CATEGORY_FROM] = name
    if summary and SUMMARY not in extra:
        extra[SUMMARY] = summary
        extra[SUMMARY_FROM] = name
    return replace(draft, extra=extra) if extra != draft.extra else draft


def _strip_claims(draft: EventDraft) -> EventDraft:
    """Remove the marks of the enricher from a source's own fields."""
    kept = {name: value for name, value in draft.extra.items() if name not in (CATEGORY_FROM, SUMMARY_FROM)}
    return replace(draft, extra=kept) if len(kept) != len(draft.extra) else draft


async def enricher_for(options: EventsOptions, files: FileStore, clock: Clock, say: EnrichLog) -> Enricher | None:
    """The enricher of a configuration; None if it is off. Raises ConfigError if it cannot be used."""
    if not options.enrich:
        return None
    model = load_model(Path(options.category_model)) if options.category_model else None
    if "category" in options.enrich and model is None:
        raise ConfigError("Categories need a model. Train one with `tadoru events enrich train` and set --category-model FILE.")
    endpoint = await _endpoint(options, files, clock, say) if "llm" in options.enrich else None
    return Enricher(
        model=model if "category" in options.enrich else None,
        extracts="summary" in options.enrich,
        endpoint=endpoint,
        categories=options.llm_category or (model.classes if model else ()),
    )


async def _endpoint(options: EventsOptions, files: FileStore, clock: Clock, say: EnrichLog) -> LlmEndpoint:
    if not options.llm_url or not options.llm_model:
        raise ConfigError("--enrich llm needs an endpoint and a model. Set --llm-url and --llm-model.")
    try:
        url = parse_typed_url(options.llm_url.rstrip("/"))
    except UsageError as error:
        raise ConfigError("Invalid --llm-url. {problem}", problem=error) from None
    if "?" in url:
        raise ConfigError("--llm-url must not have a query, and ends before /chat/completions, such as https://llm.example/v1.")
    access = LlmAccess(
        url=f"{url.rstrip('/').removesuffix('/chat/completions')}/chat/completions",
        model=options.llm_model,
        key=_key(options.llm_key),
        timeout=options.llm_timeout,
        budget=options.llm_budget,
    )
    fetcher = http.build_http_fetcher(
        user_agent=options.user_agent,
        exemptions=await _permitted(url, clock, allow_private=options.allow_private),
        proxy=options.proxy,
        verify_tls=not options.insecure,
    )
    return LlmEndpoint(access, fetcher, files, clock, say)


def _key(variable: str | None) -> str:
    if not variable:
        return ""
    if not variable.isidentifier():
        # Not its value: it may be the key itself.
        raise ConfigError("--llm-key must be the name of an environment variable, such as LLM_KEY, not the key itself.")
    key = os.environ.get(variable, "")
    if not key:
        raise ConfigError(
            "The environment variable {variable} with the key of the endpoint (--llm-key) is not set.", variable=variable
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "The environment variable {variable} has no valid key: it must be printable ASCII without spaces.", variable=variable
        )
    return key


async def _permitted(url: str, clock: Clock, *, allow_private: bool) -> Exemptions:
    """The configured URL may be private."""
    if allow_private:
        return Exemptions(allow_all=True)
    names = DnsCache(clock)
    try:
        return await private_exemptions([url], names)
    finally:
        await names.close()
