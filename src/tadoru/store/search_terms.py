"""Search terms for every script: what goes into the index, and what a query looks for. Pure.

SQLite's tokenizer splits at spaces. A run of Chinese, Japanese or Korean text is indexed as its overlapping pairs of
characters, and a word of a query becomes the same pairs side by side. That finds words of two characters, which a trigram
index does not, and costs languages with spaces nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from operator import add
from typing import NamedTuple

_UNSPACED = (
    r"\u3005-\u3007\u3031-\u3035\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
UNSPACED = f"[{_UNSPACED}]"
"""One character of a script without spaces, for other patterns."""
_RUN = re.compile(f"{UNSPACED}+")
_CAMEL = re.compile(r"\b(?=[A-Za-z0-9]*[a-z][A-Z])[A-Za-z0-9]{3,60}\b")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# A hyphen before a word of three letters or more, or of a script without spaces, excludes it; `-o` and `--depth` are options
# that somebody looks for.
_ASKED = re.compile(rf'(-(?=[^-\s]{{3}}|[{_UNSPACED}]))?(?:"([^"]*)"?|(\S+))')
_MOST_TERMS = 24
_STOP_WORDS = frozenset(
    "a about again all also although always am an and another any anything are as at be because been being both but by can "
    "cannot certain could did do does doing done down each either else even ever every everything few for from get gets got had "
    "has have here how however i if in instead into is it its just let lets like made make makes may maybe me might more most "
    "much must my need needs neither never no nothing not now of off often on once one only or other our out over own perhaps "
    "please quite rather really same shall she should show since so some somehow something still such tell than that the their "
    "them then there these they thing things this those though through to too under until up us use used using very want was "
    "way we were what whatever when where whether which while who whole whose why will with within without would yet you "
    "your".split()
)
"""Words of questions that say nothing about what is looked for."""
_SYNONYMS = """
abort cancel stop terminate kill interrupt
accent diacritic
accounts roles users
allow permit
argument option parameter flag
author contributor committer people
backup dump
batch bulk many
begin launch start
big huge large
block sleep wait
browse navigate
cache memoize
catch handle trap
change alter edit modify update
check validate verify
clone copy duplicate
column field
combine concatenate join merge
compact reduce shrink small smaller
compare diff difference
compress zip
computer host machine
concurrent parallel simultaneous
configuration option setting preference
connect connection session
consistency corruption integrity
constant enum enumeration
convert transform translate
create add new
credential passphrase password
date time timestamp
deadline timeout
debug debugger inspect
delete discard drop erase remove
deny refuse reject
dictionary map mapping
directory folder
disable deactivate
display list print show view
divide separate split
enable activate
encrypt cipher encryption
error exception failure
execute run
fast performance quick speed
find locate lookup search
function method procedure
image picture
import load read
install installation setup
integer number numeric
iterate loop repeat
library module package
limit maximum
link url
login authenticate authentication
mail email
monitor watch
move rename
order sort
permission privilege access
persist save store
prompt ask
publish release
record row tuple
reset restore revert rollback undo
send transmit
serialize marshal
slow performance
temp temporary
tutorial guide introduction
unique distinct
upgrade update migrate
"""
"""Groups of words that documentation uses for the same thing: a question may have one, the page that answers it another."""
_MOST_RELATED = 24
_PARTICLES = frozenset({"away", "back", "down", "in", "off", "on", "out", "over", "up"})
"""What verbs are written with in one word where they are a name: `check out` and `checkout`."""
_NEAR = 4
"""Words between two terms that are near each other, at most."""
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ies", "ied", "ed", "es", "er", "ly", "s", "e", "y")
_MOST_LENGTH = 400
_IDENTIFIER = re.compile(r"^-|[a-z][A-Z]|\w[_.:]\w|^_")


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """A parsed query."""

    wanted: tuple[str, ...]
    """Words and phrases as the index has them."""
    unwanted: tuple[str, ...]
    literal: tuple[str, ...]
    """The same as the person wrote them, to be found in a text."""
    related: tuple[str, ...] = ()
    """Words that mean the same, and two words side by side written as one: `time stamp` is also `timestamp`."""
    joined: tuple[tuple[str, str], ...] = ()
    """Verbs with the particle that follows: as one word, they may be what is looked for instead of the verb."""

    def joining(self, pairs: Sequence[tuple[str, str]]) -> SearchTerms:
        """The query with some of its `joined` as one word."""
        wanted, related = self.wanted, self.related
        for verb, particle in pairs:
            one = verb + particle
            wanted = tuple(one if term.lower() == verb else term for term in wanted if term.lower() != particle)
            related = (*(word for word in related if word != one), f"{verb} {particle}")
        return replace(self, wanted=wanted, related=related)

    @property
    def identifier(self) -> str | None:
        """The only word, if it is a name of a program: `os.path.join`, `--force`, `work_mem`, `readFile`."""
        if len(self.literal) != 1 or not _IDENTIFIER.search(self.literal[0]) or " " in self.literal[0]:
            return None
        return self.literal[0]

    def expression(self, *, every: bool, prefix: bool = False) -> str:
        """The query in SQLite's language, of quoted strings only: nothing a person types is syntax."""
        star = "*" if prefix else ""
        joined = (" AND " if every else " OR ").join(f"{quoted(term)}{star}" for term in self.wanted)
        return f"({joined}){self._exclusions}"

    def broad_expression(self, common: Container[str]) -> str:
        """Sections with a term that is not common, or a related word, and any term; what counts more is repeated.

        A common term alone says little, and most sections that have it need not be ranked.
        """
        rare = [quoted(term) for term in self.wanted if term not in common]
        often = [quoted(term) for term in self.wanted if term in common] if rare else []
        words = [quoted(term) for term in self.wanted]
        near = [f"NEAR({one} {next_one}, {_NEAR})" for one, next_one in pairwise(words)]
        needed = " OR ".join([*(rare or words), *map(quoted, self.related)])
        counted = " OR ".join([*(rare or words), *often, *often, *near])
        return f"({needed}) AND ({counted}){self._exclusions}"

    @property
    def related_expression(self) -> str:
        """Any of the terms or of the related words."""
        return f"({' OR '.join(map(quoted, (*self.wanted, *self.related)))}){self._exclusions}"

    @property
    def _exclusions(self) -> str:
        return "".join(f" NOT {quoted(term)}" for term in self.unwanted)


def quoted(term: str) -> str:
    """A term as a string of SQLite's query language."""
    return '"' + term.replace('"', '""') + '"'


def indexed(text: str) -> str:
    """A text as it is put into the index: pairs for runs without spaces, and the parts of compound names behind them."""
    text = unicodedata.normalize("NFKC", text)
    text = _CAMEL.sub(lambda name: f"{name[0]} {' '.join(_HUMP.findall(name[0]))}", text)
    return text if text.isascii() else _RUN.sub(lambda run: f" {_pairs(run[0])} ", text)


class _Twice(dict[int, str]):
    """Separates overlapping pairs at the character they share."""

    def __missing__(self, code: int) -> str:
        return self.setdefault(code, f"{chr(code)} {chr(code)}")


_twice = _Twice()


def _pairs(run: str) -> str:
    # The last character stands alone at the end, so that a query of one character finds it as the beginning of something.
    return run[0] + run[1:].translate(_twice)


class QueryPart(NamedTuple):
    """A word or a "phrase" of a query."""

    said: str
    is_excluded: bool
    is_phrase: bool


def parts_of(query: str) -> list[QueryPart]:
    """A query as a person wrote it, in its parts."""
    found = list(_ASKED.finditer(unicodedata.normalize("NFKC", query[:_MOST_LENGTH])))[:_MOST_TERMS]
    return [
        QueryPart((one[2] if one[2] is not None else one[3]).strip(), is_excluded=bool(one[1]), is_phrase=one[2] is not None)
        for one in found
    ]


def asked(query: str) -> SearchTerms:
    """What a person asks for: words, "phrases", and -words that must not be there."""
    wanted, unwanted, literal = [], [], []
    parts = parts_of(query)
    for part in [part for part in parts if not _is_stop_word(part)] or parts:
        terms = [term for term in _terms(part.said) if any(char.isalnum() for char in term)]
        if part.is_excluded and terms:
            unwanted += terms
        elif part.said:
            wanted += terms
            literal.append(part.said)
    if not literal:  # nothing but exclusions: then they are what is asked for
        return SearchTerms(tuple(unwanted), (), tuple(unwanted))
    words = ["" if part.is_phrase or part.is_excluded else part.said.strip("?!.,;:").lower() for part in parts]
    # Verbs that are no stop words with the particles that follow them.
    joined = [pair for pair in pairwise(words) if pair[1] in _PARTICLES and pair[0].isalpha() and pair[0] not in _STOP_WORDS]
    return SearchTerms(tuple(wanted), tuple(unwanted), tuple(literal), _related(words, unwanted), tuple(joined))


def _related(words: Sequence[str], unwanted: Sequence[str]) -> tuple[str, ...]:
    """Words that mean the same as one of a query, and neighbours of which one is no stop word, written as one word."""
    known = {stem(word) for word in [*words, *unwanted]}
    related = {
        same: None for word in words if word and word not in _STOP_WORDS
        for same in _synonyms().get(stem(word), ()) if stem(same) not in known
    }  # fmt: skip
    for word, following in pairwise(words):
        if word.isalpha() and following.isalpha() and not (word in _STOP_WORDS and following in _STOP_WORDS):
            related[word + following] = None
    return tuple(related)[:_MOST_RELATED]


@cache
def _synonyms() -> dict[str, list[str]]:
    """The words that mean the same as one, by its stem."""
    found: dict[str, list[str]] = {}
    for group in map(str.split, _SYNONYMS.strip().splitlines()):
        for word in group:
            found.setdefault(stem(word), []).extend(other for other in group if other != word)
    return found


def stem(word: str) -> str:
    """A word without its ending, more roughly than the index does it."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word


def _is_stop_word(part: QueryPart) -> bool:
    return not part.is_phrase and part.said.strip("?!.,;:").lower() in _STOP_WORDS


def _terms(said: str) -> list[str]:
    """A word or phrase as the index has it; a run without spaces is a phrase of its own beside the words around it."""
    terms, at = [], 0
    for run in _RUN.finditer(said):
        terms += [said[at : run.start()], _run_phrase(run[0])]
        at = run.end()
    return [*terms, said[at:]]


def _run_phrase(run: str) -> str:
    return run if len(run) == 1 else " ".join(map(add, run, run[1:]))


def is_single(term: str) -> bool:
    """One character of a script without spaces: found only as the beginning of a pair."""
    return len(term) == 1 and bool(_RUN.fullmatch(term))
