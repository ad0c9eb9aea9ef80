"""What is taken away from a crawl over REST: its picture, exports in several forms, and a copy of its database.

The name of a file is made of the crawl's number and of words of ours, never of what somebody typed.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from tadoru.clock import to_datetime
from tadoru.jobs.audit import reading
from tadoru.jobs.audit.reading.drawing import MOST, MOST_EVER
from tadoru.serve.problems import Refused
from tadoru.serve.rest import models_crawled as models
from tadoru.serve.rest.answers import caching, entity_tag, is_known, json_answer, problems
from tadoru.serve.rest.crawls import ONE, CrawlId
from tadoru.serve.rest.crawls_asked import ExportAsked
from tadoru.serve.rest.crawls_reading import READS, Lang, opened
from tadoru.serve.rest.events import Asker, The
from tadoru.serve.streams import Stream

router = APIRouter(tags=["crawls"])
SVG = "image/svg+xml"
_ALONE = "default-src 'none'; sandbox"
"""A picture that is opened by itself may do nothing at all."""


@router.get(
    ONE + "/graph",
    response_model=models.CrawlGraph,
    responses=READS | {200: {"content": {SVG: {"schema": {"type": "string"}}}}},
    summary="Read or draw the graph of a site",
)
def read_graph(
    request: Request,
    crawl_id: CrawlId,
    who: Asker,
    service: The,
    most: Annotated[int, Query(ge=1, le=MOST_EVER, description="At most so many pages.")] = MOST,
    lang: Lang = "en",
) -> Response:
    """The pages that most leads to and the links between them; with `Accept: image/svg+xml` as a picture."""
    with opened(service, crawl_id) as path:
        if not _prefers_svg(request):
            return json_answer(request, who, reading.graph(path, most=most))
        drawing = reading.draw(path, most=most, lang=lang)
    if drawing is None:
        raise Refused(409, f"Crawl {crawl_id} has no page yet that could be drawn: ask again in a moment.")
    data = reading.standing_alone(drawing.svg).encode(errors="replace")
    headers = caching(who, entity_tag(data), None) | {"Content-Security-Policy": _ALONE}
    if is_known(request, headers["ETag"], None):
        return Response(status_code=304, headers=headers)
    return Response(data, headers=headers, media_type=SVG)


def _content(*types: str) -> dict[int | str, dict[str, Any]]:
    """What an answer may be, for OpenAPI."""
    return {
        200: {"description": "The file.", "content": {one.partition(";")[0]: {"schema": {"type": "string"}} for one in types}}
    }


@router.get(
    ONE + "/export",
    response_class=StreamingResponse,
    responses=problems(404, 409) | _content(*(form.media_type for form in reading.EXPORTS.values()), "application/zip"),
    summary="Export a crawl",
)
def export_crawl(crawl_id: CrawlId, asked: Annotated[ExportAsked, Query()], service: The) -> Response:
    """The crawl as a file, of any size. A sitemap of more pages than one may have is an archive of several."""
    with opened(service, crawl_id) as path:
        made = reading.export(path, asked.form, asked.table, asked.selection(), now=to_datetime(service.clock.now()))
    tables = asked.table[0] if len(asked.table) == 1 else "tables"
    what = tables if reading.EXPORTS[asked.form].of_tables else asked.form
    return _sent(made, f"crawl-{crawl_id}-{what}{made.suffix}")


@router.get(
    ONE + "/backup",
    response_class=StreamingResponse,
    responses=problems(404, 409) | _content("application/vnd.sqlite3"),
    summary="Back a crawl up",
)
def back_up_crawl(crawl_id: CrawlId, service: The) -> Response:
    """The whole database of a crawl as it is at one moment, also while it runs: a SQLite file that every command reads."""
    with opened(service, crawl_id) as path:
        made = reading.back_up(path)
    return _sent(made, f"crawl-{crawl_id}{made.suffix}")


def _sent(made: reading.Export, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-store"}
    if made.size is not None:
        headers["Content-Length"] = str(made.size)
    return Stream(made.chunks, headers=headers, media_type=made.media_type)


def _prefers_svg(request: Request) -> bool:
    accepted = [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "").split(",")]
    return SVG in accepted and "application/json" not in accepted
