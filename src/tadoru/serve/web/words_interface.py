"""Every word of the page that explains the interface: English, Japanese. What the interface says of itself is English."""

from __future__ import annotations

INTERFACE: dict[str, tuple[str, str]] = {
    "nav.interface": ("Interface for programs", "プログラム用インターフェース"),
    "api.title": ("Interface for programs", "プログラム用インターフェース"),
    "api.version": ("Version {version}", "バージョン {version}"),
    "api.document": ("OpenAPI document", "OpenAPI 文書"),
    "api.graphql": (
        "The same can be read with GraphQL at {path}: the schema answers introspection.",
        "同じ内容は {path} の GraphQL でも読めます。スキーマはイントロスペクションで取得できます。",
    ),
    "api.parts": ("Parts of the interface", "インターフェースの区分"),
    "api.anybody": ("open to anybody", "誰でも利用可"),
    "api.role": ("needs {role}", "{role} 権限が必要"),
    "api.scope": ("scope {scope}", "スコープ {scope}"),
    "api.parameters": ("Parameters", "パラメーター"),
    "api.body": ("Body", "本文"),
    "api.name": ("Name", "名前"),
    "api.kind": ("Kind", "型"),
    "api.words": ("Meaning", "意味"),
    "api.example": ("Example", "例"),
    "api.required": ("required", "必須"),
    "api.call": ("Example of a call", "呼び出し例"),
    "api.answer": ("Answer {status}", "応答 {status}"),
    "api.others": ("Other answers", "その他の応答"),
    "api.problems": ("Errors", "エラー"),
    "api.problem": (
        "Whatever is refused is told in one form (RFC 9457), with a sentence about what to do.",
        "エラーはすべて同じ形式(RFC 9457)で、対処方法の文とともに返ります。",
    ),
    "api.where.path": ("in the path", "パス内"),
    "api.where.query": ("in the query", "クエリー内"),
    "api.where.header": ("in a header", "ヘッダー内"),
}
