"""The door to the network. Nothing outside this package opens a connection.

`base` says what a fetcher is, `chain` builds the one a crawl uses. `http`, with `connect` and `faults`, knows the HTTP client;
`guard` refuses addresses, `limits` bounds what a site can make us keep, `credentials` and `cookies` decide which secrets go
where. `browser` renders pages, and everything they request passes `sieve` and `proxy`. Pacing, retrying, redirects and robots are
not here: the engine does them, request by request.
"""
