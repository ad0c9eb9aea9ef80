"""The style sheet and the script of the HTML page: those of every report."""

from __future__ import annotations

from tadoru.jobs.report.page import asset

STYLE = asset("base.css")
SCRIPT = asset("base.js")
