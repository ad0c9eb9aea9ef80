"""Network access. No other package opens a connection.

`base` defines what a fetcher is; `http` implements it with aiohttp. `guard` blocks private addresses,
`limits` bounds the size of responses, `credentials` decides which secrets and cookies are sent where. `browser` renders pages.
Pacing, retries, redirects and robots.txt are not here: the engine applies them to each request.
"""
