"""Parses written dates and times: `read_when`. Japanese first, then ISO 8601, mail dates and European forms.

`scan` makes the writing uniform and finds tokens (with `vocabulary`, `weekdays` and `clocks`), `exclusions` takes out the days on
which nothing takes place (with `holidays`) and `recurrence` phrases like "every second Wednesday", `accounting` makes sure that
nothing is left unread, `phrase` groups the tokens, `years` infers missing years, `period` decides on which days of a period it
takes place (with `opening_hours`), and `assemble` creates occurrences. `note` parses the prose beside a date, and `exact` what
machines write.

What cannot be parsed is returned as unreadable, with the reason: no day is ever guessed.
"""

from tadoru.parse.dates.note import without_repeats
from tadoru.parse.dates.read import read_when
from tadoru.parse.dates.tokens import ParsedDate, UnreadableDate, YearSource

__all__ = ["ParsedDate", "UnreadableDate", "YearSource", "read_when", "without_repeats"]
