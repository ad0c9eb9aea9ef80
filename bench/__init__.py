"""The benchmark: tadoru and its peers on the same site, the same server, the same run.

Start it with `bench/run` or `python -m bench`. It needs nothing but the standard library; each peer lives in a virtual
environment of its own below `.bench/`, which is not committed. `README.md` says what the figures mean.
"""
