"""Live messages over a WebSocket at `/ws`.

`messages` defines the messages, reads them from the database and caches the newest, `connection` has the
route, the connections of a process and their protocol. Access control is in `serve.middleware`.

Changes write their message into the database in the same transaction (`store.served_crawls.live_messages`), so that messages of
crawl processes and of workers on other machines arrive too. Each process of the service has one reader for all connections.
"""
