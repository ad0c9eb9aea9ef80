"""The names of columns in tables of events, and which field each one is.

Known are the three layouts of Japanese municipalities (the recommended data set of 2017 to 2022, the base registry of 2022, the
standard data set from 2023 on) and the words that people use without a layout, in Japanese and English. A name is compared by
its letters only: `料金（基本）`, `料金_基本` and `料金(基本)` are one.
"""

from __future__ import annotations

import re
import unicodedata

NAMES: dict[str, str] = {
    # role: names, the best first
    "uid": "ID イベントID uid",
    "title": (
        "イベント名 名称 イベント名称 イベントタイトル 行事名 行事名称 催し名 催し物名 展示会名 講座名 事業名 タイトル 件名 "
        "title name summary event event_name event_title subject"
    ),
    "description": "説明 イベント説明 イベント内容 内容 概要 イベント概要 詳細 description details body",
    "start": (
        "開始日 開始日時 開始年月日 開催開始日 開催日 開催日時 イベント開始日 開催年月日 会期(開始) 実施日 期日 日付 日時 "
        "開催期間 start start_date starts_at start_at date_start dtstart begin start_datetime date"
    ),
    "end": (
        "終了日 終了日時 終了年月日 開催終了日 イベント終了日 会期(終了) end end_date ends_at end_at date_end dtend end_datetime"
    ),
    "start_time": "開始時刻 開始時間 開催時間 開催開始時間 開演時間 開演 時間 start_time time",
    "end_time": "終了時刻 終了時間 開催終了時間 end_time",
    "when_note": "日時備考 開始日時特記事項 開催日時特記事項 日時特記事項 開催日時備考 開催パターン",
    "venue": (
        "場所名称 会場 会場名 会場名称 開催場所 開催場所名 場所 施設名 集合場所 venue venue_name location location_name place"
    ),
    "building": "建物名等 建物名等(方書) 方書 建物名",
    "address": "住所 所在地_連結表記 所在地 会場住所 開催場所住所 会場所在地 address",
    "prefecture": "住所都道府県 所在地_都道府県 都道府県名 都道府県",
    "city": "住所市区町村 所在地_市区町村 市区町村名 市区町村 city",
    "town": "住所町名 所在地_町字 町字 町名",
    "block": "住所丁目以下 所在地_番地以下 住所番地以下 番地以下",
    "government": "地方公共団体名",
    "code": (
        "所在地_全国地方公共団体コード 全国地方公共団体コード 都道府県コード又は市区町村コード "
        "都道府県コードまたは市区町村コード 市区町村コード 地方公共団体コード 自治体コード"
    ),
    "latitude": "緯度 latitude lat",
    "longitude": "経度 longitude lng lon",
    "category": "イベント種類 カテゴリー カテゴリ イベントカテゴリ イベント分類 分類 種別 ジャンル category",
    "price": "料金(基本) 料金 参加費 参加料 費用 入場料 price fee cost",
    "price_details": "料金(詳細)",
    "organizer": "主催団体 主催者 主催 主催者名 主催団体名 organizer organiser",
    "url": "URL イベントURL 詳細URL 掲載URL リンク ホームページ link website event_url",
    "image": "画像URL 画像 イベント画像 サムネイル image image_url",
    "cancelled": "状態 開催状況 開催状態 status",
    "updated": "更新日 更新日時 最終更新日 最終更新日時 updated updated_at last_modified",
}


def letters(name: str) -> str:
    """A column's name as it is compared."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", name)).casefold()


ROLES: dict[str, tuple[str, int]] = {
    letters(name): (role, rank) for role, names in NAMES.items() for rank, name in reversed(list(enumerate(names.split())))
}
"""Compared name to role, and how good a name it is for that role (0 is best)."""


def is_japanese(name: str) -> bool:
    """Whether a name has letters of Japanese."""
    return re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", name) is not None
