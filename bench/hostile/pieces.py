"""What hostile bodies are put together from: repeated, numbered and nested pieces, odd characters, and damaged examples."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from random import Random

Body = str | bytes
Family = Callable[[Random, int], Body]
"""Makes a body of about so many bytes. The same random numbers give the same body."""
Families = Mapping[str, Family]

CHARACTERS = (
    *string.punctuation,
    *" \t\n\r\f\v\x00\x01\x1b\x7f\x85\xa0\xad",
    *"\u0301\u0489\u064b\u200b\u200d\u2028\u202e\u2066\u3000\u30fb\ufeff\uff0f\uff11\ufffd\ufffe\ufdfa",
    *"aZ0²٣ßİ年日あ漢\U0001f600\U000e0041\U0002f81a",
    "\ud800",
    "\udfff",
    "e\u0301",
    "\r\n",
)
"""Each of them has been special to some reader: marks, white space, combining, directions, digits, halves of a pair."""


def fill(piece: str, size: int) -> str:
    """A piece, repeated up to a size in bytes."""
    return piece * max(1, size // max(1, len(encoded(piece))))


def numbered(template: str, size: int, most: int = 10_000_000) -> str:
    """A template with `{n}` in it, for one number after the other, up to a size."""
    count = max(1, size // (len(encoded(template)) + 3))
    return "".join(template.replace("{n}", str(number)) for number in range(min(count, most)))


def nested(opening: str, closing: str, size: int, inside: str = "x") -> str:
    """A piece in itself, up to a size."""
    depth = max(1, size // (len(opening) + len(closing)))
    return opening * depth + inside + closing * depth


def run(rng: Random, size: int) -> str:
    """A long run of one character, of two in turn, or of one between words."""
    one, other = rng.choice(CHARACTERS), rng.choice(CHARACTERS)
    return fill(rng.choice((one, one, one + other, f"{one}{one}{other}", f"word{one}", f"{one} 1")), size)


def encoded(text: Body) -> bytes:
    """As bytes; half a surrogate pair becomes the invalid bytes it would be."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def damaged(rng: Random, example: bytes, size: int) -> bytes:
    """A well-formed example, spliced, repeated, cut off and with bits flipped."""
    body = example
    for _ in range(rng.randint(1, 4)):
        start, end = sorted(rng.choices(range(len(body) + 1), k=2))
        match rng.randrange(5):
            case 0:
                body = body[:start] + body[end:]
            case 1:
                times = max(2, min(size, 1_000_000) // (end - start + 1))
                body = body[:start] + body[start:end] * times + body[end:]
            case 2:
                body = body[:end]
            case 3:
                body = body[:start] + encoded(run(rng, size // 4)) + body[start:]
            case _:
                flipped = bytearray(body)
                for at in rng.choices(range(len(body)), k=min(200, len(body))):
                    flipped[at] ^= 1 << rng.randrange(8)
                body = bytes(flipped)
        body = body[:size] or example
    return body


def damaged_examples(examples: Sequence[bytes]) -> Family:
    """A family of damaged examples."""
    return lambda rng, size: damaged(rng, rng.choice(examples), size)
