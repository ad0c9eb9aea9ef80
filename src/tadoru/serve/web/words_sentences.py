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
    "A key needs a name that says what it is for.": "APIキーには用途のわかる名前をつけてください。",
    "A key needs at least one scope, such as events:read.": "APIキーには権限を一つ以上選んでください。",
    "That key would be over already: give a later time.": "その期限はもう過ぎています。先の日時にしてください。",
    "Too many attempts. Retry after {} seconds.": "試行回数が多すぎます。{}秒後にやり直してください。",
    "Too many sign-ins at the same time. Retry in a few seconds.":
        "ログインが集中しています。数秒待ってからやり直してください。",
    "That was too often: wait a little, then go on.": "アクセスが多すぎます。しばらく待ってから続けてください。",
    "The form has grown old, or is not ours: open the page again and repeat it.":
        "フォームの有効期限が切れました。ページを開き直してやり直してください。",
    "This request comes from another site: open the page here and try again.":
        "ほかのサイトからの送信です。このサイトのページを開いてやり直してください。",
    "This needs the role {}: ask an admin for it.": "この操作には {} の権限が必要です。管理者に依頼してください。",
    "This place in the list is unknown: begin again without `cursor`.": "一覧の続きが見つかりません。最初から表示してください。",
    "The request is too large: at most {} KiB are taken.": "送信された内容が大きすぎます（上限 {} KiB）。",
    "The database does not answer just now: try again later.": "データベースが応答しません。しばらくしてからやり直してください。",
    "There is no event {}.": "イベント {} はありません。",
    # Who may, and what a request lacks
    "Sign in first.": "先にログインしてください。",
    "Sign in, or send a key as “Authorization: Bearer …”.": "ログインしてください。",
    "This is for people who sign in, not for keys.": "これはログインした人のためのものです。APIキーでは使えません。",
    "This key lacks the scope {}: use one that has it.":
        "このAPIキーには {} の権限がありません。権限のあるAPIキーを使ってください。",
    "This key is not known, or it is over: ask an admin for a new one.":
        "このAPIキーは無効か、期限が切れています。管理者に新しいAPIキーを依頼してください。",
    "This key expired on {}: ask an admin for a new one.":
        "このAPIキーは {} に有効期限が切れました。管理者に新しいAPIキーを依頼してください。",
    "Too many keys were wrong: wait a little, then try again.":
        "誤ったAPIキーが続きました。しばらく待ってからやり直してください。",
    "This service does not answer for that name: start it with --base-url or --allow-host.":
        "このサービスはその名前では応答しません。--base-url か --allow-host で名前を指定して起動してください。",
    "There is nothing at this address.": "このアドレスには何もありません。",
    "This address does not take that method: see the header Allow.": "このアドレスではその操作はできません。",
    "The request is too large.": "送信された内容が大きすぎます。",
    "Some of the values do not fit: see errors.": "入力に正しくない値があります。",
    "{} is {} and may not do all of that: choose fewer scopes.":
        "{} は {} なので、その権限のすべては持てません。権限を減らしてください。",
    "There is no scope {}: it is one of {}.": "{} という権限はありません。{} のどれかを選んでください。",
    "There is no role {}: it is one of {}.": "{} という役割はありません。{} のどれかを選んでください。",
    "There is no key {}: `tadoru serve keys list` lists them.": "APIキー {} はありません。",
    # Crawls
    "There is no crawl {}.": "クロール {} はありません。",
    "There is no job “{}”: choose one of {}.": "「{}」という種類のクロールはありません。{} のどれかを選んでください。",
    "Crawl {} is {} already.": "クロール {} はすでにその状態です（{}）。",
    "Crawl {} is just ending: ask again in a moment.": "クロール {} は終わるところです。少し待ってからやり直してください。",
    "Crawl {} is {}: there is nothing to {}.": "クロール {} は {} なので、この操作（{}）はできません。",
    "Crawl {} is running: stop it first.": "クロール {} は実行中です。先に停止してください。",
    "You have {} crawls in the queue, the maximum for one user: wait until some have run, or stop some.":
        "実行待ちのクロールが1ユーザーの上限（{}件）に達しています。完了を待つか、不要なものを停止してください。",
    "A crawl needs a name of 1 to {} characters.": "クロールには1〜{}文字の名前をつけてください。",
    "A crawl repeats itself after {} seconds at the earliest, and within a year.":
        "繰り返しの間隔は{}秒以上、1年以内にしてください。",
    "A webhook is an address that begins with https:// or http://.":
        "Webhookは https:// か http:// で始まるアドレスにしてください。",
    "A webhook can not be at a private address, unless an operator allows it (--crawl-private).":
        "Webhookにプライベートアドレスは使えません（運用者が --crawl-private で許可できます）。",
    "There is no URL to start from: give one, such as https://example.com/.":
        "開始URLがありません。https://example.com/ のように入力してください。",
    "A URL to start from is a text of at most 2,000 characters.": "開始URLは2,000文字以内にしてください。",
    "{} can not be crawled from here: {}. An operator may allow it with --crawl-private.":
        "{} はここからはクロールできません（{}）。運用者が --crawl-private で許可できます。",
    "{} may be chosen by an admin only: leave it out.": "{} は管理者だけが選べます。外してください。",
    "{} must be from {} to {}.": "{} は {} から {} までにしてください。",
    "{} must have at most {} characters.": "{} は {} 文字以内にしてください。",
    "The files of crawls take {}: remove crawls that are no longer needed, or let an operator raise --crawl-quota.":
        "クロールのファイルが {} を占めています。不要なクロールを削除するか、運用者に --crawl-quota を増やしてもらってください。",
    # Addresses that a person types
    "The URL is empty: {}.": "URLが空です（{}）。",
    "{} is not a valid host name: check its spelling, or {}.":
        "{} はホスト名として正しくありません。つづりを確かめてください（{}）。",
    "{}: URLs can not be crawled: give one that begins with https:// or http://.":
        "{}: で始まるURLはクロールできません。https:// か http:// で始まるものを入力してください。",
    "{} has no host: {}.": "{} にホスト名がありません（{}）。",
    "A URL must not hold a user name or password: use --auth-type, --auth-username and --auth-password.":
        "URLにユーザー名やパスワードを含めないでください。",
    "{} in {} is not a port: give a number from 1 to 65535.": "{}（{}）はポート番号ではありません。1〜65535の数にしてください。",
    # Sources
    "There is no source {}.": "情報源 {} はありません。",
    "There is no source {}: list them with `tadoru events sources list`.": "情報源 {} はありません。",
    "There is a source named {} already: give another name.": "{} という情報源はすでにあります。別の名前にしてください。",
    "A source needs a {}: give one.": "情報源には {} が必要です。入力してください。",
    "A source can not be of the type {}: use {}.": "情報源の種類 {} は使えません。{} のどれかにしてください。",
    "The frequency {} is unknown: use {}.": "頻度 {} は使えません。{} のどれかにしてください。",
    "The hours between two runs of a source of low frequency are from 24 to 72.":
        "頻度の低い情報源の間隔は24〜72時間にしてください。",
    "Source {} would wait for itself: choose another source to depend on.":
        "情報源 {} が自分自身を待つことになります。別の情報源を選んでください。",
    "This URL leads to a private address: give a public one, or start the service with --crawl-private HOST:PORT.":
        "このURLはプライベートアドレスを指しています。公開されたURLを指定してください。",
    "The URL {} has {} characters: give one of at most {}.":
        "URL {} は{}文字あります。{}文字以内のURLを指定してください。",
    "{} is source {} ({}) already: edit that one, or remove it first.":
        "{} はすでに情報源 {}（{}）として登録されています。そちらを編集するか、先に削除してください。",
    "Source {} sends a secret: where it is sent is changed on the command line, or its secret removed there.":
        "情報源 {} は秘密の値を送信します。送信先の変更はコマンドラインで行ってください。",
    "Source {} may reach a private address: change what it reads on the command line.":
        "情報源 {} はプライベートアドレスへの接続を許可されています。取得先の変更はコマンドラインで行ってください。",
    "The value of headers.{} is hidden, and nothing is stored for it: enter the value.":
        "headers.{} の値は非表示で、保存された値もありません。値を入力してください。",
    "{} of a source is said on the command line: leave it out.":
        "情報源の {} はコマンドラインでのみ指定できます。外してください。",
    "Source {} is being collected already: see its runs.": "情報源 {} はすでに収集中です。収集の記録を見てください。",
    "{} sources are being collected already: try again later.": "すでに{}件の情報源を収集中です。後でやり直してください。",
    "The service is about to stop: try again when it is back.": "サービスは停止するところです。再開してからやり直してください。",
    # Events and questions
    "An event needs a title: give one, or hide the event.": "題名が必要です。入力するか、イベントを非表示にしてください。",
    "Event {} is in quarantine: answer its review first.": "イベント {} は保留中です。先に確認の問いに答えてください。",
    "Event {} was merged into {}: use that one, or undo the merge.":
        "イベント {} は {} に統合されました。そちらを使うか、統合を取り消してください。",
    "Event {} was merged into {} later: undo that merge first.":
        "イベント {} はその後 {} に統合されました。先にその統合を取り消してください。",
    "An event can not be merged with itself: name two events.":
        "イベントをそれ自身と統合することはできません。二つ選んでください。",
    "Merge {} was undone already.": "統合 {} はすでに取り消されています。",
    "What merge {} brought together was taken apart already.": "統合 {} のイベントはすでに分けられています。",
    "There is no merge {}: `tadoru events show ID` lists those of an event.": "統合 {} はありません。",
    "There is no review {}: list them with `tadoru events review list`.": "確認の問い {} はありません。",
    "There is no event {}: list them with `tadoru events list --all`.": "イベント {} はありません。",
    "Review {} was answered already ({}).": "確認の問い {} にはすでに答えがあります（{}）。",
    "Review {} is not about event {}: it is about {}.": "確認の問い {} はイベント {} についてではなく、{} についてのものです。",
    "Review {} is not about a row that lacks something: answer it with merge or keep-apart.":
        "確認の問い {} は不足のある行についてではありません。統合するか、別のものとしてください。",
    "The events of review {} were merged since: undo that merge to part them.":
        "確認の問い {} のイベントはその後統合されました。分けるには統合を取り消してください。",
    "Question {} is not about a row that lacks something.": "問い {} は不足のある行についてではありません。",
    "The position can not be read: give both, as lat=39.70 and lon=141.15.":
        "位置が読めません。緯度と経度を両方、39.70 と 141.15 のように入力してください。",
    "The end {} can not be read, or is not after the start: write it as 2026-08-01 12:00.":
        "終了 {} が読めないか、開始より後ではありません。2026-08-01 12:00 のように入力してください。",
    "{} {} is no address of the web: write it as https://….":
        "{} の {} はウェブのアドレスではありません。https://… のように入力してください。",
    "An event that is not of whole days needs a time: give it with the start, such as 2026-08-01 10:00.":
        "終日でないイベントには時刻が必要です。開始を 2026-08-01 10:00 のように入力してください。",
    "This is no event yet: {}. {}": "イベントとして登録できません（{}）。{}",
    "Give a title.": "題名を入力してください。",
    "Write the start as 2026-08-01 10:00, or 令和8年8月1日 10時.":
        "開始を 2026-08-01 10:00 や 令和8年8月1日 10時 のように入力してください。",
    "A list by relevance needs words to look for: give q, or another sort.": "関連度順には検索する言葉が必要です。",
    # Documentation sites
    "There is no documentation site {}.": "文書サイト {} はありません。",
    "Page {} has no earlier version: it did not change since versions are kept.":
        "ページ {} に以前の版はありません（記録を始めてから変わっていません）。",
    "Page {} has no version {}: its versions are listed with the page.": "ページ {} に版 {} はありません。",
}  # fmt: skip


def _pattern(english: str) -> re.Pattern[str]:
    """What a sentence with values looks like. A value ends where the words after it first come: nothing is tried twice."""
    first, *others = map(re.escape, english.split("{}"))
    between = "".join(f"(?>(.+?){words})" for words in others[:-1])
    return re.compile(first + between + "".join(f"(.+){words}" for words in others[-1:]), re.DOTALL)


_PATTERNS = [
    (_pattern(english), japanese)
    for english, japanese in sorted(JAPANESE.items(), key=lambda one: len(one[0].replace("{}", "")), reverse=True)
]
"""Those that say most first: a short one may be the frame of a longer one."""


def told(sentence: str, lang: str) -> str:
    """A sentence of a room below, in the language of a page where the table has it."""
    if lang == "ja":
        for pattern, japanese in _PATTERNS:
            if (found := pattern.fullmatch(sentence)) is not None:
                return japanese.format(*(JAPANESE.get(piece, piece) for piece in found.groups()))
    return sentence
