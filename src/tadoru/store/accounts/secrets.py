"""Secrets and their hashes. A secret is shown once, when it is created; only its hash is stored.

Tokens and keys are long and random, so one SHA-256 is enough. Passwords get scrypt, with the cost in the hash: it can be raised
later, and old hashes stay valid.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
import threading

COST, BLOCK, PARALLELISM = 2**15, 8, 3
"""Parameters of scrypt: 32 MiB and about 0.2 seconds per password."""
MIN_PASSWORD_LENGTH, MAX_PASSWORD_LENGTH = 10, 1024
_HASHING = threading.Semaphore(4)
"""Limits the memory that parallel sign-ins use."""
_KEY = re.compile(r"tdr_([a-z0-9]{8})_([A-Za-z0-9_-]{43})")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def new_token() -> str:
    """256 random bits, safe in cookies and URLs."""
    return secrets.token_urlsafe(32)


def new_key() -> tuple[str, str, str]:
    """The prefix, the secret and the full text of a new API key."""
    prefix = "".join(secrets.choice(_LETTERS) for _ in range(8))
    secret = secrets.token_urlsafe(32)
    return prefix, secret, f"tdr_{prefix}_{secret}"


def split_key(text: str) -> tuple[str, str] | None:
    """The prefix and the secret of an API key; None if the text is not a key."""
    match = _KEY.fullmatch(text)
    return (match[1], match[2]) if match else None


def hash_token(token: str) -> str:
    """The hash of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def matches_token(token: str, stored: str) -> bool:
    """Whether a token has this hash; in constant time."""
    return hmac.compare_digest(hash_token(token), stored)


def hash_password(password: str, cost: int = COST) -> str:
    """The hash of a password."""
    salt = secrets.token_bytes(16)
    return f"scrypt${cost}${BLOCK}${PARALLELISM}${_encode(salt)}${_encode(_scrypt(password, salt, cost, BLOCK, PARALLELISM))}"


def matches_password(password: str, stored: str, cost: int = COST) -> bool:
    """Whether a password has this hash. Without a hash the result is False, after the same time."""
    if len(password) > MAX_PASSWORD_LENGTH:
        return False
    paid, block, lanes, salt, digest = (stored or _no_password(cost)).split("$")[1:]
    found = _scrypt(password, _decode(salt), int(paid), int(block), int(lanes))
    return hmac.compare_digest(found, _decode(digest)) and bool(stored)


def _scrypt(password: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    with _HASHING:
        data = password.encode("utf-8", "surrogatepass")
        return hashlib.scrypt(data, salt=salt, n=cost, r=block, p=lanes, maxmem=256 * cost * block, dklen=32)


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _decode(text: str) -> bytes:
    return base64.b64decode(text)


def _no_password(cost: int) -> str:
    """A hash that matches no password and takes as long to compare."""
    return f"scrypt${cost}${BLOCK}${PARALLELISM}${_encode(bytes(16))}${_encode(bytes(32))}"
