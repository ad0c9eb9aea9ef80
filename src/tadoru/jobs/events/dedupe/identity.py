"""Names for an event: the key it is kept under, and whether a row of a source is the one that was read before.

`key` is exact and cheap. That two events have one key says only that they may be one (start times can differ): `compare` decides.
"""

from __future__ import annotations

import re

from tadoru.jobs.events.dedupe.titles import Likeness, identity, likeness, view
from tadoru.model.event import EventDraft

_ENDING = re.compile(r";?(?:UNTIL|COUNT)=[^;]*", re.IGNORECASE)


def key(draft: EventDraft) -> str:
    """`title|date|venue`, each cleaned for comparison: the same at every reading, as long as the source says the same.

    The date is the local one. A series has its rule in place of a date, without its end: its next date moves on from reading to
    reading, and it is prolonged every year.
    """
    if not draft.occurrences:
        when = draft.local_date.isoformat()
    elif draft.recurrence:
        when = _ENDING.sub("", draft.recurrence).strip(";").upper()
    else:
        when = min(each.starts_at for each in draft.occurrences).date().isoformat()
    return "|".join(part.replace("|", " ") for part in (draft.title_clean or draft.title, when, draft.venue_clean))


def same_row(known: EventDraft, read: EventDraft) -> bool:
    """Whether a source's row is an update of one that it gave before: the same uid, and title or beginning agree.

    A uid alone is a hint: some sources number their rows anew each time, and the next row often begins at the same time. So where
    the uid is a number, an event that has got another name is taken for another event. Ask only for a uid that occurs once in a
    reading; one that several rows share names a page or a series, not a row.
    """
    if not known.uid or known.uid != read.uid:
        return False
    one, other = view(known.title), view(read.title)
    level = likeness(one, other, str)[0]
    agreed = identity(one, other, (read.local_date, None), str).code is None
    if known.occurrence.starts_at != read.occurrence.starts_at:
        return agreed and level >= Likeness.SPELLING
    if known.uid.isdecimal():
        return agreed and level > Likeness.FAR
    return level > Likeness.FAR or known.occurrence.has_time
