"""Sentences of the rooms below, in Japanese. Those rooms speak English, for every door: the command, the interface, the pages. A
page in Japanese says here what a person meets most; what is not in the table is shown as it came.

A pattern is the English sentence with `{}` for what changes in it; the Japanese takes the same pieces, in the same order.
"""

from __future__ import annotations

import re

JAPANESE: dict[str, str] = {
    "A password has at least {} characters: choose a longer one, such as four words.":
        "パスワードは{}文字以上にしてください。単語を四つ並べると覚えやすくなります。",
    "A user's name has 1 to {} characters and no spaces: choose another one.":
        "ユーザー名は空白を含まない1〜{}文字にしてください。",
    "There is a user {} already: choose another name.": "{} というユーザーはすでにいます。別の名前にしてください。",
    "There is no user {}: `tadoru serve users list` lists them.": "{} というユーザーはいません。",
    "{} is the only admin: make somebody else an admin first.": "管理者は {} だけです。先にほかの人を管理者にしてください。",
    "A key needs a name that says what it is for.": "鍵には用途のわかる名前をつけてください。",
    "A key needs at least one scope: without, it could do nothing.": "鍵には権限を一つ以上選んでください。",
    "That key would be over already: give a later time.": "その期限はもう過ぎています。先の日時にしてください。",
    "That was tried too often: wait a little, then try again.": "試行回数が多すぎます。しばらく待ってからやり直してください。",
    "That was too often: wait a little, then go on.": "アクセスが多すぎます。しばらく待ってから続けてください。",
    "The form has grown old, or is not ours: open the page again and repeat it.":
        "フォームの有効期限が切れました。ページを開き直してやり直してください。",
    "This request comes from another site: open the page here and try again.":
        "ほかのサイトからの送信です。このサイトのページを開いてやり直してください。",
    "This needs the role {}: ask an admin for it.": "この操作には {} の権限が必要です。管理者に依頼してください。",
    "This place in the list is unknown: begin again without `cursor`.": "一覧の続きが見つかりません。最初から表示してください。",
    "The request is too large: at most {} KiB are taken.": "送信された内容が大きすぎます（上限 {} KiB）。",
    "The database does not answer just now: try again later.": "データベースが応答しません。しばらくしてからやり直してください。",
    "There is no event {}.": "催し {} はありません。",
}  # fmt: skip
_PATTERNS = [
    (re.compile(re.escape(english).replace(r"\{\}", "(.+?)"), re.DOTALL), japanese) for english, japanese in JAPANESE.items()
]


def told(sentence: str, lang: str) -> str:
    """A sentence of a room below, in the language of a page where the table has it."""
    if lang == "ja":
        for pattern, japanese in _PATTERNS:
            if (found := pattern.fullmatch(sentence)) is not None:
                return japanese.format(*found.groups())
    return sentence
