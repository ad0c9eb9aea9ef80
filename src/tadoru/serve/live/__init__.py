"""Live: what happens, told to those who watch while it happens, over a WebSocket at `/ws`.

`messages` says what may be said, `news` reads it from the database and keeps the newest, `talk` is one connection, `handshake` is
its guard, `wire` the protocol below, `room` the route and what ends with the service.

Whoever changes something tells it in the database, in the same transaction (`store.served_crawls.live_messages`), so that a crawl
in another process, or a worker on another machine, is heard of here too. Each process of the service has one reader, however many
listen.
"""
