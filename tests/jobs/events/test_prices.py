"""What a written price amounts to."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tadoru.jobs.events.normalise.normaliser import parse_price


def shown(text: str, zone: str = "Asia/Tokyo") -> str:
    found = parse_price(text, zone)
    amount = found.get("price_amount") or (f"{found['price_min']}-{found['price_max']}" if "price_min" in found else "")
    return f"{amount} {found.get('price_currency', '')}".strip()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("無料", "0"),
        ("入場無料", "0"),
        ("無料 ※部品代は実費", "0"),
        ("0円", "0"),
        ("500円", "500 JPY"),
        ("５００円", "500 JPY"),
        ("500", "500 JPY"),
        ("1,000円", "1000 JPY"),
        ("1，０００円", "1000 JPY"),
        ("¥1,500", "1500 JPY"),
        ("￥1500", "1500 JPY"),
        ("1万5千円", "15000 JPY"),
        ("1万6,000円", "16000 JPY"),
        ("1.5万円", "15000 JPY"),
        ("大人1,000円、子ども500円", "500-1000 JPY"),
        ("大人1,000円、小学生以下無料", "0-1000 JPY"),
        ("1,000~3,000円", "1000-3000 JPY"),
        ("前売り2,500 当日2,800", "2500-2800 JPY"),
        ("3歳未満は無料/前売り2,500 当日2,800", "0-2800 JPY"),
        ("3歳未満は無料", ""),
        ("中学生以下は入場無料", ""),
        ("一般500円(20%割引)", "500 JPY"),
        ("100円引き", ""),
        ("定員 一般100名", ""),
        ("実費", ""),
        ("", ""),
        ("€12.50", "12.50 EUR"),
        ("12,50 €", "12.50 EUR"),
        ("$10 - $20", "10-20 USD"),
        ("free", "0"),
        ("Free parking", ""),
        ("$10 or €9", ""),
    ],
)
def test_a_price_amounts_to_what_it_says(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_a_bare_number_is_yen_only_in_japan() -> None:
    assert shown("500", "Europe/Berlin") == ""


@given(st.text("0123456789,.円万千¥無料~-大人一般前売$€ free歳", max_size=30))
def test_amounts_are_numbers_and_the_least_is_not_above_the_most(text: str) -> None:
    found = parse_price(text, "Asia/Tokyo")
    low, high = found.get("price_min"), found.get("price_max")
    assert (low is None) == (high is None)
    assert low is None or high is None or Decimal(0) <= Decimal(low) < Decimal(high)
    assert Decimal(found.get("price_amount", "0")) >= 0
