"""Parses written prices: "入場無料", "大人1,000円、子ども500円", "1万5千円"."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, InvalidOperation

_FREE = re.compile(r"無料|(?<!\d)0円|(?<![a-z])free(?! parking| wi-?fi)(?![a-z])|gratis|kostenlos|gratuit", re.IGNORECASE)
_FREE_FOR_SOME = re.compile(
    r"(?:歳|才|未満|以下|以上|未就[学園]児?|幼児|乳児|園児|児童|学生|高校生|中学生|小学生|小人|子ども|こども|子供|会員|[都道府県市区町村]民|障[がい害]{1,2}者?|"
    r"children|kids|members|under \d+)[^。、,\n]{0,12}(?:無料|free)",
    re.IGNORECASE,
)
_NUMBER = r"\d{1,3}(?:,\d{3}){1,3}|\d{1,8}"
_YEN = re.compile(
    rf"(?:[¥\\]\s?(?P<sign>{_NUMBER})|(?:(?P<man>\d{{1,3}}(?:\.\d)?)万)?(?:(?P<sen>\d)千)?(?P<plain>{_NUMBER})?\s?円)(?!引)"
)
_RANGE = re.compile(rf"(?P<low>{_NUMBER})\s?[~\-〜]\s?(?:{_NUMBER})\s?円")
_NAMED = re.compile(
    r"(?:前売り?券?|当日券?|大人|一般|会員|[小中高]学?生|小人|子ども)\s?[:は]?\s?(?P<amount>\d{1,3},\d{3}|\d{3,5})(?![\d,.]|\s?[円人名年月日時分組歳枚席])"
)
"""An amount without its unit, after the word for who pays it."""
_FOREIGN = re.compile(
    r"(?P<sign>[€$£])\s?(?P<amount>\d{1,6}(?:[.,]\d\d)?)|(?P<amount2>\d{1,6}(?:[.,]\d\d)?)\s?(?P<sign2>€|EUR|USD|GBP)",
    re.IGNORECASE,
)
_BARE = re.compile(rf"{_NUMBER}")
_CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP"}


def parse_price(text: str, zone: str) -> dict[str, str]:
    """`price_amount` for one amount, `price_min` and `price_max` for several, with `price_currency`; nothing if there is none."""
    if not text:
        return {}
    text = unicodedata.normalize("NFKC", text)
    is_japanese = zone in {"Asia/Tokyo", "Japan"}
    amounts = _yen(text)
    currency = "JPY"
    if not amounts:
        amounts, currency = _foreign(text)
    if is_japanese and _BARE.fullmatch(text.strip()):
        amounts, currency = {_decimal(text.strip())}, "JPY"
    if is_japanese and currency in {"JPY", ""} and (named := {_decimal(found["amount"]) for found in _NAMED.finditer(text)}):
        amounts, currency = amounts | named, "JPY"
    if _FREE.search(text) and (amounts or not _FREE_FOR_SOME.search(text)):
        amounts = amounts | {Decimal(0)}
    if not amounts:
        return {}
    found = {"price_currency": currency} if any(amounts) and currency else {}
    low, high = min(amounts), max(amounts)
    return found | ({"price_amount": str(low)} if low == high else {"price_min": str(low), "price_max": str(high)})


def _yen(text: str) -> set[Decimal]:
    amounts = {_decimal(found["low"]) for found in _RANGE.finditer(text)}
    for found in _YEN.finditer(text):
        if found["sign"]:
            amounts.add(_decimal(found["sign"]))
        elif found["man"] or found["sen"] or found["plain"]:
            total = (
                _decimal(found["man"] or "0") * 10_000 + _decimal(found["sen"] or "0") * 1000 + _decimal(found["plain"] or "0")
            )
            amounts.add(total.quantize(Decimal(1)))
    return amounts


def _foreign(text: str) -> tuple[set[Decimal], str]:
    found = list(_FOREIGN.finditer(text))
    signs = {(match["sign"] or match["sign2"]).upper() for match in found}
    amounts = {_decimal((match["amount"] or match["amount2"]).replace(",", ".")) for match in found}
    return (amounts, _CURRENCIES.get(sign := signs.pop(), sign)) if len(signs) == 1 else (set(), "")


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        return Decimal(0)
