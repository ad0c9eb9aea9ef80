"""The protocol below a connection: uvicorn's own, with two differences.

When the service stops it says so (1001) instead of that it starts anew; and who does not take what was sent, not even that the
connection is closed, is cut off instead of waited for, so that a service can always end.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tadoru.serve.live.talk import CODES, GOING_AWAY

LARGEST = 16 * 1024
"""Bytes of a message that is taken."""
LINGERS = 3.0
"""Seconds that a closed connection has to take what was sent."""


class Wire(WebSocketsSansIOProtocol):
    """One connection."""

    def shutdown(self) -> None:
        if self.handshake_complete and not self.close_sent:
            self.stop_keepalive()
            self._farewell(GOING_AWAY, CODES[GOING_AWAY])
            self.transport.close()
        else:
            super().shutdown()
        self.loop.call_later(LINGERS, self.transport.abort)

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close" and self.handshake_complete and not self.writable.is_set():
            # Waiting until there is room could take for ever.
            if not self.close_sent and not self.disconnected:
                self._farewell(message["code"], message["reason"])
            self.loop.call_later(LINGERS, self.transport.abort)
            return
        await super().send(message)

    def _farewell(self, code: int, reason: str) -> None:
        self.close_sent = True
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))


OPTIONS: dict[str, Any] = {
    "ws": Wire, "ws_max_size": LARGEST, "ws_ping_interval": 20.0, "ws_ping_timeout": 20.0, "ws_per_message_deflate": False,
}  # fmt: skip
"""What uvicorn is told. Messages are small and many: to compress them would cost more memory than it saves."""
