"""What a page says aloud when something happens while it is open: English, Japanese. `words` reads it, `live` hands it on."""

from __future__ import annotations

LIVE: dict[str, tuple[str, str]] = {
    "live.crawl.state.queued": ("{name} waits for its turn.", "「{name}」は待機中です。"),
    "live.crawl.state.running": ("{name} is running.", "「{name}」を実行しています。"),
    "live.crawl.state.paused": ("{name} is paused.", "「{name}」を一時停止しました。"),
    "live.crawl.state.stopped": ("{name} was stopped.", "「{name}」を停止しました。"),
    "live.crawl.state.finished": ("{name} has finished.", "「{name}」が完了しました。"),
    "live.crawl.state.failed": ("{name} has failed.", "「{name}」が失敗しました。"),
    "live.run.started.running": ("{name} is being collected.", "「{name}」を収集しています。"),
    "live.run.ended.success": ("{name} was collected.", "「{name}」を収集しました。"),
    "live.run.ended.partial": ("{name} was collected in part.", "「{name}」を一部収集しました。"),
    "live.run.ended.fail": ("{name} could not be collected.", "「{name}」を収集できませんでした。"),
    "live.source.health.failing": ("{name} could not be collected.", "「{name}」を収集できませんでした。"),
    "live.source.health.well": ("{name} does well.", "「{name}」は正常です。"),
    "live.over": (
        "You are no longer signed in: this page does not follow any more.",
        "ログアウトされたため、このページは更新されません。",
    ),
}
