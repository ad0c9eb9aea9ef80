"""The SQLite store: its rooms over one `Database`."""

from __future__ import annotations

from tadoru.store.analysis import Analysis
from tadoru.store.bounding import Bounded
from tadoru.store.chores import Chores
from tadoru.store.documents import Documents
from tadoru.store.dump import Dump
from tadoru.store.found import Found
from tadoru.store.frontier import Frontier
from tadoru.store.hosts import Hosts
from tadoru.store.judging import Judging
from tadoru.store.read import Reader
from tadoru.store.reconsider import Reconsidering
from tadoru.store.resources import Resources
from tadoru.store.retiring import Retiring
from tadoru.store.runs import Runs
from tadoru.store.sitemaps import Sitemaps
from tadoru.store.states import States
from tadoru.store.summary import Summaries


class SqliteStore(
    Frontier,
    Bounded,
    Hosts,
    Reader,
    Chores,
    Judging,
    Reconsidering,
    Retiring,
    Sitemaps,
    Resources,
    Runs,
    States,
    Dump,
    Summaries,
    Found,
    Analysis,
    Documents,
):
    """A crawl in one SQLite file. Any number of processes may open it at once."""
