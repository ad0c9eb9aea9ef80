"""Words for the order of lists: English, Japanese. `words` reads it."""

from __future__ import annotations

SORTING: dict[str, tuple[str, str]] = {
    "sort.label": ("Order", "並び順"),
    "sort.starts": ("Earliest first", "日付の早い順"),
    "sort.-starts": ("Latest first", "日付の遅い順"),
    "sort.relevance": ("Best match first", "関連度の高い順"),
    "sort.-updated": ("Last changed first", "更新の新しい順"),
    "sort.updated": ("First changed first", "更新の古い順"),
    "sort.next.starts": ("Later", "次へ"),
    "sort.next.-starts": ("Earlier", "さらに前へ"),
    "sort.next.relevance": ("More", "続きを表示"),
}
