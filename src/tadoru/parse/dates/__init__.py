"""Written dates and times, read: `read_when`. Japanese first, then ISO 8601, mail dates and the written forms of Europe.

The way of a text: `prepare` makes its writing uniform, `recurrence` takes out prose like "every second Wednesday", `scan` makes
tokens of it (with the words of `names` and the times of `clocks`), `phrase` puts them together, `years` finds the years that were
left out, and `assemble` makes occurrences. `note` reads the prose beside a date, `exact` the forms that machines write.

What cannot be read is said to be unreadable, with the reason: nothing here guesses a day. Cleaning of other texts is
`parse.text_cleaning`; what an event needs besides a date is known to the normaliser of the events job.
"""

from tadoru.parse.dates.note import without_repeats
from tadoru.parse.dates.read import read_when
from tadoru.parse.dates.tokens import ParsedDate, UnreadableDate, YearSource

__all__ = ["ParsedDate", "UnreadableDate", "YearSource", "read_when", "without_repeats"]
