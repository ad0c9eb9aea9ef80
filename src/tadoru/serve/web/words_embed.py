"""The words of the calendar in a frame, and of who is responsible: English, Japanese."""

from __future__ import annotations

EMBED: dict[str, tuple[str, str]] = {
    "embed.whole": ("The whole calendar", "カレンダー全体を見る"),
    "embed.more": ("More events", "ほかの催し"),
    "foot.contact": ("Contact", "お問い合わせ"),
}
