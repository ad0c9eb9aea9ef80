"""The languages a report can be written in."""

from __future__ import annotations

from tadoru.jobs.audit.report.english import ENGLISH
from tadoru.jobs.audit.report.japanese import JAPANESE
from tadoru.jobs.audit.report.texts import Words

LANGUAGES: dict[str, Words] = {"en": ENGLISH, "ja": JAPANESE}
